"""The moving part of a simulation, as a value."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import add
from typing import Any

from pliant.arrays import Array, IntArray


@dataclass(frozen=True)
class State:
    """Coordinates ``q (N,)``, velocities ``v (N,)`` and time ``t`` [s]. Never edited in place.

    For deformable bodies q is the flattened vertex array (n, d), pinned and scripted vertices included.
    """

    q: Array
    v: Array
    t: float = 0.0


@dataclass(frozen=True)
class Step:
    """One time step: the new state, the memory for the next one, one report per nonlinear or linear solve.

    ``system`` is set only when the step changed the topology; the next step must then use it. ``start`` is then the
    state it set out from in the coordinates of that system, where such a state exists: the books need it. ``work`` [J]
    is what forces did that only the integrator knows of, by the names in its ``works``; ``exchange`` [J] likewise what
    one part did on another, (a, b). ``pieces`` are the steps it was made of, where it was made of several: the books
    are kept over them. ``control`` says what the control of the step size did, where there is one.
    """

    state: State
    memory: Any
    reports: tuple["SolveReport", ...] = ()
    system: Any = None
    start: State | None = None
    work: Mapping[str, float] = field(default_factory=dict)
    exchange: Mapping[tuple[str, str], float] = field(default_factory=dict)
    pieces: tuple["Step", ...] = ()
    control: "Control | None" = None

    @property
    def reactions(self) -> "Reactions | None":
        """Forces of the constraints in the last solve of the step; None where there were none."""
        return self.reports[-1].reactions if self.reports else None

    @property
    def acted(self) -> Any:
        """Contact forces of the step, as `pliant.systems.acted.Acted`; None where nobody knows.

        Those at the root of its solve, of several stages their mean: h times it is what the step adds to momenta.
        """
        return self.reports[-1].acted if self.reports else None


@dataclass(frozen=True)
class Control:
    """What a step whose size is controlled was made of.

    ``h`` [s] is the size of the last step inside, ``accepted`` how many of them ended in this one, ``rejected`` how
    many were tried in vain; ``estimate`` [m] is the error that they have added by their own estimates, None: unknown.
    """

    h: float
    estimate: float | None
    accepted: int
    rejected: int


@dataclass(frozen=True)
class Counts:
    """Work that reproduces across machines, unlike clocks."""

    forces: int = 0  # residual / force evaluations
    fills: int = 0  # matrix assemblies
    analyses: int = 0  # symbolic analyses
    factorizations: int = 0  # numeric factorizations
    solves: int = 0  # right-hand sides solved with a factor
    inner: int = 0  # iterations of an iterative linear solver
    switches: int = 0  # from a quasi-Newton phase to a Newton phase

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*map(add, vars(self).values(), vars(other).values()))


@dataclass(frozen=True, eq=False)
class Reactions:
    """Forces ``values (k,)`` that close the rows of a system's closures: they act on it with G^T values.

    ``owners (k,)`` say which constraint of the system a row belongs to. ``power`` [W] is what the rows that prescribe a
    rate put in, as motors do: force times rate.
    """

    owners: IntArray
    values: Array
    power: float

    def force(self, constraint: int) -> Array:
        """Forces [N or N m] in the rows of one constraint."""
        return self.values[self.owners == constraint]


@dataclass(frozen=True)
class SolveReport:
    """What a solve did: converged or not, why, at what cost. ``history`` has one row per iteration.

    ``converged`` is False where a solve missed what it aimed at, so that its result may not be used. Where it aims at
    nothing that could be missed (explicit steps, fixed numbers of iterations, reduced models), or misses it by the
    method's own choice, ``certified`` is False: the ``residual`` then says what was given up, and ``tolerance`` is
    None where there is none.
    ``error`` [m] bounds the root mean square error of the positions where the energy is convex; None: unknown.
    ``lag``: by how much of themselves the normal forces that friction had differ from those at the root; None: nobody
    looked.
    ``judged`` says what convergence rests on: the "residual" below its tolerance; an error in the positions where the
    residual is nothing but "round-off"; the "bound" in metres of a residual that went no lower.
    """

    converged: bool
    iterations: int
    residual: float
    tolerance: float | None
    counts: Counts = Counts()
    seconds: dict[str, float] = field(default_factory=dict)  # wall time per phase: fill, factor, solve, force, other
    history: tuple[dict[str, float], ...] = ()
    message: str = ""
    reactions: Reactions | None = None  # of constraints that were solved for
    error: float | None = None
    judged: str = "residual"
    certified: bool = True
    lag: float | None = None
    acted: Any = field(default=None, repr=False, compare=False)  # contact forces at the root


@dataclass(frozen=True, eq=False)
class Transient:
    """Something in a memory that is cheaper to rebuild than to save: a factor, an analysis. Checkpoints drop it."""

    value: Any
    transient = True

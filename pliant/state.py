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
    initial state of the step in the coordinates of that system, where such a state exists: the ledger needs it.
    ``work`` [J] is the work of forces that only the integrator knows, by the names in its ``works``; ``exchange`` [J]
    likewise the work of one part on another, (a, b). ``pieces`` are the steps it was composed of, if there were
    several: the ledger is kept over them. ``control`` reports what the step-size control did, if there is one.
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
        """Contact forces of the step, as `pliant.systems.acted.Acted`; None where they are unknown.

        They are those at the solution, or their mean over several stages: h times them is the change of the momenta.
        """
        return self.reports[-1].acted if self.reports else None


@dataclass(frozen=True)
class Control:
    """The inner steps of a step whose size is controlled.

    ``h`` [s] is the size of the last inner step, ``accepted`` the number of inner steps that ended in this one,
    ``rejected`` the number that were rejected; ``estimate`` [m] is the error that they added by their own estimates
    (None: unknown).
    """

    h: float
    estimate: float | None
    accepted: int
    rejected: int


@dataclass(frozen=True)
class Counts:
    """Counts of the work done, which unlike times are the same on every machine."""

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
    """Forces ``values (k,)`` in the rows of a system's closures: they act on it with G^T values.

    ``owners (k,)`` is the constraint of the system that each row belongs to. ``power`` [W] is the power supplied by
    rows that prescribe a rate, as motors do: force times rate. ``scripts`` [W] is what scripts supply against them.
    """

    owners: IntArray
    values: Array
    power: float
    scripts: float = 0.0

    def force(self, constraint: int) -> Array:
        """Forces [N or N m] in the rows of one constraint."""
        return self.values[self.owners == constraint]


@dataclass(frozen=True)
class SolveReport:
    """The result of a solve: whether it converged, why not, and its cost; ``history`` has one row per iteration.

    ``converged`` is False if a solve missed its goal, so that its result must not be used. Where there is no goal to
    miss (explicit steps, fixed numbers of iterations, reduced models), or a method misses it by design, ``certified``
    is False: the ``residual`` then measures the error that remains, and ``tolerance`` is None if there is none.
    ``error`` [m] bounds the root mean square error of the positions where the energy is convex (None: unknown). ``lag``
    is the relative difference between the normal forces used for friction and those at the solution (None: not
    computed). ``judged`` is the criterion of convergence: the "residual" below its tolerance; an error in the positions
    where the residual is only "round-off"; the "bound" in metres of a residual that would not decrease further.
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

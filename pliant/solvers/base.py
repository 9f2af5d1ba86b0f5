"""What a nonlinear solver is: something that finds the root of a stage and says honestly whether it did."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp

from pliant.abilities import able
from pliant.arrays import Array, IntArray
from pliant.errors import SceneError, require_count
from pliant.linear.base import LinearSolver, Places, Placing
from pliant.state import SolveReport
from pliant.systems.base import System

Project = Literal["always", "on_demand"]  # when element blocks are made positive semidefinite


class NoMatrix(ValueError):
    """A stage was asked for a Jacobian that it does not have."""


@runtime_checkable
class OfSystem(Protocol):
    """A stage of a system, whose energies a solver may want to see."""

    system: System


@runtime_checkable
class Shiftable(Protocol):
    """A matrix of a device, which adds to its diagonal, lies between others and solves by itself."""

    def plus_diagonal(self, extra: Any) -> Any: ...

    def between(self, other: Any, part: float) -> Any: ...

    def solver(self) -> Callable[[Any], Any]: ...


class StageLike(Protocol):
    """The equation r(z) = 0 over the free coordinates z, as the solvers see it; `pliant.stage.Stage` is the usual one.

    ``weights (n_free,)`` are the nodal masses that scale norms and shifts, ``scale`` turns a dimensionless tolerance
    into the unit of the norm (the size of the system; in quasistatics its weight), ``c`` tells matrices of different
    stages apart, ``dt`` [s] is the time from the start to the sought state. ``pull`` is the norm of what the forces do
    to the positions by themselves, c^2 times the sum of their sizes, ``mass`` [kg] the sum of the weights of positions.
    ``inertial``: r holds M (q - target), so that M^-1 r bounds the error of the positions; not so in quasistatics.
    """

    @property
    def weights(self) -> Array: ...

    @property
    def scale(self) -> float: ...

    @property
    def c(self) -> float: ...

    @property
    def dt(self) -> float: ...

    @property
    def pull(self) -> float: ...

    @property
    def mass(self) -> float: ...

    @property
    def inertial(self) -> bool: ...

    @property
    def symmetric(self) -> bool:
        """Whether the exact Jacobian is symmetric; where it is not, r is no gradient."""
        ...

    @property
    def definite(self) -> bool:
        """Whether the Jacobian with ``psd`` is positive definite: not where multipliers are among the unknowns."""
        ...

    def residual(self, z: Array) -> Array:
        """r(z), the gradient of `merit` where that exists."""
        ...

    def jacobian(self, z: Array, *, psd: bool = True, coupled: bool = True) -> sp.csr_matrix:
        """dr/dz, exact or with positive semidefinite element blocks.

        ``coupled=False`` leaves out what couples the two sides of contact pairs, so that the pattern never changes.
        """
        ...

    def start_jacobian(self, *, psd: bool = True, ahead: float = 0.0, coupled: bool = False) -> sp.csr_matrix:
        """The same matrix at the state the stage sets out from (old boundary positions), as frozen factors want it.

        ``ahead`` [s] moves that state along its own velocity first: the direction in which factors are extrapolated.
        """
        ...

    def merit(self, z: Array) -> float | None:
        """The incremental potential whose gradient is r, or None when a force without a potential acts."""
        ...

    def norm(self, r: Array) -> float:
        """sqrt(r^T M^-1 r): the residual in the norm of the convergence test."""
        ...

    def limit(self, z: Array, dz: Array) -> float:
        """The largest step along dz that stays admissible (det F > 0, no contact); inf when there is no limit."""
        ...


@runtime_checkable
class Bordering(Protocol):
    """A stage whose Jacobian is not symmetric in a few rows and columns only: those of joints and of multipliers."""

    @property
    def border(self) -> IntArray:
        """Which ones (k,), ascending; the others are those of a symmetric matrix."""
        ...


@runtime_checkable
class Guided(Protocol):
    """A stage without a merit that may know what a step costs nearly: r is no gradient, but what is steep in it is."""

    def guide(self, z: Array, r: Array) -> Callable[[Array], float] | None:
        """Phi~(z') - Phi~(z) with the slope r at z; the part of r that is no gradient stays as it is at z."""
        ...


@runtime_checkable
class Located(Protocol):
    """A stage that may know where in space its unknowns are."""

    def places(self, z: Array) -> Places | None:
        """The places of the unknowns at z; None where they are not those of points."""
        ...


def places_for(linear: LinearSolver, stage: StageLike, z: Array) -> Places | None:
    """Where the unknowns of the stage are at z, if the linear solver wants to know."""
    at: Any = stage
    return at.places(z) if able(linear, Placing) and able(at, Located) else None


def placed(linear: LinearSolver, places: Places | None) -> LinearSolver:
    """The linear solver, given the positions of the rows of its matrices."""
    return linear.placed(places) if able(linear, Placing) and places is not None else linear


@runtime_checkable
class Rooted(Protocol):
    """A stage that may know its root by a compiled Newton's method of its own."""

    def root(self, guess: Array, tolerances: tuple[float, float], iterations: int) -> tuple[Array, Array, float] | None:
        """(z, residuals after every iteration, threshold); None where it does not."""
        ...


PULLS = 1e3  # the default 1e-9 is then a millionth of what the forces do


@dataclass(frozen=True)
class Tolerance:
    """Stop when |r| <= max(relative min(|r(guess)|, L), absolute min(L, 1000 pull)), in the stage's norm.

    L is `stage.scale`, pull is c^2 times the accelerations that the forces of the stage would cause one by one. In
    dynamics A >= M wherever the energy is convex, so the error of the positions is at most M^-1 r: ``relative`` bounds
    it (root mean square) in sizes of the system. Without the smaller of |r(guess)| and L, a guess far off, as where a
    boundary jumps by a cell, would loosen the test by as much. ``absolute`` spares iterations where a body rests;
    without the pull beside it, forces that move less than ``absolute`` in a step would never be felt. (In quasistatics
    L is the weight, and there is no step.)

    Where |r| is nothing but round-off (`pliant.solvers.rounding`), no residual can tell more. The result is then
    accepted if its error in the positions, A^-1 r, is below ``relative`` L (``absolute`` L, if that is larger).
    Where |r| cannot be made to fall, as between barriers whose stiffness jumps, the bound M^-1 r decides: it must be
    below ``relative`` L, and the forces in balance to a thousand times ``relative`` of the pull.
    """

    relative: float = 1e-6
    absolute: float = 1e-9

    def __post_init__(self) -> None:
        for name in ("relative", "absolute"):
            value = getattr(self, name)
            if not (isinstance(value, int | float | np.floating) and 0.0 <= value < 1.0):  # 1: off by its own size
                remedy = "give a number from 0 to below 1, such as 1e-6"
                raise SceneError(f"{name} is {value!r}", where=f"Tolerance.{name}", remedy=remedy)

    def goal(self, stage: StageLike, initial: float) -> "Goal":
        """What a solve that sets out from a residual of norm ``initial`` must reach."""
        threshold = self.relative * min(initial, stage.scale)
        if self.absolute * stage.scale > threshold:  # the pull costs an evaluation of all forces
            most = min(stage.scale, PULLS * stage.pull) if stage.inertial else stage.scale
            threshold = max(threshold, self.absolute * most)
        return Goal(threshold, max(self.relative, self.absolute) * stage.scale, self._stalled(stage))

    def _stalled(self, stage: StageLike) -> Callable[[], float]:
        """The norm at which a solve that goes no further is good enough, if asked for; 0 where r bounds no error."""
        return lambda: self.relative * min(stage.scale, PULLS * stage.pull) if stage.inertial else 0.0


@dataclass(frozen=True)
class Goal:
    """A residual of at most ``threshold``; or one that is round-off, with an error of at most ``limit``; or, where the
    iteration stalls, one of at most ``stalled()``. All are norms.
    """

    threshold: float
    limit: float
    stalled: Callable[[], float] = lambda: 0.0


@dataclass(frozen=True)
class Solution:
    """The best iterate ``z``, the report that says whether it is a root, and the memory for the next solve."""

    z: Array
    report: SolveReport
    memory: Any = None


class NonlinearSolver(Protocol):
    """A choice of method, as a frozen dataclass."""

    def solve(self, stage: StageLike, guess: Array, memory: Any = None) -> Solution: ...


def require_definite(stage: StageLike, solver: Any) -> None:
    """Refuse a stage with closures where a method needs a symmetric positive definite matrix."""
    if not stage.definite:
        raise SceneError(
            f"{type(solver).__name__} needs a positive definite matrix; with loops, motors or ties there is none",
            where="integrator.solver",
            remedy="use Newton, or springs in place of the constraints",
        )


LEAST = {
    "m": 0,
    "max_iterations": 1,
    "refresh": 1,
    "quasi": 0,
    "worth": 1,
    "fixed": 1,
    "chords": 0,
}  # counts, where not None


def check_options(solver: Any) -> None:
    """The ``__post_init__`` of solvers: counts are whole numbers, tolerances what they should be."""
    for f in fields(solver):
        value = getattr(solver, f.name)
        if f.name in LEAST and value is not None:
            require_count(value, LEAST[f.name], f"{type(solver).__name__}.{f.name}")
    if not isinstance(solver.tolerance, Tolerance):
        where, remedy = f"{type(solver).__name__}.tolerance", "give Tolerance(relative=1e-8), say"
        raise SceneError(f"tolerance is {solver.tolerance!r}", where=where, remedy=remedy)

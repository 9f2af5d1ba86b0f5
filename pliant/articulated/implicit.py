"""Fully implicit steps in joint coordinates: the stage of [Weidner2022, App. C] with an inertia that depends on q.

    r(q) = M(q) (q - target) - c^2 f(q, (q - base)/c, t)  =  c^2 ID(q, (q - base)/c, (q - target)/c^2, t)

ID is the inverse dynamics, so a residual costs O(n). The Jacobian is taken by complex steps: it contains the derivative
of the inertia exactly, hence Newton converges quadratically; it is not symmetric and is factored by LU.
"""

from dataclasses import dataclass, field
from math import sqrt
from typing import Any, ClassVar

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.articulated.system import ArticulatedSystem, complex_jacobian
from pliant.errors import SceneError
from pliant.solvers.base import NonlinearSolver, Tolerance
from pliant.solvers.newton import Newton
from pliant.state import SolveReport, State, Step

ALPHA = 1.0 - 1.0 / sqrt(2.0)  # of SDIRK2, which starts BDF2


@dataclass(frozen=True, eq=False)
class ReducedStage:
    """The equation above for one solve, as the shared nonlinear solvers see it; start is q before the step."""

    system: ArticulatedSystem
    c: float
    target: Array
    base: Array
    t: float
    start: Array
    weights: Array = field(init=False, repr=False)
    scale: float = field(init=False)

    def __post_init__(self) -> None:
        if self.system.constraints:
            raise SceneError(
                f"{type(self.system.constraints[0]).__name__} in a fully implicit step",
                where="ReducedStage",
                remedy="replace constraints by stiff springs, or use LinearlyImplicitTree",
            )
        weights = self.system.mass(self.start).diagonal()
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "scale", self.system.scale * sqrt(float(self.system.tree.inertia[:, 5].sum())))

    @property
    def dt(self) -> float:
        return self.c

    def velocity(self, q: Array) -> Array:
        return (q - self.base) / self.c

    def residual(self, z: Array) -> Array:
        c = self.c
        return c * c * self.system.inverse_dynamics(z, self.velocity(z), (z - self.target) / (c * c), self.t)

    def jacobian(self, z: Array, *, psd: bool = True, coupled: bool = True) -> sp.csr_matrix:
        """dr/dq, exact whatever ``psd`` asks: there is nothing to project in an inertia-dominated matrix."""
        return sp.csr_matrix(complex_jacobian(self.residual, z))

    def start_jacobian(self, *, psd: bool = True, ahead: float = 0.0, coupled: bool = False) -> sp.csr_matrix:
        return self.jacobian(self.start + ahead * self.velocity(self.target))

    def merit(self, z: Array) -> float | None:
        return None

    def norm(self, r: Array) -> float:
        return float(np.sqrt(r @ (r / self.weights)))

    def limit(self, z: Array, dz: Array) -> float:
        return np.inf


@dataclass(frozen=True)
class LU:
    """Dense LU of a general matrix behind the interface of the linear solvers."""

    def factor(self, A: sp.csr_matrix, memory: Any = None) -> "LUFactor":
        return LUFactor(A.toarray())


class LUFactor:
    memory: Any = None
    analysed = False
    inner = 0

    def __init__(self, A: Array) -> None:
        self._factor = scipy.linalg.lu_factor(A)

    def solve(self, b: Array) -> Array:
        return scipy.linalg.lu_solve(self._factor, b)


def _newton() -> NonlinearSolver:
    return Newton(linear=LU(), tolerance=Tolerance(relative=1e-12, absolute=1e-10))


@dataclass(frozen=True)
class TreeBDF1:
    """Backward Euler on joint coordinates: target = q + h v, base = q."""

    solver: NonlinearSolver = field(default_factory=_newton)
    order: ClassVar[int] = 1

    def step(self, system: ArticulatedSystem, state: State, h: float, memory: Any = None) -> Step:
        q, v = system.tree.reparameterise(state.q, state.v)
        q, v, report = _solve(self.solver, ReducedStage(system, h, q + h * v, q, state.t + h, q), q + h * v)
        return Step(State(q, v, state.t + h), None, (report,))


@dataclass(frozen=True, eq=False)
class History:
    """The previous state, valid only while nobody changes the present one."""

    previous_q: Array
    previous_v: Array
    q: Array
    h: float


@dataclass(frozen=True)
class TreeBDF2:
    """BDF2 on joint coordinates; starts, and restarts after a change of chart or step, with SDIRK2."""

    solver: NonlinearSolver = field(default_factory=_newton)
    order: ClassVar[int] = 2

    def step(self, system: ArticulatedSystem, state: State, h: float, memory: History | None = None) -> Step:
        q, v = system.tree.reparameterise(state.q, state.v)
        if memory is None or memory.h != h or not np.array_equal(memory.q, q):
            return self._start(system, State(q, v, state.t), h)
        c = 2.0 / 3.0 * h
        base = (4.0 * q - memory.previous_q) / 3.0
        target = base + c * (4.0 * v - memory.previous_v) / 3.0
        new, rate, report = _solve(self.solver, ReducedStage(system, c, target, base, state.t + h, q), q + h * v)
        return Step(State(new, rate, state.t + h), History(q, v, new, h), (report,))

    def _start(self, system: ArticulatedSystem, state: State, h: float) -> Step:
        q, v, c = state.q, state.v, ALPHA * h
        qa, va, first = _solve(self.solver, ReducedStage(system, c, q + c * v, q, state.t + c, q), q + c * v)
        base = q + (1.0 - ALPHA) * h * va
        target = q + (2.0 * ALPHA - 1.0) * h * v + (2.0 - 2.0 * ALPHA) * h * va
        stage = ReducedStage(system, c, target, base, state.t + h, qa)
        new, rate, second = _solve(self.solver, stage, qa + (1.0 - ALPHA) * h * va)
        return Step(State(new, rate, state.t + h), History(q, v, new, h), (first, second))


def _solve(solver: NonlinearSolver, stage: ReducedStage, guess: Array) -> tuple[Array, Array, SolveReport]:
    """(q, v, report) at the root of the stage."""
    solution = solver.solve(stage, guess)
    return solution.z, stage.velocity(solution.z), solution.report

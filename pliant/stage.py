"""The stage: the one nonlinear equation behind every implicit integrator.

    r(q) = M(q) (q - target) - c^2 f(q, (q - base)/c, t) = 0,        A(q) = M - c D - c^2 K

With a = (q - target)/c^2, K is d(f - M(q) a)/dq where the inertia depends on q, as on joints: then f contains the
quadratic velocity terms. With inertia = 0 it is quasistatics: r = -f, A = -K. [Weidner2022, App. C; DESIGN section 2]

Where the system has closures (loops, motors, ties) their rows are met exactly at the new positions, by multipliers:

    r(q) - G^T Lambda = 0,      gap(q, t) = 0   or, where only a rate is prescribed,   c (G v - rate) = 0
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from pliant.abilities import able
from pliant.arrays import Array, IntArray
from pliant.budget import check_budget
from pliant.errors import SceneError
from pliant.linear.base import Places
from pliant.linear.lu import LU
from pliant.solvers.base import NonlinearSolver
from pliant.state import Reactions, SolveReport, State
from pliant.systems.base import (
    Acting,
    Closures,
    Composed,
    Constrained,
    Contacting,
    Dissipating,
    Lagging,
    PartlySymmetric,
    Persistent,
    Rooting,
    Steep,
    Summing,
    System,
)

G_EARTH = 9.81  # m/s^2: tolerances of quasistatics are parts of the weight
BLUR = 1e-13  # part of a potential that is round-off


@dataclass(frozen=True, eq=False)
class Stage:
    """The equation above for one solve; z are the free coordinates of q.

    ``frame`` is q with the prescribed coordinates where they belong at the end of the stage and the predictor in the
    free ones; ``start`` is the state the stage sets out from.
    """

    system: System
    c: float
    target: Array
    base: Array
    t: float
    frame: Array
    start: State
    inertia: float = 1.0
    weights: Array = field(init=False, repr=False)
    scale: float = field(init=False)
    definite: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if able(self.system, Contacting):  # detected once per stage, and the guess may not cross anything
            touched = self.system.at(self.start, self.t, self.c)
            object.__setattr__(self, "system", touched)
            object.__setattr__(self, "frame", touched.begin(self.start.q, self.frame))
        weights = self.system.weights(self.start.q)[self.system.free]
        length = self.system.scale if self.inertia else G_EARTH
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "scale", length * float(np.sqrt(self.system.free_mass)))

    @property
    def symmetric(self) -> bool:
        """Whether the exact Jacobian is: not where parts move on joints."""
        return self.system.symmetric

    @property
    def border(self) -> IntArray:
        """The unknowns of parts that move on joints."""
        system = self.system
        if able(system, PartlySymmetric):
            return system.border
        return np.arange(0 if system.symmetric else len(system.free))

    def places(self, z: Array) -> Places | None:
        """The vertices whose coordinates the unknowns are, where all of them are in space."""
        system = self.system
        if not isinstance(system, Composed) or system.X.shape[1] != 3:
            return None
        return Places(system.free, self.embed(z).reshape(-1, 3))

    @property
    def inertial(self) -> bool:
        return self.inertia > 0.0

    @property
    def mass(self) -> float:
        return float(self.weights.sum())

    @cached_property
    def pull(self) -> float:
        """|c^2 sum_k |f_k|| where the stage sets out: forces that balance each other count all the same."""
        system, (q, v, t) = self.system, (self.start.q, self.start.v, self.start.t)
        v = v if self.inertia else np.zeros_like(v)
        sizes = system.force_sizes(q, v, t) if able(system, Summing) else system.force(q, v, t)
        return self.c**2 * self.norm(sizes[system.free])

    def embed(self, z: Array) -> Array:
        """All coordinates, from the free ones."""
        q = self.frame.copy()
        q[self.system.free] = z
        return q

    def velocity(self, q: Array) -> Array:
        """v(q) = (q - base)/c; zero in quasistatics, where damping and friction do not act."""
        return (q - self.base) / self.c if self.inertia else np.zeros_like(q)

    def acceleration(self, q: Array) -> Array:
        """(q - target)/c^2, which is M^-1 f at the root, forces of constraints among them."""
        return (q - self.target) / self.c**2

    def closures(self, q: Array) -> Closures | None:
        """The closures at q; None where the system has none."""
        system = self.system
        return system.closures(q, self.velocity(q), self.t) if able(system, Constrained) else None

    def residual(self, z: Array) -> Array:
        check_budget()
        q = self.embed(z)
        r = -(self.c**2) * self.system.force(q, self.velocity(q), self.t)
        if self.inertia:
            r += self.system.inertia(q, q - self.target)
        return r[self.system.free]

    def jacobian(self, z: Array, *, psd: bool = True, coupled: bool = True) -> sp.csr_matrix:
        q = self.embed(z)
        a = (q - self.target) / self.c**2 if self.inertia else None
        return self._jacobian(q, self.velocity(q), psd, coupled, a)

    def start_jacobian(self, *, psd: bool = True, ahead: float = 0.0, coupled: bool = False) -> sp.csr_matrix:
        q, v = self.start.q, self.start.v
        way = ahead * v
        free = min(1.0, 0.9 * self.system.limit(q, way)) if ahead else 0.0  # beyond a barrier there is no matrix
        return self._jacobian(q + free * way, v if self.inertia else np.zeros_like(v), psd, coupled)

    def _jacobian(self, q: Array, v: Array, psd: bool, coupled: bool, a: Array | None = None) -> sp.csr_matrix:
        c, system = self.c, self.system
        weights = (self.inertia, self.inertia * c, c * c)
        if not coupled and able(system, Persistent):
            return system.restrict(system.persistent_tangent(q, v, self.t, weights, psd=psd))
        return system.restrict(system.tangent(q, v, self.t, weights, psd=psd, a=a))

    @property
    def dt(self) -> float:
        """Time from the start to the sought state [s]."""
        return self.t - self.start.t

    def merit(self, z: Array) -> float | None:
        """Phi = 1/2 (q - target)^T M (q - target) + c^2 W(q) + c^3 P(v(q)), P of forces that are -dP/dv.

        None where r is no gradient: without a potential, or where M depends on q.
        """
        q = self.embed(z)
        W = self.system.potential(q, self.t) if self.symmetric else None
        if W is None:
            return None
        d = q - self.target
        phi = 0.5 * self.inertia * float(d @ self.system.inertia(q, d)) + self.c**2 * W
        if self.inertia and able(self.system, Dissipating):
            phi += self.c**3 * self.system.dissipation(q, self.velocity(q))
        return phi

    def guide(self, z: Array, r: Array) -> Callable[[Array], float] | None:
        """Phi with the inertia of the start and the potentials that the system knows, and r - grad Phi as it is at z.

        None where `merit` exists, and where the system does not tell what is steep in it. Changes that round-off may
        have made come from the slopes at both ends. Phi is as exact as its largest terms: elements at rest store
        nothing, and what they cancel to do so is of the order of L^2 m, the square of ``scale``.
        """
        system, free, c = self.system, self.system.free, self.c
        if self.symmetric or not able(system, Steep):
            return None

        def phi(z: Array) -> tuple[float, Array] | None:
            q = self.embed(z)
            d = q - self.target
            found = system.steep(q, self.velocity(q), self.t, c)
            if found is None:
                return None
            pull = self.inertia * system.inertia(self.start.q, d)
            return 0.5 * float(d @ pull) + c * c * found[0], (pull + c * c * found[1])[free]

        here = phi(z)
        if here is None:
            return None

        def change(z1: Array) -> float:
            there = phi(z1)
            assert there is not None
            found = there[0] - here[0] + float((r - here[1]) @ (z1 - z))
            if abs(found) > BLUR * (abs(there[0]) + abs(here[0]) + self.scale**2):
                return found
            return float((r + 0.5 * (there[1] - here[1])) @ (z1 - z))

        return change

    def root(self, guess: Array, tolerances: tuple[float, float], iterations: int) -> tuple[Array, Array, float] | None:
        """The root by the system's own compiled Newton's method (`Rooting`); None where it has none for this stage."""
        found = able(self.system, Rooting) and self.inertia == 1.0
        return self.system.root(self, guess, tolerances, iterations) if found else None  # type: ignore[attr-defined]

    def norm(self, r: Array) -> float:
        return float(np.sqrt(r @ (r / self.weights)))

    def limit(self, z: Array, dz: Array) -> float:
        dq = np.zeros_like(self.frame)
        dq[self.system.free] = dz
        return self.system.limit(self.embed(z), dq)


@dataclass(frozen=True, eq=False)
class ClosedStage:
    """A stage with closures: z = (free coordinates, Lambda), Lambda = c^2 times the constraint forces."""

    free: Stage
    closures: Closures  # where the stage sets out from: how many rows there are, and what they weigh
    weights: Array = field(init=False, repr=False)
    symmetric: ClassVar[bool] = False
    definite: ClassVar[bool] = False

    def __post_init__(self) -> None:
        free, rows = self.free, self.closures
        if not free.inertia and not rows.positional.all():
            remedy = "prescribe its position too, or use BDF1"
            raise SceneError("a constraint prescribes a rate only", where="Quasistatic", remedy=remedy)
        G = rows.G[:, free.system.free]
        seen = np.asarray(G.multiply(G) @ (1.0 / free.weights)).ravel()  # inverse masses
        seen[seen == 0.0] = 1.0 / free.system.free_mass  # rows that nothing can change
        if not free.inertia:  # lengths as parts of the size, like forces as parts of the weight
            seen *= (free.system.scale / G_EARTH) ** 2
        object.__setattr__(self, "weights", np.concatenate([free.weights, seen]))

    @property
    def scale(self) -> float:
        return self.free.scale

    @property
    def c(self) -> float:
        return self.free.c

    @property
    def inertial(self) -> bool:
        return self.free.inertial

    @property
    def mass(self) -> float:
        return self.free.mass

    @property
    def pull(self) -> float:
        return self.free.pull

    @property
    def dt(self) -> float:
        return self.free.dt

    @property
    def border(self) -> IntArray:
        """Joints, and the multipliers behind all coordinates."""
        n = len(self.free.system.free)
        return np.concatenate([self.free.border, n + np.arange(len(self.closures.gap))])

    def joined(self, z: Array) -> Array:
        """z of this stage with no constraint forces."""
        return np.concatenate([z, np.zeros(len(self.closures.gap))])

    def split(self, z: Array) -> tuple[Array, Array]:
        """(free coordinates, Lambda)."""
        n = len(z) - len(self.closures.gap)
        return z[:n], z[n:]

    def at(self, q: Array) -> Closures:
        found = self.free.closures(q)
        assert found is not None
        return found

    def residual(self, z: Array) -> Array:
        free, multipliers = self.split(z)
        rows = self.at(self.free.embed(free))
        pull = (rows.G.T @ multipliers)[self.free.system.free]
        return np.concatenate([self.free.residual(free) - pull, self._scaled(rows) * rows.gap])

    def jacobian(self, z: Array, *, psd: bool = True, coupled: bool = True) -> sp.csr_matrix:
        """dr/dz; with ``psd`` the system's own part is projected. Its diagonal is stored, zeros included."""
        free, multipliers = self.split(z)
        q, where = self.free.embed(free), self.free.system.free
        assert able(self.free.system, Constrained)
        rate = 1.0 / self.c if self.free.inertia else 0.0
        curved, gaps = self.free.system.closure_tangent(q, self.free.velocity(q), self.free.t, multipliers, rate)
        rows = self.at(q)
        A = self.free.jacobian(free, psd=psd, coupled=coupled) - curved[where][:, where]
        B = sp.diags(self._scaled(rows)) @ gaps[:, where]
        k = np.arange(len(rows.gap))
        empty = sp.csr_matrix((np.zeros(len(k)), (k, k)), shape=(len(k), len(k)))
        return sp.csr_matrix(sp.bmat([[A, -rows.G[:, where].T], [B, empty]]))

    def start_jacobian(self, *, psd: bool = True, ahead: float = 0.0, coupled: bool = False) -> sp.csr_matrix:
        q = (self.free.start.q + ahead * self.free.start.v)[self.free.system.free]
        return self.jacobian(self.joined(q), psd=psd, coupled=coupled)

    def merit(self, z: Array) -> float | None:
        return None

    def norm(self, r: Array) -> float:
        """sqrt(r^T M^-1 r) over the motion and sqrt(g^T (G M^-1 G^T)^-1 g) over the closures, both row by row."""
        n = len(r) - len(self.closures.gap)
        free, gap = r[:n], r[n:]
        return float(np.sqrt(free @ (free / self.weights[:n]) + gap @ (gap / self.weights[n:])))

    def limit(self, z: Array, dz: Array) -> float:
        return self.free.limit(self.split(z)[0], self.split(dz)[0])

    def reactions(self, q: Array, multipliers: Array) -> Reactions:
        """The constraint forces at the root."""
        rows, forces = self.at(q), multipliers / self.c**2
        return Reactions(rows.owners, forces, float(rows.rate @ forces))

    def _scaled(self, rows: Closures) -> Array:
        """Rates times c are lengths like the gaps."""
        return np.where(rows.positional, 1.0, self.c)


def solve_stage(stage: Stage, solver: NonlinearSolver, memory: Any) -> tuple[Array, SolveReport, Any]:
    """All coordinates at the root of the stage, from the predictor in its frame; the report; the solver's memory.

    Where its friction lags behind, the stage may be solved several times (`Lagging`).
    """
    q, report, memory = _solved(stage, solver, memory)
    while report.converged and able(stage.system, Lagging):
        found = stage.system.relagged(q)
        if found is None or found[1] is None:
            return q, report if found is None else replace(report, lag=found[0]), memory
        stage = replace(stage, system=found[1], frame=q)
        root, again, memory = _solved(stage, solver, memory)
        if not again.converged:
            return q, replace(report, lag=found[0]), memory
        q, report = root, _after(report, again)
    return q, report, memory


def _solved(stage: Stage, solver: NonlinearSolver, memory: Any) -> tuple[Array, SolveReport, Any]:
    """One solve of the stage."""
    guess = stage.frame[stage.system.free]
    closures = stage.closures(stage.start.q)
    if closures is None:
        solution = solver.solve(stage, guess, memory)
        q = stage.embed(solution.z)
        return q, _acted(stage, q, solution.report), solution.memory
    closed = ClosedStage(stage, closures)
    solution = solver.solve(closed, closed.joined(guess), memory)
    free, multipliers = closed.split(solution.z)
    q = stage.embed(free)
    report = replace(solution.report, reactions=closed.reactions(q, multipliers))
    return q, _acted(stage, q, report), solution.memory


def _after(first: SolveReport, last: SolveReport) -> SolveReport:
    """The report of the last of several solves, with the work of all."""
    seconds = {k: first.seconds.get(k, 0.0) + last.seconds.get(k, 0.0) for k in {**first.seconds, **last.seconds}}
    iterations, counts = first.iterations + last.iterations, first.counts + last.counts
    return replace(last, iterations=iterations, counts=counts, seconds=seconds, history=first.history + last.history)


def _acted(stage: Stage, q: Array, report: SolveReport) -> SolveReport:
    """The report with the contact forces at the root."""
    system = stage.system
    return replace(report, acted=system.acting(q, stage.velocity(q), stage.t)) if able(system, Acting) else report


def consistent(system: System, state: State) -> State:
    """The state after the impulses that make its velocities agree with the closures: min |u - v|_M, G u = rate.

    A method that remembers velocities must not remember one from before a motor was switched on.
    """
    rows = system.closures(state.q, state.v, state.t) if able(system, Constrained) else None
    if rows is None:
        return state
    G = rows.G[:, system.free].toarray()
    X = LU().factor(system.restrict(system.mass(state.q))).solve(G.T)
    v = state.v.copy()
    v[system.free] += X @ np.linalg.lstsq(G @ X, rows.rate - rows.G @ state.v, rcond=1e-12)[0]
    return State(state.q, v, state.t)


def require_flat(system: System, state: State, method: str) -> None:
    """Refuse closures on which a method of stage order 1, or one that extrapolates, loses its order.

    Where rows curve or move, the first stage from exact velocities finds about half of the force that bends the path:
    forces are wrong in the first digit, velocities of order 1; those of the midpoint rule swing ever higher.
    """
    if not able(system, Constrained):
        return
    rows = system.closures(state.q, state.v, state.t)
    if rows is None:
        return
    curved, _ = system.closure_tangent(state.q, state.v, state.t, np.ones(len(rows.gap)), 0.0)
    if curved.data.any() or rows.rate[rows.positional].any():
        what = f"{method} loses its order on loops and ties that curve or move"
        raise SceneError(what, where="scene.integrator", remedy="use BDF1, BDF2 or TRBDF2")


def motor_work(*powers: tuple[float, SolveReport]) -> dict[str, float]:
    """The work [J] of closures that prescribe rates, from the time [s] that each solve stands for; {} without any."""
    if any(report.reactions is None for _, report in powers):
        return {}
    return {"motors": sum(time * report.reactions.power for time, report in powers if report.reactions is not None)}

"""SIERE: the s lowest modes by exponential Rosenbrock-Euler in closed form, the rest by linearly implicit Euler.

With K = -df/dq, D = -df/dv, A = M + h D + h^2 K and the modes K U = M U Lam, U^T M U = I,

    A y = h f - h^2 K v                                           the linearly implicit step
    a = U^T M v,  c = U^T f,  (y_q, y_v) = modal phi1             what the modes do instead
    w = y - U U^T M y
    q += U y_q + h (v - U a + w),   v += U y_v + w

One factorization and one solve: A maps the M-complement of the modes to itself, and there it is the matrix of the split
system, so the low-rank update of the source is not needed. Where A is nearly singular in captured negative modes, the
right-hand side is first made orthogonal to them. Only a damping that U does not diagonalise (say beta K at rest, far
from rest) needs the update, and s further right-hand sides; where it couples the modes strongly to the rest, as the
friction of contacts does, all damping is implicit, and of the modes only their stiffness is exponential. The modes come
from the factor of A, which inverts a shift; they are followed from step to step, and the linearly implicit step rides
along in their block of solves.
[Chen2019, Eq. 6.1-6.8]
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from pliant.arrays import Array
from pliant.clock import Clock
from pliant.errors import NotPositiveDefinite, SceneError
from pliant.integrators import modal
from pliant.integrators.explicit import scripted_velocity
from pliant.integrators.linearised import advanced
from pliant.linear.base import Factor, LinearSolver
from pliant.linear.cholesky import Cholesky
from pliant.linear.modes import ShiftInvert, lowest
from pliant.linear.threads import one_thread
from pliant.linear.tracking import Pencil, Tracked, track
from pliant.state import Counts, SolveReport, State, Step, Transient
from pliant.systems.base import System

DENSE = 150  # up to this many coordinates the modes are computed densely in every step, and exact
GUARDS = 2  # modes followed beyond the captured ones: they keep clusters together
RIGID = 6  # extra modes asked for at the start, to find those of a free body; as many for each further one
INVARIANT = 1e-6  # |D U - M U D_r| relative to |D U| below which damping leaves the modes uncoupled
WEAK = 0.25  # h^2 D_mc A_cc^-1 D_cm below which damping may couple modes that are damped exactly with the rest
MOST, SHARE = 30, 0.95  # modes tried where s is chosen, and the part of the energy that they must hold
SINGULAR = -0.5  # h^2 lam below which the right-hand side is made orthogonal to the modes before the solve


@dataclass(frozen=True, eq=False)
class SIEREMemory:
    """The block of the last step, how many of its vectors are captured, and what is cheaper to rebuild than to save."""

    U: Array
    captured: int
    analysis: Any = None
    mass: Transient = Transient(None)


@dataclass(frozen=True)
class SIERE:
    """``s`` elastic modes (the rigid ones of free bodies come on top: six for each, all of them or a body would tilt;
    they are known by their zero eigenvalues, which bodies under stress at the start or at a cut do not all have).
    ``s=None`` chooses at the first step: as few of the ``MOST`` lowest as hold ``SHARE`` of the kinetic energy and the
    energy that the load of that step puts into the body, rigid motion aside (`needed`).

    ``s=0`` is linearly implicit Euler, s = all modes is ERE. K is exact, in the modes too, so that negative modes are
    captured as they are; ``project="on_demand"`` projects it in steps whose A is indefinite, "always" in every step
    (which costs energy), "never" factors even an indefinite A. Modes are followed with up to ``blocks`` blocks of
    s + 2 right-hand sides per step; more than one is used when A^-1 M u leaves their space by more than ``tolerance``
    (sine of the angle, about h^2 |K u - lam M u|: what the step neglects). The order is 1 however inexact they are, as
    all forces enter in full; only the error constant feels it. What nothing couples to the followed modes, say those of
    another body that becomes the softer one, is not seen and stays with linearly implicit Euler. The report's
    ``iterations`` are blocks, its residual is that angle.
    """

    s: int | None = 5
    project: Literal["on_demand", "always", "never"] = "on_demand"
    tolerance: float = 0.25
    blocks: int = 3
    linear: LinearSolver = field(default_factory=Cholesky)
    order: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if self.s is not None and (self.s < 0 or int(self.s) != self.s):
            raise SceneError(f"s is {self.s}", where="SIERE.s", remedy="use a whole number of modes, 0 or more")

    @one_thread()
    def step(self, system: System, state: State, h: float, memory: Any = None) -> Step:
        clock = Clock()
        n = len(system.free)
        if self.s is not None and self.s > n:
            raise SceneError(f"s = {self.s} modes of {n} free coordinates", where="SIERE.s", remedy=f"use s <= {n}")
        try:
            x, factor, fills = self._factored(system, state, h, memory, clock)
        except NotPositiveDefinite as error:
            failed = SolveReport(False, 0, float("nan"), 0.0, Counts(1, 2), clock.totals(), message=str(error))
            return Step(state, memory, (failed,))
        with clock("modes"):
            modes, captured = self._modes(x, factor, memory)
        with clock("solve"):
            dq, dv = increment(x, factor, modes.U[:, :captured], modes.lam[:captured], modes.rider)
        finite = bool(np.isfinite(dq).all() and np.isfinite(dv).all())
        counts = Counts(1, fills, int(factor.analysed), fills, 1 + modes.solves)
        message = "" if finite else "not finite: reduce h, project K or capture more modes"
        report = SolveReport(
            finite,
            modes.blocks,
            modes.error,
            self.tolerance,
            counts,
            clock.totals(),
            message=message,
            certified=modes.error <= self.tolerance,
        )
        kept = SIEREMemory(modes.U, captured, factor.memory, Transient(x.mass))
        return Step(advanced(system, state, h, dq, dv, x.scripted), kept, (report,))

    def _factored(
        self, system: System, state: State, h: float, memory: SIEREMemory | None, clock: Clock
    ) -> tuple["Matrices", Factor, int]:
        """The step's matrices and the factor of A, projected as asked; and how many times A was filled."""
        mass, analysis = (memory.mass or Transient(None), memory.analysis) if memory else (Transient(None), None)
        try:
            with clock("fill"):
                x = assemble(system, state, h, psd=self.project == "always", mass=mass)
            with clock("factor"):
                return x, self.linear.factor(x.A, analysis), 1
        except NotPositiveDefinite:
            if self.project == "never":
                return x, Indefinite(x.A), 1
        with clock("fill"):
            x = assemble(system, state, h, psd=True, mass=mass)
        with clock("factor"):
            return x, self.linear.factor(x.A, analysis), 2

    def _modes(self, x: "Matrices", factor: Factor, memory: SIEREMemory | None) -> tuple[Tracked, int]:
        """The captured modes with their guards and the linearly implicit step; and how many are captured."""
        n = len(x.f)
        if self.s == 0:
            return Tracked(np.zeros(0), np.zeros((n, 0)), 0.0, 0, 0, factor.solve(x.implicit())), 0
        known = memory if memory is not None and len(memory.U) == n else None
        most = RIGID * sp.csgraph.connected_components(x.A, directed=False)[0] if known is None else 0  # rigid motions
        block = self._tried(n) + most + RIGID if known is None else known.U.shape[1]
        if n <= max(DENSE, block):
            lam, U = scipy.linalg.eigh(x.K(np.eye(n)), x.M(np.eye(n)), subset_by_index=(0, min(n, block) - 1))
            captured = min(n, self._captured(x, factor, lam, U, most)) if known is None else known.captured
            return Tracked(lam, U, 0.0, 0, 0, factor.solve(x.implicit())), captured
        if known is None:
            return self._cold(x, factor, most)
        weights = (1.0, x.h**2) if x.D is None else None
        pencil = Pencil(x.K, x.M, factor.solve, weights)
        s = known.captured
        return track(pencil, known.U, s, x.implicit(), tolerance=self.tolerance, blocks=self.blocks), s

    def _cold(self, x: "Matrices", factor: Factor, most: int) -> tuple[Tracked, int]:
        """The first modes, from nothing; rigid motions among them are captured on top of the s elastic ones."""
        K = x.A - x.mass[1] if x.D is None else x.A - x.mass[1] - x.h * x.D
        inverse = ShiftInvert(factor, -1.0 / x.h**2, x.h**2) if x.D is None else None
        tried = self._tried(len(x.f)) + GUARDS + most
        found = lowest(K / x.h**2, x.mass[1], tried, inverse=inverse, tolerance=1e-4)
        captured = self._captured(x, factor, found.lam, found.U, most)
        U = np.ascontiguousarray(found.U[:, : captured + GUARDS])
        lam = np.einsum("ij,ij->j", U, x.K(U))
        return Tracked(lam, U, found.residual, found.solves, 0, factor.solve(x.implicit())), captured

    def _tried(self, n: int) -> int:
        """How many elastic modes the first search is for."""
        return self.s if self.s is not None else min(MOST, n)

    def _captured(self, x: "Matrices", factor: Factor, lam: Array, U: Array, most: int) -> int:
        """How many of the modes found first are captured, rigid ones included."""
        still = rigid(lam, most)
        return still + (self.s if self.s is not None else needed(x, factor, lam, U, still))


def needed(x: "Matrices", factor: Factor, lam: Array, U: Array, still: int) -> int:
    """The fewest elastic modes (1 to `MOST`) behind ``still`` rigid ones that hold `SHARE` of the energy beyond those.

    The energy is the kinetic one and 1/2 h^2 f^T A^-1 f, which the load f puts into the body in a step; a mode has
    1/2 a^2 + 1/2 h^2 c^2 / (1 + h^2 lam) of it, with a = U^T M v and c = U^T f.
    """
    h2 = x.h**2
    held = 0.5 * (x.M(U).T @ x.v) ** 2 + 0.5 * h2 * (U.T @ x.f) ** 2 / (1.0 + h2 * np.maximum(lam, 0.0))
    whole = 0.5 * float(x.v @ x.M(x.v)) + 0.5 * h2 * float(x.f @ factor.solve(x.f))
    elastic = np.cumsum(held[still : still + MOST])
    enough = np.flatnonzero(elastic >= SHARE * (whole - held[:still].sum()))
    return int(enough[0]) + 1 if len(enough) else len(elastic)


def rigid(lam: Array, most: int) -> int:
    """How many of the ``most`` lowest modes are rigid motions: zero against the others."""
    return int(np.count_nonzero(np.abs(lam[:most]) < 1e-6 * np.abs(lam[: most + RIGID]).max()))


@dataclass(frozen=True, eq=False)
class Matrices:
    """A = M + h D + h^2 K and the force over the free coordinates; K acts through A, which was assembled once."""

    A: sp.csr_matrix
    D: sp.csr_matrix | None
    m: Array  # row sums of M
    mass: tuple[sp.csr_matrix, sp.csr_matrix]  # over all, and over the free coordinates
    f: Array
    ramp: Array  # rate of change of f by the scripted coordinates [N/s]
    v: Array
    scripted: Array
    h: float

    def M(self, x: Array) -> Array:
        M = self.mass[1]
        if M.nnz == len(self.m):
            return self.m * x if x.ndim == 1 else self.m[:, None] * x
        return M @ x

    def step_forces(self, x: Array) -> Array:
        """h^2 K x."""
        y = self.A @ x - self.M(x)
        return y if self.D is None else y - self.h * (self.D @ x)

    def K(self, x: Array) -> Array:
        return self.step_forces(x) / self.h**2

    def implicit(self) -> Array:
        """h f - h^2 K v: the right-hand side of linearly implicit Euler for the change of the velocities."""
        return self.h * (self.f + self.h * self.ramp) - self.step_forces(self.v)


def assemble(system: System, state: State, h: float, *, psd: bool, mass: Transient) -> Matrices:
    """Everything a step needs, with forces of time t + h and one assembly."""
    q, t, free = state.q, state.t + h, system.free
    v = scripted_velocity(system, state, h)
    f = system.force(q, v, t)
    tangent = system.tangent(q, v, t, (1.0, h, h * h), psd=psd)
    damping = system.damping(q, v, t)
    M = system.mass(q)
    pair = mass.value if mass.value is not None and mass.value[0] is M else (M, system.restrict(M))
    moving = v.copy()
    moving[free] = 0.0
    ramp = np.zeros(len(free))
    if moving.any():  # prescribed coordinates move through the tangent: (h^2 K + h D) w, of which f holds D w already
        ramp = -(tangent @ moving - M @ moving + h * (damping @ moving))[free] / (h * h)
    D = -system.restrict(damping) if damping.nnz else None
    m = np.asarray(pair[1].sum(axis=1)).ravel()
    return Matrices(system.restrict(tangent), D, m, pair, f[free], ramp, v[free], v, h)


def increment(x: Matrices, factor: Factor, U: Array, lam: Array, y: Array) -> tuple[Array, Array]:
    """(dq, dv) of the step in the module's docstring; ``y`` is the linearly implicit change of the velocities."""
    h = x.h
    if not len(lam):
        return h * (x.v + y), y
    MU = x.M(U)
    a, c = MU.T @ x.v, U.T @ (x.f + 0.5 * h * x.ramp)
    if x.D is None:
        y_q, y_v = modal.undamped(lam, a, c, h)
    else:
        DU = x.D @ U
        Dr = U.T @ DU
        across = DU - MU @ Dr
        if np.abs(across).max() > INVARIANT * np.abs(DU).max():
            return coupled(x, factor, (U, MU, lam), (a, c), (Dr, across))
        y_q, y_v = modal.damped(lam, Dr, a, c, h)
    if h * h * lam[0] < SINGULAR:
        y = factor.solve(x.implicit() - MU @ (U.T @ x.implicit()))
    w = y - U @ (MU.T @ y)
    return U @ y_q + h * (x.v - U @ a + w), U @ y_v + w


def coupled(
    x: Matrices,
    factor: Factor,
    modes: tuple[Array, Array, Array],
    load: tuple[Array, Array],
    damping: tuple[Array, Array],
) -> tuple[Array, Array]:
    """(dq, dv) where damping couples modes and rest: if weakly, that of the modes is exact, else all is implicit."""
    (U, MU, lam), (a, c), (Dr, across), h = modes, load, damping, x.h
    weak = weakly_coupled(x, factor, across)
    y_q, y_v = modal.damped(lam, Dr, a, c, h) if weak else modal.undamped(lam, a, c, h)
    rhs = x.implicit() - MU @ (U.T @ x.implicit()) + MU @ y_v
    y = split_solve(factor, MU, h * h * np.diag(lam) + (h * Dr if weak else 0.0), rhs)
    y_m = MU.T @ y
    if not weak:  # the way follows what damping has left of the velocities
        y_q = y_q + h * (y_m - y_v)
    return U @ y_q + h * (x.v - U @ a + y - U @ y_m), y


def weakly_coupled(x: Matrices, factor: Factor, across: Array) -> bool:
    """Whether the damping ``across`` (n, s) = D_cm leaves the split definite, h^2 D_mc A^-1 D_cm < WEAK; M, which is
    less than A, is tried first."""
    for inverse in (lambda B: B / x.m[:, None], factor.solve):
        if x.h**2 * np.linalg.norm(across.T @ inverse(across), 2) < WEAK:
            return True
    return False


def split_solve(factor: Factor, W: Array, C: Array, g: Array) -> Array:
    """y with (A - W C W^T) y = g, by Woodbury with W's columns as further right-hand sides [Chen2019, Eq. 6.8]."""
    both = factor.solve(np.column_stack([g, W]))
    y, X = both[:, 0], both[:, 1:]
    return y + X @ np.linalg.solve(np.eye(len(C)) - C @ (W.T @ X), C @ (W.T @ y))


class Indefinite:
    """The LU factor of a matrix that Cholesky refuses: K had modes below -1/h^2."""

    memory, analysed, inner = None, True, 0

    def __init__(self, A: sp.csr_matrix) -> None:
        self._lu = splu(sp.csc_matrix(A))

    def solve(self, b: Array) -> Array:
        return self._lu.solve(b)

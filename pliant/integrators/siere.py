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

from pliant.arrays import Array
from pliant.clock import Clock
from pliant.errors import NotPositiveDefinite, SceneError
from pliant.integrators.linearised import advanced
from pliant.integrators.siere_step import Indefinite, Matrices, assemble, increment
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
STILL = 1e-6  # h^2 lam of motions that cost nothing, rigid or slack: linearly implicit steps damp them by 1e-6
MOST, SHARE = 30, 0.95  # modes tried where s is chosen, and the part of the energy that they must hold


@dataclass(frozen=True, eq=False)
class SIEREMemory:
    """The vectors of the last step and how many of them are captured modes.

    What is cheaper to rebuild than to save is transient.
    """

    U: Array
    captured: int
    analysis: Any = None
    mass: Transient = Transient(None)


@dataclass(frozen=True)
class SIERE:
    """The lowest modes by exponential Rosenbrock-Euler, the rest linearly implicit: lively and cheap [Chen2019, ch. 6].

    ``s`` is the number of elastic modes. The rigid modes of free bodies are added to them, six for each, since a body
    would tilt without all of them; they are recognised by their zero eigenvalues, which bodies under stress at the
    start or at a cut do not all have. ``s=None`` chooses at the first step: as few of the 30 lowest modes as hold 95 %
    of the kinetic energy and of the energy that the load of that step puts into the body, rigid motion aside.

    Flat cloth has as many slack modes as vertices, which nothing resists until it is under tension. If all modes found
    are slack, none is captured; they are computed again once the cloth is under tension.

    ``s=0`` is linearly implicit Euler, s = all modes is ERE. K is exact, also in the modes, so that negative modes are
    captured as they are; ``project="on_demand"`` projects it in steps whose A is indefinite, "always" in every step
    (which costs energy), "never" factors even an indefinite A. Modes are followed with up to ``blocks`` blocks of s + 2
    right-hand sides per step; more than one is used when A^-1 M u leaves their space by more than ``tolerance`` (sine
    of the angle, about h^2 |K u - lam M u|: what the step neglects). The order is 1 however inexact the modes are, as
    all forces enter in full; only the error constant depends on them. Modes that nothing couples to those followed,
    such as those of another body that becomes softer, are not found and remain linearly implicit. The ``iterations`` in
    the report are blocks, its residual is that angle.
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
    ) -> tuple[Matrices, Factor, int]:
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

    def _modes(self, x: Matrices, factor: Factor, memory: SIEREMemory | None) -> tuple[Tracked, int]:
        """The captured modes with their guards and the linearly implicit step; and how many are captured."""
        n = len(x.f)
        nothing = lambda U: Tracked(np.zeros(U.shape[1]), U, 0.0, 0, 0, factor.solve(x.implicit()))
        if self.s == 0:
            return nothing(np.zeros((n, 0))), 0
        known = memory if memory is not None and len(memory.U) == n else None
        if known is not None and known.captured == 0 and still(x, known.U) == known.U.shape[1]:
            return nothing(known.U), 0
        known = known if known is not None and known.captured else None
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

    def _cold(self, x: Matrices, factor: Factor, most: int) -> tuple[Tracked, int]:
        """The first modes, without a guess; rigid motions among them are captured in addition to the s elastic ones."""
        K = x.A - x.mass[1] if x.D is None else x.A - x.mass[1] - x.h * x.D
        inverse = ShiftInvert(factor, -1.0 / x.h**2, x.h**2) if x.D is None else None
        tried = self._tried(len(x.f)) + GUARDS + most
        found = lowest(K / x.h**2, x.mass[1], tried, inverse=inverse, tolerance=1e-4)
        captured = self._captured(x, factor, found.lam, found.U, most)
        if captured == 0:  # slack: what was found is watched until it is held
            return Tracked(found.lam, found.U, 0.0, found.solves, 0, factor.solve(x.implicit())), 0
        U = np.ascontiguousarray(found.U[:, : captured + GUARDS])
        lam = np.einsum("ij,ij->j", U, x.K(U))
        return Tracked(lam, U, found.residual, found.solves, 0, factor.solve(x.implicit())), captured

    def _tried(self, n: int) -> int:
        """How many elastic modes the first search is for."""
        return self.s if self.s is not None else min(MOST, n)

    def _captured(self, x: Matrices, factor: Factor, lam: Array, U: Array, most: int) -> int:
        """How many of the modes found first are captured, rigid ones included; none where all of them are slack."""
        if len(lam) > most and still(x, U) == len(lam):
            return 0
        free = rigid(lam, most)
        return free + (self.s if self.s is not None else needed(x, factor, lam, U, free))


def needed(x: Matrices, factor: Factor, lam: Array, U: Array, free: int) -> int:
    """The fewest elastic modes (1 to `MOST`) behind ``free`` rigid ones that hold `SHARE` of the energy beyond those.

    The energy is the kinetic one and 1/2 h^2 f^T A^-1 f, which the load f puts into the body in a step; a mode has
    1/2 a^2 + 1/2 h^2 c^2 / (1 + h^2 lam) of it, with a = U^T M v and c = U^T f.
    """
    h2 = x.h**2
    held = 0.5 * (x.M(U).T @ x.v) ** 2 + 0.5 * h2 * (U.T @ x.f) ** 2 / (1.0 + h2 * np.maximum(lam, 0.0))
    whole = 0.5 * float(x.v @ x.M(x.v)) + 0.5 * h2 * float(x.f @ factor.solve(x.f))
    elastic = np.cumsum(held[free : free + MOST])
    enough = np.flatnonzero(elastic >= SHARE * (whole - held[:free].sum()))
    return int(enough[0]) + 1 if len(enough) else len(elastic)


def still(x: Matrices, U: Array) -> int:
    """How many of the vectors U (n, p) cost nothing to move along, by their Rayleigh quotients."""
    return int(np.count_nonzero(np.abs(np.einsum("ij,ij->j", U, x.step_forces(U))) < STILL))


def rigid(lam: Array, most: int) -> int:
    """How many of the ``most`` lowest modes are rigid motions: zero against the others."""
    return int(np.count_nonzero(np.abs(lam[:most]) < 1e-6 * np.abs(lam[: most + RIGID]).max()))

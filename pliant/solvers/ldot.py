"""Solvers on an early Cholesky factor: made once per nonlinear solve, before the answer is known.

    L0  frozen          chol(A) at the start of the stage
    L1  extrapolated    L + dt Ldot, the factor carried along its own time derivative [Weidner2022, Eq. 5.1-5.3]
    LP  predictor       chol(A) at the start moved on by dt v: one factorization instead of the two of L1

NEWTON-Lx runs Newton with that factor as preconditioner of PCG and never factors again [Weidner2022, Alg. 5.4].
HYBRID-Lx first uses it as the Newton matrix itself (quasi-Newton) and falls back to NEWTON-Lx [Weidner2022, sec. 5.3].
"""

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import scipy.sparse as sp

from pliant.arrays import Array
from pliant.clock import Clock
from pliant.errors import NotPositiveDefinite, SceneError
from pliant.linear.automatic import approximate
from pliant.linear.base import Factor, LinearSolver
from pliant.linear.cholesky import Cholesky
from pliant.linear.dchol import dchol, dchol_difference
from pliant.linear.pcg import PCG
from pliant.solvers.base import (
    Project,
    Solution,
    StageLike,
    Tolerance,
    check_options,
    placed,
    places_for,
    require_definite,
)
from pliant.solvers.line_search import LineSearch, Trial
from pliant.solvers.newton import STRICT, finish, own_linear, row, stagnates, start_trial
from pliant.solvers.qlb import rests
from pliant.solvers.rounding import floor_of
from pliant.state import Counts, Transient

Early = Literal["frozen", "extrapolated", "predictor"]
AS_PUBLISHED: dict[str, Any] = {
    "worth": None,
    "project": "always",
    "epsilon": 1e-4,
}  # the thesis's choices for its solvers


@dataclass(frozen=True)
class Ldot:
    """Up to ``quasi`` quasi-Newton iterations with the early factor, then Newton-PCG preconditioned by it.

    It switches when the line search fails, when ``quasi`` iterations are spent, or when the residual has not halved in
    ten; the best iterate so far is kept, and a solve does not switch back.

    The papers never replace the early factor (``worth=None``). Where the matrix changes much during a solve, as when a
    bar buckles, PCG then takes tens or hundreds of iterations, each as expensive as a direct solve. A factorization is
    taken to cost as much as ``worth`` of them, and the matrix is factored again where that pays (see `stale`).

    Adot of L1 is a difference over the fraction ``epsilon`` of the step. A small fraction, as published, misses
    contacts that close within the step; over the whole step they are seen, and elsewhere the difference is as good.

    The matrix of the Newton phase is exact; where it is indefinite, PCG stops at the first direction of negative
    curvature, and a new factor is that of the projected matrix. The papers always project (``project="always"``), which
    makes Newton's convergence linear. Their choices are ``HybridL1(**AS_PUBLISHED)``.

    On a device the system with the early matrix is solved by conjugate gradients instead of a factor, and NEWTON keeps
    the coarse space of the preconditioner; L1 needs a factor.
    """

    early: Early = "extrapolated"
    quasi: int = 50
    inner_tolerance: float = 1e-2
    worth: int | None = 20  # measured: 15 to 30 on meshes of 10,000 vertices
    project: Project = "on_demand"
    epsilon: float = 1.0
    analytic: bool = False  # Ldot by the supernodal derivative instead of the difference of two factors
    linear: LinearSolver = field(default_factory=Cholesky)
    tolerance: Tolerance = Tolerance()
    line_search: LineSearch = LineSearch()
    max_iterations: int = 150

    def __post_init__(self) -> None:
        check_options(self)

    def solve(self, stage: StageLike, guess: Array, memory: Any = None) -> Solution:
        require_definite(stage, self)
        clock = Clock()
        now = start_trial(stage, guess, clock)
        goal = self.tolerance.goal(stage, now.norm)
        threshold = goal.threshold
        counts, history = Counts(forces=1), [row(0, now, 0.0)]
        if now.norm <= threshold or rests(stage, now):
            return finish(stage, now, goal, 0, counts, clock, history, "", memory)
        factor, work = self._early(stage, guess, memory, clock)
        counts += work
        if self.quasi:
            now, work = self._quasi_newton(stage, now, threshold, factor, clock, history)
            counts += work
        message = ""
        if now.norm > threshold:
            counts += Counts(switches=1) if self.quasi else Counts()
            now, work, message = self._newton(stage, now, threshold, factor, clock, history)
            counts += work
        kept = Transient(factor.memory)
        return finish(stage, now, goal, len(history) - 1, counts, clock, history, message, kept)

    def _early(self, stage: StageLike, guess: Array, memory: Any, clock: Clock) -> tuple[Factor, Counts]:
        """The factor to work with."""
        analysis = memory.value if memory is not None else None
        own = own_linear(stage)
        if self.early == "extrapolated":
            if own is not None:
                what, remedy = "the system's matrices have no factor to extrapolate", "use HybridLP or NewtonLP"
                raise SceneError(what, where="integrator.solver", remedy=remedy)
            return self._extrapolated(stage, analysis, clock)
        with clock("fill"):
            A = stage.start_jacobian(ahead=stage.dt if self.early == "predictor" else 0.0)
        with clock("factor"):
            linear = own or placed(self.linear, places_for(self.linear, stage, guess))
            factor = linear.factor(A, analysis)
        return factor, Counts(fills=1, analyses=int(factor.analysed), factorizations=1)

    def _extrapolated(self, stage: StageLike, analysis: Any, clock: Clock) -> tuple[Factor, Counts]:
        """L + dt Ldot, or L if a pivot gets lost; Adot by a difference, element by element."""
        e = self.epsilon * stage.dt
        with clock("fill"):
            A, ahead = stage.start_jacobian(), stage.start_jacobian(ahead=e)
            Adot = A.copy()
            Adot.indptr, Adot.indices, Adot.data = A.indptr, A.indices, (ahead.data - A.data) / e
        with clock("factor"):
            rate = (dchol if self.analytic else dchol_difference)(A, Adot, analysis)
            try:
                factor = rate.extrapolated(stage.dt)
            except NotPositiveDefinite:
                factor = rate.extrapolated(0.0)
        return factor, Counts(fills=2, analyses=int(factor.analysed), factorizations=2)

    def _quasi_newton(
        self,
        stage: StageLike,
        now: Trial,
        threshold: float,
        factor: Factor,
        clock: Clock,
        history: list[dict[str, float]],
    ) -> tuple[Trial, Counts]:
        """dz = -(L L^T)^-1 r until it converges or one of the switch rules fires; the best iterate."""
        counts, best = Counts(), now
        for k in range(1, min(self.quasi, self.max_iterations) + 1):
            with clock("solve"):
                dz = -factor.solve(now.r)
            with clock("force"):
                found = self.line_search.search(stage, now, dz)
            counts += Counts(solves=1, forces=found.evaluations if found else self.line_search.halvings + 1)
            if found is None:
                break
            now = found
            best = now if now.norm < best.norm else best
            history.append(row(len(history), now, now.t))
            slow = k >= 10 and history[-1]["residual"] > 0.5 * history[-11]["residual"]
            if now.norm <= threshold or slow:
                break
        return best, counts

    def _newton(
        self,
        stage: StageLike,
        now: Trial,
        threshold: float,
        factor: Factor,
        clock: Clock,
        history: list[dict[str, float]],
    ) -> tuple[Trial, Counts, str]:
        """Newton with PCG; the matrix is filled in every iteration, the preconditioner replaced only when stale."""
        counts, begin, search = Counts(), len(history) - 1, self.line_search
        own, inner = own_linear(stage, early=True), list[int]()
        linear: Any = PCG(tolerance=self.inner_tolerance, preconditioner=factor) if own is None else own
        kinds = (False, True) if self.project == "on_demand" and stage.symmetric else (True,)  # projected?
        while now.norm > threshold and len(history) <= self.max_iterations:
            if self.worth is not None and own is None and stale(inner, self.worth):
                fresh, work = self._fresh(stage, now.z, kinds, factor.memory, clock)
                linear, inner, counts = replace(linear, preconditioner=fresh), [], counts + work
            found = None
            for psd in kinds:
                with clock("fill"):
                    A = stage.jacobian(now.z, psd=psd)
                if now.norm <= floor_of(stage, A, now.z):
                    return now, counts + Counts(fills=1), "the residual is round-off"
                found, work = self._pcg_step(stage, now, A, (linear, factor.memory), search, clock)
                inner.append(work.inner)
                counts += work
                if found is not None:
                    break
            if found is None:
                return now, counts, "no acceptable Newton step"
            now = found
            history.append(row(len(history), now, now.t))
            if stagnates(history[begin:]):
                if search.projected <= STRICT:
                    return now, counts, "the residual has stopped decreasing"
                kinds, search, begin = (True,), replace(search, projected=STRICT), len(history) - 1  # as `Newton` does
        return now, counts, ""

    def _pcg_step(
        self,
        stage: StageLike,
        now: Trial,
        A: sp.csr_matrix,
        how: tuple[LinearSolver, Any],
        search: LineSearch,
        clock: Clock,
    ) -> tuple[Trial | None, Counts]:
        """One step along the solution of PCG and its memory, or None if no length of it is acceptable."""
        linear, memory = how
        try:
            with clock("solve"):
                solver = linear.factor(A, memory)
                dz = -solver.solve(now.r)
        except NotPositiveDefinite:
            return None, Counts(fills=1)
        with clock("force"):
            found = search.search(stage, now, dz)
        forces = found.evaluations if found is not None else search.halvings + 1
        return found, Counts(fills=1, forces=forces, solves=solver.inner + 1, inner=solver.inner)

    def _fresh(
        self, stage: StageLike, z: Array, kinds: tuple[bool, ...], analysis: Any, clock: Clock
    ) -> tuple[Factor, Counts]:
        """A factor of the matrix at z, projected where it must be."""
        counts = Counts()
        for psd in kinds:
            with clock("fill"):
                A = stage.jacobian(z, psd=psd)
            counts += Counts(fills=1, factorizations=1)
            try:
                with clock("factor"):
                    factor = placed(self.linear, places_for(self.linear, stage, z)).factor(A, analysis)
                return factor, counts + Counts(analyses=int(factor.analysed))
            except NotPositiveDefinite:
                if psd:
                    raise
        raise AssertionError("the projected matrix comes last")


def stale(inner: list[int], worth: int) -> bool:
    """Whether to factor again, from the iterations PCG has taken in each solve since the last factorization.

    It pays when the last solve took more than a factorization is worth, or more than the solves so far on average with
    the price of their factor. If they grow steadily that is the best moment; if they level off early it never comes.
    """
    return bool(inner) and inner[-1] > min(worth, (worth + sum(inner)) / len(inner))


def NewtonL0(**options: Any) -> Ldot:
    """Newton-PCG preconditioned by the frozen factor."""
    return Ldot(early="frozen", quasi=0, **options)


def NewtonL1(**options: Any) -> Ldot:
    """Newton-PCG preconditioned by the extrapolated factor."""
    return Ldot(early="extrapolated", quasi=0, **options)


def NewtonLP(**options: Any) -> Ldot:
    """Newton-PCG preconditioned by the factor at the predictor, in single precision; as good as L1."""
    return Ldot(**{"early": "predictor", "quasi": 0, "linear": approximate(), **options})


def HybridL0(**options: Any) -> Ldot:
    """Quasi-Newton with the frozen factor, then NEWTON-L0."""
    return Ldot(early="frozen", **options)


def HybridL1(**options: Any) -> Ldot:
    """Quasi-Newton with the extrapolated factor, then NEWTON-L1."""
    return Ldot(early="extrapolated", **options)


def HybridLP(**options: Any) -> Ldot:
    """Quasi-Newton with the factor at the predictor, in single precision, then NEWTON-LP."""
    return Ldot(**{"early": "predictor", "linear": approximate(), **options})

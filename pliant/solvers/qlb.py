"""QLB: one Cholesky factorization per nonlinear solve, kept fresh by L-BFGS. QLF is the same with no memory (m = 0).

The factor of A at the start of the step is the initial matrix of the two-loop recursion; secant pairs (s, y) of this
solve correct it, so an iteration costs one residual and two triangular solves. [QLB2021, Alg. 1-3] On large meshes a
V-cycle (`Multigrid`) takes the place of the factor: more iterations, each far cheaper.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

import scipy.sparse as sp

from pliant.abilities import able
from pliant.arrays import Array
from pliant.clock import Clock
from pliant.linear.automatic import approximate
from pliant.linear.base import Approximate, Factor, LinearSolver, Places
from pliant.linear.cholesky import Cholesky
from pliant.solvers.base import Solution, StageLike, Tolerance, check_options, placed, places_for, require_definite
from pliant.solvers.line_search import LineSearch, Trial
from pliant.solvers.newton import finish, row, stagnates, start_trial
from pliant.solvers.pairs import Pairs
from pliant.solvers.rounding import at_floor
from pliant.state import Counts, Transient

AS_PUBLISHED: dict[str, Any] = {"at": "start", "refresh": None, "linear": Cholesky()}  # the paper's choices for QLB
CONTRACTION = 0.7  # an old factor is replaced when four iterations together do not beat this rate per iteration


@dataclass(frozen=True, eq=False)
class Frozen:
    """The matrix a kept factor was made of, what it belongs to, and the factor itself (rebuilt after a restart)."""

    A: tuple[Array, Array, Array] | None  # data, indices, indptr; None when the factor is not kept
    places: Places | None  # of its rows, where the linear solver wants to know
    c: float
    factor: Transient


@dataclass(frozen=True)
class QLB:
    """Quasi-Newton: L-BFGS with m secant pairs around one Cholesky factorization per solve. [QLB2021]

    ``reuse="solve"`` factors once per nonlinear solve (the paper); "steps" keeps the factor as long as it contracts,
    across stages and time steps. ``at`` evaluates the matrix at the guess or at the start of the stage. ``refresh``
    factors again whenever that many iterations did not suffice: where contacts open and close or a boundary jumps,
    secant pairs cannot make up for it. The factor is kept in single precision, and on large meshes it is a V-cycle of
    multigrid (`approximate`), which may take three times as many iterations; the residual, and so the solution, is as
    accurate as ever. The paper's own choices are ``QLB(**AS_PUBLISHED)``; see qlb/fig3 for the effect of the others.

    ``scaled`` rescales the initial matrix by s.y / (y.H0 y), for one more solve per iteration. When no step is
    acceptable, the pairs are dropped, then (``recover``) the matrix is factored once more at the current iterate.
    ``coupled`` adds H_T, the blocks that couple the sides of contact pairs, at the price of a changing pattern.
    """

    m: int = 10
    linear: LinearSolver = field(default_factory=approximate)
    tolerance: Tolerance = Tolerance()
    line_search: LineSearch = LineSearch()
    max_iterations: int = 500
    reuse: Literal["solve", "steps"] = "solve"
    at: Literal["start", "guess"] = "guess"
    scaled: bool = False
    recover: bool = True
    refresh: int | None = 20
    coupled: bool = False

    def __post_init__(self) -> None:
        check_options(self)

    def solve(self, stage: StageLike, guess: Array, memory: Any = None) -> Solution:
        require_definite(stage, self)
        clock = Clock()
        now = start_trial(stage, guess, clock)
        goal = self.tolerance.goal(stage, now.norm)
        counts, history = Counts(forces=1), [row(0, now, 0.0)]
        if now.norm <= goal.threshold or rests(stage, now):  # factor lazily: nothing to do
            return finish(stage, now, goal, 0, counts, clock, history, "", memory)
        pairs = Pairs(self.m, self.scaled)
        frozen, fresh, work = self._frozen(stage, guess, memory, clock)
        counts += work
        recovered = not self.recover
        message = ""
        k = age = 0
        while now.norm > goal.threshold and k < self.max_iterations:
            k, age = k + 1, age + 1
            if stagnates(history) and at_floor(stage, now.z, now.norm):
                break
            if (not fresh and self._stalls(history)) or (self.refresh and age > self.refresh * patience(frozen)):
                frozen, work = self._refactor(stage, now.z, frozen, clock)
                counts, fresh, age = counts + work, True, 1
                pairs.clear()
            with clock("solve"):
                dz = -pairs.apply(now.r, frozen.factor.value.solve)
            solves = 2 if self.scaled and len(pairs) else 1
            with clock("force"):
                found = self.line_search.search(stage, now, dz)
            if found is None:
                counts += Counts(solves=solves, forces=self.line_search.halvings + 1)
                if at_floor(stage, now.z, now.norm):
                    break
                if len(pairs):
                    pairs.clear()
                elif not recovered:
                    frozen, work = self._refactor(stage, now.z, frozen, clock)
                    counts, recovered, fresh = counts + work, True, True
                else:
                    message = f"no acceptable step in iteration {k}"
                    break
                continue
            counts += Counts(solves=solves, forces=found.evaluations)
            pairs.update(found.z - now.z, found.r - now.r)
            now = found
            history.append(row(k, now, now.t))
        return finish(stage, now, goal, k, counts, clock, history, message, frozen)

    def _frozen(
        self, stage: StageLike, guess: Array, memory: Frozen | None, clock: Clock
    ) -> tuple[Frozen, bool, Counts]:
        """The factor to start with: the kept one if it belongs to this kind of stage, else a new one."""
        if self.reuse == "steps" and memory is not None and memory.A is not None and memory.c == stage.c:
            if memory.factor is not None:
                return memory, False, Counts()
            data, indices, indptr = memory.A  # after a restart: the same factor from the same matrix
            A = sp.csr_matrix((data, indices, indptr))
            return self._factor(A, memory.places, stage.c, None, clock)[0], False, Counts()
        with clock("fill"):
            at_start = self.at == "start"
            A = stage.start_jacobian(coupled=self.coupled) if at_start else stage.jacobian(guess, coupled=self.coupled)
        frozen, work = self._factor(A, places_for(self.linear, stage, guess), stage.c, memory, clock)
        return frozen, True, work

    def _refactor(self, stage: StageLike, z: Array, frozen: Frozen, clock: Clock) -> tuple[Frozen, Counts]:
        with clock("fill"):
            A = stage.jacobian(z, coupled=self.coupled)
        return self._factor(A, places_for(self.linear, stage, z), stage.c, frozen, clock)

    def _factor(
        self, A: sp.csr_matrix, places: Places | None, c: float, memory: Frozen | None, clock: Clock
    ) -> tuple[Frozen, Counts]:
        analysis = memory.factor.value.memory if memory is not None and memory.factor is not None else None
        with clock("factor"):
            factor: Factor = placed(self.linear, places).factor(A, analysis)
        kept = (A.data, A.indices, A.indptr) if self.reuse == "steps" else None
        counts = Counts(fills=1, analyses=int(factor.analysed), factorizations=1)
        return Frozen(kept, None if kept is None else places, c, Transient(factor)), counts

    def _stalls(self, history: list[dict[str, float]]) -> bool:
        """Whether the last four iterations together contract less than CONTRACTION^4."""
        return len(history) > 4 and history[-1]["residual"] > CONTRACTION**4 * history[-5]["residual"]


def patience(frozen: Frozen) -> int:
    """How many times as many iterations an approximate factor may take."""
    factor = frozen.factor.value
    return factor.patience if able(factor, Approximate) else 1


def rests(stage: StageLike, now: Trial) -> bool:
    """Whether a guess is already as good as round-off allows; checked only where it is good."""
    return now.norm <= 1e-9 * stage.scale and at_floor(stage, now.z, now.norm)


def QLF(**options: Any) -> QLB:
    """Quasi-Newton with a frozen factor alone: linear convergence, fails where it stalls. [QLB2021, sec. 3.1]"""
    return QLB(**{**AS_PUBLISHED, "m": 0, "recover": False, **options})

"""Projective Dynamics: implicit Euler with one constant matrix, solved per coordinate.

    S = M + c^2 sum_i w_i G_i^T G_i        (n x n, factored once)
    local:  p_i = nearest point of C_i to G_i q          global:  S q = M target + c^2 sum_i w_i G_i^T p_i

One local/global iteration is exactly the quasi-Newton step q - S^-1 r(q) [Ledwon2024, sec. 3.4.4]: the projections are
inside the gradients of the energies, so that is how it is written here. Secant pairs on top of S (m > 0) make it the
quasi-Newton method of [Liu2017; Ledwon2024, sec. 3.5], which also serves neo-Hookean, StVK and other densities that are
no squared distances. S majorises the Hessian of projective energies, so their steps are always accepted whole.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.abilities import able
from pliant.arrays import Array, IntArray
from pliant.clock import Clock
from pliant.energies.base import Energy
from pliant.errors import SceneError
from pliant.linear.base import Factor, LinearSolver
from pliant.linear.cholesky import Cholesky
from pliant.solvers.base import Goal, OfSystem, Solution, StageLike, Tolerance, check_options, require_definite
from pliant.solvers.laplacian import is_constant, laplacian
from pliant.solvers.line_search import LineSearch, Trial
from pliant.solvers.newton import finish, row, start_trial
from pliant.solvers.pairs import Pairs
from pliant.state import Counts, SolveReport, Transient
from pliant.systems.base import Composed
from pliant.systems.elastodynamics import Elastodynamics
from pliant.systems.stepped import Remote, Solving


@dataclass(frozen=True, eq=False)
class GlobalTerms:
    """What S is made of: mass, c, inertia, energies with a constant Laplacian, and the sum of all that may change."""

    M: sp.csr_matrix
    c: float
    inertia: float
    constant: tuple[Energy, ...]
    changing: sp.csr_matrix

    def equal(self, other: "GlobalTerms") -> bool:
        """Whether both make the same S: identical constant parts, equal values of the others."""
        a, b = self.changing, other.changing
        same = (self.c, self.inertia) == (other.c, other.inertia) and self.M is other.M
        same = same and len(self.constant) == len(other.constant)
        same = same and all(e is f for e, f in zip(self.constant, other.constant, strict=True))
        return same and all(np.array_equal(getattr(a, k), getattr(b, k)) for k in ("indptr", "indices", "data"))


@dataclass(frozen=True, eq=False)
class GlobalMatrix:
    """The terms of S, and ``apply``: r -> S^-1 r over the free coordinates. It serves as long as the terms stay."""

    terms: GlobalTerms
    apply: Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class ByAxes:
    """S^-1 by factors, one per set of axes with the same free vertices.

    ``parts`` are the places of their coordinates among the free ones (vertices, axes), and the factor of S restricted
    to these vertices.
    """

    parts: tuple[tuple[IntArray, Factor], ...]

    def __call__(self, r: Array) -> Array:
        """All coordinates of a set of axes are right-hand sides of one call."""
        out = np.empty_like(r)
        for places, factor in self.parts:
            out[places] = factor.solve(r[places])
        return out


@dataclass(frozen=True)
class PD:
    """Projective Dynamics, accelerated by ``m`` secant pairs; m = 0 is the local/global iteration itself.

    ``fixed`` runs exactly that many iterations and accepts the result whatever its residual, as interactive programs
    do; the report contains the remaining residual. Otherwise the solver iterates until the tolerance is met.
    ``line_search=None`` takes full steps without evaluating the objective: safe for m = 0 and energies that are squared
    distances, where S majorises the Hessian.
    """

    m: int = 5
    tolerance: Tolerance = Tolerance()
    fixed: int | None = None
    line_search: LineSearch | None = LineSearch()
    max_iterations: int = 10_000
    linear: LinearSolver = field(default_factory=Cholesky)

    def __post_init__(self) -> None:
        check_options(self)

    def solve(self, stage: StageLike, guess: Array, memory: Any = None) -> Solution:
        require_definite(stage, self)
        clock = Clock()
        now = start_trial(stage, guess, clock)
        goal = self.tolerance.goal(stage, now.norm) if self.fixed is None else Goal(0.0, 0.0)
        counts, history = Counts(forces=1), [row(0, now, 0.0)]
        matrix, work = self._matrix(stage, guess, memory, clock)
        counts += work
        pairs = Pairs(self.m)
        message = ""
        k, limit = 0, self.max_iterations if self.fixed is None else self.fixed
        while now.norm > goal.threshold and k < limit:
            k += 1
            found, work = self._iterate(stage, now, matrix, pairs, clock)
            counts += work
            if found is None:
                message = f"no acceptable step in iteration {k}"
                break
            pairs.update(found.z - now.z, found.r - now.r)
            now = found
            history.append(row(k, now, now.t))
        solution = finish(stage, now, goal, k, counts, clock, history, message, Transient(matrix))
        return solution if self.fixed is None else Solution(now.z, _fixed(solution.report), solution.memory)

    def _iterate(
        self, stage: StageLike, now: Trial, matrix: GlobalMatrix, pairs: Pairs, clock: Clock
    ) -> tuple[Trial | None, Counts]:
        """One accepted step; the pairs are dropped when they do not lead to one."""
        counts = Counts()
        for _ in range(2 if len(pairs) else 1):
            with clock("solve"):
                dz = -pairs.apply(now.r, matrix.apply)
            with clock("force"):
                found, tried = self._search(stage, now, dz)
            counts += Counts(solves=1, forces=tried)
            if found is not None:
                return found, counts
            pairs.clear()
        return None, counts

    def _search(self, stage: StageLike, now: Trial, dz: Array) -> tuple[Trial | None, int]:
        """The point to go on from, and the residuals it took."""
        if self.line_search is None:
            z = now.z + dz
            r = stage.residual(z)
            return Trial(1.0, z, r, stage.norm(r), None, 1), 1
        found = self.line_search.search(stage, now, dz)
        return found, found.evaluations if found is not None else self.line_search.halvings + 1

    def _matrix(self, stage: StageLike, guess: Array, memory: Any, clock: Clock) -> tuple[GlobalMatrix, Counts]:
        """The kept factor if it still belongs to this stage, else a new one, counted."""
        system: Any = stage.system if isinstance(stage, OfSystem) else None
        composed = isinstance(system, Composed)
        if not composed:
            raise SceneError("the stage has no list of energies", where="PD", remedy="use newton, qlb or lbfgs")
        q = stage.embed(guess)  # type: ignore[attr-defined]
        if able(system, Remote):
            system, q = system.host, system.fetch(q)
        with clock("fill"):
            terms = gather(stage, system, q)
        kept = memory.value if isinstance(memory, Transient) else None
        if kept is not None and kept.terms.equal(terms):
            return kept, Counts()
        with clock("fill"):
            S = scalar_matrix(terms, q)
        with clock("factor"):
            return self._factored(stage, terms, S)

    def _factored(self, stage: Any, terms: GlobalTerms, S: sp.csr_matrix) -> tuple[GlobalMatrix, Counts]:
        system = stage.system
        if able(system, Solving):
            return GlobalMatrix(terms, system.vertexwise(S)), Counts(fills=1, analyses=1, factorizations=1)
        sets = free_axes(system.free, system.X.shape[1])
        parts = [(places, self.linear.factor(sp.csr_matrix(S[vertices][:, vertices]))) for places, vertices in sets]
        counts = Counts(fills=1, analyses=len(parts), factorizations=len(parts))
        return GlobalMatrix(terms, ByAxes(tuple(parts))), counts


def gather(stage: Any, system: Elastodynamics, q: Array) -> GlobalTerms:
    """The terms of S at q for the system of a stage. Damping enters with its matrix at rest, the mean over the axes."""
    n, d = system.X.shape
    changing = sp.csr_matrix((n, n))
    for energy in system.energy_terms:
        if not is_constant(energy):
            changing = changing + stage.c**2 * laplacian(energy, q, n)
    if system.force_terms and stage.inertia:
        D = system.damping(system.X.ravel(), np.zeros(n * d), stage.t)
        for axis in range(d):
            changing = changing - (stage.c / d) * D[axis::d, axis::d]
    constant = tuple(e for e in system.energy_terms if is_constant(e))
    return GlobalTerms(system.mass(q), stage.c, stage.inertia, constant, sp.csr_matrix(changing))


def scalar_matrix(terms: GlobalTerms, q: Array) -> sp.csr_matrix:
    """S = M + c^2 L - c D for one coordinate (n, n)."""
    n = terms.changing.shape[0]
    d = len(q) // n
    S = terms.inertia * sp.csr_matrix(terms.M[::d, ::d]) + terms.changing
    for energy in terms.constant:
        S = S + terms.c**2 * laplacian(energy, q, n)
    S = sp.csr_matrix(S)
    S.sort_indices()
    return S


def free_axes(free: IntArray, d: int) -> list[tuple[IntArray, IntArray]]:
    """Axes grouped by their free vertices: places (vertices, axes) among the free coordinates, and the vertices."""
    groups: dict[bytes, tuple[list[IntArray], IntArray]] = {}
    for axis in range(d):
        places = np.flatnonzero(free % d == axis)
        vertices = free[places] // d
        if len(vertices):
            groups.setdefault(vertices.tobytes(), ([], vertices))[0].append(places)
    return [(np.stack(places, axis=1), vertices) for places, vertices in groups.values()]


def _fixed(report: SolveReport) -> SolveReport:
    """A fixed number of iterations has no tolerance to miss: not certified; what was given up is the residual."""
    finite = bool(np.isfinite(report.residual))
    start = report.history[0]["residual"]
    left = f"fixed iterations: residual {report.residual:.2e} of {start:.2e}"
    message = left if finite else "residual is not finite"
    return replace(report, converged=finite, tolerance=None, message=message, judged="residual", certified=False)

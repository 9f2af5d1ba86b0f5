"""Hard linear equality constraints C z = d for any solver that works with a factored matrix.

With A^-1 replaced by the inverse on the null space of C,

    A^-1 - A^-1 C^T (C A^-1 C^T)^-1 C A^-1,

every Newton or secant direction keeps C z; started from a feasible guess the solver never leaves the constraint, and
its root is that of the KKT system. The residual that must vanish is r - C^T lambda, with the multipliers that make it
least.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.errors import SceneError
from pliant.linear.base import Factor, LinearSolver
from pliant.solvers.base import Solution, StageLike


@dataclass(frozen=True, eq=False)
class ConstrainedSolver:
    """``solver`` (any with a ``linear`` field: Newton, QLB, QLF, ...) on the stage subject to C z = d.

    C (k, n_free) acts on the free coordinates of the stage; k small. Rows must be independent.
    """

    solver: Any
    C: sp.csr_matrix
    d: Array

    def solve(self, stage: StageLike, guess: Array, memory: Any = None) -> Solution:
        tangential = Tangential(stage, self.C)
        feasible = guess + tangential.closing(self.d - self.C @ guess)
        solver = replace(self.solver, linear=NullSpace(self.solver.linear, self.C))
        return solver.solve(tangential, feasible, memory)

    def multipliers(self, stage: StageLike, z: Array) -> Array:
        """lambda (k,) with r(z) = C^T lambda at a solution: the constraint forces times c^2."""
        return Tangential(stage, self.C).multipliers(stage.residual(z))


@dataclass(frozen=True, eq=False)
class Tangential:
    """A stage seen along the constraint: the residual without its part in the range of C^T."""

    stage: StageLike
    C: sp.csr_matrix

    @property
    def weights(self) -> Array:
        return self.stage.weights

    @property
    def scale(self) -> float:
        return self.stage.scale

    @property
    def c(self) -> float:
        return self.stage.c

    @property
    def dt(self) -> float:
        return self.stage.dt

    @property
    def pull(self) -> float:
        return self.stage.pull

    @property
    def mass(self) -> float:
        return self.stage.mass

    @property
    def inertial(self) -> bool:
        return self.stage.inertial

    @property
    def symmetric(self) -> bool:
        return self.stage.symmetric

    @property
    def definite(self) -> bool:
        return self.stage.definite

    def jacobian(self, z: Array, *, psd: bool = True, coupled: bool = True) -> sp.csr_matrix:
        return self.stage.jacobian(z, psd=psd, coupled=coupled)

    def start_jacobian(self, *, psd: bool = True, ahead: float = 0.0, coupled: bool = False) -> sp.csr_matrix:
        return self.stage.start_jacobian(psd=psd, ahead=ahead, coupled=coupled)

    def merit(self, z: Array) -> float | None:
        return self.stage.merit(z)

    def norm(self, r: Array) -> float:
        return self.stage.norm(r)

    def limit(self, z: Array, dz: Array) -> float:
        return self.stage.limit(z, dz)

    @cached_property
    def _gram(self) -> Any:
        W = sp.diags(1.0 / self.stage.weights)
        return scipy.linalg.cho_factor(independent((self.C @ W @ self.C.T).toarray()))

    def multipliers(self, r: Array) -> Array:
        """The lambda for which r - C^T lambda is least in the norm of the stage."""
        return scipy.linalg.cho_solve(self._gram, self.C @ (r / self.stage.weights))

    def closing(self, gap: Array) -> Array:
        """The least mass-weighted change of z that changes C z by ``gap``."""
        return (self.C.T @ scipy.linalg.cho_solve(self._gram, gap)) / self.stage.weights

    def residual(self, z: Array) -> Array:
        r = self.stage.residual(z)
        return r - self.C.T @ self.multipliers(r)


@dataclass(frozen=True, eq=False)
class NullSpace:
    """A linear solver for directions with C x = 0."""

    linear: LinearSolver
    C: sp.csr_matrix

    def factor(self, A: sp.csr_matrix, memory: Any = None) -> "NullSpaceFactor":
        return NullSpaceFactor(self.linear.factor(A, memory), self.C)


class NullSpaceFactor:
    """x = A^-1 b - Y S^-1 C A^-1 b with Y = A^-1 C^T and S = C Y.

    S is not made symmetric: so C x = 0 to round-off even if A is factored in single precision.
    """

    def __init__(self, factor: Factor, C: sp.csr_matrix) -> None:
        self._factor, self._C = factor, C
        self._Y = factor.solve(C.T.toarray())
        self._S = scipy.linalg.lu_factor(independent(C @ self._Y))
        self.memory, self.analysed, self.inner = factor.memory, factor.analysed, factor.inner

    def solve(self, b: Array) -> Array:
        x = self._factor.solve(b)
        return x - self._Y @ scipy.linalg.lu_solve(self._S, self._C @ x)


def independent(S: Array) -> Array:
    """S = C A^-1 C^T as it came; dependent rows of C are refused by number."""
    pivots, order = scipy.linalg.qr(S, mode="r", pivoting=True)
    size = abs(np.diag(pivots))
    if size[-1] <= 1e-12 * size[0]:
        row = int(order[int(np.argmax(size <= 1e-12 * size[0]))])
        raise SceneError(
            f"constraint row {row} depends on the others", where="ConstrainedSolver.C", remedy="remove redundant rows"
        )
    return S

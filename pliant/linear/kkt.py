"""A quadratic programme, its scaling, its optimality residuals, and its solution when there are only equalities.

min 1/2 x^T P x + q^T x   s.t.  A x = b,  C x >= d        P x + q = A^T y + C^T z,  z >= 0,  z . (C x - d) = 0
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from pliant.arrays import Array, IntArray

DUAL_SHIFT = 1e-9  # of the scaled KKT matrix; makes redundant rows harmless, refinement removes its effect
PRIMAL_SHIFT = 1e-12
REFINEMENTS = 30
DENSE = 200  # unknowns and rows together up to which dense matrices are faster than the bookkeeping of sparse ones

Matrix = Any  # a dense Array or a scipy.sparse CSC matrix


class Point(NamedTuple):
    """Primal x (n,) and the multipliers y of the equalities, z >= 0 of the inequalities."""

    x: Array
    y: Array
    z: Array


class Residuals(NamedTuple):
    """How far a point is from optimal, each relative to the size of the terms it compares (scaled problem)."""

    stationarity: float
    equality: float
    inequality: float
    complementarity: float


@dataclass(frozen=True)
class Programme:
    """The data of one quadratic programme: P (n,n) symmetric positive semidefinite, A (p,n), C (m,n).

    The three matrices are CSC, or all dense when the programme is small.
    """

    P: Matrix
    q: Array
    A: Matrix
    b: Array
    C: Matrix
    d: Array

    def residuals(self, at: Point) -> Residuals:
        """Violations of the optimality conditions in the largest-entry norm."""
        Px, Ay, Cz = self.P @ at.x, self.A.T @ at.y, self.C.T @ at.z
        Ax, Cx = self.A @ at.x, self.C @ at.x
        slack = Cx - self.d
        return Residuals(
            _largest(Px + self.q - Ay - Cz) / max(1.0, *map(_largest, (Px, Ay, Cz, self.q))),
            _largest(Ax - self.b) / max(1.0, _largest(Ax)),
            _largest(np.minimum(slack, 0.0)) / max(1.0, _largest(Cx)),
            max(_largest(np.minimum(at.z, 0.0)), _largest(np.minimum(np.abs(at.z), np.abs(slack))))
            / max(1.0, _largest(at.z)),
        )


@dataclass(frozen=True)
class Scaling:
    """x = columns * xs / size, with rows of A and C normalised: every number of the scaled programme is near 1."""

    columns: Array
    equality: Array
    inequality: Array
    size: float

    def scaled(self, at: Point) -> Point:
        return Point(
            self.size * at.x / self.columns, self.size * at.y / self.equality, self.size * at.z / self.inequality
        )

    def unscaled(self, at: Point) -> Point:
        return Point(
            self.columns * at.x / self.size, self.equality * at.y / self.size, self.inequality * at.z / self.size
        )


def scale(problem: Programme) -> tuple[Programme, Scaling]:
    """Unit diagonal of P, unit rows of A and C, and right-hand sides of size at most 1."""
    diagonal = problem.P.diagonal()
    top = float(diagonal.max(initial=0.0)) or 1.0
    D = 1.0 / np.sqrt(np.where(diagonal > 1e-10 * top, diagonal, top))
    rows, bounds = _row_scale(_product(None, problem.A, D)), _row_scale(_product(None, problem.C, D))
    q, b, d = D * problem.q, rows * problem.b, bounds * problem.d
    size = 1.0 / (max(map(_largest, (q, b, np.maximum(d, 0.0)))) or 1.0)  # far bounds do not matter
    P, A, C = _product(D, problem.P, D), _product(rows, problem.A, D), _product(bounds, problem.C, D)
    scaled = Programme(P, size * q, A, size * b, C, size * d)
    return scaled, Scaling(D, rows, bounds, size)


def solve_equalities(problem: Programme, active: IntArray | None = None) -> Point:
    """The stationary point with A x = b and the ``active`` rows of C x = d, by one sparse factorization.

    The KKT matrix is shifted to be quasi-definite, so redundant rows are no harm, and the residual of the unshifted
    system is refined away; with contradictory rows it stays, which `Programme.residuals` shows.
    """
    active = np.zeros(0, dtype=np.int64) if active is None else active
    n, p = len(problem.q), len(problem.b)
    exact = _saddle(problem.P, stacked(problem.A, problem.C[active]))
    solve = _solver(exact, np.repeat([PRIMAL_SHIFT, -DUAL_SHIFT], [n, exact.shape[0] - n]))
    rhs = np.concatenate([-problem.q, problem.b, problem.d[active]])
    best = solution = solve(rhs)
    smallest = np.inf
    for _ in range(REFINEMENTS):
        residual = rhs - exact @ solution
        if not _largest(residual) < 0.9 * smallest:
            break
        best, smallest = solution, _largest(residual)
        solution = solution + solve(residual)
    z = np.zeros(len(problem.d))
    z[active] = -best[n + p :]
    return Point(best[:n], -best[n : n + p], z)


def stacked(above: Matrix, below: Matrix) -> Matrix:
    """Both blocks of rows as one matrix of their kind."""
    return np.vstack([above, below]) if isinstance(above, np.ndarray) else sp.csc_matrix(sp.vstack([above, below]))


def row_norms(rows: Matrix) -> Array:
    """Euclidean norms of the rows."""
    squares = rows * rows if isinstance(rows, np.ndarray) else rows.multiply(rows)
    return np.sqrt(np.asarray(squares.sum(axis=1)).ravel())


def _saddle(P: Matrix, G: Matrix) -> Matrix:
    """[[P, G^T], [G, 0]]."""
    if isinstance(P, np.ndarray):
        return np.block([[P, G.T], [G, np.zeros((len(G), len(G)))]])
    blocks: Any = [[P, G.T], [G, sp.csc_matrix((G.shape[0], G.shape[0]))]]
    return sp.csc_matrix(sp.block_array(blocks))


def _solver(K: Matrix, shift: Array) -> Callable[[Array], Array]:
    """Solves with K + diag(shift)."""
    if isinstance(K, np.ndarray):
        factor = scipy.linalg.lu_factor(K + np.diag(shift), check_finite=False)
        return lambda rhs: scipy.linalg.lu_solve(factor, rhs, check_finite=False)
    return splu(
        sp.csc_matrix(K + sp.diags_array(shift)),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=1e-3,
        options={"SymmetricMode": True},
    ).solve


def _product(left: Array | None, S: Matrix, right: Array) -> Matrix:
    """diag(left) S diag(right)."""
    left = np.ones(S.shape[0]) if left is None else left
    if isinstance(S, np.ndarray):
        return left[:, None] * S * right
    columns = np.repeat(np.arange(S.shape[1]), np.diff(S.indptr))
    return sp.csc_matrix((left[S.indices] * S.data * right[columns], S.indices, S.indptr), shape=S.shape)


def _row_scale(rows: Matrix) -> Array:
    norms = row_norms(rows)
    return 1.0 / np.where(norms > 0.0, norms, 1.0)


def _largest(a: Array) -> float:
    return float(np.abs(a).max(initial=0.0))

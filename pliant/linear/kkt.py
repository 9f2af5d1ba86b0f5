"""A quadratic programme, its scaling, its optimality residuals, and its solution when there are only equalities.

min 1/2 x^T P x + q^T x   s.t.  A x = b,  C x >= d        P x + q = A^T y + C^T z,  z >= 0,  z . (C x - d) = 0
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from pliant.arrays import Array, IntArray

DUAL_SHIFT = 1e-9  # of the scaled KKT matrix; makes redundant rows harmless, refinement removes its effect
PRIMAL_SHIFT = 1e-12
REFINEMENTS = 30


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
    """The data of one quadratic programme: P (n,n) symmetric positive semidefinite, A (p,n), C (m,n), all CSC."""

    P: sp.csc_matrix
    q: Array
    A: sp.csc_matrix
    b: Array
    C: sp.csc_matrix
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
    columns = sp.diags_array(D)
    A, C = sp.csc_matrix(problem.A @ columns), sp.csc_matrix(problem.C @ columns)
    rows, bounds = _row_scale(A), _row_scale(C)
    q, b, d = D * problem.q, rows * problem.b, bounds * problem.d
    size = 1.0 / (max(map(_largest, (q, b, np.maximum(d, 0.0)))) or 1.0)  # far bounds do not matter
    scaled = Programme(
        sp.csc_matrix(columns @ problem.P @ columns),
        size * q,
        sp.csc_matrix(sp.diags_array(rows) @ A),
        size * b,
        sp.csc_matrix(sp.diags_array(bounds) @ C),
        size * d,
    )
    return scaled, Scaling(D, rows, bounds, size)


def solve_equalities(problem: Programme, active: IntArray | None = None) -> Point:
    """The stationary point with A x = b and the ``active`` rows of C x = d, by one sparse factorization.

    The KKT matrix is shifted to be quasi-definite, so redundant rows are no harm, and the residual of the unshifted
    system is refined away; with contradictory rows it stays, which `Programme.residuals` shows.
    """
    active = np.zeros(0, dtype=np.int64) if active is None else active
    n, p = len(problem.q), len(problem.b)
    G = sp.csc_matrix(sp.vstack([problem.A, problem.C[active]]))
    blocks: Any = [[problem.P, G.T], [G, None]]
    exact = sp.csc_matrix(sp.block_array(blocks)) if G.shape[0] else problem.P
    shift = np.concatenate([np.full(n, PRIMAL_SHIFT), np.full(G.shape[0], -DUAL_SHIFT)])
    factor = splu(
        sp.csc_matrix(exact + sp.diags_array(shift)),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=1e-3,
        options={"SymmetricMode": True},
    )
    rhs = np.concatenate([-problem.q, problem.b, problem.d[active]])
    best = solution = factor.solve(rhs)
    smallest = np.inf
    for _ in range(REFINEMENTS):
        residual = rhs - exact @ solution
        if not _largest(residual) < 0.9 * smallest:
            break
        best, smallest = solution, _largest(residual)
        solution = solution + factor.solve(residual)
    z = np.zeros(len(problem.d))
    z[active] = -best[n + p :]
    return Point(best[:n], -best[n : n + p], z)


def _row_scale(rows: sp.csc_matrix) -> Array:
    norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    return 1.0 / np.where(norms > 0.0, norms, 1.0)


def _largest(a: Array) -> float:
    return float(np.abs(a).max(initial=0.0))

"""Velocities under constraint rows: the KKT system and its Schur complement, hard and compliant.

    [ A   -J^T      ] [v ]   [b]        A = M (- h D - h^2 K),  b = M v_n + h f,  E = compliance/h^2
    [ J    E        ] [mu] = [c]        c = -gamma phi/h,  mu = h lam [N s]

Hard rows have E = 0. Flipping the sign of mu makes the matrix symmetric and quasi-definite, and for rows in units of
one displacement it stays well-conditioned for any stiffness. [Ledwon2024, sec. 3.3.4, corrected]
"""

from typing import Any, Literal

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from pliant.arrays import Array, IntArray
from pliant.errors import NotPositiveDefinite, PliantError
from pliant.linear.cholesky import Cholesky

Scheme = Literal["schur", "kkt"]
DEPENDENT = 1e-10  # relative size below which a row adds nothing to the others


class ConstraintError(PliantError):
    """Rows that cannot be solved for: redundant (the multipliers are not unique) or contradictory (no solution)."""


def constrained_velocities(
    A: sp.csr_matrix, b: Array, J: sp.csr_matrix, c: Array, E: Array, *, scheme: Scheme = "schur"
) -> tuple[Array, Array]:
    """(v, mu) of the system above; A (N, N) symmetric positive definite, J (m, N), c and E (m,)."""
    J = sp.csr_matrix(J)
    if len(c) == 0:
        return Cholesky().factor(A).solve(b), np.zeros(0)
    require_independent(J, c, E)
    return (_schur if scheme == "schur" else _kkt)(A, b, J, c, E)


def _schur(A: sp.csr_matrix, b: Array, J: sp.csr_matrix, c: Array, E: Array) -> tuple[Array, Array]:
    """(J A^-1 J^T + E) mu = c - J A^-1 b, v = A^-1 (b + J^T mu)."""
    if A.nnz == A.shape[0]:  # a diagonal mass: the complement is as sparse as the graph of the constraints
        inverse = 1.0 / A.diagonal()
        S = sp.csr_matrix(J @ sp.diags_array(inverse) @ J.T + sp.diags_array(E))
        S.sort_indices()
        mu = Cholesky().factor(S).solve(c - J @ (inverse * b))
        return inverse * (b + J.T @ mu), mu
    factor = Cholesky().factor(A)
    S_dense = J @ factor.solve(np.ascontiguousarray(J.T.toarray())) + np.diag(E)
    mu = scipy.linalg.solve(S_dense, c - J @ factor.solve(b), assume_a="pos")
    return factor.solve(b + J.T @ mu), mu


def _kkt(A: sp.csr_matrix, b: Array, J: sp.csr_matrix, c: Array, E: Array) -> tuple[Array, Array]:
    """The symmetric form [[A, J^T], [J, -E]] [v; -mu] = [b; c]."""
    blocks: Any = [[A, J.T], [J, -sp.diags_array(E)]]
    K = sp.csc_matrix(sp.block_array(blocks))
    solution = splu(K).solve(np.concatenate([b, c]))
    return solution[: len(b)], -solution[len(b) :]


def require_independent(J: sp.csr_matrix, c: Array, E: Array) -> None:
    """Refuse hard rows that depend on others, by number: redundant where c agrees, contradictory where it does not."""
    hard = np.flatnonzero(E == 0.0)
    if len(hard) == 0 or not _suspicious(J[hard]):
        return
    rows = J[hard].toarray()
    scale = np.linalg.norm(rows, axis=1)
    zero = hard[scale == 0.0]
    if len(zero):
        what = f"row {zero[0]} acts on no free coordinate"
        raise ConstraintError(what, where="constraints", remedy="remove constraints between prescribed vertices")
    unit, target = rows / scale[:, None], c[hard] / scale
    R, order = scipy.linalg.qr(unit.T, mode="economic", pivoting=True)[1:]
    size = np.abs(np.diag(R))
    rank = int((size > DEPENDENT * size[0]).sum())
    if rank == len(hard):
        return
    kept = order[:rank]
    for extra in order[rank:]:
        weights = np.linalg.lstsq(unit[kept].T, unit[extra], rcond=None)[0]
        gap = abs(float(target[extra] - weights @ target[kept]))
        with_rows = _names(hard[kept[np.abs(weights) > 1e-6]])
        if gap > 1e-8 * max(1.0, float(np.abs(target).max())):
            what = f"row {hard[extra]} contradicts {with_rows} (by {gap:.3g} m/s)"
            raise ConstraintError(what, where="constraints", remedy="remove one, or give it a compliance > 0")
    what = f"row {hard[order[rank]]} repeats what {_dependence(unit, order, rank, hard)} already demand"
    raise ConstraintError(what, where="constraints", remedy="remove it, or give it a compliance > 0")


def _dependence(unit: Array, order: IntArray, rank: int, hard: IntArray) -> str:
    kept = order[:rank]
    weights = np.linalg.lstsq(unit[kept].T, unit[order[rank]], rcond=None)[0]
    return _names(hard[kept[np.abs(weights) > 1e-6]])


def _suspicious(rows: sp.csr_matrix) -> bool:
    """Whether the Gram matrix of the normalised rows is near singular: a sparse test before the dense one."""
    norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    if (norms == 0.0).any() or rows.shape[0] > rows.shape[1]:
        return True
    unit = sp.csr_matrix(sp.diags_array(1.0 / norms) @ rows)
    gram = sp.csr_matrix(unit @ unit.T - DEPENDENT * sp.identity(len(norms)))
    gram.sort_indices()
    try:
        Cholesky().factor(gram)
    except NotPositiveDefinite:
        return True
    return False


def _names(rows: IntArray) -> str:
    listed = ", ".join(str(r) for r in np.sort(rows)[:8])
    return ("rows " if len(rows) > 1 else "row ") + listed + (f" and {len(rows) - 8} more" if len(rows) > 8 else "")

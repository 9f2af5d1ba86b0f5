"""Condensation: the quasistatic nodes follow the dynamic ones so that the net force on them stays zero.

With K = df/dx split into dynamic (d) and quasistatic (q) coordinates, K_qq v_q + K_qd v_d + K_qk v_k = 0 gives

    v = J v_d + w,    J = [I; -K_qq^-1 K_qd],    w = [0; -K_qq^-1 K_qk v_k]

for prescribed velocities v_k, and K_qq^-1 f_q is the correction that removes the force left over [ConJac2020, Eq. 6-7].
The split may change in every step: rows and columns of dynamic coordinates are set to those of a multiple of the
identity, so the pattern, its analysis and the storage never change [Weidner2022, Eq. 4.21].
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.linear.base import Factor, LinearSolver


@dataclass(frozen=True, eq=False)
class Condensed:
    """J (n_free, n_d) with identity rows at ``dynamic``, the prescribed part w (n_free,), and the factor of -K_A."""

    J: Array
    w: Array
    dynamic: IntArray
    factor: Factor

    def correction(self, f: Array) -> Array:
        """dx (n_free,) = -K_qq^-1 f_q, zero at the dynamic coordinates."""
        rhs = f.copy()
        rhs[self.dynamic] = 0.0
        return self.factor.solve(rhs)


@dataclass(frozen=True, eq=False)
class Anchoring:
    """What keeps K_qq regular in a free piece with fewer than three dynamic nodes: rows ``rows`` follow the mean of the
    dynamic coordinates ``columns`` of their axis with the weight ``strength`` times their mass [Weidner2022, sec. 4.5].
    """

    rows: IntArray
    columns: tuple[IntArray, ...]  # per row the positions of its axis among the dynamic coordinates
    weight: Array


def condense(
    K: sp.csr_matrix,
    dynamic: IntArray,
    drive: Array,
    linear: LinearSolver,
    memory: Any = None,
    anchoring: Anchoring | None = None,
) -> Condensed:
    """Factor -K_A once and solve for all columns of J and for w in one blocked call.

    ``K (n_free, n_free)`` is negative semidefinite, ``dynamic`` lists its dynamic coordinates, ``drive`` = K_fk v_k.
    """
    n, n_d = K.shape[0], len(dynamic)
    pivot = float(-K.diagonal().mean())  # any positive number gives the same J; this one keeps the matrix well scaled
    A, columns = adjusted(K, dynamic, pivot)
    if anchoring is not None and len(anchoring.rows):
        anchor(A, columns, anchoring)
    factor = linear.factor(A, memory)
    rhs = np.empty((n, n_d + 1))
    rhs[:, :n_d] = columns
    rhs[:, n_d] = drive
    rhs[dynamic, n_d] = 0.0
    solved = factor.solve(rhs)
    return Condensed(solved[:, :n_d], solved[:, n_d], dynamic, factor)


def adjusted(K: sp.csr_matrix, dynamic: IntArray, pivot: float) -> tuple[sp.csr_matrix, Array]:
    """-K with the dynamic rows and columns replaced by pivot * I, and K's dynamic columns with pivot * I in their rows.

    [Weidner2022, Eq. 4.21; App. B.1.3 with the words row and column set right]
    """
    n = K.shape[0]
    is_dynamic = np.zeros(n, dtype=bool)
    is_dynamic[dynamic] = True
    rows = np.repeat(np.arange(n), np.diff(K.indptr))
    data = np.where(is_dynamic[rows] | is_dynamic[K.indices], 0.0, -K.data)
    data[(rows == K.indices) & is_dynamic[rows]] = pivot
    A = K.copy()
    A.indptr, A.indices, A.data = K.indptr, K.indices, data
    columns = np.zeros((n, len(dynamic)))
    for k, j in enumerate(dynamic):  # K is symmetric: its columns are its rows
        entries = slice(K.indptr[j], K.indptr[j + 1])
        columns[K.indices[entries], k] = K.data[entries]
    columns[dynamic] = pivot * np.eye(len(dynamic))
    return A, columns


def anchor(A: sp.csr_matrix, columns: Array, anchoring: Anchoring) -> None:
    """Add the weights to the diagonal of A and evenly to the columns the rows follow; translations stay exact."""
    diagonal = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr)) == A.indices
    extra = np.zeros(A.shape[0])
    extra[anchoring.rows] = anchoring.weight
    A.data[diagonal] += extra
    for row, followed, weight in zip(anchoring.rows, anchoring.columns, anchoring.weight, strict=True):
        columns[row, followed] += weight / len(followed)

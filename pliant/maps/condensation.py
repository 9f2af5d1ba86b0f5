"""Condensation: the quasistatic nodes follow the dynamic ones so that the net force on them stays zero.

With K = df/dx split into dynamic (d) and quasistatic (q) coordinates, and v_k prescribed,
K_qq v_q + K_qd v_d + K_qk v_k = 0 gives

    v = J v_d + w,    J = [I; J_qd],    J_qd = -K_qq^-1 K_qd,    w = [0; -K_qq^-1 K_qk v_k]

and -K_qq^-1 f_q is the correction that removes the force left over [ConJac2020, Eq. 6-7; Weidner2022, sec. 4.5].
Vertices attached to something else are dynamic ones that the rows of a velocity step hold.
The split may change in every step: rows and columns of dynamic coordinates are set to those of a diagonal
matrix, so the pattern, its analysis and the storage never change [Weidner2022, Eq. 4.21].

A dynamic vertex that pulls a whole body dents what is around it, the more the finer the mesh: a force at a point. With
`Means` a dynamic coordinate is the mean over a patch instead; the same equations hold in the coordinates y = W x.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.kernels.condense import adjust
from pliant.linear.base import Factor, LinearSolver
from pliant.pattern import Pattern


@dataclass(frozen=True, eq=False)
class Anchoring:
    """What keeps K_qq regular where a rigid motion is free: the coordinates ``rows`` follow the mean of the dynamic
    coordinates ``columns`` (positions among them) with the weights ``weight (rows,)`` [N/m]. [Weidner2022, sec. 4.5]
    """

    rows: IntArray
    columns: IntArray
    weight: Array


@dataclass(frozen=True, eq=False)
class Means:
    """Coordinates y = W x that have, in place of some of x, weighted means over others; x = B y."""

    W: sp.csr_matrix  # (n_free, n_free)

    @cached_property
    def B(self) -> sp.csr_matrix:
        """A mean is solved for the coordinate it stands in place of, which no other mean contains."""
        own = self.W.diagonal()
        others = self.W - sp.diags(own)
        return sp.csr_matrix(sp.diags(1.0 / own) - sp.diags(1.0 / own) @ others)


@dataclass(frozen=True, eq=False)
class Follow:
    """-K_A factored, and the right-hand sides of J: what a configuration knows about who follows whom."""

    factor: Factor
    columns: Array  # (n_free, n_d)
    dynamic: IntArray  # (n_d,) positions among the free coordinates
    rows: sp.csr_matrix  # (n_d, n_free) of K, of the dynamic coordinates
    anchoring: Sequence[Anchoring] = ()
    means: Means | None = None

    def condensed(self, others: Array) -> "Condensed":
        """J and -K_qq^-1 (others)_q in one blocked solve; ``others (n_free, k)``: the force f, the drive K_fk v_k."""
        k = others.shape[1]
        rhs = np.empty((len(self.columns), k + self.columns.shape[1]))
        rhs[:, :k] = others if self.means is None else self.means.B.T @ others
        rhs[self.dynamic, :k] = 0.0
        rhs[:, k:] = self.columns
        solved = self.factor.solve(rhs)
        stiffness = self.rows @ solved[:, k:] + anchored(solved[:, k:], self.anchoring)
        if self.means is not None:
            solved = self.means.B @ solved
        return Condensed(solved[:, k:], solved[:, :k], stiffness, self.dynamic, self.factor, self.means)


@dataclass(frozen=True, eq=False)
class Condensed:
    """J (n_free, n_d), the answers to the other right-hand sides (n_free, k), and the factor of -K_A.

    ``stiffness (n_d, n_d)`` is J^T K J = K_dd + K_dq J_qd: the followers' rows of K J are zero.
    """

    J: Array
    others: Array
    stiffness: Array
    dynamic: IntArray
    factor: Factor
    means: Means | None = None

    def correction(self, f: Array) -> Array:
        """dx (n_free,) = -K_qq^-1 f_q, zero at the dynamic coordinates."""
        rhs = f.copy() if self.means is None else self.means.B.T @ f
        rhs[self.dynamic] = 0.0
        dx = self.factor.solve(rhs)
        return dx if self.means is None else self.means.B @ dx


def follow(
    K: sp.csr_matrix,
    dynamic: IntArray,
    linear: LinearSolver,
    memory: Any = None,
    anchoring: Sequence[Anchoring] = (),
    means: Means | None = None,
) -> Follow:
    """Factor -K_A for the negative semidefinite ``K (n_free, n_free)``; ``memory`` is that of an earlier factor."""
    if means is not None:
        K = sp.csr_matrix(means.B.T @ K @ means.B)
        K.sort_indices()
    A, columns = adjusted(K, dynamic)
    anchor(A, columns, anchoring)
    return Follow(linear.factor(A, memory), columns, dynamic, sp.csr_matrix(K[dynamic]), anchoring, means)


def adjusted(K: sp.csr_matrix, dynamic: IntArray) -> tuple[sp.csr_matrix, Array]:
    """-K with the dynamic rows and columns zero but for a diagonal P, and K's dynamic columns with P in their rows.

    [Weidner2022, Eq. 4.21; App. B.1.3 with the words row and column set right]. There P = I; any positive P gives the
    same J, and -K's own diagonal keeps the matrix well scaled.
    """
    columns = np.zeros((K.shape[0], len(dynamic)))
    values = np.empty_like(K.data)
    adjust(K.indptr, K.indices, K.data, dynamic, values, columns)
    return Pattern(K.indptr, K.indices).matrix(values), columns


def anchor(A: sp.csr_matrix, columns: Array, anchoring: Sequence[Anchoring]) -> None:
    """Add the weights to the diagonal of A and evenly to the columns the rows follow; translations stay exact."""
    extra = np.zeros(A.shape[0])
    for part in anchoring:
        extra[part.rows] = part.weight
        if len(part.columns):
            columns[np.ix_(part.rows, part.columns)] += part.weight[:, None] / len(part.columns)
    if anchoring:
        A.setdiag(A.diagonal() + extra)


def anchored(J: Array, anchoring: Sequence[Anchoring]) -> Array:
    """J^T times what the anchoring leaves in the followers' rows of K J: its weights on J less the mean it follows."""
    out = np.zeros((J.shape[1], J.shape[1]))
    for part in anchoring:
        apart = J[part.rows]
        if len(part.columns):
            apart[:, part.columns] -= 1.0 / len(part.columns)
        out += J[part.rows].T @ (part.weight[:, None] * apart)
    return out

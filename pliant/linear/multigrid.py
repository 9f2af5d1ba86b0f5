"""Algebraic multigrid for elastic bodies: smoothed aggregation with rigid motions, compiled over 3x3 and 6x6 blocks.

A V-cycle costs about nine products with the matrix, and a new matrix about seventy; both grow with the number of nodes,
where a Cholesky factorization grows with its square. As the preconditioner of conjugate gradients a V-cycle leaves a
number of iterations that depends neither on the size of the mesh nor on the stiffness (`pliant bench scale/multigrid`).
[Vanek1996]
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IndexArray, IntArray
from pliant.errors import NotPositiveDefinite, PliantError, require_count
from pliant.kernels import aggregation
from pliant.linear.base import Places
from pliant.linear.hierarchy import PARALLEL_FROM, Coarsening, Hierarchy, loops
from pliant.linear.lowrank import Corrected
from pliant.linear.threads import one_thread


@dataclass(frozen=True, eq=False)
class Grids:
    """The memory of multigrid: a pattern, the nodes its rows belong to, and all that follows from the two."""

    indptr: IndexArray
    indices: IndexArray
    rows: IntArray
    points: IntArray  # the point of every node
    node: IntArray
    axis: IntArray
    first: IntArray
    ptr: IntArray
    col: Array
    levels: list[Coarsening]

    transient = True  # checkpoints rebuild it from the matrix instead of saving it

    @staticmethod
    def of(A: sp.csr_matrix, rows: IntArray) -> "Grids":
        """The grids of a symmetric pattern with sorted indices."""
        points, node = np.unique(rows // 3, return_inverse=True)
        ptr, col = aggregation.node_pattern(A.indptr, A.indices, node, len(points))
        first = np.searchsorted(node, np.arange(len(points) + 1))
        return Grids(A.indptr, A.indices, rows, points, node, rows % 3, first, ptr, col, [])

    def fits(self, A: sp.csr_matrix, rows: IntArray) -> bool:
        """Whether A has the pattern and the nodes that these grids were made for."""
        pairs = ((self.indptr, A.indptr), (self.indices, A.indices), (self.rows, rows))
        return all(a is b or np.array_equal(a, b) for a, b in pairs)

    def blocks(self, A: sp.csr_matrix) -> Array:
        """The values of A block by block."""
        val = np.empty(9 * len(self.col))
        fill = loops(3, len(val) > PARALLEL_FROM).filled
        fill(A.indptr, A.indices, A.data, self.node, self.axis, self.first, self.ptr, self.col, val)
        return val


class MultigridFactor:
    """An approximate inverse: `solve` is one V-cycle, symmetric and positive definite, the same for every call."""

    inner = 0
    backend = "multigrid"
    patience = 3

    def __init__(self, memory: Grids, analysed: bool, hierarchy: Hierarchy, degree: int) -> None:
        self.memory, self.analysed, self.hierarchy, self._degree = memory, analysed, hierarchy, degree
        whole = len(memory.rows) == 3 * len(memory.points)
        self._slots = None if whole else 3 * memory.node + memory.axis

    @one_thread()
    def solve(self, b: Array) -> Array:
        """One V-cycle for A x = b, for b (N,) or (N, k)."""
        b = np.asarray(b, dtype=np.float64)
        if b.shape[0] != len(self.memory.rows):
            raise PliantError(f"right-hand side of shape {b.shape}, matrix of {len(self.memory.rows)} rows")
        columns = b.reshape(len(b), -1)
        x = np.empty_like(columns)
        for k in range(columns.shape[1]):
            x[:, k] = self._taken(self.hierarchy.cycle(self._given(columns[:, k]), self._degree))
        return x.reshape(b.shape)

    def __matmul__(self, x: Array) -> Array:
        """A x for x (N,), by blocks."""
        level, y = self.hierarchy.levels[0], np.empty(3 * len(self.memory.points))
        level.loops.product(*level.pattern, level.val, self._given(x), y)
        return self._taken(y)

    def _given(self, b: Array) -> Array:
        """With zeros where nodes are held along an axis."""
        if self._slots is None:
            return np.ascontiguousarray(b)
        out = np.zeros(3 * len(self.memory.points))
        out[self._slots] = b
        return out

    def _taken(self, x: Array) -> Array:
        return x if self._slots is None else x[self._slots]


@dataclass(frozen=True)
class Multigrid:
    """A V-cycle of smoothed aggregation, as preconditioner of `PCG` or as the matrix of a quasi-Newton method.

    ``degree`` is that of the Chebyshev polynomial in D^-1 A, D being the diagonal blocks, that smooths before and after
    every correction. It does not solve by itself: ``PCG(preconditioner=Multigrid())`` does. Rows that come in threes
    are nodes; solvers of stages tell where they are (`Placing`), else the motions of aggregates are translations only.
    """

    degree: int = 2

    def __post_init__(self) -> None:
        require_count(self.degree, 1, "Multigrid.degree")

    def factor(self, A: sp.csr_matrix, memory: Any = None) -> MultigridFactor:
        """The levels for A (full symmetric CSR, sorted indices); ``memory`` is that of an earlier matrix."""
        return self.at(None, A, memory)

    def placed(self, places: Places) -> "PlacedMultigrid":
        """The same for matrices whose rows are at known places."""
        return PlacedMultigrid(self, places)

    @one_thread()
    def at(self, places: Places | None, A: sp.csr_matrix, memory: Any) -> MultigridFactor:
        """The levels for a matrix whose rows are at ``places``."""
        A = _checked(A.sparse() if isinstance(A, Corrected) else A)
        if places is None:
            rows, x = np.arange(A.shape[0]), np.zeros((-(-A.shape[0] // 3), 3))
        else:
            rows, x = places.rows, places.x
            if len(rows) != A.shape[0]:
                raise PliantError(f"{len(rows)} places for a matrix of {A.shape[0]} rows", where="Multigrid")
        grids = memory if isinstance(memory, Grids) and memory.fits(A, rows) else Grids.of(A, rows)
        hierarchy = Hierarchy(grids.levels, grids.ptr, grids.col, grids.blocks(A), x[grids.points])
        _require_definite(grids, hierarchy)
        analysed = hierarchy.analysed or grids is not memory
        grids = replace(grids, levels=hierarchy.grids) if analysed else grids
        return MultigridFactor(grids, analysed, hierarchy, self.degree)


@dataclass(frozen=True, eq=False)
class PlacedMultigrid:
    """`Multigrid` for rows at known places."""

    choice: Multigrid
    places: Places

    def factor(self, A: sp.csr_matrix, memory: Any = None) -> MultigridFactor:
        """The levels for A."""
        return self.choice.at(self.places, A, memory)


def _require_definite(grids: Grids, hierarchy: Hierarchy) -> None:
    """Refuse diagonal blocks, fine or coarse, that are not those of a positive definite matrix."""
    where = None
    if hierarchy.bad is not None:
        level, row = hierarchy.bad
        where = f"node {grids.points[row]}" if level == 0 else f"aggregate {row} of level {level}"
    else:
        used = hierarchy.levels[0].inverse.reshape(-1, 9)[grids.node, 4 * grids.axis] > 0.0
        where = None if used.all() else f"node {grids.points[grids.node[int(np.argmin(used))]]}"
    if where is not None:
        raise NotPositiveDefinite(
            f"the diagonal block of {where} is not positive definite",
            where="Multigrid",
            remedy="project the Hessian (psd=True) or add a multiple of the mass matrix",
        )


def _checked(A: sp.csr_matrix) -> sp.csr_matrix:
    """A, if multigrid can take it."""
    if A.shape[0] != A.shape[1] or not A.has_sorted_indices:
        raise PliantError(f"matrix of shape {A.shape} must be square with sorted indices", where="Multigrid.factor")
    if not np.isfinite(A.data.sum()):
        raise NotPositiveDefinite("the matrix is not finite", where="Multigrid", remedy="look at the state it is of")
    return A

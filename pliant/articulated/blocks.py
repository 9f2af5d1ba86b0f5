"""Symmetric matrices over the maximal coordinates: 6x6 blocks between the bodies that a force couples."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numba import njit

from pliant.arrays import Array, IntArray


@njit(cache=True, error_model="numpy")
def _multiply(diagonal: Array, i: IntArray, j: IntArray, off: Array, x: Array) -> Array:
    y = np.zeros_like(x)
    for b in range(len(diagonal)):
        for r in range(6):
            for c in range(6):
                y[b, r] += diagonal[b, r, c] * x[b, c]
    for k in range(len(i)):
        for r in range(6):
            for c in range(6):
                y[i[k], r] += off[k, r, c] * x[j[k], c]
    return y


@dataclass(frozen=True)
class BlockMatrix:
    """``diagonal (n, 6, 6)`` and off-diagonal blocks ``off (m, 6, 6)`` at (i, j), both triangles stored."""

    diagonal: Array
    i: IntArray
    j: IntArray
    off: Array

    def multiply(self, x: Array) -> Array:
        """A x for x (n, 6) in O(n + m)."""
        return _multiply(self.diagonal, self.i, self.j, self.off, x)

    def coupled(self) -> bool:
        return len(self.i) > 0

    def dense(self) -> Array:
        n = len(self.diagonal)
        A = np.zeros((n, n, 6, 6), dtype=self.diagonal.dtype)
        A[np.arange(n), np.arange(n)] = self.diagonal
        np.add.at(A, (self.i, self.j), self.off)
        return A.transpose(0, 2, 1, 3).reshape(6 * n, 6 * n)

    def sparse(self) -> sp.csr_matrix:
        n = len(self.diagonal)
        rows, cols = np.concatenate([np.arange(n), self.i]), np.concatenate([np.arange(n), self.j])
        order = np.lexsort((cols, rows))
        data = np.concatenate([self.diagonal, self.off])[order]
        indptr = np.searchsorted(rows[order], np.arange(n + 1))
        return sp.csr_matrix(sp.bsr_matrix((data, cols[order], indptr), shape=(6 * n, 6 * n)))


class BlockSum:
    """Collects blocks; `total` adds them up. Body -1 (the world) is dropped."""

    def __init__(self, n: int) -> None:
        self.n = n
        self._parts: list[tuple[IntArray, IntArray, Array]] = []

    def add(self, i: IntArray, j: IntArray, blocks: Array) -> None:
        """Blocks (m, 6, 6) at the body pairs (i, j) (m,)."""
        keep = (i >= 0) & (j >= 0)
        self._parts.append((i[keep], j[keep], blocks[keep]))

    def add_coupling(self, bodies: IntArray, matrix: Array) -> None:
        """A symmetric matrix (6k, 6k) over k bodies, cut into its k^2 blocks."""
        k = len(bodies)
        blocks = matrix.reshape(k, 6, k, 6).transpose(0, 2, 1, 3).reshape(k * k, 6, 6)
        self.add(np.repeat(bodies, k), np.tile(bodies, k), blocks)

    def total(self, diagonal: Array | None = None) -> BlockMatrix:
        """The sum, on top of ``diagonal`` (n, 6, 6)."""
        dtype = np.result_type(float, *(part[2] for part in self._parts))
        D = np.zeros((self.n, 6, 6), dtype=dtype) if diagonal is None else diagonal.astype(dtype)
        empty = np.zeros(0, dtype=np.int64)
        i = np.concatenate([empty, *(p[0] for p in self._parts)])
        j = np.concatenate([empty, *(p[1] for p in self._parts)])
        blocks = np.concatenate([np.zeros((0, 6, 6), dtype=dtype), *(p[2] for p in self._parts)])
        on = i == j
        np.add.at(D, i[on], blocks[on])
        return BlockMatrix(D, i[~on], j[~on], blocks[~on])

    def scaled_into(self, other: "BlockSum", factor: float) -> None:
        """Add ``factor`` times these blocks to another sum."""
        for i, j, blocks in self._parts:
            other.add(i, j, factor * blocks)

    def multiply(self, x: Array) -> Array:
        """The sum times x (n, 6), without adding up first."""
        y = np.zeros_like(x)
        for i, j, blocks in self._parts:
            np.add.at(y, i, np.einsum("mrc,mc->mr", blocks, x[j]))
        return y

    def __bool__(self) -> bool:
        return bool(self._parts)

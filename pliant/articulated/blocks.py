"""Over the maximal coordinates: 6x6 blocks between the bodies that a force couples, and rows on pairs of bodies."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numba import njit

from pliant.arrays import Array, IntArray
from pliant.errors import PliantError


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


@njit(cache=True, error_model="numpy")
def _gather(bodies: IntArray, rows: Array, x: Array) -> Array:
    y = np.zeros(len(bodies))
    for k in range(len(bodies)):
        for side in range(2):
            b = bodies[k, side]
            if b >= 0:
                for c in range(6):
                    y[k] += rows[k, side, c] * x[b, c]
    return y


@njit(cache=True, error_model="numpy")
def _scatter(bodies: IntArray, rows: Array, y: Array, n: int) -> Array:
    x = np.zeros((n, 6))
    for k in range(len(bodies)):
        for side in range(2):
            b = bodies[k, side]
            if b >= 0:
                for c in range(6):
                    x[b, c] += rows[k, side, c] * y[k]
    return x


@njit(cache=True, error_model="numpy")
def _incidence(bodies: IntArray, n: int) -> tuple[IntArray, IntArray]:
    """(first, slots): the places 2 k + side that touch body b are slots[first[b] : first[b + 1]]."""
    first = np.zeros(n + 1, np.int64)
    for k in range(len(bodies)):
        for side in range(2):
            if bodies[k, side] >= 0:
                first[bodies[k, side] + 1] += 1
    first = np.cumsum(first)
    slots, fill = np.zeros(first[-1], np.int64), first[:-1].copy()
    for k in range(len(bodies)):
        for side in range(2):
            b = bodies[k, side]
            if b >= 0:
                slots[fill[b]] = 2 * k + side
                fill[b] += 1
    return first, slots


@njit(cache=True, error_model="numpy")
def _gram(bodies: IntArray, rows: Array, inverse: Array, first: IntArray, slots: IntArray) -> tuple:  # type: ignore[type-arg]
    """CSR arrays of T A^-1 T^T, sorted, with every entry that two rows on one body can have."""
    s = len(bodies)
    indptr, mark, row = np.zeros(s + 1, np.int64), np.full(s, -1), np.zeros(s)
    for k in range(s):
        for side in range(2):
            b = bodies[k, side]
            if b >= 0:
                for m in range(first[b], first[b + 1]):
                    j = slots[m] // 2
                    if mark[j] != k:
                        mark[j] = k
                        indptr[k + 1] += 1
    indptr = np.cumsum(indptr)
    indices, data = np.zeros(indptr[-1], np.int64), np.zeros(indptr[-1])
    mark[:] = -1
    w = np.zeros(6)
    for k in range(s):
        count = indptr[k]
        for side in range(2):
            b = bodies[k, side]
            if b < 0:
                continue
            for c in range(6):
                w[c] = 0.0
                for d in range(6):
                    w[c] += rows[k, side, d] * inverse[b, d, c]
            for m in range(first[b], first[b + 1]):
                j, other = slots[m] // 2, slots[m] % 2
                if mark[j] != k:
                    mark[j], row[j] = k, 0.0
                    indices[count] = j
                    count += 1
                for c in range(6):
                    row[j] += w[c] * rows[j, other, c]
        mine = np.sort(indices[indptr[k] : count])
        indices[indptr[k] : count] = mine
        for m in range(len(mine)):
            data[indptr[k] + m] = row[mine[m]]
    return data, indices, indptr


@dataclass(frozen=True)
class PairRows:
    """Rows T (s, 6n) over the maximal coordinates that touch at most two bodies each.

    ``bodies (s, 2)`` with -1 for none, ``rows (s, 2, 6)`` the parts on them.
    """

    bodies: IntArray
    rows: Array

    def __len__(self) -> int:
        return len(self.bodies)

    @staticmethod
    def of(T: Array) -> "PairRows":
        """From rows (s, 6n) written out."""
        R = T.reshape(len(T), -1, 6)
        touched = np.any(R != 0.0, axis=2)
        order = np.argsort(~touched, axis=1, kind="stable")[:, :2]
        if touched.sum(axis=1).max(initial=0) > 2:
            raise PliantError("a row touches more than two bodies", where="PairRows")
        bodies, rows = np.full((len(T), 2), -1), np.zeros((len(T), 2, 6))
        for side in range(order.shape[1]):
            body = order[:, side]
            on = np.take_along_axis(touched, body[:, None], axis=1)[:, 0]
            bodies[on, side] = body[on]
            rows[on, side] = R[np.flatnonzero(on), body[on]]
        return PairRows(bodies, rows)

    @staticmethod
    def stacked(parts: "list[PairRows]") -> "PairRows":
        bodies = np.concatenate([np.zeros((0, 2), dtype=np.int64), *(p.bodies for p in parts)])
        return PairRows(bodies, np.concatenate([np.zeros((0, 2, 6)), *(p.rows for p in parts)]))

    def apply(self, x: Array) -> Array:
        """T x (s,) for twists x (n, 6)."""
        return _gather(self.bodies, self.rows, x)

    def transpose(self, y: Array, n: int) -> Array:
        """T^T y (n, 6)."""
        return _scatter(self.bodies, self.rows, y, n)

    def dense(self, n: int) -> Array:
        """T written out (s, 6n)."""
        T = np.zeros((len(self), n, 6))
        for side in range(2):
            on = np.flatnonzero(self.bodies[:, side] >= 0)
            T[on, self.bodies[on, side]] += self.rows[on, side]
        return T.reshape(len(self), 6 * n)

    def gram(self, inverse: Array) -> sp.csr_matrix:
        """T A^-1 T^T (s, s) for a block diagonal A^-1 (n, 6, 6)."""
        data, indices, indptr = _gram(self.bodies, self.rows, inverse, *_incidence(self.bodies, len(inverse)))
        return sp.csr_matrix((data, indices, indptr), shape=(len(self), len(self)))

"""Sparse matrices of 3x3 blocks on the device: block rows in slices of 32, one thread per block row.

The k-th blocks of the 32 rows of a slice lie side by side, entry by entry, so that the 32 threads of a warp read
neighbouring numbers (sliced ELLPACK [Monakov2010]); short rows are padded with zero blocks. A row is summed by one
thread from left to right: the same bytes every time.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from pliant.arrays import IntArray
from pliant.cuda import _matrix_kernels as kernels
from pliant.cuda._matrix_kernels import BLOCK, SLICE
from pliant.cuda.device import arrays, launch, to_device


class BlockRows:
    """The places of the blocks ``indices[indptr[i]:indptr[i + 1]]`` of every block row, the diagonal among them."""

    def __init__(self, indptr: IntArray, indices: IntArray) -> None:
        n = len(indptr) - 1
        rows = np.repeat(np.arange(n), np.diff(indptr))
        self.n = n
        self._keys = rows * n + indices.astype(np.int64)
        widths = np.zeros(-(-n // SLICE) * SLICE, dtype=np.int64)
        widths[:n] = np.diff(indptr)
        start = np.concatenate([[0], np.cumsum(widths.reshape(-1, SLICE).max(axis=1))])
        self._places = (start[rows // SLICE] + np.arange(len(rows)) - indptr[rows]) * BLOCK + rows % SLICE
        columns = np.zeros(start[-1] * SLICE, dtype=np.int32)
        columns[(self._places // BLOCK) * SLICE + rows % SLICE] = indices
        self.size = int(start[-1]) * BLOCK
        self.start, self.columns = to_device(start.astype(np.int32)), to_device(columns)
        self.diagonal = to_device(self.place(np.arange(n), np.arange(n)))

    def place(self, i: IntArray, j: IntArray, entry: IntArray | int = 0) -> IntArray:
        """Where an entry of the block (i, j) lies, 0 to 8 row by row."""
        return self._places[np.searchsorted(self._keys, i * self.n + j)] + SLICE * entry

    def holds(self, i: IntArray, j: IntArray) -> bool:
        """Whether there is a place for all the blocks (i, j)."""
        return bool(np.isin(i * self.n + j, self._keys).all())


class Coupling(NamedTuple):
    """The blocks of contact pairs between different nodes, which have no place in the pattern of the meshes.

    Pair p has ``nodes[:, p]`` and 16 ``blocks[:, p]`` of 9 numbers; ``off[ptr[i]:ptr[i + 1]]`` are those of node i as
    4 p + r, in ascending order.
    """

    ptr: Any
    off: Any
    nodes: Any
    blocks: Any


def empty_coupling(n: int, room: int) -> Coupling:
    """Of n nodes, with room for some pairs."""
    xp = arrays()
    ptr, off, nodes = (xp.zeros(shape, dtype=int) for shape in (n + 1, 4 * room, (4, room)))
    return Coupling(ptr, off, nodes, xp.zeros((144, room)))


@cache
def uncoupled() -> Coupling:
    """No nodes, no pairs."""
    return empty_coupling(0, 1)


@dataclass(frozen=True, eq=False)
class Matrix:
    """A symmetric matrix of 3x3 blocks on the free coordinates; vectors are those of the free coordinates only.

    ``mask (N,)`` is 1.0 where a coordinate is free, ``free`` their numbers. ``coupling`` are the blocks of contacts
    outside the pattern; their diagonal blocks are in ``values`` already.
    """

    rows: BlockRows
    values: Any
    mask: Any
    free: Any
    coupling: Coupling | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.free), len(self.free)

    def whole(self, z: Any) -> Any:
        """All coordinates, zeros where they are not free."""
        x = arrays().zeros(len(self.mask))
        x[self.free] = z
        return x

    def product(self, x: Any) -> Any:
        """A x over all coordinates, of which the free ones count."""
        y = arrays().empty_like(x)
        arguments = (self.rows.start, self.rows.columns, self.values, *(self.coupling or uncoupled()), self.mask, x, y)
        launch(kernels.product, self.rows.n, arguments)
        return y

    def __matmul__(self, z: Any) -> Any:
        return self.product(self.whole(z))[self.free]

    def __abs__(self) -> "Matrix":
        pairs = self.coupling
        return self._with(abs(self.values), None if pairs is None else pairs._replace(blocks=abs(pairs.blocks)))

    def diagonal(self) -> Any:
        xp = arrays()
        return self.values[(self.rows.diagonal[:, None] + 4 * SLICE * xp.arange(3)).ravel()][self.free]

    def plus_diagonal(self, extra: Any) -> "Matrix":
        """A + diag(extra)."""
        total = self._with(self.values.copy(), self.coupling)
        add_diagonal(total.rows, total.values, 1.0, self.whole(extra))
        return total

    def between(self, other: "Matrix", part: float) -> "Matrix":
        """(1 - part) A + part B, of another matrix B with the same pattern."""
        pairs, others = self.coupling, other.coupling
        if pairs is not None and others is not None:
            pairs = pairs._replace(blocks=pairs.blocks + part * (others.blocks - pairs.blocks))
        return self._with(self.values + part * (other.values - self.values), pairs)

    def solver(self) -> Callable[[Any], Any]:
        """b -> A^-1 b to a millionth, where no linear solver was chosen."""
        from pliant.cuda.pcg import DevicePCG

        return DevicePCG(tolerance=1e-6, max_iterations=2000).factor(self).solve

    def _with(self, values: Any, coupling: Coupling | None) -> "Matrix":
        return Matrix(self.rows, values, self.mask, self.free, coupling)


class Diagonal:
    """A diagonal matrix of device numbers."""

    def __init__(self, values: Any) -> None:
        self._values = values

    def __matmul__(self, x: Any) -> Any:
        return self._values * x


def add_diagonal(rows: BlockRows, values: Any, weight: float, extra: Any) -> None:
    """values += weight diag(extra (N,))"""
    launch(kernels.add_diagonal, len(extra), (rows.diagonal, weight, extra, values))

"""Where everything goes: elements in lane blocks along a space-filling curve, patches, and the constant matrix pattern.

All of it is computed once per topology with sorts over the node pairs, in time linear (up to the logarithm) in the mesh.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pliant.arrays import Array, IntArray, Work
from pliant.kernels.device import PARAMETERS, W
from pliant.kernels.passes import BLOCKS

Index = NDArray[np.uint32]

PARALLEL_FROM = 8_000
"""Elements from which on loops are parallel; fewer take less than the tens of microseconds that waking threads costs."""


@dataclass(frozen=True)
class Gather:
    """How patch-local contributions add up to global items: item i is the sum over ``off[ptr[i]:ptr[i+1]]``."""

    size: int  # length of the patch-local buffer
    ptr: IntArray
    off: Index
    items: IntArray  # (ptr.size - 1,) sorted global keys


@dataclass(frozen=True)
class BlockPattern:
    """CSR structure of the Hessian of all elements, and where its blocks come from.

    ``indptr (N+1,)`` and ``indices`` are those of the full symmetric matrix, sorted. Upper blocks b of node row i are
    ``row[i]:row[i+1]``; ``upper[b]`` is the place of their first value and ``width[i]`` the length of a scalar row;
    ``lower[b]`` gives both for the transposed block.
    """

    blocks: Gather
    E: Index  # (blocks, pairs*W) local block offsets, lane by lane
    indptr: IntArray
    indices: IntArray
    row: IntArray
    upper: IntArray
    lower: IntArray
    width: IntArray

    @cached_property
    def work(self) -> Work:
        """For the patch-local blocks."""
        return Work(self.blocks.size)


@dataclass(frozen=True)
class Layout:
    """Lane tables of a mesh: `T`, `G` as in `elements`, ``L`` patch-local node offsets; ``order (m,)`` of the elements."""

    n: int
    m: int
    dim: int
    order: IntArray
    nodes: IntArray  # (m, k) sorted within each element, elements in order
    T: Index
    G: Array
    L: Index
    sums: Gather

    @property
    def parallel(self) -> bool:
        """Whether loops over these elements use all threads: waking a thread costs more than a short loop."""
        return self.m >= PARALLEL_FROM

    def table(self, values: Array) -> tuple[Array, int]:
        """Lane-blocked parameter table of ``values (1 | m, k)`` and its block stride (0 when all elements share a row)."""
        rows = np.zeros((len(values), PARAMETERS))
        rows[:, : values.shape[1]] = values
        if len(values) == 1:
            return np.repeat(rows.T, W, axis=1).reshape(1, -1), 0
        return lane_blocks(rows[self.order]), 1

    def per_element(self, table: Array) -> Array:
        """Values (m,) or (m, k) in the caller's element order from a lane table (blocks, W) or (blocks, k*W)."""
        flat = np.moveaxis(table.reshape(len(table), -1, W), 2, 1).reshape(len(table) * W, -1)[: self.m]
        out = np.empty_like(flat)
        out[self.order] = flat
        return out[:, 0] if out.shape[1] == 1 else out


def lane_blocks(values: NDArray) -> NDArray:
    """(m, k) rows -> (blocks, k*W) with lane as the fastest index; the last block is padded with its last element."""
    m = len(values)
    values = values.reshape(m, -1)
    count = -(-m // W)
    padded = np.concatenate([values, np.repeat(values[-1:], count * W - m, axis=0)])
    return np.ascontiguousarray(padded.reshape(count, W, -1).transpose(0, 2, 1)).reshape(count, -1)


def morton(points: Array) -> IntArray:
    """Order of the points (m, d) along a Morton curve with 2^20 cells per axis."""
    low, high = points.min(axis=0), points.max(axis=0)
    cell = ((points - low) * ((2**20 - 1) / max(float((high - low).max()), 1e-300))).astype(np.uint64)
    key = np.zeros(len(points), dtype=np.uint64)
    for axis in range(points.shape[1]):
        key |= spread(cell[:, axis]) << np.uint64(axis)
    return np.argsort(key, kind="stable")


def spread(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Insert two zero bits after each of the lowest 21 bits."""
    for shift, mask in (
        (32, 0x1F00000000FFFF),
        (16, 0x1F0000FF0000FF),
        (8, 0x100F00F00F00F00F),
        (4, 0x10C30C30C30C30C3),
        (2, 0x1249249249249249),
    ):
        bits = (bits | (bits << np.uint64(shift))) & np.uint64(mask)
    return bits


def gather_plan(keys: IntArray, span: int, stride: int) -> tuple[Index, Gather]:
    """Plan for element contributions ``keys (m, k)`` < span: sums per patch first, then per key over the patches.

    Returns the place (m, k) of each contribution in the patch-local buffer, and how that buffer is summed.
    """
    patch = np.arange(len(keys), dtype=np.int64) // (BLOCKS * W)
    unique, inverse = np.unique((patch[:, None] * span + keys).ravel(), return_inverse=True)
    items, item = np.unique(unique % span, return_inverse=True)
    off = np.argsort(item, kind="stable")
    ptr = np.concatenate([[0], np.cumsum(np.bincount(item, minlength=len(items)))])
    local = (stride * inverse.reshape(keys.shape)).astype(np.uint32)
    return local, Gather(stride * len(unique), ptr.astype(np.int64), (stride * off).astype(np.uint32), items)


def layout(n: int, dim: int, T: IntArray, gradients: Array, volumes: Array, centres: Array) -> Layout:
    """Lane tables for elements T (m, k) whose node 1.. shape gradients are (m, 3, 3), with node order as given."""
    order = morton(centres)
    nodes = T[order]
    local, sums = gather_plan(nodes, n, dim)
    ptr = np.zeros(n + 1, dtype=np.int64)  # nodes without elements have empty ranges
    ptr[sums.items + 1] = np.diff(sums.ptr)
    sums = Gather(sums.size, np.cumsum(ptr), sums.off, sums.items)
    G = np.concatenate([gradients.reshape(-1, 9), volumes[:, None]], axis=1)
    return Layout(
        n=n,
        m=len(T),
        dim=dim,
        order=order,
        nodes=nodes,
        T=lane_blocks((dim * nodes).astype(np.uint32)),
        G=lane_blocks(G[order]),
        L=lane_blocks(local),
        sums=sums,
    )


def pattern(place: Layout) -> BlockPattern:
    """The constant CSR structure; nodes must ascend within each element, so that only upper blocks occur."""
    n, d, m = place.n, place.dim, place.m
    a, b = np.triu_indices(place.nodes.shape[1])
    local, blocks = gather_plan(place.nodes[:, a] * n + place.nodes[:, b], n * n, d * d)
    i, j = blocks.items // n, blocks.items % n
    off = i != j
    full = np.sort(np.concatenate([blocks.items, j[off] * n + i[off]]))
    start = np.searchsorted(full, np.arange(n + 1, dtype=np.int64) * n)
    width = d * np.diff(start)
    indptr = np.concatenate([[0], np.cumsum(np.repeat(width, d))])

    def place_of(r: IntArray, c: IntArray) -> IntArray:
        return indptr[d * r] + d * (np.searchsorted(full, r * n + c) - start[r])

    pairs = len(a)
    E = np.zeros((len(place.T) * W, pairs), dtype=np.uint32)
    E[:m] = local
    return BlockPattern(
        blocks=blocks,
        E=E.reshape(len(place.T), pairs * W),
        indptr=indptr.astype(np.int32),
        indices=expand_columns(full % n, start, d),
        row=np.searchsorted(i, np.arange(n + 1)),
        upper=place_of(i, j),
        lower=np.stack([place_of(j, i), width[j]], axis=1),
        width=width,
    )


def expand_columns(columns: IntArray, start: IntArray, d: int) -> NDArray[np.int32]:
    """Scalar column indices: each block row's columns, d scalars each, repeated for its d scalar rows."""
    scalar = (d * columns[:, None] + np.arange(d)).astype(np.int32).ravel()
    length = d * np.diff(start)
    shift = np.repeat(d * start[:-1], d) - np.concatenate([[0], np.cumsum(np.repeat(length, d))[:-1]])
    return scalar[np.arange(d * len(scalar)) + np.repeat(shift, np.repeat(length, d))]

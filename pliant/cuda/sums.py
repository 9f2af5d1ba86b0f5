"""Sums of what elements contribute, in a fixed order: the same bytes every time, without atomics.

A kernel writes what every element contributes, component by component (neighbouring threads, neighbouring numbers);
another one adds up, for every node or 3x3 block, its contributions in the order of the elements.
"""

from typing import Any

import numpy as np

from pliant.arrays import IntArray
from pliant.cuda import _element_kernels as kernels
from pliant.cuda.device import arrays, launch, to_device
from pliant.cuda.matrix import BlockRows


class Sums:
    """Sums for elements with ``nodes (m, k)`` of n, ascending in every row, and for pairs of nodes in ``rows``."""

    def __init__(self, nodes: IntArray, n: int, rows: BlockRows) -> None:
        assert (np.diff(nodes) > 0).all()  # else two threads would write to one block
        m, k = nodes.shape
        self.m, self.n = m, n
        self.nodes, _ = _ordered(nodes.T, 3 * np.arange(k)[:, None] * m + np.arange(m), np.arange(n))
        a, b = np.triu_indices(k)
        self.pairs = len(a)
        keys = nodes[:, a].T * n + nodes[:, b].T
        self._blocks, found = _ordered(keys, 9 * np.arange(len(a))[:, None] * m + np.arange(m), None)
        i, j = found // n, found % n
        self._places = to_device(rows.place(i, j)), to_device(rows.place(j, i))

    def at_nodes(self, parts: Any) -> Any:
        """(3n,) from parts (3k, m)."""
        out = arrays().empty(3 * self.n)
        launch(kernels.sum_nodes, self.n, (parts, *self.nodes, out))
        return out

    def at_blocks(self, parts: Any, weight: float, values: Any) -> None:
        """values += weight times the blocks from parts (9 pairs, m), pairs (0, 0), (0, 1), ..."""
        launch(kernels.sum_blocks, len(self._blocks[0]) - 1, (parts, *self._blocks, *self._places, weight, values))


def _ordered(keys: IntArray, places: IntArray, known: IntArray | None) -> tuple[tuple[Any, Any], IntArray]:
    """(ptr, off) on the device: off[ptr[k]:ptr[k + 1]] are the places of the k-th key, in ascending order of elements.

    ``keys`` and ``places`` are tables (r, m), ``known`` all keys, those that occur by default; they are returned, too.
    """
    order = np.argsort(keys.T.ravel(), kind="stable")
    ordered = keys.T.ravel()[order]
    found = np.unique(ordered) if known is None else known
    ptr = np.searchsorted(ordered, np.append(found, found[-1] + 1))
    return (to_device(ptr.astype(np.int64)), to_device(places.T.ravel()[order].astype(np.uint32))), found

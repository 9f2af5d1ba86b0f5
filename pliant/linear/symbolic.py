"""Symbolic analysis of a sparse Cholesky factorization: elimination tree, supernodes, where every update goes.

All steps work on the groups of rows of `pliant.linear.ordering`; only the final maps count single rows.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pliant.arrays import IntArray
from pliant.kernels import elimination, supernodes
from pliant.kernels.bind import entry
from pliant.linear.ordering import fill_reducing, group_graph, groups

# Merge a child into its parent supernode up to this width (rows), if at most this part of the result is zeros.
RELAXED = np.array([[24, 1.0], [96, 0.3], [200, 0.1], [1 << 30, 0.03]])


@dataclass(frozen=True)
class Structure:
    """The supernodes of L in elimination order, and the updates between them.

    Supernode s has columns first[s]:first[s+1] and rows rows[row_start[s]:row_start[s+1]] (its own columns first); its
    panel is the column-major block panel_start[s]:panel_start[s+1] of L's values. Its updates u in update_start[s]:
    update_start[s+1] go to supernode updates[u, 0], whose columns are the rows at positions updates[u, 1]:updates[u, 2]
    of s; the runs run_start[u]:run_start[u+1] say which rows of s go where in the target.
    """

    order: IntArray  # order[k]: the row of A that is eliminated k-th
    first: IntArray
    row_start: IntArray
    rows: IntArray
    panel_start: IntArray
    update_start: IntArray
    updates: IntArray  # (n_updates, 3): target, first and last+1 position in the rows of the source
    run_start: IntArray
    runs: IntArray  # (n_runs, 3): position in the source, position in the target, length

    @property
    def panels(self) -> tuple[IntArray, ...]:
        """Where columns and rows are stored."""
        return (self.first, self.row_start, self.rows, self.panel_start)

    @cached_property
    def arrays(self) -> tuple[IntArray, ...]:
        """What the numeric kernels read: panels and updates."""
        return (*self.panels, self.update_start, self.updates, self.run_start, self.runs)

    def diagonal(self) -> IntArray:
        """Where in the panels the diagonal entries are, in elimination order."""
        width, height = np.diff(self.first), np.diff(self.row_start)
        within = np.arange(len(self.order)) - np.repeat(self.first[:-1], width)
        return np.repeat(self.panel_start[:-1], width) + within * (np.repeat(height, width) + 1)

    def coordinates(self) -> tuple[IntArray, IntArray]:
        """Row and column of every entry of the panels, in elimination order."""
        panels = range(len(self.first) - 1)
        rows = [np.tile(self._rows_of(s), self.first[s + 1] - self.first[s]) for s in panels]
        columns = np.repeat(np.arange(len(self.order)), np.repeat(np.diff(self.row_start), np.diff(self.first)))
        return np.concatenate(rows), columns

    def _rows_of(self, s: int) -> IntArray:
        return self.rows[self.row_start[s] : self.row_start[s + 1]]

    @property
    def nnz(self) -> int:
        """Entries of the lower triangle of L, the zeros inside the supernodes included."""
        width, height = np.diff(self.first), np.diff(self.row_start)
        return int(np.sum(width * height - width * (width - 1) // 2))

    @property
    def megaflops(self) -> float:
        """Millions of multiplications and additions of one factorization."""
        width, height = np.diff(self.first).astype(float), np.diff(self.row_start).astype(float)
        below = height - width
        return float(np.sum(width**3 / 3 + width**2 * below + width * below**2)) / 1e6


def analyse(indptr: np.ndarray, indices: np.ndarray) -> Structure:
    """The supernodal structure of the Cholesky factor of a full symmetric pattern."""
    offset = groups(indptr, indices)
    pointers, neighbours = group_graph(indptr, indices, offset)
    weight = np.diff(offset)
    order = fill_reducing(pointers, neighbours, weight)
    order = order[entry(elimination.postorder)(elimination.etree(pointers, neighbours, order))]
    parent = elimination.etree(pointers, neighbours, order)
    count, height = elimination.column_counts(pointers, neighbours, order, parent, weight)
    start = supernodes.maximal_supernodes(parent, count)
    merged = supernodes.amalgamated(start, parent, height, weight[order], RELAXED)
    sequence, first_group = supernodes.sequence(start, merged, parent)
    order = order[sequence]
    order = order[supernodes.refined(first_group, *elimination.row_structure(pointers, neighbours, order, first_group))]
    row_start, row_groups = elimination.row_structure(pointers, neighbours, order, first_group)
    return _expanded(offset, order, first_group, row_start, row_groups)


def _expanded(
    offset: IntArray, order: IntArray, first_group: IntArray, row_start: IntArray, row_groups: IntArray
) -> Structure:
    """From groups to single rows."""
    weight = np.diff(offset)[order]
    position = np.concatenate([[0], np.cumsum(weight)])  # of a group, in elimination order
    lengths = weight[row_groups]
    first = position[first_group]
    edges = np.concatenate([[0], np.cumsum(lengths)])
    rows = np.repeat(position[row_groups] - edges[:-1], lengths) + np.arange(edges[-1])
    starts = edges[row_start]
    panel = np.concatenate([[0], np.cumsum(np.diff(first) * np.diff(starts))])
    update_start, updates, run_start, runs = supernodes.update_maps(first, starts, rows)
    group_rows = np.repeat(offset[order] - position[:-1], weight) + np.arange(position[-1])
    return Structure(group_rows, first, starts, rows, panel, update_start, updates, run_start, runs)

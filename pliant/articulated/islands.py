"""Islands: links that act on each other. Coordinates of different islands are varied together, one of each at once.

A Jacobian that does not leave islands needs as many products as its largest island has coordinates, however many
islands there are: six for a forest of free bodies [Curtis1974].
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from pliant.arrays import Array, IntArray
from pliant.articulated.forces.base import joined_links
from pliant.articulated.tree import Tree
from pliant.pattern import csr

STEP = 1e-30  # of complex steps: nothing is subtracted, so nothing cancels


def complex_step(function: Callable[[Any], Any]) -> Callable[[Array], Array]:
    """d -> d function(e d)/de at e = 0, exact to rounding."""
    return lambda d: np.asarray(function(1j * STEP * d).imag / STEP)


class Islands:
    """The islands that parents and the things in ``acting`` (forces, constraints) make of a tree.

    ``links (n,)`` and ``coordinates (nr,)`` are numbers of islands. Where one of ``acting`` does not say which links it
    joins, all of them are one island.
    """

    def __init__(self, tree: Tree, acting: Iterable[Any] = ()) -> None:
        n = len(tree)
        pairs = [np.column_stack([np.arange(n), tree.parent])]
        for thing in acting:
            joined = joined_links(thing)
            pairs.append(np.column_stack([np.zeros(n, int), np.arange(n)]) if joined is None else joined)
        i, j = np.concatenate(pairs)[np.concatenate(pairs).min(axis=1) >= 0].T
        _, self.links = connected_components(sp.coo_matrix((np.ones(len(i)), (i, j)), shape=(n, n)), directed=False)
        self.coordinates = self.links[tree.link]
        order = np.argsort(self.coordinates, kind="stable")
        self._sizes = np.bincount(self.coordinates, minlength=self.links.max() + 1)
        self._first = np.concatenate([[0], np.cumsum(self._sizes)])
        self._members = order  # island by island, ascending in each
        self._colour = np.empty(tree.dof, dtype=np.int64)
        self._colour[order] = np.arange(tree.dof) - self._first[self.coordinates[order]]
        self._square = self._pattern(self.coordinates)

    @property
    def colours(self) -> int:
        """How many products a matrix takes."""
        return int(self._sizes.max(initial=0))

    def square(self) -> tuple[IntArray, IntArray, IntArray]:
        """indptr and indices of the square `matrix`, and the place (nr,) of every coordinate in its rows."""
        return self._square[0], self._square[1], self._colour

    def rows(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """indptr and indices of the `matrix` with rows in the islands ``rows (m,)``."""
        return self._pattern(rows)[:2]

    def matrix(self, apply: Callable[[Array], Array], rows: IntArray | None = None) -> sp.csr_matrix:
        """The matrix (m, nr) of a linear ``apply`` that stays within islands; ``rows (m,)`` are those of its results.

        Without ``rows`` the results are over the coordinates. Every entry within an island is stored, zeros too.
        """
        indptr, indices, entries = self._square if rows is None else self._pattern(rows)
        m = len(indptr) - 1
        products = np.empty((self.colours, m))
        for colour in range(self.colours):
            products[colour] = apply((self._colour == colour).astype(float))
        data = products[self._colour[indices], entries]
        return csr(data, indices, indptr, (m, len(self._colour)))

    def stored(self, A: Array) -> sp.csr_matrix:
        """A dense matrix (nr, nr) that does not leave islands, with the entries of `matrix`."""
        indptr, indices, entries = self._square
        return csr(A[entries, indices], indices, indptr, (A.shape[0], A.shape[1]))

    def projected(self, A: sp.csr_matrix) -> sp.csr_matrix:
        """The symmetric part of a square `matrix` without its negative eigenvalues, island by island."""
        data = A.data.copy()
        for size in np.unique(self._sizes[self._sizes > 0]):
            first = self._first[:-1][self._sizes == size]
            members = self._members[first[:, None] + np.arange(size)]
            where = A.indptr[members][:, :, None] + np.arange(size)
            w, V = np.linalg.eigh(0.5 * (data[where] + np.swapaxes(data[where], 1, 2)))
            data[where] = (V * np.maximum(w, 0.0)[:, None, :]) @ np.swapaxes(V, 1, 2)
        return csr(data, A.indices, A.indptr, A.shape)

    def _pattern(self, rows: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """indptr, indices and the row of every entry; rows of no island (-1) are empty."""
        sizes = np.where(rows >= 0, self._sizes[rows], 0)
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        entries = np.repeat(np.arange(len(rows)), sizes)
        within = np.arange(indptr[-1]) - indptr[entries]
        indices = self._members[self._first[rows[entries]] + within]
        return indptr.astype(np.int32), indices.astype(np.int32), entries

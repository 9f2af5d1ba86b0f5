"""Our own supernodal sparse Cholesky, on SciPy's BLAS: portable, as fast as MKL PARDISO, and open.

Open means that L can be looked at, differentiated in time (`pliant.linear.dchol`) and extrapolated, which no library
offers and the Ldot solvers need [Weidner2022, Ch. 5].
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from weakref import finalize

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.kernels import supernodal as kernels
from pliant.kernels import supernodes
from pliant.kernels.blas import routines
from pliant.linear.subtrees import Schedule
from pliant.linear.symbolic import Structure, analyse
from pliant.linear.threads import one_thread


@dataclass(frozen=True)
class SupernodalLayout:
    """How one pattern is stored in panels: ``entries`` of A's CSR values go to ``position`` in the panels."""

    structure: Structure
    entries: IntArray
    position: IntArray
    free: list[bytearray] = field(default_factory=list, repr=False, compare=False)  # storage of factors that are gone

    @staticmethod
    def of(indptr: np.ndarray, indices: np.ndarray) -> "SupernodalLayout":
        """The layout of a full symmetric pattern with sorted indices."""
        structure = analyse(indptr, indices)
        place = np.argsort(structure.order)
        return SupernodalLayout(
            structure, *supernodes.entry_positions(indptr, indices, structure.order, place, *structure.panels)
        )

    @cached_property
    def schedule(self) -> Schedule:
        """Which panels are factored side by side."""
        return Schedule.of(self.structure)

    def fill(self, panels: Array, values: Array) -> None:
        """Put the gathered values of A into the panels, zeros elsewhere."""
        kernels.fill(panels, self.position, values)

    def panels(self, real: type = np.float64) -> Array:
        """Uninitialised storage for a factor: that of one nobody refers to any more, else new.

        To touch a hundred megabytes for the first time can take as long as to factor the matrix.
        """
        size = int(self.structure.panel_start[-1])
        storage = self.free.pop() if self.free else bytearray(8 * size)
        panels: Array = np.frombuffer(storage, real, size)  # views keep it alive: it goes when all of them have gone
        finalize(panels, self.free.append, storage).atexit = False
        return panels

    def solve(self, panels: Array, b: Array) -> Array:
        """x (N, k) with L L^T x = b (N, k), rows in the order of A."""
        X = np.ascontiguousarray(b[self.structure.order], dtype=panels.dtype)
        self._substitute(panels, X, self.schedule.forward, self.schedule.backward)
        return self._returned(X)

    def forward(self, panels: Array, b: Array) -> Array:
        """L^-1 b (N, k), in elimination order."""
        X = np.ascontiguousarray(b[self.structure.order], dtype=panels.dtype)
        self._substitute(panels, X, self.schedule.forward)
        return X

    def forward_rows(self, panels: Array, B: sp.csr_matrix) -> tuple[Array, IntArray]:
        """L^-1 B^T (N, m), in elimination order, and which row of B (m, N) each column is.

        Rows that begin early go first: a panel ends with the last column that has anything in it.
        """
        place = np.empty(len(self.structure.order), dtype=np.int64)
        place[self.structure.order] = np.arange(len(place))
        m, where = B.shape[0], place[B.indices]
        row = np.repeat(np.arange(m), np.diff(B.indptr))
        begin = np.full(m, len(place))
        np.minimum.at(begin, row, where)
        chosen = np.argsort(begin, kind="stable")
        column = np.empty(m, dtype=np.int64)
        column[chosen] = np.arange(m)
        X = np.zeros((len(place), m), dtype=panels.dtype)
        np.add.at(X, (where, column[row]), B.data)
        self._substitute(panels, X, self.schedule.forward)
        return X, chosen

    def backward(self, panels: Array, y: Array) -> Array:
        """L^-T y (N, k), y in elimination order, rows of the result in the order of A."""
        X = np.array(y, dtype=panels.dtype, order="C")
        self._substitute(panels, X, self.schedule.backward)
        return self._returned(X)

    def _substitute(self, panels: Array, X: Array, *halves: Any) -> None:
        with one_thread():
            for half in halves:
                half(_routines(panels), self.structure.arrays, panels, X)

    def _returned(self, X: Array) -> Array:
        """Rows in the order of A, in double precision."""
        x = np.empty(X.shape)
        x[self.structure.order] = X
        return x

    def matrix(self, panels: Array) -> sp.csc_matrix:
        """The panels as a lower triangular CSC matrix in elimination order (zeros inside supernodes are kept)."""
        row, column = self.structure.coordinates()
        lower = row >= column
        N = len(self.structure.order)
        pointers = np.concatenate([[0], np.cumsum(np.bincount(column[lower], minlength=N))])
        return sp.csc_matrix((panels[lower], row[lower], pointers), shape=(N, N))


class Supernodal:
    """The layout of one pattern (shared between twins) and the panels of one numeric factor.

    A ``single`` engine works in float32: half the time and memory, seven digits. A matrix that is not positive
    definite in seven digits is factored in float64 instead.
    """

    def __init__(
        self,
        indptr: np.ndarray,
        indices: np.ndarray,
        threads: int = 1,
        *,
        single: bool = False,
        layout: SupernodalLayout | None = None,
    ) -> None:
        del threads  # those of the kernels; the sums do not depend on them
        self.name = "single" if single else "supernodal"
        self.pattern, self.single = (indptr, indices), single
        self.layout = layout or SupernodalLayout.of(indptr, indices)
        self.L = self.layout.panels(np.float32 if single else np.float64)

    def twin(self) -> "Supernodal":
        """The same layout with panels of its own."""
        return Supernodal(*self.pattern, single=self.single, layout=self.layout)

    def gather(self, data: Array) -> Array:
        """The values of the lower triangle (in elimination order), out of the values of the full CSR matrix."""
        return data[self.layout.entries]

    def refactor(self, values: Array) -> int:
        """Numeric factorization into the panels; the row of a bad pivot, or -1."""
        bad = -1
        for real in (np.float32, np.float64) if self.single else (np.float64,):
            if self.L.dtype != real:
                self.L = self.layout.panels(real)
            bad = self._factored(values)
            if bad < 0:
                break
        return bad

    def _factored(self, values: Array) -> int:
        self.layout.fill(self.L, values)
        with one_thread():
            bad = self.layout.schedule.factor(_routines(self.L), self.layout.structure.arrays, self.L)
        return int(self.layout.structure.order[bad]) if bad >= 0 else -1

    def solve(self, values: Array, b: Array) -> Array:
        """x (N, k) for b (N, k)."""
        del values
        return self.layout.solve(self.L, b)

    def lower(self) -> tuple[sp.csc_matrix, IntArray]:
        """L and the order with A[order][:, order] = L L^T."""
        return self.layout.matrix(self.L), self.layout.structure.order

    @property
    def nnz(self) -> int:
        """Entries of L."""
        return self.layout.structure.nnz

    @property
    def megaflops(self) -> float:
        """Millions of floating point operations of one numeric factorization."""
        return self.layout.structure.megaflops


def _routines(panels: Array) -> IntArray:
    """The BLAS for the precision of the panels."""
    return routines("d" if panels.dtype == np.float64 else "s")

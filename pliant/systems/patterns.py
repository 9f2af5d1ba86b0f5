"""The patterns of a system's matrices, made once per topology and only where matrices are asked for; sums on them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IndexArray, IntArray
from pliant.energies.base import Energy
from pliant.forces.base import Force
from pliant.pattern import Pattern, added, empty
from pliant.pattern_making import union
from pliant.systems.contact import block_diagonal


@dataclass(frozen=True, eq=False)
class Patterns:
    """Found at any positions ``q (N,)``. Copies of a system share one of these."""

    mass: sp.csr_matrix
    energies: Sequence[Energy]
    forces: Sequence[Force]
    touching: bool
    q: Array

    @cached_property
    def whole(self) -> tuple[Pattern, dict[int, tuple[IndexArray, IntArray]]]:
        """The union of all constant patterns, and for each of them (by identity) the places of its entries in it."""
        q, v = self.q, np.zeros_like(self.q)
        parts = [self.mass] + [e.hessian(q) for e in self.energies]
        if self.touching:
            parts.append(block_diagonal(np.arange(len(q) // 3), len(q) // 3))
        for f in self.forces:
            parts += [f.stiffness(q, v, 0.0), f.damping(q, v, 0.0)]
        pattern = union(parts, len(q))
        for A in parts:  # share the index arrays of the largest part, so that its values need no copying
            if A.nnz == pattern.nnz:
                pattern = Pattern(A.indptr, A.indices)
                break
        return pattern, {id(A.indices): (A.indices, pattern.slots(A)) for A in parts}

    def weighted_sum(self, parts: list[tuple[float, sp.csr_matrix]]) -> sp.csr_matrix:
        """sum_k w_k A_k: value arrays when all patterns are known, general sparse sums for the others (contact)."""
        pattern, data, others = self.whole[0], None, empty(*self.mass.shape)
        for w, A in parts:
            if A.nnz == 0 or w == 0.0:
                continue
            if pattern.holds(A):
                data = w * A.data if data is None else data + w * A.data
                continue
            slots = self._slots_of(A)
            if slots is None:
                others = added(others, A, w)  # few entries: together first
                continue
            if data is None:
                data = np.zeros(pattern.nnz)
            data[slots] += w * A.data
        if data is None and others.nnz == 0:
            return sp.csr_matrix(self.mass.shape)
        total = pattern.matrix(np.zeros(pattern.nnz) if data is None else data)
        return added(total, others)

    def _slots_of(self, A: sp.csr_matrix) -> IntArray | None:
        """Places of A's entries in the whole: known for constant patterns, found for others; None if outside."""
        pattern, known = self.whole
        indices, slots = known.get(id(A.indices), (None, None))
        return slots if indices is A.indices else pattern.find(A)

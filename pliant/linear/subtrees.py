"""Factorization and substitution on several threads, with the same bytes for any number of them.

Subtrees of the elimination tree are factored side by side, each by itself. Then their updates are added to the columns
above them, groups of columns side by side, each in the order of the panels. The panels on top follow one by one, their
updates again by groups of columns. Substitution goes through the subtrees side by side as well; what each takes from
the rows above it is added up apart. What is done apart, and in which order, is fixed by the pattern.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

import numba
import numpy as np

from pliant.arrays import Array, IntArray
from pliant.kernels import substitution, wide
from pliant.kernels import supernodal as kernels
from pliant.linear.symbolic import Structure

WORTH = 500.0  # millions of operations below which one thread does it all
SUBTREES, LARGEST = 8, 0.15  # at least so many, none with a larger part of the work
GROUPS = 8  # of columns
PIECE = 2 * kernels.BLOCK  # rows or columns of a wide panel that one thread works on
HEAVY = 20.0  # millions of operations from which on the update of a single panel is shared out


@dataclass(frozen=True, eq=False)
class Schedule:
    """Ranges of panels that are ``subtrees``, the panels ``below`` (in them) and ``above`` (the rest), ascending.

    ``cuts`` are the borders between groups of columns above the subtrees, of about the same work; ``heavy[s]`` says
    whether the update of panel s is shared out.
    """

    subtrees: tuple[tuple[int, int], ...]
    below: IntArray
    above: IntArray
    beyond: IntArray  # the first column after the subtree of every panel, after the panel itself above
    cuts: IntArray
    heavy: np.ndarray
    top: IntArray  # the rows of the panels above, ascending
    place: IntArray  # of every row among these

    @staticmethod
    def of(structure: Structure) -> "Schedule":
        """The schedule of a pattern; without subtrees where it is not worth the while."""
        work = panel_work(structure)
        parent = parents(structure)
        subtrees = _subtrees(parent, work) if work.sum() >= WORTH else ()
        inside, beyond = np.zeros(len(work), dtype=bool), structure.first[1:].copy()
        for begin, end in subtrees:
            inside[begin:end], beyond[begin:end] = True, structure.first[end]
        below, above = np.flatnonzero(inside), np.flatnonzero(~inside)
        on_top = np.repeat(~inside, np.diff(structure.first))
        heavy, cuts = work >= HEAVY, _cuts(structure, above)
        return Schedule(subtrees, below, above, beyond, cuts, heavy, np.flatnonzero(on_top), np.cumsum(on_top) - 1)

    def factor(self, blas: IntArray, arrays: tuple[IntArray, ...], L: Array) -> int:
        """Overwrite the panels L, which hold A, by its factor; the position of a bad pivot, or -1."""
        if not self.subtrees:
            return int(kernels.factor(blas, arrays, L))
        found = run([_call(kernels.factor_subtree, blas, arrays, L, *ends) for ends in self.subtrees])
        bad = [position for position in found if position >= 0]
        if bad:
            return int(min(bad))
        self._update(blas, arrays, L, self.below)
        for s in self.above:
            source = np.array([s])
            if self.heavy[s]:
                position = wide.factor(blas, arrays, L, s, PIECE)
                self._update(blas, arrays, L, source)
            else:
                position = kernels.factor_subtree(blas, arrays, L, s, s + 1)
                kernels.update_columns(blas, arrays, L, source, self.beyond, 0, self.cuts[-1])
            if position >= 0:
                return int(position)
        return -1

    def forward(self, blas: IntArray, arrays: tuple[IntArray, ...], L: Array, X: Array) -> None:
        """X <- L^-1 X (N, k), row-major in elimination order."""
        if self.subtrees:
            rests = np.zeros((len(self.subtrees), len(self.top), X.shape[1]), dtype=L.dtype)
            run(
                [
                    _call(self._climb, blas, arrays, L, X, *ends, rest)
                    for ends, rest in zip(self.subtrees, rests, strict=True)
                ]
            )
            substitution.subtract(X, self.top, rests)
        substitution.forward(blas, arrays, L, X, self.above, len(X), self.place, X[:0])

    def _climb(
        self, blas: IntArray, arrays: tuple[IntArray, ...], L: Array, X: Array, begin: int, end: int, rest: Array
    ) -> None:
        """Forward substitution in one subtree."""
        substitution.forward(blas, arrays, L, X, np.arange(begin, end), arrays[0][end], self.place, rest)

    def backward(self, blas: IntArray, arrays: tuple[IntArray, ...], L: Array, X: Array) -> None:
        """X <- L^-T X (N, k), row-major in elimination order."""
        substitution.backward(blas, arrays, L, X, self.above)
        if self.subtrees:
            run([_call(substitution.backward, blas, arrays, L, X, np.arange(*ends)) for ends in self.subtrees])

    def _update(self, blas: IntArray, arrays: tuple[IntArray, ...], L: Array, sources: IntArray) -> None:
        run(
            [
                _call(kernels.update_columns, blas, arrays, L, sources, self.beyond, low, high)
                for low, high in zip(self.cuts, self.cuts[1:], strict=False)
            ]
        )


def panel_work(structure: Structure) -> Array:
    """Millions of operations of every panel, with its update."""
    width = np.diff(structure.first).astype(float)
    under = np.diff(structure.row_start) - width
    return (width**3 / 3 + width**2 * under + width * under**2) / 1e6


def parents(structure: Structure) -> IntArray:
    """The panel that the first row below every panel belongs to; -1 for roots."""
    out = np.full(len(structure.first) - 1, -1)
    begun = structure.update_start[:-1]
    some = np.diff(structure.update_start) > 0
    out[some] = structure.updates[begun[some], 0]
    return out


def _subtrees(parent: IntArray, work: Array) -> tuple[tuple[int, int], ...]:
    """Disjoint subtrees as ranges of panels: the largest one is split until none is large; () where none are ranges."""
    count = len(parent)
    total, lowest, size = work.copy(), np.arange(count), np.ones(count, dtype=np.int64)
    children: list[list[int]] = [[] for _ in range(count)]
    for s in range(count):
        p = parent[s]
        if p >= 0:
            total[p] += total[s]
            size[p] += size[s]
            lowest[p] = min(lowest[p], lowest[s])
            children[p].append(s)
    if not np.array_equal(lowest, np.arange(count) - size + 1):
        return ()
    found = [s for s in range(count) if parent[s] < 0]
    while len(found) < SUBTREES or max(total[s] for s in found) > LARGEST * work.sum():
        largest = max(found, key=lambda s: (total[s], s))
        if not children[largest]:
            break
        found.remove(largest)
        found += children[largest]
    return tuple((int(lowest[s]), s + 1) for s in sorted(found))


def _cuts(structure: Structure, above: IntArray) -> IntArray:
    """Borders of GROUPS groups of columns of the panels ``above``, with about as much to add to in each."""
    height = np.repeat(np.diff(structure.row_start), np.diff(structure.first)).astype(float)
    counted = np.zeros(len(height))
    for s in above:
        counted[structure.first[s] : structure.first[s + 1]] = height[structure.first[s] : structure.first[s + 1]]
    share = np.cumsum(counted) / max(counted.sum(), 1.0)
    inner = np.searchsorted(share, np.arange(1, GROUPS) / GROUPS)
    return np.unique(np.concatenate([[0], inner, [len(height)]]))


def _call(kernel: Any, *arguments: Any) -> Callable[[], Any]:
    return lambda: kernel(*arguments)


def run(tasks: Sequence[Callable[[], Any]]) -> list[Any]:
    """The results of tasks that release the interpreter's lock, on as many threads as the kernels may use.

    The calling thread takes part: the others may be slow to wake.
    """
    results: list[Any] = [None] * len(tasks)
    left = iter(range(len(tasks)))  # every number once, whoever asks

    def work() -> None:
        for k in left:
            results[k] = tasks[k]()

    helpers = min(numba.get_num_threads(), len(tasks)) - 1
    others = [_pool(helpers).submit(work) for _ in range(helpers)]
    work()
    for other in others:
        other.result()
    return results


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="pliant")

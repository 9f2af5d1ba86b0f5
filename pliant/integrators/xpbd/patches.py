"""Order of a parallel Gauss-Seidel sweep that does not depend on the number of threads.

Constraints lie along a space-filling curve and are cut into patches; patches that share a vertex get different colours.
Within a colour patches run in parallel, within a patch constraints run one after the other: few parallel regions, good
locality, and the same sums in the same order on any machine. Inside a patch, constraints are sorted by colours of their
own: neighbours in the loop do not wait for each other, and a GPU runs those of one colour at once, to the same result.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from pliant.arrays import Array, IntArray
from pliant.kernels.layout import morton

PATCH = 256  # constraints: their vertices stay in the fastest cache
COLOURS = 64  # bits of a mask; patches beyond get a colour to themselves


@dataclass(frozen=True, eq=False)
class SweepPlan:
    """Constraints in ``order (m,)``; patch p is ``patches[p]:patches[p+1]``, colour c ``colours[c]:colours[c+1]``.

    Within patch p, the constraints ``rounds[r]:rounds[r+1]`` with r in ``first[p]:first[p+1]`` share no vertex.
    """

    order: IntArray
    patches: IntArray
    colours: IntArray
    rounds: IntArray
    first: IntArray


def plan(nodes: IntArray, X: Array, size: int = PATCH) -> SweepPlan:
    """The order of constraints on vertices ``nodes (m, k)`` with rest positions X (n, d)."""
    m = len(nodes)
    if m == 0:
        return SweepPlan(np.zeros(0, dtype=np.int64), *(np.zeros(1, dtype=np.int64) for _ in range(4)))
    order = morton(X[nodes].mean(axis=1))
    owner = np.arange(m) // size
    single = colour(nodes[order], np.arange(m + 1), len(X))
    within = np.lexsort((single, owner))
    order, single = order[within], single[within]
    starts = np.append(np.arange(0, m, size), m)
    colours = colour(nodes[order], starts, len(X))
    by_colour = np.argsort(colours, kind="stable")
    sizes = np.diff(starts)[by_colour]
    patches = np.concatenate([[0], np.cumsum(sizes)])
    taken = np.arange(m) + np.repeat(starts[by_colour] - patches[:-1], sizes)
    counts = np.unique(colours, return_counts=True)[1]
    changes = np.diff(single[taken]) != 0
    changes[patches[1:-1] - 1] = True
    rounds = np.concatenate([[0], np.flatnonzero(changes) + 1, [m]])
    first = np.searchsorted(rounds, patches)
    return SweepPlan(order[taken], patches, np.concatenate([[0], np.cumsum(counts)]), rounds, first)


@njit(cache=True)
def colour(nodes, starts, n):  # type: ignore[no-untyped-def]
    """Greedy colours of the groups nodes[starts[g]:starts[g+1]]: groups of one colour share no vertex."""
    used = np.zeros(n, dtype=np.uint64)  # one bit per colour around each vertex
    out = np.empty(len(starts) - 1, dtype=np.int64)
    extra = COLOURS
    one = np.uint64(1)
    for g in range(len(starts) - 1):
        mask = np.uint64(0)
        for e in range(starts[g], starts[g + 1]):
            for k in range(nodes.shape[1]):
                mask |= used[nodes[e, k]]
        c = 0
        while c < COLOURS and (mask >> np.uint64(c)) & one:
            c += 1
        if c == COLOURS:
            out[g] = extra
            extra += 1
            continue
        out[g] = c
        for e in range(starts[g], starts[g + 1]):
            for k in range(nodes.shape[1]):
                used[nodes[e, k]] |= one << np.uint64(c)
    return out

"""Where dynamic nodes should go: by hand, or spread evenly."""

from collections.abc import Sequence

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.errors import SceneError
from pliant.systems.elastodynamics import Elastodynamics

TIE = 1e-9  # relative difference of distances that is round-off: the lowest number decides
LEAST = 0.1  # dynamic nodes closer than this part of the body make the reduced matrix ill-conditioned


def spread(
    system: Elastodynamics,
    count: int,
    *,
    by_hand: Sequence[int] = (),
    seed: int = 0,
    among: IntArray | None = None,
    held: IntArray | None = None,
) -> IntArray:
    """``count`` free vertices by farthest-point sampling, starting from the one farthest from all pinned ones.

    Those ``by_hand`` come first, as close to each other as one likes; the others keep their distance from them.
    ``among`` are the vertices to choose from (None: all), those that something else has ``held`` count as pinned.
    """
    n, d = system.X.shape
    free = np.flatnonzero(np.bincount(system.free // d, minlength=n) == d)  # in all their coordinates
    mine = np.arange(n) if among is None else among
    free = np.setdiff1d(np.intersect1d(free, mine), [] if held is None else held)
    if not 0 <= count <= len(free):
        what = f"{count} dynamic nodes of {len(free)} vertices that are free in all their coordinates"
        remedy = "ask for no more than there are; pins with axes take vertices from them, too"
        raise SceneError(what, where="placement.spread", remedy=remedy)
    pinned = np.setdiff1d(mine, free)
    rng = np.random.default_rng(seed)
    first = pinned if len(pinned) else free[[int(rng.integers(len(free)))]]
    distance = 2.0 * distance_to(system.X, first)  # a node may be closer to pins than to other nodes
    chosen = [int(node) for node in by_hand]
    if chosen:
        distance = np.minimum(distance, distance_to(system.X, np.array(chosen)))
    for _ in range(count - len(chosen)):
        best = int(free[np.argmax(distance[free] >= (1.0 - TIE) * distance[free].max())])
        chosen.append(best)
        distance = np.minimum(distance, np.linalg.norm(system.X - system.X[best], axis=1))
    return checked(system, np.array(sorted(chosen), dtype=np.int64), by_hand, among)


def checked(
    system: Elastodynamics, nodes: IntArray, by_hand: Sequence[int] = (), among: IntArray | None = None
) -> IntArray:
    """The nodes, if no two are closer than a tenth of the body (both by hand excepted); else an error with the pair."""
    X = system.X[nodes]
    least = LEAST * (system.scale if among is None else float(np.linalg.norm(np.ptp(system.X[among], axis=0))))
    given = np.isin(nodes, by_hand)
    for i in range(len(nodes)):
        near = np.linalg.norm(X[i + 1 :] - X[i], axis=1)
        near = np.where(given[i] & given[i + 1 :], np.inf, near)
        if len(near) and near.min() < least:
            j = i + 1 + int(np.argmin(near))
            raise SceneError(
                f"dynamic nodes {nodes[i]} and {nodes[j]} are {near.min():.3g} m apart",
                where="placement",
                remedy=f"keep them at least {least:.3g} m apart (a tenth of the body) or use fewer",
            )
    return nodes


def distance_to(X: Array, vertices: IntArray) -> Array:
    """Distance (n,) of every vertex to the nearest of some vertices."""
    from scipy.spatial import cKDTree

    return cKDTree(X[vertices]).query(X)[0]

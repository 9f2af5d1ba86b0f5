"""Where bodies start that overlap: whole bodies are moved, without turning, as far as their coordinates allow."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from pliant.arrays import Array, IntArray
from pliant.articulated.forces.base import joined_links
from pliant.articulated.joints import Free3D
from pliant.articulated.system import ArticulatedSystem
from pliant.errors import SceneError
from pliant.parts import Made
from pliant.systems.coupled import Coupled
from pliant.systems.elastodynamics import Elastodynamics


def wholes(scene: Any, made: Sequence[Made]) -> IntArray:
    """For every shape the number of what moves as one: a body with all its links, and bodies that are attached."""
    bodies = {id(body): k for k, body in enumerate(scene.bodies)}
    own = [
        bodies[id(body)]
        for m in made
        for body in ([m.places[0][0]] * len(m.shapes) if len(m.places) == 1 else [body for body, _ in m.places])
    ]
    n = len(scene.bodies)
    ends = [(scene.number(a.body, "attachment"), scene.number(a.to, "attachment")) for a in scene.attachments]
    i, j = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    _, group = connected_components(coo_matrix((np.ones(len(i)), (i, j)), shape=(n, n)), directed=False)
    return np.asarray(group[own], dtype=np.int64)


def set_apart(system: Coupled, q: Array) -> Array:
    """The coordinates to start from: bodies that overlap are refused, or moved apart as the contact says."""
    assert system.contact is not None
    x = system.touchable.lift(q)
    free = np.concatenate([_loose(part) for part in system.parts])
    rows = np.arange(len(free)) if system.rows is None else system.rows
    held = np.flatnonzero(np.repeat(~free[rows], 3))
    moved = system.contact.initial(x, held)
    if np.array_equal(moved, x):
        return q
    d = np.zeros((len(free), 3))
    d[rows] = (moved - x).reshape(-1, 3)
    ends = np.cumsum([len(part.positions(part.rest)) for part in system.parts])[:-1]
    each = zip(system.parts, system.slices, np.split(d, ends), strict=True)
    q = np.concatenate([_shifted(part, q[s], own) for part, s, own in each])
    if not np.allclose(system.touchable.lift(q), moved, rtol=0.0, atol=1e-9 * system.scale):
        raise SceneError("bodies overlap at the start", where="scene.bodies", remedy="move them apart")
    return q


def _loose(part: Any) -> NDArray[np.bool_]:
    """The points (p,) of a part that coordinates can carry anywhere: free vertices, links of trees that float."""
    count = len(part.positions(part.rest))
    if isinstance(part, Elastodynamics):
        free = np.isin(np.arange(len(part.rest)), part.free)
        return np.asarray(free.reshape(count, -1).all(axis=1))
    if not isinstance(part, ArticulatedSystem):
        return np.zeros(count, dtype=bool)
    joined = [joined_links(c) for c in part.closing]
    if any(pairs is None or (pairs < 0).any() for pairs in joined):
        return np.zeros(count, dtype=bool)  # a loop through the world
    floating = np.array([_floats(part, k) for k in range(int(part.trees.links.max()) + 1)])
    return np.asarray(floating[part.points.tree_of(np.arange(count))])


def _roots(part: ArticulatedSystem, tree: int) -> IntArray:
    return np.flatnonzero((part.tree.parent < 0) & (part.trees.links == tree))


def _floats(part: ArticulatedSystem, tree: int) -> bool:
    return all(isinstance(part.tree.links[i].joint, Free3D) for i in _roots(part, tree))


def _shifted(part: Any, q: Array, d: Array) -> Array:
    """Coordinates that carry the points of whole bodies by d (p, 3) [m]."""
    if not d.any():
        return q
    if isinstance(part, Elastodynamics):
        return q + d[:, : len(q) // len(d)].ravel()
    q, trees = q.copy(), part.points.tree_of(np.arange(len(d)))
    for tree in np.unique(trees[d.any(axis=1)]):
        way = d[(trees == tree) & d.any(axis=1)][0]
        for i in _roots(part, tree):
            first = int(part.tree.ptr[i])
            q[first : first + 3] += part.tree.E0[i, :3, :3].T @ way
    return q

"""Where joints are, from the positions of surface points: recorded frames hold nothing else."""

import numpy as np

from pliant.arrays import Array
from pliant.articulated.tree import Tree


def joints_of(tree: Tree, x: Array) -> Array:
    """Origins (n, 3) of the joints of a tree, from the positions x (p, 3) of its surface points alone.

    Each body's frame is the rigid motion that fits its points best (Kabsch); it tells where the body's joint is.
    """
    found, first = [], 0
    for link, to_joint in zip(tree.links, tree.Eij, strict=True):
        X = link.body.points if len(link.body.points) else np.zeros((0, 3))
        here = x[first : first + max(len(X), 1)]
        first += len(here)
        R = _rotation(X, here) if len(X) else np.eye(3)
        middle = X.mean(axis=0) if len(X) else np.zeros(3)
        found.append(here.mean(axis=0) + R @ (to_joint[:3, 3] - middle))
    return np.array(found).reshape(-1, 3)


def _rotation(X: Array, x: Array) -> Array:
    """The rotation R (3, 3) that brings X closest to x, both (k, 3), about their means."""
    U, _, Vt = np.linalg.svd((x - x.mean(axis=0)).T @ (X - X.mean(axis=0)))
    return U @ np.diag([1.0, 1.0, np.sign(np.linalg.det(U @ Vt))]) @ Vt

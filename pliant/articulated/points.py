"""The points of all links that are seen and touched, and how they follow the links."""

import numpy as np

from pliant.arrays import Array
from pliant.articulated.tree import Kinematics, Tree


class Points:
    """Surface points ``x (p, 3)`` in the frames of their links ``link (p,)``; the origin where a body has none."""

    def __init__(self, tree: Tree) -> None:
        points = [link.body.points if len(link.body.points) else np.zeros((1, 3)) for link in tree.links]
        self.x = np.concatenate(points)
        self.link = np.repeat(np.arange(len(points)), [len(x) for x in points])
        first = np.searchsorted(self.link, np.arange(len(points)))
        self.faces = np.concatenate([link.body.faces + k for link, k in zip(tree.links, first, strict=True)])

    def positions(self, kin: Kinematics) -> Array:
        """World positions (p, 3)."""
        frames = kin.frames[self.link]
        return np.einsum("pij,pj->pi", frames[:, :3, :3], self.x) + frames[:, :3, 3]

    def velocities(self, kin: Kinematics, twists: Array) -> Array:
        """R (v + w x x) (3 p,) for twists (n, 6) of the links."""
        twist = twists[self.link]
        v = twist[:, 3:] + np.cross(twist[:, :3], self.x)
        return np.einsum("pij,pj->pi", kin.frames[self.link, :3, :3], v).ravel()

    def wrenches(self, kin: Kinematics, g: Array) -> Array:
        """The transpose: (x x R^T g, R^T g), summed over the points of every link, (n, 6)."""
        f = np.einsum("pji,pj->pi", kin.frames[self.link, :3, :3], g.reshape(-1, 3))
        out = np.zeros((len(kin.tree), 6), dtype=f.dtype)
        np.add.at(out, self.link, np.concatenate([np.cross(self.x, f), f], axis=1))
        return out

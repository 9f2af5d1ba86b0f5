"""The points of all links that are seen and touched: how they follow the links, and what they tell of them."""

from functools import cached_property

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.articulated import _point_kernels as kernels
from pliant.articulated.islands import Islands
from pliant.articulated.tree import Kinematics, Tree
from pliant.pattern import csr


class LinkPoints:
    """Points ``x (p, 3)`` in the frames of their links ``link (p,)``, ascending."""

    def __init__(self, x: Array, link: IntArray, trees: Islands) -> None:
        self.x, self.link, self._trees = x, link, trees

    @staticmethod
    def of_surfaces(tree: Tree, trees: Islands) -> "LinkPoints":
        """Those of the links' surfaces; the origin where a body has none."""
        points = [link.body.points if len(link.body.points) else np.zeros((1, 3)) for link in tree.links]
        return LinkPoints(np.concatenate(points), np.repeat(np.arange(len(points)), [len(x) for x in points]), trees)

    @staticmethod
    def of_frames(tree: Tree, trees: Islands) -> "LinkPoints":
        """Four for every link: the origin of its frame, and one a metre along each axis."""
        n = len(tree)
        return LinkPoints(np.tile(np.eye(4, 3, k=-1), (n, 1)), np.repeat(np.arange(n), 4), trees)

    def ranges(self, tree: Tree) -> list[tuple[int, int]]:
        """The rows of every link's points: the first and the last + 1."""
        ends = np.searchsorted(self.link, np.arange(len(tree) + 1)).tolist()
        return list(zip(ends[:-1], ends[1:], strict=True))

    def faces(self, tree: Tree) -> IntArray:
        """The triangles (k, 3) of surfaces, over these points."""
        return np.concatenate([link.body.faces + a for link, (a, _) in zip(tree.links, self.ranges(tree), strict=True)])

    def joint_origins(self, tree: Tree, x: Array) -> Array:
        """Where the joints are (n, 3), from the positions x (p, 3) alone: recorded frames hold nothing else.

        Each body's frame is the rigid motion that fits its points best (Kabsch); it tells where the body's joint is.
        """
        found = np.empty((len(tree), 3))
        for k, (a, b) in enumerate(self.ranges(tree)):
            X, here = self.x[a:b], x[a:b]
            found[k] = here.mean(axis=0) + _rotation(X, here) @ (tree.Eij[k, :3, 3] - X.mean(axis=0))
        return found

    def tree_of(self, rows: IntArray) -> IntArray:
        """The tree of links that each of these points belongs to."""
        return self._trees.links[self.link[rows]]

    def positions(self, kin: Kinematics) -> Array:
        """World positions (p, 3)."""
        return kernels.positions(kin.frames, self.link, self.x)

    @cached_property
    def _rows(self) -> tuple[IntArray, IntArray]:
        """indptr and indices of J: every point has the coordinates of its tree."""
        return self._trees.rows(np.repeat(self._trees.links[self.link], 3))

    def jacobian(self, kin: Kinematics) -> sp.csr_matrix:
        """J (3 p, nr): velocities of the points over the joint rates."""
        tree, (c, columns), (indptr, indices) = kin.tree, _world(kin), self._rows
        x = self.positions(kin) - c
        data = kernels.jacobian(tree.parent, tree.ptr, columns, x, self.link, indptr, self._trees.square()[2])
        return csr(data, indices, indptr, (len(indptr) - 1, tree.dof))

    def curvature(self, kin: Kinematics, g: Array) -> sp.csr_matrix:
        """d(J^T g)/dq (nr, nr) for fixed forces g (3 p,) on the points, in closed form."""
        tree, (c, columns), (indptr, indices, rank) = kin.tree, _world(kin), self._trees.square()
        F, N = kernels.moments(tree.parent, self.positions(kin) - c, g.reshape(-1, 3), self.link)
        data = kernels.curvature(tree.parent, tree.ptr, columns, F, N, indptr, rank)
        for links, coordinates, slopes in tree.subspace_slopes(kin.q):
            owner = np.broadcast_to(links[:, None], slopes.shape[:-1]).ravel()
            own = kernels.world_columns(kin.joint_frames, owner, slopes.reshape(-1, 6), c).reshape(slopes.shape)
            kernels.add_own(data, coordinates, links, own, F, N, indptr, rank)
        return csr(data, indices, indptr, (tree.dof, tree.dof))


def _world(kin: Kinematics) -> tuple[Array, Array]:
    """A point c (3,) amid the links, and how every coordinate moves things there: (w, v) (nr, 6)."""
    c: Array = kernels.center(kin.frames)
    return c, kernels.world_columns(kin.frames, kin.tree.link, kin.B, c)


def _rotation(X: Array, x: Array) -> Array:
    """The rotation R (3, 3) that brings X closest to x, both (k, 3), about their means."""
    U, _, Vt = np.linalg.svd((x - x.mean(axis=0)).T @ (X - X.mean(axis=0)))
    return U @ np.diag([1.0, 1.0, np.sign(np.linalg.det(U @ Vt))]) @ Vt

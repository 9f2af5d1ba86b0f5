"""The points of all links that are seen and touched, and how they follow the links."""

from functools import cached_property

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.articulated import _point_kernels as kernels
from pliant.articulated.islands import Islands
from pliant.articulated.tree import Kinematics, Tree
from pliant.pattern import csr


class Points:
    """Points ``x (p, 3)`` in the frames of their links ``link (p,)``, ascending."""

    def __init__(self, x: Array, link: IntArray, trees: Islands) -> None:
        self.x, self.link, self._trees = x, link, trees

    @staticmethod
    def of_surfaces(tree: Tree, trees: Islands) -> "Points":
        """Those of the links' surfaces; the origin where a body has none."""
        points = [link.body.points if len(link.body.points) else np.zeros((1, 3)) for link in tree.links]
        return Points(np.concatenate(points), np.repeat(np.arange(len(points)), [len(x) for x in points]), trees)

    @staticmethod
    def of_frames(tree: Tree, trees: Islands) -> "Points":
        """Four for every link: the origin of its frame, and one a metre along each axis."""
        n = len(tree)
        return Points(np.tile(np.eye(4, 3, k=-1), (n, 1)), np.repeat(np.arange(n), 4), trees)

    def faces(self, tree: Tree) -> IntArray:
        """The triangles (k, 3) of surfaces, over these points."""
        first = np.searchsorted(self.link, np.arange(len(tree)))
        return np.concatenate([link.body.faces + k for link, k in zip(tree.links, first, strict=True)])

    def tree_of(self, rows: IntArray) -> IntArray:
        """The tree of links that each of these points belongs to."""
        return self._trees.links[self.link[rows]]

    def positions(self, kin: Kinematics) -> Array:
        """World positions (p, 3)."""
        placed: Array = kernels.positions(kin.frames, self.link, self.x)
        return placed

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

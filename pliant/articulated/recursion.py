"""The exact O(n) inverse of a tree with block diagonal maximal matrix [Weidner2022, sec. 3.2].

    leaf to root:   Mh_i = A_i + sum_c A_ci^T Pi_c A_ci,   Psi_i = (B_i^T Mh_i B_i + a_i)^-1,
                    Pi_i = Mh_i - Mh_i B_i Psi_i B_i^T Mh_i

It is the preconditioner "projected block Jacobi" when springs couple bodies, and the solver when they do not.
"""

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.articulated import _kernels as kernels
from pliant.articulated.tree import Kinematics, Tree
from pliant.errors import NotPositiveDefinite


class Recursion:
    """(J^T A J + a)^-1 for block diagonal A (n, 6, 6) and reduced blocks a within single joints."""

    def __init__(self, kin: Kinematics, diagonal: Array, reduced: list[tuple[IntArray, Array]]) -> None:
        t = kin.tree
        extra = np.zeros((len(t), 6, 6))
        for index, block in reduced:
            link = t.link[index]
            own = index - t.ptr[link]
            same = link[:, None] == link[None, :]
            r, c = np.nonzero(same)
            np.add.at(extra, (link[r], own[r], own[c]), block[r, c])
        self._names = t.names
        self._tree = (t.parent, t.ptr, kin.R, kin.p, kin.B)
        self._L, self._U, self._pivots = kernels.factor(*self._tree, diagonal, extra)

    def solve(self, x: Array) -> Array:
        """y in O(n), for x (nr,) or column by column for x (nr, k)."""
        if x.ndim == 1:
            return kernels.solve(*self._tree, self._L, self._U, x)
        columns = [kernels.solve(*self._tree, self._L, self._U, c) for c in np.ascontiguousarray(x.T)]
        return np.array(columns).reshape(x.shape[::-1]).T

    def smallest_pivots(self) -> Array:
        """Smallest pivot per joint relative to its diagonal entry (n,); not positive where a joint moves no mass."""
        return self._pivots

    def require_definite(self, where: str) -> None:
        """Refuse a matrix that is not positive definite, by the name of the link that shows it."""
        weakest = int(np.argmin(self._pivots))
        if not self._pivots[weakest] > 0.0:
            raise NotPositiveDefinite(
                f"the velocity matrix is not positive definite at link '{self._names[weakest]}'",
                where=where,
                remedy="reduce h, or make destabilising forces explicit",
            )


def within_joints(tree: Tree, reduced: list[tuple[IntArray, Array]]) -> bool:
    """Whether no block joins coordinates of two joints: only then does `Recursion` hold all of them."""
    return all(len(set(tree.link[index])) <= 1 for index, _ in reduced)

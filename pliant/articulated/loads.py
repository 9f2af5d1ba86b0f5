"""What acts on an articulated system at one instant, collected from its forces."""

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.articulated.blocks import BlockSum
from pliant.articulated.quirks import Quirks
from pliant.articulated.tree import Kinematics


class Loads:
    """Maximal wrenches f (n, 6), reduced forces f_r (nr,), and their derivatives K = df/dq, D = df/dv.

    A force that gives D leaves its damping out of f: the total force is f + D phi, the linearly implicit step has the
    damping on the left only [Weidner2022, Eq. 3.6].
    """

    def __init__(self, kin: Kinematics, quirks: Quirks) -> None:
        n, nr = len(kin.tree), kin.tree.dof
        self.quirks = quirks
        self.f = np.zeros((n, 6), dtype=kin.frames.dtype)
        self.K, self.D = BlockSum(n), BlockSum(n)
        self.f_r = np.zeros(nr, dtype=kin.frames.dtype)
        self._K_r: list[tuple[IntArray, Array]] = []
        self._D_r: list[tuple[IntArray, Array]] = []

    def wrench(self, bodies: IntArray, w: Array) -> None:
        """Add body wrenches w (m, 6); the world takes any."""
        keep = bodies >= 0
        np.add.at(self.f, bodies[keep], w[keep])

    def reduced_stiffness(self, index: IntArray, block: Array) -> None:
        """Add a symmetric block (k, k) of K_r at coordinates ``index`` (k,)."""
        self._K_r.append((index, block))

    def reduced_damping(self, index: IntArray, block: Array) -> None:
        self._D_r.append((index, block))

    def armature(self, R: Array, v: Array, h: float) -> None:
        """Add R (v - u)/h, what rotors of inertia R (nr,) exert in a step from the rates v to u, as -D_r u + f_r."""
        for k in np.flatnonzero(R):
            self.f_r[k] += R[k] * v[k] / h
            self.reduced_damping(np.array([k]), np.array([[-R[k] / h]]))

    def K_r(self) -> Array:
        """K_r (nr, nr), dense."""
        return _dense(self._K_r, len(self.f_r))

    def D_r(self) -> Array:
        return _dense(self._D_r, len(self.f_r))

    def reduced_blocks(self, K: float, D: float) -> list[tuple[IntArray, Array]]:
        """The blocks of K K_r + D D_r."""
        return [(i, K * b) for i, b in self._K_r] + [(i, D * b) for i, b in self._D_r]

    def spread(self, W: Array) -> None:
        """Add what the joint forces change with to K and D: W (6n, nr) are the wrenches that unit joint forces are."""
        by_body = W.reshape(len(self.f), 6, -1)
        for total, parts in ((self.K, self._K_r), (self.D, self._D_r)):
            for index, block in parts:
                bodies = np.flatnonzero(by_body[:, :, index].any(axis=(1, 2)))
                own = by_body[bodies][:, :, index].reshape(6 * len(bodies), -1)
                total.add_coupling(bodies, own @ block @ own.T)

    def damping_force(self, kin: Kinematics) -> tuple[Array, Array]:
        """(D phi, D_r v): the part of the force that f and f_r leave out."""
        reduced = np.zeros_like(self.f_r)
        for index, block in self._D_r:
            reduced[index] += block @ kin.v[index]
        return self.D.multiply(kin.twists), reduced


def _dense(parts: list[tuple[IntArray, Array]], n: int) -> Array:
    A = np.zeros((n, n), dtype=np.result_type(float, *(b for _, b in parts)))
    for index, block in parts:
        A[np.ix_(index, index)] += block
    return A

"""An articulated system at one instant: its wrenches, its matrices, its contacts, whether its joints move mass."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pliant.arrays import Array
from pliant.articulated.blocks import BlockMatrix, BlockSum
from pliant.articulated.loads import Loads
from pliant.articulated.recursion import Recursion
from pliant.articulated.tree import Kinematics
from pliant.errors import SceneError


@dataclass(frozen=True)
class Assembly:
    """The system at one instant: kinematics, wrenches without implicit damping, and everything the loads carry."""

    kin: Kinematics
    inertia: Array  # (n, 6)
    f: Array  # (n, 6) Coriolis + gravity + forces
    f_r: Array  # (nr,)
    loads: Loads

    @property
    def biased(self) -> Array:
        """f~ = f_m - M Jdot v (n, 6): the wrench with the quadratic velocity term."""
        return self.f - self.inertia * self.kin.bias

    def matrix(self, h: float, beta: float = 1.0) -> BlockMatrix:
        """M - h D - beta h^2 K over the maximal coordinates."""
        total = BlockSum(len(self.inertia))
        self.loads.D.scaled_into(total, -h)
        self.loads.K.scaled_into(total, -beta * h * h)
        return total.total(diagonals(self.inertia))

    def reduced_matrix(self, h: float, beta: float = 1.0) -> Array:
        """-h D_r - beta h^2 K_r (nr, nr)."""
        return -h * self.loads.D_r() - beta * h * h * self.loads.K_r()

    def slope(self, w_damping: float, w_stiffness: float) -> Callable[[Array], Array]:
        """d -> (-w_D D - w_K K) d over the joint rates, for the D and K of the forces."""
        kin, loads = self.kin, self.loads
        blocks = loads.reduced_blocks(-w_stiffness, -w_damping)

        def apply(d: Array) -> Array:
            twists = kin.apply(d)
            wrenches = w_damping * loads.D.multiply(twists) + w_stiffness * loads.K.multiply(twists)
            out = -kin.apply_transpose(wrenches)
            for index, block in blocks:
                out[index] += block @ d[index]
            return out

        return apply


@dataclass(frozen=True)
class Gaps:
    """Contacts of an instant: ``gaps`` (k,) [m], negative where bodies overlap; for certificates."""

    gaps: Array

    def __len__(self) -> int:
        return len(self.gaps)


def diagonals(inertia: Array) -> Array:
    D = np.zeros((len(inertia), 6, 6))
    D[:, np.arange(6), np.arange(6)] = inertia
    return D


def inverse_inertia(kin: Kinematics) -> Recursion:
    """(J^T M J + R)^-1 in O(n), with the armature R of the joints."""
    rotors = [(np.array([k]), np.array([[r]])) for k, r in enumerate(kin.tree.armature) if r]
    return Recursion(kin, diagonals(kin.tree.inertia), rotors)


def check_inertia(kin: Kinematics) -> None:
    """Every joint must move some mass: the recursion's pivots S^T M S + R are positive."""
    bad = inverse_inertia(kin).smallest_pivots()
    worst = np.flatnonzero(bad <= 1e-12)
    if len(worst):
        raise SceneError(
            "its joint moves no mass: the body and its children have no inertia along the joint",
            where=f"link '{kin.tree.names[worst[0]]}'",
            remedy="give the body a mass and inertia, or fix the joint",
        )

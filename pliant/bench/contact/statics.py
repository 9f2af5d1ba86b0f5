"""The least friction with which plane frames of rigid blocks can stand: limit analysis by linear programmes.

Every contact point c between two blocks carries N_c >= 0 across and T_c along the joint, |T_c| <= mu N_c, and every
block is in balance with its weight. Such forces exist if and only if a linear programme has a solution [Livesley1978];
below the least mu for which it has one the blocks must move. Above it forces exist with which they can stand.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from pliant.arrays import Array

GROUND = -1


@dataclass(frozen=True)
class Carried:
    """A rigid block in the plane: its ``weight`` [N] acts downwards at ``center (x, z)``."""

    weight: float
    center: tuple[float, float]


@dataclass(frozen=True)
class Bearing:
    """A point where block ``b`` (or `GROUND`) pushes block ``a`` along the unit ``normal``."""

    a: int
    b: int
    point: tuple[float, float]
    normal: tuple[float, float]


def least_friction(blocks: Sequence[Carried], joints: Sequence[Bearing], *, most: float = 4.0) -> float:
    """The least mu with which the blocks can be in balance; inf where ``most`` is not enough."""
    A = _balance(blocks, joints)
    b = np.concatenate([(0.0, block.weight, block.weight * block.center[0]) for block in blocks])
    if not _stands(A, b, most):
        return float("inf")
    low, high = 0.0, most
    while high - low > 1e-7:
        mu = 0.5 * (low + high)
        low, high = (low, mu) if _stands(A, b, mu) else (mu, high)
    return high


def _balance(blocks: Sequence[Carried], joints: Sequence[Bearing]) -> Array:
    """Forces along x, along z and moments on every block (3 b, 2 c) of unit N_c, then of unit T_c."""
    A = np.zeros((3 * len(blocks), 2 * len(joints)))
    for c, joint in enumerate(joints):
        (x, z), (nx, nz) = joint.point, joint.normal
        for column, (fx, fz) in ((c, (nx, nz)), (len(joints) + c, (-nz, nx))):
            wrench = np.array([fx, fz, x * fz - z * fx])
            for block, sign in ((joint.a, 1.0), (joint.b, -1.0)):
                if block != GROUND:
                    A[3 * block : 3 * block + 3, column] += sign * wrench
    return A


def _stands(A: Array, b: Array, mu: float) -> bool:
    """Whether forces exist: A f = b, N >= 0, |T| <= mu N."""
    c = A.shape[1] // 2
    one = np.eye(c)
    cone = np.block([[-mu * one, one], [-mu * one, -one]])
    bounds = [(0.0, None)] * c + [(None, None)] * c
    scale = np.abs(b).max()
    found = linprog(np.zeros(2 * c), A_ub=cone, b_ub=np.zeros(2 * c), A_eq=A, b_eq=b / scale, bounds=bounds)
    return found.status == 0

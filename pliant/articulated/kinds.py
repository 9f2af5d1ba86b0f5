"""The joints that the compiled passes cover, as numbers and axes."""

from collections.abc import Sequence

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.articulated import _joint_kernels as kinds
from pliant.articulated.joints import (
    Fixed,
    Free2D,
    Free3D,
    FreeST,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Translational,
    Universal,
)
from pliant.articulated.joints.base import Joint

KINDS: dict[type, int] = {
    Fixed: kinds.FIXED,
    Revolute: kinds.REVOLUTE,
    Prismatic: kinds.PRISMATIC,
    Planar: kinds.PLANAR,
    Translational: kinds.TRANSLATIONAL,
    Universal: kinds.UNIVERSAL,
    Spherical: kinds.SPHERICAL,
    Free2D: kinds.FREE2D,
    Free3D: kinds.FREE3D,
    FreeST: kinds.FREEST,
}


def covered(joints: Sequence[Joint], parent: IntArray, ptr: IntArray) -> tuple[IntArray, Array] | None:
    """``I (n, 4)`` of `_joint_kernels`, and ``C (n, 43)`` with the axes alone; None where a joint is not covered."""
    if not all(type(joint) in KINDS for joint in joints):
        return None
    kind = [KINDS[type(joint)] for joint in joints]
    I, C = np.column_stack([parent, kind, ptr[:-1], np.diff(ptr)]).astype(np.int64), np.zeros((len(joints), 43))
    for i, joint in enumerate(joints):
        if isinstance(joint, Revolute | Prismatic):
            C[i, 40:43] = joint.axis
    return I, C

"""Springs, dampers and torques in joints; in reduced coordinates, or as a pair of wrenches on child and parent."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.articulated.loads import Loads
from pliant.articulated.quirks import Quirks
from pliant.articulated.se3 import adjoint, frame
from pliant.articulated.tree import Kinematics, Tree
from pliant.errors import SceneError


@dataclass(frozen=True)
class JointSpring:
    """tau = -k (q - rest) - d qdot at one joint; K_r = -k, D_r = -d. ``maximal`` applies it as wrenches instead."""

    link: int | str
    stiffness: float = 0.0
    damping: float = 0.0
    rest: float | Array = 0.0
    maximal: bool = False

    def bind(self, tree: Tree) -> "JointSpring":
        if self.stiffness < 0 or self.damping < 0:
            raise SceneError(
                f"stiffness {self.stiffness}, damping {self.damping}",
                where=f"JointSpring on '{self.link}'",
                remedy="negative values add energy: give numbers >= 0",
            )
        return replace(self, link=tree.body(self.link))

    def add(self, loads: Loads, kin: Kinematics, t: float) -> None:
        index = _coordinates(kin, self.link)
        tau = -self.stiffness * (kin.q[index] - self.rest)
        I = np.eye(len(index))
        if not self.maximal:
            loads.f_r[index] += tau
            loads.reduced_stiffness(index, -self.stiffness * I)
            loads.reduced_damping(index, -self.damping * I)
            return
        bodies, W = wrench_map(kin, int(self.link))
        loads.wrench(bodies, (W @ tau).reshape(-1, 6))
        loads.K.add_coupling(bodies, -self.stiffness * (W @ W.T))
        loads.D.add_coupling(bodies, -self.damping * (W @ W.T))

    def joins(self) -> IntArray:
        return np.empty((0, 2), dtype=np.int64)

    def potential(self, kin: Kinematics, t: float, quirks: Quirks) -> float:
        e = kin.q[_coordinates(kin, self.link)] - self.rest
        return 0.5 * self.stiffness * float(e @ e)


@dataclass(frozen=True)
class JointTorque:
    """tau(t) on the coordinates of one joint [N m or N]."""

    link: int | str
    torque: Callable[[float], float | Array]
    maximal: bool = False
    drives: ClassVar[bool] = True

    def bind(self, tree: Tree) -> "JointTorque":
        return replace(self, link=tree.body(self.link))

    def add(self, loads: Loads, kin: Kinematics, t: float) -> None:
        index = _coordinates(kin, self.link)
        tau = np.broadcast_to(np.asarray(self.torque(t), dtype=float), index.shape)
        if not self.maximal:
            loads.f_r[index] += tau
            return
        bodies, W = wrench_map(kin, int(self.link))
        loads.wrench(bodies, (W @ tau).reshape(-1, 6))

    def joins(self) -> IntArray:
        return np.empty((0, 2), dtype=np.int64)

    def potential(self, kin: Kinematics, t: float, quirks: Quirks) -> float:
        return 0.0


def _coordinates(kin: Kinematics, link: int | str) -> IntArray:
    where = kin.tree.slice(link)
    return np.arange(where.start, where.stop)


def wrench_map(kin: Kinematics, link: int) -> tuple[IntArray, Array]:
    """Bodies (child, parent) and W (12, dof) with J^T W tau = tau at this joint and zero at all others.

    W = A_ji^T S (S^T S)^-1 on the child, opposite on the parent: a pure couple about a hinge, a pure force along a
    slider. W^T (phi_child, phi_parent) is the joint rate, so W W^T is the damping matrix of a unit joint damper.
    """
    A_ji = adjoint(kin.tree.Eb[link])
    S = A_ji @ kin.B[kin.tree.slice(link)].T
    child = A_ji.T @ S @ np.linalg.inv(S.T @ S)
    parent = int(kin.tree.parent[link])
    A = adjoint(frame(kin.R[link], kin.p[link]))
    return np.array([link, parent]), np.concatenate([child, -A.T @ child])

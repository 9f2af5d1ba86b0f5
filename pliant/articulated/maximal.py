"""Articulated bodies in maximal coordinates: every body has its own frame and twist, joints are constraint rows.

Needed by staggered projections, and as an independent check of the reduced dynamics.
"""

from dataclasses import dataclass

import numpy as np

from pliant.arrays import Array
from pliant.articulated import _kernels as kernels
from pliant.articulated.friction import joint_force_wrenches
from pliant.articulated.measures import mechanical
from pliant.articulated.se3 import adjoint, exp6, frame, inverse, log6
from pliant.articulated.system import ArticulatedSystem
from pliant.articulated.tree import Kinematics
from pliant.kernels.bind import entry


@dataclass(frozen=True)
class Bodies:
    """World frames (n, 4, 4) and body twists (n, 6) of all bodies, free of any joint."""

    frames: Array
    twists: Array


def moved(bodies: Bodies, twists: Array, h: float) -> Bodies:
    """E <- E exp(h phi) with the new twists."""
    return Bodies(bodies.frames @ exp6(h * twists), twists)


def kinematics(system: ArticulatedSystem, bodies: Bodies, q: Array) -> Kinematics:
    """Kinematics whose frames and twists are those of the bodies; joint frames and columns are at the fitted q."""
    tree = system.tree
    kin = tree.kinematics(q, np.zeros_like(q))
    R, p = entry(kernels.relative)(tree.parent, bodies.frames)
    joints = bodies.frames @ tree.Eij
    rates = _rates(kin, bodies, R, p)
    bias = np.zeros_like(bodies.twists)
    return Kinematics(tree, q, rates, joints, bodies.frames, R, p, kin.B, kin.Bdot, bodies.twists, bias)


def _rates(kin: Kinematics, bodies: Bodies, R: Array, p: Array) -> Array:
    """Joint rates that fit the relative twists best, joint by joint."""
    v = np.zeros(kin.tree.dof)
    for i in range(len(kin.tree)):
        where = kin.tree.slice(i)
        if where.stop > where.start:
            v[where] = np.linalg.lstsq(kin.B[where].T, relative_twist(kin, bodies.twists, i, R, p), rcond=None)[0]
    return v


def relative_twist(kin: Kinematics, twists: Array, i: int, R: Array, p: Array) -> Array:
    """phi_i - A_ip phi_parent."""
    j = int(kin.tree.parent[i])
    return twists[i] if j < 0 else twists[i] - adjoint(frame(R[i], p[i])) @ twists[j]


def fitted(system: ArticulatedSystem, bodies: Bodies, q: Array) -> tuple[Array, Array]:
    """(q, errors): joint coordinates closest to the frames, and the twist (n, 6) each body is off its joint by."""
    tree = system.tree
    q = q.copy()
    errors = np.zeros((len(tree), 6))
    joints = bodies.frames @ tree.Eij
    for i, link in enumerate(tree.links):
        j = int(tree.parent[i])
        base = (np.eye(4) if j < 0 else joints[j]) @ tree.E0[i]
        target = inverse(base) @ joints[i]
        where = tree.slice(i)
        for _ in range(3):
            off = log6(inverse(link.joint.transform(q[where])) @ target)
            if link.joint.dof == 0:
                break
            q[where] += np.linalg.lstsq(link.joint.subspace(q[where]), off, rcond=None)[0]
        errors[i] = adjoint(tree.Eij[i]) @ log6(inverse(link.joint.transform(q[where])) @ target)
    return q, errors


def joint_rows(kin: Kinematics, errors: Array) -> tuple[Array, Array, Array]:
    """(G, g, owner): rows (k, 6n) that keep all joints together, their position errors, and the joint of each row."""
    n = len(kin.tree)
    blocks, gaps, owner = [np.zeros((0, 6 * n))], [np.zeros(0)], []
    for i in range(n):
        where = kin.tree.slice(i)
        B = kin.B[where].T
        full = np.linalg.svd(B, full_matrices=True)[0] if B.shape[1] else np.eye(6)
        Z = full[:, B.shape[1] :].T  # orthogonal to the motion of the joint
        G = np.zeros((len(Z), n, 6))
        G[:, i] = Z
        j = int(kin.tree.parent[i])
        if j >= 0:
            G[:, j] = -Z @ adjoint(frame(kin.R[i], kin.p[i]))
        blocks.append(G.reshape(len(Z), 6 * n))
        gaps.append(Z @ errors[i])
        owner += [i] * len(Z)
    return np.concatenate(blocks), np.concatenate(gaps), np.array(owner, dtype=int)


def joint_map(kin: Kinematics) -> Array:
    """W (6n, nr): the wrenches on the bodies that unit joint forces are; W^T takes twists to joint rates."""
    columns = [joint_force_wrenches(kin, tau).ravel() for tau in np.eye(kin.tree.dof)]
    return np.stack(columns, axis=1) if columns else np.zeros((6 * len(kin.tree), 0))


def energies(system: ArticulatedSystem, bodies: Bodies) -> dict[str, float]:
    """Kinetic energy and gravity of the free bodies [J]."""
    return mechanical(system, bodies.frames, bodies.twists)

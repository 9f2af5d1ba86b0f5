"""What an articulated system tells of itself: energies, powers, momenta, gaps."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.arrays import Array
from pliant.articulated.assembly import Gaps
from pliant.articulated.constraints.rows import Unilateral
from pliant.articulated.forces.base import Driving
from pliant.articulated.loads import Loads
from pliant.articulated.se3 import hat
from pliant.maps.motions import Placement, Pose, Twist

if TYPE_CHECKING:
    from pliant.articulated.system import ArticulatedSystem


def placements(system: "ArticulatedSystem", q: Array, v: Array) -> list[Placement]:
    """Where every link's own frame is, and how it moves."""
    kin = system.kinematics(q, v)
    R, p = kin.frames[:, :3, :3], kin.frames[:, :3, 3]
    turn = lambda x: np.einsum("nij,nj->ni", R, x)
    spin, velocity = turn(kin.twists[:, :3]), turn(kin.twists[:, 3:])
    return [(Pose(R[k], p[k]), Twist(velocity[k], spin[k], p[k])) for k in range(len(p))]


def contacts(system: "ArticulatedSystem", q: Array, v: Array, t: float) -> Gaps | None:
    """Where bodies touch floors and boxes now; None where there is nothing to touch."""
    if not any(isinstance(c, Unilateral) for c in system.constraints):
        return None
    rows = system.rows(system.kinematics(q, v), t, inequality=True)
    return Gaps(np.concatenate([np.zeros(0), *(r.g for r in rows if r.tangents is not None)]))


def energies(system: "ArticulatedSystem", q: Array, v: Array, t: float) -> dict[str, float]:
    """Kinetic energy, gravity, and the potential of the forces [J]."""
    if system.ordinary is not None:
        found = system.ordinary.measured(q, v)
        return {"kinetic": found.kinetic, "gravity": found.gravity, "elastic": found.elastic}
    kin = system.kinematics(q, v)
    elastic = float(sum(f.potential(kin, t, system.quirks) for f in system.forces))
    bodies = mechanical(system, kin.frames, kin.twists)
    rotors = 0.5 * float(system.tree.armature @ v**2)
    return {**bodies, "kinetic": bodies["kinetic"] + rotors, "elastic": elastic}


def mechanical(system: "ArticulatedSystem", frames: Array, twists: Array) -> dict[str, float]:
    """Kinetic energy and gravity [J] of the bodies in the world frames (n, 4, 4), with the body twists (n, 6)."""
    inertia = system.tree.inertia
    return {
        "kinetic": 0.5 * float(np.sum(inertia * twists**2)),
        "gravity": -float(inertia[:, 5] @ (frames[:, :3, 3] @ system.gravity)),
    }


def power(system: "ArticulatedSystem", q: Array, v: Array, t: float) -> dict[str, float]:
    """Power [W] of the dampers, and of torques and forces without a potential."""
    if not system.forces:
        return dict.fromkeys(system.works, 0.0)
    if system.ordinary is not None:
        return {"damping": system.ordinary.measured(q, v).damping, "drives": float(system.ordinary.torque(t) @ v)}
    kin = system.kinematics(q, v)
    loads, drives = Loads(kin, system.quirks), Loads(kin, system.quirks)
    for force in system.forces:
        force.add(drives if isinstance(force, Driving) and force.drives else loads, kin, t)
    maximal, reduced = loads.damping_force(kin)
    return {
        "damping": float((maximal * kin.twists).sum() + reduced @ kin.v),
        "drives": float((drives.f * kin.twists).sum() + drives.f_r @ kin.v),
    }


def switched(system: "ArticulatedSystem", q: Array, v: Array, times: tuple[float, float]) -> float:
    """What the potentials of the forces gain by time alone [J]: muscles that are activated."""
    if not system.forces or system.ordinary is not None:
        return 0.0
    kin = system.kinematics(q, v)
    before, after = (sum(f.potential(kin, t, system.quirks) for f in system.forces) for t in times)
    return float(after - before)


def momenta(system: "ArticulatedSystem", q: Array, v: Array) -> tuple[Array, Array]:
    """Total linear momentum (3,) [kg m/s], and angular momentum (3,) [kg m^2/s] about the world origin."""
    if system.ordinary is not None:
        found = system.ordinary.measured(q, v)
        return np.array(found.linear), np.array(found.angular)
    kin = system.kinematics(q, v)
    P = system.tree.inertia * kin.twists
    linear = np.einsum("nij,nj->ni", kin.frames[:, :3, :3], P[:, 3:])
    spin = np.einsum("nij,nj->ni", kin.frames[:, :3, :3], P[:, :3])
    return linear.sum(axis=0), (spin + np.cross(kin.frames[:, :3, 3], linear)).sum(axis=0)


def rigid_rates(system: "ArticulatedSystem", q: Array) -> Array:
    """Rates of the joints at the roots; the nearest there are where such a joint is not free."""
    kin, S = system.kinematics(q, np.zeros_like(q)), np.zeros((len(q), 6))
    for root in np.flatnonzero(system.tree.parent < 0):
        own = slice(*system.tree.ptr[root : root + 2])
        R, p = kin.frames[root, :3, :3], kin.frames[root, :3, 3]
        turned = np.vstack([R.T, -R.T @ hat(p)])  # the twist of a body that turns about the origin
        moved = np.vstack([np.zeros((3, 3)), R.T])
        S[own] = np.linalg.lstsq(kin.B[own].T, np.hstack([moved, turned]), rcond=None)[0]
    return S

"""Momentum conservation of an isolated system with any method: a projection after every step.

    v <- v + S (S^T M S)^-1 (P_0 - P(q, v)),      P = (momentum, angular momentum) = S^T M v

S (N, 6) are the velocities of q when everything moves as one rigid body. Of all velocities with the momenta P_0 these
are the nearest in the norm of kinetic energy [Hairer2006, sec. IV.4], and nothing inside feels the change: relative
velocities at contacts, joints and attachments stay as they are. A method of order p changes P by O(h^(p+1)) in a step,
so that its order stays, too. The change of energy is part of the numerical dissipation in the ledger.
"""

import numpy as np

from pliant.arrays import Array
from pliant.errors import SceneError
from pliant.state import State
from pliant.systems.base import System, parts_of
from pliant.systems.observed import Floating, Moving

WHERE, ROUND = "scene.isolated", 1e-9
PUSH = 1e-6  # N/kg, and N/kg per m/s: what counts as a push from outside


def rigid_rates(system: System, q: Array) -> Array:
    """S (N, 6): the velocities of q under translations along and rotations about the axes of the world."""
    S = np.zeros((len(q), 6))
    for part, own in parts_of(system):
        if not isinstance(part, Floating):
            remedy = "leave it out: this kind of body does not know its coordinates' share in a rigid motion"
            raise SceneError(
                f"{type(part).__name__} does not conserve its momentum by itself", where=WHERE, remedy=remedy
            )
        S[own] = part.rigid_rates(q[own])
    return S


def with_momenta(system: System, before: State, after: State) -> State:
    """The state ``after`` a step, moved as a rigid body to the momenta ``before`` it."""
    S, P = rigid_rates(system, after.q), lambda s, v: np.concatenate(system.momenta(s.q, v))
    moved = np.column_stack([P(after, rate) for rate in S.T])
    missing = P(before, before.v) - P(after, after.v)
    return State(after.q, after.v + S @ np.linalg.lstsq(moved, missing, rcond=None)[0], after.t)


def require_isolated(system: System, start: State) -> None:
    """Refuse pins, joints to the world, and forces from outside: they are seen where everything moves rigidly."""
    q, S = start.q, rigid_rates(system, start.q)
    if len(system.free) < len(q):
        raise SceneError("pins hold some of the bodies", where=WHERE, remedy="release them, or leave it out")
    x = system.positions(q)
    fields = np.column_stack([np.tile(e, len(x)) for e in np.eye(3)] + [np.cross(e, x).ravel() for e in np.eye(3)])
    if isinstance(system, Moving) and not np.allclose(system.point_jacobian(q) @ S, fields, rtol=0.0, atol=ROUND):
        remedy = "give it a free joint (Free3D) at its root, or leave it out"
        raise SceneError("a joint ties a body to the world", where=WHERE, remedy=remedy)
    for rate in (np.zeros(6), *np.eye(6)[:3]):
        push = S[:, :3].T @ system.force(q, S @ rate, start.t)
        if float(np.abs(push).max()) > PUSH * system.total_mass:
            what = f"external forces act on the bodies: {', '.join(f'{f:.2g}' for f in push)} N"
            what += f" where they move with {rate[:3].astype(int)} m/s" if rate.any() else " at the start"
            remedy = "set gravity to zero, and leave out drag, Rayleigh's alpha and springs to the world"
            raise SceneError(what, where=WHERE, remedy=remedy)

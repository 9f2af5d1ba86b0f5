"""Checks of joints, and of the forces and constraints of articulated bodies."""

from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.articulated.system import ArticulatedSystem
from pliant.testing.differences import agree, along


def check_joint(joint: Any, q: Array, v: Array, *, eps: float = 1e-6) -> None:
    """Q(q) is a rigid frame, S its body velocity, the rate of S its derivative; complex steps go through it."""
    name = type(joint).__name__
    E = joint.transform(q)
    agree(f"{name}: R^T R", E[:3, :3].T @ E[:3, :3], np.eye(3), 1e-12)
    assert np.linalg.det(E[:3, :3]) > 0.0, f"{name}: its frame is a reflection"
    S, rate = joint.subspace(q), joint.subspace_rate(q, v)
    assert S.shape == rate.shape == (6, joint.dof), f"{name}: S is {S.shape}, its rate {rate.shape}"
    for i, d in enumerate(eps * np.eye(joint.dof)):
        slope = (joint.transform(q + d) - joint.transform(q - d)) / (2 * eps)
        agree(f"{name}: S, column {i}", S[:, i], body_velocity(E, slope), 1e-7, floor=1.0)
    ahead = (joint.subspace(q + eps * v) - joint.subspace(q - eps * v)) / (2 * eps)
    agree(f"{name}: rate of S", rate, ahead, 1e-6, floor=1.0)
    if joint.dof:
        agree(f"{name}: rate of S", rate, joint.subspace(q + 1e-30j * v).imag / 1e-30, 1e-11, floor=1.0)


def body_velocity(E: Array, dE: Array) -> Array:
    """(omega, nu) from E^-1 dE, taken entry by entry."""
    X = np.linalg.inv(E) @ dE
    return np.array([X[2, 1], X[0, 2], X[1, 0], *X[:3, 3]])


def check_articulated_force(
    system: ArticulatedSystem, without: ArticulatedSystem, q: Array, v: Array, *, potential: bool, eps: float = 1e-6
) -> None:
    """What a force adds to a system: minus the slope of its potential at rest, its exact D, no energy by damping.

    ``without`` is the same system without the force; ``potential`` says whether the force at rest has one.
    """
    still = np.zeros_like(v)
    own = lambda x, u: system.force(x, u, 0.0) - without.force(x, u, 0.0)
    V = lambda x: system.energies(x, still, 0.0)["elastic"] - without.energies(x, still, 0.0)["elastic"]
    D = system.damping(q, v, 0.0) - without.damping(q, v, 0.0)
    name = ", ".join(type(f).__name__ for f in system.forces)
    for d in np.random.default_rng(9).normal(size=(3, len(q))):  # whole matrices take long on large trees
        if potential:
            slope = np.array([along(V, q, d, eps)])
            agree(f"{name}: force", np.array([own(q, still) @ d]), -slope, 1e-6, floor=1e-2)
        agree(f"{name}: damping", D @ d, along(lambda u: own(q, u), v, d, eps), 1e-5, floor=1e-2)
    power = float(v @ (own(q, v) - own(q, still)))
    assert power <= 1e-9, f"{name}: its damping does positive work, {power:.3g} W"


def check_constraint(constraint: Any, system: ArticulatedSystem, q: Array, v: Array, t: float = 0.1) -> None:
    """Its rows are the derivatives of its errors, where these are positions, along any motion."""
    from pliant.articulated.quirks import Quirks

    eps, name = 1e-6, type(constraint).__name__
    bound = constraint.bind(system.tree)
    at = lambda x: bound.rows(system.kinematics(x, v), t, Quirks())
    rows = at(q)
    assert rows is not None, f"{name}: choose a state in which it has rows"
    kin = system.kinematics(q, v)
    G = kin.project_rows(rows.G) if rows.maximal else rows.G
    assert len(G) == len(rows.g) == len(rows.rate), f"{name}: {len(G)} rows, {len(rows.g)} errors"
    if rows.positional:
        agree(f"{name}: rows", G @ v, (at(q + eps * v).g - at(q - eps * v).g) / (2 * eps), 1e-5, floor=1e-2)

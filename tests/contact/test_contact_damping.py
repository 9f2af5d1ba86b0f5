"""Dampers at contacts: how their force changes as the contact presses harder, and steps that need it to converge."""

import numpy as np
import pytest

from pliant.articulated import Rigid
from pliant.bodies import Solid
from pliant.contact.obstacles import Plane
from pliant.forces import ContactDamping
from pliant.integrators import BDF1
from pliant.materials import StableNeoHookean
from pliant.mesh import box
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.state import State
from pliant.systems.penalty_contact import PenaltyContact
from pliant.testing import derivative

DEPTH = 2e-3  # m


def damped(smoothing, speed, seed):
    """The damper of a block that is in a floor by less than ``DEPTH``, and its positions and velocities."""
    block = Solid(box((0.1, 0.1, 0.1), (2, 2, 2)), StableNeoHookean(1e5, 0.4))
    contact = PenaltyContact(mu=0.0, damping=0.5, smoothing=smoothing)
    system = Scene([block], contact=contact, obstacles=[Plane((0, 0, DEPTH), (0.01, 0.01, 1.0))]).system()
    rng = np.random.default_rng(seed)
    q = system.X.ravel() + 1e-4 * rng.normal(size=system.X.size)
    v = speed + 0.1 * rng.normal(size=len(q))
    (force,) = (f for f in system.at(State(q, v, 0.0), 0.0).force_terms if isinstance(f, ContactDamping))
    return force, q, v


@pytest.mark.parametrize("speed", [-1.0, 0.02, 1.0], ids=["pressing", "leaving", "leaving fast"])
@pytest.mark.parametrize("smoothing", [2e-2, 1e-3], ids=["fading in", "partly full"])
def test_how_the_force_changes_with_the_load(smoothing, speed):
    """At a plane normals stand still, so that nothing else of df/dx is left."""
    for seed in range(3):
        force, q, v = damped(smoothing, speed, seed)
        K = force.indefinite(q, v, 0.0).toarray()
        assert abs(K).max() > 0.0
        found = derivative(lambda x, f=force, u=v: f.force(x, u, 0.0), q, 1e-8)
        assert abs(K - found).max() <= 1e-5 * abs(found).max()


def test_a_step_that_starts_at_a_saddle_of_the_residual_converges():
    """Blocks, one of them rigid, fall onto each other: step 30 used to stop while its exact matrix was indefinite."""
    rng = np.random.default_rng(1)
    bodies = []
    for k in range(3):
        side = tuple(rng.uniform(0.08, 0.12, 3))
        place = (0.14 * (k == 2) + rng.uniform(0.0, 0.02), rng.uniform(0.0, 0.04), 0.001 + 0.125 * (k == 1))
        v = (rng.uniform(-0.5, 0.5), rng.uniform(-0.5, 0.5), -1.0 if k == 1 else -0.2)
        mesh = box(side, (1, 1, 1) if k == 1 else (2, 2, 2)).transformed(translate=place)
        rigid, soft = Rigid(mesh, 600.0, velocity=v), Solid(mesh, StableNeoHookean(1e5, 0.4), density=600, velocity=v)
        bodies.append(rigid if k == 1 else soft)
    contact = PenaltyContact(mu=0.4, damping=0.2)
    scene = Scene(bodies, contact=contact, obstacles=[Plane()], integrator=BDF1(), h=5e-3, duration=0.16)
    assert all(step.report.converged for step in simulate(scene))

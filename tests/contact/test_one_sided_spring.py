"""A mass that meets a one-sided spring: backward Euler never gains energy; SDIRK2 does, by a closed form."""

from math import log2, sqrt

import numpy as np
import pytest

from pliant.bodies import SpringNet
from pliant.contact.obstacles import Plane
from pliant.integrators import BDF1, SDIRK2
from pliant.mesh import chain
from pliant.scene import Scene
from pliant.solvers import Newton
from pliant.solvers.base import Tolerance
from pliant.state import State
from pliant.systems.penalty_contact import PenaltyContact

MASS, SPEED, ALPHA = 0.5, 2.0, 1.0 - 1.0 / sqrt(2.0)  # of each of the two ends [kg], [m/s]
EXACT = Newton(tolerance=Tolerance(1e-13, 1e-15))


def falling(k, integrator, height, h, steps=1):
    """Energies [J] of one end of a spring that lies flat and falls flat, per step."""
    contact = PenaltyContact(k=k, mu=0.0, smoothing=0.0, bodies=False)
    body = SpringNet(chain(1), k=1.0, mass=MASS)
    scene = Scene([body], contact=contact, obstacles=[Plane()], gravity=(0, 0, 0), integrator=integrator, h=h)
    system, memory = scene.system(), None
    x = system.X + (0.0, 0.0, height)
    state = State(x.ravel(), np.tile([0.0, 0.0, -SPEED], 2), 0.0)
    assert np.allclose(system.nodal_mass, MASS)
    energies = [0.5 * MASS * SPEED**2]
    for _ in range(steps):
        step = integrator.step(system, state, h, memory)
        state, memory = step.state, step.memory
        z, w = state.q[2], state.v[2]
        energies.append(0.5 * MASS * w**2 + 0.5 * k * min(z, 0.0) ** 2)
    return np.array(energies)


@pytest.mark.parametrize("k", [1e2, 1e4, 1e8])
@pytest.mark.parametrize("part", [0.45, 0.6, 0.7])  # of the step left when the wall is met
def test_sdirk2_changes_the_energy_as_the_closed_form_says(k, part):
    h = 0.01
    c, p = ALPHA * h, part * h * SPEED
    kappa = c**2 * k / MASS
    before, after = falling(k, SDIRK2(EXACT), (1.0 - part) * h * SPEED, h)
    expected = MASS * (p / c) * kappa / (1.0 + kappa) * (0.5 * p / c - SPEED)
    assert after - before == pytest.approx(expected, rel=1e-6)
    assert (after > before) == (part > 2.0 * ALPHA)


def test_a_hard_wall_doubles_sdirk2s_energy_and_a_resolved_one_adds_little():
    just_missed = 1.0 - 1e-9 - ALPHA  # the first stage ends right above the wall
    gains = []
    for k in (1e10, 10.0, 2.5):  # the last two: kappa falls by four as it does when h is halved
        before, after = falling(k, SDIRK2(EXACT), (1.0 - just_missed) * 0.01 * SPEED, 0.01)
        gains.append(after / before - 1.0)
    assert gains[0] == pytest.approx(1.0, abs=1e-3)
    assert log2(gains[1] / gains[2]) == pytest.approx(2.0, abs=0.05)


@pytest.mark.parametrize("k", [1e2, 1e4, 1e8])
def test_backward_euler_never_gains(k):
    for height in np.linspace(0.0, 0.02, 7):
        energies = falling(k, BDF1(EXACT), height, 0.01, steps=12)
        assert (np.diff(energies) <= 1e-12).all() and energies[-1] < energies[0]

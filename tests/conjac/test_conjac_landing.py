"""A condensed body that lands: contacts are seen before they are reached, so a large step wins no energy from them."""

import numpy as np
import pytest

from pliant.bodies import Solid
from pliant.contact.obstacles import Plane
from pliant.integrators import ConJac
from pliant.materials import StableNeoHookean
from pliant.mesh import bar
from pliant.scene import Scene
from pliant.systems.penalty_contact import PenaltyContact

E, SPEED = 4e4, 0.8
MESH = bar(size=(0.06, 0.06, 0.06), cells=(3, 3, 3))
EDGE = 0.02


def landing(stiffness, gap, h=5e-3):
    """(energies, vertical velocities of the center of mass) of a cube that comes down at SPEED, ``gap`` steps away."""
    mesh = MESH.transformed(translate=(0.0, 0.0, gap * h * SPEED))
    body = Solid(mesh, StableNeoHookean(E, 0.45), velocity=(0.0, 0.0, -SPEED))
    contact = PenaltyContact(stiffness * E * EDGE, mu=0.0, anisotropy=0.1, bodies=False, self_contact=False)
    scene = Scene([body], ConJac(count=8), h, 12 * h, contact=contact, obstacles=[Plane()], gravity=(0, 0, 0))
    system = scene.system()
    state, memory = scene.initial(system), None
    m = system.nodal_mass[::3]
    energies = [sum(system.energies(state.q, state.v, state.t).values())]
    speeds = []
    for _ in range(scene.steps):
        step = scene.integrator.step(system, state, h, memory)
        state, memory = step.state, step.memory
        energies.append(sum(system.energies(state.q, state.v, state.t).values()))
        speeds.append(float(m @ state.v[2::3] / m.sum()))
    return np.array(energies), np.array(speeds)


@pytest.mark.parametrize("gap", [0.05, 0.5, 0.95])
def test_a_large_step_wins_no_energy_from_the_floor(gap):
    """Wherever in a step the floor is reached; found too late, springs as stiff as the body would give a third more."""
    energies, speeds = landing(1.0, gap)
    assert energies.max() <= 1.001 * energies[0]
    assert 0.1 * SPEED < speeds.max() <= SPEED


def test_it_bounces_no_faster_than_it_came_however_stiff_the_springs():
    for stiffness in (1.0, 10.0, 100.0):
        assert landing(stiffness, 0.3)[1].max() <= SPEED

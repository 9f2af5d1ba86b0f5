"""The energy-momentum method: discrete gradients do the work of the energy and turn nothing; both are kept."""

import numpy as np
import pytest

from pliant.bodies import Solid, SpringNet
from pliant.energies.elastic import Elastic
from pliant.energies.springs import Springs
from pliant.integrators import EnergyMomentum
from pliant.materials import ARAP, NeoHookean, StableNeoHookean, StVK
from pliant.mesh import bar, rectangle, spring_net
from pliant.scene import Scene
from pliant.state import State

MATERIALS = [StableNeoHookean(1e5, 0.4), NeoHookean(1e5, 0.3), StVK(1e5, 0.3), ARAP(1e5)]


def energies():
    solid, flat, net = bar((0.3, 0.1, 0.1), (3, 1, 1)), rectangle((0.3, 0.1), (3, 1)), spring_net(3, 3)
    yield from ((type(m).__name__, Elastic(solid.X, solid.T, m), solid.X) for m in MATERIALS)
    yield "planar", Elastic(flat.X, flat.T, MATERIALS[0]), flat.X
    yield "springs", Springs(net.X, net.T, 50.0), net.X


@pytest.mark.parametrize("name, energy, X", list(energies()), ids=lambda a: a if isinstance(a, str) else "")
@pytest.mark.parametrize("size", [1e-6, 1e-3, 0.2])
def test_the_discrete_gradient_does_the_work_and_turns_nothing(name, energy, X, size):
    """Far apart, and so close that the difference of the energies has no digits left."""
    rng = np.random.default_rng(4)
    edge = 0.05 if name != "springs" else 0.2
    x0 = (X + 0.1 * edge * rng.normal(size=X.shape)).ravel()
    x1 = x0 + size * edge * rng.normal(size=X.size)
    g = energy.between(x0, x1)
    work = g @ (x1 - x0)
    terms = np.abs(g * (x1 - x0)).sum()
    assert work == pytest.approx(energy.value(x1) - energy.value(x0), abs=1e-12 * terms + 1e-13 * energy.value(x0))
    d = X.shape[1]
    middle, force = 0.5 * (x0 + x1).reshape(-1, d), g.reshape(-1, d)
    assert np.abs(force.sum(axis=0)).max() < 1e-12 * np.abs(g).max()
    turning = np.cross(middle, force).sum(axis=0) if d == 3 else middle[:, 0] @ force[:, 1] - middle[:, 1] @ force[:, 0]
    assert np.abs(turning).max() < 1e-12 * np.abs(g).max()
    if size < 1e-5:
        assert np.allclose(g, energy.gradient(0.5 * (x0 + x1)), atol=1e-8 * np.abs(g).max())


@pytest.mark.parametrize("E", [1e4, 1e6])
def test_a_tumbling_bar_keeps_energy_and_angular_momentum(E):
    system = Scene([Solid(bar((0.3, 0.1, 0.1), (3, 1, 1)), StableNeoHookean(E, 0.3))], gravity=(0, 0, 0)).system()
    r = system.X - system.X.mean(axis=0)
    kept(system, State(system.X.ravel() * 1.0, np.cross((3.0, 2.0, 4.0), r).ravel()), 0.01, 100, 1e-11)


def test_a_net_of_springs_keeps_both_in_free_fall():
    scene = Scene([SpringNet(spring_net(3, 3), k=50.0, mass=0.1)], gravity=(0, 0, 0))
    system = scene.system()
    rng = np.random.default_rng(1)
    kept(
        system,
        State(system.X.ravel() + 0.05 * rng.normal(size=system.X.size), rng.normal(size=system.X.size)),
        0.01,
        100,
        1e-11,
    )


def kept(system, state, h, steps, tolerance):
    before = [*system.momenta(state.q, state.v), sum(system.energies(state.q, state.v, 0.0).values())]
    memory = None
    for _ in range(steps):
        step = EnergyMomentum().step(system, state, h, memory)
        state, memory = step.state, step.memory
        assert step.reports[0].converged
    after = [*system.momenta(state.q, state.v), sum(system.energies(state.q, state.v, 0.0).values())]
    assert np.allclose(after[0], before[0], atol=1e-11)
    assert np.abs(after[1] - before[1]).max() < tolerance * np.abs(before[1]).max()
    assert abs(after[2] - before[2]) < tolerance * before[2]

"""Cloth without tension has as many slack modes as vertices: SIERE leaves them out, and captures what tension makes."""

import numpy as np
import pytest
from scipy.linalg import eigh

from pliant.bodies import SpringNet
from pliant.integrators import SIERE, LinearlyImplicit
from pliant.maps.pins import Pin
from pliant.mesh import spring_net
from pliant.scene import Scene

H = 1 / 60


def sheet(cells, gravity):
    """A flat net held at its corners."""
    mesh = spring_net(cells, cells)
    corners = np.flatnonzero((np.isin(mesh.X, (0.0, 1.0)).sum(axis=1) - np.isclose(mesh.X[:, 2], 0.0)) == 2)
    body = SpringNet(mesh, k=40.0, mass=0.1, pins=Pin(corners))
    return Scene([body], gravity=gravity)


@pytest.mark.parametrize("cells", [5, 10], ids=["dense", "followed"])
def test_flat_cloth_takes_the_linearly_implicit_step(cells):
    scene = sheet(cells, (0.0, 0.0, -9.81))
    system = scene.system()
    start = scene.initial(system)
    step = SIERE(s=4).step(system, start, H)
    assert step.memory.captured == 0 and step.reports[0].converged
    other = LinearlyImplicit(psd=False).step(system, start, H).state
    np.testing.assert_allclose(step.state.q, other.q, atol=1e-13)
    np.testing.assert_allclose(step.state.v, other.v, atol=1e-11)


def test_modes_are_captured_once_tension_holds_them():
    scene = sheet(5, (0.0, 0.0, -9.81))
    system = scene.system()
    state, memory = scene.initial(system), None
    for _ in range(40):
        step = SIERE(s=4).step(system, state, H, memory)
        before, state, memory = state, step.state, step.memory
    K = -system.restrict(system.stiffness(before.q, before.v, before.t + H))
    M = system.restrict(system.mass(before.q))
    _, exact = eigh(K.toarray(), M.toarray(), subset_by_index=(0, 3))
    U = memory.U[:, : memory.captured]
    assert np.linalg.norm(U.T @ (M @ exact), axis=0).min() > 1.0 - 1e-9


def test_cloth_under_tension_swings_on():
    """A large net falls into its corners and bounces; linearly implicit steps alone leave less of that."""
    scene = sheet(10, (0.0, 0.0, -9.81))
    system = scene.system()
    left = {}
    for method in (SIERE(s=8), LinearlyImplicit(psd=False)):
        state, memory, kinetic = scene.initial(system), None, []
        for _ in range(120):
            step = method.step(system, state, H, memory)
            state, memory = step.state, step.memory
            kinetic.append(system.energies(state.q, state.v, state.t)["kinetic"])
        left[type(method)] = np.mean(kinetic[60:])
    assert left[SIERE] > 1.2 * left[LinearlyImplicit]


def test_cloth_that_stays_slack_is_searched_once():
    """Without gravity nothing ever holds it: further steps look at the block they know, and solve once."""
    scene = sheet(10, (0.0, 0.0, 0.0))
    system = scene.system()
    state, memory, solves = scene.initial(system), None, []
    for _ in range(3):
        step = SIERE(s=4).step(system, state, H, memory)
        state, memory = step.state, step.memory
        solves.append(step.reports[0].counts.solves)
    assert memory.captured == 0 and solves[0] > 1 and solves[1:] == [1, 1]

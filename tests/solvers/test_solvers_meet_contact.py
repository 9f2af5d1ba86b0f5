"""Every nonlinear solver gets a held bar onto a floor, by penalty and by barrier, moving and in equilibrium."""

import numpy as np
import pytest

from pliant.bodies import Green, Solid
from pliant.contact.obstacles import Plane
from pliant.integrators import BDF1, Quasistatic
from pliant.maps.motions import Keyframes
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.solvers import QLB, HybridL0, HybridL1, HybridLP, Newton, NewtonL0, NewtonL1, NewtonLP, NewtonPCG
from pliant.solvers.newton import stagnates
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.penalty_contact import PenaltyContact

MESH = bar(size=(0.3, 0.1, 0.1), cells=(6, 2, 2))
HELD = Pin(MESH.where(lambda X: X[:, 0] < 1e-9))


def landed(integrator, contact):
    body = Solid(MESH, StableNeoHookean(1e5, 0.4), pins=HELD)
    floor = Plane(point=(0.0, 0.0, -0.002))
    scene = Scene([body], contact=contact, obstacles=[floor], integrator=integrator, h=0.01, duration=0.05)
    *_, last = simulate(scene)  # a step that does not converge would be an error
    return last.state.q


@pytest.mark.parametrize("method", [BDF1, Quasistatic])
@pytest.mark.parametrize("contact", [PenaltyContact(), BarrierContact()], ids=["penalty", "barrier"])
def test_all_solvers_land_in_the_same_place(method, contact):
    """HYBRID started its second phase with the residuals of the first; LP factored beyond the barrier."""
    expected = landed(method(Newton()), contact)
    for solver in (QLB, NewtonPCG, NewtonL0, NewtonL1, NewtonLP, HybridL0, HybridL1, HybridLP):
        assert np.abs(landed(method(solver()), contact) - expected).max() < 2e-6, solver.__name__


def test_a_merit_below_zero_that_stands_still_is_no_progress():
    still = [{"residual": 1.0, "merit": -5.0} for _ in range(30)]
    falling = [{"residual": 1.0, "merit": -5.0 - 1e-3 * k} for k in range(30)]
    assert stagnates(still) and not stagnates(falling)


def test_newton_does_not_go_round_in_circles():
    """A cube with Green damping lands on a turning table: without a merit the projected residual allowed a cycle."""
    cube = bar(size=(0.1, 0.1, 0.1), cells=(2, 2, 2))
    table = Plane(
        point=(0.0, 0.0, -1e-4), motion=Keyframes((0, 1), rotations=((0, 0, 0), (0, 0, 3)), pivot=(0.05, 0.05, 0))
    )
    body = Solid(cube, StableNeoHookean(1e6, 0.3), damping=Green(1e-3))
    contact = BarrierContact(mu=0.5)
    scene = Scene([body], contact=contact, obstacles=[table], integrator=BDF1(Newton()), h=5e-3, duration=0.3)
    *_, last = simulate(scene)
    x, u = last.state.q.reshape(-1, 3) - (0.05, 0.05, 0.0), last.state.v.reshape(-1, 3)
    spin = (x[:, 0] * u[:, 1] - x[:, 1] * u[:, 0]).sum() / (x[:, :2] ** 2).sum()
    assert abs(spin - 3.0) < 1e-3  # it turns with the table

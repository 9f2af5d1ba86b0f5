"""The benchmarks of mixtures at small size: what they measure holds, and their references are right themselves."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from pliant.bench.world import classics, cost, exchange, momentum, rigid_limit
from pliant.integrators import BDF1, LinearlyImplicit
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.systems.row_contact import RowContact


@pytest.mark.parametrize("name", ["velocity step, rows", "BDF1, barrier"])
def test_contact_adds_nothing_to_the_momenta(name):
    row = momentum._row(name, "chain", 0.3, 2e-3, 0.012)
    assert row["pushed"] > 0.05
    assert row["sum"] < 1e-14 and row["normal torque"] < 1e-14
    assert 0.0 < row["drift p"] < 0.3  # that of joint coordinates
    if "rows" in name:
        assert row["friction torque"] < 1e-14


def test_without_joints_linear_momentum_stays():
    row = momentum._row("BDF2, penalty", "bar", 0.3, 2e-3, 0.016)
    assert row["pushed"] > 0.05 and row["drift p"] < 1e-11


def test_works_of_both_sides_are_those_of_the_forces():
    row = exchange._row("chain", "penalty, friction, damping", BDF1(momentum.TIGHT), 2e-3, 0.012)
    assert row["exchanged"] > 0.01 and row["sum apart"] < 1e-12


def test_stiff_cubes_come_to_the_rigid_one():
    rigid, _ = rigid_limit.trajectory(None, 0.0, h=2e-3, duration=0.02)
    apart = [np.abs(rigid_limit.trajectory(E, 0.0, h=2e-3, duration=0.02)[0] - rigid).max() for E in (1e6, 1e7)]
    assert np.log10(apart[0] / apart[1]) == pytest.approx(1.0, abs=0.05)


def test_the_closed_form_of_free_rotation():
    """Against Euler's equations integrated, on both sides of the separatrix."""
    I = np.array([1.0, 2.6, 3.4])
    for w in (np.array([6.0, 30.0, 4.0]), np.array([1.0, 10.0, 3.0])):
        rate = lambda t, u: (
            np.array([(I[1] - I[2]) * u[1] * u[2], (I[2] - I[0]) * u[2] * u[0], (I[0] - I[1]) * u[0] * u[1]]) / I
        )
        end = solve_ivp(rate, (0.0, 0.7), w, rtol=1e-12, atol=1e-12, method="DOP853").y[:, -1]
        assert np.allclose(classics._free_rotation(tuple(I), w, 0.7), end, atol=1e-7 * np.linalg.norm(w))


def test_tops_and_collisions():
    method, order = classics.METHODS["RK4"]
    coarse, fine = (classics._flip(method, h) for h in (4e-3, 2e-3))
    assert np.log2(coarse / fine) == pytest.approx(order, abs=0.3) and fine < 1e-5
    coarse, fine = (classics._top(method, h) for h in (4e-3, 2e-3))
    assert np.log2(coarse / fine) > order - 0.3 and fine < 1e-3
    assert classics._plastic(2.5e-3) < 1e-9


def test_friction_of_many_contacts_settles():
    """Normal impulses that shift between equivalent contacts used to chase the limits of friction for ever."""
    contact = RowContact(mu=0.3, thickness=1e-3)
    scene = Scene(
        [cost.bed(16), cost.arm(1.2e-3)], contact=contact, integrator=LinearlyImplicit(), h=2e-3, duration=8e-3
    )
    steps = list(simulate(scene))
    assert all(s.report.converged for s in steps) and steps[-1].report.contacts > 10

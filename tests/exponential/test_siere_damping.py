"""SIERE under damping that couples its modes with the rest: friction of contacts, strong viscosity."""

import numpy as np
import pytest

import pliant as pl

G, MU = 9.81, 0.3


def block(slope, h):
    """A block on an incline, 1 MPa."""
    angle = np.arctan(slope)
    body = pl.Solid(pl.mesh.bar(size=(0.1, 0.1, 0.05), cells=(2, 2, 1)), pl.StableNeoHookean(1e6, 0.3))
    gravity = (G * np.sin(angle), 0.0, -G * np.cos(angle))
    contact = pl.PenaltyContact(mu=MU)
    return pl.Scene(
        [body], integrator=pl.SIERE(5), contact=contact, obstacles=[pl.Plane()], gravity=gravity, h=h, duration=0.2
    )


@pytest.mark.parametrize("h", [0.001, 0.002])
def test_a_block_sticks_below_the_friction_angle(h):
    steps = list(pl.simulate(block(0.2, h)))
    assert max(step.ledger.energies["kinetic"] for step in steps) < 1e-3  # explicit coupling: 0.35 J
    assert abs(steps[-1].ledger.linear[0]) / 0.5 < 5e-3  # the creep of the friction law


def test_a_block_slides_above_it():
    *_, last = pl.simulate(block(0.6, 5e-4))  # 2.1 % off at 1 ms, 0.6 % here
    angle = np.arctan(0.6)
    assert last.ledger.linear[0] / 0.5 == pytest.approx(0.2 * G * (np.sin(angle) - MU * np.cos(angle)), rel=0.01)


@pytest.mark.parametrize("damping", [pl.Green(0.05), pl.Green(0.5), pl.Rayleigh(beta=0.05)])
def test_a_bar_in_honey_goes_where_bdf2_goes(damping):
    mesh = pl.mesh.bar(size=(0.3, 0.1, 0.1), cells=(4, 1, 1))
    tips = []
    for integrator in (pl.BDF2(), pl.SIERE(5)):
        pin = pl.Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
        body = pl.Solid(mesh, pl.StableNeoHookean(5e4, 0.4), damping=damping, pins=pin)
        *_, last = pl.simulate(pl.Scene([body], integrator=integrator, h=0.005, duration=0.4))
        tips.append(last.state.q.reshape(-1, 3)[mesh.X[:, 0] > 0.299, 2].mean())
    assert tips[1] == pytest.approx(tips[0], abs=5e-4)

"""Equilibria have no velocities: nothing rubs, nothing is damped, nothing has kinetic energy, however short h is."""

import numpy as np
import pytest

import pliant as pl

BLOCK = pl.mesh.bar((0.12, 0.12, 0.08), (4, 4, 2))
BASE = BLOCK.where(lambda X: X[:, 2] < 1e-9)


def pressed(contact):
    """A ball of 5 cm is pressed into a block."""
    ball = pl.Sphere((0.06, 0.06, 0.1301), 0.05, motion=pl.Keyframes((0, 1), ((0, 0, 0), (0, 0, -0.006))))
    body = pl.Solid(BLOCK, pl.StableNeoHookean(1e5, 0.3), pins=pl.Pin(BASE), name="block")
    return pl.Scene([body], pl.Quasistatic(), contact=contact, obstacles=[ball], gravity=(0, 0, 0), h=0.25, duration=1)


@pytest.mark.parametrize("kind", [pl.PenaltyContact, pl.BarrierContact])
def test_a_moving_obstacle_presses_but_does_not_rub(kind):
    """The base carries what the ball presses with; a ball that moves used to rub as if the block gave no way."""
    smooth, rough = (list(pl.simulate(pressed(kind(mu=mu)))) for mu in (0.0, 0.5))
    for a, b in zip(smooth, rough, strict=True):
        np.testing.assert_allclose(b.state.q, a.state.q, atol=1e-12)
        carried = b.system.energy_terms[0].gradient(b.state.q).reshape(-1, 3)[BASE].sum(axis=0)
        np.testing.assert_allclose(b.acted.contact.sum(axis=0), -carried, atol=1e-6)
        assert not b.acted.friction.any() and b.ledger.work["friction"] == 0.0
    assert rough[-1].acted.contact[:, 2].sum() < -5.0


def test_contact_damping_does_not_act():
    plain, damped = (list(pl.simulate(pressed(pl.PenaltyContact(mu=0.0, damping=k))))[-1] for k in (0.0, 2.0))
    np.testing.assert_allclose(damped.state.q, plain.state.q, atol=1e-12)
    assert damped.ledger.work["contact damping"] == 0.0


def stretched(h, steps=8):
    ends = [pl.Keyframes((0, steps * h), ((0, 0, 0), (x, 0, 0))) for x in (-0.03, 0.03)]
    pins = [pl.Pin(BLOCK.where(lambda X, x=x: abs(X[:, 0] - x) < 1e-9), end) for x, end in zip((0, 0.12), ends)]
    body = pl.Solid(BLOCK, pl.StableNeoHookean(1e5, 0.3), pins=pins, damping=pl.Rayleigh(beta=0.1), velocity=(1, 0, 0))
    scene = pl.Scene([body], pl.Quasistatic(), gravity=(0, 0, 0), h=h, duration=steps * h)
    return [step.ledger for step in pl.simulate(scene)]


def test_the_ledger_does_not_depend_on_h_and_has_no_kinetic_energy():
    slow, fast = stretched(1.0), stretched(1e-5)
    for a, b in zip(slow, fast, strict=True):
        assert b.energies["kinetic"] == 0.0 and b.work["damping"] == 0.0 and b.linear == (0.0, 0.0, 0.0)
        assert b.total == pytest.approx(a.total, rel=1e-9)
        assert b.work["scripts"] == pytest.approx(a.work["scripts"], rel=1e-6)


def test_the_work_of_scripts_is_the_elastic_energy():
    """By the trapezoidal rule: an error of order 2 in the size of the load steps."""
    off = {}
    for steps in (4, 8):
        rows = stretched(1.0, steps)
        off[steps] = sum(row.work["scripts"] for row in rows) / rows[-1].total - 1.0
        assert sum(row.numerical for row in rows) == pytest.approx(off[steps] * rows[-1].total, abs=1e-9)
    assert abs(off[8]) < 2e-3 and off[4] / off[8] == pytest.approx(4.0, rel=0.1)

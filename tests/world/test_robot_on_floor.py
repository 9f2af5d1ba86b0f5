"""A robot whose base is fixed and stands on the floor: contacts of what cannot move change nothing."""

import numpy as np
import pytest

import pliant as pl
from pliant.articulated import Link, at, cuboid
from pliant.articulated.joints import Fixed, Revolute


def swung(height, mu):
    """The arm of a robot whose base is ``height`` above the floor, with a die lying beside it."""
    base = Link(Fixed(), cuboid((0.1, 0.1, 0.1), 1000.0, at(0.0, 0.0, 0.05)), frame=at(0.0, 0.0, height), name="base")
    bar = cuboid((0.3, 0.04, 0.04), 500.0, at(0.15, 0.0, 0.0))
    arm = Link(Revolute((0, 1, 0)), bar, "base", at(0.0, 0.0, 0.3), "arm")
    die = pl.Rigid(pl.mesh.bar((0.06,) * 3, (1, 1, 1)).transformed(translate=(0.5, 0.2, 0.0)), name="die")
    robot = pl.Articulated([base, arm], name="robot")
    method = {"integrator": pl.LinearlyImplicit(), "contact": pl.RowContact(mu=mu), "obstacles": [pl.Plane()]}
    return list(pl.simulate(pl.Scene([robot, die], **method, h=0.005, duration=0.15)))


@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_a_base_on_the_floor_moves_as_one_above_it(mu):
    standing, floating = swung(0.0, mu), swung(0.001, mu)
    assert all(s.report.converged for s in standing)
    assert np.allclose(standing[-1].state.q, floating[-1].state.q, atol=1e-12)
    weight = 0.06**3 * 1000.0 * 9.81
    # rows lift what lies at 0 to their contact distance, by a fifth of the rest in every step
    assert standing[-1].acted.pairs["plane", "die"][2] == pytest.approx(weight, rel=1e-3)


@pytest.mark.parametrize("contact", [pl.PenaltyContact, pl.RowContact])
def test_bodies_that_never_touch_each_other_may_overlap(contact):
    dice = [
        pl.Rigid(pl.mesh.bar((0.06,) * 3, (1, 1, 1)).transformed(translate=(x, 0.0, 0.001)), name=f"die {x}")
        for x in (0.0, 0.03)
    ]
    rest = {"obstacles": [pl.Plane()], "integrator": pl.LinearlyImplicit(), "h": 0.005, "duration": 0.05}
    with pytest.raises(pl.errors.SceneError, match="bodies overlap at the start"):
        pl.Scene(dice, contact=contact(), **rest).initial()
    *_, last = pl.simulate(pl.Scene(dice, contact=contact(bodies=False), **rest))
    x = last.system.positions(last.state.q)
    assert np.ptp(x[:8] - x[8:], axis=0) == pytest.approx(0.0, abs=1e-9)  # nothing has pushed them apart
    with pytest.raises(pl.errors.SceneError, match="die 0.0.*plane"):
        low = [pl.Rigid(die.mesh.transformed(translate=(0.0, 0.0, -0.02)), name=die.name) for die in dice]
        pl.Scene(low, contact=contact(bodies=False), **rest).initial()

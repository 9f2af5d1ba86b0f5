"""Scenes that nothing outside acts on keep their momentum, whatever they are made of and however they are stepped."""

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.articulated import Articulated, Link, cuboid
from pliant.articulated.joints import Revolute
from pliant.bench.world.mixtures import STILL, chain, collision, soft_ball
from pliant.errors import SceneError
from pliant.simulate import simulate
from pliant.systems.isolated import rigid_rates
from pliant.systems.observed import Floating

H = 1e-3
METHODS = [
    (pl.LinearlyImplicit(), pl.RowContact(mu=0.3, thickness=1e-3)),
    (pl.BDF1(), pl.PenaltyContact(mu=0.3, thickness=1e-3)),
    (pl.BDF2(), pl.PenaltyContact(mu=0.3, thickness=1e-3)),
]


def mixture(integrator, contact, steps=12, h=H):
    return replace(collision(contact, integrator, h=h, duration=steps * h), isolated=True)


def momenta(ledger):
    return np.array([ledger.linear, ledger.angular])


@pytest.mark.parametrize(("integrator", "contact"), METHODS)
def test_a_chain_a_ball_and_a_cloth_that_collide_keep_both_momenta(integrator, contact):
    scene = mixture(integrator, contact)
    system = scene.system()
    start = scene.initial(system)
    before = np.array(system.momenta(start.q, start.v))
    *_, last = simulate(scene)
    assert last.report.contacts
    assert np.abs(momenta(last.ledger) - before).max() < 1e-14 * np.linalg.norm(before[0])


def test_rigid_rates_move_every_point_as_one_body():
    scene = mixture(*METHODS[1])
    system = scene.system()
    q = scene.initial(system).q + np.random.default_rng(1).normal(0.0, 0.1, system.size)
    assert all(isinstance(part, Floating) for part in system.parts)
    x = system.positions(q)
    fields = [np.tile(e, (len(x), 1)) for e in np.eye(3)] + [np.cross(e, x) for e in np.eye(3)]
    found = system.point_jacobian(q) @ rigid_rates(system, q)
    assert np.allclose(found, np.column_stack([f.ravel() for f in fields]), atol=1e-12)


@pytest.mark.parametrize("integrator", [pl.BDF1(), pl.BDF2(), pl.LinearlyImplicit()])
def test_the_order_of_the_method_stays(integrator):
    """Joint coordinates lose momentum by h^(p + 1) in a step; put back, a tumbling chain converges as without it."""

    def end(h, isolated=True):
        tumbling = chain(v=(0.0, 0.0, 0.0, 3.0, 0.0, 4.0, 2.0, -3.0))
        scene = pl.Scene([tumbling], integrator=integrator, gravity=STILL, h=h, duration=0.2, isolated=isolated)
        *_, last = simulate(scene)
        return last.system.positions(last.state.q)

    coarse, middle, fine = (end(h) for h in (4e-3, 2e-3, 1e-3))
    assert np.log2(np.abs(coarse - middle).max() / np.abs(middle - fine).max()) > integrator.order - 0.2
    assert np.abs(fine - end(1e-3, isolated=False)).max() > 1e-7  # it does something


def test_a_history_goes_on_after_the_change():
    first, *_ = simulate(mixture(pl.BDF2(), None))
    assert first.memory.continues(first.state, H)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"gravity": (0.0, 0.0, -9.81)}, "external forces"),
        ({"bodies": [soft_ball((0, 0, 0), (0, 0, 0))], "integrator": pl.Quasistatic()}, "momentum"),
        ({"bodies": [Articulated([Link(Revolute(np.array([0.0, 0.0, 1.0])), cuboid((0.1, 0.1, 0.1), 1e3))])]}, "joint"),
        ({"bodies": [replace(soft_ball((0, 0, 0), (0, 0, 0)), damping=pl.Rayleigh(alpha=1.0))]}, "external forces"),
        ({"bodies": [replace(soft_ball((0, 0, 0), (0, 0, 0)), pins=pl.Pin([0]))]}, "pins"),
    ],
)
def test_what_acts_from_outside_is_refused(change, what):
    with pytest.raises(SceneError, match=what):
        replace(mixture(pl.BDF1(), None), **change).initial()

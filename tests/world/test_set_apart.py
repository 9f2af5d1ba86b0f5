"""Bodies of all kinds that overlap at the start are moved apart as wholes, and nothing else changes."""

import numpy as np
import pytest

import pliant as pl
from pliant.articulated import Link, at, cuboid
from pliant.articulated.constraints import BallClosure
from pliant.articulated.joints import Free3D, Revolute
from pliant.articulated.se3 import frame, rotation
from pliant.contact.initial import OverlapError

BOX = pl.mesh.bar((0.1, 0.1, 0.1), (2, 2, 2))
CONTACTS = [
    (pl.RowContact(resolve_initial=True), pl.LinearlyImplicit()),
    (pl.PenaltyContact(resolve_initial=True), pl.BDF1()),
    (pl.BarrierContact(resolve_initial=True), pl.BDF1()),
]
SOFT = pl.StableNeoHookean("50 kPa", 0.4)


def start(bodies, contact=CONTACTS[0], floor=False, **options):
    """The scene, its system, its first state, and how far every point was moved (p, 3)."""
    obstacles = [pl.Plane()] if floor else []
    how = {"contact": contact[0], "integrator": contact[1], "obstacles": obstacles, "h": 1e-3, "duration": 2e-3}
    scene = pl.Scene(bodies, **how, **options)
    system = scene.system()
    state = scene.initial(system)
    began = np.concatenate([made.start.q for made in scene.parts()])
    return scene, system, state, system.positions(state.q) - system.positions(began)


def translations(moved, counts):
    """How far each body was moved; it must not have turned or changed its shape."""
    parts = np.split(moved, np.cumsum(counts)[:-1])
    assert all(np.ptp(part, axis=0).max() < 1e-12 for part in parts)
    return [part[0] for part in parts]


@pytest.mark.parametrize("contact", CONTACTS, ids=lambda c: type(c[0]).__name__)
def test_dice_leave_each_other_by_equal_ways(contact):
    dice = [pl.Rigid(BOX.transformed(translate=(0.02, 0.03, z)), velocity=(0, 0, 1), spin=(1, 2, 3)) for z in (0, 0.08)]
    scene, system, state, moved = start(dice, contact)
    one, two = translations(moved, [len(BOX.X)] * 2)
    assert np.allclose(one, -two) and 0.02 < two[2] - one[2] < 0.021
    assert np.allclose(one[:2], 0.0)
    assert np.array_equal(state.v, np.concatenate([made.start.v for made in scene.parts()]))
    assert all(step.report.converged for step in pl.simulate(scene))


def walker(q=(0.0,) * 7, **options):
    turned = frame(rotation((1, 2, 3), 0.7), (0.0, 0.0, 0.02))  # of the root: its coordinates are along other axes
    links = [
        Link(Free3D(), cuboid((0.2, 0.1, 0.05), 500.0), frame=turned, name="trunk"),
        Link(Revolute((0, 1, 0)), cuboid((0.05, 0.05, 0.2), 500.0, at(0, 0, -0.1)), "trunk", at(0.1, 0, -0.03), "leg"),
    ]
    return pl.Articulated(links, q=q, name="walker", **options)


@pytest.mark.parametrize("contact", CONTACTS, ids=lambda c: type(c[0]).__name__)
def test_a_robot_that_stands_in_the_floor_is_lifted_as_a_whole(contact):
    q = np.array([0.1, 0.0, 0.05, 0.2, -0.1, 0.3, 0.4])
    _, system, state, moved = start([walker(q)], contact, floor=True)
    (up,) = translations(moved, [len(moved)])
    assert up[2] > 0.1 and np.allclose(up[:2], 0.0, atol=1e-12)
    assert np.array_equal(state.q[3:], q[3:])
    assert system.positions(state.q)[:, 2].min() == pytest.approx(0.0, abs=2e-3)


def test_a_block_leaves_the_arm_that_cannot_move():
    rod = cuboid((0.3, 0.05, 0.05), 500.0, at(0.15, 0, 0))
    arm = pl.Articulated([Link(Revolute((0, 1, 0)), rod)], q=[0.3], name="arm")
    block = pl.Rigid(BOX.transformed(translate=(0.1, -0.05, -0.09)), name="block")
    _, _, state, moved = start([arm, block])
    count = len(rod.points)
    assert not moved[:count].any() and np.abs(moved[count:]).max() > 1e-3


def test_what_is_attached_goes_along():
    pad = pl.Solid(BOX.transformed(translate=(0.0, 0.0, 0.1)), SOFT, name="pad")
    die = pl.Rigid(BOX.transformed(translate=(0.0, 0.0, -0.02)), name="die")
    tie = pl.Attachment("pad", np.flatnonzero(BOX.X[:, 2] < 1e-9), "die", contact=False)
    _, _, _, moved = start([pad, die], floor=True, attachments=[tie])
    (up,) = translations(moved, [len(moved)])
    assert up[2] == pytest.approx(0.02, abs=1e-3)


def test_robots_on_the_ground_and_what_is_held_stay():
    base = pl.Articulated([Link(Revolute((0, 1, 0)), cuboid((0.3, 0.05, 0.05), 500.0))], name="base")
    with pytest.raises(OverlapError, match="robots on the ground"):
        start([base], floor=True)
    tied = walker(constraints=[BallClosure("leg", np.zeros(3), None, np.array([0.1, 0.0, -0.11]))])
    with pytest.raises(OverlapError, match="robots on the ground"):
        start([tied], floor=True)

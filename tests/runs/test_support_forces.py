"""Reactions of pins and scripts carry the loads: forces and moments balance at rest, dP/dt is their sum in motion."""

import numpy as np
import pytest

import pliant as pl

BAR = pl.mesh.bar((0.3, 0.1, 0.1), (4, 2, 2))
FOOT = BAR.where(lambda X: X[:, 0] < 1e-9)
TIP = BAR.where(lambda X: X[:, 0] > 0.3 - 1e-9)
WEIGHT = np.array([0.0, 0.0, -3.0 * 9.81])
PUSH = np.array([1.0, -2.0, 3.0])


def bar(**options):
    return pl.Solid(BAR, pl.StableNeoHookean(1e6, 0.4), name="bar", **{"pins": pl.Pin(FOOT), **options})


def test_statics_of_a_cantilever(tmp_path):
    """Forces and moments about the origin; damping, which does not act in equilibrium, is not felt."""
    push = pl.Push(TIP, (0.0, 1.0), ((0, 0, 0), tuple(PUSH)), body="bar")
    body = bar(damping=pl.Rayleigh(beta=1.0))
    scene = pl.Scene([body], pl.Quasistatic(), forces=[push], h=0.25, duration=1)
    run = pl.record(scene, tmp_path, output=pl.Output(channels=("reaction_force",)))
    frame = run.frames[-1]
    r, x = frame.point_values["reaction_force"], frame.points
    assert not np.delete(r, FOOT, axis=0).any()
    np.testing.assert_allclose(r.sum(axis=0), -WEIGHT - PUSH, atol=1e-5)
    m = body.masses().diagonal()
    share = np.zeros(len(m))
    share[TIP] = m[TIP] / m[TIP].sum()
    loads = m[:, None] * (0, 0, -9.81) + share[:, None] * PUSH
    np.testing.assert_allclose(np.cross(x, r + loads).sum(axis=0), 0.0, atol=1e-5)
    np.testing.assert_allclose(run.frames[0].point_values["reaction_force"].sum(axis=0)[:2], 0.0, atol=1e-9)


@pytest.mark.parametrize("options", [{}, {"lumped": False}, {"damping": pl.Rayleigh(beta=1e-2)}])
def test_impulses_of_a_falling_cantilever(options):
    """BDF1 balances forces at the end of a step: h times weight and reactions is the change of momentum."""
    scene = pl.Scene([bar(**options)], pl.BDF1(), h=0.004, duration=0.04)
    before = np.zeros(3)
    for step in pl.simulate(scene):
        r = step.support_forces().sum(axis=0)
        np.testing.assert_allclose(np.subtract(step.ledger.linear, before) / 0.004, WEIGHT + r, atol=1e-4)
        before = step.ledger.linear
    assert abs(r[2]) > 1.0


@pytest.mark.parametrize("method", [pl.BDF2(), pl.TRBDF2(), pl.Verlet(substeps=10)])
def test_a_shaken_body_that_is_held_all_over_needs_its_mass_times_acceleration(method):
    shaken = pl.Pin(np.arange(len(BAR.X)), pl.Shake((0.01, 0.0, 0.0), 5.0))
    scene = pl.Scene([bar(pins=shaken)], method, h=0.01, duration=0.08)
    for step in pl.simulate(scene):
        omega = 10.0 * np.pi
        inertia = -3.0 * 0.01 * omega**2 * np.sin(omega * step.state.t)
        np.testing.assert_allclose(step.support_forces().sum(axis=0), [inertia, 0, 0] - WEIGHT, atol=1e-3)


def test_ties_hand_their_loads_to_what_is_pinned():
    """A skin that hangs on held vertices: its weight reaches the pins through the ties alone."""
    skin = pl.mesh.sheet((0.1, 0.1), (2, 2)).transformed(translate=(0.0, 0.0, 0.1))
    cover = pl.Membrane(skin, pl.StableNeoHookean(1e5, 0.4), thickness=1e-3, density=1100, name="skin")
    held = bar(pins=pl.Pin(np.arange(len(BAR.X))))
    tie = pl.Attachment("skin", np.arange(len(skin.X)), "bar")
    scene = pl.Scene([held, cover], attachments=[tie], integrator=pl.BDF1(), h=0.01, duration=0.05)
    *_, step = pl.simulate(scene)
    r = step.support_forces()
    np.testing.assert_allclose(r.sum(axis=0), -WEIGHT + [0, 0, 0.1 * 0.1 * 1e-3 * 1100 * 9.81], atol=1e-6)


def test_a_plate_that_presses_feels_what_it_presses_on():
    """A scripted plate on a free block on a floor: all forces together change the momentum."""
    block = pl.mesh.bar((0.1, 0.1, 0.05), (3, 3, 2))
    slab = pl.mesh.bar((0.14, 0.14, 0.02), (2, 2, 1)).transformed(translate=(-0.02, -0.02, 0.0501))
    down = pl.Keyframes((0.0, 0.1), ((0, 0, 0), (0, 0, -0.005)))
    soft = pl.StableNeoHookean(1e5, 0.3)
    plate = pl.Solid(slab, soft, pins=pl.Pin(np.arange(len(slab.X)), down), name="plate")
    body = pl.Solid(block, soft, name="block")
    contact = pl.PenaltyContact(mu=0.0)
    scene = pl.Scene([plate, body], pl.BDF1(), contact=contact, obstacles=[pl.Plane()], h=0.005, duration=0.1)
    masses = [np.asarray(b.masses().sum(axis=1)).ravel() for b in (plate, body)]
    m = np.concatenate(masses)[:, None]
    before = None
    for step in pl.simulate(scene):
        v, r = step.state.v.reshape(-1, 3), step.support_forces()
        if before is not None:
            change = (m * (v - before))[len(slab.X) :].sum(axis=0) / 0.005  # the plate moves evenly
            floor = step.acted.pairs["plane", "block"]
            np.testing.assert_allclose(change, r.sum(axis=0) + floor + m.sum() * np.array([0, 0, -9.81]), atol=1e-3)
        before = v
    assert r[:, 2].sum() < -20.0


@pytest.mark.parametrize(
    ("method", "contact"),
    [
        (pl.LinearlyImplicit(), pl.RowContact()),
        (pl.LinearlyImplicit(), pl.PenaltyContact()),
        (pl.BDF2(), pl.BarrierContact()),
    ],
)
def test_a_held_slab_carries_what_rests_on_it(method, contact):
    block = pl.mesh.bar((0.1, 0.1, 0.05), (2, 2, 1))
    slab = pl.mesh.bar((0.14, 0.14, 0.02), (2, 2, 1)).transformed(translate=(-0.02, -0.02, -0.0201))
    soft = pl.StableNeoHookean(1e5, 0.3)
    below = pl.Solid(slab, soft, pins=pl.Pin(np.arange(len(slab.X))), name="slab")
    above = pl.Solid(block, soft, name="block", damping=pl.Rayleigh(alpha=5.0, beta=1e-2))
    *_, step = pl.simulate(pl.Scene([below, above], method, contact=contact, h=0.01, duration=0.6))
    weight = 9810.0 * (0.1 * 0.1 * 0.05 + 0.14 * 0.14 * 0.02)
    np.testing.assert_allclose(step.support_forces().sum(axis=0), [0.0, 0.0, weight], atol=1e-3)

"""Runs that begin with velocities which ties do not allow: every method gives them up in the same impact."""

import warnings

import numpy as np
import pytest

import pliant as pl
from pliant.articulated import Link, at, cuboid
from pliant.articulated.constraints import CoupledJoints
from pliant.articulated.joints import Revolute

SOFT = pl.StableNeoHookean("50 kPa", 0.4)
LOWER = pl.mesh.bar((0.1, 0.1, 0.1), (1, 1, 1))
UPPER = LOWER.transformed(translate=(0, 0, 0.1))
SEAM = UPPER.where(lambda X: X[:, 2] < 0.1 + 1e-9)
EXPLICIT = [pl.RK4(), pl.Verlet(), pl.SymplecticEuler(), pl.ExplicitEuler()]
name = lambda integrator: type(integrator).__name__


def blocks(integrator, pins=(), h=2.5e-4, duration=0.01):
    """Two blocks grown together, the upper one thrown upwards."""
    bodies = [
        pl.Solid(LOWER, SOFT, name="lower", pins=pins),
        pl.Solid(UPPER, SOFT, name="upper", velocity=(0.2, 0, 1.0)),
    ]
    tie = pl.Attachment("upper", SEAM, "lower")
    return pl.Scene(bodies, integrator, h, duration, gravity=(0, 0, 0), attachments=[tie])


def gap(step):
    x = step.system.positions(step.state.q)
    return np.abs(x[: len(LOWER.X)][LOWER.X[:, 2] > 0.1 - 1e-9] - x[len(LOWER.X) :][SEAM]).max()


@pytest.mark.parametrize("integrator", [*EXPLICIT, pl.ImplicitMidpoint(), pl.SDIRK2(), pl.BDF2()], ids=name)
def test_ties_close_in_every_method_and_the_impact_takes_what_backward_euler_says_it_takes(integrator):
    """Two free blocks share their momentum, and the energy of the first step falls to that of an inelastic impact."""
    *_, exact = pl.simulate(blocks(pl.BDF1(), h=1e-6, duration=1e-6))
    steps = list(pl.simulate(blocks(integrator)))
    assert max(gap(step) for step in steps) < 1e-12
    assert abs(steps[0].ledger.total - exact.ledger.total) < 0.02 * exact.ledger.total
    for step in steps:
        assert np.allclose(step.ledger.linear, exact.ledger.linear, atol=1e-9)


@pytest.mark.parametrize("integrator", [pl.RK4(), pl.Verlet(), pl.ImplicitMidpoint(), pl.SDIRK2()], ids=name)
def test_methods_of_higher_order_agree_on_the_motion_after_it(integrator):
    held = pl.Pin(LOWER.where(lambda X: X[:, 2] < 1e-9))
    *_, one = pl.simulate(blocks(integrator, held))
    *_, other = pl.simulate(blocks(pl.TRBDF2(), held))
    moved = np.abs(other.state.q - np.concatenate([LOWER.X, UPPER.X]).ravel()).max()
    assert np.abs(one.state.q - other.state.q).max() < 3e-3 * moved
    assert abs(one.ledger.total - other.ledger.total) < 2e-3 * other.ledger.total


@pytest.mark.parametrize("integrator", [pl.RK4(), pl.Verlet()], ids=name)
def test_ties_to_what_a_script_moves_follow_it_from_the_start(integrator):
    """A script that is under way at t = 0 moves its vertices at once, whatever their initial velocities say."""
    held = pl.Pin(LOWER.where(lambda X: X[:, 2] > 0.1 - 1e-9)[:2], pl.Shake((0.01, 0.0, 0.0), 3.0))
    *_, one = pl.simulate(blocks(integrator, held))
    *_, other = pl.simulate(blocks(pl.TRBDF2(), held))
    moved = np.abs(other.state.q - np.concatenate([LOWER.X, UPPER.X]).ravel()).max()
    assert np.abs(one.state.q - other.state.q).max() < 3e-3 * moved


@pytest.mark.parametrize("integrator", EXPLICIT, ids=name)
def test_joints_that_move_together_do_so_from_the_start(integrator):
    """Feedback alone, at 5 1/s, would take a second to slow the second joint down."""
    beam = cuboid((0.2, 0.05, 0.05), 1000.0, at(0.1, 0, 0))
    links = [
        Link(Revolute((0, 0, 1)), beam, parent, at(0.2 if parent else 0.0, 0, 0), link)
        for parent, link in ((None, "a"), ("a", "b"))
    ]
    arm = pl.Articulated(links, constraints=[CoupledJoints("a", "b", 0.5)], v=(1.0, 3.0))
    for step in pl.simulate(pl.Scene([arm], integrator, 1e-3, 0.02, gravity=(0, 0, 0))):
        a, b = step.state.v
        assert abs(b - 0.5 * a) < 1e-2


def test_an_explicit_run_goes_on_with_the_same_bytes():
    scene = blocks(pl.Verlet(2))
    steps = list(pl.simulate(scene))
    half = steps[len(steps) // 2]
    *_, last = pl.simulate(scene, start=half.checkpoint())
    assert last.state.q.tobytes() == steps[-1].state.q.tobytes()


def test_exact_ties_that_start_wide_open_are_told():
    """To the nearest point of a sheet two centimetres below: a step would throw the block there."""
    sheet = pl.mesh.sheet((0.3, 0.3), (2, 2))
    block = LOWER.transformed(translate=(0.1, 0.1, 0.02))
    low = block.where(lambda X: X[:, 2] < 0.02 + 1e-9)
    bodies = [pl.Cloth(sheet, name="net", pins=pl.Pin([0, 2, 6, 8])), pl.Solid(block, SOFT, name="block")]
    scene = lambda **tie: pl.Scene(
        bodies, pl.BDF1(), 1e-3, 1e-3, attachments=[pl.Attachment("block", low, "net", **tie)]
    )
    with pytest.warns(UserWarning, match="of 'block' start up to 0.02 m from where 'net' holds them exactly"):
        scene().system()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scene(stiffness=100.0).system()
        blocks(pl.BDF1()).system()

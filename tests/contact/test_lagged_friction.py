"""Lagged friction: right in the first step, and found anew until it agrees where that is asked for."""

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.articulated import at
from pliant.contact.obstacles import Plane
from pliant.maps.motions import Track
from pliant.mesh import box, sheet
from pliant.stage import Stage
from pliant.state import State

MU, SPEED, G, DHAT = 0.3, 1.0, 9.81, 1e-3


def sliding(contact: pl.BarrierContact, integrator: object, height: float, duration: float = 0.45) -> pl.Scene:
    """A block that slides on the floor, from ``height`` [m] above it."""
    mesh = box((0.2, 0.2, 0.1), (2, 2, 1)).transformed(translate=(0.0, 0.0, height))
    body = pl.Solid(mesh, pl.StableNeoHookean(2e5, 0.3), velocity=(SPEED, 0.0, 0.0), damping=pl.Rayleigh(beta=5e-3))
    return pl.Scene([body], contact=contact, obstacles=[Plane()], integrator=integrator, h=0.01, duration=duration)


@pytest.mark.parametrize("integrator, tolerance", [(pl.BDF1(), 0.06), (pl.BDF2(), 0.02)], ids=["BDF1", "BDF2"])
def test_a_barrier_that_is_tense_at_the_start_does_not_brake(integrator: object, tolerance: float) -> None:
    """The block stops after v^2 / (2 mu g), however hard the barrier pushes before the first step."""
    scene = sliding(pl.BarrierContact(dhat=DHAT, mu=MU), integrator, 2.0 / 3.0 * DHAT)
    x0 = scene.bodies[0].mesh.X[:, 0].mean()
    *_, step = pl.simulate(scene)
    way = step.state.q.reshape(-1, 3)[:, 0].mean() - x0
    assert way == pytest.approx(SPEED**2 / (2.0 * MU * G), rel=tolerance)
    assert abs(step.state.v.reshape(-1, 3)[:, 0].mean()) < 1e-2


def test_a_linearised_step_stops_a_slip_and_never_turns_it_round() -> None:
    """Blocks that slide and fall onto each other: no vertex is ever faster than what fell, and the lower one stops."""
    material, blocks = pl.StableNeoHookean(1e5, 0.4), []
    for k, v in enumerate([(0.5, 0.2, 0.0), (-0.3, 0.4, -1.0)]):
        mesh = box((0.1, 0.1, 0.1), (2, 2, 2)).transformed(translate=(0.01 * k, 0.0, 0.11 * k + 0.001))
        blocks.append(pl.Solid(mesh, material, density=600.0, velocity=v, name=f"block {k}"))
    scene = pl.Scene(
        blocks,
        contact=pl.PenaltyContact(mu=0.4),
        obstacles=[Plane()],
        integrator=pl.LinearlyImplicit(),
        h=5e-3,
        duration=0.4,
    )
    speeds = [step.state.v.reshape(-1, 3) for step in pl.simulate(scene)]
    assert max(float(np.linalg.norm(v, axis=1).max()) for v in speeds) < 2.0
    half = len(blocks[0].mesh.X)
    assert np.linalg.norm(speeds[-1][:half].mean(axis=0)) < 0.05


def test_friction_found_anew_agrees_with_the_root() -> None:
    """A block that lands while it slides: every step ends with friction from the normal forces of its own root."""
    contact = pl.BarrierContact(dhat=DHAT, mu=MU, friction_solves=30)
    for step in pl.simulate(sliding(contact, pl.BDF1(), 5.0 * DHAT, 0.06)):
        rubbing, pressing = step.acted.friction[:, 0].sum(), step.acted.contact[:, 2].sum()
        assert abs(-rubbing - MU * pressing) <= 2e-3 * MU * pressing + 1e-9
    assert pressing > 1.0


@pytest.mark.parametrize("solves, alarmed", [(2, True), (30, False)])
def test_friction_that_has_not_converged_raises_an_alarm(solves: int, alarmed: bool) -> None:
    contact = pl.BarrierContact(dhat=DHAT, mu=MU, friction_solves=solves)
    kinds = {a.kind for step in pl.simulate(sliding(contact, pl.BDF1(), 5.0 * DHAT, 0.06)) for a in step.report.alarms}
    assert ("friction" in kinds) == alarmed


def test_a_number_of_solves_is_one_at_least() -> None:
    with pytest.raises(pl.SceneError, match="friction_solves"):
        pl.BarrierContact(friction_solves=0)
    with pytest.raises(pl.SceneError, match="lagged"):
        pl.PenaltyContact(friction_solves=2, lagged=False)


def test_cloth_rests_half_its_thickness_above_the_floor() -> None:
    thick = 2e-3
    mesh = sheet((0.2, 0.2), (4, 4)).transformed(translate=(0.0, 0.0, 3e-3))
    cloth = pl.Cloth(mesh, thickness=thick, damping=pl.Rayleigh(alpha=5.0))
    scene = pl.Scene([cloth], contact=pl.PenaltyContact(), obstacles=[Plane()], integrator=pl.BDF1(), duration=0.3)
    *_, step = pl.simulate(scene)
    z = step.state.q.reshape(-1, 3)[:, 2]
    np.testing.assert_allclose(z, 0.5 * thick, atol=0.1 * thick)


def test_an_obstacle_that_comes_nearer_in_a_step_rubs_as_hard_as_it_pressed_before() -> None:
    """Normal forces are those of where the step starts, for what moves by itself too: links would have the same."""
    rising = Track((0.0, 1.0), np.array([np.eye(4), at(0.0, 0.0, 1.0)]))
    scene = sliding(pl.PenaltyContact(mu=MU), pl.BDF1(), 0.1 - 1e-3)
    scene = replace(scene, obstacles=[Plane(motion=rising)])
    model, x, t = scene.system().contact, scene.bodies[0].mesh.X.ravel(), 0.1  # the floor is 1 mm inside by then
    v = np.tile((SPEED, 0.0, 0.0), len(x) // 3)
    pressed = model.touch(x, v, t).normal_force.sum()
    (friction,) = model.at(State(x, v, t), t + 1e-3, 1e-3).forces
    assert pressed > 1.0
    assert -friction.force(x, v, t).reshape(-1, 3)[:, 0].sum() == pytest.approx(MU * pressed, rel=1e-6)


@pytest.mark.parametrize("contact", [pl.PenaltyContact(mu=0.8), pl.BarrierContact(mu=0.8)], ids=["penalty", "barrier"])
def test_the_jacobian_of_a_stage_knows_that_friction_turns_with_what_it_rubs(contact: object) -> None:
    """A heavy block that lands on a light one while it turns, where directions change with the touched triangles."""
    below = box((0.2, 0.2, 0.05), (2, 2, 1)).transformed(translate=(0.0, 0.0, 1e-3))
    above = box((0.08, 0.08, 0.08), (1, 1, 1)).transformed(translate=(0.04, 0.07, 0.0515))
    rubber = pl.StableNeoHookean(2e5, 0.3)
    bodies = [pl.Solid(below, rubber, density=50.0), pl.Solid(above, rubber, density=5e3, velocity=(0.5, 0.2, -0.5))]
    scene = pl.Scene(bodies, contact=contact, obstacles=[Plane()], integrator=pl.BDF1(), h=0.01, duration=0.04)
    *_, step = pl.simulate(scene)
    system, state, h = step.system, step.state, 0.01
    stage = Stage(system, h, state.q + h * state.v, state.q, state.t + h, state.q + h * state.v, state)
    z = stage.frame[system.free] + 1e-5 * np.random.default_rng(0).normal(size=len(system.free))
    d = np.random.default_rng(1).normal(size=len(z))
    change = (stage.residual(z + 1e-9 * d) - stage.residual(z - 1e-9 * d)) / 2e-9
    (friction,) = stage.system.force_terms
    turned = h**2 * (friction.indefinite(stage.embed(z), stage.velocity(stage.embed(z)), stage.t) @ d)
    assert np.linalg.norm(turned) > 1e-4 * np.linalg.norm(change)
    assert np.linalg.norm(stage.jacobian(z, psd=False) @ d - change) < 0.02 * np.linalg.norm(turned)

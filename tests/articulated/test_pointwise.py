"""Backward Euler with the inertia of material points: the same motion to its order, by the minimum of a potential."""

import numpy as np
import pytest

import pliant as pl
from pliant.articulated import ArticulatedSystem, Link, at, cuboid
from pliant.articulated.forces import JointSpring
from pliant.articulated.joints import Free3D, Revolute, Spherical
from pliant.integrators import BDF1, RK4
from pliant.scenes.world_pile import mixed_pile
from pliant.simulate import simulate
from pliant.solvers import Newton, Tolerance
from pliant.stage import Stage
from pliant.state import State

TIGHT = Newton(tolerance=Tolerance(1e-12, 1e-14))
ROD = cuboid((0.1, 0.2, 0.5), 400.0, at(0.02, 0.0, -0.25))


def chain(forces=(), gravity=(0.0, 0.0, -9.81)):
    links = [
        Link(Free3D(), ROD, name="trunk"),
        Link(Spherical(), ROD, "trunk", at(0, 0, -0.5), name="arm"),
        Link(Revolute((0, 1, 0)), ROD, "arm", at(0, 0, -0.5), name="hand"),
    ]
    return ArticulatedSystem(links, forces, gravity=gravity)


def moving(system, seed=1):
    rng = np.random.default_rng(seed)
    n = len(system.rest)
    return State(0.4 * rng.normal(size=n), 2.0 * rng.normal(size=n))


def run(system, method, state, h, duration):
    memory = None
    for _ in range(round(duration / h)):
        step = method.step(system, state, h, memory)
        state, memory = step.state, step.memory
        assert all(report.converged for report in step.reports)
    return state


@pytest.mark.parametrize("forces", [(), (JointSpring("hand", 20.0, 0.5),)], ids=["free", "sprung"])
def test_the_motion_is_that_of_the_joints_to_first_order(forces):
    system = chain(forces)
    start, duration = moving(system), 0.08
    exact = run(system, RK4(), start, 2e-3, duration)
    errors = []
    for h in (4e-3, 2e-3):
        found = run(system, BDF1(TIGHT, points=True), start, h, duration)
        errors.append([np.abs(found.q - exact.q).max(), np.abs(found.v - exact.v).max()])
    orders = np.log2(np.array(errors[0]) / np.array(errors[1]))
    assert (orders > 0.85).all() and (orders < 1.3).all(), orders


def test_the_residual_is_the_slope_of_the_merit_and_the_jacobian_that_of_the_residual():
    system, h = chain(), 0.05
    start = moving(system)  # a tenth of a radian in this step, and more on the way of the differences
    target = start.q + h * start.v
    stage = Stage(system.pointwise(start, h), h, target, base=start.q, t=h, frame=target, start=start)
    assert stage.symmetric
    rng = np.random.default_rng(2)
    z = target + 0.1 * rng.normal(size=len(target))
    r, A = stage.residual(z), stage.jacobian(z, psd=False)
    for d in rng.normal(size=(4, len(z))):
        ahead, behind = z + 1e-5 * d, z - 1e-5 * d
        assert (stage.merit(ahead) - stage.merit(behind)) / 2e-5 == pytest.approx(r @ d, rel=1e-7)
        assert np.allclose((stage.residual(ahead) - stage.residual(behind)) / 2e-5, A @ d, rtol=1e-6, atol=1e-8)


def test_linear_momentum_is_kept_to_rounding():
    system = chain(gravity=(0.0, 0.0, 0.0))
    start = moving(system)
    end = run(system, BDF1(TIGHT, points=True), start, 0.02, 0.4)
    before, after = (system.momenta(s.q, s.v)[0] for s in (start, end))
    assert np.allclose(after, before, rtol=0.0, atol=1e-9 * np.abs(before).max())


def test_a_pile_of_all_kinds_converges_in_every_step():
    """In joint coordinates this one fails in its fifteenth step."""
    scene = mixed_pile(5, seed=1, duration=0.16)
    steps = list(simulate(scene))
    assert len(steps) == 16 and max(step.report.iterations for step in steps) < 100
    assert all(step.system.crossings(step.state.q, step.state.t) == 0 for step in steps)


def test_friction_between_parts_has_a_potential_in_such_a_step():
    scene = mixed_pile(5, seed=1, duration=0.06)
    last = list(simulate(scene))[-1]
    system, start, h = last.system, last.state, float(scene.h)
    target = start.q + h * start.v
    stage = Stage(system.pointwise(start, h), h, target, base=start.q, t=start.t + h, frame=target, start=start)
    assert stage.system.dissipation(target, start.v) > 0.0
    z = start.q + 1e-6 * np.random.default_rng(0).normal(size=len(start.q))
    r = stage.residual(z)
    for d in np.random.default_rng(1).normal(size=(3, len(z))):
        slope = (stage.merit(z + 1e-8 * d) - stage.merit(z - 1e-8 * d)) / 2e-8
        assert slope == pytest.approx(r @ d, rel=1e-4)


def test_meshes_do_not_feel_the_choice():
    box = pl.mesh.box((0.1, 0.1, 0.1), (1, 1, 1))
    body = pl.Solid(box, pl.StableNeoHookean(1e5, 0.4), velocity=(0.1, 0.0, 0.0))
    ends = [
        list(simulate(pl.Scene([body], integrator=BDF1(points=p), h=0.01, duration=0.03)))[-1] for p in (False, True)
    ]
    assert np.array_equal(ends[0].state.q, ends[1].state.q)

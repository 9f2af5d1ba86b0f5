"""Fully implicit steps with closed loops, coupled joints and motors: exact, of their order, honest."""

from dataclasses import replace

import numpy as np
import pytest

from pliant.articulated import RK45
from pliant.articulated.system import ArticulatedSystem
from pliant.closed_stage import ClosedStage, consistent
from pliant.errors import SceneError
from pliant.integrators import BDF1, BDF2, RK4, SDIRK2, TRBDF2, ImplicitMidpoint, LinearlyImplicit, Verlet
from pliant.scenes.redmax import NUMBERED, run, starting
from pliant.scenes.redmax.scene import EXACT
from pliant.solvers import QLB, HybridL1
from pliant.stage import Stage
from pliant.state import State

FIRST_ORDER = (BDF1(EXACT), LinearlyImplicit())


def gaps(scene, state):
    kin = scene.system().kinematics(state.q, state.v)
    return np.concatenate([r.g for r in scene.system().rows(kin, state.t, inequality=False)])


@pytest.mark.parametrize("number", [4, 8, 9, 32])
def test_the_jacobian_is_that_of_the_residual(number):
    scene = NUMBERED[number]()
    q, h = scene.initial().q, 0.02
    free = Stage(scene.system(), h, q + 0.01, q, h, q, scene.initial())
    stage = ClosedStage(free, free.closures(q))
    rng = np.random.default_rng(3)
    z = stage.joined(q + 0.02 * rng.normal(size=len(q)))
    z[len(q) :] = rng.normal(size=len(z) - len(q))
    J, e = stage.jacobian(z, psd=False).toarray(), 1e-6
    for i, d in enumerate(np.eye(len(z))):
        numeric = (stage.residual(z + e * d) - stage.residual(z - e * d)) / (2 * e)
        assert np.allclose(J[:, i], numeric, atol=2e-7 * np.abs(J).max())


@pytest.mark.parametrize("method", [BDF1(EXACT), BDF2(EXACT), TRBDF2(EXACT)], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("number", [4, 7, 8, 15])
def test_loops_and_couplings_stay_closed(number, method):
    scene = NUMBERED[number]()
    steps = run(scene, integrator=method, steps=30)[1:]
    assert all(r.converged for s in steps for r in s.reports)
    assert max(np.abs(gaps(scene, s.state)).max() for s in steps) < 1e-8
    assert max(r.iterations for s in steps for r in s.reports) <= 4


@pytest.mark.parametrize(
    "method", [BDF1(EXACT), BDF2(EXACT), TRBDF2(EXACT), RK4(), Verlet()], ids=lambda m: type(m).__name__
)
@pytest.mark.parametrize("number", [4, 32])
def test_observed_order_with_a_loop_is_the_declared_one(number, method):
    """Scene 32 also has a motor: its multiplier and that of the loop act at once."""
    scene, duration = NUMBERED[number](), 0.16
    scene = starting(scene, consistent(scene.system(), scene.initial()))
    exact = RK45(1e-11, 1e-12).step(scene.system(), scene.initial(), duration).state
    errors = []
    for h in (4e-3, 2e-3):
        last = run(replace(scene, h=h), integrator=method, steps=round(duration / h))[-1].state
        errors.append(max(np.abs(last.q - exact.q).max(), np.abs(last.v - exact.v).max()))
    assert abs(np.log2(errors[0] / errors[1]) - method.order) < 0.35


def test_motor_torques_of_both_first_order_steps_have_one_limit():
    differences = []
    for h in (1e-3, 5e-4):
        steps = [run(replace(NUMBERED[32](), h=h), integrator=m, steps=round(0.05 / h))[-1] for m in FIRST_ORDER]
        assert all(abs(s.state.v[1] - 4 * np.pi) < 1e-6 for s in steps)
        a, b = steps[0].reactions.force(1)[0], steps[1].memory.part.force(1)[0]
        differences.append(abs(a / b - 1.0))
    assert differences[1] < 0.05 and 1.7 < differences[0] / differences[1] < 2.4


def test_a_motor_switched_on_gives_an_impulse_before_bdf2_starts():
    scene = NUMBERED[32]()
    v = consistent(scene.system(), scene.initial()).v
    assert abs(v[1] - 4 * np.pi) < 1e-9
    M = scene.system().mass(scene.initial().q).toarray()
    kin = scene.system().kinematics(scene.initial().q, scene.initial().v)
    G = np.concatenate([kin.project_rows(r.G) for r in scene.system().rows(kin, 0.0, inequality=False)])
    push = M @ v
    assert np.allclose(push, G.T @ np.linalg.lstsq(G.T, push, rcond=None)[0], atol=1e-9 * np.abs(push).max())


def test_redundant_closures_are_solved():
    base = NUMBERED[4]()
    one_system = base.system()
    constraints = (*one_system.constraints,) * 2
    twice = ArticulatedSystem(one_system.tree.links, constraints=constraints, gravity=(0, 0, -980))
    one, two = (BDF1(EXACT).step(m, base.initial(), base.h) for m in (one_system, twice))
    assert two.reports[0].converged and np.allclose(one.state.v, two.state.v, atol=1e-7)


def test_one_sided_constraints_are_refused_by_name():
    scene = NUMBERED[6]()
    with pytest.raises(SceneError, match="JointLimit is one-sided"):
        BDF1().step(scene.system(), scene.initial(), scene.h)
    floor = NUMBERED[31]()
    with pytest.raises(SceneError, match="FloorContact"):
        BDF2().step(floor.system(), State(floor.initial().q, floor.initial().v), floor.h)


def test_motor_torques_of_two_second_order_methods_agree():
    scene = replace(NUMBERED[32](), h=1e-3)
    scene = starting(scene, consistent(scene.system(), scene.initial()))
    a, b = (run(scene, integrator=m, steps=50)[-1].reactions.force(1)[0] for m in (BDF2(EXACT), TRBDF2(EXACT)))
    assert a == pytest.approx(b, rel=2e-3)


@pytest.mark.parametrize("method", [SDIRK2(), ImplicitMidpoint()], ids=lambda m: type(m).__name__)
def test_methods_that_would_find_wrong_forces_are_refused(method):
    """SDIRK2 finds -3467 in a row of scene 32 where TRBDF2 and BDF2 find 480; the midpoint rule swings ever higher."""
    scene = NUMBERED[32]()
    with pytest.raises(SceneError, match=f"{type(method).__name__} loses its order.*TRBDF2"):
        method.step(scene.system(), scene.initial(), scene.h)


@pytest.mark.parametrize("solver", [QLB(), HybridL1()], ids=["QLB", "HybridL1"])
def test_solvers_that_need_a_definite_matrix_refuse_loops(solver):
    scene = NUMBERED[4]()
    with pytest.raises(SceneError, match="positive definite.*Newton"):
        BDF1(solver).step(scene.system(), scene.initial(), scene.h)

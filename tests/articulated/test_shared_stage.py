"""Trees on the shared stage: any solver finds the same root, charts change on the way, systems say what steps them."""

import numpy as np
import pytest

from pliant.articulated import Articulated, ArticulatedSystem, Link, at, cuboid
from pliant.articulated.forces import JointSpring, PointSprings
from pliant.articulated.joints import Free3D, Revolute, Spherical
from pliant.errors import SceneError
from pliant.integrators import BDF1, BDF2, RK4, TRBDF2, ConJac, Quasistatic
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.solvers import LBFGS, QLB, QLF, HybridL1, HybridLP, Newton, NewtonPCG, Tolerance
from pliant.stage import Stage
from pliant.state import State

FINE = Tolerance(1e-10, 1e-13)


def sprung():
    """A tree with branches, its tips on springs."""
    rod = cuboid((0.1, 0.1, 0.6), 400.0, at(0, 0, -0.3))
    tip = np.array([0.0, 0.0, -0.3])
    links = [
        Link(Spherical(), rod, name="body"),
        Link(Revolute((0, 1, 0)), rod, "body", at(0, 0, -0.6), name="left"),
        Link(Revolute((1, 1, 0)), rod, "body", at(0, 0, -0.6), name="right"),
        Link(Spherical(), rod, "left", at(0, 0, -0.6), name="hand"),
    ]
    springs = [
        PointSprings(["hand", "right"], [tip, tip], [None, "hand"], [[0.5, 0, -1.5], tip], [400.0, 200.0]),
        JointSpring("left", 20.0, 0.5),
    ]
    return ArticulatedSystem(links, springs)


@pytest.mark.parametrize(
    "solver",
    [
        Newton(tolerance=FINE, project="on_demand"),
        NewtonPCG(tolerance=FINE),
        QLB(tolerance=FINE),
        QLF(tolerance=FINE),
        HybridL1(tolerance=FINE),
        HybridLP(tolerance=FINE),
        LBFGS(tolerance=FINE),
    ],
    ids=lambda s: type(s).__name__,
)
def test_every_solver_finds_the_root_of_newton(solver):
    system, rng = sprung(), np.random.default_rng(4)
    state = State(0.3 * rng.normal(size=8), rng.normal(size=8))
    exact = BDF1(Newton(tolerance=FINE)).step(system, state, 0.005)
    found = BDF1(solver).step(system, state, 0.005)
    assert exact.reports[0].converged and found.reports[0].converged, found.reports[0].message
    assert exact.reports[0].iterations <= 6
    assert np.allclose(found.state.q, exact.state.q, atol=1e-9)


def test_the_jacobian_of_a_stage_on_joints_is_exact():
    system, rng = sprung(), np.random.default_rng(7)
    q, v, h = 0.3 * rng.normal(size=8), rng.normal(size=8), 0.02
    stage = Stage(system, h, q + h * v, q, h, q + h * v, State(q, v))
    assert not stage.symmetric and stage.definite
    z, e = q + 0.05 * rng.normal(size=8), 1e-6
    J = stage.jacobian(z, psd=False).toarray()
    numeric = np.stack([(stage.residual(z + e * d) - stage.residual(z - e * d)) / (2 * e) for d in np.eye(8)], axis=1)
    assert np.allclose(J, numeric, atol=1e-8 * np.abs(J).max())
    assert not np.allclose(J, J.T, rtol=1e-4)


@pytest.mark.parametrize("integrator", [BDF2(Newton(tolerance=FINE)), TRBDF2(Newton(tolerance=FINE)), RK4()])
def test_a_body_turns_many_times(integrator):
    """Exponential coordinates end at 2 pi: they change their chart on the way, and BDF2 starts anew."""
    spin = np.array([3.0, 25.0, 1.0])
    start = State(np.zeros(6), np.concatenate([[0.1, 0.0, 0.0], spin]))
    body = Articulated([Link(Free3D(), cuboid((0.2, 0.3, 0.5), 800.0))], v=start.v)
    scene = Scene([body], h=1e-3, duration=1.0, integrator=integrator, gravity=(0, 0, 0))
    system = scene.system()
    steps = list(simulate(scene))
    turns = sum(np.linalg.norm(b.state.q[3:] - a.state.q[3:]) > 1.0 for a, b in zip(steps, steps[1:], strict=False))
    assert turns >= 2
    before = system.momenta(start.q, start.v)[1]
    after = system.momenta(steps[-1].state.q, steps[-1].state.v)[1]
    assert np.allclose(after, before, atol=2e-3 * np.linalg.norm(before))
    assert steps[-1].state.q[0] == pytest.approx(0.1, abs=1e-9)


def test_history_is_not_used_across_a_chart():
    spin = np.array([0.0, 25.0, 0.0])
    body = Articulated([Link(Spherical(), cuboid((0.2, 0.3, 0.5), 800.0))], v=spin)
    scene = Scene([body], h=1e-3, duration=0.4, integrator=BDF2(), gravity=(0, 0, 0))
    rates = [np.linalg.norm(step.state.v) for step in simulate(scene)]
    assert np.allclose(rates, 25.0, rtol=1e-3)  # a turn about a fixed axis stays a straight line in every chart


def test_what_steps_what():
    body = Articulated([Link(Spherical(), cuboid((0.2, 0.3, 0.5), 800.0))])
    for method in (BDF1(), TRBDF2(), RK4()):
        Scene([body], integrator=method)
    for method in (Quasistatic(), ConJac()):
        with pytest.raises(SceneError, match=f"{type(method).__name__} does not step Articulated .*; use .*BDF2"):
            Scene([body], integrator=method)


def test_a_step_from_another_chart_is_booked_from_there():
    system = ArticulatedSystem([Link(Spherical(), cuboid((0.2, 0.3, 0.5), 800.0))], gravity=(0, 0, 0))
    far = State(np.array([0.0, 1.8 * np.pi, 0.0]), np.array([0.0, 5.0, 0.0]))
    near = system.rechart(far)
    assert near is not far and np.linalg.norm(near.q) < np.pi
    assert np.allclose(system.positions(near.q), system.positions(far.q))
    assert np.allclose(system.momenta(near.q, near.v)[1], system.momenta(far.q, far.v)[1])
    assert system.rechart(near) is near
    body = Articulated(system.tree.links, q=far.q, v=far.v)
    step = next(iter(simulate(Scene([body], h=1e-2, duration=0.1, integrator=BDF1(), gravity=(0, 0, 0)))))
    assert step.ledger.numerical == pytest.approx(0.0, abs=1e-9)

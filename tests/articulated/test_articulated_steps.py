"""Steps: orders, conservation, equal results of all solvers, quadratic Newton, purity."""

from dataclasses import replace

import numpy as np
import pytest
from articulated_samples import pendulum

from pliant.articulated import (
    RK45,
    ArticulatedSystem,
    Dense,
    Link,
    MatrixFree,
    Sparse,
    at,
    cuboid,
)
from pliant.articulated.forces import SpringDamper
from pliant.articulated.joints import Free3D, Spherical
from pliant.integrators import (
    BDF1,
    BDF2,
    RK4,
    SDIRK2,
    TRBDF2,
    ImplicitMidpoint,
    LinearlyImplicit,
    SymplecticEuler,
    Verlet,
)
from pliant.scenes.redmax import NUMBERED, bridge, energy_change, run, tree
from pliant.scenes.redmax.scene import EXACT
from pliant.simulate import simulate
from pliant.solvers import Newton, Tolerance
from pliant.state import State

FINE = Newton(tolerance=Tolerance(1e-10, 1e-14))  # an error of positions is one over c of velocities, in every step
METHODS = (
    *(method(FINE) for method in (BDF1, BDF2, SDIRK2, TRBDF2, ImplicitMidpoint)),
    *(RK4(), Verlet(), SymplecticEuler()),
)
START = State(np.array([0.4, 1.1]), np.array([0.5, -0.3]))


def end(method, h, duration=0.2):
    system, state, memory = pendulum(2), START, None
    for _ in range(round(duration / h)):
        step = method.step(system, state, h, memory)
        state, memory = step.state, step.memory
    return np.concatenate([state.q, state.v])


@pytest.mark.parametrize("method", [LinearlyImplicit(), *METHODS], ids=lambda m: type(m).__name__)
def test_observed_order_is_the_declared_one(method):
    exact = end(RK45(1e-11, 1e-12), 0.2)
    errors = [np.abs(end(method, h) - exact).max() for h in (4e-3, 2e-3)]
    assert abs(np.log2(errors[0] / errors[1]) - method.order) < 0.25


def test_error_control_conserves_energy():
    for number in (-1, 1, 14):
        scene = NUMBERED[number]()
        step = RK45().step(scene.system(), scene.initial(), scene.duration)
        assert step.reports[0].converged
        assert (
            abs(
                energy_change(scene, step.state)
                - scene.system().energies(scene.initial().q, scene.initial().v, 0)["kinetic"]
            )
            < 20
        )


@pytest.mark.parametrize(
    "method", [LinearlyImplicit(), LinearlyImplicit(matrix=MatrixFree(1e-14))], ids=["dense", "pcg"]
)
def test_internal_springs_conserve_linear_momentum(method):
    ends = (np.array([0.5, 0.2, 0.0]), np.array([-0.3, 0.1, 0.2]))
    links = [Link(Free3D(), cuboid((1, 1, 2), 1.0), name=n, frame=at(x, 0, 0)) for n, x in (("a", 0.0), ("b", 3.0))]
    spring = SpringDamper(("a", ends[0]), ("b", ends[1]), 30.0, 1.0, 1.5)
    system = ArticulatedSystem(links, [spring], gravity=(0, 0, 0))
    rng = np.random.default_rng(1)
    state = State(0.1 * rng.normal(size=12), rng.normal(size=12))
    before = system.momenta(state.q, state.v)[0]
    for _ in range(20):
        state = method.step(system, state, 1e-2).state
    assert np.allclose(system.momenta(state.q, state.v)[0], before, atol=2e-9)


@pytest.mark.parametrize("scene", [bridge(12), tree(5), NUMBERED[23]()], ids=["bridge", "tree", "chain"])
def test_all_matrix_choices_agree(scene):
    u = [
        LinearlyImplicit(matrix=m).step(scene.system(), scene.initial(), scene.h).state.v
        for m in (Dense(), Sparse(), MatrixFree(1e-12), MatrixFree(1e-12, stiffness=False))
    ]
    for other in u[1:]:
        assert np.allclose(other, u[0], atol=1e-8 * np.abs(u[0]).max())


def test_iterations_hardly_grow():
    counts = []
    for levels in (4, 7):
        scene = tree(levels)
        counts.append(
            LinearlyImplicit(matrix=MatrixFree()).step(scene.system(), scene.initial(), scene.h).reports[0].counts.inner
        )
    assert counts[1] < 2.5 * max(counts[0], 1)
    scene = bridge(60)
    assert (
        LinearlyImplicit(matrix=MatrixFree()).step(scene.system(), scene.initial(), scene.h).reports[0].counts.inner
        <= 1
    )


@pytest.mark.parametrize("number", [4, 6, 8])
def test_constraints_behind_pcg_equal_the_direct_ones(number):
    scene = NUMBERED[number]()
    ends = [run(scene, integrator=LinearlyImplicit(matrix=m), steps=60)[-1].state for m in (Dense(), MatrixFree(1e-13))]
    assert np.allclose(ends[0].v, ends[1].v, atol=1e-6 * np.abs(ends[0].v).max())


def test_newton_on_joints_is_quadratic():
    history = BDF1(EXACT).step(pendulum(2), START, 0.05).reports[0].history
    r = [row["residual"] for row in history]
    assert len(r) >= 3 and r[2] < 1e3 * r[1] ** 2 / r[0] * 10


def test_steps_are_pure_and_fail_honestly():
    system = pendulum(2)
    q, v = START.q.copy(), START.v.copy()
    for method in (LinearlyImplicit(), BDF2(), RK4(), RK45()):
        one, two = method.step(system, START, 0.01), method.step(system, START, 0.01)
        assert np.array_equal(one.state.q, two.state.q)
    assert np.array_equal(START.q, q) and np.array_equal(START.v, v)
    wild = State(START.q, np.array([np.nan, 0.0]))
    step = LinearlyImplicit().step(system, wild, 0.01)
    assert not step.reports[0].converged


def test_restart_in_the_middle_changes_nothing():
    scene = replace(NUMBERED[27](), h=5e-3)
    whole = run(scene, steps=20)[-1]
    half = run(scene, steps=10)[-1]
    state, memory = half.state, half.memory
    for _ in range(10):
        step = scene.integrator.step(scene.system(), state, scene.h, memory)
        state, memory = step.state, step.memory
    assert np.array_equal(state.q, whole.state.q) and np.array_equal(state.v, whole.state.v)


def test_free_flight_conserves_both_momenta_under_error_control():
    arm = cuboid((1, 1, 2), 1.0, at(0, 0, 1))
    links = [Link(Free3D(), cuboid((1, 2, 3), 1.0)), Link(Spherical(), arm, 0, at(0, 0, 1.5))]
    system = ArticulatedSystem(links, gravity=(0, 0, 0))
    rng = np.random.default_rng(2)
    state = State(0.3 * rng.normal(size=9), rng.normal(size=9))
    before = system.momenta(state.q, state.v)
    after = RK45(1e-9, 1e-10).step(system, state, 2.0).state
    for a, b in zip(before, system.momenta(after.q, after.v), strict=True):
        assert np.allclose(a, b, atol=1e-6 * np.abs(a).max())


@pytest.mark.parametrize("number", [-1, 4, 27, 31])
def test_scenes_run_under_simulate(number):
    scene = replace(NUMBERED[number](), duration=0.1)
    steps = list(simulate(scene))
    assert len(steps) == scene.steps and all(s.report.converged for s in steps)
    assert np.array_equal(steps[-1].state.q, run(scene)[-1].state.q)
    assert np.isfinite(steps[-1].ledger.linear).all()


def test_the_certificate_counts_contacts_with_the_floor():
    last = list(simulate(replace(NUMBERED[31](), duration=1.0)))[-1]
    assert last.report.contacts == 1
    assert 0.0 <= last.report.penetration < 0.1  # of a ball of radius 1

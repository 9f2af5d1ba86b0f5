"""Every nonlinear solver: the same root, an honest report, purity."""

import numpy as np
import pytest
from small_systems import SCENES, beam_scene
from test_linearization import stage_of

from pliant.integrators import BDF1
from pliant.materials import StableNeoHookean
from pliant.solvers import QLB, QLF, SOLVERS, LineSearch, Newton, Tolerance
from pliant.solvers.pairs import Pairs
from pliant.solvers.qlb import AS_PUBLISHED
from pliant.stage import Stage
from pliant.testing import check_failure, check_solver

CASES = {
    "beam": beam_scene,
    "stiff beam": lambda: beam_scene(material=StableNeoHookean(E=1e6, nu=0.49)),
    "beam Rayleigh": SCENES["beam Rayleigh"],
    "net": SCENES["net"],
    "plane": SCENES["plane"],
}


def running_stage(scene, h=0.01):
    """The backward Euler stage of the fourth step of a run."""
    system = scene.system()
    state, memory = scene.initial(system), None
    for _ in range(3):
        step = BDF1().step(system, state, h, memory)
        state, memory = step.state, step.memory
    target, t = state.q + h * state.v, state.t + h
    return Stage(system, h, target, state.q, t, system.prescribe(target, t), state)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("choice", SOLVERS, ids=lambda c: c.__name__)
def test_root_report_purity(choice, case):
    check_solver(choice(), running_stage(CASES[case]()))


@pytest.mark.parametrize("choice", SOLVERS, ids=lambda c: c.__name__)
def test_failure_is_reported(choice):
    check_failure(choice(), stage_of(beam_scene(), c=0.02))


@pytest.mark.parametrize("choice", SOLVERS, ids=lambda c: c.__name__)
def test_memory_does_not_change_the_root(choice):
    solver = choice(tolerance=Tolerance(1e-9, 1e-14))
    first = stage_of(beam_scene(), seed=1)
    memory = solver.solve(first, first.frame[first.system.free]).memory
    stage = stage_of(beam_scene(), seed=2)
    guess = stage.frame[stage.system.free]
    fresh, reused = solver.solve(stage, guess), solver.solve(stage, guess, memory)
    assert reused.report.converged
    assert abs(fresh.z - reused.z).max() < 1e-8 * stage.system.scale


def test_counts_say_what_was_done():
    stage = stage_of(beam_scene(), c=0.01)
    guess = stage.frame[stage.system.free]
    newton = Newton().solve(stage, guess).report
    assert newton.counts.factorizations == newton.counts.fills == newton.iterations
    qlb = QLB().solve(stage, guess).report
    assert qlb.counts.factorizations == qlb.counts.fills == 1
    assert qlb.counts.solves == qlb.iterations


def test_a_solved_stage_costs_no_factorization():
    stage = stage_of(beam_scene(), c=0.01)
    root = Newton(tolerance=Tolerance(1e-13, 1e-16)).solve(stage, stage.frame[stage.system.free]).z
    report = QLB(tolerance=Tolerance(1e-6, 1e-9)).solve(stage, root).report
    assert report.converged
    assert report.counts.factorizations == 0


def test_two_loop_recursion_is_dense_bfgs():
    rng = np.random.default_rng(0)
    n = 12
    B = rng.normal(size=(n, n))
    H = np.linalg.inv(B @ B.T + n * np.eye(n))
    H0 = H.copy()
    A = B @ B.T + n * np.eye(n)
    pairs = Pairs(5)
    for _ in range(5):
        s = rng.normal(size=n)
        y = A @ s + 0.1 * rng.normal(size=n)
        rho = 1.0 / (s @ y)
        V = np.eye(n) - rho * np.outer(s, y)
        H = V @ H @ V.T + rho * np.outer(s, s)
        pairs.update(s, y)
    b = rng.normal(size=n)
    assert np.allclose(pairs.apply(b, lambda x: H0 @ x), H @ b, rtol=1e-12, atol=0)
    assert np.allclose(pairs.apply(y, lambda x: H0 @ x), s, rtol=1e-12, atol=0)  # the secant equation


def test_negative_curvature_is_skipped():
    pairs = Pairs(5)
    s = np.array([1.0, 0.0])
    pairs.update(s, -s)
    assert len(pairs) == 0


def test_qlf_is_qlb_without_pairs():
    stage = stage_of(beam_scene(), c=0.01)
    guess = stage.frame[stage.system.free]
    assert QLF().solve(stage, guess).z.tobytes() == QLB(**AS_PUBLISHED, m=0).solve(stage, guess).z.tobytes()


def test_line_search_refuses_ascent():
    stage = stage_of(beam_scene(), c=0.01)
    from pliant.clock import Clock
    from pliant.solvers.newton import start_trial

    now = start_trial(stage, stage.frame[stage.system.free], Clock())
    assert LineSearch().search(stage, now, now.r) is None


def test_factor_kept_across_steps():
    from pliant.integrators import BDF2

    scene = beam_scene()
    system = scene.system()
    state, memory = scene.initial(system), None
    integrator = BDF2(QLB(reuse="steps"))
    made = 0
    for _ in range(20):
        step = integrator.step(system, state, 0.005, memory)
        state, memory = step.state, step.memory
        made += sum(r.counts.factorizations for r in step.reports)
        assert all(r.converged for r in step.reports)
    assert made < 12

"""What convergence means: forces are felt at every h, and round-off is neither a failure nor an excuse."""

import numpy as np
import pytest

import pliant as pl
from pliant.bench.world.mixtures import collision
from pliant.errors import SceneError
from pliant.mesh import bar
from pliant.simulate import simulate
from pliant.solvers import QLB, HybridL1, Newton, Tolerance
from pliant.solvers.rounding import settled
from pliant.stage import Stage
from pliant.state import State

TIGHT = Newton(tolerance=Tolerance(relative=1e-14, absolute=0.0), project="on_demand")


def rod(E: float, size: float = 0.3, pinned: bool = False) -> pl.Solid:
    mesh = bar(size=(size, size / 3, size / 3), cells=(4, 1, 1))
    pins = pl.Pin(mesh.where(lambda X: X[:, 0] < 1e-9 * size)) if pinned else None
    return pl.Solid(mesh, pl.StableNeoHookean(E=E, nu=0.4), density=1000.0, **({"pins": pins} if pinned else {}))


def stage_of(scene: pl.Scene, velocity: float = 0.0) -> tuple[Stage, np.ndarray]:
    """The backward Euler stage of the first step, with the far end moving along the bar."""
    system = scene.system()
    q = scene.initial(system).q
    v = np.zeros_like(q)
    v[0::3] = velocity * system.X[:, 0] / system.X[:, 0].max()
    h = float(scene.h)
    target = q + h * v
    stage = Stage(system, h, target, q, h, system.prescribe(target, h), State(q, v))
    return stage, stage.frame[system.free]


@pytest.mark.parametrize("integrator", [pl.BDF1(), pl.BDF2(), pl.BDF2(solver=QLB()), pl.BDF1(solver=HybridL1())])
@pytest.mark.parametrize("h", [1e-6, 1e-5])
def test_a_free_body_receives_the_impulse_of_gravity_however_small_the_step(integrator, h):
    scene = pl.Scene(bodies=[rod(1e5)], integrator=integrator, h=h, duration=50 * h)
    *_, last = simulate(scene)
    assert last.state.t == pytest.approx(50 * h)
    fallen = last.system.momenta(last.state.q, last.state.v)[0][2] / last.system.total_mass
    assert fallen == pytest.approx(-9.81 * 50 * h, rel=1e-5)


def test_a_weak_pull_is_felt_as_well():
    scene = pl.Scene(bodies=[rod(1e3)], gravity=(0.0, 0.0, -1e-6), integrator=pl.BDF1(), h=1e-3, duration=0.02)
    *_, last = simulate(scene)
    assert last.state.v[2::3].mean() == pytest.approx(-1e-6 * 0.02, rel=1e-5)


@pytest.mark.parametrize("solver", [Newton(), QLB(), HybridL1()], ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("h", [1e-7, 1e-6])
def test_steel_in_steps_so_short_that_its_energy_cannot_tell_them(solver, h):
    """The energies of elements are differences of 10^8 J; what a step changes of them is below the rounding of that."""
    mesh = bar(size=(1.0, 0.05, 0.05), cells=(10, 1, 1))
    held = pl.Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
    body = pl.Solid(mesh, pl.StableNeoHookean(2e11, 0.3), density=7800.0, velocity=(0.01, 0.0, 0.0), pins=held)
    linear = pl.Solid(mesh, pl.Linear(2e11, 0.3), density=7800.0, velocity=(0.01, 0.0, 0.0), pins=held)
    still = {"gravity": (0.0, 0.0, 0.0), "h": h, "duration": 5 * h}
    *_, last = simulate(pl.Scene([body], integrator=pl.BDF2(solver=solver), **still))
    *_, same = simulate(pl.Scene([linear], integrator=pl.BDF2(), **still))
    assert last.report.converged
    assert np.abs(last.state.v - same.state.v).max() < 1e-4 * 0.01  # strains are 1e-7


def test_steel_that_vibrates_slowly_is_solved_at_a_microsecond():
    scene = pl.Scene(bodies=[rod(2e11, pinned=True)], gravity=(0, 0, 0), h=1e-6, duration=1e-6)
    stage, guess = stage_of(scene, velocity=0.01)
    found, exact = Newton().solve(stage, guess), TIGHT.solve(stage, guess)
    moved = np.abs(exact.z - guess).max()  # what the forces do in this step
    assert found.report.converged and found.report.iterations > 0
    assert np.abs(found.z - exact.z).max() < 1e-5 * moved


@pytest.mark.parametrize("solver", [Newton(), Newton(project="on_demand"), QLB(), HybridL1()])
def test_a_stiff_body_at_rest_does_not_fail(solver):
    scene = pl.Scene(bodies=[rod(1e13, pinned=True)], integrator=pl.BDF1(solver=solver), h=0.05, duration=0.5)
    steps = list(simulate(scene))
    assert all(s.report.converged for s in steps)
    assert steps[-1].report.error < 1e-12  # [m], although the residual is far above the tolerance in its own norm
    assert np.abs(steps[-1].state.v).max() < 1e-9


@pytest.mark.parametrize("E", [1e4, 1e13])
@pytest.mark.parametrize("h", [1e-6, 1e-3, 0.1])
@pytest.mark.parametrize("size", [1e-3, 100.0])
def test_the_stated_error_bounds_the_distance_to_a_tight_solve(E, h, size):
    scene = pl.Scene(bodies=[rod(E, size, pinned=True)], h=h, duration=h)
    stage, guess = stage_of(scene, velocity=0.01)
    found, exact = Newton().solve(stage, guess), TIGHT.solve(stage, guess)
    assert found.report.converged
    d = found.z - exact.z
    assert np.sqrt(d @ (stage.weights * d) / stage.mass) <= found.report.error + 4e-16 * size


def test_a_residual_that_is_more_than_round_off_is_not_taken_for_it():
    scene = pl.Scene(bodies=[rod(1e13, pinned=True)], h=0.05, duration=0.05)
    stage, guess = stage_of(scene)
    root = TIGHT.solve(stage, guess).z
    assert settled(stage, root, stage.residual(root)) is not None
    away = root * (1.0 + 1e-14)  # fifty roundings away
    assert settled(stage, away, stage.residual(away)) is None
    hasty = Newton(max_iterations=1).solve(stage, guess + 1e-3 * np.sin(np.arange(len(guess))))
    assert not hasty.report.converged


def test_round_off_that_hides_the_root_is_not_certified():
    """Nothing is said to be solved to a limit that the error in the positions exceeds."""
    scene = pl.Scene(bodies=[rod(1e13, pinned=True)], h=0.05, duration=0.05)
    stage, guess = stage_of(scene)
    strict = Newton(tolerance=Tolerance(relative=1e-18, absolute=0.0)).solve(stage, guess)
    assert not strict.report.converged and strict.report.error > 0.0


@pytest.mark.parametrize("value", [float("inf"), float("nan"), -1.0])
def test_a_tolerance_is_a_finite_number(value):
    with pytest.raises(SceneError, match="Tolerance"):
        Tolerance(relative=value)
    with pytest.raises(SceneError, match="Tolerance"):
        Tolerance(absolute=value)


@pytest.mark.parametrize("integrator", [pl.BDF1(), pl.BDF2()])
def test_a_ball_on_a_block_with_the_default_barrier_does_not_fail(integrator):
    """The residual stalls a little above the tolerance where pieces of the surface change places."""
    block = bar(size=(0.3, 0.3, 0.1), cells=(6, 6, 2))
    ball = pl.mesh.ball(radius=0.05, cells=4).transformed(translate=(0.15, 0.15, 0.16))
    rubber = pl.StableNeoHookean(E=1e7, nu=0.4)
    pins = pl.Pin(block.where(lambda X: X[:, 2] < 1e-9))
    bodies = [pl.Solid(block, rubber, density=1000.0, pins=pins, name="block"), pl.Solid(ball, rubber, density=1000.0)]
    scene = pl.Scene(bodies=bodies, contact=pl.BarrierContact(), integrator=integrator, h=5e-3, duration=0.15)
    steps = list(simulate(scene))
    assert all(s.report.converged and s.report.error < 5e-7 for s in steps)
    assert max(s.report.contacts for s in steps) > 0


def test_an_iteration_that_is_merely_cut_short_is_judged_by_the_residual_alone():
    scene = pl.Scene(bodies=[rod(1e4, pinned=True)], h=0.01, duration=0.01)
    stage, guess = stage_of(scene)
    report = Newton(max_iterations=2, tolerance=Tolerance(1e-12, 1e-15)).solve(stage, guess).report
    assert not report.converged and report.message == "iteration limit reached"


@pytest.mark.parametrize("contact", [pl.PenaltyContact(thickness=1e-3), pl.BarrierContact(dhat=1e-3)])
def test_a_mixture_that_stores_next_to_nothing_is_solved_to_round_off(contact):
    """Newton's method is quadratic up to there; the guide of its steps must not take its own round-off for a rise."""
    integrator = pl.BDF1(Newton(tolerance=Tolerance(relative=1e-12, absolute=1e-14)))
    (step,) = simulate(collision(contact, integrator, h=1e-3, duration=1e-3))
    assert step.report.converged and step.report.iterations <= 4

"""Early factors: refreshed when stale, replaced by the frozen one when a pivot is lost, the same root always."""

import numpy as np
import pytest

from pliant.bodies import Solid
from pliant.clock import Clock
from pliant.contact.obstacles import Plane
from pliant.integrators import BDF1, Quasistatic
from pliant.linear.dchol import FactorRate
from pliant.materials import StableNeoHookean
from pliant.mesh import bar as bar_mesh
from pliant.scene import Scene
from pliant.scenes.qlb import bar
from pliant.solvers import HybridL0, HybridL1, Newton, NewtonL0, Tolerance
from pliant.solvers.ldot import AS_PUBLISHED, stale
from pliant.stage import Stage
from pliant.systems.penalty_contact import PenaltyContact

MESH = bar_mesh(size=(0.3, 0.1, 0.1), cells=(9, 3, 3))


@pytest.fixture(scope="module")
def pulled():
    """The stage that takes BAR from rest to far beyond what one step of the script moves it."""
    scene = bar(integrator=Quasistatic(Newton()), damping=0.0, mesh=MESH)
    system = scene.system()
    state = scene.initial(system)
    t = 2.0  # stretched by half
    return Stage(system, 1.0, state.q, state.q, t, frame=system.prescribe(state.q, t), start=state, inertia=0.0)


def solve(solver, stage):
    solution = solver.solve(stage, stage.frame[stage.system.free])
    assert solution.report.converged, solution.report.message
    return solution


def test_a_stale_preconditioner_is_replaced(pulled):
    tight = Tolerance(1e-12, 1e-14)  # relative to the force of one layer of cells stretched by the whole way
    never = solve(NewtonL0(worth=None, tolerance=tight), pulled)
    fresh = solve(NewtonL0(worth=5, tolerance=tight), pulled)
    assert never.report.counts.factorizations == 1 < fresh.report.counts.factorizations
    assert fresh.report.counts.inner < never.report.counts.inner
    assert abs(fresh.z - never.z).max() < 1e-8 * pulled.system.scale


def test_a_factor_is_replaced_at_the_best_moment():
    """Iterations g, 2 g, ... after a factor worth C: the mean price (C + g n^2 / 2) / n is least at sqrt(2 C / g)."""
    growing = lambda n: [2 * k for k in range(1, n + 1)]
    replaced = next(n for n in range(1, 99) if stale(growing(n), 25))
    prices = [(25 + sum(growing(n))) / n for n in range(1, 99)]
    assert abs(replaced - (1 + int(np.argmin(prices)))) <= 1
    assert not stale([], 20) and not any(stale([4] * n, 20) for n in range(1, 99))  # levelled off: never
    assert stale([21], 20) and stale([200] * 3, 20)  # one solve is dearer than a factorization


def test_a_lost_pivot_costs_no_third_factorization(pulled, monkeypatch):
    monkeypatch.setattr(FactorRate, "pivot_ratio", lambda self, dt: 1.0 if dt == 0.0 else 0.0)
    fallen = solve(HybridL1(worth=None), pulled)
    frozen = solve(HybridL0(worth=None), pulled)
    assert fallen.report.counts.factorizations == 2
    assert fallen.report.iterations == frozen.report.iterations  # it went on with L itself


def test_buckling_bar_converges_with_every_step():
    scene = bar(integrator=Quasistatic(HybridL1(max_iterations=500)), damping=0.0, compression=0.4, mesh=MESH)
    system = scene.system()
    state, memory = scene.initial(system), None
    for _ in range(24):  # the compression of the script, through buckling, and the way back
        step = scene.integrator.step(system, state, float(scene.h), memory)
        state, memory = step.state, step.memory
        assert step.reports[0].converged, (state.t, step.reports[0].message)
    assert np.isfinite(state.q).all()


def test_a_factor_of_the_whole_step_sees_contacts_that_close_within_it():
    """A block that falls onto a floor in one step: the matrix ahead has springs that the one at its start has not."""
    mesh = bar_mesh(size=(0.1, 0.1, 0.1), cells=(3, 3, 3)).transformed(translate=(0.0, 0.0, 2e-3))
    body = Solid(mesh, StableNeoHookean(E=5e4, nu=0.45), velocity=(0.0, 0.0, -1.0))
    contact = PenaltyContact(mu=0.0, smoothing=0.0, bodies=False)
    scene = Scene([body], BDF1(), h=0.01, contact=contact, obstacles=[Plane()])
    system = scene.system()
    state = scene.initial(system)
    target = state.q + 0.01 * state.v
    stage = Stage(system, 0.01, target, state.q, 0.01, target, state)
    near = stage.jacobian(target[stage.system.free], coupled=False)

    def off(solver):
        """How far the early matrix is from the one where the contacts have closed."""
        factor, _ = solver._early(stage, target[stage.system.free], None, Clock())
        x = np.ones(len(stage.weights))
        return float(np.linalg.norm(factor.solve(near @ x) - x) / np.linalg.norm(x))

    assert off(HybridL1()) < 0.5 * off(HybridL1(**AS_PUBLISHED))
    assert solve(HybridL1(), stage).report.iterations <= solve(HybridL1(**AS_PUBLISHED), stage).report.iterations

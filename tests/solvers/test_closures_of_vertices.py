"""Closures of a system of vertices in the shared stage, against a second implementation that eliminates them."""

from copy import copy

import numpy as np
import pytest
import scipy.sparse as sp

from pliant.bodies import Solid
from pliant.closed_stage import ClosedStage, consistent
from pliant.errors import SceneError
from pliant.integrators import BDF1, BDF2, SDIRK2, TRBDF2, ImplicitMidpoint, Quasistatic
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar
from pliant.scene import Scene
from pliant.solvers import QLB, Newton, Tolerance
from pliant.solvers.constrained import ConstrainedSolver
from pliant.stage import Stage
from pliant.systems.closures import Closures
from pliant.systems.elastodynamics import Elastodynamics

TIGHT = Newton(tolerance=Tolerance(1e-12, 1e-15))


class Tied(Elastodynamics):
    """C q = d + rate t for some rows C over all coordinates; the last row gives its rate only, if ``rated``."""

    C: sp.csr_matrix
    d: np.ndarray
    rate: np.ndarray
    rated: bool = False

    def closures(self, q, v, t):
        positional = np.ones(len(self.d), dtype=bool)
        positional[-1] = not self.rated
        gap = np.where(positional, self.C @ q - self.d - self.rate * t, self.C @ v - self.rate)
        return Closures(gap, self.C, self.rate, positional, np.arange(len(self.d)))

    def acceleration(self, q, v, t):
        a, C = super().acceleration(q, v, t), self.C[:, self.free].toarray()
        X = np.linalg.solve(self.restrict(self.mass(q)).toarray(), C.T)
        a[self.free] -= X @ np.linalg.lstsq(C @ X, C @ a[self.free], rcond=1e-12)[0]
        return a

    def closure_tangent(self, q, v, t, y, w):
        scale = np.ones(len(self.d))
        scale[-1] = w if self.rated else 1.0
        return sp.csr_matrix((len(q), len(q))), sp.csr_matrix(sp.diags(scale) @ self.C)


def tied(rate=(0.0, 0.0), twice=False, rated=False):
    mesh = bar(size=(0.2, 0.1, 0.1), cells=(2, 1, 1))
    solid = Solid(mesh, StableNeoHookean(E=2e4, nu=0.4), pins=Pin(mesh.where(lambda X: X[:, 0] < 1e-9)))
    scene = Scene([solid])
    plain = scene.system()
    state = scene.initial(plain)
    system = copy(plain)
    system.__class__ = Tied
    free, C = plain.free, np.zeros((2, len(state.q)))
    C[0, free[2::3]] = 3.0 / len(free)  # the mean height of the free vertices, and a difference along y
    C[1, free[1]], C[1, free[4]] = 1.0, -1.0
    C, rate = (np.tile(C, (2, 1)), np.tile(rate, 2)) if twice else (C, np.array(rate))
    system.C, system.d, system.rate, system.rated = sp.csr_matrix(C), C @ state.q, rate, rated
    return plain, system, state


def test_the_root_and_its_forces_are_those_of_elimination():
    plain, system, state = tied()
    h = 0.02
    step = BDF1(TIGHT).step(system, state, h)
    assert step.reports[0].converged and step.reports[0].iterations <= 6
    C = system.C[:, plain.free]
    other = ConstrainedSolver(TIGHT, C, C @ state.q[plain.free])
    stage = Stage(plain, h, state.q + h * state.v, state.q, h, state.q, state)
    solution = other.solve(stage, stage.frame[plain.free])
    assert np.allclose(step.state.q[plain.free], solution.z, atol=1e-10)
    assert np.allclose(step.reactions.values, other.multipliers(stage, solution.z) / h**2, rtol=1e-6)


def test_the_jacobian_is_that_of_the_residual():
    _, system, state = tied(rate=(0.1, 0.3), rated=True)
    rng = np.random.default_rng(0)
    free = Stage(system, 0.02, state.q, state.q, 0.02, state.q, state)
    stage = ClosedStage(free, free.closures(state.q))
    z = stage.joined(state.q[system.free] + 0.01 * rng.normal(size=len(system.free)))
    z[-2:] = rng.normal(size=2)
    J, e = stage.jacobian(z, psd=False), 1e-6
    d = rng.normal(size=len(z))
    numeric = (stage.residual(z + e * d) - stage.residual(z - e * d)) / (2 * e)
    assert np.allclose(J @ d, numeric, atol=1e-7 * np.abs(numeric).max())


@pytest.mark.parametrize("method", [BDF1, BDF2, SDIRK2, TRBDF2, ImplicitMidpoint], ids=lambda m: m.__name__)
def test_flat_rows_stay_closed_under_every_method(method):
    _, system, state = tied()
    memory = None
    for _ in range(5):
        step = method(TIGHT).step(system, state, 0.01, memory)
        state, memory = step.state, step.memory
        assert all(report.converged for report in step.reports)
    assert np.abs(system.C @ state.q - system.d).max() < 1e-12


@pytest.mark.parametrize("rated", [False, True])
@pytest.mark.parametrize("method", [BDF1(TIGHT), BDF2(TIGHT), TRBDF2(TIGHT)], ids=lambda m: type(m).__name__)
def test_the_work_of_rows_that_move_is_the_energy_gained(method, rated):
    missing = []
    for h in (0.004, 0.002, 0.001):
        _, system, state = tied(rate=(0.3, 0.0) if not rated else (0.0, 0.3), rated=rated)
        state = consistent(system, state)
        done, memory, before = 0.0, None, sum(system.energies(state.q, state.v, 0.0).values())
        for _ in range(round(0.08 / h)):
            step = method.step(system, state, h, memory)
            state, memory, done = step.state, step.memory, done + step.work["motors"]
        missing.append(abs(done - sum(system.energies(state.q, state.v, state.t).values()) + before))
    assert abs(done) > 1e-3
    assert missing[2] < 0.7 * missing[0] and missing[2] < 0.2 * abs(done)


def test_redundant_rows_change_nothing():
    _, once, state = tied()
    _, twice, _ = tied(twice=True)
    a, b = (BDF1(TIGHT).step(system, state, 0.02) for system in (once, twice))
    assert b.reports[0].converged
    assert np.allclose(a.state.q, b.state.q, atol=1e-10)
    assert np.allclose(twice.C.T @ b.reactions.values, once.C.T @ a.reactions.values, atol=1e-7)


def test_equilibria_obey_closures_and_rates_alone_are_refused():
    plain, system, state = tied()
    system.d = system.d + np.array([0.01, 0.002])
    step = Quasistatic(TIGHT).step(system, state, 1.0)
    assert step.reports[0].converged
    assert np.abs(system.C @ step.state.q - system.d).max() < 1e-10
    f = plain.force(step.state.q, np.zeros_like(state.q), 0.0) + system.C.T @ step.reactions.values
    assert np.abs(f[plain.free]).max() < 1e-8 * np.abs(step.reactions.values).max()
    with pytest.raises(SceneError, match="prescribes a rate only"):
        Quasistatic(TIGHT).step(tied(rate=(0.0, 0.1), rated=True)[1], state, 1.0)


def test_a_solver_for_definite_matrices_says_who_can():
    _, system, state = tied()
    with pytest.raises(SceneError, match="QLB needs a positive definite matrix.*Newton"):
        BDF1(QLB()).step(system, state, 0.01)

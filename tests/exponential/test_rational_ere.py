"""ERE in a rational Krylov space: the step of the polynomial one where both are resolved, lively where it is not."""

import numpy as np
import pytest

from pliant.bodies import Rayleigh, Solid
from pliant.integrators import ERE, RK4, LinearlyImplicit
from pliant.maps.motions import Shake
from pliant.maps.pins import Pin
from pliant.materials import Linear, StableNeoHookean
from pliant.mesh import bar
from pliant.scene import Scene
from pliant.state import State

MESH = bar((0.3, 0.1, 0.1), (3, 1, 1))
HELD = MESH.where(lambda X: X[:, 0] < 1e-9)


def bent(material, **options):
    """A bar held at one end, bent and on its way."""
    options = {"pins": Pin(HELD), **options}
    system = Scene([Solid(MESH, material, **options)]).system()
    x = MESH.X + np.outer(MESH.X[:, 0] ** 2, [0.0, 0.0, 1.0])
    return system, State(x.ravel(), np.outer(MESH.X[:, 0] ** 2, [0.0, 5.0, 10.0]).ravel())


def marched(system, state, method, h, steps):
    memory = None
    for _ in range(steps):
        step = method.step(system, state, h, memory)
        assert step.reports[0].converged
        state, memory = step.state, step.memory
    return state


@pytest.mark.parametrize(
    "options",
    [{}, {"lumped": False}, {"damping": Rayleigh(alpha=0.3, beta=1e-3)}, {"pins": Pin(HELD, Shake((0, 0.01, 0), 5.0))}],
)
def test_it_is_the_step_of_the_polynomial_space(options):
    system, start = bent(StableNeoHookean(2e4, 0.3), **options)
    for project in ("on_demand", "always"):
        a, b = (
            ERE(m=60, tolerance=1e-12, project=project, rational=r).step(system, start, 0.01).state
            for r in (False, True)
        )
        np.testing.assert_allclose(b.q, a.q, atol=1e-9)
        np.testing.assert_allclose(b.v, a.v, atol=1e-7)


def test_its_order_is_two():
    system, start = bent(StableNeoHookean(2e4, 0.3))
    exact = marched(system, start, RK4(), 1e-4, 400)
    errors = [
        np.abs(marched(system, start, ERE(m=40, rational=True), 0.04 / n, n).q - exact.q).max() for n in (8, 16, 32)
    ]
    assert np.log2(errors[0] / errors[2]) / 2 == pytest.approx(2.0, abs=0.2)


def test_few_vectors_keep_the_energy_of_a_stiff_linear_body():
    """h omega reaches 300: linearly implicit steps lose nearly all of the energy that six vectors keep."""
    system, start = bent(Linear(1e8, 0.3))
    total = lambda s: sum(system.energies(s.q, s.v, s.t).values())
    lively = marched(system, start, ERE(m=6, rational=True), 0.01, 20)
    dull = marched(system, start, LinearlyImplicit(), 0.01, 20)
    assert total(lively) == pytest.approx(total(start), rel=1e-8)
    assert total(dull) < 0.01 * total(start)


def test_the_work_does_not_grow_with_the_stiffness():
    for E in (1e6, 1e10):
        system, start = bent(StableNeoHookean(E, 0.3))
        counts = ERE(m=20, rational=True).step(system, State(system.X.ravel(), start.v), 0.01).reports[0].counts
        assert counts.inner == 0 and counts.solves <= 20


def test_an_indefinite_step_that_must_not_be_projected_fails_with_a_word():
    system, _ = bent(StableNeoHookean(1e6, 0.3))
    crushed = State((MESH.X * [0.2, 1.0, 1.0]).ravel(), 0 * MESH.X.ravel())
    crushed = State(system.prescribe(crushed.q, 0.0), crushed.v)
    (report,) = ERE(project="never", rational=True).step(system, crushed, 0.1).reports
    assert not report.converged and report.message
    (report,) = ERE(rational=True).step(system, crushed, 0.1).reports
    assert report.converged


def test_it_estimates_its_error_as_the_polynomial_one_does():
    system, start = bent(StableNeoHookean(2e4, 0.3))
    a, b = (ERE(m=60, tolerance=1e-11, rational=r).estimated(system, start, 2e-3)[1] for r in (False, True))
    np.testing.assert_allclose(b.q, a.q, atol=1e-8 * np.abs(a.q).max())

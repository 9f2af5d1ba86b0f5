"""Closed forms and conservation laws that single out each integrator."""

import numpy as np
import pytest

from pliant.bodies import Solid
from pliant.energies.attachment import AttachmentEnergy
from pliant.errors import SceneError
from pliant.integrators import (
    BDF1,
    BDF2,
    INTEGRATORS,
    SDIRK2,
    TRBDF2,
    ConJac,
    ExplicitEuler,
    ImplicitMidpoint,
    LinearlyImplicit,
    Quasistatic,
    SymplecticEuler,
    Verlet,
)
from pliant.maps.motions import Keyframes
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.solvers import Newton, Tolerance
from pliant.state import State
from pliant.systems.elastodynamics import Elastodynamics

TIGHT = Newton(tolerance=Tolerance(1e-13, 1e-16))


def oscillator(omega=1.0):
    """A unit mass on a spring to the origin: q'' = -omega^2 q."""
    X = np.zeros((1, 3))
    system = Elastodynamics(X, np.ones(1), [AttachmentEnergy(1, np.array([0]), X, omega**2)])
    object.__setattr__(system, "scale", 1.0)
    return system


def amplitude(integrator, z, periods=10):
    """What is left of the amplitude of the undamped oscillator after some periods at h omega = z."""
    system = oscillator()
    state, memory = State(np.array([1.0, 0, 0]), np.zeros(3)), None
    for _ in range(round(periods * 2 * np.pi / z)):
        step = integrator.step(system, state, z, memory)
        state, memory = step.state, step.memory
    return float(np.hypot(state.q[0], state.v[0]))


@pytest.mark.parametrize(
    "z, values", [(0.1, (0.0439, 0.9848, 0.9998, 0.2087)), (0.2, (0.0021, 0.8920, 0.9982, 0.0446))]
)
def test_oscillator_amplitudes(z, values):
    """Reference amplitudes after ten periods, from the closed-form amplification factors."""
    integrators = (BDF1(TIGHT), BDF2(TIGHT), SDIRK2(TIGHT), LinearlyImplicit(beta=0.5))
    for integrator, expected in zip(integrators, values, strict=True):
        assert amplitude(integrator, z) == pytest.approx(expected, rel=0.03, abs=2e-4)
    assert amplitude(TRBDF2(TIGHT), z) == pytest.approx(amplitude(SDIRK2(TIGHT), z), rel=1e-6)


def test_midpoint_keeps_the_energy_of_a_linear_oscillator():
    system = oscillator(3.0)
    state, memory = State(np.array([1.0, 0.5, 0]), np.array([0, 0, 0.3])), None
    start = sum(system.energies(state.q, state.v, 0.0).values())
    for _ in range(500):
        step = ImplicitMidpoint(TIGHT).step(system, state, 0.1, memory)
        state, memory = step.state, step.memory
    assert sum(system.energies(state.q, state.v, 0.0).values()) == pytest.approx(start, rel=1e-10)


@pytest.mark.parametrize("beta", [0.0, 0.25, 0.4, 0.49])
def test_stability_limit_of_the_linearly_implicit_step(beta):
    """Stable iff z < 2 / sqrt(1 - 2 beta)."""
    limit = 2.0 / np.sqrt(1.0 - 2.0 * beta)
    system = oscillator()
    for factor, bounded in ((0.98, True), (1.1, False)):
        state, memory = State(np.array([1.0, 0, 0]), np.zeros(3)), None
        for _ in range(1000):
            step = LinearlyImplicit(beta=beta).step(system, state, factor * limit, memory)
            state, memory = step.state, step.memory
            if abs(state.q[0]) > 100.0:
                break
        assert (abs(state.q[0]) < 100.0) == bounded


def free_bar(seed=3):
    mesh = bar(size=(0.2, 0.1, 0.1), cells=(2, 1, 1))
    scene = Scene([Solid(mesh, StableNeoHookean(E=1e4, nu=0.45))], gravity=(0, 0, 0))
    system = scene.system()
    rng = np.random.default_rng(seed)
    state = scene.initial(system)
    return system, State(state.q + 0.01 * rng.normal(size=len(state.q)), rng.normal(size=len(state.q)))


@pytest.mark.parametrize(
    "integrator",
    [BDF1(), BDF2(), SDIRK2(), TRBDF2(), ImplicitMidpoint(), LinearlyImplicit(), LinearlyImplicit(beta=0.5)],
    ids=lambda i: type(i).__name__,
)
def test_linear_momentum_in_free_flight(integrator):
    system, state = free_bar()
    momentum = (system.mass(state.q) @ state.v).reshape(-1, 3)
    start, size, memory = momentum.sum(axis=0), abs(momentum).sum(), None
    for _ in range(100):
        step = integrator.step(system, state, 0.005, memory)
        state, memory = step.state, step.memory
    end = (system.mass(state.q) @ state.v).reshape(-1, 3).sum(axis=0)
    assert abs(end - start).max() < 1e-12 * size


def test_backward_euler_never_gains_energy():
    system, state = free_bar()
    memory, last = None, sum(system.energies(state.q, state.v, 0.0).values())
    for _ in range(60):
        step = BDF1().step(system, state, 0.01, memory)
        state, memory = step.state, step.memory
        energy = sum(system.energies(state.q, state.v, 0.0).values())
        assert energy <= last * (1.0 + 1e-9)
        last = energy


def test_linearly_implicit_is_one_newton_step_of_backward_euler():
    system, state = free_bar()
    h = 0.01
    q, v = state.q, state.v
    A = system.tangent(q, v, h, (1.0, h, h * h))
    r = system.mass(q) @ (-h * v) - h * h * system.force(q, 0 * v, h)  # the BDF1 residual at q itself
    expected = q - np.linalg.solve(A.toarray(), r)
    got = LinearlyImplicit(beta=1.0).step(system, state, h).state.q
    assert abs(got - expected).max() < 1e-12


def test_variants_agree_for_linear_forces():
    system = oscillator(2.0)
    state = State(np.array([1.0, 0.2, 0]), np.array([0.1, 0, 0.3]))
    a = LinearlyImplicit(variant="A").step(system, state, 0.1).state
    b = LinearlyImplicit(variant="B").step(system, state, 0.1).state
    assert np.allclose(a.q, b.q, rtol=1e-14)
    exact = BDF1(TIGHT).step(system, state, 0.1).state
    assert np.allclose(a.q, exact.q, rtol=1e-12)


def test_bdf2_restarts_when_the_state_was_changed():
    system, state = free_bar()
    step = BDF2().step(system, state, 0.005)
    assert len(step.reports) == 2  # the first step is SDIRK2
    assert len(BDF2().step(system, step.state, 0.005, step.memory).reports) == 1
    kicked = State(step.state.q, 1.01 * step.state.v, step.state.t)
    assert len(BDF2().step(system, kicked, 0.005, step.memory).reports) == 2
    assert len(BDF2().step(system, step.state, 0.004, step.memory).reports) == 1  # its coefficients follow the step
    assert len(BDF2().step(system, step.state, 0.0125, step.memory).reports) == 2  # too long to be stable


def test_verlet_is_symplectic_euler_with_shifted_kicks():
    system, state = free_bar()
    many = Verlet(substeps=10).step(system, state, 0.01).state
    one, memory = state, None
    for _ in range(10):
        step = Verlet().step(system, one, 0.001, memory)
        one, memory = step.state, step.memory
    assert np.allclose(many.q, one.q, rtol=1e-12)
    assert np.allclose(many.v, one.v, rtol=1e-9)


@pytest.mark.parametrize("choice", [ExplicitEuler, SymplecticEuler])
def test_explosion_is_reported(choice):
    system, state = free_bar()
    memory = None
    for _ in range(200):
        step = choice().step(system, state, 0.2, memory)
        state = step.state
        if not step.reports[0].converged:
            assert "reduce h" in step.reports[0].message
            return
    raise AssertionError("the explosion was not noticed")


def test_quasistatics_names_the_free_motions():
    mesh = bar(size=(0.2, 0.1, 0.1), cells=(2, 1, 1))
    material = StableNeoHookean(E=1e4, nu=0.4)
    free = Scene([Solid(mesh, material)])
    with pytest.raises(SceneError, match="translation x.*rotation about z"):
        Quasistatic().step(free.system(), free.initial(free.system()), 0.1)
    hinged = Scene([Solid(mesh, material, pins=Pin(mesh.where(lambda X: (X[:, 0] < 1e-9) & (X[:, 2] < 1e-9))))])
    with pytest.raises(SceneError, match="free to move: rotation about y"):
        Quasistatic().step(hinged.system(), hinged.initial(hinged.system()), 0.1)


def test_quasistatic_equilibrium_is_the_rest_of_a_damped_run():
    mesh = bar(size=(0.2, 0.1, 0.1), cells=(2, 1, 1))
    scene = Scene([Solid(mesh, StableNeoHookean(E=1e5, nu=0.4), pins=Pin(mesh.where(lambda X: X[:, 0] < 1e-9)))])
    system = scene.system()
    firm = Newton(tolerance=Tolerance(1e-9, 1e-12))
    static = Quasistatic(firm).step(system, scene.initial(system), 1.0).state
    assert abs(system.force(static.q, 0 * static.q, 0.0)[system.free]).max() < 1e-8
    state, memory = scene.initial(system), None
    for _ in range(200):
        step = BDF1(firm).step(system, state, 0.1, memory)
        state, memory = step.state, step.memory
    assert abs(state.q - static.q).max() < 1e-8


@pytest.mark.parametrize("method", (*INTEGRATORS, ConJac), ids=lambda c: c.__name__)
def test_scripted_vertices_move_as_fast_as_their_script(method):
    """And stop when it stops: a multistep method may need a step to notice, nobody rings."""
    h = 1e-4
    mesh = bar(size=(0.3, 0.1, 0.1), cells=(3, 1, 1))
    end = mesh.where(lambda X: X[:, 0] < 1e-9)
    up = Keyframes((0.0, 3 * h, 11 * h), ((0, 0, 0), (0, 0, 0), (0, 0, 1.6 * h)))
    body = Solid(mesh, StableNeoHookean(1e5, 0.3), pins=Pin(end, up))
    scene = Scene([body], integrator=method(), h=h, duration=20 * h, gravity=(0, 0, 0))
    speed = [step.state.v.reshape(-1, 3)[end] for step in simulate(scene)]
    assert np.allclose(speed[:3], 0.0, atol=1e-9)
    assert np.allclose(speed[4:11], (0.0, 0.0, 0.2), atol=1e-9)
    assert np.allclose(speed[12:], 0.0, atol=1e-9)

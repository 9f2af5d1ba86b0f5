"""Exponential Rosenbrock-Euler: exact on linear problems, with damping, moving pins and indefinite stiffness."""

import numpy as np
import pytest
from scipy.linalg import eigh, expm

from pliant.bodies import Rayleigh, Solid, SpringNet
from pliant.energies.attachment import AttachmentEnergy
from pliant.energies.gravity import Gravity
from pliant.errors import SceneError
from pliant.integrators import ERE, ExplicitEuler
from pliant.integrators.ere import growth
from pliant.integrators.linearised import linearise
from pliant.maps.pins import Pin
from pliant.materials import Linear
from pliant.mesh import bar, chain
from pliant.scene import Scene
from pliant.scenes.chen_springs import elastic_rope
from pliant.state import State
from pliant.systems.elastodynamics import Elastodynamics


def cantilever(**options):
    mesh = bar(size=(0.4, 0.1, 0.1), cells=(4, 1, 1))
    pins = Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
    return Scene([Solid(mesh, Linear(E=1e5, nu=0.4), pins=pins, **options)])


def exact_linear(system, state, t):
    """q(t), v(t) of a system with linear forces, from the dense exponential of the whole time."""
    free = system.free
    n = len(free)
    M = system.restrict(system.mass(state.q)).toarray()
    K = -system.restrict(system.stiffness(state.q, state.v, 0.0)).toarray()
    D = -system.damping(state.q, state.v, 0.0).toarray()
    D = D[np.ix_(free, free)] if D.any() else np.zeros((n, n))
    f = system.force(state.q, state.v, 0.0)[free]
    J = np.zeros((2 * n + 1, 2 * n + 1))
    J[:n, n : 2 * n] = np.eye(n)
    J[n : 2 * n, :n], J[n : 2 * n, n : 2 * n] = -np.linalg.solve(M, K), -np.linalg.solve(M, D)
    J[: 2 * n, -1] = np.concatenate([state.v[free], np.linalg.solve(M, f)])
    u = expm(t * J)[:-1, -1]
    return state.q[free] + u[:n], state.v[free] + u[n:]


@pytest.mark.parametrize("options", [{}, {"lumped": False}, {"damping": Rayleigh(alpha=0.3, beta=1e-3)}])
@pytest.mark.parametrize("h", [0.01, 0.2])
def test_linear_forces_with_a_constant_load_are_exact_for_any_step(options, h):
    scene = cantilever(**options)
    system = scene.system()
    state = start = scene.initial(system)
    memory = None
    for _ in range(5):
        step = ERE(tolerance=1e-11).step(system, state, h, memory)
        state, memory = step.state, step.memory
        assert step.reports[0].converged
    q, v = exact_linear(system, start, 5 * h)
    assert np.abs(state.q[system.free] - q).max() <= 1e-9 * np.abs(q - start.q[system.free]).max()
    assert np.abs(state.v[system.free] - v).max() <= 1e-8 * max(np.abs(v).max(), 0.1)


def test_energy_of_an_undamped_linear_body_is_kept():
    scene = cantilever()
    system = scene.system()
    state, memory = scene.initial(system), None
    total = sum(system.energies(state.q, state.v, 0.0).values())
    swing = 0.0
    for _ in range(50):
        step = ERE().step(system, state, 1 / 30, memory)
        state, memory = step.state, step.memory
        energies = system.energies(state.q, state.v, 0.0)
        swing = max(swing, energies["kinetic"])
        assert abs(sum(energies.values()) - total) <= 1e-4 * max(swing, 1e-6)


def test_without_stiffness_and_damping_positions_and_velocities_fly_freely():
    m = np.array([1.0, 2.0])
    system = Elastodynamics(np.zeros((2, 3)) + np.eye(2, 3), m, [Gravity(m, np.array([0, 0, -9.81]))])
    v = np.arange(6.0)
    start = State(system.X.ravel(), v)
    state = ERE().step(system, start, 0.5).state
    fall = np.tile([0, 0, -9.81], 2)
    assert np.allclose(state.q, start.q + 0.5 * v + 0.125 * fall, atol=1e-9)
    assert np.allclose(state.v, v + 0.5 * fall, atol=1e-9)
    euler = ExplicitEuler().step(system, start, 0.5).state
    assert np.allclose(state.v, euler.v, atol=1e-9)


class Hill(AttachmentEnergy):
    """A negative spring: the force pushes away from the target."""

    def value(self, x):
        return -super().value(x)

    def gradient(self, x):
        return -super().gradient(x)

    def hessian(self, x, *, psd=False):
        return -super().hessian(x)


def test_indefinite_stiffness_grows_like_cosh():
    system = Elastodynamics(np.zeros((1, 3)), np.ones(1), [Hill(1, np.array([0]), np.zeros((1, 3)), 9.0)])
    state = ERE(project="never").step(system, State(np.array([0.1, 0, 0]), np.zeros(3)), 0.5).state
    assert state.q[0] == pytest.approx(0.1 * np.cosh(1.5), rel=1e-7)
    assert state.v[0] == pytest.approx(0.3 * np.sinh(1.5), rel=1e-7)


def test_a_moving_pin_pulls_with_a_linearly_growing_force():
    """Two masses on a spring, one moved with constant velocity w: x'' = k (w t - x)/m, x = w t - w sin(o t)/o."""
    from pliant.energies.springs import Springs
    from pliant.maps.motions import Keyframes

    X = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    k, w, h = 50.0, 0.2, 0.3
    springs = Springs(X, np.array([[0, 1]]), k)
    motion = Keyframes(times=(0.0, 1.0), translations=((0.0, 0.0, 0.0), (w, 0.0, 0.0)))
    system = Elastodynamics(X, np.ones(2), [springs], pins=[Pin(np.array([0]), motion)])
    state = ERE(tolerance=1e-10).step(system, State(X.ravel().copy(), np.zeros(6)), h).state
    o = np.sqrt(k)
    assert state.q[3] - 1.0 == pytest.approx(w * h - w * np.sin(o * h) / o, rel=1e-8)
    assert state.v[3] == pytest.approx(w - w * np.cos(o * h), rel=1e-8)
    assert state.q[0] == pytest.approx(w * h)


def test_bad_parameters_are_refused():
    with pytest.raises(SceneError, match="m is 1"):
        ERE(m=1)
    with pytest.raises(SceneError, match="tolerance is 0"):
        ERE(tolerance=0.0)


def test_growth_that_overflows_is_a_failure_with_a_remedy():
    system = Elastodynamics(np.zeros((1, 3)), np.ones(1), [Hill(1, np.array([0]), np.zeros((1, 3)), 1e8)])
    step = ERE(project="never").step(system, State(np.array([0.1, 0, 0]), np.zeros(3)), 1.0)
    assert not step.reports[0].converged
    assert "grows by exp(1e+04)" in step.reports[0].message and "reduce h" in step.reports[0].message


def squeezed_chain(**options):
    """Springs pushed together along a line buckle sideways: K has negative modes."""
    body = SpringNet(chain(6, 1.0), k=200.0, mass=0.02, pins=Pin(np.array([0, 6])), **options)
    system = Scene([body]).system()
    x = system.X.copy()
    x[:, 0] += 0.02 * np.sin(2 * np.pi * x[:, 0])
    return system, State(system.prescribe(x.ravel(), 0.0), np.zeros(x.size))


def test_stiffness_is_projected_only_in_steps_in_which_a_mode_would_grow_beyond_e():
    system, state = squeezed_chain()
    K = -system.restrict(system.stiffness(state.q, state.v, 0.0)).toarray()
    M = system.restrict(system.mass(state.q)).toarray()
    rate = np.sqrt(-eigh(K, M, eigvals_only=True)[0])
    for h, twin in ((0.95 / rate, "never"), (1.05 / rate, "always")):
        step = ERE(tolerance=1e-10).step(system, state, h)
        same = ERE(tolerance=1e-10, project=twin).step(system, state, h)
        assert np.array_equal(step.state.q, same.state.q)
        assert step.reports[0].counts.factorizations == 1


def test_growth_is_the_largest_real_part_of_the_dense_jacobian():
    system, state = squeezed_chain(damping=Rayleigh(alpha=0.5))
    linear = linearise(system, state, 0.01, at=0.0, psd=False)
    lam = eigh(linear.K.toarray(), linear.M.toarray(), eigvals_only=True)[0]
    assert growth(linear) == pytest.approx(-0.25 + np.sqrt(0.0625 - lam), rel=1e-8)


def test_a_rope_let_go_at_half_a_right_angle_swings_instead_of_bursting():
    """Without projection this rope is gone after half a second (K_l = 10 N/m, h = 1/60 s)."""
    scene = elastic_rope(10.0)
    system = scene.system()
    total = {}
    for project in ("on_demand", "never"):
        state, memory = scene.initial(system), None
        for _ in range(60):
            with np.errstate(all="ignore"):
                step = ERE(project=project).step(system, state, 1 / 60, memory)
            state, memory = step.state, step.memory
            if not step.reports[0].converged or np.abs(state.q).max() > 100.0:
                break
        total[project] = sum(system.energies(state.q, state.v, state.t).values())
    assert total["on_demand"] < 0.0  # below where it was let go
    assert not total["never"] < 1.0

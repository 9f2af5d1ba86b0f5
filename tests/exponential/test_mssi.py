"""MSSI: the stiff pendulum swings on, the compliant-constraint step is the same step, limits of the additive method."""

import numpy as np
import pytest

from pliant.bodies import Solid, SpringNet
from pliant.contact.obstacles import Plane
from pliant.integrators import BDF1, DGSI, MSSI, Additive, LinearlyImplicit
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar, chain
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.state import State
from pliant.systems.penalty_contact import PenaltyContact


def pendulum(k=1e4):
    return Scene([SpringNet(chain(1, 1.0), k=k, mass=1.0, pins=Pin(np.array([0])))])


def peaks(integrator, h=0.1, T=20.0):
    """Largest kinetic energy in each quarter of the run [J]."""
    scene = pendulum()
    system = scene.system()
    state, memory, kinetic = scene.initial(system), None, []
    for _ in range(round(T / h)):
        step = integrator.step(system, state, h, memory)
        state, memory = step.state, step.memory
        kinetic.append(system.energies(state.q, state.v, 0.0)["kinetic"])
    return [max(part) for part in np.array_split(kinetic, 4)]


def test_the_pendulum_keeps_swinging():
    mssi, si, be = peaks(MSSI()), peaks(LinearlyImplicit()), peaks(BDF1())
    assert mssi == pytest.approx([9.69, 8.11, 6.78, 5.78], abs=0.02)
    assert si[3] <= 0.01 * si[0] and be[3] <= 0.01 * be[0]
    assert mssi[3] >= 0.5 * mssi[0]


def test_the_printed_variant_has_no_damping():
    printed = peaks(MSSI(variant="printed"))
    assert printed == pytest.approx([9.59, 9.64, 9.71, 9.67], abs=0.02)


def test_equals_the_compliant_constraint_step():
    """[[M, -J^T], [J, alpha/h^2]] [v; mu] = [M v_n + h f_ext; -phi/h] with phi = |s| - l0, alpha = 1/k."""
    n, k, h = 5, 300.0, 0.02
    scene = Scene([SpringNet(chain(n, 1.0), k=k, mass=0.2, pins=Pin(np.array([0])))])
    system = scene.system()
    rng = np.random.default_rng(0)
    q = system.prescribe(system.X.ravel() + 0.05 * rng.normal(size=system.X.size), 0.0)
    v = np.zeros(q.size)
    v[system.free] = rng.normal(size=len(system.free))
    x = q.reshape(-1, 3)
    J, phi = np.zeros((n, q.size)), np.zeros(n)
    for i in range(n):
        s = x[i] - x[i + 1]
        length = np.linalg.norm(s)
        J[i, 3 * i : 3 * i + 3], J[i, 3 * i + 3 : 3 * i + 6] = s / length, -s / length
        phi[i] = length - 1.0 / n
    free = system.free
    J = J[:, free]
    M = np.diag(system.nodal_mass[free])
    gravity = system.nodal_mass[free] * np.tile([0, 0, -9.81], n)
    KKT = np.block([[M, -J.T], [J, np.eye(n) / (k * h * h)]])
    expected = np.linalg.solve(KKT, np.concatenate([M @ v[free] + h * gravity, -phi / h]))[: len(free)]
    after = MSSI().step(system, State(q, v), h).state
    assert np.allclose(after.v[free], expected, rtol=1e-11, atol=1e-12)


def test_it_needs_a_system_with_energies():
    from pliant.errors import SceneError

    class Opaque:
        free = np.arange(3)

        def prescribe(self, q, t):
            return q

        def force(self, q, v, t):
            return 0 * q

    with pytest.raises(SceneError, match="does not list its energies"):
        MSSI().step(Opaque(), State(np.zeros(3), np.zeros(3)), 0.1)


def test_contact_is_implicit_too():
    """With every Hessian on the left, contact springs included, it is linearly implicit Euler."""
    mesh = bar(size=(0.3, 0.1, 0.1), cells=(3, 1, 1))
    body = Solid(mesh, StableNeoHookean(1e5, 0.4))
    options = {"contact": PenaltyContact(mu=0.0), "obstacles": [Plane(point=(0.0, 0.0, -0.002))], "h": 0.01}
    ends = []
    for integrator in (LinearlyImplicit(), Additive(), MSSI(), DGSI()):
        *_, last = simulate(Scene([body], integrator=integrator, duration=0.3, **options))
        ends.append(last.state.q)
    assert ends[0].reshape(-1, 3)[:, 2].min() < -0.002  # it has landed
    assert np.abs(np.array(ends[1:]) - ends[0]).max() < 1e-9


@pytest.mark.parametrize("method", [MSSI(), DGSI()], ids=["MSSI", "DGSI"])
def test_a_method_with_nothing_to_split_says_that_it_is_linearly_implicit_euler(method):
    mesh = bar((0.3, 0.1, 0.1), (3, 1, 1))
    body = Solid(mesh, StableNeoHookean(1e4, 0.3), pins=Pin(mesh.where(lambda X: X[:, 0] < 1e-9)))
    scene = Scene([body], integrator=method, duration=0.03)
    with pytest.warns(UserWarning, match="its steps are those of LinearlyImplicit") as said:
        *_, last = simulate(scene)
    assert len(said) == 1
    *_, plain = simulate(Scene([body], integrator=LinearlyImplicit(), duration=0.03))
    assert np.allclose(last.state.q, plain.state.q, rtol=0.0, atol=1e-12)

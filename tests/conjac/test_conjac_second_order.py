"""BDF2 in the velocities of the dynamic nodes: its order, the full mesh's BDF2, what it keeps, what it remembers."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pliant import checkpoint
from pliant.bodies import Solid
from pliant.certificate import smallest_det
from pliant.contact.obstacles import Plane
from pliant.errors import SceneError
from pliant.integrators import BDF2, AdaptiveConJac, ConJac, Quasistatic
from pliant.integrators.bdf2 import History
from pliant.integrators.conjac import pressed
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.solvers import Newton, Tolerance
from pliant.state import State
from pliant.systems.condensed_plan import plan_of
from pliant.systems.penalty_contact import PenaltyContact

EXACT = {"second_order": True, "project": "on_demand"}


def cantilever(E=2e3, motion=None, **options):
    mesh = bar(size=(0.15, 0.05, 0.05), cells=(6, 2, 2))
    pins = Pin(mesh.where(lambda X: X[:, 0] < 1e-9), motion)
    scene = Scene([Solid(mesh, StableNeoHookean(E, 0.4), pins=pins)], **options)
    return scene, scene.system()


def run(integrator, system, state, steps, memory=None):
    states = [state]
    for h in steps:
        step = integrator.step(system, state, h, memory)
        assert step.reports[0].converged, step.reports[0].message
        state, memory = step.state, step.memory
        states.append(state)
    return states


@pytest.mark.parametrize(
    "conjac, order",
    [
        (ConJac(count=3, **EXACT), 2),
        (ConJac(count=3, **EXACT, gamma=1.0, corrections=3), 2),
        (ConJac(count=3, beta=1.0, ahead=True, project="on_demand"), 1),
    ],
    ids=["second order", "corrected", "first order"],
)
def test_the_order_of_large_motions(conjac, order):
    """A bar thrown upwards at its free end, bent by a third of its length; J turns with it."""
    _, system = cantilever(gravity=(0.0, 0.0, 0.0))
    X, v = system.X, np.zeros_like(system.X)
    v[:, 2] = 1.2 * (X[:, 0] / 0.15) ** 2
    follow = conjac.step(system, State(X.ravel().copy(), v.ravel()), 1e-9).state.v  # velocities in the range of J
    start = State(X.ravel().copy(), follow)
    ends = [run(conjac, system, start, [0.032 / n] * n)[-1] for n in (64, 128, 256)]
    assert abs(ends[-1].q - start.q).max() > 0.03
    for of in (lambda s: s.q, lambda s: s.v):
        apart = [abs(of(a) - of(b)).max() for a, b in zip(ends, ends[1:])]
        assert np.log2(apart[-2] / apart[-1]) == pytest.approx(order, abs=0.15)


def test_with_every_node_dynamic_and_iterated_it_is_the_bdf2_of_the_full_mesh():
    """Over steps of different lengths, from the same two states."""
    _, system = cantilever(E=2e4)
    rng = np.random.default_rng(1)
    v = np.zeros(system.X.size)
    v[system.free] = 0.05 * rng.normal(size=len(system.free))
    nodes = np.unique(system.free // 3)
    steps = [5e-3, 5e-3, 8e-3, 3e-3]
    ours = run(ConJac(nodes, **EXACT, iterations=12), system, State(system.X.ravel().copy(), v), steps)
    exact = BDF2(solver=Newton(tolerance=Tolerance(1e-12, 1e-14)))
    theirs = run(exact, system, ours[1], steps[1:], History((ours[1], ours[0]), (steps[0],), None))
    assert abs(ours[-1].q - theirs[-1].q).max() < 1e-9 and abs(ours[-1].v - theirs[-1].v).max() < 1e-6
    assert abs(ours[-1].q - ours[1].q).max() > 1e-4


class Accelerated:
    def positions(self, X, t):
        return X + np.array([0.0, 4.0 * t * t, 0.0])


def test_prescribed_vertices_have_the_velocity_of_their_parabola():
    """BDF2 differentiates x = a t^2 exactly."""
    _, system = cantilever(motion=Accelerated(), gravity=(0.0, 0.0, 0.0))
    pinned = np.setdiff1d(np.arange(system.X.size), system.free)
    start = State(system.X.ravel().copy(), np.zeros(system.X.size))
    last = run(ConJac(count=3, **EXACT), system, start, [2e-3] * 20)[-1]
    assert np.allclose(last.v[pinned].reshape(-1, 3), (0.0, 8.0 * last.t, 0.0), atol=1e-9)


def spun(omega=20.0, cells=(6, 2, 2)):
    mesh = bar(size=(0.15, 0.03, 0.03), cells=cells)
    system = Scene([Solid(mesh, StableNeoHookean(1e5, 0.4))], gravity=(0, 0, 0)).system()
    X = system.X - system.X.mean(axis=0)
    v = omega * np.column_stack([-X[:, 1], X[:, 0], 0 * X[:, 0]]) + (0.3, 0.1, -0.2)
    return system, State(system.X.ravel().copy(), v.ravel())


def test_a_turning_body_keeps_its_energy_and_its_momentum():
    system, start = spun()
    momentum = lambda s: (system.mass(s.q) @ s.v).reshape(-1, 3).sum(axis=0)
    energy = lambda s: sum(system.energies(s.q, s.v, s.t).values())
    methods = ConJac(count=4, ahead=True), ConJac(count=4, second_order=True)
    first, second = (run(method, system, start, [5e-3] * 100)[-1] for method in methods)
    assert energy(second) > 0.85 * energy(start) > 1.2 * energy(first)
    assert np.allclose(momentum(second), momentum(start), rtol=0.0, atol=1e-11)


def test_the_equilibrium_of_the_full_mesh_is_kept():
    scene, system = cantilever(E=2e4)
    newton = Newton(tolerance=Tolerance(1e-12, 1e-14))
    still = Quasistatic(newton).step(system, scene.initial(system), 1.0).state
    start = State(still.q, 0.0 * still.v, 0.0)
    last = run(ConJac(count=2, second_order=True), system, start, [1e-2] * 50)[-1]
    assert abs(last.q - start.q).max() < 1e-9 * abs(start.q - system.X.ravel()).max()


def test_a_state_that_somebody_changed_starts_anew():
    """What the memory knows of another state is not used; nor is it where a step is far longer than the last."""
    _, system = cantilever()
    method, start = ConJac(count=3, second_order=True), State(system.X.ravel().copy(), np.zeros(system.X.size))
    step = method.step(system, start, 1e-3)
    other = State(step.state.q, 0.5 * step.state.v, step.state.t)
    fresh = method.step(system, other, 1e-3)
    assert np.array_equal(method.step(system, other, 1e-3, step.memory).state.q, fresh.state.q)
    later = method.step(system, step.state, 1e-3, step.memory).state
    assert abs(later.v - method.step(system, step.state, 1e-3).state.v).max() > 1e-6
    far = method.step(system, step.state, 5e-3, step.memory).state
    assert np.array_equal(far.q, method.step(system, step.state, 5e-3).state.q)


def test_an_impact_is_no_history():
    """A body that lands gains nothing; the steps of the impact are backward Euler, those after it start anew."""
    tilted = Rotation.from_rotvec((0.1, 0.2, 0.0)).as_matrix()
    mesh = bar(size=(0.1, 0.05, 0.03), cells=(4, 2, 2)).transformed(rotate=tilted, translate=(0, 0, 0.03))
    contact = PenaltyContact(k=100.0, bodies=False, self_contact=False)
    body = Solid(mesh, StableNeoHookean(1e5, 0.3), velocity=(0.0, 0.0, -1.0))
    scene = Scene([body], contact=contact, obstacles=[Plane()], gravity=(0.0, 0.0, 0.0))
    system, method = scene.system(), ConJac(count=4, second_order=True, radius=0.02)
    state, memory, kinds = scene.initial(system), None, []
    total = lambda s: sum(system.energies(s.q, s.v, s.t).values())
    most = total(state)
    for _ in range(300):
        hit = pressed(system, state, 1e-3)
        step = method.step(system, state, 1e-3, memory)
        if hit:
            euler = ConJac(count=4, beta=1.0, radius=0.02).step(system, state, 1e-3).state
            assert np.allclose(step.state.q, euler.q, rtol=0.0, atol=1e-14)
        kinds.append((hit, len(step.memory[1].states)))
        state, memory = step.state, step.memory
        assert total(state) < (1.0 + 1e-6) * most
    assert set(kinds) == {(False, 2), (True, 1)}
    assert not kinds[0][0] and not kinds[-1][0] and total(state) > 0.2 * most


@pytest.mark.parametrize("iterations", [1, 2, 3, 4])
def test_contacts_of_a_step_press_in_each_of_its_linearisations(iterations):
    """A block that lands flat in one step: an even number of linearisations used to leave it as fast as it was, as the
    second one met nothing where the first one led; its energy doubled.
    """
    mesh = bar(size=(0.1, 0.05, 0.03), cells=(4, 2, 2)).transformed(translate=(0, 0, 0.004))
    contact = PenaltyContact(k=2500.0, bodies=False, self_contact=False)
    body = Solid(mesh, StableNeoHookean(1e5, 0.3), velocity=(0.0, 0.0, -1.0))
    scene = Scene([body], contact=contact, obstacles=[Plane()], gravity=(0.0, 0.0, 0.0))
    system = scene.system()
    method = ConJac(count=4, beta=1.0, radius=0.02, iterations=iterations)
    states = run(method, system, scene.initial(system), [5e-3] * 6)
    energies = [sum(system.energies(s.q, s.v, s.t).values()) for s in states]
    assert max(np.diff(energies)) < 1e-9 * energies[0]
    m = system.nodal_mass[2::3]
    assert m @ states[1].v[2::3] / m.sum() == pytest.approx(-0.3, abs=0.01)


def test_a_step_that_changes_an_edge_too_much_is_backward_euler():
    """A bar that turns by 17 degrees a step is dented at its nodes until it is inside out if nothing limits that."""
    system, start = spun(60.0, cells=(20, 4, 4))
    method = ConJac(count=4, second_order=True)
    step, euler = (m.step(system, start, 5e-3) for m in (method, ConJac(count=4, beta=1.0)))
    assert np.array_equal(step.state.q, euler.state.q) and len(step.memory[1].states) == 1
    assert step.reports[0].counts.factorizations == 2 * euler.reports[0].counts.factorizations
    free = ConJac(count=4, second_order=True, cap=1e9)
    least = [min(smallest_det(system, s.q) for s in run(m, system, start, [5e-3] * 4)) for m in (method, free)]
    assert least[0] > 0.3 and least[1] < 0.0


def test_how_far_a_step_stretches_edges():
    """Against the lengths themselves; a rotation stretches none."""
    _, system = cantilever()
    plan, rng = plan_of(system, np.array([30])), np.random.default_rng(0)
    q, there = (system.X + 1e-2 * rng.normal(size=system.X.shape) for _ in range(2))
    lengths = [np.linalg.norm(np.diff(x[plan.edges], axis=1)[:, 0], axis=1) for x in (q, there, system.X)]
    expected = (abs(lengths[1] - lengths[0]) / lengths[2]).max()
    assert plan.stretched(q.ravel(), there.ravel()) == pytest.approx(expected, rel=1e-12)
    turned = q @ Rotation.from_rotvec((0.3, -1.0, 0.5)).as_matrix().T
    assert plan.stretched(q.ravel(), turned.ravel()) < 1e-12


@pytest.mark.parametrize("adaptive", [False, True])
def test_it_restarts_bit_for_bit(adaptive, tmp_path):
    conjac = ConJac(count=3, second_order=True)
    method = AdaptiveConJac(conjac, threshold=0.05, window=4) if adaptive else conjac
    scene, _ = cantilever(E=2e4, integrator=method, h=5e-3, duration=0.1)
    whole = list(simulate(scene))
    checkpoint.save(tmp_path / "half.h5", whole[9].checkpoint())
    again = list(simulate(scene, start=checkpoint.load(tmp_path / "half.h5")))
    assert np.array_equal(again[-1].state.q, whole[-1].state.q)


def test_beta_beside_it_is_refused():
    with pytest.raises(SceneError, match=r"beta = 0\.7 beside second_order"):
        ConJac(second_order=True, beta=0.7)

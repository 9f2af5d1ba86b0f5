"""Steps in turning frames: free bodies keep their angular momentum, and everything else is as it was."""

from dataclasses import replace

import numpy as np
import pytest

from pliant.bodies import Rayleigh, Solid, SpringNet
from pliant.contact.obstacles import Plane
from pliant.errors import SceneError
from pliant.integrators import BDF2, ERE, RK4, SIERE, Corotated, LinearlyImplicit, Quasistatic
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar, rectangle, spring_net
from pliant.scene import Scene
from pliant.state import State
from pliant.systems.penalty_contact import PenaltyContact

METHODS = {"SI": LinearlyImplicit(), "SIERE": SIERE(), "ERE": ERE()}
SLOW, TUMBLING = (0.0, 0.0, 5.0), (3.0, 2.0, 4.0)


def spinning(scene, omega, velocity=(0.0, 0.0, 0.0)):
    """The system, and a state in which everything turns about its common center like a rigid body."""
    system = scene.system()
    c = np.average(system.X, axis=0, weights=system.nodal_mass[:: system.X.shape[1]])
    r = np.zeros((len(system.X), 3))
    r[:, : system.X.shape[1]] = system.X - c
    v = (np.cross(omega, r) + np.asarray(velocity))[:, : system.X.shape[1]]
    return system, State(system.X.ravel(), v.ravel())


def marched(system, state, integrator, h, steps):
    memory = None
    for _ in range(steps):
        step = integrator.step(system, state, h, memory)
        assert all(r.converged for r in step.reports)
        state, memory = step.state, step.memory
    return state


def free_bar(E, **options):
    return Scene([Solid(bar((0.3, 0.1, 0.1), (4, 1, 1)), StableNeoHookean(E, 0.3), **options)], gravity=(0, 0, 0))


@pytest.mark.parametrize("omega", [SLOW, TUMBLING], ids=["about its axis", "tumbling"])
@pytest.mark.parametrize("E", [1e4, 1e6, 1e8])
@pytest.mark.parametrize("method", METHODS)
def test_a_free_body_keeps_its_angular_momentum(method, E, omega):
    system, start = spinning(free_bar(E), omega, (1.0, -2.0, 0.5))
    after = marched(system, start, Corotated(METHODS[method]), 0.01, 50)
    p0, L0 = system.momenta(start.q, start.v)
    p, L = system.momenta(after.q, after.v)
    energy = [sum(system.energies(s.q, s.v, 0.0).values()) for s in (start, after)]
    assert np.allclose(p, p0, rtol=1e-9)
    assert np.linalg.norm(L - L0) < 5e-3 * np.linalg.norm(L0)
    assert abs(energy[1] / energy[0] - 1.0) < 0.02


@pytest.mark.parametrize("method", METHODS)
def test_a_stiff_body_tumbles_like_a_rigid_one_at_half_a_radian_per_step(method):
    """The rotation that gyroscopic torques cause within a step belongs to the frame, not to the linear step in it."""
    system, start = spinning(free_bar(1e8), 50.0 * np.array(TUMBLING) / np.linalg.norm(TUMBLING))
    after = marched(system, start, Corotated(METHODS[method]), 0.01, 40)
    L0, L = (system.momenta(s.q, s.v)[1] for s in (start, after))
    energy = [sum(system.energies(s.q, s.v, 0.0).values()) for s in (start, after)]
    assert np.linalg.norm(L - L0) < 1e-3 * np.linalg.norm(L0)
    assert energy[1] == pytest.approx(energy[0], rel=5e-3)


def test_a_step_in_which_a_body_turns_too_far_says_so():
    system, start = spinning(free_bar(1e8), (0.0, 0.0, 80.0))
    report = Corotated(SIERE()).step(system, start, 0.01).reports[0]
    assert not report.converged and "rotates by 0.8 rad in a step" in report.message


@pytest.mark.parametrize("method", METHODS)
def test_the_frame_at_rest_does_not(method):
    """What the frames are for: a fifth of it and more is gone after half a second, with the same methods."""
    system, start = spinning(free_bar(1e6), SLOW)
    after = marched(system, start, METHODS[method], 0.01, 50)
    L0, L = (np.linalg.norm(system.momenta(s.q, s.v)[1]) for s in (start, after))
    assert L < 0.85 * L0


@pytest.mark.parametrize("method, order", [(LinearlyImplicit(), 1), (SIERE(), 1), (ERE(tolerance=1e-10), 2)])
def test_orders_are_those_of_the_integrator_inside(method, order):
    """Stretched, tumbling, falling, and with a drag that does not turn with the body."""
    body = Solid(bar((0.2, 0.1, 0.1), (1, 1, 1)), StableNeoHookean(1e3, 0.3), damping=Rayleigh(alpha=1.0))
    system, start = spinning(Scene([body]), TUMBLING, (1.0, 0.5, 2.0))
    start = State((start.q.reshape(-1, 3) * [1.1, 0.95, 0.97]).ravel(), start.v)
    exact = marched(system, start, RK4(), 2e-4, 500)
    errors = [
        np.abs(marched(system, start, Corotated(method), 0.1 / n, n).q - exact.q).max()
        for n in (40 // order, 80 // order)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.2)
    assert Corotated(method).order == order


@pytest.mark.parametrize("method", METHODS)
def test_the_center_falls_as_if_nothing_turned(method):
    scene = replace(free_bar(1e5), gravity=(0, 0, -9.81))
    system, start = spinning(scene, TUMBLING, (1.0, 0.0, 0.0))
    center = lambda s: np.average(system.positions(s.q), axis=0, weights=system.nodal_mass[::3])
    turning = marched(system, start, Corotated(METHODS[method]), 0.01, 20)
    still = State(start.q, np.tile([1.0, 0.0, 0.0], len(system.X)))
    falling = marched(system, still, METHODS[method], 0.01, 20)
    assert np.allclose(center(turning), center(falling), atol=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_a_pinned_body_has_a_frame_that_rests(method):
    mesh = bar((0.3, 0.1, 0.1), (3, 1, 1))
    body = Solid(mesh, StableNeoHookean(1e5, 0.3), pins=Pin(mesh.where(lambda X: X[:, 0] < 1e-9)))
    scene = Scene([body])
    system = scene.system()
    a, b = (marched(system, scene.initial(system), m, 0.01, 5) for m in (METHODS[method], Corotated(METHODS[method])))
    assert np.array_equal(a.q, b.q) and np.array_equal(a.v, b.v)


def test_every_body_has_its_own_frame():
    mesh = bar((0.3, 0.1, 0.1), (2, 1, 1))
    bodies = [Solid(m, StableNeoHookean(1e6, 0.3)) for m in (mesh, mesh.transformed(translate=(0, 0, 1.0)))]
    system = Scene(bodies, gravity=(0, 0, 0)).system()
    n = len(mesh.X)
    r = mesh.X - mesh.X.mean(axis=0)
    start = State(system.X.ravel(), np.concatenate([np.cross(SLOW, r), np.cross([0, -4.0, 0], r)]).ravel())
    after = marched(system, start, Corotated(SIERE()), 0.01, 40)
    m = system.nodal_mass[::3]
    for own in (slice(0, n), slice(n, None)):
        spin = []
        for s in (start, after):
            x, v = (z.reshape(-1, 3)[own] for z in (s.q, s.v))
            x = x - np.average(x, axis=0, weights=m[own])
            spin.append(np.cross(x, m[own, None] * v).sum(axis=0))
        assert np.allclose(spin[1], spin[0], atol=2e-3 * np.linalg.norm(spin[0]))


@pytest.mark.parametrize(
    "body",
    [
        Solid(rectangle((0.3, 0.1), (3, 1)), StableNeoHookean(1e6, 0.3)),
        SpringNet(spring_net(3, 3), k=1e3, mass=0.1),
    ],
    ids=["planar", "springs"],
)
def test_planar_bodies_and_nets_of_springs_turn_too(body):
    system, start = spinning(Scene([body], gravity=(0, 0, 0)), SLOW)
    after = marched(system, start, Corotated(LinearlyImplicit()), 0.01, 50)
    L0, L = (system.momenta(s.q, s.v)[1] for s in (start, after))
    assert np.linalg.norm(L - L0) < 2e-3 * np.linalg.norm(L0)


def test_contact_within_the_step_is_refused():
    scene = replace(
        free_bar(1e5), contact=PenaltyContact(), obstacles=[Plane(point=(0, 0, -1))], integrator=Corotated()
    )
    system = scene.system()
    with pytest.raises(SceneError, match="does not rotate with a body"):
        scene.integrator.step(system, scene.initial(system), 0.01)


def test_methods_with_a_history_are_refused():
    for method in (BDF2(), Quasistatic(), Corotated()):
        with pytest.raises(SceneError, match="does not work in rotating frames"):
            Corotated(method)

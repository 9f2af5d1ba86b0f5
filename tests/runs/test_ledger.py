"""The books balance against closed forms and conservation laws, and do not when a step is not solved."""

import numpy as np
import pytest

from pliant.articulated import Articulated, Link, at, cuboid
from pliant.articulated.forces import JointSpring
from pliant.articulated.joints import Revolute
from pliant.bodies import Rayleigh, Solid, SpringNet
from pliant.contact.obstacles import Plane
from pliant.integrators import BDF1, BDF2, ImplicitMidpoint, LinearlyImplicit
from pliant.ledger import backward_euler_dissipation, opening
from pliant.maps.motions import Keyframes, Shake
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar, spring_net
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.solvers import Newton, Tolerance
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.penalty_contact import PenaltyContact

TIGHT = Newton(tolerance=Tolerance(1e-13, 1e-15))


def solid(**options):
    mesh = bar(size=(0.3, 0.1, 0.1), cells=(3, 1, 1))
    return mesh, Solid(mesh, StableNeoHookean(1e4, 0.4), **options)


def audit(scene):
    """Largest difference of the remainder and the closed form, relative to the size of the books."""
    system = scene.system()
    before = scene.initial(system)
    worst = 0.0
    for step in simulate(scene):
        closed = backward_euler_dissipation(system, before, step.state)
        worst = max(worst, abs(step.ledger.numerical - closed) / step.ledger.scale)
        before = step.state
    return worst


def test_books_of_backward_euler_balance_in_free_motion():
    _, body = solid(velocity=(1.0, -2.0, 3.0))
    scene = Scene([body], integrator=BDF1(TIGHT), gravity=(0, 0, 0), h=0.01, duration=0.1)
    assert audit(scene) < 1e-9


def test_books_balance_with_gravity_damping_and_scripts():
    mesh, _ = solid()
    pins = Pin(mesh.where(lambda X: X[:, 0] < 1e-9), Shake((0.0, 0.02, 0.0), 3.0))
    _, body = solid(pins=pins, damping=Rayleigh(0.5, 1e-3))
    scene = Scene([body], integrator=BDF1(TIGHT), h=0.01, duration=0.2)
    assert audit(scene) < 1e-9
    rows = [step.ledger for step in simulate(scene)]
    assert sum(row.work["damping"] for row in rows) < 0.0
    assert abs(sum(row.work["scripts"] for row in rows)) > 0.0


@pytest.mark.filterwarnings("ignore:step")
def test_books_of_an_unsolved_step_do_not_balance():
    mesh, _ = solid()
    _, body = solid(pins=Pin(mesh.where(lambda X: X[:, 0] < 1e-9)))
    hasty = BDF1(Newton(max_iterations=1))
    scene = Scene([body], integrator=hasty, h=0.1, duration=0.1, on_failure="warn")
    assert audit(scene) > 1e-6


def test_a_rigid_push_is_booked_as_work_of_the_script():
    """All vertices are driven: the kinetic energy they end with is what the script did."""
    net = spring_net(2, 2)
    push = Keyframes((0.0, 1.0), ((0.0, 0.0, 0.0), (3.0, 0.0, 0.0)))
    body = SpringNet(net, k=100.0, mass=0.5, pins=Pin(np.arange(len(net.X)), push))
    scene = Scene([body], integrator=BDF1(), gravity=(0, 0, 0), h=0.1, duration=0.5)
    rows = [step.ledger for step in simulate(scene)]
    kinetic = 0.5 * 0.5 * len(net.X) * 3.0**2
    assert rows[-1].energies["kinetic"] == pytest.approx(kinetic, rel=1e-12)
    # impulsive start: backward Euler loses as much as it keeps, and the script pays both
    assert rows[0].work["scripts"] == pytest.approx(2.0 * kinetic, rel=1e-12)
    assert rows[0].numerical == pytest.approx(kinetic, rel=1e-12)
    assert all(abs(row.work["scripts"]) < 1e-10 for row in rows[1:])


def test_momentum_grows_by_the_weight_and_nothing_else():
    _, body = solid(velocity=(1.0, 0.0, 2.0))
    scene = Scene([body], integrator=BDF1(TIGHT), h=0.01, duration=0.1)
    system = scene.system()
    m = system.nodal_mass[::3].sum()
    start = opening(0, system, scene.initial(system))
    np.testing.assert_allclose(start.linear, (m, 0.0, 2.0 * m), atol=1e-12)
    for step in simulate(scene):
        expected = (m, 0.0, m * (2.0 - 9.81 * step.state.t))
        np.testing.assert_allclose(step.ledger.linear, expected, atol=1e-9)
        center = np.array([0.15, 0.05, 0.05]) + step.state.t * np.array([1.0, 0.0, 2.0])
        center[2] -= 0.5 * 9.81 * step.state.t * (step.state.t + 0.01)  # backward Euler's parabola
        np.testing.assert_allclose(step.ledger.angular, np.cross(center, expected), atol=1e-9)


def test_midpoint_takes_nothing_from_linear_springs():
    """Springs of zero rest length are linear: the implicit midpoint rule keeps their energy exactly."""
    from pliant.energies.springs import Springs
    from pliant.ledger import entry
    from pliant.state import State
    from pliant.systems.elastodynamics import Elastodynamics

    net = spring_net(2, 2)
    springs = Springs(net.X, net.T, 50.0, rest=np.zeros(len(net.T)))
    system = Elastodynamics(net.X, np.full(len(net.X), 0.1), [springs])
    state, method, memory = State(net.X.ravel(), np.zeros(net.X.size)), ImplicitMidpoint(TIGHT), None
    row = opening(0, system, state)
    for _ in range(20):
        step = method.step(system, state, 0.05, memory)
        row = entry(row, system, state, step.state, method.order)
        state, memory = step.state, step.memory
        assert abs(row.numerical) < 1e-12 * row.scale


@pytest.mark.parametrize("integrator", [BDF1(), BDF2()], ids=lambda i: type(i).__name__)
@pytest.mark.parametrize(
    "contact", [PenaltyContact(mu=0.0, bodies=False), BarrierContact()], ids=["penalty", "barrier"]
)
def test_an_obstacle_that_lifts_a_body_does_the_work_of_lifting_it(integrator, contact):
    """It moves 2.5 mm a step, many times the depth of the contact: its force times its way, not a change of energy."""
    cube = bar(size=(0.1, 0.1, 0.1), cells=(2, 2, 2))
    up = Keyframes((0.0, 1.0), ((0.0, 0.0, 0.0), (0.0, 0.0, 0.5)))
    body = Solid(cube, StableNeoHookean(1e5, 0.3), damping=Rayleigh(beta=5e-3), velocity=(0.0, 0.0, 0.5))
    floor = Plane(point=(0.0, 0.0, -1e-4), motion=up)
    scene = Scene([body], contact=contact, obstacles=[floor], integrator=integrator, h=5e-3, duration=0.5)
    rows = [step.ledger for step in simulate(scene)]
    weight, way = 1.0 * 9.81, 0.5 * 5e-3
    assert rows[-1].work["scripts"] == pytest.approx(weight * way, rel=1e-4)  # it rides along
    assert abs(rows[-1].numerical) < 1e-4 * weight * way
    done, gained = sum(r.work["scripts"] for r in rows), rows[-1].total - rows[0].total
    assert gained == pytest.approx(weight * 0.5 * 0.5, rel=0.02)
    assert done == pytest.approx(gained, rel=0.05)  # the rest went into the jerk at the start


@pytest.mark.parametrize("integrator", [BDF1(TIGHT), BDF2(TIGHT), LinearlyImplicit()])
def test_work_of_damping_does_not_depend_on_bodies_that_touch_nothing(integrator):
    mesh, _ = solid()
    _, body = solid(damping=Rayleigh(beta=1e-2), positions=mesh.X * [1.1, 1.0, 1.0])
    rod = Link(Revolute((0, 1, 0)), cuboid((0.1, 0.02, 0.02), 1000.0, at(0.05, 0, 0)))
    arm = Articulated([rod], [JointSpring(0, damping=0.1)], v=[3.0])
    books = []
    for bodies in ([body], [arm], [body, arm]):
        scene = Scene(bodies, integrator=integrator, gravity=(0, 0, 0), h=0.005, duration=0.05)
        rows = [step.ledger for step in simulate(scene)]
        books.append(np.array([[row.work["damping"], row.numerical] for row in rows]))
    alone, joint, both = books
    assert (alone[:, 0] < 0.0).all() and (joint[:, 0] < 0.0).all()
    assert np.allclose(both, alone + joint, rtol=1e-6, atol=1e-9 * np.abs(alone).max())

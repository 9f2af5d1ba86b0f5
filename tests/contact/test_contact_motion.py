"""Contact in motion: friction angle, no energy from nothing, momentum, no intersections, restart, every integrator."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from pliant.arrays import Array
from pliant.articulated.body import Rigid
from pliant.bodies import Membrane, Rayleigh, Solid, SpringNet
from pliant.contact.intersect import intersections
from pliant.contact.obstacles import Bowl, Plane, Sphere
from pliant.errors import SceneError
from pliant.integrators import (
    BDF1,
    BDF2,
    ERE,
    MSSI,
    RK4,
    SDIRK2,
    SIERE,
    XPBD,
    LinearlyImplicit,
    Quasistatic,
    SymplecticEuler,
)
from pliant.maps.motions import Keyframes, rotation
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import Mesh, ball, box, sheet, spring_net
from pliant.mesh.topology import edges
from pliant.scene import Scene
from pliant.scenes.contact import bouncing_ball, incline, rope_knot, stack
from pliant.simulate import simulate
from pliant.solvers import PD, QLB, QLF, HybridL1, Newton
from pliant.solvers.base import Tolerance
from pliant.stage import Stage
from pliant.state import State
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.penalty_contact import PenaltyContact
from pliant.systems.projected_contact import ProjectedContact

MATERIAL = StableNeoHookean(1e5, 0.4)


def sliding(scene):
    """Mean acceleration along the slope over the second half, and the speed at the end."""
    speeds = [(s.state.t, s.state.v.reshape(-1, 3)[:, 0].mean()) for s in simulate(scene)]
    t, u = np.array(speeds).T
    late = t > 0.5 * t[-1]
    return np.polyfit(t[late], u[late], 1)[0], u[-1]


@pytest.mark.parametrize("kind", ["penalty", "barrier"])
def test_a_block_sticks_below_and_slides_above_the_friction_angle(kind):
    mu = 0.3
    contact = PenaltyContact(mu=mu, creep=1e-3) if kind == "penalty" else BarrierContact(mu=mu, creep=1e-3)
    below, above = np.arctan(mu) - 0.05, np.arctan(mu) + 0.1
    acceleration, speed = sliding(incline(below, contact=contact, duration=0.25, h=0.01))
    assert abs(speed) < 2e-3
    acceleration, speed = sliding(incline(above, contact=contact, duration=0.25, h=0.01))
    expected = 9.81 * (np.sin(above) - mu * np.cos(above))
    assert abs(acceleration - expected) < 0.02 * expected


@pytest.mark.parametrize(
    "contact", [PenaltyContact(mu=0.3), BarrierContact(dhat=2e-3, mu=0.3)], ids=["penalty", "barrier"]
)
def test_a_bouncing_ball_gains_no_energy(contact):
    scene = replace(bouncing_ball(cells=5, contact=contact), duration=0.35)
    previous = None
    touched, fastest = False, 0.0
    for step in simulate(scene):
        touched |= step.ledger.energies["contact"] > 0
        if previous is not None:
            assert step.ledger.total <= previous + 1e-7 * step.ledger.scale
        previous = step.ledger.total
        fastest = max(fastest, step.state.v.reshape(-1, 3)[:, 2].mean())
    assert touched and fastest > 0.03  # it bounced


def test_bodies_in_contact_keep_their_momentum():
    cube = box(size=(0.1, 0.1, 0.1), cells=(2, 2, 2))
    bodies = [
        Solid(cube, MATERIAL, velocity=(1.0, 0, 0)),
        Solid(cube.transformed(translate=(0.11, 0.03, 0.02)), MATERIAL, velocity=(-0.5, 0, 0)),
    ]
    for contact in (PenaltyContact(mu=0.3), BarrierContact(mu=0.3)):
        scene = Scene(bodies, contact=contact, gravity=(0, 0, 0), integrator=BDF1(), h=5e-3, duration=0.06)
        steps = list(simulate(scene))
        assert max(s.report.contacts for s in steps) > 0
        momentum = np.array([s.ledger.linear for s in steps])
        assert abs(momentum - [0.5, 0, 0]).max() < 1e-6
        assert steps[-1].state.v.reshape(2, -1, 3)[0, :, 0].mean() < 0.5  # they did collide


def test_barrier_pile_never_intersects_and_restarts_bit_for_bit():
    rng = np.random.default_rng(0)
    cube = box(size=(0.1, 0.1, 0.1), cells=(1, 1, 1))
    bodies = [
        Solid(
            cube.transformed(translate=(*(0.03 * rng.normal(size=2)), 0.03 + 0.14 * k)), MATERIAL, velocity=(0, 0, -1.0)
        )
        for k in range(5)
    ]
    bowl = Bowl((0.05, 0.05, 0.35), 0.35)
    scene = Scene(bodies, contact=BarrierContact(mu=0.2), obstacles=[bowl], integrator=BDF1(), h=0.01, duration=0.25)
    n = len(cube.X)
    F = np.concatenate([cube.surface() + n * k for k in range(5)])
    kept = None
    for step in simulate(scene):
        assert step.report.converged
        x = step.state.q.reshape(-1, 3)
        assert len(intersections(x, edges(F), F)) == 0
        assert bowl.distance(x)[0].min() > 0 and step.system.min_distance(step.state.q, step.state.t) > 0
        if step.index == 12:
            kept = step.checkpoint()
    again = list(simulate(scene, start=kept))[-1]
    assert np.array_equal(again.state.q, step.state.q) and np.array_equal(again.state.v, step.state.v)


@pytest.mark.parametrize(
    "solver",
    [QLB(at="guess"), QLB(), QLB(refresh=3), QLF(), HybridL1()],
    ids=["guess", "QLB", "refreshed", "QLF", "HYBRID-L1"],
)
def test_solvers_reach_newtons_root_with_and_without_transient_blocks(solver):
    cube = box(size=(0.1, 0.1, 0.1), cells=(2, 2, 2))
    bodies = [
        Solid(cube, MATERIAL),
        Solid(cube.transformed(translate=(0.02, 0.013, 0.0985)), MATERIAL, velocity=(0, 0, -0.3)),
    ]
    tight = Tolerance(1e-10, 1e-12)
    scene = Scene(bodies, contact=PenaltyContact(mu=0.0, damping=0.0), obstacles=[Plane((0, 0, 0.001))])
    system = scene.system()
    state = State(system.X.ravel(), np.repeat([[0, 0, 0], [0, 0, -0.3]], len(cube.X), axis=0).ravel(), 0.0)
    target = state.q + 5e-3 * state.v
    stage = Stage(system, 5e-3, target, state.q, 5e-3, target, state)
    root = Newton(tolerance=tight, coupled=True).solve(stage, target)
    found = replace(solver, tolerance=tight).solve(stage, target)
    assert root.report.converged
    if found.report.converged or solver != QLF():
        assert found.report.converged and abs(found.z - root.z).max() < 1e-8
    if hasattr(solver, "coupled"):
        full = replace(solver, tolerance=tight, coupled=True).solve(stage, target)
        assert abs(full.z - root.z).max() < 1e-8 or not full.report.converged
        assert found.report.counts.analyses == 1
        refresh = getattr(solver, "refresh", None)
        assert found.report.counts.factorizations == 1 or (refresh and found.report.iterations > refresh)


def test_the_pattern_is_analysed_once_whatever_collides():
    contact = PenaltyContact(mu=0.5, self_contact=False)
    scene = replace(stack(3, E=2e5, gap=5e-3, duration=0.2, contact=contact), integrator=SDIRK2(QLB(at="guess")))
    steps = list(simulate(scene))
    assert sum(s.report.counts.analyses for s in steps) == 1
    assert len({s.report.contacts for s in steps}) > 1  # the contact set did change


@pytest.mark.parametrize(
    "integrator",
    [BDF1(), BDF2(), SDIRK2(QLB(at="guess")), LinearlyImplicit(), SymplecticEuler(substeps=40)],
    ids=["BDF1", "BDF2", "SDIRK2-QLB", "LinearlyImplicit", "SymplecticEuler"],
)
def test_penalty_contact_serves_every_kind_of_integrator(integrator):
    scene = replace(bouncing_ball(cells=4, E=1e5, height=0.01, integrator=integrator), h=2.5e-3, duration=0.1)
    lowest = min(s.state.q.reshape(-1, 3)[:, 2].min() for s in simulate(scene))
    assert -0.02 < lowest < 0.0


def test_a_moving_floor_carries_and_lifts():
    cube = box(size=(0.1, 0.1, 0.1), cells=(1, 1, 1)).transformed(translate=(0, 0, 1e-3))
    motion = Keyframes((0.0, 0.3), ((0, 0, 0), (0.06, 0, 0.03)))
    for contact in (PenaltyContact(mu=0.8), BarrierContact(mu=0.8)):
        scene = Scene(
            [Solid(cube, MATERIAL)],
            contact=contact,
            obstacles=[Plane(motion=motion)],
            integrator=BDF1(),
            h=0.01,
            duration=0.3,
        )
        final = list(simulate(scene))[-1]
        moved = final.state.q.reshape(-1, 3).mean(axis=0) - cube.X.mean(axis=0)
        assert 0.02 < moved[2] < 0.045 and moved[0] > 0.03


@pytest.mark.parametrize(
    "integrator",
    [BDF1(), ERE(), SIERE(), RK4(), XPBD(), LinearlyImplicit(), MSSI(), BDF1(PD())],
    ids=lambda i: type(i).__name__,
)
@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_projection_belongs_to_the_scene_whatever_the_integrator(integrator, mu):
    net = SpringNet(spring_net(6, 6), k=200.0, mass=0.01)
    net = replace(net, mesh=net.mesh.transformed(translate=(-0.5, -0.5, 0.0)))
    sphere, contact = Sphere((0, 0, -0.35), 0.3), ProjectedContact(mu=mu, margin=3e-4)
    scene = Scene([net], contact=contact, obstacles=[sphere], integrator=integrator, h=5e-3, duration=0.2)
    touched = 0
    for step in simulate(scene):
        g, n = sphere.distance(step.state.q.reshape(-1, 3))
        assert g.min() >= 3e-4 - 1e-12
        near = g < 3.01e-4
        assert (step.state.v.reshape(-1, 3)[near] * n[near]).sum(axis=1).min(initial=0.0) > -1e-9
        assert step.report.contacts == near.sum() and step.report.penetration <= 1e-12
        touched = max(touched, int(near.sum()))
    assert touched >= 4


def test_projection_refuses_methods_that_would_undo_it():
    net = SpringNet(spring_net(2, 2), k=200.0, mass=0.01)
    common = {"contact": ProjectedContact(), "obstacles": [Plane(point=(0, 0, -1))]}
    for integrator in (BDF2(), Quasistatic()):
        with pytest.raises(SceneError, match="does not follow the corrections of ProjectedContact"):
            Scene([net], integrator=integrator, **common)
    with pytest.raises(SceneError, match="soft bodies only"):
        Scene([net, Rigid(box(size=(0.1, 0.1, 0.1), cells=(1, 1, 1)))], integrator=BDF1(), **common)


def test_projection_changes_only_the_normal_part_of_the_velocity():
    mesh = Mesh(X=np.array([[0, 0, 0.1], [0, 0, 1.0]]), T=np.array([[0, 1]]))
    after = State(np.array([0, 0, -0.1, 0, 0, 1.0]), np.array([1.0, 2.0, -3.0, 4, 5, -6]), 0.1)
    before = State(mesh.X.ravel(), np.zeros(6), 0.0)

    def corrected(mu: float, floor: Plane, pins=()) -> State:
        net = SpringNet(mesh, k=1.0, mass=1.0, pins=pins)
        scene = Scene([net], contact=ProjectedContact(mu=mu), obstacles=[floor], integrator=BDF1())
        return scene.system().corrected(before, after)

    found = corrected(0.0, Plane())
    assert np.allclose(found.q, [0, 0, 0, 0, 0, 1]) and np.allclose(found.v, [1, 2, 0, 4, 5, -6])
    found = corrected(0.5, Plane())
    assert np.allclose(found.v[:3], np.array([1, 2, 0]) * (1 - 1.5 / np.sqrt(5)))
    rising = Plane(motion=Keyframes((0.0, 1.0), ((0, 0, 0), (0, 0, 1.0))))  # at 0.1 m after 0.1 s, at 1 m/s
    found = corrected(0.0, rising)
    assert np.allclose(found.q[:3], [0, 0, 0.1]) and np.allclose(found.v[:3], [1, 2, 1.0])
    assert np.array_equal(corrected(0.5, Plane(), Pin(np.array([0]))).v, after.v)


def test_a_sheet_rests_on_a_sheet_and_never_gets_through():
    lower = sheet(size=(0.3, 0.3), cells=(6, 6))
    upper = sheet(size=(0.16, 0.16), cells=(4, 4)).transformed(
        rotate=rotation((0, 0, 0.4)), translate=(0.1, 0.05, 0.03)
    )
    rim = lower.where(lambda X: (X[:, :2] < 1e-9).any(axis=1) | (X[:, :2] > 0.3 - 1e-9).any(axis=1))
    rubber = StableNeoHookean(1e6, 0.3)
    cloth = {"thickness": 1e-3, "damping": Rayleigh(alpha=2.0, beta=1e-3)}
    bodies = [Membrane(lower, rubber, pins=Pin(rim), **cloth), Membrane(upper, rubber, **cloth)]
    contact = PenaltyContact(k=100.0, mu=0.3, thickness=6e-3)
    scene = Scene(bodies, contact=contact, integrator=BDF1(), h=5e-3, duration=0.5)
    n, touched = len(lower.X), 0
    for step in simulate(scene):
        x = step.state.q.reshape(-1, 3)
        touched = max(touched, step.report.contacts)
        F = np.concatenate([lower.T, upper.T + n])
        assert len(intersections(x, edges(F), F)) == 0
    assert touched > 5 and abs(step.state.v.reshape(-1, 3)[n:, 2].mean()) < 0.1
    push = step.system.contacts(step.state.q, step.state.v, step.state.t).between(1, 0)[0]
    assert push[2] > 0


@pytest.mark.slow
def test_a_rope_ties_itself_into_a_knot_that_holds():
    scene = rope_knot()
    F = scene.bodies[0].mesh.surface()
    for step in simulate(scene):
        x = step.state.q.reshape(-1, 3)
        if step.index % 10 == 0:
            assert len(intersections(x, edges(F), F, touching=True)) == 0
    apart = np.linalg.norm(x[:7].mean(axis=0) - x[-7:].mean(axis=0))
    rest = rope_knot().bodies[0].mesh.X.reshape(-1, 7, 3).mean(axis=1)
    length = np.linalg.norm(np.diff(rest, axis=0), axis=1).sum()
    assert apart > 2.5 * np.linalg.norm(rest[0] - rest[-1])
    assert apart < 0.95 * length and step.report.contacts > 20  # pulled out, but for the knot


def test_refreshed_qlb_gets_through_barriers_with_friction():
    cube = box(size=(0.1, 0.1, 0.1), cells=(1, 1, 1))
    places = ((0.0, 0.0, 0.002), (0.03, 0.02, 0.105), (-0.02, 0.04, 0.21))
    bodies = [Solid(cube.transformed(translate=p), MATERIAL, velocity=(0.3, 0.0, -0.5)) for p in places]
    solver = QLB(at="guess", refresh=10, coupled=True)
    contact = BarrierContact(dhat=1e-3, mu=0.3)
    scene = Scene(bodies, contact=contact, obstacles=[Plane()], integrator=BDF1(solver), h=0.01, duration=0.15)
    steps = list(simulate(scene))
    assert all(s.report.converged for s in steps) and max(s.report.contacts for s in steps) > 5
    assert min(s.system.min_distance(s.state.q, s.state.t) for s in steps) > 0


@dataclass(frozen=True)
class Wave:
    """A sheet that becomes a trough: z = a t (x^2 + y^2)."""

    rise: float = 30.0  # 1/(m s)

    def positions(self, X: Array, t: float) -> Array:
        return X + t * self.rise * (X[:, :2] ** 2).sum(axis=1)[:, None] * (0.0, 0.0, 1.0)


@pytest.mark.parametrize("contact", [PenaltyContact(), BarrierContact()], ids=["penalty", "barrier"])
def test_a_mesh_that_deforms_by_itself_carries_what_lies_on_it(contact):
    """A body all of whose vertices are scripted is an obstacle that deforms: a ball rolls to the middle of a trough."""
    mesh = sheet((0.4, 0.4), (8, 8)).transformed(translate=(-0.2, -0.2, 0.0))
    trough = Membrane(mesh, MATERIAL, thickness=1e-3, pins=Pin(np.arange(len(mesh.X)), Wave()), name="trough")
    start = ball(radius=0.03, cells=3).transformed(translate=(0.06, 0.0, 0.0325))
    scene = Scene(
        [trough, Solid(start, MATERIAL, name="ball")], contact=contact, integrator=BDF1(), h=1e-2, duration=0.25
    )
    for step in simulate(scene):
        x = step.state.q.reshape(-1, 3)[len(mesh.X) :]
        t = step.state.t
    middle = x.mean(axis=0)
    assert middle[2] > 0.02 and x[:, 2].min() > -2e-3  # it is still on the sheet
    assert middle[0] < 0.055  # and has begun to roll inwards
    assert step.acted.pairs["trough", "ball"][2] > 0.0
    np.testing.assert_allclose(step.state.q.reshape(-1, 3)[: len(mesh.X)], Wave().positions(mesh.X, t), atol=1e-12)

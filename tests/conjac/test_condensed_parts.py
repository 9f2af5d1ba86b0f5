"""Condensed bodies in the velocity step: alone as the integrator has them, in mixtures as one more part."""

import numpy as np
import pytest

from pliant import checkpoint
from pliant.articulated import Articulated, Link, Rigid, cuboid
from pliant.articulated.bodies import at
from pliant.articulated.forces import Cable
from pliant.articulated.joints import Revolute
from pliant.attachments import Attachment
from pliant.bodies import Rayleigh, Solid
from pliant.contact.obstacles import Plane
from pliant.energies.elastic import Elastic
from pliant.errors import SceneError
from pliant.integrators import ConJac, LinearlyImplicit
from pliant.loads import Activation
from pliant.maps.pins import Pin
from pliant.materials import AnisotropicFung, StableNeoHookean
from pliant.mesh import bar, box, rectangle
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.systems.condensed import Condensation
from pliant.systems.penalty_contact import PenaltyContact
from pliant.systems.row_contact import RowContact

NODES = np.array([20, 40])


def beam(reduction=None, *, at=(0.0, 0.0, 0.0), pinned=True, name="solid", velocity=(0.0, 0.0, 0.0), density=1000.0):
    mesh = bar(size=(0.15, 0.05, 0.05), cells=(6, 2, 2))
    pins = Pin(mesh.where(lambda X: X[:, 0] < 1e-9)) if pinned else ()
    mesh = mesh.transformed(translate=at)
    options = {"velocity": velocity, "name": name, "density": density}
    return Solid(
        mesh, StableNeoHookean(4e4, 0.4), pins=pins, damping=Rayleigh(beta=1e-3), reduction=reduction, **options
    )


def marched(integrator, scene, steps=20, h=5e-3):
    system = scene.system()
    state, memory = scene.initial(system), None
    for _ in range(steps):
        step = integrator.step(system, state, h, memory)
        assert all(r.converged for r in step.reports)
        state, memory = step.state, step.memory
    return state


@pytest.mark.parametrize("pinned", [True, False])
def test_one_condensed_body_moves_as_the_integrator_moves_it(pinned):
    condensed = Scene([beam(Condensation(NODES), pinned=pinned)], integrator=LinearlyImplicit(beta=0.5))
    ours = marched(condensed.integrator, condensed)
    theirs = marched(ConJac(NODES), Scene([beam(pinned=pinned)]))
    assert np.allclose(ours.q, theirs.q, atol=1e-13) and np.allclose(ours.v, theirs.v, atol=1e-11)
    assert abs(ours.q - condensed.system().rest).max() > 1e-2


def test_and_so_it_does_on_a_floor_of_penalties():
    floor = {"contact": PenaltyContact(mu=0.0, bodies=False, self_contact=False), "obstacles": [Plane()]}
    low = {"at": (0.0, 0.0, 1e-3), "pinned": False, "velocity": (0.0, 0.0, -0.3)}
    condensed = Scene([beam(Condensation(NODES), **low)], integrator=LinearlyImplicit(beta=0.5), **floor)
    ours = marched(condensed.integrator, condensed, h=2e-3)
    theirs = marched(ConJac(NODES), Scene([beam(**low)], **floor), h=2e-3)
    assert np.allclose(ours.q, theirs.q, atol=1e-12)


def test_a_body_all_of_whose_vertices_lead_is_not_condensed():
    every = np.flatnonzero(beam().mesh.X[:, 0] > 1e-9)
    integrator = LinearlyImplicit(beta=0.5)
    ours = marched(integrator, Scene([beam(Condensation(every))], integrator=integrator))
    theirs = marched(integrator, Scene([beam()], integrator=integrator))
    assert np.allclose(ours.q, theirs.q, atol=1e-12)


def test_bodies_beside_a_condensed_one_move_as_they_did():
    """Each of them as in a scene of its own, though all are one part."""
    integrator = LinearlyImplicit(beta=0.5)
    first, second = beam(Condensation(NODES), name="a"), beam(at=(0.0, 0.2, 0.0), name="b")
    both = marched(integrator, Scene([second, first], integrator=integrator))
    alone = [marched(integrator, Scene([body], integrator=integrator)) for body in (second, first)]
    assert np.allclose(both.q, np.concatenate([s.q for s in alone]), atol=1e-12)


def flesh_and_block(gravity=(0.0, 0.0, 0.0), reduction=None, **options):
    """A free beam grown to a free block at one end."""
    block = Rigid(box((0.05, 0.05, 0.05)).transformed(translate=(-0.05, 0.0, 0.0)), 1000.0, name="block", **options)
    chosen = Condensation(NODES) if reduction is None else reduction
    body = beam(chosen, pinned=False, name="flesh")
    held = np.flatnonzero(body.mesh.X[:, 0] < 1e-9)
    return Scene(
        [body, block],
        attachments=[Attachment("flesh", held, "block")],
        integrator=LinearlyImplicit(beta=0.5),
        gravity=gravity,
        h=5e-3,
        duration=0.1,
    )


def test_momentum_of_condensed_flesh_on_a_link_stays():
    steps = list(simulate(flesh_and_block(velocity=(0.5, 0.0, 0.2), spin=(0.0, 3.0, 1.0))))
    p = np.array([s.ledger.linear for s in steps])
    assert abs(p - p[0]).max() < 1e-10 * abs(p).max()
    assert abs(steps[-1].state.q - steps[0].state.q).max() > 1e-2


def test_flesh_on_a_falling_link_does_not_sag():
    scene = flesh_and_block(gravity=(0.0, 0.0, -9.81))
    system = scene.system()
    last = list(simulate(scene))[-1]
    x, X = (system.positions(q) for q in (last.state.q, scene.initial(system).q))
    drop = (x - X)[:, 2]
    assert np.ptp(drop) < 1e-9 and drop[0] == pytest.approx(-9.81 * 0.1 * (0.1 + 5e-3) / 2, rel=1e-6)


def test_a_condensed_scene_resumes_byte_for_byte(tmp_path):
    scene = flesh_and_block(gravity=(0.0, 0.0, -9.81), spin=(0.0, 3.0, 1.0))
    whole = list(simulate(scene))
    checkpoint.save(tmp_path / "half.h5", whole[9].checkpoint())
    again = list(simulate(scene, start=checkpoint.load(tmp_path / "half.h5")))
    assert np.array_equal(again[-1].state.q, whole[-1].state.q)


def test_condensed_flesh_rests_on_rows():
    """Rows bound the velocities J u of all its points: nothing sinks into the floor."""
    body = beam(Condensation(count=6), at=(0.0, 0.0, 5e-3), pinned=False)
    scene = Scene(
        [body], integrator=LinearlyImplicit(beta=0.5), contact=RowContact(), obstacles=[Plane()], h=5e-3, duration=0.3
    )
    steps = list(simulate(scene))
    assert all(s.report.verdict != "failed" for s in steps)
    z = steps[-1].state.q.reshape(-1, 3)[:, 2]
    assert -2e-3 < z.min() < 2e-3 and abs(steps[-1].state.v).max() < 0.1


def arm_with_cable(activation):
    """A forearm that a cable over the elbow lifts, with a soft block grown to it."""
    y = np.array([0.0, 1.0, 0.0])
    upper = cuboid((0.02, 0.02, 0.2), 1000.0, at(0.0, 0.0, -0.1))
    fore = cuboid((0.2, 0.02, 0.02), 1000.0, at(0.1, 0.0, 0.0))
    links = [
        Link(Revolute(y), upper, name="upper arm"),
        Link(Revolute(y), fore, parent="upper arm", frame=at(0.0, 0.0, -0.2), name="forearm"),
    ]
    path = (("upper arm", np.array([0.01, 0.0, 0.05])), ("forearm", np.array([-0.06, 0.0, 0.01])))
    arm = Articulated(links, [Cable(path, 400.0, activation=activation)], name="arm")
    mesh = bar(size=(0.06, 0.04, 0.04), cells=(3, 2, 2)).transformed(translate=(0.1, -0.02, -0.19))
    bottom = np.flatnonzero(mesh.X[:, 2] < -0.19 + 1e-9)
    flesh = Solid(mesh, StableNeoHookean(2e4, 0.4), name="flesh", reduction=Condensation(count=3))
    return Scene(
        [flesh, arm],
        attachments=[Attachment("flesh", bottom, "arm", "forearm")],
        integrator=LinearlyImplicit(beta=0.5),
        h=5e-3,
        duration=0.3,
    )


def test_a_muscle_along_a_path_lifts_links_with_flesh_on_them():
    idle, driven = (list(simulate(arm_with_cable(a))) for a in (lambda t: 0.0, lambda t: min(t / 0.1, 1.0)))
    assert all(s.report.verdict != "failed" for s in (*idle, *driven))
    lift = idle[-1].state.q[-1] - driven[-1].state.q[-1]
    assert abs(lift) > np.radians(10)
    assert sum(s.ledger.work["drives"] for s in driven) > sum(s.ledger.work["drives"] for s in idle)


@pytest.mark.parametrize("mesh", [bar(size=(0.3, 0.1, 0.1), cells=(3, 1, 1)), rectangle((0.3, 0.1), (6, 2))])
def test_activation_is_the_active_part_of_the_fibres(mesh):
    """Force and stiffness are those of AnisotropicFung with activation, less those without."""
    d = mesh.dim
    fibre, signal = (0.6, 0.8, 0.0), lambda t: 0.5 * t
    body = Solid(mesh, StableNeoHookean(1e4, 0.3) + AnisotropicFung(fibre, 1e4))
    load = Activation(fibre, 3e4, signal)
    with_load, without = (Scene([body], gravity=(0,) * d, forces=f).system() for f in ([load], []))
    x = mesh.X.ravel() + 0.01 * np.random.default_rng(3).normal(size=mesh.X.size)
    f = with_load.force(x, 0 * x, 1.4) - without.force(x, 0 * x, 1.4)
    active, relaxed = (
        Elastic(mesh.X, mesh.T, AnisotropicFung(fibre, 1e4, activation=a, tension=3e4)) for a in (0.7, 0)
    )
    assert np.allclose(f, relaxed.gradient(x) - active.gradient(x), atol=1e-9 * abs(f).max())
    K = with_load.stiffness(x, 0 * x, 1.4) - without.stiffness(x, 0 * x, 1.4)
    expected = relaxed.hessian(x) - active.hessian(x)
    assert abs(K - expected).max() < 1e-9 * abs(expected).max()


def test_keyframes_of_an_activation_are_joined_by_lines():
    load = Activation((1, 0, 0), "2 kPa", ((0.1, 0.0), (0.3, 1.0)))
    assert load.tension == 2000.0
    assert [load.at(t) for t in (0.0, 0.1, 0.2, 0.5)] == pytest.approx([0.0, 0.0, 0.5, 1.0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Activation((1, 0, 0), 1e4, ((0.3, 0.0), (0.1, 1.0))), "Activation.signal"),
        (lambda: Activation((1, 0, 0), -1e4, ((0.0, 0.0),)), "can only pull"),
        (lambda: Condensation(gamma=-1.0), "Condensation.gamma"),
        (lambda: beam(reduction="conjac"), "Condensation"),
        (lambda: Scene([beam(Condensation(np.array([9999])))], integrator=LinearlyImplicit()).system(), "9999"),
    ],
)
def test_what_cannot_be_is_refused(make, message):
    with pytest.raises(SceneError, match=message):
        make()

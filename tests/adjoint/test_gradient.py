"""Gradients through time against differences of whole runs, tangents against adjoints."""

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant import adjoint
from pliant.articulated import Link
from pliant.articulated.bodies import at, cuboid
from pliant.articulated.constraints import CoupledJoints, PrescribedJoint
from pliant.articulated.forces import JointSpring, JointTorque
from pliant.articulated.joints import Revolute, Spherical
from pliant.errors import SceneError
from pliant.maps.functions import Series
from pliant.solvers import Newton, Tolerance

TIGHT = Newton(tolerance=Tolerance(1e-13, 1e-15))
CLOSE = Newton(tolerance=Tolerance(1e-11, 1e-13))  # what the round-off of contact allows
MESH = pl.mesh.bar((0.3, 0.1, 0.1), (3, 1, 1))
LEFT = np.flatnonzero(MESH.X[:, 0] < 1e-9)
MODULI = 1e4 * np.random.default_rng(1).uniform(0.5, 1.5, len(MESH.T))
METHODS = [
    pl.BDF1(TIGHT),
    pl.BDF2(TIGHT),
    pl.SDIRK2(TIGHT),
    pl.TRBDF2(TIGHT),
    pl.ImplicitMidpoint(TIGHT),
    pl.Quasistatic(TIGHT),
    pl.LinearlyImplicit(psd=False),
    pl.ExplicitEuler(30),
    pl.SymplecticEuler(20),
    pl.Verlet(20),
]
PARAMETERS = [
    ["bodies.bar.material.E"],
    ["bodies.bar.material.nu", "bodies.bar.density"],
    ["gravity", "bodies.bar.velocity", "bodies.bar.damping.beta"],
    ["bodies.bar.pins.0.motion.translations"],
    ["bodies.bar.mesh.X"],
    ["initial.q", "initial.v"],
]


def swung(integrator, steps=5, **body):
    """A bar whose left end is shaken."""
    shaken = pl.Pin(LEFT, pl.Keyframes([0, 0.03, 0.06], [(0, 0, 0), (0.01, 0.02, 0), (0, 0, 0.03)]))
    given = {"damping": pl.Rayleigh(0.1, 1e-3), "velocity": (0, 0.3, 0), "pins": shaken, **body}
    bar = pl.Solid(MESH, pl.StableNeoHookean(MODULI, 0.4), name="bar", **given)
    return pl.Scene([bar], integrator, h=0.01, duration=0.01 * steps)


def tracked(steps, points=(15, 3)):
    """Two points are to follow a random path."""
    places = 0.1 * np.random.default_rng(0).normal(size=(steps + 1, 2, 3))
    return adjoint.PointTrajectory(np.array(points), places)


def require(found, error=1e-6, dot=1e-10):
    check = found.check
    assert check.error < error, str(check)
    assert abs(check.adjoint - check.tangent) <= dot * abs(check.tangent), str(check)
    assert check.difference != 0.0


@pytest.mark.parametrize("wrt", PARAMETERS, ids=lambda names: names[0].split(".")[-1])
@pytest.mark.parametrize("integrator", METHODS, ids=lambda i: type(i).__name__)
def test_every_method_and_kind_of_parameter(integrator, wrt):
    if isinstance(integrator, pl.Quasistatic) and wrt[0] in ("gravity", "initial.q"):
        wrt = ["gravity"] if wrt[0] == "gravity" else ["bodies.bar.material.nu"]
    require(adjoint.gradient(swung(integrator), tracked(5), wrt, check=True))


@pytest.mark.parametrize("damping", [pl.Green(1e-3), pl.Rayleigh(0.1, 1e-3, current=True)], ids=["green", "current"])
@pytest.mark.parametrize("integrator", [pl.BDF2(TIGHT), pl.Verlet(20)], ids=["BDF2", "Verlet"])
def test_damping_that_depends_on_the_shape(integrator, damping):
    """Its tangent is not symmetric, and solvers leave a part of it out."""
    require(
        adjoint.gradient(swung(integrator, damping=damping), tracked(5), ["bodies.bar.material.E"], check=True), 2e-6
    )


def test_muscles_and_forces_over_time():
    """Fibres and their activation, activations and forces through control points."""
    flesh = pl.StableNeoHookean(1e4, 0.4) + pl.AnisotropicFung((1, 0.2, 0), 1e4, activation=0.5, tension=5e3)
    bar = pl.Solid(MESH, flesh, pins=pl.Pin(LEFT), damping=pl.Rayleigh(0.1, 1e-3), name="bar")
    active = pl.Activation((1, 0, 0.3), 5e3, Series((0.0, 0.03, 0.06), (0.1, 1.0, 0.2)))
    push = pl.Push(np.array([15, 12]), (0.0, 0.02, 0.04), ((0, 1, 0), (1, 0, 0.5), (0, 0, -1)))
    scene = pl.Scene([bar], pl.BDF2(TIGHT), h=0.01, duration=0.05, forces=[active, push])
    fibres = [f"bodies.bar.material.materials.1.{name}" for name in ("direction", "activation")]
    for wrt in (fibres, ["forces.0.signal.values", "forces.1.values"], ["bodies.bar.material.materials.0.E"]):
        require(adjoint.gradient(scene, tracked(5), wrt, check=True))


CONTACTS = [
    pl.PenaltyContact(k=200.0, mu=0.3, lagged=False),
    pl.PenaltyContact(k=200.0, mu=0.3, lagged=True),
    pl.PenaltyContact(k=200.0, mu=0.1, damping=0.1),
    pl.BarrierContact(mu=0.3, stiffness=1e7, dhat=0.01),
]


@pytest.mark.parametrize("integrator", [pl.BDF1(CLOSE), pl.BDF2(CLOSE), pl.TRBDF2(CLOSE)], ids=["1", "2", "tr"])
@pytest.mark.parametrize("contact", CONTACTS, ids=["penalty", "lagged", "damped", "barrier"])
def test_through_contact_and_friction(contact, integrator):
    """A bar slides over the floor; also the friction coefficient is a parameter."""
    bar = pl.Solid(MESH, pl.StableNeoHookean(1e4, 0.4), name="bar", velocity=(0.3, 0, -0.5))
    scene = pl.Scene(
        [bar], integrator, h=5e-3, duration=0.1, contact=contact, obstacles=[pl.Plane(point=(0, 0, -0.07))]
    )
    wrt = ["bodies.bar.material.E", "contact.mu", "bodies.bar.velocity"]
    found = adjoint.gradient(scene, tracked(20), wrt, check=True)
    require(found)
    assert abs(found["contact.mu"]) > 0.0


@pytest.mark.parametrize("contact", [CONTACTS[0], CONTACTS[3]], ids=["penalty", "barrier"])
def test_contact_forces(contact):
    """They add up to the momentum that a bouncing bar takes, and are differentiated by E, k and the throw."""
    bar = pl.Solid(MESH, pl.StableNeoHookean(1e4, 0.4), name="bar", velocity=(0, 0, -0.5))
    free, floor = replace(contact, mu=0.0), [pl.Plane(point=(0, 0, -0.03))]
    scene = pl.Scene([bar], pl.BDF1(CLOSE), h=5e-3, duration=0.1, contact=free, obstacles=floor)
    loss = adjoint.ContactForce(np.tile([0.0, 0.0, 1.0], (21, 1)))
    system, impulse = scene.system(), np.zeros(3)
    for step in pl.simulate(scene):
        impulse += 5e-3 * loss.force(step.state, system)[0]
    mass = system.nodal_mass.reshape(-1, 3)
    gained = (mass * (step.state.v.reshape(-1, 3) - [0, 0, -0.5])).sum(axis=0) + 0.1 * mass.sum(axis=0) * [0, 0, 9.81]
    np.testing.assert_allclose(impulse, gained, atol=1e-8 * gained[2])
    assert impulse[2] > 0.1
    strength = "contact.k" if isinstance(contact, pl.PenaltyContact) else "contact.stiffness"
    require(adjoint.gradient(scene, loss, ["bodies.bar.material.E", strength, "bodies.bar.velocity"], check=True))


def arm(constraints=(), v=(1.0, 0, 0, 1.0, 2.0)):
    beam = cuboid((0.2, 0.05, 0.05), 1000.0, at(0.1, 0, 0))
    axes = Revolute(np.array([0, 1.0, 0])), Revolute(np.array([0, 0, 1.0])), Spherical()
    links = [
        Link(j, beam, p, at(0.2 if p else 0, 0, 0 if p else 0.5), n) for j, p, n in zip(axes, (None, "a", "b"), "abc")
    ]
    forces = [JointSpring("a", 2.0, 0.05), JointSpring("c", 0.5, 0.01), JointTorque("b", ((0.0, 0.1), (0.1, -0.2)))]
    return pl.Articulated(links, forces, constraints, q=(0.3, 0.2, 0.1, -0.2, 0.3), v=v, name="arm")


@pytest.mark.parametrize("integrator", METHODS[:5] + METHODS[8:], ids=lambda i: type(i).__name__)
def test_joints(integrator):
    """Inertia depends on the coordinates, springs, torques over time and gravity act."""
    wrt = ["bodies.arm.forces.0.stiffness", "bodies.arm.forces.2.torque", "gravity", "bodies.arm.v"]
    scene = pl.Scene([arm()], integrator, h=0.01, duration=0.1)
    require(adjoint.gradient(scene, tracked(10, (5, 20)), wrt, check=True))


@pytest.mark.parametrize("integrator", [pl.BDF1(TIGHT), pl.BDF2(TIGHT)], ids=["BDF1", "BDF2"])
def test_loops_and_motors(integrator):
    coupled = arm([CoupledJoints("a", "b", 0.5, 0.05)], v=(0, 0, 0, 1.0, 2.0))
    driven = arm([PrescribedJoint("a", lambda t: 0.5 * np.cos(5 * t))], v=(0.5, 0, 0, 1.0, 2.0))
    for body, wrt in ((coupled, ["bodies.arm.constraints.0.ratio", "gravity"]), (driven, ["gravity"])):
        scene = pl.Scene([body], integrator, h=0.01, duration=0.1)
        require(adjoint.gradient(scene, tracked(10, (5, 20)), wrt, check=True))


def test_mixture_with_friction():
    """A jointed arm falls on a soft bar that lies on the floor."""
    mesh = MESH.transformed(translate=(0.35, -0.05, 0.2))
    bar = pl.Solid(mesh, pl.StableNeoHookean(1e4, 0.4), name="bar", damping=pl.Rayleigh(0.1, 1e-3))
    contact, floor = pl.PenaltyContact(k=200.0, mu=0.3), pl.Plane(point=(0, 0, 0.19))
    scene = pl.Scene([bar, arm()], pl.BDF2(TIGHT), h=5e-3, duration=0.1, contact=contact, obstacles=[floor])
    wrt = ["bodies.bar.material.E", "bodies.arm.forces.0.stiffness", "bodies.arm.v"]
    require(adjoint.gradient(scene, tracked(20, (5, 20)), wrt, check=True))


@pytest.mark.parametrize("stiffness", [None, 50.0], ids=["stiff", "spring"])
def test_attachments(stiffness):
    mesh = MESH.transformed(translate=(0.35, -0.05, 0.4))
    bar = pl.Solid(mesh, pl.StableNeoHookean(1e4, 0.4), name="bar")
    tie = pl.Attachment("bar", np.flatnonzero(mesh.X[:, 0] < 0.351), "arm", "c", stiffness=stiffness)
    scene = pl.Scene([bar, arm()], pl.BDF2(TIGHT), h=5e-3, duration=0.05, attachments=[tie])
    require(
        adjoint.gradient(scene, tracked(10), ["bodies.bar.material.E", "bodies.arm.forces.0.stiffness"], check=True)
    )


@pytest.mark.parametrize("integrator", [pl.BDF1(), pl.BDF2()], ids=["BDF1", "BDF2"])
def test_few_checkpoints_give_the_same_numbers(integrator):
    """Recomputed steps are the same bytes; the gradients differ by the order of their sums only."""
    scene, loss = swung(integrator, 11), tracked(11)
    every, few = (adjoint.gradient(scene, loss, ["bodies.bar.material.E"], keep=k) for k in ("all", "few"))
    assert every.value == few.value
    np.testing.assert_allclose(every.flat, few.flat, rtol=1e-11)


def test_energy_of_a_free_bar_does_not_change_with_where_it_falls_from():
    """d(kinetic + potential)/d(gravity) of the implicit midpoint rule is that of the start: -m x0 . dg."""
    bar = pl.Solid(MESH, pl.StableNeoHookean(1e6, 0.3), name="bar")
    scene = pl.Scene([bar], pl.ImplicitMidpoint(TIGHT), h=1e-3, duration=5e-3)
    found = adjoint.gradient(scene, adjoint.EndEnergy(5), ["gravity"])
    system = scene.system()
    x0 = (system.nodal_mass * system.rest).reshape(-1, 3).sum(axis=0)
    np.testing.assert_allclose(found["gravity"], -x0, rtol=1e-6, atol=1e-9)


def test_objective_is_ready_for_scipy():
    """The modulus and the damping of a bar are found from the motion of its tip."""
    from scipy.optimize import minimize

    true = replace(swung(pl.BDF2(), 10, damping=pl.Rayleigh(0.0, 4e-3)), name="true")
    points = np.array([15, 7])
    seen = [true.initial().q.reshape(-1, 3)[points]]
    seen += [s.system.positions(s.state.q)[points] for s in pl.simulate(true)]
    start = pl.adjoint.written(true, "bodies.bar.damping.beta", 1e-3)
    loss = adjoint.PointTrajectory(points, np.array(seen), weight=1e4)
    f, x0 = adjoint.objective(start, loss, ["bodies.bar.damping.beta"])
    found = minimize(lambda x: (lambda v, g: (v, g * 1e-3))(*f(x * 1e-3)), x0 / 1e-3, jac=True, method="L-BFGS-B")
    assert abs(found.x[0] * 1e-3 / 4e-3 - 1.0) < 1e-3


def test_refusals():
    loss = tracked(5)
    scene = swung(pl.BDF2())
    cases = [
        (scene, ["bodies.bar.material.Q"], "has no 'Q'"),
        (scene, ["bodies.rod.material.E"], "called 'rod'"),
        (scene, ["bodies.bar.name"], "made of numbers"),
        (scene, ["h"], "when or how the scene is solved"),
        (scene, ["integrator.solver.tolerance.relative"], "when or how the scene is solved"),
        (scene, [], "wrt is"),
        (swung(pl.BDF2(), damping=pl.Rayleigh(0.0, 1e-3)), ["bodies.bar.damping.alpha"], "at a limit"),
        (replace(scene, on_failure="substep"), ["gravity"], "on_failure"),
        (replace(scene, integrator=pl.ERE()), ["gravity"], "ERE has no adjoint"),
        (replace(scene, integrator=pl.LinearlyImplicit()), ["gravity"], "psd"),
        (
            replace(scene, integrator=pl.LinearlyImplicit(psd=False), forces=[pl.Airflow((1.0, 0.0, 0.0))]),
            ["gravity"],
            "'air' follows the shape",
        ),
    ]
    free, floor = swung(pl.BDF1(), pins=()), [pl.Plane(point=(0, 0, -1))]
    cases += [
        (replace(scene, integrator=pl.Adaptive(pl.BDF2(), tolerance=1e-3)), ["gravity"], "Adaptive has no adjoint"),
        (replace(scene, device="cuda"), ["gravity"], "scene.device"),
        (
            replace(free, isolated=True, gravity=(0, 0, 0), bodies=[replace(free.bodies[0], damping=None)]),
            ["gravity"],
            "isolated",
        ),
        (pl.Scene([arm()], pl.BDF1(points=True), h=0.01, duration=0.02), ["gravity"], "points=True"),
        (replace(free, contact=pl.ProjectedContact(), obstacles=floor), ["gravity"], "ProjectedContact"),
        (scene, "gravity", "wrt is"),
        (replace(scene, events=[pl.Release(0.01)]), ["gravity"], "events change the scene"),
    ]
    for scene, wrt, message in cases:
        with pytest.raises(SceneError, match=message):
            adjoint.gradient(scene, loss, wrt)
    with pytest.raises(SceneError, match="no derivative"):
        adjoint.gradient(swung(pl.BDF1()), adjoint.CustomLoss(lambda k, q, v: (1.0, np.zeros(3), None)), ["gravity"])
    adaptive = replace(swung(pl.BDF1(), pins=()), contact=pl.BarrierContact(), obstacles=[pl.Plane(point=(0, 0, -1))])
    with pytest.raises(SceneError, match="closest contact"):
        adjoint.gradient(adaptive, loss, ["gravity"])


@pytest.mark.parametrize("steps, pieces", [(11, 4), (100, 20)])
def test_few_checkpoints_cover_the_run_once(steps, pieces):
    """Nested pieces follow each other backwards without a gap, and are short."""
    from pliant.adjoint.problem import LEVELS, Problem

    problem = Problem(swung(pl.SymplecticEuler(20), steps), ["gravity"])
    found = [(p.start.step, p.stop) for p in problem.pieces(problem.whole, LEVELS["few"])]
    assert found[0][1] == steps and found[-1][0] == 0
    assert all(later[0] == earlier[1] for later, earlier in zip(found, found[1:]))
    assert len(found) == pieces and max(stop - start for start, stop in found) <= 5


def test_energy_that_vanishes_still_has_a_slope():
    """A bar at rest without weight has no energy; with a little of it, it has -m x . dg."""
    bar = pl.Solid(MESH, pl.StableNeoHookean(1e4, 0.3), name="bar")
    scene = pl.Scene([bar], pl.BDF1(TIGHT), h=1e-3, duration=1e-3, gravity=(0.0, 0.0, 0.0))
    found, system = adjoint.gradient(scene, adjoint.EndEnergy(1), ["gravity"]), scene.system()
    x = (system.nodal_mass * system.rest).reshape(-1, 3).sum(axis=0)
    np.testing.assert_allclose(found["gravity"], -x, rtol=1e-9, atol=1e-9)

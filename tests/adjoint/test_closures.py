"""Gradients where loops, motors and ties act, in every method that steps them."""

import numpy as np
import pytest

import pliant as pl
from pliant import adjoint
from pliant.articulated import Link
from pliant.articulated.bodies import at, cuboid
from pliant.articulated.constraints import CoupledJoints, PrescribedJoint
from pliant.articulated.forces import JointSpring
from pliant.articulated.joints import Revolute
from pliant.errors import SceneError
from pliant.solvers import Newton, Tolerance

TIGHT = Newton(tolerance=Tolerance(1e-13, 1e-15))
FLAT = [pl.SDIRK2(TIGHT)]  # methods that refuse rows which curve or move
CURVED = [
    pl.BDF1(TIGHT),
    pl.BDF2(TIGHT),
    pl.TRBDF2(TIGHT),
    pl.ExplicitEuler(10),
    pl.SymplecticEuler(5),
    pl.Verlet(5),
]


def arm(constraints=(), v=(1.0, 0.5)):
    """Two links on hinges, which swing at the start as constraints may or may not allow."""
    beam, axes = cuboid((0.2, 0.05, 0.05), 1000.0, at(0.1, 0, 0)), np.eye(3)[[1, 2]]
    links = [
        Link(Revolute(axis), beam, parent, at(0.2 if parent else 0.0, 0, 0.5 if not parent else 0.0), name)
        for axis, parent, name in zip(axes, (None, "a"), "ab")
    ]
    return pl.Articulated(links, [JointSpring("a", 2.0, 0.05)], constraints, q=(0.3, 0.2), v=v, name="arm")


def require(scene, wrt, points=(3, 12), tolerance=1e-6):
    places = 0.1 * np.random.default_rng(0).normal(size=(scene.steps + 1, len(points), 3))
    check = adjoint.gradient(scene, adjoint.PointTrajectory(np.array(points), places), wrt, check=True).check
    assert check.error < tolerance, str(check)
    assert abs(check.adjoint - check.tangent) <= 1e-10 * abs(check.tangent), str(check)
    assert check.difference != 0.0


@pytest.mark.parametrize("integrator", CURVED + FLAT, ids=lambda i: type(i).__name__)
def test_coupled_joints_and_velocities_that_disagree_with_them(integrator):
    """BDF2 makes the velocities of the start agree with the rows: that is differentiated, too."""
    scene = pl.Scene([arm([CoupledJoints("a", "b", 0.5, 0.05)])], integrator, h=0.01, duration=0.04)
    require(scene, ["bodies.arm.constraints.0.ratio", "gravity", "bodies.arm.v", "bodies.arm.forces.0.stiffness"])


@pytest.mark.parametrize("integrator", CURVED, ids=lambda i: type(i).__name__)
def test_motors(integrator):
    scene = pl.Scene([arm([PrescribedJoint("a", lambda t: np.cos(5 * t))])], integrator, h=0.01, duration=0.04)
    require(scene, ["gravity", "bodies.arm.v"])


@pytest.mark.parametrize("integrator", CURVED, ids=lambda i: type(i).__name__)
def test_ties_of_soft_bodies_to_links(integrator):
    mesh = pl.mesh.bar((0.2, 0.1, 0.1), (2, 1, 1)).transformed(translate=(0.35, 0.0, 0.4))
    bar = pl.Solid(mesh, pl.StableNeoHookean(1e4, 0.4), name="bar")
    tie = pl.Attachment("bar", np.flatnonzero(mesh.X[:, 0] < 0.351)[:2], "arm", "b")
    scene = pl.Scene([bar, arm()], integrator, h=5e-3, duration=0.02, attachments=[tie])
    require(scene, ["bodies.bar.material.E", "bodies.arm.forces.0.stiffness", "bodies.arm.v"])


@pytest.mark.parametrize("integrator", [pl.ImplicitMidpoint(TIGHT), pl.Verlet(5)], ids=["midpoint", "Verlet"])
def test_ties_to_what_a_script_moves(integrator):
    """The velocities of the start agree with a script that is under way, and so do their derivatives."""
    mesh = pl.mesh.bar((0.2, 0.1, 0.1), (2, 1, 1))
    upper = mesh.transformed(translate=(0.0, 0.0, 0.1))
    held = np.flatnonzero(mesh.X[:, 0] < 1e-9)
    moved = pl.Keyframes((0.0, 0.1), ((0.0, 0.0, 0.0), (0.02, 0.01, 0.0)))
    bodies = [
        pl.Solid(mesh, pl.StableNeoHookean(1e4, 0.4), name="lower", pins=pl.Pin(held, moved)),
        pl.Solid(upper, pl.StableNeoHookean(2e4, 0.4), name="upper", velocity=(0.1, 0.0, 0.2)),
    ]
    tie = pl.Attachment("upper", np.flatnonzero(upper.X[:, 2] < 0.101)[:3], "lower")
    scene = pl.Scene(bodies, integrator, h=5e-3, duration=0.02, attachments=[tie])
    wrt = ["bodies.upper.material.E", "bodies.lower.pins.0.motion.translations"]
    require(scene, wrt, points=(5, 17, 20), tolerance=1e-5)  # differences of motions in time are of 1e-9


@pytest.mark.parametrize("integrator", [pl.SDIRK2(), pl.ImplicitMidpoint()], ids=["SDIRK2", "midpoint"])
def test_methods_that_lose_their_order_on_ties_say_so(integrator):
    mesh = pl.mesh.bar((0.2, 0.1, 0.1), (2, 1, 1)).transformed(translate=(0.35, 0.0, 0.4))
    bar = pl.Solid(mesh, pl.StableNeoHookean(1e4, 0.4), name="bar")
    tie = pl.Attachment("bar", np.flatnonzero(mesh.X[:, 0] < 0.351)[:2], "arm", "b")
    scene = pl.Scene([bar, arm()], integrator, h=5e-3, duration=0.02, attachments=[tie])
    loss = adjoint.PointTrajectory(np.array([3]), np.zeros((5, 1, 3)))
    with pytest.raises(SceneError, match="use BDF1, BDF2 or TRBDF2"):
        adjoint.gradient(scene, loss, ["gravity"])

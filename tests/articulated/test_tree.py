"""The tree: Jacobians against finite differences, reduced dynamics against maximal dynamics, bad input by name."""

import numpy as np
import pytest
from articulated_samples import pendulum, zoo

from pliant.articulated import (
    ArticulatedSystem,
    Body,
    Link,
    at,
    composite,
    cuboid,
    cylinder,
    mesh_body,
    particle,
    sphere,
)
from pliant.articulated.constraints import BallClosure
from pliant.articulated.joints import Fixed, Prismatic, Revolute, Translational
from pliant.articulated.maximal import joint_rows
from pliant.articulated.recursion import Recursion
from pliant.articulated.se3 import ad, adjoint, exp6, frame, inverse, log6, rotation
from pliant.errors import MaterialError, SceneError


def test_exponential_and_logarithm_are_inverse():
    rng = np.random.default_rng(0)
    for scale in (1e-9, 1e-3, 1.0):
        phi = scale * rng.normal(size=6)
        assert np.allclose(log6(exp6(phi)), phi, atol=1e-12 * scale + 1e-15)
    half = frame(rotation((0, 1, 0), np.pi), np.array([1.0, 2.0, 3.0]))
    assert np.allclose(exp6(log6(half)), half, atol=1e-12)


def test_adjoint_is_a_homomorphism_with_generator_ad():
    rng = np.random.default_rng(1)
    E, F, phi = exp6(rng.normal(size=6)), exp6(rng.normal(size=6)), rng.normal(size=6)
    assert np.allclose(adjoint(E @ F), adjoint(E) @ adjoint(F))
    assert np.allclose(adjoint(inverse(E)), np.linalg.inv(adjoint(E)))
    e = 1e-6
    rate = (adjoint(E @ exp6(e * phi)) - adjoint(E @ exp6(-e * phi))) / (2 * e)
    assert np.allclose(rate, adjoint(E) @ ad(phi), atol=1e-8)


def test_jacobian_and_its_rate():
    system, q, v = zoo()
    kin = system.kinematics(q, v)
    J, rng = kin.jacobian(), np.random.default_rng(2)
    x, y = rng.normal(size=len(q)), rng.normal(size=(len(system.tree), 6))
    assert np.allclose(kin.apply(x).ravel(), J @ x, atol=1e-12)
    assert np.allclose(kin.apply_transpose(y), J.T @ y.ravel(), atol=1e-12)
    e = 1e-6
    for i in range(len(q)):
        d = e * np.eye(len(q))[i]
        plus, minus = system.kinematics(q + d, v).frames, system.kinematics(q - d, v).frames
        for b in range(len(system.tree)):
            X = np.linalg.inv(kin.frames[b]) @ (plus[b] - minus[b]) / (2 * e)
            twist = [X[2, 1], X[0, 2], X[1, 0], *X[:3, 3]]
            assert np.allclose(J[6 * b : 6 * b + 6, i], twist, atol=1e-7)
    rate = (system.kinematics(q + e * v, v).jacobian() - system.kinematics(q - e * v, v).jacobian()) / (2 * e)
    assert np.allclose(kin.bias.ravel(), rate @ v, atol=1e-6)
    assert np.allclose(kin.bias.ravel(), rate @ v, atol=1e-6)


def test_recursion_inverts_the_reduced_matrix():
    system, q, v = zoo()
    kin = system.kinematics(q, v)
    rng = np.random.default_rng(3)
    G = rng.normal(size=(len(system.tree), 6, 6))
    A = G @ np.swapaxes(G, 1, 2) + 5 * np.eye(6)
    J, n = kin.jacobian(), len(system.tree)
    extra = [
        (np.arange(system.tree.slice(i).start, system.tree.slice(i).stop), np.eye(system.tree.links[i].joint.dof))
        for i in range(n)
    ]
    full = sum(J[6 * i : 6 * i + 6].T @ A[i] @ J[6 * i : 6 * i + 6] for i in range(n)) + np.eye(len(q))
    b = rng.normal(size=len(q))
    assert np.allclose(Recursion(kin, A, extra).solve(b), np.linalg.solve(full, b), rtol=1e-9, atol=1e-11)


def test_reduced_accelerations_solve_the_maximal_equations():
    """M phidot = f + G^T lambda with the joint rows G, an independent formulation with one multiplier per joint row."""
    system, q, v = zoo()
    kin = system.kinematics(q, v)
    a = system.acceleration(q, v, 0.0)
    phidot = kin.apply(a) + kin.bias
    f = system.assemble(kin, 0.0).f
    G, _, _ = joint_rows(kin, np.zeros((len(system.tree), 6)))
    M = system.tree.inertia.ravel()
    reaction = M * phidot.ravel() - f.ravel()
    multipliers = np.linalg.lstsq(G.T, reaction, rcond=None)[0]
    assert (
        np.abs(G @ kin.twists.ravel() - 0 * multipliers).max() < 1e2
    )  # joints do move; rows only see forbidden motion
    assert np.allclose(G.T @ multipliers, reaction, atol=1e-8 * np.abs(reaction).max())


def test_accelerations_solve_the_lagrange_equations():
    """d/dt dL/dv - dL/dq = 0 with L taken from energies alone, by finite differences."""
    system = pendulum(3, gravity=(0, 0, -9.81))
    rng = np.random.default_rng(4)
    q, v = rng.normal(size=3), rng.normal(size=3)
    a, e = system.acceleration(q, v, 0.0), 1e-4

    def lagrangian(q, v):
        E = system.energies(q, v, 0.0)
        return E["kinetic"] - E["gravity"]

    def momentum(q, v):
        return np.array([(lagrangian(q, v + e * d) - lagrangian(q, v - e * d)) / (2 * e) for d in np.eye(3)])

    rate = (momentum(q + e * v, v + e * a) - momentum(q - e * v, v - e * a)) / (2 * e)
    slope = np.array([(lagrangian(q + e * d, v) - lagrangian(q - e * d, v)) / (2 * e) for d in np.eye(3)])
    assert np.allclose(rate, slope, rtol=1e-5, atol=1e-5)


def test_inertias():
    box = cuboid((1.0, 2.0, 3.0), 2.0)
    X, F = box.points, box.faces
    mesh = mesh_body(X + [0.3, 0.2, 0.1], F, 2.0)
    assert np.allclose(np.sort(mesh.inertia[:3]), np.sort(box.inertia[:3])) and np.isclose(mesh.mass, 12.0)
    assert np.allclose(mesh.frame[:3, 3], [0.3, 0.2, 0.1])
    halves = composite([cuboid((1.0, 2.0, 1.5), 2.0, at(0, 0, z)) for z in (-0.75, 0.75)])
    assert np.allclose(np.sort(halves.inertia), np.sort(box.inertia))
    r = np.random.default_rng(5).uniform(-1, 1, (400_000, 3))
    ball, rod = sphere(1.0, 1.0), cylinder(0.8, 2.0, 1.0)
    inside = r[np.sum(r * r, axis=1) < 1]
    assert np.isclose(ball.inertia[0], np.mean(inside[:, 1] ** 2 + inside[:, 2] ** 2) * ball.mass, rtol=1e-2)
    inside = r[np.hypot(r[:, 0], r[:, 1]) < 0.8]
    assert np.isclose(rod.inertia[0], np.mean(inside[:, 1] ** 2 + inside[:, 2] ** 2) * rod.mass, rtol=1e-2)


@pytest.mark.parametrize("away", [0.0, 1e2, 1e6])
def test_the_inertia_of_a_mesh_does_not_depend_on_where_it_is(away):
    """Integrals about the origin lose digits with (distance / size)^2: in map coordinates moments were negative."""
    brick = cuboid((0.06, 0.04, 0.02), 800.0)
    there = away * np.array([1.0, -0.5, 0.25])
    mesh = mesh_body(brick.points + there, brick.faces, 800.0)
    rounded = 1e-12 + 16 * np.spacing(away) / 0.02  # of the corners themselves
    assert np.allclose(np.sort(mesh.inertia), np.sort(brick.inertia), rtol=rounded, atol=0.0)
    assert np.allclose(mesh.frame[:3, 3], there, rtol=0.0, atol=1e-12 + 4 * np.spacing(away))
    assert np.allclose(mesh.points @ mesh.frame[:3, :3].T, brick.points, rtol=0.0, atol=1e-12 + 4 * np.spacing(away))


def hinge(parent=None, name="", body=None):
    return Link(Revolute((0, 1, 0)), body or cuboid((1, 1, 1), 1.0, at(0.5, 0, 0)), parent, name=name)


@pytest.mark.parametrize(
    ("links", "words"),
    [
        ([hinge("b", "a"), hinge("a", "b")], "cycle: a -> b -> a"),
        ([hinge(None, "a"), hinge("c", "b")], "unknown parent 'c'"),
        ([hinge(None, "a"), hinge(None, "a")], "two links are called 'a'"),
        ([hinge(None, "a", Body(np.zeros(6)))], "link 'a': its joint moves no mass"),
        ([hinge(None, "a", particle(1.0))], "link 'a': its joint moves no mass"),
        ([], "no links"),
    ],
)
def test_bad_trees_are_named(links, words):
    with pytest.raises(SceneError, match=words):
        ArticulatedSystem(links)


def test_a_particle_may_translate_and_a_frame_may_be_welded():
    ArticulatedSystem([Link(Translational(), particle(1.0))])
    ArticulatedSystem([Link(Fixed(), Body(np.zeros(6))), Link(Prismatic((1, 0, 0)), cuboid((1, 1, 1), 1.0), 0)])


def test_bad_bodies_and_axes_are_named():
    with pytest.raises(MaterialError, match="sides"):
        cuboid((1, -1, 1), 1.0)
    with pytest.raises(SceneError, match="axis"):
        Revolute((0, 0, 0))


def test_contradictory_closures_are_named():
    points = (np.array([0.5, 0, 0]), np.array([2.0, 0, 0]), np.array([2.0, 0, 0.5]))
    closures = [BallClosure(1, points[0], None, x) for x in points[1:]]
    with pytest.raises(SceneError, match="BallClosure 0 and BallClosure 1 contradict"):
        pendulum(2, constraints=closures)


def test_links_may_come_in_any_order():
    shuffled = ArticulatedSystem([hinge("a", "b"), hinge(None, "a")], gravity=(0, 0, -1))
    ordered = ArticulatedSystem([hinge(None, "a"), hinge("a", "b")], gravity=(0, 0, -1))
    q, v = np.array([0.3, 0.4]), np.array([1.0, 2.0])
    assert np.allclose(shuffled.acceleration(q, v, 0.0), ordered.acceleration(q, v, 0.0))

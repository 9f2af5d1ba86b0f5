"""Obstacles: distances, normals and curvatures by finite differences, brute-force twins, refusals."""

import numpy as np
import pytest

from pliant.contact.obstacles import Bowl, Box, Cylinder, Plane, Sphere
from pliant.contact.pose import passage, pose_at
from pliant.contact.tessellate import cuboid, icosphere, rod
from pliant.contact.triangles import TriangleObstacle
from pliant.errors import MeshError, SceneError
from pliant.maps.motions import Keyframes, Shake
from pliant.mesh import Mesh, ball

OBSTACLES = {
    "plane": Plane((0.1, 0.2, 0.3), (1.0, 2.0, 3.0)),
    "sphere": Sphere((0.1, -0.2, 0.3), 0.8),
    "box": Box((0.1, -0.2, 0.3), (1.0, 0.7, 1.3)),
    "cylinder": Cylinder((0.1, -0.2, 0.3), (1.0, 1.0, 0.2), 0.6, 1.1),
    "bowl": Bowl((0.1, -0.2, 0.3), 1.2),
    "triangles": TriangleObstacle(ball(radius=0.7, cells=5)),
}


def points(count=200, seed=0):
    return np.random.default_rng(seed).normal(scale=0.7, size=(count, 3))


@pytest.mark.parametrize("name", OBSTACLES)
def test_normal_is_the_gradient_of_the_distance(name):
    obstacle, x, e = OBSTACLES[name], points(), 1e-6
    g, n = obstacle.distance(x)
    slope = np.stack(
        [(obstacle.distance(x + e * d)[0] - obstacle.distance(x - e * d)[0]) / (2 * e) for d in np.eye(3)], 1
    )
    assert abs(slope - n).max() < 1e-7
    assert abs(np.linalg.norm(n, axis=1) - 1).max() < 1e-12
    assert abs(obstacle.distance(x - g[:, None] * n)[0]).max() < 1e-9 or name in ("box", "triangles", "cylinder")


@pytest.mark.parametrize("name", ["sphere", "cylinder", "bowl"])
def test_curvature_is_the_hessian_of_the_distance(name):
    obstacle, e = OBSTACLES[name], 1e-6
    x = points()
    g, n = obstacle.distance(x)
    x = x[(g < 0.0) & (g > -0.3)]  # where contact acts
    fd = np.stack([(obstacle.distance(x + e * d)[1] - obstacle.distance(x - e * d)[1]) / (2 * e) for d in np.eye(3)], 2)
    error = abs(fd - obstacle.curvature(x)).max(axis=(1, 2))
    assert np.median(error) < 1e-7 and (error < 1e-6).mean() > 0.97  # but for points that straddle a kink


@pytest.mark.parametrize(
    "exact, surface",
    [
        (Box((0, 0, 0), (1, 1, 1)), cuboid(np.zeros(3), np.ones(3))),
        (Cylinder(radius=0.5, length=1.0), rod(np.zeros(3), np.array([0.0, 0, 1]), 0.5, 1.0)),
        (Sphere(radius=1.0), icosphere(4)),
    ],
    ids=["box", "cylinder", "sphere"],
)
def test_triangles_agree_with_formulas(exact, surface):
    x = points()
    g, _ = exact.distance(x)
    twin, _ = TriangleObstacle(Mesh(*surface)).distance(x)
    assert abs(g - twin).max() < (1e-12 if exact.name == "box" else 4e-3)


def test_nearest_triangle_against_brute_force():
    obstacle = OBSTACLES["triangles"]
    x = points(60)
    d = abs(obstacle.distance(x)[0])
    rng = np.random.default_rng(1)
    w = rng.dirichlet((1, 1, 1), size=400)
    samples = np.einsum("sk,fkd->fsd", w, obstacle.X[obstacle.F]).reshape(-1, 3)
    sampled = np.array([np.linalg.norm(samples - p, axis=1).min() for p in x])
    assert (d <= sampled + 1e-12).all() and abs(d - sampled).max() < 0.02


def test_moving_obstacles_carry_their_points():
    motion = Keyframes((0.0, 1.0), ((0, 0, 0), (0.3, 0, 0.1)), ((0, 0, 0), (0, 0.4, 0.2)), pivot=(0.1, 0, 0))
    X = points(20)
    pose = pose_at(motion, 0.7)
    assert np.allclose(pose.world(X), motion.positions(X, 0.7), atol=1e-14)
    assert np.allclose(pose.local(pose.world(X)), X, atol=1e-14)
    way = passage(motion, 0.2, 0.7)
    x = motion.positions(X, 0.7)
    assert np.allclose(way.velocity(x), (x - motion.positions(X, 0.2)) / 0.5, atol=1e-12)
    shaken = passage(Shake((0.1, 0, 0), 2.0), 0.3, 0.3).velocity(np.zeros((1, 3)))
    assert np.allclose(shaken, [[0.1 * 4 * np.pi * np.cos(4 * np.pi * 0.3), 0, 0]], atol=1e-5)


def test_bad_obstacles_are_refused_by_name():
    X, F = icosphere(1)
    with pytest.raises(MeshError, match="not watertight.*edges"):
        TriangleObstacle(Mesh(X, F[1:]), name="can")
    with pytest.raises(MeshError, match="can.*inverted normals.*reverse"):
        TriangleObstacle(Mesh(X, F[:, ::-1]), name="can")
    flipped = F.copy()
    flipped[0] = flipped[0, ::-1]
    with pytest.raises(MeshError, match="oriented against"):
        TriangleObstacle(Mesh(X, flipped))
    for make in (lambda: Sphere(radius=-1.0), lambda: Box(size=(1, 0, 1)), lambda: Cylinder(length=np.nan)):
        with pytest.raises(SceneError, match="positive|finite"):
            make()
    with pytest.raises(SceneError, match="normal"):
        Plane(normal=(0, 0, 0))

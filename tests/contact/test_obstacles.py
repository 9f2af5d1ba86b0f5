"""Obstacles: distances, normals and curvatures by finite differences, brute-force twins, refusals."""

import numpy as np
import pytest

from pliant.bodies import Solid
from pliant.contact.obstacles import Bowl, Box, Cylinder, Plane, Sphere
from pliant.contact.pose import passage, pose_at
from pliant.contact.sharp import Hull, Points, Wire
from pliant.contact.tessellate import cuboid, icosphere, rod
from pliant.contact.triangles import TriangleObstacle
from pliant.errors import MeshError, SceneError
from pliant.maps.motions import Keyframes, Phase, Phases, RigidMotion, Shake, Track, rotation
from pliant.materials import StableNeoHookean
from pliant.mesh import Mesh, ball
from pliant.scene import Scene
from pliant.systems.barrier_contact import BarrierContact

OBSTACLES = {
    "plane": Plane((0.1, 0.2, 0.3), (1.0, 2.0, 3.0)),
    "sphere": Sphere((0.1, -0.2, 0.3), 0.8),
    "box": Box((0.1, -0.2, 0.3), (1.0, 0.7, 1.3)),
    "cylinder": Cylinder((0.1, -0.2, 0.3), (1.0, 1.0, 0.2), 0.6, 1.1),
    "bowl": Bowl((0.1, -0.2, 0.3), 1.2),
    "triangles": TriangleObstacle(ball(radius=0.7, cells=5)),
    "turned box": Box((0.1, -0.2, 0.3), (1.0, 0.7, 1.3), turn=(0.3, -0.5, 0.2)),
    "hull": Hull(np.random.default_rng(3).normal(scale=0.6, size=(20, 3))),
    "points": Points(np.array([[0.1, 0.2, 0.3], [-0.4, 0.1, 0.0]]), np.tile([0.0, 0.0, 1.0], (2, 1))),
    "wire": Wire((-0.5, 0.1, 0.0), (0.6, 0.2, 0.3)),
}


def points(count=200, seed=0):
    return np.random.default_rng(seed).normal(scale=0.7, size=(count, 3))


def test_a_mesh_far_from_the_origin_is_not_inside_out():
    """Its volume, summed about the origin, was round-off: closed surfaces in map coordinates were refused or not."""
    near, away = OBSTACLES["triangles"], np.array([5e6, -3e6, 2e6])
    far = TriangleObstacle(Mesh(0.01 * near.X + away, near.F))
    g, n = far.distance(0.01 * points() + away)
    assert np.allclose(g, 0.01 * near.distance(points())[0], rtol=0.0, atol=8 * np.spacing(5e6))
    with pytest.raises(MeshError, match="inverted normals"):
        TriangleObstacle(Mesh(0.01 * near.X + away, near.F[:, ::-1]))


@pytest.mark.parametrize("name", OBSTACLES)
def test_normal_is_the_gradient_of_the_distance(name):
    obstacle, x, e = OBSTACLES[name], points(), 1e-6
    g, n = obstacle.distance(x)
    slope = np.stack(
        [(obstacle.distance(x + e * d)[0] - obstacle.distance(x - e * d)[0]) / (2 * e) for d in np.eye(3)], 1
    )
    assert abs(slope - n).max() < 1e-7
    assert abs(np.linalg.norm(n, axis=1) - 1).max() < 1e-12
    assert abs(obstacle.distance(x - g[:, None] * n)[0]).max() < 1e-9 or name not in ("plane", "sphere", "bowl")


@pytest.mark.parametrize("name", ["points", "wire"])
def test_curvature_of_thin_things_is_the_hessian_of_the_distance(name):
    obstacle, x, e = OBSTACLES[name], points(), 1e-6
    fd = np.stack([(obstacle.distance(x + e * d)[1] - obstacle.distance(x - e * d)[1]) / (2 * e) for d in np.eye(3)], 2)
    error = abs(fd - obstacle.curvature(x)).max(axis=(1, 2))
    assert (error < 1e-5).mean() > 0.97  # but for points that straddle a kink


@pytest.mark.parametrize("body", [OBSTACLES["turned box"], OBSTACLES["hull"]], ids=["box", "hull"])
def test_features_of_convex_bodies_agree_with_their_distance(body):
    """Inside, the distance is that to the nearest plane; edges and corners are on the surface, normals point out."""
    sharp = body.features()
    n, d = sharp.planes[:, :3], sharp.planes[:, 3]
    x = body.inner_points() + points(50) * 0.1
    g = body.distance(x)[0]
    assert (g < 0).all() and np.allclose(g, (x @ n.T - d).max(axis=1), atol=1e-9)
    middle = sharp.edges.mean(axis=1)
    assert np.allclose(body.distance(middle)[0], 0.0, atol=1e-12)
    assert np.allclose(body.distance(sharp.corners)[0], 0.0, atol=1e-12)
    for out, at in ((sharp.sides.sum(axis=1), middle), (sharp.up, sharp.corners)):
        assert (body.distance(at + 1e-3 * out)[0] > 0).all()
    assert (body.distance(middle - 1e-4 * sharp.sides.sum(axis=1))[0] < 0).all()
    for corner, edges in zip(sharp.corners, sharp.spokes, strict=True):
        assert np.allclose(np.linalg.norm(sharp.edges[edges] - corner, axis=2).min(axis=1), 0.0)


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
        (Box((0, 0, 0), (1, 1, 1), turn=(0.1, 0.2, 0.3)), Box((0, 0, 0), (1, 1, 1), turn=(0.1, 0.2, 0.3)).surface()),
        (Hull(cuboid(np.zeros(3), np.ones(3))[0], name="box"), cuboid(np.zeros(3), np.ones(3))),
        (Cylinder(radius=0.5, length=1.0), rod(np.zeros(3), np.array([0.0, 0, 1]), 0.5, 1.0)),
        (Sphere(radius=1.0), icosphere(4)),
    ],
    ids=["box", "turned box", "hull", "cylinder", "sphere"],
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


FRAMES = np.tile(np.eye(4), (4, 1, 1))
for k in range(4):
    FRAMES[k, :3, :3] = rotation(np.array([0.1 * k, 0.2 * k * k, 0.3]))
    FRAMES[k, :3, 3] = (0.1 * k, 0.0, -0.01 * k * k)
MOTIONS = {
    "shake": Shake((0.1, 0.2, -0.1), 1.3),
    "keyframes": Keyframes(
        (0.0, 0.5, 1.0), ((0, 0, 0), (0.3, 0, 0.1), (0.1, 0, 0)), ((0, 0, 0), (0, 0.4, 0.2), (1, 2, 0)), (0.1, 0, 0.5)
    ),
    "phases": Phases(
        (Phase(0.0, 2.0, (1.0, 0.0, 0.5), (0.0, 0.0, 3.0)), Phase(0.2, 0.9, spin=(1.0, 0, 0))), (0.3, 0.2, 0)
    ),
    "track": Track(np.array([0.0, 0.3, 0.6, 0.9]), FRAMES),
}


@pytest.mark.parametrize("name", MOTIONS)
def test_rigid_motions_have_one_pose_and_its_twist(name):
    """Positions are those of the pose, distances are kept, and the twist is the derivative of the positions."""
    motion, X, e = MOTIONS[name], points(10), 1e-6
    assert isinstance(motion, RigidMotion)
    for t in (0.05, 0.41, 0.77, 3.0):
        x = motion.positions(X, t)
        assert np.allclose(motion.pose(t).world(X), x, atol=1e-13) and np.allclose(
            motion.pose(t).local(x), X, atol=1e-13
        )
        assert np.allclose(np.linalg.norm(x - x[0], axis=1), np.linalg.norm(X - X[0], axis=1), atol=1e-12)
        rate = (motion.positions(X, t + e) - motion.positions(X, t - e)) / (2 * e)
        assert np.allclose(motion.twist(t).of(x), rate, atol=1e-7)


def test_a_track_passes_through_its_frames_and_rests_outside_of_them():
    motion, X = MOTIONS["track"], points(5)
    for t, E in zip(motion.times, FRAMES, strict=True):
        assert np.allclose(motion.positions(X, t), X @ E[:3, :3].T + E[:3, 3], atol=1e-13)
    assert np.array_equal(motion.positions(X, -1.0), motion.positions(X, 0.0))
    assert np.allclose(motion.positions(X, 9.0), motion.positions(X, 0.9)) and not motion.twist(0.9).velocity.any()
    with pytest.raises(SceneError, match="must increase"):
        Track(np.array([0.0, 0.0]), FRAMES[:2])


def test_barriers_refuse_what_has_no_surface():
    scene = Scene(
        [Solid(ball(cells=3), StableNeoHookean(1e5, 0.4))], contact=BarrierContact(), obstacles=[OBSTACLES["wire"]]
    )
    with pytest.raises(SceneError, match=r"obstacles.wire.*no surface"):
        scene.system()


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

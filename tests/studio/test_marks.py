"""Joints, contacts and obstacles are drawn where kinematics, contact detection and distances say they are."""

import numpy as np
import pytest

from pliant.contact.obstacles import Bowl, Plane, Sphere
from pliant.contact.sharp import Points, Wire
from pliant.export.obstacles import scene_of, shapes_of
from pliant.maps.motions import Phase, Phases
from pliant.record import record
from pliant.record.output import Output
from pliant.scene_file import load_scene
from pliant.simulate import beginning, simulate
from pliant.view.marks import marks_of


def test_joints_are_recovered_from_positions():
    scene = load_scene("redmax/scene-2", []).scene
    rng = np.random.default_rng(1)
    q = scene.initial().q + rng.normal(size=len(scene.initial().q))
    kin = scene.system().kinematics(q, np.zeros_like(q))
    assert np.allclose(scene.system().joint_origins(scene.system().positions(q)), kin.joint_frames[:, :3, 3], atol=1e-9)


def test_contacts_of_a_resting_body():
    """A ball on a floor: all contact points near the floor, normals straight up."""
    scene = load_scene("contact/bouncing-ball", ["duration=0.3"]).scene
    system, start = beginning(scene)
    assert len(marks_of(system, system.positions(start.state.q), 0.0).contacts) == 0
    for step in simulate(scene, start=start, system=system):
        marks = marks_of(system, system.positions(step.state.q), step.state.t)
        if len(marks.contacts):
            break
    assert len(marks.contacts) and np.allclose(marks.normals, [0.0, 0.0, 1.0])
    (floor,) = scene.obstacles
    assert np.abs(floor.distance(marks.contacts)[0]).max() < 0.01


@pytest.mark.parametrize("obstacle", [Plane(normal=(0.0, 0.6, 0.8)), Bowl(), Sphere()], ids=["plane", "bowl", "sphere"])
def test_obstacles_are_drawn_where_their_distance_vanishes(obstacle):
    class Scene:
        integrator = None
        obstacles = (obstacle,)

    (shape,) = shapes_of(Scene(), np.full(3, -0.2), np.full(3, 0.2))
    x = shape.at(0.0)
    assert len(shape.triangles) and np.abs(obstacle.distance(x)[0]).max() < 1e-6
    middles = x[shape.triangles].mean(axis=1)
    assert np.abs(obstacle.distance(middles)[0]).max() < 0.05  # no triangle spans a hollow


def test_nails_and_wires_are_drawn_where_they_are():
    rise = Phases((Phase(0.0, 1.0, (0.0, 0.0, 1.0)),))
    tips = np.array([[0.0, 0.0, 0.1], [0.3, 0.0, 0.1]])

    class Scene:
        integrator = None
        obstacles = (Points(tips, np.tile([0.0, 0.0, 1.0], (2, 1)), rise), Wire((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)))

    nails, wire = shapes_of(Scene(), np.zeros(3), np.ones(3))
    spikes, rod = nails.at(0.5), wire.at(9.0)
    assert nails.moves and nails.thin and not wire.moves and len(wire.triangles)
    for tip in tips + [0.0, 0.0, 0.5]:
        assert np.isclose(np.linalg.norm(spikes - tip, axis=1).min(), 0.0, atol=1e-12)
    assert np.isclose(spikes[:, 2].max(), 0.6)  # nothing is above the tips
    assert np.isclose(rod[:, 2].max(), 0.0) and np.ptp(rod[:, 2]) < 0.05  # cloth lies on its highest line
    assert np.allclose(rod.min(axis=0)[0], 0.0) and np.allclose(rod.max(axis=0)[0], 1.0)


def test_obstacles_of_cloth_move_and_eulerian_vertices_are_recorded(tmp_path):
    loaded = load_scene("eol/lo-res", ["duration=0.4"])
    run = record(loaded.scene, tmp_path / "run", output=Output(channels=("eulerian",)), origin=loaded.origin)
    shapes = shapes_of(scene_of(run), np.zeros(3), np.ones(3))
    assert len(shapes) == len(loaded.scene.obstacles)
    for body, shape in zip(loaded.scene.obstacles, shapes, strict=True):
        planes = body.features().planes
        inside = (shape.at(0.0) @ planes[:, :3].T - planes[:, 3]).max(axis=1)  # corners, a little inside at most
        assert -5e-3 * max(body.size) < inside.min() and inside.max() < 1e-9
    seen = [int(frame.point_values["eulerian"].sum()) for frame in run.frames]
    *_, last = simulate(loaded.scene)
    assert seen[-1] == len(last.system.eol) and max(seen) > 0
    marks = marks_of(last.system, last.system.positions(last.state.q), last.state.t)
    assert len(marks.eulerian) == seen[-1]

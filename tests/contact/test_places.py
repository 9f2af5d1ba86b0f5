"""Faces of rigid bodies that are larger than an obstacle touch it by their middles."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.articulated import Link, cuboid
from pliant.articulated.joints import Prismatic
from pliant.assembly import made_of, setting
from pliant.contact import Box, Cylinder, Plane, Sphere, TriangleObstacle
from pliant.contact.places import breadths
from pliant.contact.setting import obstacle_gaps
from pliant.maps.motions import Shake
from pliant.mesh import ball, box
from pliant.record import Interrupted, Output, record, resume

METHODS: dict[str, tuple[Any, Any]] = {
    "rows": (pl.RowContact(), pl.LinearlyImplicit()),
    "penalties": (pl.PenaltyContact(damping=1.0), pl.LinearlyImplicit()),
    "implicit": (pl.PenaltyContact(damping=1.0), pl.BDF1()),
}
BARRIER = (pl.BarrierContact(), pl.BDF1())


def block(sides: tuple[float, float, float], z: float, **options: Any) -> pl.Rigid:
    """A box of twelve triangles with its middle at height z."""
    mesh = box(sides, (1, 1, 1))
    return pl.Rigid(mesh.transformed(translate=(*(-0.5 * np.array(sides[:2])), z - 0.5 * sides[2])), **options)


def rested(method: tuple[Any, Any], body: Any, obstacle: Any, duration: float = 0.6, h: float = 0.005) -> Any:
    contact, integrator = method
    scene = pl.Scene([body], integrator, h=h, duration=duration, contact=contact, obstacles=[obstacle])
    *_, last = pl.simulate(scene)
    return last


def middle(step: Any) -> np.ndarray:
    return step.system.positions(step.state.q).mean(axis=0)


def weight(step: Any, method: str) -> float:
    """The upward force of all contacts in the last step [N]."""
    if method == "rows":  # what keeps the velocity from growing
        return float("nan")
    c = step.system.contacts(step.state.q, step.state.v, step.state.t)
    return float((c.normal_force * c.normals[:, 2]).sum())


@pytest.mark.parametrize("method", METHODS)
def test_a_box_rests_on_a_ball_smaller_than_its_faces(method: str) -> None:
    """Its middle is above that of the ball by the radius and half its side, as with barriers; it used to fall."""
    body, ball_ = block((1.0, 1.0, 1.0), 0.605, density=100.0), Sphere(radius=0.1)
    last = rested(METHODS[method], body, ball_, 1.0)
    np.testing.assert_allclose(middle(last), [0.0, 0.0, 0.6], atol=0.012)
    assert abs(last.state.v).max() < 0.02
    exact = middle(rested(BARRIER, body, ball_, 1.0))
    np.testing.assert_allclose(middle(last)[2], exact[2], atol=0.012)  # which rolls, in time


@pytest.mark.parametrize("method", ["penalties", "implicit"])
def test_the_contact_carries_the_weight(method: str) -> None:
    last = rested(METHODS[method], block((1.0, 1.0, 1.0), 0.6, density=100.0), Sphere(radius=0.1), 2.0)
    np.testing.assert_allclose(weight(last, method), 981.0, rtol=5e-3)


@pytest.mark.parametrize("method", METHODS)
def test_a_plank_rests_across_a_table(method: str) -> None:
    """All of its eight vertices hang over the ends."""
    table = Box((0.0, 0.0, -0.25), (1.0, 0.5, 0.5))
    last = rested(METHODS[method], block((2.0, 0.1, 0.02), 0.012), table)
    x = last.system.positions(last.state.q)
    np.testing.assert_allclose(x.mean(axis=0), [0.0, 0.0, 0.01], atol=2e-3)
    assert np.ptp(x[:, 2]) < 0.0201
    if method != "rows":
        np.testing.assert_allclose(weight(last, method), 9.81 * 4.0, rtol=5e-3)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["sphere", "cylinder"])
def test_a_link_is_pushed_by_a_small_obstacle(method: str, kind: str) -> None:
    """A slider is moved ahead of what runs into the middle of its face; its corners are far away."""
    contact, integrator = METHODS[method]
    motion = Shake((0.2, 0.0, 0.0), 0.5)
    small: Any = {
        "sphere": Sphere((-0.25, 0.03, 0.02), 0.04, motion),
        "cylinder": Cylinder((-0.25, 0.03, 0.02), (0.0, 1.0, 0.0), 0.04, 0.2, motion),
    }[kind]
    slider = pl.Articulated([Link(Prismatic(np.array([1.0, 0.0, 0.0])), cuboid((0.4, 0.5, 0.5), 200.0))], name="slider")
    scene = pl.Scene(
        [slider], integrator, h=0.005, duration=0.5, contact=contact, obstacles=[small], gravity=(0.0, 0.0, 0.0)
    )
    for step in pl.simulate(scene):
        front = -0.25 + motion.positions(np.zeros((1, 3)), step.state.t)[0, 0] + 0.04
        assert step.state.q[0] - 0.2 >= front - 0.01
    assert step.state.q[0] > 0.1


@pytest.mark.parametrize("method", ["rows", "penalties"])
def test_the_work_of_what_pushes_a_face_is_in_the_books(method: str) -> None:
    """Without friction: of m v^2 an impact without rebound loses half; springs lose nothing."""
    rows = method == "rows"
    contact = pl.RowContact(mu=0.0) if rows else pl.PenaltyContact(mu=0.0)
    integrator: Any = pl.LinearlyImplicit() if rows else pl.BDF2()
    slider = pl.Articulated([Link(Prismatic(np.array([1.0, 0.0, 0.0])), cuboid((0.4, 0.5, 0.5), 200.0))])
    small: Any = Sphere((-0.25, 0.03, 0.02), 0.04, Shake((0.2, 0.0, 0.0), 0.5))
    options: dict[str, Any] = {"contact": contact, "integrator": integrator, "gravity": (0.0, 0.0, 0.0)}
    steps = list(pl.simulate(pl.Scene([slider], obstacles=[small], h=1e-3, duration=0.2, **options)))
    kinetic = 0.5 * 20.0 * float(steps[-1].state.v[0]) ** 2
    work = sum(sum(step.ledger.work.values()) for step in steps)
    assert kinetic > 1.0
    np.testing.assert_allclose(work, (2.0 if rows else 1.0) * kinetic, rtol=5e-3)


@pytest.mark.parametrize("speed", [5.0, 30.0])
def test_a_fast_box_does_not_pass_a_ball(speed: float) -> None:
    """In one step of 10 ms it moves by up to three times as much as the ball is thick."""
    fast = block((1.0, 1.0, 1.0), 0.62, velocity=(0.0, 0.0, -speed))
    scene = pl.Scene(
        [fast], pl.BDF1(), h=0.01, duration=0.05, contact=pl.PenaltyContact(k=1e9), obstacles=[Sphere(radius=0.05)]
    )
    for step in pl.simulate(scene):
        assert middle(step)[2] > 0.4


def touching(bodies: list[Any], obstacles: list[Any], contact: Any = None) -> Any:
    scene = pl.Scene(bodies, pl.LinearlyImplicit(), contact=contact or pl.RowContact(), obstacles=obstacles)
    return setting(scene, made_of(scene))


def test_corners_speak_for_what_faces_a_flat_side() -> None:
    """On a slab thinner than its edges a box has no contacts but those of its corners, unless it hangs over."""
    slab = Box((0.0, 0.0, -0.1), (4.0, 4.0, 0.2))
    here = touching([block((1.0, 1.0, 1.0), 0.5)], [slab, Plane((0.0, 0.0, 0.0))])
    X, still = here.meshes[0].X, here.passages(0.0, 0.0)
    assert len(here.places) > 500
    for found in obstacle_gaps(here, still, X, 0.01, here.places):
        assert len(found) == 4
    over = X + [1.8, 0.0, 0.0]
    on_slab, on_plane = (
        here.places.telling(o, way.pose, over, 0.01) for o, way in zip(here.obstacles, still, strict=True)
    )
    assert len(on_plane) == 8 and len(on_slab) > 8


def test_bodies_with_fine_faces_and_scenes_without_small_obstacles_stay_as_they_are() -> None:
    fine = pl.Rigid(box((1.0, 1.0, 1.0), (8, 8, 8)))
    for bodies, obstacles in (
        ([fine], [Sphere(radius=0.1)]),
        ([block((1.0, 1.0, 1.0), 0.5)], [Plane(), Sphere(radius=0.8)]),
        ([block((1.0, 1.0, 1.0), 0.5)], []),
    ):
        here = touching(bodies, obstacles)
        np.testing.assert_array_equal(here.places.nodes, here.vertices.nodes)


def test_the_breadths_of_obstacles_are_those_of_their_own_axes() -> None:
    turned = Box((3.0, 1.0, 0.0), (0.1, 0.5, 2.0), turn=(0.3, -0.8, 0.4))
    np.testing.assert_allclose(breadths(turned.surface()[0]), (0.1, 0.5))
    np.testing.assert_allclose(breadths(Sphere(radius=0.1).surface()[0]), (0.2, 0.2), rtol=0.02)
    np.testing.assert_allclose(breadths(Cylinder((0, 0, 0), (1, 1, 0), 0.1, 1.0).surface()[0]), (0.2, 0.2), rtol=0.01)
    np.testing.assert_allclose(breadths(TriangleObstacle(box((0.3, 0.2, 0.5), (1, 1, 1))).surface()[0]), (0.2, 0.3))


def test_an_obstacle_that_sticks_into_a_face_is_found_at_the_start() -> None:
    scene = pl.Scene(
        [block((1.0, 1.0, 1.0), 0.55)],
        pl.LinearlyImplicit(),
        contact=pl.RowContact(),
        obstacles=[Sphere((0, 0, -0.01), radius=0.1)],
    )
    with pytest.raises(pl.SceneError, match="overlap at the start"):
        scene.initial()


def test_what_small_obstacles_may_pass_is_said() -> None:
    """Soft bodies touch by their vertices alone; of huge bodies only so many points are looked at."""
    soft = pl.Solid(box((1.0, 1.0, 1.0), (2, 2, 2)), pl.StableNeoHookean(1e5, 0.3), name="pad")
    scenes = [([soft], Sphere((0.0, 0.0, -2.0), 0.1)), ([block((1.0, 1.0, 1.0), 0.5)], Sphere((0.0, 0.0, -2.0), 0.01))]
    for bodies, small in scenes:
        scene = pl.Scene(bodies, pl.BDF1(), contact=pl.PenaltyContact(), obstacles=[small])
        with pytest.warns(UserWarning, match="obstacle 'sphere' is 0.* m thick.*BarrierContact"):
            scene.system()
    fine = pl.Solid(ball(0.1, cells=4), pl.StableNeoHookean(1e5, 0.3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for contact, integrator in ((pl.PenaltyContact(), pl.BDF1()), BARRIER):
            pl.Scene([fine], integrator, contact=contact, obstacles=[Box((0, 0, -1), (1, 1, 0.01))]).system()


def test_a_run_goes_on_from_the_middle(tmp_path: Path) -> None:
    table, body = Box((0.0, 0.0, -0.25), (1.0, 0.5, 0.5)), block((2.0, 0.1, 0.02), 0.02)
    scene = pl.Scene([body], pl.LinearlyImplicit(), h=0.01, duration=0.2, contact=pl.RowContact(), obstacles=[table])
    whole = record(scene, tmp_path / "whole")

    def stop(step: Any) -> None:
        if step.index == 13:
            raise Interrupted("stop")

    with pytest.raises(Interrupted):
        record(scene, tmp_path / "half", output=Output(checkpoint_every=5), watch=stop)
    half = resume(tmp_path / "half")
    assert half.checkpoint.state.q.tobytes() == whole.checkpoint.state.q.tobytes()
    assert half.checkpoint.state.q[2] > -0.011

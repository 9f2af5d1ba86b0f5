"""Coupled scenes that cannot run say so in one line: which body, where, what to do."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from pliant.articulated import RK45, Articulated, Link, Rigid, at, cuboid
from pliant.articulated.constraints import JointLimit
from pliant.articulated.forces import JointSpring
from pliant.articulated.joints import Revolute
from pliant.articulated.system import ArticulatedSystem
from pliant.attachments import Attachment
from pliant.batch import together
from pliant.bodies import Solid
from pliant.contact.initial import OverlapError
from pliant.dg import DiscontinuousSolid
from pliant.errors import MeshError, SceneError, UnitError
from pliant.fitting import Fitting
from pliant.integrators import BDF1, ConJac, LinearlyImplicit
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import Mesh, box, rectangle
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.penalty_contact import PenaltyContact
from pliant.systems.row_contact import RowContact


def cube(x, name, side=0.1):
    mesh = box((side,) * 3, (1, 1, 1)).transformed(translate=(x, 0.0, 0.0))
    return Solid(mesh, StableNeoHookean(1e5, 0.3), name=name)


def die(x, name="die", side=0.1):
    return Rigid(box((side,) * 3, (1, 1, 1)).transformed(translate=(x, 0.0, 0.0)), name=name)


def arm(x, name="arm"):
    bar = cuboid((0.3, 0.1, 0.1), 1000.0, at(0.15, 0.0, 0.0))
    links = [Link(Revolute((0, 1, 0)), bar, None, at(x, 0.0, 0.0), "upper")]
    return Articulated([*links, Link(Revolute((0, 1, 0)), bar, 0, at(0.3, 0, 0), "lower")], name=name)


CONTACTS = (PenaltyContact(), BarrierContact(), RowContact())


@pytest.mark.parametrize("contact", CONTACTS, ids=lambda c: type(c).__name__)
@pytest.mark.parametrize(
    "bodies, pair",
    [
        ([cube(0.0, "cube"), die(0.05)], "cube.*die|die.*cube"),
        ([die(0.0, "one"), die(0.05, "two")], "one.*two|two.*one"),
        ([cube(-0.05, "cube"), arm(0.0)], "cube.*arm/upper|arm/upper.*cube"),
    ],
    ids=["soft-rigid", "rigid-rigid", "soft-link"],
)
def test_bodies_that_start_inside_each_other_are_named_and_shown(contact, bodies, pair, tmp_path):
    stepper = LinearlyImplicit() if isinstance(contact, RowContact) else BDF1()
    scene = Scene(bodies, contact=contact, integrator=stepper, duration=0.02)
    with pytest.raises(OverlapError, match=pair) as caught:
        scene.run(tmp_path / "run")
    said = str(caught.value)
    assert "m at " in said and "overlaps.vtu" in said and "\n" not in said
    assert (tmp_path / "run" / "overlaps.vtu").exists()


def test_what_cannot_be_pushed_apart_is_not_told_to_set_what_does_nothing():
    """The remedy that pushes bodies apart is not named where it does nothing; who sets it is told so."""
    arms = [arm(0.0, name) for name in ("one", "two")]
    with pytest.raises(OverlapError, match="move them apart") as caught:
        Scene(arms, contact=PenaltyContact(), integrator=BDF1()).initial()
    assert "resolve_initial" not in str(caught.value)
    with pytest.raises(OverlapError, match="robots on the ground"):
        Scene(arms, contact=PenaltyContact(resolve_initial=True), integrator=BDF1()).initial()
    dice = [die(0.0, "one"), die(0.05, "two")]
    with pytest.raises(OverlapError, match="or set resolve_initial=True"):
        Scene(dice, contact=PenaltyContact(), integrator=BDF1()).initial()


def test_links_of_one_body_may_meet_in_their_joints():
    scene = Scene([arm(0.0), cube(2.0, "cube")], contact=BarrierContact(), integrator=BDF1())
    assert np.isfinite(scene.initial().q).all()


def test_a_method_that_cannot_step_a_kind_says_which_can():
    with pytest.raises(SceneError, match="RK45 does not step Solid .cube.; use .*BDF1") as caught:
        Scene([cube(0.0, "cube"), die(1.0)], integrator=RK45())
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "attachment, what",
    [
        (Attachment("cube", [0], "arm", link="third"), "no link is called 'third'.*upper, lower"),
        (Attachment("cube", [0], "leg"), "no body is called 'leg'"),
        (Attachment("cube", [99], "arm", link="upper"), "of 'cube': vertex 99 does not exist"),
        (Attachment("cube", [0], "arm"), "no link is named"),
        (Attachment("cube", [0], "cube"), "attached to itself"),
    ],
)
def test_attachments_to_what_is_not_there(attachment, what):
    scene = Scene([cube(0.7, "cube"), arm(0.0)], attachments=[attachment], integrator=BDF1())
    with pytest.raises(SceneError, match=what):
        scene.system()


def test_a_vertex_in_two_attachments():
    twice = [Attachment("cube", [0, 1], "arm", link="upper"), Attachment("cube", [1], "arm", link="lower")]
    scene = Scene([cube(0.7, "cube"), arm(0.0)], attachments=twice, integrator=BDF1())
    with pytest.raises(SceneError, match="vertex 1 of body 'cube' is in two attachments"):
        scene.system()


@pytest.mark.parametrize(
    "change, what",
    [
        (lambda F: F[:-1], "open at 3 edges"),
        (lambda F: F[:, ::-1], "orient triangles outwards"),
        (lambda F: np.vstack([F[:1, ::-1], F[1:]]), "triangle 0 of the surface is oriented opposite"),
    ],
    ids=["open", "inverted", "one turned"],
)
def test_rigid_bodies_need_a_closed_surface_that_faces_outwards(change, what):
    whole = box((0.1,) * 3, (1, 1, 1))
    with pytest.raises(MeshError, match=what) as caught:
        Rigid(Mesh(whole.X, change(whole.surface())), name="die")
    assert "die.mesh" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "options, what",
    [
        ({"density": 0.0}, "density is 0.0; it must be positive"),
        ({"velocity": (1.0, 2.0)}, "three finite components"),
        ({"spin": (0.0, np.nan, 0.0)}, "three finite components"),
    ],
)
def test_rigid_bodies_need_sound_numbers(options, what):
    with pytest.raises(SceneError, match=what):
        Rigid(box((0.1,) * 3, (1, 1, 1)), **options)


@pytest.mark.parametrize("inertia", [np.zeros(6), np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])], ids=["mass", "inertia"])
def test_a_link_without_mass_or_inertia(inertia):
    bare = Articulated([Link(Revolute((0, 1, 0)), replace(cuboid((0.1,) * 3, 1000.0), inertia=inertia))])
    with pytest.raises(SceneError, match="moves no mass.*give the body a mass and inertia"):
        Scene([bare]).system()


def test_rigid_bodies_that_do_not_touch_are_one_part():
    """Methods for joints step them: they are one forest, however many."""
    scene = Scene([die(0.0, "one"), die(1.0, "two")], integrator=RK45(), h=1e-3, duration=2e-3)
    *_, last = simulate(scene)
    assert isinstance(last.system, ArticulatedSystem)
    with pytest.raises(SceneError, match="RK45 does not step bodies coupled by contact"):
        Scene([die(0.0, "one"), die(1.0, "two")], integrator=RK45(), contact=PenaltyContact())


def test_fitted_bodies_and_condensation_are_refused_at_the_scene():
    fine, coarse = (box((0.1,) * 3, (n,) * 3) for n in (2, 1))
    soft = StableNeoHookean(1e5, 0.3)
    body = Solid(coarse, soft, fit=Fitting(Solid(fine, soft), s=2))
    with pytest.raises(SceneError, match="ConJac does not step Solid .*; use BDF1") as caught:
        Scene([body], integrator=ConJac())
    assert "scene.integrator" in str(caught.value)


def test_planar_bodies_have_a_density_per_area():
    mesh, soft = rectangle(size=(0.2, 0.1), cells=(2, 1)), StableNeoHookean(1e4, 0.3)
    assert Solid(mesh, soft, density="2 kg/m^2").density == 2.0
    for make in (Solid, partial(DiscontinuousSolid, eta=1e6)):
        with pytest.raises(UnitError, match=r"expected kg/m\^2"):
            make(mesh, soft, density="1000 kg/m^3")


def test_pins_of_discontinuous_solids_stay_as_they_are_given():
    """They refer to the continuous mesh, however often the body is replaced."""
    mesh = rectangle(size=(0.2, 0.1), cells=(2, 1))
    body = DiscontinuousSolid(mesh, StableNeoHookean(1e4, 0.3), eta=1e6, pins=Pin(np.array([0, 1])))
    again = replace(replace(body, density=500.0), name="again")
    assert [p.vertices.tolist() for p in again.pins] == [[0, 1]]
    held = np.unique(mesh.T.ravel()[again.copies()[0].vertices])
    assert held.tolist() == [0, 1]
    free = [Scene([b], gravity=(0.0, -9.81)).system().free for b in (body, again)]
    assert np.array_equal(*free) and len(free[0]) < 2 * len(body.mesh.X)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"forces": [1]}, r"robot\.forces\[0\]: forces\[0\] is 1; give a list of forces"),
        ({"forces": JointSpring}, r"robot\.forces: forces is <class .*; give a list of forces"),
        ({"forces": [JointSpring]}, r"forces\[0\] is the class JointSpring"),
        ({"forces": [JointLimit("rod")]}, r"forces\[0\] is JointLimit"),
        ({"constraints": ["rod"]}, r"robot\.constraints\[0\]: constraints\[0\] is 'rod'"),
        ({"contacts": 3}, r"robot\.contacts: contacts is 3"),
        ({"dry_friction": [0.1]}, r"dry_friction\[0\] is 0\.1; give a list of dry friction"),
    ],
)
def test_what_is_no_force_or_constraint_is_named(given, words):
    links = [Link(Revolute((0, 1, 0)), cuboid((0.3, 0.1, 0.1), 1000.0), name="rod")]
    with pytest.raises(SceneError, match=words):
        Articulated(links, name="robot", **given)


def test_copies_of_robots_are_not_stepped_together():
    scenes = [Scene([arm(0.0, "arm")], integrator=BDF1())] * 2
    with pytest.raises(SceneError, match="batch: 'arm' is neither a solid nor a membrane"):
        together(scenes)

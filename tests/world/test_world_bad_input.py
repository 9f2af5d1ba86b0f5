"""Coupled scenes that cannot run say so in one line: which body, where, what to do."""

import numpy as np
import pytest

from pliant.articulated import RK45, Articulated, Link, Rigid, at, cuboid
from pliant.articulated.joints import Revolute
from pliant.attachments import Attachment
from pliant.bodies import Solid
from pliant.contact.initial import OverlapError
from pliant.errors import SceneError
from pliant.integrators import BDF1, LinearlyImplicit
from pliant.materials import StableNeoHookean
from pliant.mesh import box
from pliant.scene import Scene
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


def test_bodies_on_joints_cannot_be_pushed_apart():
    contact = PenaltyContact(resolve_initial=True)
    with pytest.raises(SceneError, match="overlap"):
        Scene([die(0.0, "one"), die(0.05, "two")], contact=contact, integrator=BDF1()).initial()


def test_links_of_one_body_may_meet_in_their_joints():
    scene = Scene([arm(0.0), cube(2.0, "cube")], contact=BarrierContact(), integrator=BDF1())
    assert np.isfinite(scene.initial().q).all()


def test_a_method_that_cannot_step_a_kind_says_which_can():
    with pytest.raises(SceneError, match="RK45 does not step Elastodynamics.*use .*BDF1") as caught:
        Scene([cube(0.0, "cube"), die(1.0)], integrator=RK45())
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "attachment, what",
    [
        (Attachment("cube", [0], "arm", link="third"), "no link is called 'third'.*upper, lower"),
        (Attachment("cube", [0], "leg"), "no body is called 'leg'"),
        (Attachment("cube", [99], "arm", link="upper"), "vertex 99 of body 'cube' does not exist"),
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
    with pytest.raises(SceneError, match="vertex 1 of .* in two attachments"):
        scene.system()

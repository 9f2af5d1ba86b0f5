"""Every kind of body, attachment, force and event in scene files: read, written back bit for bit, refused by place."""

import dataclasses
import re
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from pliant.articulated import at
from pliant.articulated.bodies import composite, cuboid, cylinder, sphere
from pliant.articulated.body import Articulated, Rigid, from_urdf
from pliant.articulated.constraints import BallClosure, CoupledJoints, FloorContact, JointLimit, PrescribedJoint
from pliant.articulated.forces import Cable, Explicit, JointSpring, JointTorque, PointSprings, WorldForce
from pliant.articulated.joint_contacts import CylinderContact, DryFriction
from pliant.articulated.joints import Revolute, Spherical, examples
from pliant.articulated.tree import Link
from pliant.attachments import Attachment
from pliant.bodies import Membrane, Rayleigh, Solid, SpringNet
from pliant.cloth.body import Cloth
from pliant.cloth.constraints import Averaged
from pliant.cloth.eulerian import Eulerian
from pliant.cloth.hands import Handle
from pliant.cloth.material import ClothMaterial, from_fabric
from pliant.cloth.remesh import Remesher
from pliant.cloth.sheet import sheet as eol_sheet
from pliant.contact import Box, Hull, Plane, TriangleObstacle
from pliant.dg import DiscontinuousSolid
from pliant.errors import PliantError
from pliant.events import ElementCut, PlaneCut, Release
from pliant.fitting import Fitting
from pliant.integrators import LinearlyImplicit
from pliant.loads import Push, Tug, Wind
from pliant.maps.functions import Series, Sine, constant
from pliant.maps.motions import Keyframes, Phase, Phases, Track
from pliant.maps.pins import Pin
from pliant.materials import AnisotropicStVK, StableNeoHookean, StVK
from pliant.mesh import ball, bar, chain, rectangle, sheet, write
from pliant.origin import Origin
from pliant.scene import Scene
from pliant.scene_file import NotDescribable, describe, load_scene
from pliant.scene_file.read import Reader
from pliant.systems.penalty_contact import PenaltyContact
from pliant.systems.row_contact import RowContact

MATERIAL = StableNeoHookean(2e4, 0.3)


def loaded(folder: Path, text: str, settings=()):
    path = folder / "my.toml"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return load_scene(path, settings).scene


def same(a, b):
    """Equal to the last bit, whatever it is made of."""
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and np.array_equal(a, b)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if dataclasses.is_dataclass(a):
        return type(a) is type(b) and all(
            same(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a) if f.init
        )
    return a == b or type(a) is type(b) and repr(a) == repr(b)


def arm(**more):
    """Two links, one of them welded from two bodies in odd places, with everything that acts on them."""
    odd = np.array([0.3, -0.7, 0.2])
    links = [
        Link(Revolute(odd), composite([cuboid((0.3, 0.1, 0.05), 700.0), sphere(0.1, 300.0, at(0.2, 0.1, 0))]), None,
             at(0.1, 0.0, 1.0), "upper arm"),
        Link(Spherical(), cylinder(0.05, 0.4, 1200.0), "upper arm", at(0.3, 0, 0), "lower"),
    ]  # fmt: skip
    q = np.array([0.1, 0.2, -0.3, 1.0 / 7.0])
    frames = Articulated(links, q=q).system().kinematics(q, 0.0 * q).frames
    given = {
        "forces": [
            JointSpring("lower", 3.0, 0.1),
            Explicit(JointSpring("upper arm", 1.0, rest=0.3)),
            JointTorque("upper arm", Sine(2.0, 3.0)),
            WorldForce("lower", np.array([0.1, 0.0, 0.0]), constant([0.0, 0.0, 2.0])),
            WorldForce("lower", np.array([0.1, 0.0, 0.0]), np.array([1.0, 0.0, 0.5])),
            PointSprings(["lower", None], np.eye(3)[:2], [None, "upper arm"], np.eye(3)[1:], np.array([10.0, 20.0])),
            Cable([(None, np.zeros(3)), ("lower", np.array([0.0, 0.1, 0.0]))], 50.0, rest=0.4,
                  activation=Series((0.0, 0.5), (0.0, 0.6))),
        ],
        "constraints": [
            JointLimit("upper arm", -0.5, 1.0 / 3.0),
            PrescribedJoint("upper arm", constant(0.2)),
            BallClosure("lower", np.zeros(3), None, frames[1, :3, 3]),
            FloorContact("lower", np.zeros((1, 3)), 0.05, frame=at(0, 0, -3.0), mu=0.4),
        ],
        "contacts": [CylinderContact("upper arm", 0.02, 0.1, mu=0.3)],
        "dry_friction": [DryFriction("upper arm", 0.5)],
        "q": q,
        "v": np.array([0.0, 1.0, 0.0, 0.0]),
    }  # fmt: skip
    return Articulated(links, **{**given, **more}, name="arm")


def soft(**more):
    mesh = bar(size=(0.3, 0.1, 0.1), cells=(3, 1, 1))
    return Solid(mesh, **{"material": MATERIAL, "pins": Pin(np.array([0, 1])), "name": "soft", **more})


def fitted():
    fine = bar(size=(0.3, 0.1, 0.1), cells=(6, 2, 2))
    held = Pin(fine.where(lambda X: X[:, 0] < 1e-9))
    coarse = soft()
    return dataclasses.replace(coarse, fit=Fitting(dataclasses.replace(coarse, mesh=fine, pins=(held,)), s=4))


def scenes():
    flat = rectangle(size=(0.3, 0.1), cells=(3, 1))
    net = sheet(size=(0.4, 0.4), cells=(2, 2))
    tip = Attachment("soft", np.array([14, 15]), "arm", "lower", stiffness=30.0)
    yield "solid", Scene([soft(density=900.0, damping=Rayleigh(0.1), velocity=(0.0, 1.0, 0.0), lumped=False)])
    yield "sum", Scene([soft(material=StVK(1e4, 0.3) + AnisotropicStVK((1.0, 0.3, 0.2), E=np.linspace(1, 2, 18)))])
    yield "planar", Scene([Solid(flat, MATERIAL, plane="stress")])
    yield "membrane", Scene([Membrane(net, MATERIAL, 3e-4, pins=Pin(np.array([0]), axes="xz"))])
    yield "springs", Scene([SpringNet(chain(4), np.linspace(10, 20, len(chain(4).T)), 0.1)])
    yield "cloth", Scene([Cloth(net, ClothMaterial(40.0, 0.2, 1e-4, 0.07), 2e-3)])
    yield "eulerian", Scene([Cloth(net, eulerian=True)], LinearlyImplicit())
    pattern = eol_sheet(net.X[:, :2], net.T, net.X + 0.1, keep=np.array([5]))
    choice = Eulerian(Remesher(0.05, 0.2), None, Averaged(), qvv=True)
    hand = Handle(net.X[[5], :2], (0.0, 1.0, 0.0), stop=0.5)
    yield "sheet", Scene([Cloth(pattern, pins=[hand, Pin(np.array([0]))], eulerian=choice)], LinearlyImplicit())
    yield "discontinuous", Scene([DiscontinuousSolid(flat, MATERIAL, 1e7, pins=Pin(np.array([0, 2])))])
    yield "rigid", Scene([Rigid(ball(radius=0.1), 2700.0, (1.0, 0.0, 0.0), (0.0, 9.0, 1.0))])
    yield "articulated", Scene([arm()])
    yield "all joints", Scene([_of_every_joint()])
    yield "fitted", Scene([fitted()])
    yield "attachments", Scene([soft(), arm()], attachments=[tip, Attachment(0, np.array([2]), 1, 0)])
    events = [PlaneCut(0.1, (0.1, 0, 0), (1, 0, 0), "soft"), ElementCut(0.2, np.array([3, 4]), 0), Release(0.3, "soft")]
    loads = [Tug(np.array([5]), (0.0, 0.0, 9.0), 0.0, 0.1, 0.2, "soft"), Wind((1.0, 0, 0), body="soft")]
    loads.append(Push(np.array([4, 5]), (0.0, 0.1), ((0.0, 0.0, 1.0), (0.0, 2.0, 0.0)), "soft"))
    yield "events and loads", Scene([soft()], events=events, forces=loads)
    things = [Plane((0, 0, -1), (0.1, 0.2, 0.9), name="floor"), TriangleObstacle(ball(radius=0.2), Keyframes((0.0,)))]
    phases = Phases((Phase(0.0, 1.0, (1.0, 0.0, 0.0)), Phase(0.5, 2.0, spin=(0.0, 0.1, 0.0))), (0.0, 0.1, 0.0))
    track = Track(np.array([0.0, 0.3]), np.stack([at(0, 0, 0), at(0.1, 0, 1.0 / 3.0)]))
    things += [Hull(bar(cells=(1, 1, 1)).X + 2.0, motion=phases), Box((5, 0, 0), motion=track, name="crate")]
    yield "obstacles", Scene([soft()], contact=PenaltyContact(mu=0.1), obstacles=things)
    yield "rows", Scene([soft()], LinearlyImplicit(), contact=RowContact(mu=0.1), obstacles=things[:1])


def _of_every_joint():
    joints = [Link(joint, cuboid((0.1, 0.2, 0.3), 1e3), i - 1 if i else None) for i, joint in enumerate(examples())]
    return Articulated(joints)


SCENES = dict(scenes())


@pytest.mark.parametrize("case", SCENES)
def test_written_and_read_again_it_is_the_same_to_the_last_bit(tmp_path, case):
    scene = SCENES[case]
    document, files = describe(scene)
    Origin(document, files).write(tmp_path)
    back = load_scene(tmp_path).scene
    for name in ("bodies", "attachments", "forces", "events", "obstacles", "contact", "integrator", "gravity"):
        assert same(getattr(scene, name), getattr(back, name)), name
    again, more = describe(back)
    assert again == document and more == files


def test_an_arm_from_inline_links_is_the_arm_made_in_python(tmp_path):
    text = """
    [[bodies]]
    kind = "articulated"
    name = "arm"
    q = ["90 deg", "10 cm"]
    v = [0, "20 cm/s"]
    dry_friction = [{ link = "base", force = "0.5 N*m" }]

    [[bodies.links]]
    name = "base"
    joint = { kind = "revolute", axis = [0, 0, 2] }
    shape = [
      { kind = "box", sides = ["30 cm", "10 cm", 0.05] },
      { kind = "sphere", radius = "10 cm", density = 300, frame = { translate = [0.2, "10 cm", 0] } },
    ]
    density = "0.7 g/cm^3"
    frame = { translate = [0, 0, "1 m"], rotate = [0, 0, "90 deg"] }

    [[bodies.links]]
    name = "slider"
    parent = "base"
    joint = { kind = "prismatic", axis = [1, 0, 0] }
    shape = { kind = "cylinder", radius = "5 cm", height = "40 cm" }

    [[bodies.forces]]
    kind = "joint-spring"
    link = "slider"
    stiffness = "2 N/cm"
    rest = "10 cm"

    [[bodies.forces]]
    kind = "joint-torque"
    link = "base"
    torque = 1.5

    [[bodies.constraints]]
    kind = "joint-limit"
    link = "base"
    lower = "-90 deg"
    """
    (body,) = loaded(tmp_path, text).bodies
    turn = np.array([[0.0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]])
    expected = Articulated(
        [
            Link(Revolute((0, 0, 1)), composite([cuboid((0.3, 0.1, 0.05), 700.0), sphere(0.1, 300.0, at(0.2, 0.1, 0))]),
                 None, turn, "base"),
            Link(examples()[2].__class__((1, 0, 0)), cylinder(0.05, 0.4, 1000.0), "base", name="slider"),
        ],
        [JointSpring("slider", 200.0, rest=0.1), JointTorque("base", lambda t: 1.5)],
        [JointLimit("base", -np.pi / 2)],
        dry_friction=[DryFriction("base", 0.5)],
        q=np.array([np.pi / 2, 0.1]),
        v=np.array([0.0, 0.2]),
    )  # fmt: skip
    made, wanted = body.system(), expected.system()
    q, v = np.array([0.3, 0.2]), np.array([0.4, -1.0])
    np.testing.assert_allclose(made.rest, wanted.rest, rtol=1e-15)
    np.testing.assert_allclose(body.v, expected.v)
    np.testing.assert_allclose(made.mass(q).toarray(), wanted.mass(q).toarray(), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(made.force(q, v, 0.0), wanted.force(q, v, 0.0), rtol=1e-10, atol=1e-12)
    assert body.constraints[0].lower == -np.pi / 2 and body.dry_friction[0].force == 0.5


URDF = """<robot name="pendulum"><link name="base"/><link name="bob"><inertial><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="pivot" type="revolute"><parent link="base"/><child link="bob"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="0.1"/></joint></robot>"""


def test_a_robot_comes_from_its_urdf_file_and_may_have_more(tmp_path):
    (tmp_path / "robot.urdf").write_text(URDF)
    text = """
    [[bodies]]
    kind = "articulated"
    urdf = "robot.urdf"
    q = ["30 deg"]
    forces = [{ kind = "joint-spring", link = "bob", stiffness = 4.0 }]
    """
    (body,) = loaded(tmp_path, text).bodies
    plain = from_urdf(tmp_path / "robot.urdf")
    assert body.name == "pendulum" and len(body.forces) == len(plain.forces) + 1 and len(body.constraints) == 1
    assert body.q[0] == pytest.approx(np.pi / 6)
    loaded_file = load_scene(tmp_path / "my.toml")
    assert loaded_file.origin.files["robot.urdf"] == URDF.encode()
    free = text.replace("q =", "floating = true\n    v =").replace('"30 deg"', "0, 0, 0, 0, 0, 0, 1")
    with pytest.raises(PliantError, match=r"bodies.0 \(link 'base'\): no <inertial>, but its joint moves"):
        loaded(tmp_path, free)


def test_cloth_rigid_bodies_and_fits_say_what_their_classes_say(tmp_path):
    text = """
    [[bodies]]
    kind = "cloth"
    mesh = { generator = "sheet", size = [0.4, 0.4], cells = [2, 2] }
    fabric = { modulus = "1 MPa", nu = 0.3, density = "300 kg/m^3" }
    thickness = "0.5 mm"

    [[bodies]]
    kind = "rigid"
    name = "die"
    mesh = { generator = "bar", size = ["2 cm", "2 cm", "2 cm"], cells = [1, 1, 1] }
    transform = { translate = [0, 0, "1 m"] }
    mass = "16 g"
    spin = ["60 rpm", 0, 0]

    [[bodies]]
    name = "bar"
    mesh = { generator = "bar", size = [0.3, 0.1, 0.1], cells = [3, 1, 1] }
    transform = { translate = [0, 0, "3 m"] }
    material = { kind = "stable-neo-hookean", E = "20 kPa", nu = 0.3 }
    pins = [{ where = "x == min" }]
    fit = { mesh = { generator = "bar", size = [0.3, 0.1, 0.1], cells = [6, 2, 2] }, s = 5, beta = "1 ms" }
    """
    cloth, die, fitted = loaded(tmp_path, text).bodies
    assert cloth.fabric == from_fabric(1e6, 0.3, 300.0, 5e-4) and cloth.thickness == 5e-4
    assert die.density == pytest.approx(2000.0) and die.spin[0] == pytest.approx(2 * np.pi)
    assert die.body().mass == pytest.approx(0.016) and die.mesh.X[:, 2].min() == 1.0
    fine = fitted.fit.fine
    assert fitted.fit.s == 5 and fitted.fit.beta == 1e-3 and len(fine.mesh.X) == 7 * 3 * 3
    assert len(fine.pins[0].vertices) == 9 and fine.material == fitted.material and fine.mesh.X[:, 2].min() == 3.0
    assert loaded(tmp_path, text, ["bodies.bar.fit.s=3"]).bodies[2].fit.s == 3


TIED = """
[[bodies]]
name = "soft"
mesh = { generator = "bar", size = ["30 cm", 0.1, 0.1], cells = [3, 1, 1] }
material = { kind = "stable-neo-hookean", E = "20 kPa", nu = 0.3 }

[[bodies]]
kind = "articulated"
name = "arm"
[[bodies.links]]
name = "hand"
joint = { kind = "revolute", axis = [0, 1, 0] }
shape = { kind = "box", sides = [0.1, 0.1, 0.1] }
[[bodies.links]]
name = "thumb"
parent = "hand"
shape = { kind = "sphere", radius = 0.05 }

[[bodies]]
kind = "rigid"
name = "die"
mesh = { file = "die.obj" }

[[attachments]]
body = "soft"
where = "x > 29 cm"
to = "arm"
link = "hand"
stiffness = "2 N/mm"

[[attachments]]
body = 0
vertices = [0, 1]
to = "die"

[[forces]]
kind = "tug"
body = "soft"
where = "x == max and z == max"
value = [0, 0, "3 N"]
start = 0
full = "100 ms"
end = 0.5

[[forces]]
kind = "wind"
body = "soft"
mean = [1, 0, 0]

[[events]]
kind = "plane-cut"
time = "0.2 s"
body = "soft"
point = ["10 cm", 0, 0]
normal = [1, 0, 0]
"""


@pytest.fixture
def folder(tmp_path):
    write(bar(size=(0.1, 0.1, 0.1), cells=(1, 1, 1)), tmp_path / "die.obj")
    return tmp_path


def test_attachments_forces_and_events_find_bodies_by_name_and_vertices_by_sentences(folder):
    scene = loaded(folder, TIED)
    X = scene.bodies[0].mesh.X
    first, second = scene.attachments
    np.testing.assert_array_equal(first.vertices, np.flatnonzero(X[:, 0] > 0.29))
    assert (first.body, first.to, first.link, first.stiffness) == ("soft", "arm", "hand", 2000.0)
    assert second.stiffness is None and scene.bodies[2].density == 1000.0
    tug, wind = scene.forces
    np.testing.assert_array_equal(tug.vertices, np.flatnonzero((X[:, 0] > 0.29) & (X[:, 2] > 0.09)))
    assert tug.value == (0.0, 0.0, 3.0) and tug.full == 0.1 and wind.body == "soft"
    assert scene.events[0] == PlaneCut(0.2, (0.1, 0.0, 0.0), (1.0, 0.0, 0.0), "soft")


def test_settings_name_bodies_links_and_attachments(folder):
    settings = ["bodies.soft.material.E=1 MPa", "bodies.1.links.hand.shape.sides=[0.2, 0.2, 0.2]",
                "attachments.0.stiffness=5 N/m", "forces.wind.mean=[0, 1, 0]", "events.time=0.3"]  # fmt: skip
    scene = loaded(folder, TIED, settings)
    assert scene.bodies[0].material.E == 1e6 and scene.attachments[0].stiffness == 5.0
    assert scene.bodies[1].links[0].body.mass == pytest.approx(8.0)
    assert scene.forces[1].mean == (0.0, 1.0, 0.0) and scene.events[0].time == 0.3
    assert loaded(folder, TIED, ["density=2 g/cm^3"]).bodies[0].density == 2000.0  # of all that have one
    with pytest.raises(PliantError, match="no 'sofd' in .*did you mean 'soft'"):
        loaded(folder, TIED, ["bodies.sofd.density=1"])


def test_settings_of_built_in_scenes_name_their_bodies_too():
    scene = load_scene("cantilever", ["parameters.cells=1", "bodies.solid.material.E=1 MPa"]).scene
    assert scene.bodies[0].material.E == 1e6


REFUSED = {  # what is written instead, what the message says
    "no such body": ('to = "arm"', 'to = "arn"', "attachments.0.to: no body 'arn'; did you mean 'arm'"),
    "no such number": ("body = 0", "body = 7", "attachments.1.body: body 7 of 3; count"),
    "no such link": ('link = "hand"', 'link = "hant"', "attachments.0.link: .*no link 'hant'; did you mean 'hand'"),
    "no link named": ('link = "hand"', "", "attachments.0.link: no link is named; known are hand, thumb"),
    "no such region": ("x > 29 cm", "x > 31 cm", "attachments.0.where: no vertex has .*x from 0 to 0.3 m"),
    "no such vertex": ("[0, 1]", "[0, 99]", "attachments.1.vertices: vertex 99 of body 'soft' does not exist"),
    "in two attachments": ("[0, 1]", "[0, 15]", "attachments.1: vertex 15 of body 'soft' is in attachments 0 and 1"),
    "to itself": ('to = "die"', "to = 0", "attachments.1.to: a body is attached to itself"),
    "no stiffness": ('"2 N/mm"', "-1", "attachments.0 .*stiffness is -1"),
    "unknown key of an attachment": ("stiffness", "stifness", "attachments.0.stifness: unknown key .*'stiffness'"),
    "unknown key of a link": ("parent", "parrent", "bodies.1.links.1.parrent: unknown key .*'parent'"),
    "unknown key of a shape": ("radius", "radus", "bodies.1.links.1.shape.radus: unknown key .*'radius'"),
    "unknown key of a rigid body": ('name = "die"', 'dencity = 3', "bodies.2.dencity: unknown key .*'density'"),
    "of another kind": ('name = "die"', 'thickness = 3', "bodies.2.thickness: 'thickness' does not apply to rigid"),
    "unknown joint": ("revolute", "revolut", "bodies.1.links.0.joint: unknown joint 'revolut'; did you mean 'rev"),
    "unknown shape": ('"box"', '"bix"', "bodies.1.links.0.shape: unknown shape 'bix'; did you mean 'box'"),
    "unknown parent": ('parent = "hand"', 'parent = "hend"', "bodies.1 .*unknown parent 'hend'"),
    "unknown load": ('"wind"', '"winf"', "forces.1.kind: unknown load 'winf'; did you mean 'wind'"),
    "unknown event": ('"plane-cut"', '"plain-cut"', "events.0.kind: unknown event .*did you mean 'plane-cut'"),
    "unknown kind of body": ('"rigid"', '"rigit"', "bodies.2.kind: unknown body 'rigit'; did you mean 'rigid'"),
    "load without a time": ('full = "100 ms"\n', "", "forces.0: 'full' is missing"),
    "load on nothing": ('body = "soft"\nmean', 'body = "sofd"\nmean', "forces.1.body: no body 'sofd'"),
    "load on links": ('body = "soft"\nmean', 'body = "arm"\nmean', "body 'arm' is not deformable"),
    "wrong unit": ('"2 N/mm"', '"2 kPa"', "attachments.0.stiffness: stiffness is '2 kPa'"),
    "wrong unit of a joint": ("[0, 1, 0]", '["1 kg", 1, 0]', "bodies.1.links.0.joint.axis"),
    "no mass": ("sides = [0.1, 0.1, 0.1]", "sides = [0.1, 0.1, 0.0]", "bodies.1.links.0.shape .*sides = .*positive"),
    "no inertia": ('kind = "box", sides = [0.1, 0.1, 0.1]', 'kind = "particle", mass = 1',
                   "bodies.1 .link 'hand'.: its joint moves no mass"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_wrong_is_refused_in_one_line_with_its_place(folder, case):
    old, new, said = REFUSED[case]
    text = TIED.replace(old, new, 1)
    if case == "no inertia":  # the thumb would carry the hand
        text = text.replace('parent = "hand"\n', "")
    assert text != TIED
    with pytest.raises(PliantError) as error:
        scene = loaded(folder, text)
        scene.system()
    message = str(error.value)
    assert "\n" not in message and re.search(said, message), message


@pytest.mark.parametrize("how, said", [("open", "the surface is open at 3 edges"), ("inverted", "enclosed volume -")])
def test_a_rigid_body_needs_a_closed_surface_that_faces_outwards(folder, how, said):
    lines = (folder / "die.obj").read_text().splitlines()
    faces = [line for line in lines if line.startswith("f")]
    if how == "open":
        lines.remove(faces[0])
    else:
        lines = [("f " + " ".join(reversed(line.split()[1:]))) if line.startswith("f") else line for line in lines]
    (folder / "die.obj").write_text("\n".join(lines) + "\n")
    with pytest.raises(PliantError, match=rf"bodies\.2.*{said}"):
        loaded(folder, TIED)


def test_what_only_python_can_say_is_named():
    with pytest.raises(NotDescribable, match=r"JointTorque\.torque: a function"):
        describe(Scene([arm(forces=[JointTorque("lower", lambda t: np.zeros(3))])]))
    start = bar(size=(0.3, 0.1, 0.1), cells=(3, 1, 1)).X + 0.1
    with pytest.raises(NotDescribable, match=r"Solid\.positions cannot be written"):
        describe(Scene([soft(positions=start)]))


def test_files_of_one_name_do_not_overwrite_each_other(tmp_path):
    """Two folders, one file name: the run folder keeps both; one file named twice is kept once."""
    for name, size in (("a", 0.1), ("b", 0.2)):
        (tmp_path / name).mkdir()
        write(bar(size=(size, 0.1, 0.1), cells=(1, 1, 1)), tmp_path / name / "body-1.msh")
    body = '[[bodies]]\nmaterial = {{ kind = "arap", E = 1e4 }}\nmesh = {{ file = "{}/body-1.msh" }}\n'
    path = tmp_path / "my.toml"
    path.write_text("".join(body.format(name) for name in ("a", "b", "a")))
    first = load_scene(path)
    assert len(first.origin.files) == 2
    first.origin.write(tmp_path / "run")
    again = load_scene(tmp_path / "run").scene
    assert [b.mesh.X[:, 0].max() for b in again.bodies] == pytest.approx([0.1, 0.2, 0.1])


def test_coupled_joints_and_functions_of_time():
    wave = Sine(2.0, 0.5, phase=np.pi / 2, mean=1.0)
    assert wave(0.0) == pytest.approx(3.0) and wave(1.0) == pytest.approx(-1.0)
    ramp = Series((0.0, 2.0), (1.0, 5.0))
    assert ramp(-1.0) == 1.0 and ramp(0.5) == 2.0 and ramp(9.0) == 5.0
    assert constant(4.0)(123.0) == 4.0
    np.testing.assert_array_equal(Series((0.0, 1.0), ((0.0, 2.0), (1.0, 0.0)))(0.5), [0.5, 1.0])
    for wrong in (((1.0, 0.0), (0.0, 1.0)), ((0.0, 1.0), (0.0,)), ((), ()), ((0.0,), (np.nan,))):
        with pytest.raises(PliantError):
            Series(*wrong)
    scene = Scene([arm(constraints=[CoupledJoints("upper arm", "upper arm", 2.0, 0.1)])])
    assert describe(scene)[0]["bodies"][0]["constraints"][0]["ratio"] == 2.0


@pytest.mark.skipif(sys.version_info < (3, 12), reason="names of types are objects from Python 3.12 on")
def test_a_list_is_read_as_the_array_that_a_named_type_stands_for():
    """As `numpy.typing.NDArray` is a name of arrays, from NumPy 2.5 on."""
    import typing

    scalar = typing.TypeVar("scalar", bound=np.generic)
    of = typing.TypeAliasType("of", np.ndarray[tuple[int, ...], np.dtype[scalar]], type_params=(scalar,))
    maybe = typing.TypeAliasType("maybe", of[np.float64] | None)
    for declared in (of[np.float64], of[np.float64] | None, maybe):
        read = Reader().value("axis", declared, [1, 2], "axis")
        assert read.dtype == np.float64 and read.tolist() == [1.0, 2.0]

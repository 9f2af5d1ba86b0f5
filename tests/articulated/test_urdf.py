"""URDF: the imported robot is the one described, and what is missing is named."""

import numpy as np
import pytest

from pliant.articulated import BISP, ArticulatedSystem, Link, cuboid, read_urdf
from pliant.articulated.constraints import CoupledJoints, JointLimit
from pliant.articulated.joints import Revolute
from pliant.errors import SceneError
from pliant.state import State

INERTIA = '<inertia ixx="0.01" iyy="0.2" izz="0.21" ixy="0" ixz="0" iyz="0"/>'
INERTIAL = f'<inertial><origin xyz="0.5 0 0"/><mass value="2"/>{INERTIA}</inertial>'
BOX = '<visual><origin xyz="0.5 0 0"/><geometry><box size="1 0.1 0.1"/></geometry></visual>'


def robot(inertial=INERTIAL, limit='<limit lower="-1" upper="2" effort="1" velocity="1"/>', parent="base", extra=""):
    return f"""<robot name="arm">
      <link name="base"/>
      <link name="upper">{inertial}{BOX}</link>
      <link name="fore">{INERTIAL}</link>
      <joint name="shoulder" type="revolute"><parent link="{parent}"/><child link="upper"/><axis xyz="0 1 0"/>{limit}
        <dynamics damping="0.3" friction="0.1"/></joint>
      <joint name="elbow" type="continuous"><parent link="upper"/><child link="fore"/>
        <origin xyz="1 0 0" rpy="0 0 0.5"/><axis xyz="0 1 0"/>{extra}</joint></robot>"""


def test_the_imported_arm_moves_like_the_same_arm_built_by_hand():
    imported = read_urdf(robot()).system()
    from pliant.articulated import rigid
    from pliant.articulated.forces import JointSpring
    from pliant.articulated.joints import Fixed
    from pliant.articulated.se3 import frame, rotation

    body = rigid(2.0, np.array([0.5, 0, 0]), np.diag([0.01, 0.2, 0.21]))
    links = [
        Link(Fixed(), cuboid((1, 1, 1), 1.0), name="base"),
        Link(Revolute((0, 1, 0)), body, "base", name="upper"),
        Link(Revolute((0, 1, 0)), body, "upper", frame(rotation((0, 0, 1), 0.5), np.array([1.0, 0, 0])), "fore"),
    ]
    built = ArticulatedSystem(links, [JointSpring("upper", damping=0.3)])
    q, v = np.array([0.3, 0.7]), np.array([1.0, -2.0])
    assert np.allclose(imported.force(q, v, 0.0), built.force(q, v, 0.0))
    assert np.allclose(imported.mass(q).toarray(), built.mass(q).toarray())


def test_limits_friction_and_mimic_are_imported():
    model = read_urdf(robot(extra='<mimic joint="shoulder" multiplier="2" offset="0.1"/>'))
    limits = [c for c in model.constraints if isinstance(c, JointLimit)]
    assert (limits[0].lower, limits[0].upper) == (-1.0, 2.0)
    assert [(d.link, d.force) for d in model.friction] == [("upper", 0.1)]
    assert any(isinstance(c, CoupledJoints) for c in model.constraints)
    system = model.system(q=np.array([0.2, 0.5]))
    state = State(np.array([0.2, 0.5]), np.zeros(2))
    for _ in range(50):
        state = BISP().step(system, state, 5e-3).state
    assert np.isclose(state.q[1], 2 * state.q[0] + 0.1, atol=1e-6)


def test_the_shape_is_drawn_where_the_link_is():
    system = read_urdf(robot()).system()
    X = system.positions(np.zeros(2))
    box = X[1:9]
    assert np.allclose(box.min(axis=0), [0, -0.05, -0.05]) and np.allclose(box.max(axis=0), [1, 0.05, 0.05])


def test_meshes_are_drawn_and_found_by_package(tmp_path):
    import trimesh

    surface = trimesh.creation.box(extents=(0.2, 0.1, 0.4))
    (tmp_path / "arm" / "meshes").mkdir(parents=True)
    (tmp_path / "arm" / "urdf").mkdir()
    surface.export(tmp_path / "arm" / "meshes" / "fine.stl")
    mesh = '<mesh filename="package://arm/meshes/fine.stl" scale="1 2 1"/>'
    visual = f'<visual><origin xyz="0 0 1"/><geometry>{mesh}</geometry></visual>'
    ball = '<collision><geometry><sphere radius="0.3"/></geometry></collision>'
    path = tmp_path / "arm" / "urdf" / "arm.urdf"
    path.write_text(robot().replace(BOX, visual + ball))
    for geometry, low, high in (("visual", [-0.1, -0.1, 0.8], [0.1, 0.1, 1.2]), ("collision", [-0.3] * 3, [0.3] * 3)):
        system = read_urdf(path, geometry=geometry).system()
        upper = system.tree.links[1].body
        X = upper.points @ upper.frame[:3, :3].T + upper.frame[:3, 3]  # as seen from its joint
        assert np.allclose(X.min(axis=0), low, atol=1e-3) and np.allclose(X.max(axis=0), high, atol=1e-3)
    path.write_text(robot().replace(BOX, visual.replace("fine", "lost")))
    with pytest.raises(SceneError, match=r"link 'upper': there is no mesh 'package://arm/meshes/lost.stl'"):
        read_urdf(path)


def test_a_file_is_read(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(robot())
    assert read_urdf(path).system().tree.dof == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (robot(inertial=""), "link 'upper': no <inertial>"),
        (
            robot(inertial='<inertial><mass value="0"/><inertia ixx="0" iyy="0" izz="0"/></inertial>'),
            "link 'upper': mass 0.0",
        ),
        (robot(limit=""), "joint 'shoulder': no <limit>"),
        (robot(limit='<limit lower="2" upper="-1"/>'), "lower limit 2.0 above upper limit -1.0"),
        (robot(parent="nothing"), "joint 'shoulder': parent link 'nothing' does not exist"),
        (robot(extra='<mimic joint="wrist"/>'), "mimics unknown joint 'wrist'"),
        (robot().replace('type="continuous"', 'type="magic"'), "unknown joint type 'magic'"),
        (robot().replace('size="1 0.1 0.1"', ""), "link 'upper': '' is not three numbers"),
        (robot().replace('size="1 0.1 0.1"', 'size="1 0 0.1"'), "link 'upper': a box of .*lengths > 0"),
        (robot().replace('<box size="1 0.1 0.1"/>', "<sphere/>"), "link 'upper': a sphere without radius"),
        (robot().replace('<box size="1 0.1 0.1"/>', '<cylinder radius="-1"/>'), "a cylinder with radius -1"),
        (robot().replace('xyz="1 0 0" rpy', 'xyz="1 0 nan" rpy'), "joint 'elbow', xyz of <origin>: '1 0 nan' is not"),
        (robot().replace('damping="0.3"', 'damping="nan"'), "joint 'shoulder': damping = 'nan' is not a number"),
        (robot().replace('"revolute"', '"planar"').replace("0 1 0", "0 0 1"), "friction = 0.1 of a joint with 2 coord"),
        (robot().replace('value="2"', 'value="-2"'), "link 'upper': mass -2; give a number >= 0"),
        ("<model/>", "root element <model>"),
        ("<robot><link", "cannot read it"),
    ],
)
def test_bad_files_are_named(text, words):
    with pytest.raises(SceneError, match=words):
        read_urdf(text).system()


BALL = '<inertial><mass value="1"/><inertia ixx="{0}" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
TWO = f'<link name="base"/><link name="a">{BALL.format(1)}</link><link name="b">{BALL.format(1)}</link>'


def joint(name, parent, child, inner="", kind="continuous"):
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}<axis xyz="0 1 0"/>{inner}</joint>'


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (joint("j", "base", "a") + joint("k", "base", "b") + joint("m", "a", "b"), "'k' and 'm' both move it"),
        (joint("j", "base", "a"), "no joint moves base, b"),
        (joint("j", "base", "a") + joint("j", "a", "b"), "two joints are called 'j'"),
        (joint("j", "base", "a") + joint("k", "a", "b") + '<link name="a"/>', "two links are called 'a'"),
        (joint("j", "base", "a") + joint("k", "a", "b", '<mimic joint="k"/>'), "joint 'k': mimics 'k'"),
        (joint("j", "base", "a", kind="fixed") + joint("k", "a", "b", '<mimic joint="j"/>'), "joint 'k': mimics 'j'"),
        (joint("j", "base", "a", '<dynamics damping="-1"/>') + joint("k", "a", "b"), "joint 'j': damping = -1.0"),
        (joint("j", "base", "a", '<dynamics friction="-1"/>') + joint("k", "a", "b"), "joint 'j': friction = -1.0"),
        (joint("j", "b", "a") + joint("k", "a", "b"), "form a cycle"),
    ],
)
def test_files_that_are_no_tree_are_named(parts, words):
    with pytest.raises(SceneError, match=words):
        read_urdf(f"<robot>{TWO}{parts}</robot>").system()


def test_impossible_moments_are_named():
    links = TWO.replace(BALL.format(1), BALL.format(3), 1)
    text = f"<robot>{links}{joint('j', 'base', 'a')}{joint('k', 'a', 'b')}</robot>"
    with pytest.raises(SceneError, match="link 'a': principal moments 1, 1, 3"):
        read_urdf(text)


def cart(middle, *, second="1 0 0"):
    """A body on two sliders with a link ``middle`` between them."""
    slider = '<joint name="{0}" type="prismatic"><parent link="{0}"/><child link="{1}"/><axis xyz="{2}"/>{3}</joint>'
    limit = '<limit lower="-9" upper="9"/>'
    joints = slider.format("base", "middle", "0 0 1", limit) + slider.format("middle", "body", second, limit)
    links = f'<link name="base"/><link name="middle">{middle}</link><link name="body">{INERTIAL}{BOX}</link>'
    return f'<robot name="cart">{links}{joints}</robot>'


@pytest.mark.parametrize("middle", ["", '<inertial><mass value="0"/><inertia ixx="0" iyy="0" izz="0"/></inertial>'])
def test_links_that_are_frames_between_joints_need_no_inertia(middle):
    system = read_urdf(cart(middle)).system()
    assert np.allclose(system.mass(np.zeros(2)).toarray(), 2.0 * np.eye(2))
    a = system.accelerated(np.zeros(2), system.force(np.zeros(2), np.zeros(2), 0.0))
    assert np.allclose(a, [-9.81, 0.0])


def test_a_root_that_is_a_frame_may_float():
    weld = '<joint name="weld" type="fixed"><parent link="world"/><child link="base"/></joint>'
    text = f'<robot name="drone"><link name="world"/><link name="base">{INERTIAL}{BOX}</link>{weld}</robot>'
    system = read_urdf(text, floating=True).system()
    q, spin = np.zeros(6), np.array([0.0, 0.0, 0.0, 0.3, -1.0, 2.0])
    a = system.accelerated(q, system.force(q, spin, 0.0))
    body = read_urdf(text.replace('<link name="world"/>', "").replace(weld, ""), floating=True).system()
    assert np.allclose(a, body.accelerated(q, body.force(q, spin, 0.0)))


def test_frames_without_inertia_between_joints_that_move_alike_are_refused():
    with pytest.raises(SceneError, match="link 'middle': no <inertial>, but its joint moves nothing that others"):
        read_urdf(cart("", second="0 0 1"))
    with pytest.raises(
        SceneError, match="link 'middle': no <inertial>, but its joint moves;"
    ):  # it has a shape: its inertia was forgotten
        read_urdf(cart(BOX))


@pytest.mark.parametrize("scale", ["1 1 1", "1 -1 1", "-1 -1 -1", "2 1 1"])
@pytest.mark.parametrize("inverted", [False, True])
def test_meshes_face_outwards_though_mirrored_or_inside_out(tmp_path, scale, inverted):
    import trimesh

    surface = trimesh.creation.box(extents=(0.2, 0.1, 0.4))
    surface.apply_translation((0.0, 0.3, 0.0))
    if inverted:
        surface.invert()
    surface.export(tmp_path / "box.stl")
    text = robot().replace(BOX, f'<visual><geometry><mesh filename="box.stl" scale="{scale}"/></geometry></visual>')
    (tmp_path / "arm.urdf").write_text(text)
    body = read_urdf(tmp_path / "arm.urdf").system().tree.links[1].body
    volume = np.linalg.det(body.points[body.faces]).sum() / 6.0
    assert np.isclose(volume, 0.2 * 0.1 * 0.4 * abs(np.prod([float(s) for s in scale.split()])), rtol=1e-5)
    (tmp_path / "arm.urdf").write_text(text.replace(scale, "1 0 1"))
    with pytest.raises(SceneError, match="link 'upper': scale is"):
        read_urdf(tmp_path / "arm.urdf")

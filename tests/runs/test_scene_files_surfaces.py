"""Surfaces in scene files: filled with tetrahedra on load, drawn on links, and kept beside the copy in a run folder."""

import numpy as np
import pytest
import trimesh

import pliant as pl
from pliant.errors import PliantError
from pliant.scene_file import load_scene

BALL = """
h = 0.01
duration = 0.02

[[bodies]]
mesh = { file = "ball.stl", tetrahedralise = true, edge_length = "4 cm" }
material = { preset = "ecoflex-00-30" }
"""
ROBOT = """
h = 0.01
duration = 0.02
integrator = "linearly-implicit"

[[bodies]]
kind = "articulated"
urdf = "arm.urdf"
"""
URDF = """<robot name="arm">
<link name="base"><visual><geometry><mesh filename="parts/foot.stl"/></geometry></visual></link>
<link name="upper"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><mesh filename="ball.stl" scale="2 2 2"/></geometry></visual></link>
<joint name="j" type="continuous"><parent link="base"/><child link="upper"/></joint></robot>"""


@pytest.fixture
def folder(tmp_path):
    trimesh.creation.icosphere(subdivisions=1, radius=0.05).export(tmp_path / "ball.stl")
    (tmp_path / "parts").mkdir()
    trimesh.creation.box(extents=(0.3, 0.2, 0.1)).export(tmp_path / "parts" / "foot.stl")
    (tmp_path / "arm.urdf").write_text(URDF)
    return tmp_path


def test_a_surface_is_filled_and_the_run_keeps_its_tetrahedra(folder):
    pytest.importorskip("pytetwild")
    (folder / "scene.toml").write_text(BALL)
    loaded = load_scene(folder / "scene.toml")
    mesh = loaded.scene.bodies[0].mesh
    ball = trimesh.creation.icosphere(subdivisions=1, radius=0.05)
    assert mesh.T.shape[1] == 4 and mesh.measures().sum() == pytest.approx(ball.volume, rel=0.05)
    files = loaded.origin.files
    assert list(files) == ["ball.npz"] and "tetrahedralise" not in loaded.origin.document["bodies"][0]["mesh"]
    (folder / "ball.npz").write_bytes(files["ball.npz"])
    again = pl.mesh.read(folder / "ball.npz")
    assert np.array_equal(again.X, mesh.X) and np.array_equal(again.T, mesh.T)  # made once, not twice


def test_meshes_of_links_lie_beside_the_copy(folder):
    (folder / "scene.toml").write_text(ROBOT)
    loaded = load_scene(folder / "scene.toml")
    upper = loaded.scene.bodies[0].links[1].body
    assert np.ptp(upper.points, axis=0) == pytest.approx(0.2, rel=0.1)
    copy = folder / "copy"
    copy.mkdir()
    for name, content in loaded.origin.files.items():
        (copy / name).write_bytes(content)
    assert sorted(path.name for path in copy.iterdir()) == ["arm.urdf", "ball.stl", "foot.stl"]
    (copy / "scene.toml").write_text(ROBOT)
    again = load_scene(copy / "scene.toml").scene.bodies[0].links
    for link, same in zip(loaded.scene.bodies[0].links, again, strict=True):
        assert np.array_equal(link.body.points, same.body.points)


MJCF = """<mujoco model="arm"><compiler meshdir="parts"/><include file="lost/assets.xml"/>
<worldbody><body name="upper"><joint name="j" axis="0 1 0"/><geom type="mesh" mesh="foot"/></body></worldbody>
<actuator><motor joint="j"/></actuator></mujoco>"""
ASSETS = '<mujoco><asset><mesh file="foot.stl"/></asset></mujoco>'
MODEL = ROBOT.replace('urdf = "arm.urdf"', 'mjcf = "arm.xml"\nskip = ["actuator"]\nq = ["30 deg"]')


def test_a_robot_comes_from_its_mjcf_file_and_the_copy_makes_the_same(folder):
    pytest.importorskip("mujoco")
    (folder / "lost").mkdir()
    (folder / "lost" / "assets.xml").write_text(ASSETS)
    (folder / "arm.xml").write_text(MJCF)
    (folder / "scene.toml").write_text(MODEL)
    loaded = load_scene(folder / "scene.toml")
    (body,) = loaded.scene.bodies
    assert body.name == "arm" and body.q[0] == pytest.approx(np.pi / 6)
    assert body.links[0].body.inertia[5] == pytest.approx(1000.0 * 0.3 * 0.2 * 0.1)
    copy = folder / "copy"
    copy.mkdir()
    for name, content in loaded.origin.files.items():
        (copy / name).write_bytes(content)
    assert sorted(path.name for path in copy.iterdir()) == ["arm.xml", "foot.stl"]
    (copy / "scene.toml").write_text(MODEL)
    (again,) = load_scene(copy / "scene.toml").scene.bodies
    q = np.array([0.3])
    assert np.array_equal(body.system().force(q, q, 0.0), again.system().force(q, q, 0.0))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (("skip = [", "skipped = ["), r"unknown key 'skipped'"),
        (('["actuator"]', "3"), r"skip is 3"),
        (('["actuator"]', "[]"), r"actuator: number 0; take it out of the file"),
        (('mjcf = "arm.xml"', 'mjcf = "arm.xml"\nurdf = "arm.urdf"'), "needs links, urdf or mjcf; give one of them"),
        (('"arm.xml"', '"lost.xml"'), "MuJoCo cannot read it"),
    ],
)
def test_wrong_mjcf_is_refused_in_one_line(folder, wrong, words):
    pytest.importorskip("mujoco")
    (folder / "arm.xml").write_text(MJCF.replace('<include file="lost/assets.xml"/>', ASSETS[8:-9]))
    (folder / "scene.toml").write_text(MODEL.replace(*wrong))
    with pytest.raises(PliantError, match=words):
        load_scene(folder / "scene.toml")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (BALL.replace("ball.stl", "lost.stl"), "no file lost.stl"),
        (BALL.replace(", tetrahedralise = true", ""), "nothing to tetrahedralise"),
        (ROBOT + 'geometry = "pretty"', "geometry is 'pretty'"),
    ],
)
def test_what_cannot_be_is_named(folder, wrong, words):
    (folder / "scene.toml").write_text(wrong)
    with pytest.raises(PliantError, match=words):
        load_scene(folder / "scene.toml")

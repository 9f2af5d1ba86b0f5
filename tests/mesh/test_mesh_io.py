"""Mesh files: round trips, other programs, and every way in which a file can be wrong."""

import os
from pathlib import Path

import meshio
import numpy as np
import pytest
import pyvista
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant import mesh
from pliant.errors import MeshError
from pliant.mesh import Mesh

VOLUME_FORMATS = (".node", ".ele", ".msh", ".mesh", ".vtk", ".vtu", ".npz")
SURFACE_FORMATS = (".obj", ".ply", ".stl")


def tets() -> Mesh:
    body = mesh.duck()
    return Mesh(X=body.X + 1 / 3, T=body.T, region=np.arange(len(body.T)) % 3)


MESHES = {
    "tets": tets,
    "sheet": lambda: mesh.sheet((1, 0.7), (3, 2)),
    "springs": lambda: mesh.spring_net(3, 2),
    "planar": lambda: mesh.rectangle((1, 0.7), (3, 2)),
}


@pytest.mark.parametrize("name", MESHES)
@pytest.mark.parametrize("suffix", VOLUME_FORMATS)
def test_round_trip_is_exact(tmp_path, suffix, name):
    body = MESHES[name]()
    mesh.write(body, tmp_path / f"body{suffix}")
    again = mesh.read(tmp_path / f"body{suffix}", planar=body.dim == 2)
    assert (again.X == body.X).all() and (again.T == body.T).all()
    assert (again.region is None) == (body.region is None)
    assert body.region is None or (again.region == body.region).all()


@pytest.mark.parametrize("suffix", SURFACE_FORMATS)
@pytest.mark.parametrize("name", ["tets", "sheet", "planar"])
def test_surface_formats_hold_the_surface(tmp_path, suffix, name):
    body = MESHES[name]()
    seen = mesh.surface_mesh(body)
    mesh.write(body, tmp_path / f"body{suffix}")
    again = mesh.read(str(tmp_path / f"body{suffix}"))
    assert (len(again.X), len(again.T)) == (len(seen.X), len(seen.T))
    assert again.measures() == pytest.approx(seen.measures(), rel=1e-4 if suffix == ".stl" else 1e-14)
    if suffix != ".stl":  # which repeats vertices in single precision
        assert (again.X == seen.X).all() and (again.T == seen.T).all()


def test_springs_fit_into_obj_but_not_into_triangle_formats(tmp_path):
    net = mesh.spring_net(2, 2)
    mesh.write(net, tmp_path / "net.obj")
    assert (mesh.read(tmp_path / "net.obj").T == net.T).all()
    with pytest.raises(MeshError, match="triangles, not springs"):
        mesh.write(net, tmp_path / "net.stl")


@pytest.mark.parametrize("suffix", [".vtk", ".vtu"])
def test_paraview_family_opens_volumes(tmp_path, suffix):
    body = tets()
    mesh.write(body, tmp_path / f"body{suffix}")
    other = pyvista.read(tmp_path / f"body{suffix}")
    assert (other.n_points, other.n_cells) == (len(body.X), len(body.T))
    assert np.asarray(other.points) == pytest.approx(body.X)
    assert other.volume == pytest.approx(body.measures().sum())
    assert (np.asarray(other.cell_data["region"]) == body.region).all()


@pytest.mark.parametrize("suffix", SURFACE_FORMATS)
def test_trimesh_opens_watertight_surfaces(tmp_path, suffix):
    body = tets()
    mesh.write(body, tmp_path / f"body{suffix}")
    other = trimesh.load(tmp_path / f"body{suffix}")
    assert other.is_watertight and other.is_winding_consistent
    assert other.volume == pytest.approx(body.measures().sum(), rel=1e-4)


def write_tetgen(folder: Path, nodes: str, elements: str) -> Path:
    (folder / "body.node").write_text(nodes)
    (folder / "body.ele").write_text(elements)
    return folder / "body.node"


NODES_0 = "# corners\n4 3 0 0\n0 0 0 0  # origin\n1 1 0 0\n\n2 0 1 0\n3 0 0 1\n"
NODES_1 = "4 3 1 1\n1 0 0 0 9 0\n2 1 0 0 9 0\n3 0 1 0 9 0\n4 0 0 1 9 1\n"


@pytest.mark.parametrize(
    ("nodes", "elements"),
    [
        (NODES_0, "1 4 0\n0 0 1 2 3\n"),
        (NODES_1, "1 4 0\n1 1 2 3 4\n# end\n"),
        (NODES_1, "1 4 0\n0 0 1 2 3\n"),  # vertices from 1, corners from 0: seen in the wild
    ],
)
def test_tetgen_counts_from_zero_or_one(tmp_path, nodes, elements):
    body = mesh.read(write_tetgen(tmp_path, nodes, elements))
    assert body.T.tolist() == [[0, 1, 2, 3]]
    assert body.X.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert (mesh.read(tmp_path / "body.ele").T == body.T).all()


@pytest.mark.parametrize(
    ("nodes", "elements", "message"),
    [
        (NODES_0, "2 4 0\n0 0 1 2 3\n", r"body\.ele line 2: 1 rows, but the header announces 2"),
        (NODES_0, "1 4 0\n0 0 1 2\n", r"body\.ele line 2: 4 numbers, need 5"),
        (NODES_0, "1 4 0\n0 0 1 2 x\n", r"body\.ele line 2: .*'x'"),
        (NODES_0, "1 4 0\n0 0 1 2 2.5\n", r"body\.ele line 2: corners"),
        (NODES_0, "1 4 0\n\n0 0 1 2 4\n", r"body\.node line 3: index: element 0 refers to vertex 4"),
        (NODES_1, "1 4 0\n1 0 2 3 4\n", "index: element 0 refers to vertex -1"),
        (NODES_0, "1 4 0\n0 1 0 2 3\n", "line 2: inverted: element 0 .*repair=True"),
        (NODES_0 + "4 1 1\n", "1 4 0\n0 0 1 2 3\n", r"body\.node line 8: 5 rows"),
        ("", "1 4 0\n0 0 1 2 3\n", "no header"),
        ("4 7 0 0\n" + "0 0 0 0\n" * 4, "1 4 0\n0 0 1 2 3\n", "dimension 7"),
    ],
)
def test_tetgen_faults_name_file_and_line(tmp_path, nodes, elements, message):
    with pytest.raises(MeshError, match=message):
        mesh.read(write_tetgen(tmp_path, nodes, elements))


def test_tetgen_needs_both_files(tmp_path):
    write_tetgen(tmp_path, NODES_0, "1 4 0\n0 0 1 2 3\n")
    (tmp_path / "body.ele").unlink()
    with pytest.raises(MeshError, match="body.ele is missing"):
        mesh.read(tmp_path / "body.node")


def test_obj_polygons_textures_and_counting_back(tmp_path):
    file = tmp_path / "quad.obj"
    file.write_text("v 0 0 0 1 1 1\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\nf 1/1/1 2/1/1 3//1 -1\n")
    assert mesh.read(file).T.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert mesh.read(file, planar=True).dim == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("v 0 0\n", "line 1: a vertex of 2 coordinates"),
        ("v 0 0 0\nf 1 1\n", "line 2: an element of 2 vertices"),
        ("v 0 0 0\nf 0 1 1\n", "line 2: vertex 0"),
        ("v 0 0 a\n", "line 1: .*'a'"),
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 8\n", "line 4: index: element 0 refers to vertex 7"),
        ("v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "line 4: not finite: vertex 0"),
        ("", "empty"),
    ],
)
def test_obj_faults_name_the_line(tmp_path, text, message):
    (tmp_path / "a.obj").write_text(text)
    with pytest.raises(MeshError, match=message):
        mesh.read(tmp_path / "a.obj")


def test_planar_needs_a_plane(tmp_path):
    mesh.write(mesh.ball(cells=4), tmp_path / "ball.obj")
    with pytest.raises(MeshError, match="z spans"):
        mesh.read(tmp_path / "ball.obj", planar=True)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda folder: mesh.read(folder / "body.xyz"), r"unknown kind of mesh file '\.xyz'; use one of \.node"),
        (lambda folder: mesh.read(folder / "body"), "unknown kind"),
        (lambda folder: mesh.read(folder / "nothing.vtk"), r"nothing\.vtk: no such file"),
        (lambda folder: mesh.write(mesh.chain(2), folder / "body.xyz"), "unknown kind"),
        (lambda folder: mesh.write(mesh.chain(2), folder / "absent" / "body.vtk"), "no folder"),
    ],
)
def test_wrong_paths_are_refused(tmp_path, call, message):
    with pytest.raises(MeshError, match=message):
        call(tmp_path)


def test_repair_on_reading(tmp_path):
    file = write_tetgen(tmp_path, NODES_0.replace("4 3", "5 3") + "4 9 9 9\n", "2 4 0\n0 1 0 2 3\n1 0 1 2 3\n")
    with pytest.raises(MeshError, match="inverted"):
        mesh.read(file)
    body = mesh.read(file, repair=True)
    assert (len(body.X), len(body.T)) == (4, 1) and body.measures()[0] == pytest.approx(1 / 6)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("written")
    for suffix in VOLUME_FORMATS + SURFACE_FORMATS:
        mesh.write(tets(), folder / f"body{suffix}")
    return folder


@pytest.mark.parametrize("suffix", [s for s in VOLUME_FORMATS + SURFACE_FORMATS if s != ".obj"])
@settings(max_examples=12, deadline=None, derandomize=True)
@given(part=st.floats(0, 0.99))
def test_truncated_files_are_refused(written, suffix, part):
    content = (written / f"body{suffix}").read_bytes()
    for partner in (".node", ".ele"):
        (written / f"cut{partner}").write_bytes((written / f"body{partner}").read_bytes())
    (written / f"cut{suffix}").write_bytes(content[: int(part * len(content))])
    with pytest.raises(MeshError, match="cut"):
        mesh.read(written / f"cut{suffix}")


@pytest.mark.parametrize("suffix", VOLUME_FORMATS + SURFACE_FORMATS)
@settings(max_examples=12, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1))
def test_damaged_files_give_a_mesh_or_a_mesh_error(written, suffix, seed):
    """Random bytes anywhere: never another kind of error, never an unsound mesh."""
    rng = np.random.default_rng(seed)
    content = bytearray((written / f"body{suffix}").read_bytes())
    for position in rng.integers(0, len(content), 5):
        content[position] = rng.integers(32, 127)
    for partner in (".node", ".ele"):
        (written / f"bad{partner}").write_bytes((written / f"body{partner}").read_bytes())
    (written / f"bad{suffix}").write_bytes(content)
    try:
        body = mesh.read(written / f"bad{suffix}")
    except MeshError:
        return
    assert np.isfinite(body.X).all() and (body.measures() > 0).all()


def beside_the_checkout() -> Path:
    return Path(os.environ.get("PLIANT_MESHES", Path(__file__).parents[3] / "shared" / "meshes"))


@pytest.mark.slow
def test_meshes_beside_the_checkout_are_read():
    """Whatever TetGen meshes lie there (none is fine) are read and accepted."""
    for file in sorted(beside_the_checkout().glob("*.node")):
        body = mesh.read(file)
        assert body.kind == "tetrahedra" and not mesh.doctor(body).refused


ABAQUS = """*HEADING
a tetrahedron with one side marked, vertices numbered at will
*NODE
10, 0.0, 0.0, 0.0
20, 1.0, 0.0, 0.0
30, 0.0, 1.0, 0.0
40, 0.0, 0.0, 1.0
*ELEMENT, TYPE=C3D4, ELSET=BODY
7, 10, 20, 30, 40
*ELEMENT, TYPE=S3, ELSET=SIDE
8, 10, 30, 20
"""


def test_abaqus_files_are_read(tmp_path):
    (tmp_path / "body.inp").write_text(ABAQUS)
    body = mesh.read(tmp_path / "body.inp")
    assert body.T.tolist() == [[0, 1, 2, 3]] and body.measures() == pytest.approx([1 / 6])
    with pytest.raises(MeshError, match="only read"):
        mesh.write(body, tmp_path / "again.inp")


HEXAHEDRON = ("hexahedron", np.arange(8)[None])


@pytest.mark.parametrize(
    ("cells", "named"),
    [
        ([HEXAHEDRON, ("line", np.array([[0, 1]]))], "hexahedron"),  # used to be one spring
        ([HEXAHEDRON, ("tetra", np.array([[4, 5, 7, 8]]))], "hexahedron"),  # used to be the tetrahedron alone
        ([("triangle", np.array([[0, 1, 2]])), ("quad", np.array([[4, 5, 6, 7]]))], "quad"),
        ([("tetra10", np.arange(10)[None])], "tetra10"),
    ],
)
def test_elements_that_would_be_left_out_are_refused_by_name(tmp_path, cells, named):
    corners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1], [0, 0, 2]]
    meshio.Mesh(np.array([*corners, [2, 2, 2]], dtype=float), cells).write(tmp_path / "body.vtk")
    with pytest.raises(MeshError, match=f"elements of kind {named}; mesh it with linear tetrahedra"):
        mesh.read(tmp_path / "body.vtk")

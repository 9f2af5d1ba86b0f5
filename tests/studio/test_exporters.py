"""Every format is opened again by an independent reader and compared with the frames of the run."""

import shutil
import tracemalloc

import matplotlib
import meshio
import numpy as np
import pytest
import trimesh
from scipy.spatial import cKDTree

import pliant as pl
from pliant.errors import MeshError, PliantError, RunError
from pliant.export import GEOMETRY, clip, write_gltf, write_npz, write_obj, write_ply, write_usd, write_vtk
from pliant.export.clip import ranges
from pliant.export.colours import UNKNOWN, magnitude, palette
from pliant.export.usd import split
from pliant.mesh import box
from pliant.record import load, record
from pliant.record.frame_writer import FrameWriter
from pliant.record.frames import Frame, VtkCells
from pliant.record.output import Output


@pytest.fixture
def whole(run):
    return clip(run, ("von_mises", "displacement"))


def test_the_surface_is_closed_and_holds_the_volume_of_the_bar(run):
    first = next(iter(clip(run)))
    surface = trimesh.Trimesh(first.points, first.triangles, process=False)
    assert surface.is_watertight
    assert surface.volume == pytest.approx(0.3 * 0.1 * 0.1, rel=1e-9)


def test_usd_is_what_was_recorded(whole, tmp_path):
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.Open(str(write_usd(whole, tmp_path / "a.usdc")))
    assert UsdGeom.GetStageUpAxis(stage) == "Z" and UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/World/solid"))
    samples = mesh.GetPointsAttr().GetTimeSamples()
    assert np.allclose(np.array(samples) / stage.GetTimeCodesPerSecond(), whole.times)
    assert samples == list(range(len(whole)))  # frames of even spacing lie on whole time codes
    assert stage.GetEndTimeCode() == len(whole) - 1 and stage.GetFramesPerSecond() == stage.GetTimeCodesPerSecond()
    assert len(mesh.GetFaceVertexIndicesAttr().GetTimeSamples()) == 1
    primvars = UsdGeom.PrimvarsAPI(mesh)
    for code, picture in zip(samples, whole):
        assert np.allclose(mesh.GetPointsAttr().Get(code), picture.points, atol=1e-7)
        assert np.allclose(primvars.GetPrimvar("displacement").Get(code), picture.values["displacement"], atol=1e-7)
        assert np.allclose(primvars.GetPrimvar("von_mises").Get(code), picture.values["von_mises"], rtol=1e-5)


def test_series_are_what_was_recorded(whole, run, tmp_path):
    write_vtk(whole, tmp_path / "vtk")
    write_ply(whole, tmp_path / "ply")
    write_obj(clip(run), tmp_path / "obj")
    assert (tmp_path / "vtk" / "series.pvd").read_text().count("DataSet") == len(whole)
    for k, picture in enumerate(whole):
        read = meshio.read(tmp_path / "vtk" / f"frame.{k:04d}.vtu")
        assert np.array_equal(read.points, picture.points)
        assert np.array_equal(read.point_data["von_mises"], picture.values["von_mises"])
        for ending in ("ply", "obj"):
            read = trimesh.load(tmp_path / ending / f"frame.{k:04d}.{ending}", process=False)
            assert np.array_equal(read.faces, picture.triangles)
            assert np.allclose(read.vertices, picture.points, atol=1e-7)
    values = meshio.read(tmp_path / "ply" / "frame.0010.ply").point_data
    assert np.allclose(values["von_mises"], picture.values["von_mises"], rtol=1e-6)


def test_frames_of_a_longer_export_do_not_stay_behind(run, tmp_path):
    (tmp_path / "frame.final.obj").write_text("mine")
    write_obj(clip(run), tmp_path)
    fewer = clip(run).every(2)
    write_obj(fewer, tmp_path)
    assert len(list(tmp_path.glob("frame.0*.obj"))) == len(fewer) < len(clip(run))
    assert (tmp_path / "frame.final.obj").exists()


def test_gltf_morphs_through_the_frames(whole, tmp_path):
    from pygltflib import GLTF2

    file = GLTF2().load(str(write_gltf(whole, tmp_path / "a.glb")))
    blob = file.binary_blob()

    def read(index, width):
        accessor = file.accessors[index]
        start = file.bufferViews[accessor.bufferView].byteOffset
        return np.frombuffer(blob, "<f4", accessor.count * width, start).reshape(accessor.count, width)

    primitive = file.meshes[0].primitives[0]
    base = read(primitive.attributes.POSITION, 3)
    deltas = np.stack([read(target["POSITION"], 3) for target in primitive.targets])
    sampler = file.animations[0].samplers[0]
    weights = read(sampler.output, 1).reshape(len(whole), len(deltas))
    assert np.allclose(read(sampler.input, 1)[:, 0], whole.times, atol=1e-7)
    for row, picture in zip(weights, whole):
        assert np.allclose(base + np.einsum("t,tnd->nd", row, deltas), picture.points, atol=1e-6)
    assert trimesh.load(tmp_path / "a.glb", force="mesh").is_watertight
    values = [magnitude(picture.values["von_mises"]) for picture in whole]
    limits = min(map(np.min, values)), max(map(np.max, values))
    light = read(primitive.attributes.COLOR_0, 3)
    tints = np.stack([read(target["COLOR_0"], 3) for target in primitive.targets])
    for row, scalar in zip(weights, values):
        expected = matplotlib.colormaps["viridis"]((scalar - limits[0]) / (limits[1] - limits[0]))[:, :3]
        shown = np.clip(light + np.einsum("t,tnd->nd", row, tints), 0.0, 1.0)
        assert (
            np.abs(np.where(shown < 0.0031308, 12.92 * shown, 1.055 * shown ** (1 / 2.4) - 0.055) - expected).max()
            < 0.01
        )


def test_npz_holds_everything(whole, tmp_path):
    arrays = np.load(write_npz(whole, tmp_path / "a.npz"))
    assert np.array_equal(arrays["t"], whole.times)
    for k, picture in enumerate(whole):
        assert np.array_equal(arrays["points"][k], picture.points)
        assert np.array_equal(arrays["displacement"][k], picture.values["displacement"])


def test_values_of_cells_are_averaged_at_vertices(run):
    """Means lie within the range of what they are means of."""
    frame, picture = run.frames[-1], list(clip(run, ("von_mises",)))[-1]
    values = frame.cell_values["von_mises"]
    assert values.min() <= picture.values["von_mises"].min() and picture.values["von_mises"].max() <= values.max()


@pytest.mark.parametrize("to", GEOMETRY)
def test_a_fine_surface_follows_in_every_format(to, run, tmp_path):
    fine = trimesh.creation.box(extents=(0.3, 0.1, 0.1)).subdivide().subdivide()
    fine.apply_translation((0.15, 0.05, 0.05))
    fine.export(tmp_path / "fine.obj")
    chosen = clip(run, surface=tmp_path / "fine.obj")
    pictures = list(chosen)
    assert np.allclose(pictures[0].points, fine.vertices, atol=1e-7)
    before, *_, after = clip(run)
    distance, vertex = cKDTree(before.points).query(fine.vertices)
    shared = distance < 1e-7  # vertices of both surfaces, the corners of the bar among them
    assert shared.sum() >= 8
    assert np.allclose(pictures[-1].points[shared], after.points[vertex[shared]], atol=1e-6)
    ending, write = GEOMETRY[to]
    assert write(chosen, tmp_path / f"out{ending}").exists()


@pytest.fixture
def changing(run, tmp_path):
    """A run whose second frame has lost a tetrahedron."""
    folder = tmp_path / "changing"
    shutil.copytree(run.folder, folder)
    (folder / "frames.vtkhdf").unlink()
    mesh = box((1, 1, 1), (1, 1, 1))
    writer = FrameWriter(folder / "frames.vtkhdf")
    for t, T in ((0.0, mesh.T), (0.1, mesh.T[:-1]), (0.2, mesh.T[:-1])):
        writer.append(Frame(t, mesh.X, {}, {}), VtkCells.of([T]))
    writer.close()
    return load(folder)


@pytest.mark.parametrize("to", GEOMETRY)
def test_changing_topology_is_written_or_refused_by_name(to, changing, tmp_path):
    ending, write = GEOMETRY[to]
    chosen, path = clip(changing), tmp_path / f"out{ending}"
    if to in ("gltf", "npz"):
        with pytest.raises(RunError, match=f"{to} cannot hold a topology that changes"):
            write(chosen, path)
        return
    write(chosen, path)
    faces = [len(picture.triangles) for picture in chosen]
    if to == "usd":
        from pxr import Usd, UsdGeom

        stage = Usd.Stage.Open(str(path))
        mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/World/solid"))
        codes = mesh.GetPointsAttr().GetTimeSamples()
        assert [len(mesh.GetFaceVertexCountsAttr().Get(code)) for code in codes] == faces
        assert len(mesh.GetFaceVertexCountsAttr().GetTimeSamples()) == 2
    else:
        read = {"vtk": lambda file: meshio.read(file).cells_dict["triangle"]}
        faces_of = read.get(to, lambda file: trimesh.load(file, process=False).faces)
        assert [len(faces_of(file)) for file in sorted(path.glob("frame.*"))] == faces


def peak(run, tmp_path, count):
    """Memory [bytes] that exporting ``count`` frames needs at once, and the size of one picture."""
    folder, mesh = tmp_path / str(count), box((1, 1, 1), (19, 19, 19))
    shutil.copytree(run.folder, folder)
    (folder / "frames.vtkhdf").unlink()
    writer, topology = FrameWriter(folder / "frames.vtkhdf", frames=count), VtkCells.of([mesh.T])
    for k in range(count):
        writer.append(Frame(0.1 * k, mesh.X * (1 + 0.01 * k), {}, {}), topology)
    writer.close()
    whole = clip(folder)
    picture = next(iter(whole))  # what is computed once is not counted
    tracemalloc.start()
    for write, name in ((write_ply, "ply"), (write_npz, "a.npz"), (write_gltf, "a.glb")):
        write(whole, folder / name)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most, picture.points.nbytes


def test_memory_does_not_grow_with_the_number_of_frames(tmp_path, run):
    """Only the index of a glTF file grows: some numbers per frame, against a frame of 52 kB."""
    (few, size), (many, _) = peak(run, tmp_path, 5), peak(run, tmp_path, 45)
    assert many - few < 0.1 * 40 * size


def test_bad_input_is_named(run, tmp_path):
    with pytest.raises(
        RunError, match="unknown channel 'colour'; this run has velocity, strain, von_mises, displacement$"
    ):
        clip(run, ("colour",))
    with pytest.raises(RunError, match=r"unknown channel 'det_F'.*record it with --set 'output.channels"):
        clip(run, ("det_F",))
    with pytest.raises(RunError, match="obj cannot hold the channel"):
        write_obj(clip(run, ("von_mises",)), tmp_path)
    half = tmp_path / "half"
    half.mkdir()
    with pytest.raises(RunError, match="not a run folder"):
        clip(half)
    (half / "report.json").write_text("{}")
    with pytest.raises(RunError, match="incomplete"):
        clip(half)
    (half / "frames.vtkhdf").write_bytes(b"nothing")
    with pytest.raises(RunError, match="cannot open"):
        clip(half)
    with pytest.raises(PliantError, match="no such file"):
        next(iter(clip(run, surface=tmp_path / "none.obj")))
    (tmp_path / "line.obj").write_text("v 0 0 0\nv 1 0 0\nl 1 2\n")
    with pytest.raises(MeshError, match="no triangles"):
        next(iter(clip(run, surface=tmp_path / "line.obj")))


def test_usd_has_a_prim_for_every_body_and_obstacle_and_a_camera(tmp_path):
    from pxr import Gf, Usd, UsdGeom

    cube = pl.mesh.bar((0.1, 0.1, 0.1), (1, 1, 1))
    soft = pl.StableNeoHookean(E=1e5, nu=0.4)
    bodies = [pl.Solid(cube.transformed(translate=(0.2 * k, 0, 0.2)), soft, name=f"cube {k}") for k in range(2)]
    lift = pl.Keyframes((0.0, 1.0), ((0, 0, 0), (0, 0, 1.0)))
    obstacles = [pl.Plane(), pl.Sphere((0.5, 0, 0.5), 0.1, motion=lift)]
    scene = pl.Scene(bodies, contact=pl.PenaltyContact(), obstacles=obstacles, h=0.01, duration=0.02)
    run = record(scene, tmp_path / "run", output=Output(channels=("velocity",)))
    stage = Usd.Stage.Open(str(write_usd(clip(run), tmp_path / "a.usda")))
    (floor, ball) = stage.GetPrimAtPath("/World/obstacles").GetChildren()
    assert UsdGeom.Mesh(floor).GetPointsAttr().GetNumTimeSamples() == 0  # it does not move
    heights = [np.mean(UsdGeom.Mesh(ball).GetPointsAttr().Get(code), axis=0)[2] for code in (0, 2)]
    assert np.isclose(heights[1] - heights[0], 0.02, atol=1e-6)
    for k in range(2):
        mesh = UsdGeom.Mesh(stage.GetPrimAtPath(f"/World/cube_{k}"))
        assert len(mesh.GetPointsAttr().Get(0)) == 8 and len(mesh.GetFaceVertexCountsAttr().Get(0)) == 12
        assert np.allclose(np.min(mesh.GetPointsAttr().Get(0), axis=0), (0.2 * k, 0, 0.2))
        assert np.allclose(mesh.GetVelocitiesAttr().Get(2), (0, 0, -9.81 * 0.02), atol=1e-3)
    frustum = UsdGeom.Camera(stage.GetPrimAtPath("/World/camera")).GetCamera(0).frustum
    assert all(frustum.Intersects(Gf.Vec3d(0.2 * k, 0, 0.2)) for k in range(2))


class Circling:
    """A motion of the user's own: turns about z and goes round."""

    def positions(self, X, t):
        c, s = np.cos(9 * t), np.sin(9 * t)
        return X @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]) + (0.3 * c, 0.3 * s, 0.0)


@pytest.mark.parametrize("python", [False, True], ids=["described", "made in Python"])
def test_prims_of_a_mixture_have_the_names_of_their_bodies(python, tmp_path):
    """Parts stand in another order than bodies do; names that are the same to USD are numbered."""
    from pxr import Usd, UsdGeom

    pins = [pl.Pin([6], motion=Circling())] if python else []
    cube = pl.mesh.bar((0.1, 0.1, 0.1), (1, 1, 1))
    sheet = pl.mesh.sheet((0.2, 0.2), (2, 2)).transformed(translate=(0, 1, 0))
    bodies = [
        pl.Cloth(sheet, eulerian=True, name="camera"),
        pl.Rigid(cube.transformed(translate=(1, 0, 0)), 500.0, name="die"),
        pl.Solid(cube.transformed(translate=(2, 0, 0)), pl.StableNeoHookean(), name="a b"),
        pl.Solid(cube.transformed(translate=(3, 0, 0)), pl.StableNeoHookean(), pins=pins, name="a_b"),
    ]
    scene = pl.Scene(bodies, integrator=pl.LinearlyImplicit(), h=0.01, duration=0.01)
    run = record(scene, tmp_path / "run")
    stage = Usd.Stage.Open(str(write_usd(clip(run), tmp_path / "a.usda")))
    for name, corner in {"camera_2": (0, 1), "die": (1, 0), "a_b": (2, 0), "a_b_2": (3, 0)}.items():
        points = UsdGeom.Mesh(stage.GetPrimAtPath(f"/World/{name}")).GetPointsAttr().Get(0)
        assert np.allclose(np.min(points, axis=0)[:2], corner, atol=1e-6), name
    assert ("made_in_python" in (tmp_path / "run" / "scene.toml").read_text()) == python


def test_obstacles_of_a_scene_that_only_python_can_say_are_in_the_pictures(tmp_path):
    """A signal, a start or a motion that no file can say: the run cannot be made again, but what it met is shown."""
    from pxr import Usd, UsdGeom

    sheet = pl.mesh.sheet((0.2, 0.2), (2, 2))
    wedge = pl.mesh.bar((0.1, 0.05, 0.02), (1, 1, 1)).transformed(translate=(0, 0, -0.3))
    scene = pl.Scene(
        [pl.Cloth(sheet, positions=sheet.X + (0, 0, 0.1))],
        obstacles=[
            pl.Sphere((0, 0, -0.5), 0.1, name="head"),
            pl.TriangleObstacle(wedge, motion=Circling(), name="wedge"),
        ],
        contact=pl.PenaltyContact(),
        integrator=pl.BDF1(),
        h=0.02,
        duration=0.1,
    )
    run = record(scene, tmp_path / "run")
    assert "made_in_python" in (tmp_path / "run" / "scene.toml").read_text()
    stage = Usd.Stage.Open(str(write_usd(clip(run), tmp_path / "a.usda")))
    head, moved = (UsdGeom.Mesh(p).GetPointsAttr() for p in stage.GetPrimAtPath("/World/obstacles").GetChildren())
    assert np.allclose(np.mean(head.Get(), axis=0), (0, 0, -0.5), atol=1e-6)
    assert moved.GetNumTimeSamples() == 6
    for code, t in zip(moved.GetTimeSamples(), clip(run).times):
        assert np.allclose(moved.Get(code), Circling().positions(scene.obstacles[1].mesh.X, t), atol=1e-6)


def test_bodies_beside_an_embedded_surface_keep_their_own(tmp_path):
    """A cloth over a ball that is drawn by a fine surface; a rope hangs beside it."""
    ball = trimesh.creation.icosphere(subdivisions=3, radius=0.04)
    ball.export(tmp_path / "fine.obj")
    cloth, rope = pl.mesh.sheet((0.2, 0.2), (3, 3)).transformed(translate=(0, 0, 0.3)), pl.mesh.chain(4, 1.0)
    bodies = [
        pl.Cloth(cloth, name="cloth"),
        pl.Solid(pl.mesh.ball(0.05, 4), pl.StableNeoHookean(), name="ball"),
        pl.SpringNet(rope, k=10.0, mass=0.1, name="rope"),
    ]
    run = record(pl.Scene(bodies, h=0.02, duration=0.1), tmp_path / "run")
    fine, own = clip(run, surface=tmp_path / "fine.obj"), clip(run)
    for picture, plain in zip(fine, own):
        parts, before = dict(split(picture)), dict(split(plain))
        assert sorted(parts) == [0, 1, 2]
        for k in (0, 2):
            assert np.array_equal(parts[k].points, before[k].points)
            assert np.array_equal(parts[k].triangles, before[k].triangles)
            assert np.array_equal(parts[k].lines, before[k].lines)
        fallen = before[1].points.mean(axis=0) - dict(split(own.picture(0)))[1].points.mean(axis=0)
        assert np.allclose(parts[1].points, ball.vertices + fallen, atol=1e-6)  # in free fall its shape stays


def test_texture_coordinates_of_an_embedded_surface_are_kept(run, tmp_path):
    x = run.frames[0].points
    low, high = x.min(axis=0), x.max(axis=0)
    corners = 0.5 * (low + high) + 0.2 * (high - low) * np.array([[-1, -1, 0], [1, -1, 0], [0, 1, 0]])
    lines = [f"v {a} {b} {c}" for a, b, c in corners] + ["vt 0 0", "vt 1 0", "vt 0.5 1", "f 1/1 2/2 3/3"]
    (tmp_path / "patch.obj").write_text("\n".join(lines) + "\n")
    picture = clip(run, surface=tmp_path / "patch.obj").picture(0)
    assert np.allclose(picture.points, corners, atol=1e-6)
    assert np.allclose(picture.uv, [[0, 0], [1, 0], [0.5, 1]])


def test_what_a_body_does_not_know_is_unknown_in_files_and_grey_in_pictures(tmp_path):
    soft = pl.mesh.bar((0.1, 0.1, 0.1), (2, 2, 2))
    stretched = soft.X * [1.1, 1.0, 1.0]
    flesh = pl.Solid(soft, pl.StableNeoHookean(1e4, 0.3), positions=stretched, name="flesh")
    die = pl.Rigid(pl.mesh.bar((0.1, 0.1, 0.1), (1, 1, 1)).transformed(translate=(0.3, 0.0, 0.0)))
    scene = pl.Scene([flesh, die], pl.BDF1(), h=0.01, duration=0.02)
    run = scene.run(tmp_path / "run", output=Output(channels=["von_mises", "elastic_force"]))
    for channel in ("von_mises", "elastic_force"):
        made = clip(run, (channel,))
        first = next(iter(made))
        values = magnitude(first.values[channel])
        mine = first.bodies == 0
        assert np.isnan(values[~mine]).all() and np.isfinite(values[mine]).all()
        *_, least, most = ranges(made, channel)
        seen = [magnitude(picture.values[channel])[mine] for picture in made]
        assert (least, most) == (np.min(seen), np.max(seen)) and most > least > 0.0
        colours = palette(values, (least, most))[:, :3]
        assert (colours[~mine] == UNKNOWN).all() and (colours[mine] != UNKNOWN).any(axis=1).all()
        write_gltf(made, tmp_path / "a.glb")
        assert all(np.isfinite(g.vertices).all() for g in trimesh.load(tmp_path / "a.glb").geometry.values())
        write_vtk(made, tmp_path / channel)
        stored = meshio.read(sorted((tmp_path / channel).glob("*.vtu"))[0]).point_data[channel]
        assert np.isnan(stored[~mine]).all()

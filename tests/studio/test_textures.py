"""Texture coordinates of cloth that slides through its mesh, read back by other programs."""

from dataclasses import replace

import meshio
import numpy as np
import pytest
import trimesh
from imageio.v2 import imread

from pliant.cloth.eulerian import Eulerian
from pliant.export import clip, write_gltf, write_obj, write_ply, write_png, write_usd, write_vtk
from pliant.export.film import Look
from pliant.export.obstacles import scene_of
from pliant.record import Output
from pliant.scenes import eol


@pytest.fixture(scope="module")
def pulled(tmp_path_factory):
    """A strand pulled over an edge: its vertices on the edge stay where they are, the material passes them."""
    scene = eol.strand(0.5, h=4e-3, pull=0.2)
    cloth = replace(scene.bodies[0], eulerian=Eulerian())  # without a remesher, which glTF has no way to show
    scene = replace(scene, bodies=[cloth], duration=0.1)
    return scene.run(tmp_path_factory.mktemp("runs") / "strand", output=Output(channels=("material",)), overwrite=True)


def test_the_material_moves_where_vertices_do_not(pulled):
    first, last = (clip(pulled).picture(k) for k in (0, len(pulled.frames) - 1))
    stay = np.linalg.norm(last.points - first.points, axis=1) < 1e-6
    slid, rise = np.linalg.norm(last.uv - first.uv, axis=1), last.points[0, 2] - first.points[0, 2]
    assert stay.any() and slid[~stay].max() < 1e-12
    assert rise > 0.008 and np.allclose(slid[stay], rise, rtol=0.1)  # the hem hangs by what has not passed the edge


def test_trimesh_reads_the_coordinates_of_obj_and_gltf(pulled, tmp_path):
    chosen = clip(pulled).every(5)
    picture = chosen.picture(0)
    write_obj(chosen, tmp_path / "obj")
    read = trimesh.load(tmp_path / "obj" / "frame.0000.obj", process=False, maintain_order=True)
    assert np.allclose(read.visual.uv, picture.uv, atol=1e-6)
    write_gltf(chosen, tmp_path / "cloth.glb")
    (read,) = trimesh.load(tmp_path / "cloth.glb", process=False).geometry.values()
    assert np.allclose(read.visual.uv, picture.uv, atol=1e-6)


def test_gltf_morphs_the_coordinates(pulled, tmp_path):
    from pygltflib import GLTF2

    chosen = clip(pulled).every(5)
    file = GLTF2().load(str(write_gltf(chosen, tmp_path / "cloth.glb")))
    target = file.meshes[0].primitives[0].targets[-1]
    accessor = file.accessors[target["TEXCOORD_0"]]
    view = file.bufferViews[accessor.bufferView]
    moved = np.frombuffer(file.binary_blob(), "<f4", 2 * accessor.count, view.byteOffset).reshape(-1, 2)
    first, last = chosen.picture(chosen.numbers[0]), chosen.picture(chosen.numbers[-1])
    assert np.allclose(moved * [1, -1], last.uv - first.uv, atol=1e-6) and np.abs(moved).max() > 0.008


def test_usd_ply_and_vtk_hold_the_coordinates(pulled, tmp_path):
    from pxr import Usd, UsdGeom

    chosen = clip(pulled).every(5)
    last = chosen.picture(chosen.numbers[-1])
    stage = Usd.Stage.Open(str(write_usd(chosen, tmp_path / "cloth.usda")))
    st = UsdGeom.PrimvarsAPI(stage.GetPrimAtPath("/World/cloth")).GetPrimvar("st")
    assert st.GetTypeName() == "texCoord2f[]" and st.GetInterpolation() == "vertex"
    assert np.allclose(st.Get(stage.GetEndTimeCode()), last.uv, atol=1e-6)
    write_ply(chosen, tmp_path / "ply")
    write_vtk(chosen, tmp_path / "vtk")
    name = f"frame.{len(chosen) - 1:04d}"
    ply = meshio.read(tmp_path / "ply" / f"{name}.ply")
    assert np.allclose(np.column_stack([ply.point_data["s"], ply.point_data["t"]]), last.uv, atol=1e-6)
    assert np.allclose(meshio.read(tmp_path / "vtk" / f"{name}.vtu").point_data["uv"], last.uv)


def test_a_picture_shows_squares_that_slide(pulled, tmp_path):
    shown = clip(pulled, ("material",))
    images = []
    for k in (0, len(shown) - 1):
        path = write_png(replace(shown, chosen=(k,)), tmp_path / f"{k}.png", Look((320, 180), "material"))
        images.append(np.asarray(imread(path), dtype=float))
    dark = [np.abs(image - [54, 86, 140]).sum(axis=2) < 120 for image in images]
    assert all(mask.mean() > 1e-3 for mask in dark) and (dark[0] != dark[1]).mean() > 1e-3


def test_obstacles_of_a_run_made_in_python_are_recorded(pulled):
    assert [type(o).__name__ for o in scene_of(pulled).obstacles] == ["Box"]

"""USD: a time-sampled prim for every body and obstacle, and a camera; z up, metres, channels as primvars.

``/World/ball`` is the body "ball": a mesh (springs are curves, loose vertices points). Prims below ``/World/obstacles``
are what they meet, ``/World/camera`` sees all of it. Where velocities were recorded, meshes have them for motion blur.
Where the material was recorded, or a surface with texture coordinates follows the body, these are the primvar ``st``.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.errors import MissingDependency, RunError
from pliant.export.camera import ANGLE, Bounds, frame_of, shot
from pliant.export.clip import Clip, Picture, ranges
from pliant.export.look import PLAIN
from pliant.export.obstacles import ObstacleShape, body_names, scene_of, shapes_of
from pliant.systems.base import distinct

BATCH = 8  # frames that are held before they are written; after saving, USD keeps only where they lie


def write_usd(clip: Clip, path: Path) -> Path:
    """Write ``path`` (.usdc, .usda, .usd). Time codes count frames when these are evenly spaced in time."""
    usd = _usd()
    path.unlink(missing_ok=True)
    try:
        stage = usd.Usd.Stage.CreateNew(str(path))
    except usd.Tf.ErrorException as error:
        remedy = "use a .usdc, .usda or .usd file in a folder that can be written to"
        raise RunError(f"cannot write {path}", where="--to usd", remedy=remedy) from error
    rate = _rate(clip.times)
    usd.UsdGeom.SetStageUpAxis(stage, usd.UsdGeom.Tokens.z)
    usd.UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(rate)
    stage.SetFramesPerSecond(rate)
    stage.SetStartTimeCode(_code(clip.times[0], rate))
    stage.SetEndTimeCode(_code(clip.times[-1], rate))
    stage.SetDefaultPrim(usd.UsdGeom.Xform.Define(stage, "/World").GetPrim())
    moving = "velocity" in clip.recorded and "velocity" not in clip.channels
    clip = replace(clip, channels=(*clip.channels, "velocity")) if moving else clip
    low, high, *_ = ranges(clip)
    scene = scene_of(clip.run)
    obstacles = shapes_of(scene, low, high)
    paths: list[str] = []
    _camera(usd, stage, Bounds(low, high))
    drawn: Picture | None = None
    for k, picture in enumerate(clip):
        code = usd.Usd.TimeCode(_code(picture.t, rate))
        same = drawn is not None and drawn.triangles is picture.triangles
        if drawn is None:
            names = map(usd.Tf.MakeValidIdentifier, body_names(scene, picture.body_count))
            paths = [f"/World/{name}" for name in distinct(["obstacles", "camera", *names], "_")[2:]]
        for number, body in split(picture):
            for draw in (_mesh, _curves, _points):
                draw(usd, stage, paths[number], body, code, same)
        _obstacles(usd, stage, obstacles, picture.t, code, drawn is None)
        drawn = picture
        if k % BATCH == BATCH - 1:
            stage.Save()
    stage.Save()
    return path


def split(picture: Picture) -> list[tuple[int, Picture]]:
    """The bodies of a picture, each with its number and its own vertices."""
    bodies = np.zeros(len(picture.points), dtype=np.int64) if picture.bodies is None else picture.bodies
    found = []
    for number in np.unique(bodies).tolist():
        rows = np.flatnonzero(bodies == number)
        new = np.full(len(bodies), -1)
        new[rows] = np.arange(len(rows))
        own = lambda cells, new=new: new[cells[(new[cells] >= 0).all(axis=1)]] if len(cells) else cells
        values = {name: array[rows] for name, array in picture.values.items()}
        uv = None if picture.uv is None else picture.uv[rows]
        triangles, lines = own(picture.triangles), own(picture.lines)
        found.append((number, Picture(picture.t, picture.points[rows], triangles, lines, values, uv, bodies[rows])))
    return found


def _camera(usd: Any, stage: Any, box: Bounds) -> None:
    """The camera that pictures are taken with."""
    view = shot(box, PLAIN)
    away = (view.position - view.focus) / np.linalg.norm(view.position - view.focus)
    right, up = frame_of(away)
    matrix = np.eye(4)
    matrix[:4, :3] = [right, up, away, view.position]  # rows: USD multiplies from the left
    camera = usd.UsdGeom.Camera.Define(stage, "/World/camera")
    camera.AddTransformOp().Set(usd.Gf.Matrix4d(matrix.tolist()))
    height = 2.0 * 50.0 * float(np.tan(np.radians(ANGLE / 2)))  # of the film behind a lens of 50 mm
    camera.CreateFocalLengthAttr(50.0)
    far = float(np.linalg.norm(view.position - view.focus)) + box.size
    camera.CreateClippingRangeAttr(usd.Gf.Vec2f(1e-3 * far, 10.0 * far))
    camera.CreateVerticalApertureAttr(height)
    camera.CreateHorizontalApertureAttr(height * PLAIN.size[0] / PLAIN.size[1])


def _obstacles(usd: Any, stage: Any, shapes: list[ObstacleShape], t: float, code: Any, first: bool) -> None:
    """Obstacles as meshes; those that move have points at every frame."""
    for k, shape in enumerate(shapes):
        if first or shape.moves:
            name = usd.Tf.MakeValidIdentifier(f"{shape.name}_{k + 1}")
            when = code if shape.moves else usd.Usd.TimeCode.Default()
            picture = Picture(t, shape.at(t), shape.triangles, np.zeros((0, 2), np.int64), {})
            _mesh(usd, stage, f"/World/obstacles/{name}", picture, when, not first)


def _rate(times: Array) -> float:
    """Time codes per second: the frame rate, rounded when that is exact."""
    if len(times) < 2:
        return 24.0
    rate = 1.0 / float(np.median(np.diff(times)))
    return float(round(rate)) if abs(rate - round(rate)) < 1e-6 * rate else rate


def _code(t: float, rate: float) -> float:
    """The time code of t [s], whole where it is so but for round-off: frames would else show the ones before them."""
    code = float(t) * rate
    return float(round(code)) if abs(code - round(code)) < 1e-6 else code


def _mesh(usd: Any, stage: Any, path: str, picture: Picture, code: Any, same: bool) -> None:
    if not len(picture.triangles):
        return
    mesh = usd.UsdGeom.Mesh.Define(stage, path)
    if not same:  # the topology is sampled only where it changes
        mesh.CreateSubdivisionSchemeAttr(usd.UsdGeom.Tokens.none)
        mesh.CreateDoubleSidedAttr(True)
        counts = np.full(len(picture.triangles), 3, dtype=np.int32)
        mesh.CreateFaceVertexCountsAttr().Set(usd.Vt.IntArray.FromNumpy(counts), code)
        indices = picture.triangles.ravel().astype(np.int32)
        mesh.CreateFaceVertexIndicesAttr().Set(usd.Vt.IntArray.FromNumpy(indices), code)
    _sample_points(usd, mesh, picture.points, code)
    _sample_values(usd, mesh, picture, code)
    if picture.uv is not None:
        st = np.ascontiguousarray(picture.uv, dtype=np.float32)
        kind = usd.Sdf.ValueTypeNames.TexCoord2fArray
        primvar = usd.UsdGeom.PrimvarsAPI(mesh).CreatePrimvar("st", kind, usd.UsdGeom.Tokens.vertex)
        primvar.Set(usd.Vt.Vec2fArray.FromNumpy(st), code)


def _curves(usd: Any, stage: Any, path: str, picture: Picture, code: Any, same: bool) -> None:
    if not len(picture.lines):
        return
    curves = usd.UsdGeom.BasisCurves.Define(stage, f"{path}_springs" if len(picture.triangles) else path)
    if not same:
        curves.CreateTypeAttr(usd.UsdGeom.Tokens.linear)
        counts = np.full(len(picture.lines), 2, dtype=np.int32)
        curves.CreateCurveVertexCountsAttr().Set(usd.Vt.IntArray.FromNumpy(counts), code)
    _sample_points(usd, curves, picture.points[picture.lines.ravel()], code)


def _points(usd: Any, stage: Any, path: str, picture: Picture, code: Any, same: bool) -> None:
    if len(picture.triangles) or len(picture.lines):
        return
    points = usd.UsdGeom.Points.Define(stage, path)
    _sample_points(usd, points, picture.points, code)
    _sample_values(usd, points, picture, code)


def _sample_points(usd: Any, shape: Any, x: Array, code: Any) -> None:
    box = np.stack([x.min(axis=0), x.max(axis=0)]).astype(np.float32)
    shape.CreatePointsAttr().Set(usd.Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(x, dtype=np.float32)), code)
    shape.CreateExtentAttr().Set(usd.Vt.Vec3fArray.FromNumpy(box), code)


def _sample_values(usd: Any, shape: Any, picture: Picture, code: Any) -> None:
    """Scalars and vectors as they are; tensors as nine floats per vertex."""
    api, types = usd.UsdGeom.PrimvarsAPI(shape), usd.Sdf.ValueTypeNames
    for name, values in picture.values.items():
        rows = np.ascontiguousarray(values, dtype=np.float32)
        if name == "velocity" and np.isfinite(rows).all():
            shape.CreateVelocitiesAttr().Set(usd.Vt.Vec3fArray.FromNumpy(rows), code)
        vector = rows.ndim == 2 and rows.shape[1] == 3
        kind = types.Float3Array if vector else types.FloatArray
        primvar = api.CreatePrimvar(name, kind, usd.UsdGeom.Tokens.vertex)
        if rows.ndim == 2 and not vector:
            primvar.SetElementSize(rows.shape[1])
        array = usd.Vt.Vec3fArray if vector else usd.Vt.FloatArray
        primvar.Set(array.FromNumpy(rows if vector else rows.ravel()), code)


def _usd() -> Any:
    try:
        import pxr
        from pxr import Gf, Sdf, Tf, Usd, UsdGeom, Vt  # noqa: F401  (makes them attributes of pxr)
    except ImportError as error:
        raise MissingDependency("usd-core is not installed", where="export", remedy="pip install usd-core") from error
    return pxr

"""USD: one time-sampled mesh (springs as curves, loose vertices as points), z up, metres, channels as primvars.

Where the material was recorded, its coordinates are the primvar ``st``, one metre of cloth to a texture.
"""

from pathlib import Path
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.errors import MissingDependency, RunError
from pliant.export.clip import Clip, Picture

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
    stage.SetStartTimeCode(float(clip.times[0]) * rate)
    stage.SetEndTimeCode(float(clip.times[-1]) * rate)
    stage.SetDefaultPrim(usd.UsdGeom.Xform.Define(stage, "/World").GetPrim())
    drawn: Picture | None = None
    for k, picture in enumerate(clip):
        code = usd.Usd.TimeCode(picture.t * rate)
        for draw in (_mesh, _curves, _points):
            draw(usd, stage, picture, code, drawn is not None and drawn.triangles is picture.triangles)
        drawn = picture
        if k % BATCH == BATCH - 1:
            stage.Save()
    stage.Save()
    return path


def _rate(times: Array) -> float:
    """Time codes per second: the frame rate, rounded when that is exact."""
    if len(times) < 2:
        return 24.0
    rate = 1.0 / float(np.median(np.diff(times)))
    return float(round(rate)) if abs(rate - round(rate)) < 1e-6 * rate else rate


def _mesh(usd: Any, stage: Any, picture: Picture, code: Any, same: bool) -> None:
    if not len(picture.triangles):
        return
    mesh = usd.UsdGeom.Mesh.Define(stage, "/World/surface")
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


def _curves(usd: Any, stage: Any, picture: Picture, code: Any, same: bool) -> None:
    if not len(picture.lines):
        return
    curves = usd.UsdGeom.BasisCurves.Define(stage, "/World/springs")
    if not same:
        curves.CreateTypeAttr(usd.UsdGeom.Tokens.linear)
        counts = np.full(len(picture.lines), 2, dtype=np.int32)
        curves.CreateCurveVertexCountsAttr().Set(usd.Vt.IntArray.FromNumpy(counts), code)
    _sample_points(usd, curves, picture.points[picture.lines.ravel()], code)


def _points(usd: Any, stage: Any, picture: Picture, code: Any, same: bool) -> None:
    if len(picture.triangles) or len(picture.lines):
        return
    points = usd.UsdGeom.Points.Define(stage, "/World/vertices")
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
        from pxr import Sdf, Tf, Usd, UsdGeom, Vt  # noqa: F401  (makes them attributes of pxr)
    except ImportError as error:
        raise MissingDependency("usd-core is not installed", where="export", remedy="pip install usd-core") from error
    return pxr

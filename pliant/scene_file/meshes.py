"""Meshes in documents: generated or read, then placed."""

import io
import math
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from pliant import mesh as meshes
from pliant.cloth.sheet import Sheet
from pliant.errors import SceneError
from pliant.maps.motions import rotation
from pliant.mesh import Mesh
from pliant.mesh.lengths import LENGTHS
from pliant.scene_file.choices import nearest, parameter_types
from pliant.scene_file.read import Reader, known_keys, located, reads
from pliant.scene_file.where import select
from pliant.units import quantity

GENERATORS: tuple[Callable[..., Mesh], ...] = (
    meshes.bar, meshes.ball, meshes.chain, meshes.cylinder, meshes.duck, meshes.figure, meshes.honeycomb,
    meshes.l_shape, meshes.long_eared, meshes.moebius, meshes.paper_bar, meshes.rectangle, meshes.rope, meshes.serpent,
    meshes.sheet, meshes.spring_net,
)  # fmt: skip
LARGEST = 2e7  # cells of a generated mesh
FILE = ("file", "planar", "repair", "sheet", "tetrahedralise", "edge_length")
TRANSFORM = ("scale", "rotate", "translate")


@reads(Mesh, "mesh", "continuous")
def read_mesh(reader: Reader, table: Any, where: str) -> Any:
    """{ generator = "bar", ... its parameters } or { file = "bunny.msh" }; with sheet = true a pattern of cloth."""
    if not isinstance(table, dict):
        raise SceneError(
            f"{table!r} is not a mesh", where=where, remedy='like { generator = "bar" } or { file = "..." }'
        )
    if "file" in table:
        known_keys(table, FILE, where)
        path = inside(reader.folder, table["file"], where)
        if table.get("sheet") is True:
            return located(where, read_sheet, path)
        if table.get("tetrahedralise") is True:
            return located(where, tetrahedra, path, edge_length(table, where))
        if "edge_length" in table:
            remedy = "add tetrahedralise = true, or leave it out"
            raise SceneError("there is nothing to tetrahedralise", where=f"{where}.edge_length", remedy=remedy)
        options = {k: v for k, v in table.items() if k in ("planar", "repair")}
        return located(where, meshes.read, path, **options)
    if "generator" not in table:
        raise SceneError("no generator and no file", where=where, remedy='like { generator = "bar" }')
    known = {generator.__name__: generator for generator in GENERATORS} | {
        "box": meshes.bar
    }  # as `pliant.mesh` calls it, too
    name = str(table["generator"]).replace("-", "_")
    if name not in known:
        raise SceneError(f"unknown generator {name!r}", where=f"{where}.generator", remedy=nearest(name, known))
    parameters = {k: v for k, v in table.items() if k != "generator"}
    moved = [key for key in ("transform", *TRANSFORM) if key in parameters and key not in parameter_types(known[name])]
    if moved:
        remedy = "write transform = { translate = ..., rotate = ..., scale = ... } beside the mesh"
        raise SceneError("a mesh does not say where it is", where=f"{where}.{moved[0]}", remedy=remedy)
    for key in parameters:
        if key in LENGTHS:
            value = quantity(parameters[key], "m", f"{where}.{key}")
            parameters[key] = value if isinstance(value, float) else tuple(value.tolist())
    _limit(parameters, where)
    return reader.construct(known[name], parameters, where)


def edge_length(table: dict[str, Any], where: str) -> float | None:
    """The length of edges that is asked for [m]."""
    given = table.get("edge_length")
    return None if given is None else float(quantity(given, "m", f"{where}.edge_length"))


def tetrahedra(path: Path, length: float | None) -> Mesh:
    """The solid within the surface in a file. Two calls need not agree, so a process makes it once for each file."""
    if not path.is_file():
        raise SceneError(f"no file {path.name}", where="file", remedy="it lies beside the scene file")
    stat = path.stat()
    return _tetrahedra(path.resolve(), stat.st_mtime_ns, stat.st_size, length)


@lru_cache(maxsize=16)
def _tetrahedra(path: Path, changed: int, size: int, length: float | None) -> Mesh:
    surface = meshes.read_raw(path)
    if surface.T.shape[1] != 3:
        remedy = "leave out tetrahedralise: it needs a surface"
        raise SceneError(f"{path.name} has no triangles", where="tetrahedralise", remedy=remedy)
    return meshes.tetrahedralise(surface.X, surface.T, edge_length=length)


def stored(arrays: dict[str, Any]) -> bytes:
    """Arrays as the content of an ``.npz`` file."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def read_sheet(path: Path) -> Sheet:
    """A pattern of cloth and where it lies, as a run folder keeps it: all arrays of a `Sheet` in an ``.npz`` file."""
    return Sheet(**read_arrays(path))


def read_arrays(path: Path) -> dict[str, Any]:
    """The arrays of an ``.npz`` file by name."""
    if not path.is_file():
        raise SceneError(f"no file {path.name}", where="file", remedy="it lies beside the scene file")
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (OSError, ValueError, AttributeError, BadZipFile) as error:
        raise SceneError(f"{path.name} holds no arrays: {error}", where="file", remedy="write it again") from error


def inside(folder: Path, file: Any, where: str) -> Path:
    """A file that a document names, beside it."""
    if not isinstance(file, str) or not file:
        raise SceneError(f"{file!r} is not a file name", where=where, remedy="give its name in quotes")
    return folder / file


def placed(shape: Mesh, table: Any, where: str) -> Mesh:
    """The mesh scaled (one factor or one per axis), then turned (axis times angle), then moved."""
    if not table:
        return shape
    known_keys(table, TRANSFORM, where)
    if isinstance(shape, Sheet):
        raise SceneError("a pattern of cloth lies where its file says", where=where, remedy="leave it out")
    turn = rotation(np.asarray(vector(table.get("rotate", [0, 0, 0]), "rad", f"{where}.rotate")))
    move = np.asarray(vector(table.get("translate", [0, 0, 0]), "m", f"{where}.translate", (shape.dim, 3)))[: shape.dim]
    scale = table.get("scale", 1.0)
    made: Mesh = located(where, shape.transformed, scale=scale, rotate=turn[: shape.dim, : shape.dim], translate=move)
    return made


def region(table: dict[str, Any], X: Any, where: str, things: str = "vertices") -> Any:
    """The numbers of the points X (n, d) that a table chooses, by ``where`` or by listing them under ``things``."""
    if ("where" in table) == (things in table):
        raise SceneError(f"it needs either where or {things}", where=where, remedy='like where = "x < 1 cm"')
    if things in table:
        listed = table[things]
        if not isinstance(listed, list) or not all(type(i) is int and abs(i) < 2**62 for i in listed):
            raise SceneError(f"{things} are {listed!r:.60}", where=f"{where}.{things}", remedy="list whole numbers")
        return np.asarray(listed, dtype=np.int64)
    if not isinstance(table["where"], str):
        raise SceneError(f"{table['where']!r} is not a condition", where=f"{where}.where", remedy='like "x < 1 cm"')
    chosen = np.flatnonzero(select(table["where"], X, where=f"{where}.where"))
    if not len(chosen):
        one = {"vertices": "vertex", "elements": "element"}[things]
        raise SceneError(f"no {one} has {table['where']!r}", where=f"{where}.where", remedy=_extent(X))
    return chosen


def vector(values: Any, unit: str, where: str, lengths: tuple[int, ...] = (3,)) -> tuple[float, ...]:
    """Finite components in SI, as many as one of ``lengths``."""
    if not isinstance(values, list | tuple) or len(values) not in lengths:
        raise SceneError(f"{values!r} is not a vector", where=where, remedy=f"give three components in {unit}")
    x = quantity(values, unit, where)
    if np.ndim(x) != 1 or not np.isfinite(x).all():
        raise SceneError(f"{values} is not finite", where=where, remedy=f"give finite numbers in {unit}")
    return tuple(float(value) for value in x)


def _limit(parameters: dict[str, Any], where: str) -> None:
    """Refuse meshes that cannot fit into memory before making them."""
    counts = [v for key, value in parameters.items() if key not in LENGTHS for v in _flat(value)]
    product = math.prod(max(abs(float(count)), 1.0) for count in counts if isinstance(count, int | float))
    if product > LARGEST:
        raise SceneError(f"about {product:.3g} cells", where=where, remedy=f"use at most {LARGEST:g}")


def _flat(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _extent(X: Any) -> str:
    low, high = X.min(axis=0), X.max(axis=0)
    spans = [f"{axis} from {a:g} to {b:g} m" for axis, a, b in zip("xyz", low, high, strict=False)]
    return "there are " + ", ".join(spans)

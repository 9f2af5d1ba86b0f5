"""One file per frame, in a folder: OBJ, PLY and VTK. The topology may change from frame to frame."""

from collections.abc import Callable
from pathlib import Path

import meshio
import numpy as np

from pliant.arrays import Array, IntArray
from pliant.errors import RunError
from pliant.export.clip import Clip, Picture


def write_obj(clip: Clip, folder: Path) -> Path:
    """``frame.0000.obj``, ...: positions, triangles, lines, texture coordinates; OBJ has no place for channels."""
    if clip.channels:
        remedy = "leave out --channel, or use ply, vtk, usd, gltf or npz"
        raise RunError(f"obj cannot hold the channel {clip.channels[0]!r}", where="--to obj", remedy=remedy)
    _write(clip, folder, "obj", _obj)
    return folder


def write_ply(clip: Clip, folder: Path) -> Path:
    """``frame.0000.ply``, ...: binary, channels and texture coordinates ``s``, ``t`` as properties of the vertices."""
    _write(clip, folder, "ply", _ply)
    return folder


def write_vtk(clip: Clip, folder: Path) -> Path:
    """``frame.0000.vtu``, ... and ``series.pvd`` with their times. The whole volume is in the run's frames.vtkhdf."""
    files = _write(clip, folder, "vtu", _vtu)
    rows = [f'<DataSet timestep="{t!r}" file="{file.name}"/>' for t, file in zip(clip.times.tolist(), files)]
    head = '<?xml version="1.0"?>\n<VTKFile type="Collection" version="0.1"><Collection>\n'
    (folder / "series.pvd").write_text(head + "\n".join(rows) + "\n</Collection></VTKFile>\n", encoding="utf-8")
    return folder


def _write(clip: Clip, folder: Path, ending: str, write: Callable[[Picture, Path], None]) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"frame.{k:04d}.{ending}" for k in range(len(clip))]
    for picture, file in zip(clip, files):
        write(picture, file)
    for left in set(folder.glob(f"frame.[0-9]*.{ending}")) - set(files):  # of an earlier, longer export
        left.unlink()
    return files


def _obj(picture: Picture, file: Path) -> None:
    def rows(word: str, table: Array | IntArray, number: str) -> str:
        line = word + f" {number}" * (table.shape[1] // number.count("%")) + "\n"
        return (line * len(table)) % tuple(table.ravel().tolist())

    faces, corner, texture = picture.triangles + 1, "%d", ""
    if picture.uv is not None:
        faces, corner, texture = np.repeat(faces, 2, axis=1), "%d/%d", rows("vt", picture.uv, "%.9g")
    text = rows("v", picture.points, "%.9g") + texture + rows("f", faces, corner) + rows("l", picture.lines + 1, "%d")
    file.write_text(text, encoding="ascii")


def _ply(picture: Picture, file: Path) -> None:
    names, columns = ["x", "y", "z"], [*picture.points.T]
    for name, values in picture.values.items():
        table = values.reshape(len(values), -1)
        names += [name] if table.shape[1] == 1 else [f"{name}_{k}" for k in range(table.shape[1])]
        columns += [*table.T]
    if picture.uv is not None:
        names, columns = [*names, "s", "t"], [*columns, *picture.uv.T]
    vertices = np.stack(columns, axis=1).astype("<f4")
    faces = np.empty(len(picture.triangles), dtype=[("count", "u1"), ("corners", "<i4", 3)])
    faces["count"], faces["corners"] = 3, picture.triangles
    head = ["ply", "format binary_little_endian 1.0", f"comment t = {picture.t!r} s"]
    head += [f"element vertex {len(vertices)}", *(f"property float {name}" for name in names)]
    head += [f"element face {len(faces)}", "property list uchar int vertex_indices"]
    if len(picture.lines):
        head += [f"element edge {len(picture.lines)}", "property int vertex1", "property int vertex2"]
    with open(file, "wb") as out:
        out.write(("\n".join([*head, "end_header"]) + "\n").encode("ascii"))
        out.write(vertices.tobytes() + faces.tobytes() + picture.lines.astype("<i4").tobytes())


def _vtu(picture: Picture, file: Path) -> None:
    cells: list[tuple[str, IntArray]] = [("triangle", picture.triangles), ("line", picture.lines)]
    cells = [(kind, block) for kind, block in cells if len(block)]
    cells = cells or [("vertex", np.arange(len(picture.points))[:, None])]
    values = picture.values | ({} if picture.uv is None else {"uv": picture.uv})
    meshio.vtu.write(file, meshio.Mesh(picture.points, cells, point_data=values), compression=None)

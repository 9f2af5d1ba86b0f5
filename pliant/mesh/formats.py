"""Mesh files: `read` and `write`, by the ending of the file's name.

.node/.ele (TetGen), .obj and .npz by our own code; .msh .mesh .vtk .vtu by meshio, which also reads .inp
(Abaqus, without its sets); .ply .stl by trimesh and meshio.
"""

import zipfile
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.errors import MeshError
from pliant.mesh import foreign, tetgen, wavefront
from pliant.mesh.checks import faults
from pliant.mesh.mesh import Mesh, refusal
from pliant.mesh.raw import RawMesh
from pliant.mesh.repair import repair as repaired

Reader = Callable[[Path], RawMesh]
Writer = Callable[[Mesh, Path], None]


def read(path: str | PathLike[str], *, planar: bool = False, repair: bool = False) -> Mesh:
    """The mesh in a file. Refuses what cannot be simulated, unless ``repair`` asks to orient and drop instead.

    Of a file with several kinds of elements the most solid are taken: tets, else triangles, else springs. ``planar``
    drops the coordinate z, which must be constant (many formats know no planar meshes).
    """
    raw = read_raw(path)
    X = _flattened(raw.X, str(path)) if planar else raw.X
    if repair:
        return repaired(X, raw.T, raw.region)[0]
    found = faults(X, raw.T)
    if found:
        e = found[0].elements[:1]
        line = f" line {raw.lines[e[0]]}" if raw.lines is not None and len(e) else ""
        raise refusal(found[0], where=f"{path}{line}")
    return Mesh(X=X, T=raw.T, region=raw.region)


def read_raw(path: str | PathLike[str]) -> RawMesh:
    """The arrays in a file, unchecked: `doctor` and `repair` start from them."""
    file = Path(path)
    reader, _ = _format(file)
    if not file.is_file():
        raise MeshError("no such file", where=str(path), remedy="check the path")
    try:
        return reader(file)
    except MeshError:
        raise
    except Exception as error:  # a foreign parser on a damaged file may raise anything
        what = f"cannot be read: {str(error) or type(error).__name__}"
        raise MeshError(
            what, where=str(path), remedy="check that the file is complete and has the right ending"
        ) from error


def write(mesh: Mesh, path: str | PathLike[str]) -> None:
    """Write a mesh. Surface formats (.obj .ply .stl) get the surface of a tet mesh."""
    file = Path(path)
    _, writer = _format(file)
    if not file.parent.is_dir():
        raise MeshError(f"no folder {file.parent}", where=str(path), remedy="create it first")
    writer(mesh, file)


def _format(file: Path) -> tuple[Reader, Writer]:
    if file.suffix.lower() not in FORMATS:
        what = f"unknown kind of mesh file {file.suffix!r}"
        raise MeshError(what, where=str(file), remedy=f"use one of {' '.join(FORMATS)}")
    return FORMATS[file.suffix.lower()]


def _flattened(X: Array, where: str) -> Array:
    if X.shape[1] == 3 and np.ptp(X[:, 2]) > 1e-9 * np.ptp(X):
        raise MeshError(f"z spans {np.ptp(X[:, 2]):.3g} m", where=where, remedy="read it without planar=True")
    return X[:, :2]


def _read_npz(file: Path) -> RawMesh:
    if not zipfile.is_zipfile(file):
        raise ValueError("not an .npz archive")
    with np.load(file, allow_pickle=False) as arrays:
        return RawMesh(X=arrays["X"], T=arrays["T"], region=arrays.get("region"))


def _write_npz(mesh: Mesh, file: Path) -> None:
    arrays: dict[str, Any] = {"X": mesh.X, "T": mesh.T} | ({} if mesh.region is None else {"region": mesh.region})
    np.savez_compressed(file, **arrays)


def _write_inp(mesh: Mesh, file: Path) -> None:
    raise MeshError("Abaqus files are only read", where=str(file), remedy="write .msh, .vtk or .vtu")


FORMATS: dict[str, tuple[Reader, Writer]] = {
    ".node": (tetgen.read, tetgen.write),
    ".ele": (tetgen.read, tetgen.write),
    ".msh": (
        foreign.cells_reader("gmsh", "gmsh:physical"),
        foreign.cells_writer("gmsh", "gmsh:physical", fmt_version="2.2", binary=False),
    ),
    ".mesh": (foreign.cells_reader("medit", "medit:ref"), foreign.cells_writer("medit", "medit:ref")),
    ".vtk": (foreign.cells_reader("vtk", "region"), foreign.cells_writer("vtk", "region")),
    ".vtu": (foreign.cells_reader("vtu", "region"), foreign.cells_writer("vtu", "region")),
    ".inp": (foreign.cells_reader("abaqus", "region"), _write_inp),
    ".obj": (wavefront.read, wavefront.write),
    ".ply": (foreign.read_ply, foreign.write_ply),
    ".stl": (foreign.read_stl, foreign.write_stl),
    ".npz": (_read_npz, _write_npz),
}

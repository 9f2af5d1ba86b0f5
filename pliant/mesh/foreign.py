"""Formats that meshio and trimesh know; both are imported on first use, since they are slow to load."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import MeshError
from pliant.mesh.mesh import Mesh
from pliant.mesh.raw import RawMesh
from pliant.mesh.repair import weld
from pliant.mesh.surface import surface_mesh

_CELLS = {4: "tetra", 3: "triangle", 2: "line"}


def cells_reader(format_name: str, region: str) -> Callable[[Path], RawMesh]:
    """A reader by meshio; ``region`` is the name that the format gives to region numbers."""

    def read(file: Path) -> RawMesh:
        import meshio

        return _from_cells(getattr(meshio, format_name).read(str(file)), region, str(file))

    return read


def cells_writer(format_name: str, region: str, **options: Any) -> Callable[[Mesh, Path], None]:
    """A writer by meshio."""

    def write(mesh: Mesh, file: Path) -> None:
        import meshio

        X = mesh.X if mesh.dim == 3 else np.column_stack((mesh.X, np.zeros(len(mesh.X))))
        cells = meshio.Mesh(X, [(_CELLS[mesh.T.shape[1]], mesh.T)])
        if mesh.region is not None:
            cells.cell_data[region] = [mesh.region]
        elif region != "region":  # Gmsh and Medit always have tags; 0 is "no tag"
            cells.cell_data[region] = [np.zeros(len(mesh.T), dtype=np.int64)]
        if format_name == "gmsh":
            cells.cell_data["gmsh:geometrical"] = cells.cell_data[region]
        getattr(meshio, format_name).write(str(file), cells, **options)

    return write


def _from_cells(mesh: Any, region: str, where: str) -> RawMesh:
    """The most solid kind of elements of a meshio mesh, its blocks joined in order."""
    found = {block.type for block in mesh.cells if len(block.data)}
    kind = next((kind for kind in _CELLS.values() if kind in found), None)
    solid = {block.type: block.dim for block in mesh.cells if len(block.data)}
    other = sorted(name for name in found - set(_CELLS.values()) if kind is None or solid[name] >= solid[kind])
    if other and max(solid[name] for name in other) > 0:  # half of a body, or its edges, would be read as all of it
        remedy = "mesh it with linear tetrahedra (surfaces: triangles)"
        raise MeshError(f"elements of kind {', '.join(other)}", where=where, remedy=remedy)
    if kind is None:
        raise ValueError(f"no tetrahedra, triangles or lines (elements found: {', '.join(sorted(found)) or 'none'})")
    chosen = [i for i, block in enumerate(mesh.cells) if block.type == kind]
    T = np.concatenate([mesh.cells[i].data for i in chosen]).astype(np.int64)
    tags = None
    if region in mesh.cell_data:
        tags = np.concatenate([np.asarray(mesh.cell_data[region][i]).ravel() for i in chosen]).astype(np.int64)
        if region != "region" and not tags.any():
            tags = None
    return RawMesh(X=np.asarray(mesh.points, dtype=np.float64), T=T, region=tags)


def read_ply(file: Path) -> RawMesh:
    import trimesh

    loaded: Any = trimesh.load(str(file), process=False, force="mesh")
    return RawMesh(X=np.array(loaded.vertices, dtype=np.float64), T=np.array(loaded.faces, dtype=np.int64))


def read_stl(file: Path) -> RawMesh:
    """The format repeats every corner: equal corners are one vertex."""
    soup = read_ply(file)
    if not len(soup.T):
        raise ValueError("no triangles")
    X, T = weld(soup.X, soup.T, tolerance=1e-7 * max(float(np.ptp(soup.X)), 1e-30))
    return RawMesh(X=X, T=T)


def write_ply(mesh: Mesh, file: Path) -> None:
    _write_triangles(mesh, file, "ply", np.int32)


def write_stl(mesh: Mesh, file: Path) -> None:
    _write_triangles(mesh, file, "stl", np.int64)


def _write_triangles(mesh: Mesh, file: Path, format_name: str, index: type) -> None:
    import meshio

    if mesh.kind == "springs":
        what = f"{file.suffix} holds triangles, not springs"
        raise MeshError(what, where=str(file), remedy="write .obj, .vtk or .npz")
    seen = surface_mesh(mesh)
    cells = meshio.Mesh(seen.X, [("triangle", seen.T.astype(index))])
    getattr(meshio, format_name).write(str(file), cells, binary=True)

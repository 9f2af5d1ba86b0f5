"""TetGen text files: vertices in .node, elements in .ele, counted from 0 or from 1, with # comments."""

from pathlib import Path

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.errors import MeshError
from pliant.mesh.mesh import Mesh
from pliant.mesh.raw import RawMesh

_REMEDY = "check that the file is complete"


def read(path: Path) -> RawMesh:
    """``path`` (.node or .ele) and its partner beside it. The first attribute of the elements is their region."""
    node, ele = path.with_suffix(".node"), path.with_suffix(".ele")
    for partner in (node, ele):
        if not partner.exists():
            raise MeshError(f"{partner.name} is missing", where=str(path), remedy="keep .node and .ele side by side")
    (n, dim, *_), vertices, _ = _table(node)
    if dim not in (2, 3):
        raise MeshError(f"dimension {dim}", where=f"{node} line 1", remedy="use 2 or 3")
    (m, corners, *rest), elements, lines = _table(ele)
    X = _columns(node, vertices, 1 + dim)[:, 1:]
    table = _columns(ele, elements, 1 + corners + bool(rest and rest[0]))
    T = _integers(ele, table[:, 1 : 1 + corners], lines)
    if corners == 10:  # quadratic tets: the corners come first
        T, corners = T[:, :4], 4
    region = table[:, -1].astype(np.int64) if rest and rest[0] else None
    # Some writers number the vertices from 1 but the corners from 0; a corner 0 with no corner n tells.
    first = int(vertices[0][1][0]) if vertices else 0
    zero_based = first == 0 or (T.size and T.min() == 0 and T.max() < n)
    return RawMesh(X=X, T=T if zero_based else T - first, region=region, lines=lines)


def write(mesh: Mesh, path: Path) -> None:
    """Both files, counted from 0, with all digits."""
    node = [f"{len(mesh.X)} {mesh.dim} 0 0"]
    node += [f"{i} " + " ".join(repr(float(c)) for c in x) for i, x in enumerate(mesh.X)]
    path.with_suffix(".node").write_text("\n".join(node) + "\n")
    ele = [f"{len(mesh.T)} {mesh.T.shape[1]} {int(mesh.region is not None)}"]
    for i, corners in enumerate(mesh.T.tolist()):
        ele.append(" ".join(map(str, [i, *corners, *([] if mesh.region is None else [mesh.region[i]])])))
    path.with_suffix(".ele").write_text("\n".join(ele) + "\n")


def _table(path: Path) -> tuple[list[int], list[tuple[int, list[float]]], IntArray]:
    """The numbers of the header and the rows (line number, numbers) of a file; as many rows as the header says."""
    rows = []
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1):
        words = line.split("#")[0].split()
        if words:
            try:
                rows.append((number, [float(w) for w in words]))
            except ValueError as error:
                raise MeshError(str(error), where=f"{path} line {number}", remedy="write numbers only") from error
    if not rows or len(rows[0][1]) < 2 or not all(w.is_integer() for w in rows[0][1]):
        raise MeshError("no header", where=f"{path} line {rows[0][0] if rows else 1}", remedy=_REMEDY)
    counts = [int(w) for w in rows[0][1]]
    if len(rows) - 1 != counts[0]:
        last = rows[-1][0]
        what = f"{len(rows) - 1} rows, but the header announces {counts[0]}"
        raise MeshError(what, where=f"{path} line {last}", remedy=_REMEDY)
    return counts, rows[1:], np.array([number for number, _ in rows[1:]], dtype=np.int64)


def _columns(path: Path, rows: list[tuple[int, list[float]]], width: int) -> Array:
    for number, row in rows:
        if len(row) < width:
            raise MeshError(f"{len(row)} numbers, need {width}", where=f"{path} line {number}", remedy=_REMEDY)
    return np.array([row[:width] for _, row in rows], dtype=np.float64).reshape(-1, width)


def _integers(path: Path, values: Array, lines: IntArray) -> IntArray:
    wrong = np.flatnonzero((values != np.round(values)).any(axis=1) | ~np.isfinite(values).all(axis=1))
    if len(wrong):
        where = f"{path} line {lines[wrong[0]]}"
        raise MeshError(f"corners {values[wrong[0]].tolist()}", where=where, remedy="use whole numbers")
    return values.astype(np.int64)

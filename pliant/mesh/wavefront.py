"""Wavefront .obj files: positions, triangles and polygons, lines. Textures and normals are left alone.

Read here rather than by a general loader, because those split vertices along texture seams: cloth would tear there.
"""

from pathlib import Path

import numpy as np

from pliant.errors import MeshError
from pliant.mesh.mesh import Mesh
from pliant.mesh.raw import RawMesh
from pliant.mesh.surface import surface_mesh


def read(path: Path) -> RawMesh:
    """Triangles (polygons as fans) if there are any, else springs from the lines ``l``."""
    X: list[list[float]] = []
    faces: list[list[int]] = []
    springs: list[list[int]] = []
    at: dict[int, list[int]] = {2: [], 3: []}
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1):
        words = line.split("#")[0].split()
        try:
            if words and words[0] == "v":
                X.append([float(w) for w in words[1:4]])
                if len(X[-1]) != 3:
                    raise ValueError(f"a vertex of {len(X[-1])} coordinates")
            elif words and words[0] in ("f", "l"):
                corners = [_index(w, len(X)) for w in words[1:]]
                width = 3 if words[0] == "f" else 2
                if len(corners) < width:
                    raise ValueError(f"an element of {len(corners)} vertices")
                pieces = _fan(corners) if width == 3 else [list(pair) for pair in zip(corners[:-1], corners[1:])]
                (faces if width == 3 else springs).extend(pieces)
                at[width] += [number] * len(pieces)
        except ValueError as error:
            raise MeshError(str(error), where=f"{path} line {number}", remedy="correct this line") from error
    T = np.array(faces or springs, dtype=np.int64).reshape(-1, 3 if faces else 2)
    return RawMesh(X=np.array(X).reshape(-1, 3), T=T, lines=np.array(at[3] if faces else at[2], dtype=np.int64))


def write(mesh: Mesh, path: Path) -> None:
    """Springs as lines, triangles as faces, tets as their surface; planar meshes in the plane z = 0."""
    seen = surface_mesh(mesh)
    lines = ["v " + " ".join(repr(float(c)) for c in x) for x in seen.X]
    lines += [("l " if seen.kind == "springs" else "f ") + " ".join(str(i + 1) for i in t) for t in seen.T.tolist()]
    path.write_text("\n".join(lines) + "\n")


def _index(word: str, n: int) -> int:
    """Zero-based number of ``7``, ``7/1/3`` or ``-1`` (counted back from the last vertex so far)."""
    i = int(word.split("/")[0])
    if i == 0:
        raise ValueError("vertex 0, but .obj files count from 1")
    return i - 1 if i > 0 else n + i


def _fan(corners: list[int]) -> list[list[int]]:
    return [[corners[0], b, c] for b, c in zip(corners[1:-1], corners[2:])]

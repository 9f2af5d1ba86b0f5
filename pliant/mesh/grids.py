"""Bodies made of regular cells: bars, L-shapes, rectangles, sheets, spring nets, chains; the bars of the papers."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pliant.arrays import Array, IntArray
from pliant.errors import MeshError
from pliant.mesh.lengths import metric
from pliant.mesh.mesh import Mesh

Pattern = Literal["x", "alternating", "union-jack"]


@metric
def bar(size: Sequence[float] = (0.3, 0.1, 0.1), cells: Sequence[int] = (44, 14, 14)) -> Mesh:
    """A box [0, size] in metres of nx x ny x nz cells, each split into six tets around its main diagonal (Kuhn)."""
    _check("bar", size, cells, 3)
    return voxels(np.ones(tuple(cells), dtype=bool), np.asarray(size, dtype=np.float64) / cells)


box = bar


@metric
def l_shape(size: Sequence[float] = (0.2, 0.2, 0.05), cells: Sequence[int] = (8, 8, 2)) -> Mesh:
    """A bar without the quarter of high x and high y; nx and ny must be even."""
    _check("l_shape", size, cells, 3)
    if cells[0] % 2 or cells[1] % 2:
        raise MeshError(f"cells is {tuple(cells)}", where="l_shape", remedy="use even numbers along x and y")
    filled = np.ones(tuple(cells), dtype=bool)
    filled[cells[0] // 2 :, cells[1] // 2 :] = False
    return voxels(filled, np.asarray(size, dtype=np.float64) / cells)


def voxels(filled: NDArray[np.bool_], spacing: Array) -> Mesh:
    """Tets of the filled cells of a grid (nx, ny, nz) with cells of ``spacing (3,)`` [m]; conforming across cells."""
    counts = np.array(filled.shape) + 1
    corner = np.argwhere(filled)
    T = np.concatenate([_flat(corner[:, None, :] + path, counts) for path in _KUHN], axis=1).reshape(-1, 4)
    used, T = np.unique(T, return_inverse=True)
    X = np.stack(np.unravel_index(used, tuple(counts)), axis=1).astype(np.float64) * spacing
    return Mesh(X=X, T=T.reshape(-1, 4))


@metric
def rectangle(
    size: Sequence[float] = (0.3, 0.1), cells: Sequence[int] = (12, 4), pattern: Pattern = "union-jack"
) -> Mesh:
    """A planar body [0, size] in metres of nx x ny cells, counter-clockwise triangles.

    pattern "x": a vertex in the middle of every cell and four triangles; "alternating": one diagonal per cell, turned
    from row to row; "union-jack": turned like a chess board, so that every other vertex has eight triangles.
    """
    _check("rectangle", size, cells, 2)
    if pattern not in ("x", "alternating", "union-jack"):
        raise MeshError(f"pattern is {pattern!r}", where="rectangle", remedy='use "x", "alternating" or "union-jack"')
    X, (a, b, c, d) = _quads(size, cells)
    i, j = np.indices(tuple(cells)).reshape(2, -1)
    if pattern == "x":
        m = len(X) + np.arange(len(a))
        X = np.concatenate((X, (X[a] + X[c]) / 2))
        return Mesh(X=X, T=np.stack((a, b, m, b, c, m, c, d, m, d, a, m), axis=1).reshape(-1, 3))
    turned = ((j if pattern == "alternating" else i + j) % 2 == 1)[:, None]
    T = np.where(turned, np.stack((a, b, d, b, c, d), axis=1), np.stack((a, b, c, a, c, d), axis=1))
    return Mesh(X=X, T=T.reshape(-1, 3))


@metric
def sheet(size: Sequence[float] = (1.0, 1.0), cells: Sequence[int] = (8, 8), pattern: Pattern = "x") -> Mesh:
    """A flat sheet in the plane z = 0 of space (cloth, shells), facing +z; patterns as in `rectangle`."""
    flat = rectangle(size, cells, pattern)
    return Mesh(X=np.column_stack((flat.X, np.zeros(len(flat.X)))), T=flat.T)


@metric
def spring_net(n: int, m: int, size: Sequence[float] = (1.0, 1.0)) -> Mesh:
    """Springs of n x m cells in the plane z = 0: structural (along x and y) and shear (both diagonals)."""
    _check("spring_net", size, (n, m), 2)
    X, (a, b, c, d) = _quads(size, (n, m))
    T = np.sort(np.concatenate([np.stack(p, axis=1) for p in ((a, b), (d, c), (a, d), (b, c), (a, c), (b, d))]), axis=1)
    return Mesh(X=np.column_stack((X, np.zeros(len(X)))), T=np.unique(T, axis=0))


@metric
def chain(n: int, length: float = 1.0) -> Mesh:
    """n equal springs in a row along x, n + 1 vertices, ``length`` [m] in all."""
    _check("chain", (length,), (n,), 1)
    X = np.zeros((n + 1, 3))
    X[:, 0] = np.linspace(0, length, n + 1)
    return Mesh(X=X, T=np.stack((np.arange(n), np.arange(1, n + 1)), axis=1))


@dataclass(frozen=True)
class PaperGrid:
    """Size [m] and cells of a bar."""

    size: tuple[float, float, float]
    cells: tuple[int, int, int]


def _cubic(nx: int, ny: int, nz: int) -> PaperGrid:
    """0.15 m long, of cubes."""
    return PaperGrid((0.15, 0.15 * ny / nx, 0.15 * nz / nx), (nx, ny, nz))


PAPER_BARS = {
    "BAR": PaperGrid((0.3, 0.1, 0.1), (44, 14, 14)),  # [QLB2021, Table 1]: 10,125 vertices, 51,744 tets, 3 kg
    "TWIST": _cubic(20, 6, 6),  # [ConJac2020, Table 1]: 1,029 / 4,320
    "HETERO": _cubic(34, 12, 12),  # 5,915 / 29,376
    "ANISO": _cubic(38, 12, 12),  # 6,591 / 32,832
    "BARCUT": _cubic(49, 10, 10),  # 6,050 / 29,400
}


def paper_bar(name: str) -> Mesh:
    """A bar with the vertex and tet counts published for the scene ``name``: one of `PAPER_BARS`.

    The counts fix the cells; the papers give the mass of BAR, and of the others only "5-15 cm": length 0.15 m, cubes.
    """
    if name not in PAPER_BARS:
        raise MeshError(f"no paper bar {name!r}", where="paper_bar", remedy=f"use one of {', '.join(PAPER_BARS)}")
    grid = PAPER_BARS[name]
    return bar(grid.size, grid.cells)


def _kuhn() -> list[IntArray]:
    """The six monotone paths (4, 3) from corner 000 to corner 111 of a cell, positively oriented."""
    paths = []
    for order in permutations(range(3)):
        path = np.zeros((4, 3), dtype=np.int64)
        for step, axis in enumerate(order):
            path[step + 1 :, axis] = 1
        odd = np.linalg.det(path[1:] - path[0]) < 0
        paths.append(path[[0, 2, 1, 3]] if odd else path)
    return paths


_KUHN = _kuhn()


def _flat(index: IntArray, counts: IntArray) -> IntArray:
    """Number of grid point ``index (..., 3)`` in C order."""
    return (index[..., 0] * counts[1] + index[..., 1]) * counts[2] + index[..., 2]


def _quads(size: Sequence[float], cells: Sequence[int]) -> tuple[Array, tuple[IntArray, ...]]:
    """Grid points (n, 2) and the four corners of every cell, counter-clockwise."""
    nx, ny = cells
    x, y = np.meshgrid(np.linspace(0, size[0], nx + 1), np.linspace(0, size[1], ny + 1), indexing="ij")
    number = np.arange((nx + 1) * (ny + 1)).reshape(nx + 1, ny + 1)
    corners = (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:])
    return np.stack((x.ravel(), y.ravel()), axis=1), tuple(c.ravel() for c in corners)


MOST_CELLS = 1e9  # whose elements fill hundreds of gigabytes


def _check(where: str, size: Sequence[float], cells: Sequence[int], d: int) -> None:
    lengths = np.asarray(size, dtype=np.float64)
    if lengths.shape != (d,) or not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise MeshError(f"size is {size}", where=where, remedy=f"give {d} positive lengths in metres")
    counts = np.asarray(cells)
    if counts.shape != (d,) or counts.dtype.kind not in "iu" or (counts < 1).any():
        raise MeshError(f"cells is {cells}", where=where, remedy=f"give {d} positive whole numbers")
    if float(np.prod(counts.astype(np.float64))) > MOST_CELLS:
        raise MeshError(f"cells is {cells}", where=where, remedy=f"use less than {MOST_CELLS:g} cells in all")

"""Stand-ins for meshes of the source: a lattice tower, a tree, a bridge, a statue. [Chen2019, Tables 3.1 and 6.1]

They have the topology that the source shows (thin members, many branches, a deck hung from arches), not its vertices.
"""

import numpy as np

from pliant.arrays import Array
from pliant.mesh import Mesh, fill, voxels
from pliant.mesh.implicit import Implicit
from pliant.mesh.solids import joined, tube


def tower(cells: float = 80) -> Mesh:
    """Four legs that lean into a spire, tied by two rings; 1 m high, 16,107 vertices (16,027 in the source)."""
    corners = [(sx, sy) for sx in (-1, 1) for sy in (-1, 1)]
    heights, spread, girth = (0.0, 0.22, 0.45, 0.75), (0.2, 0.11, 0.055, 0.0), (0.035, 0.03, 0.022, 0.02)
    legs = [tube([(r * sx, r * sy, z) for r, z in zip(spread, heights)], girth) for sx, sy in corners]
    square = [(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]
    rings = [
        tube([(r * sx, r * sy, z) for sx, sy in square], 5 * [w])
        for r, z, w in ((0.115, 0.22, 0.022), (0.06, 0.45, 0.02))
    ]
    spire = tube([(0, 0, 0.7), (0, 0, 1.0)], (0.022, 0.012))
    bounds = np.array([[-0.27, -0.27, -0.05], [0.27, 0.27, 1.03]])
    return fill(joined([*legs, *rings, spire], 0.02), bounds, 1 / cells)


def tree(cells: float = 55, forks: int = 3) -> Mesh:
    """A trunk that forks into three branches ``forks`` times, about 1 m high."""
    limbs: list[Implicit] = []

    def grow(foot: Array, direction: Array, length: float, radius: float, left: int, turn: float) -> None:
        limbs.append(tube([foot, foot + length * direction], (radius, 0.75 * radius)))
        if left == 0:
            return
        u = np.cross(direction, (0.3, 1.0, 0.2))
        u /= np.linalg.norm(u)
        w = np.cross(direction, u)
        for k in range(3):
            angle = turn + 2 * np.pi * k / 3
            side = np.cos(angle) * u + np.sin(angle) * w
            up = 0.75 * direction + 0.65 * side + (0.0, 0.0, 0.1)
            at = foot + length * (0.97 if k else 0.75) * direction
            grow(at, up / np.linalg.norm(up), 0.66 * length, 0.68 * radius, left - 1, 1.7 * turn + k)

    grow(np.zeros(3), np.array([0.0, 0.0, 1.0]), 0.4, 0.05, forks, 0.4)
    return fill(joined(limbs, 0.01), np.array([[-0.8, -0.8, -0.1], [0.8, 0.8, 1.3]]), 1 / cells)


def loops(cells: float = 24) -> Mesh:
    """A seated figure of limbs that close to three loops above a base, 1 m high (FERT: a statue with holes)."""
    ring = np.linspace(0.0, 2.0 * np.pi, 13)
    limbs = [
        tube([(0.22 * np.cos(a) + x, 0.0, 0.22 * np.sin(a) + z) for a in ring], 13 * [w])
        for x, z, w in ((-0.14, 0.34, 0.085), (0.16, 0.36, 0.08), (0.02, 0.7, 0.075))
    ]
    base = tube([(-0.3, 0.0, 0.06), (0.3, 0.0, 0.06)], (0.13, 0.13))
    head = tube([(0.02, 0.0, 0.9), (0.05, 0.0, 0.98)], (0.09, 0.08))
    return fill(joined([*limbs, base, head], 0.03), np.array([[-0.55, -0.25, -0.15], [0.55, 0.25, 1.15]]), 1 / cells)


def bridge(cells: int = 120) -> Mesh:
    """A deck of 2 m hung from two arches that stand on piers; ``region`` is 0 deck, 1 hangers, 2 arches and piers."""
    n, width = cells, max(4, cells // 15)
    high = width
    x, y, z = np.meshgrid(np.arange(n), np.arange(width), np.arange(3 * width), indexing="ij")
    side = (y < 2) | (y >= width - 2)
    rise = high + 2 + 1.6 * width * (1 - ((x - 0.5 * (n - 1)) / (0.5 * n)) ** 2)
    arch = side & (np.abs(z - rise) <= 1.5 + 1.6 * width * 4 * np.abs(x / n - 0.5) / n)
    pier = ((x < width // 2) | (x >= n - width // 2)) & (z <= high)
    deck = (z >= high) & (z < high + 2)
    hanger = side & (x % width == width // 2) & (z >= high) & (z <= rise)
    filled = arch | pier | deck | hanger
    part = np.where(deck, 0, np.where(hanger & ~arch & ~pier, 1, 2))
    mesh = voxels(filled, np.full(3, 2.0 / n))
    return Mesh(X=mesh.X, T=mesh.T, region=np.repeat(part[filled], len(mesh.T) // int(filled.sum())))

"""Bodies swept from a planar cross-section: cylinder, rope, Moebius band, honeycomb."""

from collections.abc import Sequence

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.errors import MeshError
from pliant.mesh.grids import rectangle
from pliant.mesh.lengths import metric
from pliant.mesh.mesh import Mesh
from pliant.mesh.repair import weld


def sweep(section: Mesh, frames: Array, origins: Array, *, seam: IntArray | None = None) -> Mesh:
    """Tets between copies of a planar triangle mesh at ``origins (l, 3)``, spanned by ``frames (l, 3, 2)``.

    ``frames[i]`` maps section coordinates into space; the sweep goes towards (column 0) x (column 1). With ``seam``, a
    symmetry of the section as vertex numbers (n,), the last copy is joined to the first: vertex i to vertex seam[i].
    """
    n, layers = len(section.X), len(origins)
    X = np.einsum("lij,nj->lni", frames, section.X) + origins[:, None]
    number = np.arange(n * layers).reshape(layers, n)
    if seam is not None:
        number = np.concatenate((number, number[0][seam][None]))
    # Sorting the corners of a triangle fixes the diagonals of the three sides of its prism from both sides alike.
    F = np.sort(section.T, axis=1)
    flipped = np.linalg.det(section.X[F[:, 1:]] - section.X[F[:, :1]]) < 0
    low, high = number[:-1][:, F], number[1:][:, F]
    a, b, c, A, B, C = (*np.moveaxis(low, 2, 0), *np.moveaxis(high, 2, 0))
    T = np.stack((a, b, c, C, a, b, C, B, a, B, C, A), axis=2).reshape(layers - (seam is None), -1, 3, 4)
    T[:, flipped] = T[:, flipped][..., [0, 2, 1, 3]]
    return Mesh(X=X.reshape(-1, 3), T=T.reshape(-1, 4))


@metric
def extrude(section: Mesh, height: float, layers: int) -> Mesh:
    """A planar triangle mesh lifted along z from 0 to ``height`` [m]."""
    _positive("extrude", height=height, layers=layers)
    origins = np.zeros((layers + 1, 3))
    origins[:, 2] = np.linspace(0, height, layers + 1)
    return sweep(section, np.broadcast_to(np.eye(3)[:, :2], (layers + 1, 3, 2)), origins)


@metric
def disc(radius: float, rings: int) -> Mesh:
    """A planar disc: ring i of 6 i vertices, counter-clockwise triangles."""
    _positive("disc", radius=radius, rings=rings)
    start = np.concatenate(([0, 1], 1 + 3 * np.arange(1, rings + 1) * np.arange(2, rings + 2)))
    X, T = [np.zeros((1, 2))], []
    for i in range(1, rings + 1):
        angle = np.arange(6 * i) * (np.pi / (3 * i))
        X.append(radius * i / rings * np.stack((np.cos(angle), np.sin(angle)), axis=1))
        for k in range(6 * i):
            sector, step = divmod(k, i)
            inner = start[i - 1] + (sector * (i - 1) + step) % max(6 * (i - 1), 1)
            T.append((start[i] + k, start[i] + (k + 1) % (6 * i), inner))
            if step:
                before = start[i - 1] + (sector * (i - 1) + step - 1) % max(6 * (i - 1), 1)
                T.append((before, start[i] + k, inner))
    return Mesh(X=np.concatenate(X), T=np.array(T))


@metric
def cylinder(radius: float = 0.05, height: float = 0.2, rings: int = 4, layers: int = 16) -> Mesh:
    """A cylinder along z from 0 to ``height`` [m]."""
    return extrude(disc(radius, rings), height, layers)


@metric
def rope(
    length: float = 1.0,
    radius: float = 0.01,
    *,
    rings: int = 2,
    layers: int = 120,
    turns: float = 0.0,
    coil: float = 0.1,
) -> Mesh:
    """A round tube along x; with ``turns`` > 0 a helix of radius ``coil`` [m] around x (``length`` is its axis)."""
    _positive("rope", length=length, radius=radius, rings=rings, layers=layers)
    angle = 2 * np.pi * turns * np.linspace(0, 1, layers + 1)
    around = coil if turns else 0.0
    if turns and radius >= min(coil, length / turns / 2):
        what = f"a rope of radius {radius} m touches itself in {turns} turns of radius {coil} m over {length} m"
        raise MeshError(what, where="rope", remedy="use a thinner rope, a wider coil or fewer turns")
    c, s, o, one = np.cos(angle), np.sin(angle), np.zeros(layers + 1), np.ones(layers + 1)
    origins = np.stack((length * np.linspace(0, 1, layers + 1), around * c, around * s), axis=1)
    tangent = np.stack((length * one, -2 * np.pi * turns * around * s, 2 * np.pi * turns * around * c), axis=1)
    tangent /= np.linalg.norm(tangent, axis=1)[:, None]
    normal = np.stack((o, c, s), axis=1)  # always across the tangent: the helix is a curve on a cylinder
    return sweep(disc(radius, rings), np.stack((normal, np.cross(tangent, normal)), axis=2), origins)


@metric
def moebius(
    radius: float = 0.1, width: float = 0.06, thickness: float = 0.01, cells: Sequence[int] = (96, 8, 2)
) -> Mesh:
    """A thick band with one half twist; ``cells`` along the band, across its width, through its thickness."""
    _positive("moebius", radius=radius, width=width, thickness=thickness)
    if width >= 2 * radius:
        raise MeshError(
            f"width is {width} m, radius {radius} m", where="moebius", remedy="use a width below 2 * radius"
        )
    along, across, through = cells
    if along < 3 or across < 1 or through < 1 or (across + through) % 2:
        remedy = "use at least 3 along, and an even sum of the other two: the section must be symmetric to close"
        raise MeshError(f"cells is {tuple(cells)}", where="moebius", remedy=remedy)
    strip = rectangle((width, thickness), (across, through))
    section = Mesh(X=strip.X - strip.X.mean(axis=0), T=strip.T)
    turned = np.arange(len(section.X))[::-1]  # a half turn of the grid reverses the order of its points
    angle = 2 * np.pi * np.arange(along) / along
    c, s = np.cos(angle), np.sin(angle)
    radial, up = np.stack((c, s, 0 * c), axis=1), np.stack((0 * c, 0 * c, 0 * c + 1), axis=1)
    half_c, half_s = np.cos(angle / 2)[:, None], np.sin(angle / 2)[:, None]
    wide, thick = half_c * radial + half_s * up, -half_s * radial + half_c * up
    # The band runs along +phi = up x radial, so the section is spanned by (thick, wide) with its axes exchanged.
    flipped = Mesh(X=section.X[:, ::-1], T=section.T[:, ::-1])
    return sweep(flipped, np.stack((thick, wide), axis=2), radius * radial, seam=turned)


@metric
def honeycomb(
    cells: Sequence[int] = (6, 6), pitch: float = 0.05, wall: float = 0.006, height: float = 0.02, layers: int = 3
) -> Mesh:
    """Walls of nx x ny hexagonal holes, extruded along z: hole centers ``pitch`` [m] apart, ``wall`` [m] thick."""
    _positive("honeycomb", pitch=pitch, wall=wall, height=height, layers=layers, nx=cells[0], ny=cells[1])
    if wall >= pitch:
        raise MeshError(
            f"wall is {wall} m, pitch {pitch} m", where="honeycomb", remedy="use a wall thinner than the pitch"
        )
    divisions = max(1, round(pitch / np.sqrt(3) / (2 * wall)))
    i, j = np.indices(tuple(cells)).reshape(2, -1)
    centers = pitch * np.stack((i + 0.5 * (j % 2), np.sqrt(0.75) * j), axis=1)
    ring, T = _hexagon_frame(pitch, wall, divisions)
    X = (centers[:, None] + ring).reshape(-1, 2)
    T = (T + len(ring) * np.arange(len(centers))[:, None, None]).reshape(-1, 3)
    X, T = weld(X, T, tolerance=1e-6 * pitch)  # neighbours share the vertices in the middle of their wall
    return extrude(Mesh(X=X, T=T), height, layers)


def _hexagon_frame(pitch: float, wall: float, divisions: int) -> tuple[Array, IntArray]:
    """Triangles between a hexagon of inradius pitch/2 and its hole; the outer vertices come first."""
    corner = np.pi / 3 * np.arange(7) + np.pi / 6
    corners = np.stack((np.cos(corner), np.sin(corner)), axis=1) * pitch / np.sqrt(3)
    t = (np.arange(divisions) / divisions)[None, :, None]
    outer = ((1 - t) * corners[:-1, None] + t * corners[1:, None]).reshape(-1, 2)
    n = len(outer)
    i, j = np.arange(n), (np.arange(n) + 1) % n
    T = np.concatenate((np.stack((i, j, j + n), axis=1), np.stack((i, j + n, i + n), axis=1)))
    return np.concatenate((outer, (1 - wall / pitch) * outer)), T


def _positive(where: str, **values: float) -> None:
    for name, value in values.items():
        if not (np.isfinite(value) and value > 0):
            raise MeshError(f"{name} is {value}", where=where, remedy=f"use a positive {name}")

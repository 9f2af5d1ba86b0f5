"""What is shown of a run: the surface of every frame, or a fine surface that follows it. One frame is in memory."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.errors import MeshError, RunError
from pliant.export.colours import extent
from pliant.mesh import Mesh, embed, read_raw
from pliant.mesh.topology import boundary_facets
from pliant.record import Run
from pliant.record.channels import CELL_CHANNELS, POINT_CHANNELS
from pliant.record.frames import Frame, VtkCells, frame_count, open_frames
from pliant.record.run import FRAMES, load

KNOWN = (*POINT_CHANNELS, *CELL_CHANNELS)


@dataclass(frozen=True, eq=False)
class Picture:
    """One frame as a surface: time [s], ``points (n, 3)`` [m], ``triangles (k, 3)``, ``lines (l, 2)`` of springs,
    and ``values`` per vertex, (n,) or (n, d). ``uv (n, 2)`` [m] says where vertices are in the material, for textures;
    None where the channel ``material`` was not recorded. ``bodies (n,)`` has the number of every vertex's body."""

    t: float
    points: Array
    triangles: IntArray
    lines: IntArray
    values: dict[str, Array]
    uv: Array | None = None
    bodies: IntArray | None = None

    @property
    def body_count(self) -> int:
        return 1 if self.bodies is None else int(self.bodies.max(initial=0)) + 1


@dataclass(frozen=True)
class Clip:
    """The chosen frames of a run as `Picture` objects, read when they are asked for.

    ``channels`` are recorded ones or ``displacement`` (from the first frame where it was not recorded); values per cell
    become the mean over the cells at each vertex.
    ``surface`` is a mesh file, placed where the body is in the first frame; it then takes the place of the body's own
    surface, other bodies keep theirs. ``chosen`` are numbers of frames, all of them by default.
    """

    run: Run
    channels: tuple[str, ...] = ()
    surface: Path | None = None
    chosen: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if not self.parts.size:
            remedy = "let it run for a step, or `pliant resume` it"
            raise RunError(f"{self.run.folder} has no complete frame yet", where="export", remedy=remedy)
        for k in self.chosen or ():
            if not -len(self.parts) <= k < len(self.parts):
                remedy = f"choose from 0 to {len(self.parts) - 1}; negative numbers count from the end"
                raise RunError(f"no frame {k}", where=str(self.run.folder), remedy=remedy)
        for name in self.channels:
            if name not in self.recorded:
                more = f"; record it with --set 'output.channels=[\"{name}\"]'" if name in KNOWN else ""
                remedy = f"this run has {', '.join(self.recorded)}{more}"
                raise RunError(f"unknown channel {name!r}", where=str(self.run.folder), remedy=remedy)
        if self.surface is not None and not self.fixed:
            remedy = "export the body's own surface: leave out --embed"
            raise RunError("a surface cannot follow a mesh whose topology changes", where="--embed", remedy=remedy)

    @cached_property
    def parts(self) -> IntArray:
        """Number of the topology of every recorded frame."""
        path = self.run.folder / FRAMES
        if not path.is_file():
            remedy = "run it again, or give the folder of a run"
            raise RunError(f"{self.run.folder} is incomplete: it has no {FRAMES}", where="export", remedy=remedy)
        with open_frames(path) as file:
            try:
                return file["VTKHDF/Steps/PartOffsets"][: frame_count(file)]
            except (KeyError, OSError) as error:
                remedy = "run it again: this file was not written by pliant, or is damaged"
                raise RunError(f"{path} cannot be read", where="export", remedy=remedy) from error

    @cached_property
    def recorded(self) -> list[str]:
        """The channels there are."""
        first = self.run.frames[0]
        return list(dict.fromkeys([*first.point_values, *first.cell_values, "displacement"]))

    @cached_property
    def fixed(self) -> bool:
        """Whether all frames have the same cells."""
        return bool((self.parts == self.parts[0]).all())

    def require_fixed(self, format: str) -> None:
        """Refuse a format that holds one topology where the cells change between frames."""
        if not self.fixed:
            changes = int((self.parts[1:] != self.parts[:-1]).sum())
            what, remedy = f"a topology that changes ({changes} times here)", "use usd, vtk, obj, ply, mp4 or gif"
            raise RunError(f"{format} cannot hold {what}", where=f"--to {format}", remedy=remedy)

    @property
    def numbers(self) -> list[int]:
        """The chosen frames."""
        everything = range(len(self.parts))
        return list(everything) if self.chosen is None else [everything[k] for k in self.chosen]

    @cached_property
    def times(self) -> Array:
        """Their times [s]."""
        return self.run.frames.times[self.numbers]

    def every(self, k: int) -> "Clip":
        """Every k-th frame."""
        return replace(self, chosen=tuple(range(0, len(self.parts), k)))

    def at(self, times: Array) -> "Clip":
        """For each of the times [s] the last frame that is not later."""
        recorded = self.run.frames.times
        return replace(self, chosen=tuple(last_before(recorded, t) for t in times))

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[Picture]:
        return (self.picture(k) for k in self.numbers)

    def picture(self, k: int) -> Picture:
        """Frame k, counted in the whole run."""
        part = int(self.parts[k])
        if part not in self._skins:
            self._skins.clear()  # topologies do not come back: the last one is enough
            self._skins[part] = self._skin(k)
        return self._skins[part].picture(self.run.frames[k], self._first, self.channels)

    @cached_property
    def _skins(self) -> "dict[int, Skin]":
        return {}

    @cached_property
    def _first(self) -> Array:
        return self.run.frames[0].points

    def _skin(self, k: int) -> "Skin":
        topology, n = self.run.frames.topology(k), len(self.run.frames[k].points)
        if self.surface is None:
            return own_skin(topology, n)
        return _following_skin(topology, self._first, self.surface)


@dataclass(frozen=True, eq=False)
class Skin:
    """The surface's vertices as weighted sums of the body's: row i has ``weights[i] @ x[vertices[i]]``."""

    triangles: IntArray
    lines: IntArray
    vertices: IntArray  # (p, k)
    weights: Array  # (p, k)
    cells: "_CellMean"
    bodies: IntArray  # (p,)
    uv: Array | None = None  # (p, 2) of the surface itself

    def picture(self, frame: Frame, first: Array, channels: tuple[str, ...]) -> Picture:
        values = {name: self._on_surface(self._channel(frame, first, name)) for name in channels}
        x, uv = self._on_surface(frame.points), self._uv(frame)
        return Picture(frame.t, x, self.triangles, self.lines, values, uv, self.bodies)

    def _uv(self, frame: Frame) -> Array | None:
        if self.uv is not None:
            return self.uv
        material = frame.point_values.get("material")
        known = material is not None and np.isfinite(material[self.vertices]).all()
        return self._on_surface(material)[:, :2] if material is not None and known else None

    def _on_surface(self, x: Array) -> Array:
        return np.einsum("pk,pk...->p...", self.weights, x[self.vertices])

    def _channel(self, frame: Frame, first: Array, name: str) -> Array:
        if name in frame.point_values:
            return frame.point_values[name]
        if name in frame.cell_values:
            return self.cells.of(frame.cell_values[name])
        if len(first) != len(frame.points):
            what, remedy = "vertices come and go, so they have no displacement", "choose another channel"
            raise RunError(what, where="export", remedy=remedy)
        return frame.points - first


@dataclass(frozen=True, eq=False)
class _CellMean:
    """Values of cells -> mean over the cells at each of n vertices that have the quantity; NaN where none has."""

    topology: VtkCells
    n: int

    def of(self, values: Array) -> Array:
        cell = np.repeat(np.arange(self.topology.cells), np.diff(self.topology.offsets))
        rows = values.reshape(len(values), -1)[cell]
        known = np.isfinite(rows).all(axis=1)
        vertex = self.topology.connectivity[known]
        count = np.bincount(vertex, minlength=self.n).astype(np.float64)
        count[count == 0.0] = np.nan
        columns = [np.bincount(vertex, weights=column, minlength=self.n) / count for column in rows[known].T]
        return np.stack(columns, axis=1).reshape(self.n, *values.shape[1:])


def own_skin(topology: VtkCells, n: int) -> Skin:
    """Boundary of the tets, all triangles, all springs; the vertices that none of them uses are left out."""
    tets, triangles, lines = (_cells(topology, k) for k in (4, 3, 2))
    F = np.concatenate([boundary_facets(tets), triangles]) if len(tets) else triangles
    loose = _cells(topology, 1).ravel()
    used, numbers = np.unique(np.concatenate([F.ravel(), lines.ravel(), loose]), return_inverse=True)
    F, lines = numbers[: F.size].reshape(-1, 3), numbers[F.size : F.size + lines.size].reshape(-1, 2)
    bodies = _body_of_vertices(topology, n)[used]
    return Skin(F, lines, used[:, None], np.ones((len(used), 1)), _CellMean(topology, n), bodies)


def _body_of_vertices(topology: VtkCells, n: int) -> IntArray:
    """The number of the body of each of n vertices; 0 where a file does not say."""
    found = np.zeros(n, dtype=np.int64)
    if topology.bodies is not None:
        found[topology.connectivity] = np.repeat(topology.bodies, np.diff(topology.offsets))
    return found


def _following_skin(topology: VtkCells, x: Array, path: Path) -> Skin:
    """A surface file placed in the tets at x and carried along by barycentric weights."""
    (X, T, uv), tets = _surface(path), _cells(topology, 4)
    if not len(tets):
        raise MeshError("the run has no tetrahedra to carry a surface", where=str(path), remedy="leave out --embed")
    if T.ndim != 2 or T.shape[1] != 3:
        raise MeshError("no triangles", where=str(path), remedy="give a triangle surface (.obj, .ply, .stl)")
    used, numbers = np.unique(tets, return_inverse=True)
    held = embed(Mesh(X=x[used], T=numbers.reshape(tets.shape)), X)
    vertices, means = used[held.vertices], _CellMean(topology, len(x))
    bodies = _body_of_vertices(topology, len(x))[vertices[:, 0]]
    carried = Skin(T, np.zeros((0, 2), np.int64), vertices, held.weights, means, bodies, uv)
    return _beside(carried, own_skin(_without(topology, np.unique(bodies)), len(x)), means)


def _without(topology: VtkCells, bodies: IntArray) -> VtkCells:
    """The cells of all other bodies; none where a file does not say whose they are."""
    owner = np.full(topology.cells, bodies[0]) if topology.bodies is None else topology.bodies
    kept, sizes = ~np.isin(owner, bodies), np.diff(topology.offsets)
    offsets = np.concatenate([[0], np.cumsum(sizes[kept])])
    return VtkCells(topology.connectivity[np.repeat(kept, sizes)], offsets, topology.types[kept], owner[kept])


def _beside(a: Skin, b: Skin, cells: "_CellMean") -> Skin:
    """Two surfaces as one; b, whose vertices are those of a body, has no texture coordinates but zeros."""
    n, width = len(a.vertices), a.vertices.shape[1]
    alone = np.eye(1, width).repeat(len(b.vertices), axis=0)
    return Skin(
        np.concatenate([a.triangles, b.triangles + n]),
        np.concatenate([a.lines, b.lines + n]),
        np.concatenate([a.vertices, b.vertices.repeat(width, axis=1)]),
        np.concatenate([a.weights, alone]),
        cells,
        np.concatenate([a.bodies, b.bodies]),
        None if a.uv is None else np.concatenate([a.uv, np.zeros((len(b.vertices), 2))]),
    )


def _surface(path: Path) -> tuple[Array, IntArray, Array | None]:
    """Vertices, triangles and texture coordinates of a surface file; a vertex with two of these is two vertices."""
    raw = read_raw(path)
    if path.suffix == ".obj":
        import trimesh

        textured: Any = trimesh.load(path, process=False, force="mesh")
        if isinstance(textured.visual, trimesh.visual.TextureVisuals) and textured.visual.uv is not None:
            return np.asarray(textured.vertices), np.asarray(textured.faces), np.asarray(textured.visual.uv)
    return raw.X, np.asarray(raw.T), None


def _cells(topology: VtkCells, size: int) -> IntArray:
    """The cells with so many vertices, (m, size)."""
    first = topology.offsets[:-1][np.diff(topology.offsets) == size]
    return topology.connectivity[first[:, None] + np.arange(size)]


def last_before(times: Array, t: float) -> int:
    """The place of the last of the ``times`` (n,) that is not later than t; of the first where all are."""
    return max(int(np.searchsorted(times, t + 1e-9, side="right")) - 1, 0)


def ranges(clip: Clip, channel: str | None = None) -> tuple[Array, Array, float, float]:
    """Bounding box of all frames [m] and range of the channel where it is known; 0 to 1 of one that is nowhere."""
    low, high, least, most = np.full(3, np.inf), np.full(3, -np.inf), np.inf, -np.inf
    for picture in clip:
        low, high = np.minimum(low, picture.points.min(axis=0)), np.maximum(high, picture.points.max(axis=0))
        if channel is not None:
            own = extent(picture.values[channel])
            least, most = min(least, own[0]), max(most, own[1])
    return (low, high, least, most) if channel is None or least <= most else (low, high, 0.0, 1.0)


def clip(run: Run | str | Path, channels: tuple[str, ...] = (), *, surface: str | Path | None = None) -> Clip:
    """The whole run in a folder, ready to be exported."""
    run = run if isinstance(run, Run) else load(run)
    return Clip(run, tuple(channels), None if surface is None else Path(surface))

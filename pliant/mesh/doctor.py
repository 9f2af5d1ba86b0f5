"""The mesh doctor: everything that is wrong or suspicious about a mesh, by number, with the remedy."""

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.mesh.checks import Finding, duplicate_elements, faults, format_fault, valid_vertices
from pliant.mesh.formats import read_raw
from pliant.mesh.measures import dihedral_angles, edge_lengths, measures, radius_ratio, signed
from pliant.mesh.mesh import Mesh
from pliant.mesh.raw import RawMesh
from pliant.mesh.topology import components, facets, group_rows, non_manifold

POOR = 0.05  # radius ratio below which an element is called poor
UNEVEN = 100.0  # longest over shortest edge above which a mesh is called uneven
LARGE, SMALL = 30.0, 2e-3  # [m] sizes outside of which the unit is doubted
_NAN = float("nan")


@dataclass(frozen=True, eq=False)
class MeshReport:
    """What `doctor` found. ``refused``: Mesh would not accept it. Numbers are NaN where no element can be measured."""

    vertices: int
    elements: int
    kind: str
    bounds: Array  # (2, d) [m]
    measure: float  # volume [m^3], area [m^2] or length [m] in all
    pieces: int
    quality: tuple[float, float]  # worst and mean radius ratio: 1 regular, 0 flat
    dihedral: tuple[float, float]  # smallest and largest dihedral angle of tets [rad]
    edge_ratio: float  # longest over shortest edge
    findings: tuple[Finding, ...]

    @property
    def refused(self) -> bool:
        return any(finding.severity == "error" for finding in self.findings)

    @property
    def bad_elements(self) -> IntArray:
        """Numbers of the elements with an error (b,)."""
        return np.unique(np.concatenate([np.zeros(0, np.int64), *self._errors()]))

    def finding(self, name: str) -> Finding | None:
        """The finding of that name ("inverted", "degenerate", "non-manifold", "scale", ...), if there is one."""
        return next((finding for finding in self.findings if finding.name == name), None)

    def __str__(self) -> str:
        size = " x ".join(f"{side:.4g}" for side in np.diff(self.bounds, axis=0).ravel())
        lines = [
            f"{self.vertices} vertices, {self.elements} {self.kind}, {self.pieces} pieces, {size} m",
            f"quality {self.quality[0]:.3g} worst, {self.quality[1]:.3g} mean; edge ratio {self.edge_ratio:.3g}",
            *map(str, self.findings),
        ]
        return "\n".join([*lines, "refused" if self.refused else "accepted"])

    def _errors(self) -> list[IntArray]:
        return [finding.elements for finding in self.findings if finding.severity == "error"]


def doctor(subject: Mesh | RawMesh | tuple[Array, IntArray] | str | PathLike[str]) -> MeshReport:
    """Examine a mesh, a file, or raw arrays (X, T) that Mesh would refuse."""
    if isinstance(subject, str | PathLike):
        subject = read_raw(subject)
    given = subject if isinstance(subject, tuple) else (subject.X, subject.T)
    X: Array = np.asarray(given[0])
    T: IntArray = np.asarray(given[1])
    found = faults(X, T)
    if format_fault(X, T):
        bounds = np.full((2, 3), _NAN)
        return MeshReport(len(X), len(T), "elements", bounds, 0.0, 0, (_NAN,) * 2, (_NAN,) * 2, _NAN, tuple(found))
    number = _distinct(X, T)
    sound = T[number]
    if len(sound):
        found += _shape_findings(X, sound, number) + _joints(X, sound, number)
    finite = X[valid_vertices(X)]
    return MeshReport(
        vertices=len(X),
        elements=len(T),
        kind={4: "tetrahedra", 3: "triangles", 2: "springs"}[T.shape[1]],
        bounds=np.stack((finite.min(axis=0), finite.max(axis=0))) if len(finite) else np.full((2, X.shape[1]), _NAN),
        measure=float(np.abs(measures(X, sound)).sum()) if len(sound) else 0.0,
        pieces=components(len(X), sound)[0] if len(sound) else 0,
        quality=_extent(radius_ratio(X, sound), np.mean) if len(sound) else (_NAN, _NAN),
        dihedral=_extent(dihedral_angles(X, sound), np.max) if T.shape[1] == 4 and len(sound) else (_NAN, _NAN),
        edge_ratio=_edge_ratio(X, sound),
        findings=tuple(found),
    )


def _distinct(X: Array, T: IntArray) -> IntArray:
    """Elements to look at further: valid vertices, all different, no duplicates (which would hide all else)."""
    R = np.sort(T, axis=1)
    valid = np.isin(R, np.flatnonzero(valid_vertices(X))).all(axis=1) & (R[:, 1:] != R[:, :-1]).all(axis=1)
    number = np.flatnonzero(valid)
    return np.delete(number, duplicate_elements(T[number])[0]) if len(number) else number


def _extent(values: Array, second: Callable[[Array], float]) -> tuple[float, float]:
    return float(values.min()), float(second(values))


def _edge_ratio(X: Array, T: IntArray) -> float:
    lengths = edge_lengths(X, T)
    return float(lengths.max() / lengths.min()) if lengths.size and lengths.min() > 0 else _NAN


def _shape_findings(X: Array, T: IntArray, number: IntArray) -> list[Finding]:
    """Poor elements, uneven edges, doubtful size."""
    used = X[np.unique(T)]
    size = float(np.linalg.norm(np.ptp(used, axis=0)))
    quality = radius_ratio(X, T)
    poor = np.flatnonzero((np.abs(quality) < POOR) & (quality != 0))
    ratio = _edge_ratio(X, T)
    found = []
    if len(poor):
        worst = poor[np.abs(quality[poor]).argmin()]
        what = f"element {number[worst]} has quality {abs(quality[worst]):.2g} (1 is regular), {len(poor)} below {POOR}"
        found.append(_warning("poor shape", what, "remesh, e.g. mesh.tetrahedralise of its surface", number[poor]))
    if ratio > UNEVEN:
        what = f"the longest edge is {ratio:.3g} times the shortest"
        found.append(_warning("uneven", what, "remesh with an even edge length, or expect small time steps"))
    if size > LARGE:
        what = f"the body is {size:.3g} m across, probably millimetres"
        found.append(_warning("scale", what, "mesh.transformed(scale=1e-3) converts to metres"))
    if 0 < size < SMALL:
        what = f"the body is {1e3 * size:.3g} mm across, probably scaled twice"
        found.append(_warning("scale", what, "mesh.transformed(scale=1e3) converts to metres"))
    return found


def _joints(X: Array, T: IntArray, number: IntArray) -> list[Finding]:
    """How the elements hang together: manifold, welded, in one piece, wound alike."""
    found = []
    touching = non_manifold(T)
    if touching:
        places = np.unique(np.concatenate((touching.vertices, touching.edges.ravel(), touching.facets.ravel())))
        what = (
            f"{len(touching.facets)} facets with more than two elements, {len(touching.edges)} edges and "
            f"{len(touching.vertices)} vertices where the surface touches itself, first at vertex {places[0]}"
        )
        remedy = "remove the elements around it, or weld and remesh; contact needs a manifold surface"
        found.append(_warning("non-manifold", what, remedy, number[np.isin(T, places).any(axis=1)], places))
    used = np.unique(T)
    grid = np.round((X[used] - X[used].min(axis=0)) / max(1e-9 * float(np.ptp(X[used])), 1e-300))
    first, group, count = group_rows(grid.astype(np.int64))
    twins = used[count[group] > 1]
    if len(twins):
        what = f"vertices {twins[:2].tolist()} ... lie on the same points ({len(twins)} vertices)"
        found.append(_warning("not welded", what, "mesh.weld(X, T, tolerance) joins them", vertices=twins))
    pieces = components(len(X), T)[0]
    if pieces > 1:
        what = f"{pieces} separate pieces"
        found.append(_warning("pieces", what, "pin or support each, or split them with mesh.components()"))
    if T.shape[1] == 3 and not signed(X, T):
        _, group, count = group_rows(facets(T))
        against = np.flatnonzero(count[group] > 1) // 3
        if len(against):
            what = f"triangle {number[against[0]]} runs along an edge in the same direction as its neighbour"
            found.append(
                _warning("winding", what, "turn the triangles so that all face one side", number[np.unique(against)])
            )
    return found


def _warning(
    name: str, what: str, remedy: str, elements: IntArray | None = None, vertices: IntArray | None = None
) -> Finding:
    none = np.zeros(0, dtype=np.int64)
    return Finding(
        name, what, remedy, "warning", none if elements is None else elements, none if vertices is None else vertices
    )

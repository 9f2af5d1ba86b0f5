"""Faults that make a mesh impossible to simulate, found on raw arrays and named by number, value and remedy."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pliant.arrays import Array, IntArray
from pliant.mesh.measures import edge_lengths, measures
from pliant.mesh.topology import group_rows

REMEDY = "mesh.repair(X, T) or mesh.read(path, repair=True) fixes it, mesh.doctor lists every fault"
FLAT = 1e-12  # an element is flat when its measure is below FLAT * (longest edge)^d: rounding decides its sign
HUGE = 1e30  # [m]
_UNIT = {2: "length {} m", 3: "area {} m^2", 4: "volume {} m^3"}
_NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Finding:
    """One kind of fault: what, which elements or vertices, what to do. Errors refuse a mesh, warnings do not."""

    name: str
    what: str
    remedy: str
    severity: Literal["error", "warning"] = "error"
    elements: IntArray = field(default_factory=lambda: _NONE)
    vertices: IntArray = field(default_factory=lambda: _NONE)

    def __str__(self) -> str:
        return f"{self.severity}: {self.name}: {self.what}; {self.remedy}"


def format_fault(X: Array, T: IntArray) -> Finding | None:
    """Wrong shapes or types, or nothing at all: no further check makes sense."""
    if X.ndim != 2 or X.shape[1] not in (2, 3) or X.dtype.kind not in "fiu":
        what = f"X has shape {X.shape} and type {X.dtype}"
        return Finding("shape", what, "give rest positions as an (n, 3) array, or (n, 2) for planar bodies, in metres")
    if T.ndim != 2 or T.shape[1] not in (2, 3, 4) or T.dtype.kind not in "iu":
        what = f"T has shape {T.shape} and type {T.dtype}"
        return Finding("shape", what, "give elements as an (m, 4), (m, 3) or (m, 2) array of zero-based integers")
    if T.shape[1] > X.shape[1] + 1:
        return Finding("shape", f"tetrahedra with planar X of shape {X.shape}", "give X as an (n, 3) array")
    if not len(X) or not len(T):
        return Finding("empty", f"{len(X)} vertices and {len(T)} elements", "give at least one element")
    return None


def range_fault(X: Array, T: IntArray) -> Finding | None:
    """Elements that refer to vertices that do not exist."""
    bad = np.flatnonzero(((T < 0) | (len(X) <= T)).any(axis=1))
    if not len(bad):
        return None
    e = int(bad[0])
    v = next(int(v) for v in T[e] if not 0 <= v < len(X))
    what = f"element {e} refers to vertex {v}, but vertices are 0 ... {len(X) - 1}{_more(bad)}"
    hint = "subtract 1 from T if it counts from one" if T.min() >= 1 and T.max() == len(X) else "correct the index"
    return Finding("index", what, f"{hint}, or {REMEDY}", elements=bad)


def valid_vertices(X: Array) -> NDArray[np.bool_]:
    """Which vertices are at finite positions; beyond `HUGE` their volumes overflow."""
    return np.asarray((np.abs(X) < HUGE).all(axis=1))


def finite_fault(X: Array, T: IntArray) -> Finding | None:
    """Vertices with NaN, infinite or absurd coordinates, with the elements that use them."""
    bad = np.flatnonzero(~valid_vertices(X))
    if not len(bad):
        return None
    inside = np.clip(T, 0, len(X) - 1)
    users = np.flatnonzero((np.isin(inside, bad) & (inside == T)).any(axis=1))
    what = f"vertex {bad[0]} is at {X[bad[0]].tolist()}{_more(bad)}"
    return Finding("not finite", what, f"correct the coordinates, or {REMEDY}", elements=users, vertices=bad)


def orientation(X: Array, T: IntArray) -> IntArray:
    """For every element (m,): 1 sound, 0 without volume, area or length to rounding, -1 inverted (clockwise in 2-D)."""
    V = measures(X, T)
    flat = np.abs(V) <= FLAT * edge_lengths(X, T).max(axis=1) ** (T.shape[1] - 1)
    return np.where(flat, 0, np.where(V < 0, -1, 1))


def duplicate_elements(T: IntArray) -> tuple[IntArray, IntArray]:
    """Rows of T with the vertices of an earlier row, and that earlier row."""
    first, group, _ = group_rows(np.sort(T, axis=1))
    bad = np.setdiff1d(np.arange(len(T)), first)
    return bad, first[group[bad]]


def element_faults(X: Array, T: IntArray, number: IntArray) -> list[Finding]:
    """Degenerate, inverted and duplicate elements; ``number (m,)`` is what the rows of T are called in the messages."""
    found = []
    sign = orientation(X, T)
    for name, rows in (("degenerate", np.flatnonzero(sign == 0)), ("inverted", np.flatnonzero(sign < 0))):
        if len(rows):
            value = _UNIT[T.shape[1]].format(f"{measures(X, T[rows[:1]])[0]:.3g}")
            what = f"element {number[rows[0]]} (vertices {T[rows[0]].tolist()}) is {name}: {value}{_more(rows)}"
            found.append(Finding(name, what, REMEDY, elements=number[rows]))
    rows, original = duplicate_elements(T)
    if len(rows):
        vertices = sorted(T[rows[0]].tolist())
        what = f"element {number[rows[0]]} has the vertices {vertices} of element {number[original[0]]}{_more(rows)}"
        found.append(Finding("duplicate", what, REMEDY, elements=number[rows]))
    return found


def unreferenced_fault(X: Array, T: IntArray) -> Finding | None:
    """Vertices without an element: they would have no mass."""
    bad = np.setdiff1d(np.arange(len(X)), T)
    if not len(bad):
        return None
    what = f"vertex {bad[0]} at {X[bad[0]].tolist()} belongs to no element{_more(bad)}"
    return Finding("unreferenced", what, REMEDY, vertices=bad)


def faults(X: Array, T: IntArray) -> list[Finding]:
    """Every reason why (X, T) cannot be simulated; empty for a sound mesh. Numbers refer to X and T as given."""
    wrong = format_fault(X, T)
    if wrong:
        return [wrong]
    found = [f for f in (range_fault(X, T), finite_fault(X, T)) if f]
    number = np.setdiff1d(np.arange(len(T)), np.concatenate([f.elements for f in found] or [_NONE]))
    if len(number):
        found += element_faults(X, T[number], number)
    unreferenced = unreferenced_fault(X, T)
    return found + [unreferenced] if unreferenced else found


def _more(bad: IntArray) -> str:
    return f" ({len(bad)} in all)" if len(bad) > 1 else ""

"""A mesh from arrays with faults: orient, drop, weld, and say what was done."""

from dataclasses import dataclass

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.errors import MeshError
from pliant.mesh.checks import (
    duplicate_elements,
    finite_fault,
    format_fault,
    orientation,
    range_fault,
)
from pliant.mesh.mesh import Mesh, refusal
from pliant.mesh.topology import group_rows


@dataclass(frozen=True, eq=False)
class Repairs:
    """What `repair` did, in element and vertex numbers of the arrays it was given."""

    oriented: IntArray  # elements whose last two vertices were exchanged
    dropped_elements: IntArray  # invalid, degenerate or duplicate
    dropped_vertices: IntArray  # used by no remaining element
    vertices: IntArray  # (n,) the original number of every vertex of the new mesh
    elements: IntArray  # (m,) the original number of every element of the new mesh

    def __str__(self) -> str:
        done = f"{len(self.oriented)} elements oriented, {len(self.dropped_elements)} elements dropped"
        return f"{done}, {len(self.dropped_vertices)} vertices dropped"


def repair(X: Array, T: IntArray, region: IntArray | None = None) -> tuple[Mesh, Repairs]:
    """The largest sound mesh in (X, T): inverted elements oriented; invalid, flat and duplicate ones dropped.

    Vertices that no element uses any more are dropped too. Nothing is moved.
    """
    X, T = np.asarray(X), np.asarray(T)
    wrong = format_fault(X, T)
    if wrong:
        raise refusal(wrong, where="repair")
    keep = np.ones(len(T), dtype=bool)
    for finding in (range_fault(X, T), finite_fault(X, T)):
        if finding:
            keep[finding.elements] = False
    elements = np.flatnonzero(keep)
    elements = elements[orientation(X, T[elements]) != 0] if len(elements) else elements
    elements = np.delete(elements, duplicate_elements(T[elements])[0]) if len(elements) else elements
    if not len(elements):
        raise MeshError(f"none of the {len(T)} elements is sound", where="repair", remedy="see mesh.doctor((X, T))")
    turned = np.flatnonzero(orientation(X, T[elements]) < 0)
    oriented = T[elements]
    oriented[turned, -2:] = oriented[turned, :-3:-1]
    vertices, index = np.unique(oriented, return_inverse=True)
    new = Mesh(
        X=X[vertices],
        T=index.reshape(oriented.shape),
        region=None if region is None else np.asarray(region)[elements],
    )
    dropped_elements = np.setdiff1d(np.arange(len(T)), elements)
    dropped_vertices = np.setdiff1d(np.arange(len(X)), vertices)
    return new, Repairs(elements[turned], dropped_elements, dropped_vertices, vertices, elements)


def weld(X: Array, T: IntArray, tolerance: float) -> tuple[Array, IntArray]:
    """Vertices on the same point of a grid of width ``tolerance`` [m] made one (the first); returns raw arrays."""
    first, group, _ = group_rows(np.round(np.asarray(X) / tolerance).astype(np.int64))
    order = np.argsort(first)  # keep the order of the original vertices
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return X[first[order]], rank[group][T]

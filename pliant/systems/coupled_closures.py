"""Closures of coupled parts: their own loops and motors, and the points that are tied together."""

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from pliant.abilities import able
from pliant.arrays import Array
from pliant.pattern import side_by_side
from pliant.systems.closures import Closures, Constrained
from pliant.systems.supports import scripted
from pliant.systems.ties import tie_gaps, tie_jacobian

if TYPE_CHECKING:
    from pliant.systems.coupled import Coupled


def closures(system: "Coupled", q: Array, v: Array, t: float) -> Closures | None:
    """Those of the parts, and the points that are tied together."""
    found = []
    for part, s in zip(system.parts, system.slices, strict=True):
        mine = part.closures(q[s], v[s], t) if able(part, Constrained) else None
        if mine is not None:
            found.append(mine.placed(s.start, system.size))
    if system.ties is not None:
        G = tie_jacobian(system.ties, system.points.jacobian(q), system.dim)
        found.append(Closures.tying(tie_gaps(system.ties, system.points.lift(q)), G))
    return Closures.joined(found) if found else None


def closure_tangent(
    system: "Coupled", q: Array, v: Array, t: float, y: Array, w: float
) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """d(G^T y)/dq + w d(G^T y)/dv and the same of the gaps, part by part; ties bend with the points."""
    blocks, gaps, first = [], [], 0
    for part, s in zip(system.parts, system.slices, strict=True):
        n = s.stop - s.start
        mine = part.closures(q[s], v[s], t) if able(part, Constrained) else None
        if mine is None or not able(part, Constrained):
            blocks.append(sp.csr_matrix((n, n)))
            continue
        k = len(mine.gap)
        B, g = part.closure_tangent(q[s], v[s], t, y[first : first + k], w)
        blocks.append(B)
        gaps.append(sp.hstack([sp.csr_matrix((k, s.start)), g, sp.csr_matrix((k, system.size - s.stop))]))
        first += k
    A = side_by_side(blocks)
    if system.ties is not None:
        A = sp.csr_matrix(A + system.points.curvature(q, system.ties.T @ y[first:]))
        gaps.append(tie_jacobian(system.ties, system.points.jacobian(q), system.dim))
    return A, sp.csr_matrix(sp.vstack(gaps))


def acceleration_rows(system: "Coupled", q: Array, v: Array, t: float) -> tuple[Array, Array] | None:
    """(G, b) with G a = b = -d(G v - rate)/dt at constant v of free coordinates; scripts are followed."""
    rows = system.closures(q, v, t)
    if rows is None:
        return None
    e = 1e-5 * system.scale / max(float(np.abs(v).max()), 1e-3 * system.scale)  # s: little of a turn, or of the way
    ahead, behind = (system.closures(q + s * v, v, t + s) for s in (e, -e))
    assert ahead is not None and behind is not None
    bias = ((ahead.G @ v - ahead.rate) - (behind.G @ v - behind.rate)) / (2.0 * e)
    return rows.G.toarray(), -bias - rows.G @ scripted(system, q, t)


def closed_acceleration(system: "Coupled", q: Array, v: Array, t: float) -> Array:
    """M^-1 (f + G^T lambda), with the accelerations that closures demand."""
    a = system.accelerated(q, system.force(q, v, t))
    rows = system.acceleration_rows(q, v, t)
    if rows is None:
        return a
    G, b = rows
    X = np.stack([system.accelerated(q, g) for g in G], axis=1)
    return a + X @ np.linalg.lstsq(G @ X, b - G @ a, rcond=1e-12)[0]

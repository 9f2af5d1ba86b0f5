"""Which edges meet which triangles: an independent check that nothing overlaps, exact by construction.

Everything is decided by signs of volumes of five points. Floating-point volumes decide where they exceed the bound on
their rounding error [Shewchuk 1997, sec. 4.3]; the few that do not (neighbours on a flat face, grazing contact) are
computed again in integers, without any rounding. So there is no tolerance: coordinates are taken at their word.
"""

from fractions import Fraction

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pliant.arrays import Array, IntArray

# mypy: disable-error-code="no-untyped-def"


def intersections(x: Array, edges: IntArray, faces: IntArray, *, touching: bool = False) -> IntArray:
    """Pairs (edge, face) that cross, (k, 2), at positions ``x (n, 3)``; features that share a vertex never count.

    An edge crosses a triangle if its ends are strictly on different sides and it passes the triangle's inside or rim.
    With ``touching`` an end exactly on the triangle and edges lying in it count as well.
    """
    if not len(edges) or not len(faces):
        return np.zeros((0, 2), dtype=np.int64)
    x = np.ascontiguousarray(x, dtype=np.float64)
    axis = int(np.argmax(np.ptp(x, axis=0)))
    low = x[faces, axis].min(axis=1)
    order = np.argsort(low, kind="stable")
    reach = float((x[faces, axis].max(axis=1) - low).max() + 1e-15 * np.abs(x[:, axis]).max())  # not short by rounding
    certain, doubtful = _pierced(x, edges, faces[order], low[order], order, reach, axis)
    doubtful = doubtful if touching else doubtful[~_level(x, edges, faces, doubtful)]
    decided = [pair for pair in doubtful if _meet(x, (*edges[pair[0]], *faces[pair[1]]), touching)]
    found = np.concatenate([certain, np.array(decided, dtype=np.int64).reshape(-1, 2)])
    return found[np.lexsort(found.T[::-1])]


def crossing(x: Array, edges: IntArray, faces: IntArray, pairs: IntArray) -> IntArray:
    """Those of some ``pairs (k, 2)`` of an edge and a face that cross; see `intersections`."""
    answer = _judged(np.ascontiguousarray(x, dtype=np.float64), edges, faces, pairs)
    doubtful = np.flatnonzero(answer < 0)
    doubtful = doubtful[~_level(x, edges, faces, pairs[doubtful])]
    exact = [k for k in doubtful if _meet(x, (*edges[pairs[k, 0]], *faces[pairs[k, 1]]), False)]
    return pairs[np.sort(np.concatenate([np.flatnonzero(answer > 0), np.array(exact, dtype=np.int64)]))]


def _level(x: Array, edges: IntArray, faces: IntArray, pairs: IntArray) -> NDArray[np.bool_]:
    """Whether edge and face lie in one plane across an axis, as most neighbours on flat sides do: they do not cross."""
    points = x[np.column_stack([edges[pairs[:, 0]], faces[pairs[:, 1]]])]
    return np.asarray((points == points[:, :1]).all(axis=1).any(axis=1))


def _meet(x: Array, nodes: tuple[int, ...], touching: bool) -> bool:
    """Whether segment pq meets triangle abc, ``nodes`` = (p, q, a, b, c), in exact arithmetic."""
    p, q, a, b, c = _integers(x[list(nodes)])
    s, t = _exact_sign(a, b, c, p), _exact_sign(a, b, c, q)
    if s * t > 0 or (not touching and s * t == 0):
        return False
    if s == 0 and t == 0:
        return _meet_in_plane(p, q, a, b, c)
    rim = {_exact_sign(p, q, *pair) for pair in ((a, b), (b, c), (c, a))}
    return not {1, -1} <= rim


def _integers(points: Array) -> list[tuple[int, ...]]:
    """Coordinates (5, 3) over their common denominator."""
    exact = [[Fraction(float(c)) for c in point] for point in points]
    scale = max(c.denominator for point in exact for c in point)
    return [tuple(c.numerator * (scale // c.denominator) for c in point) for point in exact]


def _exact_sign(*points: tuple[int, ...]) -> int:
    """The sign of the volume of four points of integers."""
    a, *rest = points
    (ux, uy, uz), (vx, vy, vz), (wx, wy, wz) = ([m - n for m, n in zip(p, a, strict=True)] for p in rest)
    volume = ux * (vy * wz - vz * wy) + uy * (vz * wx - vx * wz) + uz * (vx * wy - vy * wx)
    return (volume > 0) - (volume < 0)


def _meet_in_plane(p, q, a, b, c) -> bool:
    """Whether segment and triangle in one plane share a point: seen along every axis, no line separates them."""
    for drop in range(3):
        keep = [m for m in range(3) if m != drop]
        flat = [tuple(point[m] for m in keep) for point in (p, q, a, b, c)]
        for first, second in ((0, 1), (2, 3), (3, 4), (4, 2)):
            (ox, oy), (dx, dy) = flat[first], flat[second]
            side = [(dx - ox) * (y - oy) - (dy - oy) * (x - ox) for x, y in flat]
            low, high = min(side[2:]), max(side[2:])
            if (low, high) != (0, 0) and (max(side[:2]) < low or min(side[:2]) > high):
                return False
        for m in range(2):  # along the axes: decides for segments on one line with a side
            low, high = min(f[m] for f in flat[2:]), max(f[m] for f in flat[2:])
            if max(flat[0][m], flat[1][m]) < low or min(flat[0][m], flat[1][m]) > high:
                return False
    return True


@njit(cache=True, error_model="numpy")
def _sign(a, b, c, d):
    """The sign of the volume of tet abcd; 0 when rounding might have changed it."""
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    wx, wy, wz = d[0] - a[0], d[1] - a[1], d[2] - a[2]
    volume = ux * (vy * wz - vz * wy) + uy * (vz * wx - vx * wz) + uz * (vx * wy - vy * wx)
    size = abs(ux) * (abs(vy * wz) + abs(vz * wy)) + abs(uy) * (abs(vz * wx) + abs(vx * wz))
    size += abs(uz) * (abs(vx * wy) + abs(vy * wx))
    if abs(volume) <= 1e-15 * size + 1e-290:  # (7 + 56 eps) eps = 7.8e-16, and what underflow can hide
        return 0
    return 1 if volume > 0.0 else -1


@njit(cache=True, error_model="numpy")
def _crosses(p, q, a, b, c):
    """1: segment pq passes through triangle abc for certain; 0: it does not for certain; -1: undecided."""
    s, t = _sign(a, b, c, p), _sign(a, b, c, q)
    if s * t > 0:
        return 0
    u, v, w = _sign(p, q, a, b), _sign(p, q, b, c), _sign(p, q, c, a)
    if min(u, v, w) < 0 and max(u, v, w) > 0:
        return 0
    return 1 if s != 0 and t != 0 and u != 0 and v != 0 and w != 0 else -1


@njit(cache=True, error_model="numpy")
def _judged(x, edges, faces, pairs):
    """What `_crosses` says about every pair; 0 where edge and face share a vertex."""
    out = np.zeros(len(pairs), np.int64)
    for k in range(len(pairs)):
        i, j = edges[pairs[k, 0], 0], edges[pairs[k, 0], 1]
        a, b, c = faces[pairs[k, 1], 0], faces[pairs[k, 1], 1], faces[pairs[k, 1], 2]
        if i not in (a, b, c) and j not in (a, b, c):
            out[k] = _crosses(x[i], x[j], x[a], x[b], x[c])
    return out


@njit(cache=True, error_model="numpy")
def _pierced(x, edges, faces, low, number, reach, axis):
    """Certain and undecided pairs. Triangles come sorted by their lowest coordinate along ``axis``."""
    found, doubtful = [(0, 0)][:0], [(0, 0)][:0]
    for e in range(len(edges)):
        i, j = edges[e, 0], edges[e, 1]
        first = np.searchsorted(low, min(x[i, axis], x[j, axis]) - reach)
        last = np.searchsorted(low, max(x[i, axis], x[j, axis]), side="right")
        for f in range(first, last):
            a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
            if i in (a, b, c) or j in (a, b, c):
                continue
            apart = False
            for m in range(3):
                if max(x[i, m], x[j, m]) < min(x[a, m], x[b, m], x[c, m]):
                    apart = True
                    break
                if min(x[i, m], x[j, m]) > max(x[a, m], x[b, m], x[c, m]):
                    apart = True
                    break
            if apart:
                continue
            answer = _crosses(x[i], x[j], x[a], x[b], x[c])
            if answer > 0:
                found.append((e, number[f]))
            elif answer < 0:
                doubtful.append((e, number[f]))
    return _array(found), _array(doubtful)


@njit(cache=True, error_model="numpy")
def _array(pairs):
    out = np.empty((len(pairs), 2), np.int64)
    for k in range(len(pairs)):
        out[k, 0], out[k, 1] = pairs[k]
    return out

"""Which edges pierce which triangles: an independent check that nothing overlaps, by signs of volumes alone."""

import numpy as np
from numba import njit

from pliant.arrays import Array, IntArray


def intersections(x: Array, edges: IntArray, faces: IntArray) -> IntArray:
    """Pairs (edge, face) that cross, (k, 2); features that share a vertex never count. Positions ``x (n, 3)``."""
    if not len(edges) or not len(faces):
        return np.zeros((0, 2), dtype=np.int64)
    axis = int(np.argmax(np.ptp(x, axis=0)))
    low = x[faces, axis].min(axis=1)
    order = np.argsort(low, kind="stable")
    reach = float((x[faces, axis].max(axis=1) - low).max())
    return _pierced(np.ascontiguousarray(x, dtype=np.float64), edges, faces[order], low[order], order, reach, axis)


# mypy: disable-error-code="no-untyped-def"


@njit(cache=True, error_model="numpy")
def _volume(a, b, c, d):
    """Six times the signed volume of tet abcd."""
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    wx, wy, wz = d[0] - a[0], d[1] - a[1], d[2] - a[2]
    return ux * (vy * wz - vz * wy) + uy * (vz * wx - vx * wz) + uz * (vx * wy - vy * wx)


@njit(cache=True, error_model="numpy")
def _crosses(p, q, a, b, c):
    """Whether segment pq passes through triangle abc: p and q on different sides, and pq inside all three edges.

    Ends that lie in the triangle's plane up to round-off are on neither side: neighbours on a flat face do not cross.
    """
    s, t = _volume(a, b, c, p), _volume(a, b, c, q)
    size = 0.0
    for m in range(3):
        size += abs(b[m] - a[m]) + abs(c[m] - a[m]) + abs(q[m] - p[m]) + abs(p[m] - a[m])
    if abs(s) < 1e-13 * size**3 or abs(t) < 1e-13 * size**3 or (s > 0.0) == (t > 0.0):
        return False
    u, v, w = _volume(p, q, a, b), _volume(p, q, b, c), _volume(p, q, c, a)
    return (u >= 0.0 and v >= 0.0 and w >= 0.0) or (u <= 0.0 and v <= 0.0 and w <= 0.0)


@njit(cache=True, error_model="numpy")
def _pierced(x, edges, faces, low, number, reach, axis):
    """Triangles come sorted by their lowest coordinate along ``axis``; only those within reach of an edge count."""
    found = []
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
            if not apart and _crosses(x[i], x[j], x[a], x[b], x[c]):
                found.append((e, number[f]))
    out = np.empty((len(found), 2), np.int64)
    for k in range(len(found)):
        out[k, 0], out[k, 1] = found[k]
    return out

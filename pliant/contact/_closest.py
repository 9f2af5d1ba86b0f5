"""Closest points on triangles, and points in tetrahedra found through a hashed grid. Compiled; no policy."""

import numpy as np
from numba import njit, prange

# mypy: disable-error-code="no-untyped-def"


@njit(cache=True, error_model="numpy", inline="always")
def _closest(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """Barycentric weights (u, v, w) of the point of triangle abc nearest to p, and its region.

    Region 0: the face; 1, 2, 3: edges bc, ca, ab; 4, 5, 6: corners a, b, c.
    """
    abx, aby, abz = bx - ax, by - ay, bz - az
    acx, acy, acz = cx - ax, cy - ay, cz - az
    apx, apy, apz = px - ax, py - ay, pz - az
    d1 = abx * apx + aby * apy + abz * apz
    d2 = acx * apx + acy * apy + acz * apz
    if d1 <= 0.0 and d2 <= 0.0:
        return 1.0, 0.0, 0.0, 4
    bpx, bpy, bpz = px - bx, py - by, pz - bz
    d3 = abx * bpx + aby * bpy + abz * bpz
    d4 = acx * bpx + acy * bpy + acz * bpz
    if d3 >= 0.0 and d4 <= d3:
        return 0.0, 1.0, 0.0, 5
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        v = d1 / (d1 - d3)
        return 1.0 - v, v, 0.0, 3
    cpx, cpy, cpz = px - cx, py - cy, pz - cz
    d5 = abx * cpx + aby * cpy + abz * cpz
    d6 = acx * cpx + acy * cpy + acz * cpz
    if d6 >= 0.0 and d5 <= d6:
        return 0.0, 0.0, 1.0, 6
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        w = d2 / (d2 - d6)
        return 1.0 - w, 0.0, w, 2
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return 0.0, 1.0 - w, w, 1
    total = va + vb + vc
    return va / total, vb / total, vc / total, 0


@njit(cache=True, error_model="numpy")
def nearest_of_lists(P, X, F, start, lists, choice):
    """For point i the nearest triangle among ``lists[start[choice[i]]:start[choice[i] + 1]]``.

    Returns triangle (p,) (-1: empty list), weights (p, 3), squared distance (p,), region (p,).
    """
    n = len(P)
    triangle, region = np.full(n, -1, np.int64), np.zeros(n, np.int64)
    weights, best = np.zeros((n, 3)), np.full(n, np.inf)
    for i in range(n):
        for k in range(start[choice[i]], start[choice[i] + 1]):
            f = lists[k]
            a, b, c = F[f, 0], F[f, 1], F[f, 2]
            u, v, w, kind = _closest(
                P[i, 0], P[i, 1], P[i, 2],
                X[a, 0], X[a, 1], X[a, 2], X[b, 0], X[b, 1], X[b, 2], X[c, 0], X[c, 1], X[c, 2],
            )  # fmt: skip
            d2 = 0.0
            for m in range(3):
                d = P[i, m] - u * X[a, m] - v * X[b, m] - w * X[c, m]
                d2 += d * d
            if d2 < best[i]:
                best[i], triangle[i], region[i] = d2, f, kind
                weights[i, 0], weights[i, 1], weights[i, 2] = u, v, w
    return triangle, weights, best, region


@njit(cache=True, error_model="numpy", inline="always")
def _hash(i, j, k, mask):
    return ((i * 73856093) ^ (j * 19349663) ^ (k * 83492791)) & mask


@njit(cache=True, error_model="numpy")
def hash_points(P, cell, mask):
    """Points sorted into a hashed grid: for every bucket the range ``start[b]:start[b + 1]`` of ``order``."""
    n = len(P)
    key = np.empty(n, np.int64)
    start = np.zeros(mask + 2, np.int64)
    for i in range(n):
        key[i] = _hash(
            np.int64(np.floor(P[i, 0] / cell)), np.int64(np.floor(P[i, 1] / cell)), np.int64(np.floor(P[i, 2] / cell)),
            mask,
        )  # fmt: skip
        start[key[i] + 1] += 1
    for b in range(mask + 1):
        start[b + 1] += start[b]
    place = start[:-1].copy()
    order = np.empty(n, np.int64)
    for i in range(n):
        order[place[key[i]]] = i
        place[key[i]] += 1
    return start, order


@njit(cache=True, error_model="numpy", parallel=True)
def points_in_tets(x, T, P, vertex, start, order, cell, mask, chunks):
    """Pairs (point, tet) with the point inside a tet that it does not belong to; in order of tets, then of points.

    ``P`` are the points, hashed; ``vertex`` their numbers in x. Tets are cut into ``chunks`` that never share output.
    """
    m = len(T)
    size = (m + chunks - 1) // chunks
    found = np.zeros(chunks, np.int64)
    held = np.zeros(m, np.bool_)
    for count in range(2):  # count, then write
        if count == 1:
            first = np.zeros(chunks + 1, np.int64)
            for c in range(chunks):
                first[c + 1] = first[c] + found[c]
            pairs = np.empty((first[chunks], 2), np.int64)
            weights = np.empty((first[chunks], 4))
        for c in prange(chunks):
            k = 0
            seen = np.empty(64, np.int64)
            w = np.empty(4)
            for e in range(c * size, min(m, (c + 1) * size)):
                if count == 1 and not held[e]:
                    continue
                hits = _visit(x, T, P, vertex, start, order, cell, mask, e, seen, w)
                if count == 1:
                    for s in range(hits):
                        pairs[first[c] + k + s, 0], pairs[first[c] + k + s, 1] = seen[s], e
                        _weights(x, T, e, P[seen[s], 0], P[seen[s], 1], P[seen[s], 2], w)
                        for r in range(4):
                            weights[first[c] + k + s, r] = w[r]
                held[e] = hits > 0
                k += hits
            found[c] = k
    return pairs, weights


@njit(cache=True, error_model="numpy")
def _visit(x, T, P, vertex, start, order, cell, mask, e, seen, w):
    """Points inside tet e, ascending, into ``seen`` (at most 64); returns how many."""
    low, high = np.empty(3), np.empty(3)
    for m in range(3):
        low[m] = min(x[T[e, 0], m], x[T[e, 1], m], x[T[e, 2], m], x[T[e, 3], m])
        high[m] = max(x[T[e, 0], m], x[T[e, 1], m], x[T[e, 2], m], x[T[e, 3], m])
    hits = 0
    for i in range(np.int64(np.floor(low[0] / cell)), np.int64(np.floor(high[0] / cell)) + 1):
        for j in range(np.int64(np.floor(low[1] / cell)), np.int64(np.floor(high[1] / cell)) + 1):
            for k in range(np.int64(np.floor(low[2] / cell)), np.int64(np.floor(high[2] / cell)) + 1):
                b = _hash(i, j, k, mask)
                for s in range(start[b], start[b + 1]):
                    p = order[s]
                    px, py, pz = P[p, 0], P[p, 1], P[p, 2]
                    if px < low[0] or px > high[0] or py < low[1] or py > high[1] or pz < low[2] or pz > high[2]:
                        continue
                    v = vertex[p]
                    if v == T[e, 0] or v == T[e, 1] or v == T[e, 2] or v == T[e, 3]:
                        continue
                    if np.floor(px / cell) != i or np.floor(py / cell) != j or np.floor(pz / cell) != k:
                        continue  # another cell of the same bucket: it has its own turn
                    if _weights(x, T, e, px, py, pz, w) and hits < 64:
                        at = hits
                        while at > 0 and seen[at - 1] > p:
                            seen[at] = seen[at - 1]
                            at -= 1
                        seen[at] = p
                        hits += 1
    return hits


@njit(cache=True, error_model="numpy")
def _weights(x, T, e, px, py, pz, w):
    """Barycentric weights of p in tet e; whether all are >= 0 (a flat tet holds nothing)."""
    a, b, c, d = T[e, 0], T[e, 1], T[e, 2], T[e, 3]
    ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    vx, vy, vz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    tx, ty, tz = x[d, 0] - x[a, 0], x[d, 1] - x[a, 1], x[d, 2] - x[a, 2]
    qx, qy, qz = px - x[a, 0], py - x[a, 1], pz - x[a, 2]
    nx, ny, nz = vy * tz - vz * ty, vz * tx - vx * tz, vx * ty - vy * tx
    det = ux * nx + uy * ny + uz * nz
    if det == 0.0:
        return False
    w[1] = (qx * nx + qy * ny + qz * nz) / det
    w[2] = (ux * (qy * tz - qz * ty) + uy * (qz * tx - qx * tz) + uz * (qx * ty - qy * tx)) / det
    w[3] = (ux * (vy * qz - vz * qy) + uy * (vz * qx - vx * qz) + uz * (vx * qy - vy * qx)) / det
    w[0] = 1.0 - w[1] - w[2] - w[3]
    return w[0] >= 0.0 and w[1] >= 0.0 and w[2] >= 0.0 and w[3] >= 0.0

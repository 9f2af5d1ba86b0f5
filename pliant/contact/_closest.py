"""Closest points on triangles; points in tetrahedra and near triangles through a hashed grid. Compiled; no policy."""

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
def _leaves(p, a, b, c, outward, away):
    """Whether triangle abc is a way out for p: p below its plane, and its normal not along the one p has itself."""
    if outward[0] * away[0] + outward[1] * away[1] + outward[2] * away[2] > 0.0:
        return False
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    return (p[0] - a[0]) * nx + (p[1] - a[1]) * ny + (p[2] - a[2]) * nz <= 0.0


@njit(cache=True, error_model="numpy")
def nearest_of_lists(P, X, F, start, lists, choice, outward, away, inside):
    """For point i the nearest triangle among ``lists[start[choice[i]]:start[choice[i] + 1]]``.

    If points are ``inside``, triangles with the point above their plane, or with a normal ``outward (k, 3)`` along
    ``away (p, 3)``, count only when there is no other. Returns triangle (p,) (-1: empty list), weights (p, 3), squared
    distance (p,), region (p,).
    """
    n = len(P)
    triangle, region = np.full(n, -1, np.int64), np.zeros(n, np.int64)
    weights, best = np.zeros((n, 3)), np.full(n, np.inf)
    for i in range(n):
        fitting = False
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
            fits = not inside or _leaves(P[i], X[a], X[b], X[c], outward[f], away[i])
            if triangle[i] < 0 or (d2 < best[i] if fits == fitting else fits):
                fitting = fits
                best[i], triangle[i], region[i] = d2, f, kind
                weights[i, 0], weights[i, 1], weights[i, 2] = u, v, w
    return triangle, weights, best, region


@njit(cache=True, error_model="numpy")
def normals(x, F):
    """Area normals (k, 3) of the triangles and their sums at the vertices (n, 3)."""
    faces, vertices = np.empty((len(F), 3)), np.zeros((len(x), 3))
    for f in range(len(F)):
        a, b, c = F[f, 0], F[f, 1], F[f, 2]
        ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        vx, vy, vz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
        faces[f, 0], faces[f, 1], faces[f, 2] = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        for r in range(3):
            for m in range(3):
                vertices[F[f, r], m] += faces[f, m]
    return faces, vertices


@njit(cache=True, error_model="numpy", inline="always")
def _hash(i, j, k, mask):
    return ((i * 73856093) ^ (j * 19349663) ^ (k * 83492791)) & mask


@njit(cache=True, error_model="numpy", inline="always")
def _cell(coordinate, scale):
    return np.int64(np.floor(coordinate * scale))


@njit(cache=True, error_model="numpy")
def hash_points(P, vertex, body, scale, mask):
    """`Grid` of the points P (p, 3)."""
    n = len(P)
    key = np.empty(n, np.int64)
    start = np.zeros(mask + 2, np.int64)
    for i in range(n):
        key[i] = _hash(_cell(P[i, 0], scale), _cell(P[i, 1], scale), _cell(P[i, 2], scale), mask)
        start[key[i] + 1] += 1
    for b in range(mask + 1):
        start[b + 1] += start[b]
    place = start[:-1].copy()
    order, points = np.empty(n, np.int64), np.empty((n, 3))
    number, whose = np.empty(n, np.int64), np.empty(n, np.int64)
    owner = np.full(mask + 1, -2, np.int64)
    for i in range(n):
        b, s = key[i], place[key[i]]
        place[b] += 1
        order[s], number[s], whose[s] = i, vertex[i], body[i]
        owner[b] = body[i] if owner[b] in (-2, body[i]) else -1
        for m in range(3):
            points[s, m] = P[i, m]
    return points, order, number, whose, start, owner, scale, mask


@njit(cache=True, error_model="numpy", parallel=True)
def points_in_tets(x, T, tet_body, grid, apart, chunks):
    """Pairs (point, tet) and weights (c, 4): points inside tets that they do not belong to, in order of tets.

    ``apart`` leaves out points of the tet's own body. Tets are cut into ``chunks`` that never share output.
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
            w, box = np.empty(4), np.empty((2, 3))
            for e in range(c * size, min(m, (c + 1) * size)):
                if count == 1 and not held[e]:
                    continue
                hits = _visit(x, T, tet_body[e] if apart else -3, grid, e, seen, w, box)
                if count == 1:
                    for s in range(hits):
                        p = seen[s]
                        pairs[first[c] + k + s, 0], pairs[first[c] + k + s, 1] = grid.order[p], e
                        _weights(x, T, e, grid.points[p, 0], grid.points[p, 1], grid.points[p, 2], w)
                        for r in range(4):
                            weights[first[c] + k + s, r] = w[r]
                held[e] = hits > 0
                k += hits
            found[c] = k
    return pairs, weights


@njit(cache=True, error_model="numpy", inline="always")
def _within(grid, s, box, i, j, k):
    """Whether point s is in the box and really in cell (i, j, k): another cell of the bucket has its own turn."""
    px, py, pz = grid.points[s, 0], grid.points[s, 1], grid.points[s, 2]
    if px < box[0, 0] or px > box[1, 0] or py < box[0, 1] or py > box[1, 1] or pz < box[0, 2] or pz > box[1, 2]:
        return False
    return _cell(px, grid.scale) == i and _cell(py, grid.scale) == j and _cell(pz, grid.scale) == k


@njit(cache=True, error_model="numpy")
def _visit(x, T, body, grid, e, seen, w, box):
    """Points inside tet e into ``seen`` (as many as it holds), those of ``body`` left out; returns how many."""
    for m in range(3):
        box[0, m] = min(x[T[e, 0], m], x[T[e, 1], m], x[T[e, 2], m], x[T[e, 3], m])
        box[1, m] = max(x[T[e, 0], m], x[T[e, 1], m], x[T[e, 2], m], x[T[e, 3], m])
    hits = 0
    for i in range(_cell(box[0, 0], grid.scale), _cell(box[1, 0], grid.scale) + 1):
        for j in range(_cell(box[0, 1], grid.scale), _cell(box[1, 1], grid.scale) + 1):
            for k in range(_cell(box[0, 2], grid.scale), _cell(box[1, 2], grid.scale) + 1):
                b = _hash(i, j, k, grid.mask)
                if grid.owner[b] == body or grid.owner[b] == -2:
                    continue
                for s in range(grid.start[b], grid.start[b + 1]):
                    v = grid.vertex[s]
                    if grid.body[s] == body or v == T[e, 0] or v == T[e, 1] or v == T[e, 2] or v == T[e, 3]:
                        continue
                    if not _within(grid, s, box, i, j, k):
                        continue
                    px, py, pz = grid.points[s, 0], grid.points[s, 1], grid.points[s, 2]
                    if hits < len(seen) and _weights(x, T, e, px, py, pz, w):
                        seen[hits] = s
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


@njit(cache=True, error_model="numpy", parallel=True)
def points_near_triangles(x, sides, grid, apart, reach, chunks):
    """Pairs (point, triangle) and weights (c, 3): points straight above a triangle, within reach.

    Of triangles with one side only vertices that face them (their own normal against N) count. ``apart`` leaves out
    points of the triangle's own body.
    """
    m = len(sides.F)
    size = (m + chunks - 1) // chunks
    found = np.zeros(chunks, np.int64)
    held = np.zeros(m, np.bool_)
    for count in range(2):  # count, then write
        if count == 1:
            first = np.zeros(chunks + 1, np.int64)
            for c in range(chunks):
                first[c + 1] = first[c] + found[c]
            pairs = np.empty((first[chunks], 2), np.int64)
            weights = np.empty((first[chunks], 3))
        for c in prange(chunks):
            k = 0
            seen, box = np.empty(256, np.int64), np.empty((2, 3))
            for f in range(c * size, min(m, (c + 1) * size)):
                if count == 1 and not held[f]:
                    continue
                hits = _above(x, sides, sides.body[f] if apart else -3, grid, reach, f, seen, box)
                if count == 1:
                    for s in range(hits):
                        pairs[first[c] + k + s, 0], pairs[first[c] + k + s, 1] = grid.order[seen[s]], f
                        u, v, w, _ = _closest_of(x, sides.F, f, grid.points, seen[s])
                        weights[first[c] + k + s, 0] = u
                        weights[first[c] + k + s, 1] = v
                        weights[first[c] + k + s, 2] = w
                held[f] = hits > 0
                k += hits
            found[c] = k
    return pairs, weights


@njit(cache=True, error_model="numpy", inline="always")
def _closest_of(x, F, f, P, p):
    a, b, c = F[f, 0], F[f, 1], F[f, 2]
    return _closest(
        P[p, 0], P[p, 1], P[p, 2],
        x[a, 0], x[a, 1], x[a, 2], x[b, 0], x[b, 1], x[b, 2], x[c, 0], x[c, 1], x[c, 2],
    )  # fmt: skip


@njit(cache=True, error_model="numpy")
def _above(x, sides, body, grid, reach, f, seen, box):
    """Points straight above triangle f into ``seen`` (as many as it holds), those of ``body`` left out; how many."""
    F = sides.F
    for m in range(3):
        box[0, m] = min(x[F[f, 0], m], x[F[f, 1], m], x[F[f, 2], m]) - reach
        box[1, m] = max(x[F[f, 0], m], x[F[f, 1], m], x[F[f, 2], m]) + reach
    hits = 0
    for i in range(_cell(box[0, 0], grid.scale), _cell(box[1, 0], grid.scale) + 1):
        for j in range(_cell(box[0, 1], grid.scale), _cell(box[1, 1], grid.scale) + 1):
            for k in range(_cell(box[0, 2], grid.scale), _cell(box[1, 2], grid.scale) + 1):
                b = _hash(i, j, k, grid.mask)
                if grid.owner[b] == body or grid.owner[b] == -2:
                    continue
                for s in range(grid.start[b], grid.start[b + 1]):
                    v = grid.vertex[s]
                    if grid.body[s] == body or v == F[f, 0] or v == F[f, 1] or v == F[f, 2]:
                        continue
                    if not _within(grid, s, box, i, j, k):
                        continue
                    if hits < len(seen) and _faces(x, sides, sides.own[v], grid.points, reach, f, s):
                        seen[hits] = s
                        hits += 1
    return hits


@njit(cache=True, error_model="numpy")
def _faces(x, sides, own, P, reach, f, p):
    """Whether p is within reach of triangle f, on its free side, and straight above it (up to 8 degrees)."""
    F, N, one_sided = sides.F, sides.N, f < sides.solids
    against, area = 0.0, 0.0
    for m in range(3):
        against += own[m] * N[f, m]
        area += N[f, m] * N[f, m]
    if area == 0.0 or (one_sided and against > 0.0):
        return False
    u, v, w, _ = _closest_of(x, F, f, P, p)
    d2, along = 0.0, 0.0
    for m in range(3):
        d = P[p, m] - u * x[F[f, 0], m] - v * x[F[f, 1], m] - w * x[F[f, 2], m]
        d2 += d * d
        along += d * N[f, m]
    if d2 > reach * reach or (one_sided and along < 0.0):
        return False
    return along * along >= 0.98 * d2 * area

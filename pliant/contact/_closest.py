"""Closest points on triangles; points in tetrahedra and near triangles through a hashed grid. Compiled; no policy.

Points and vectors are tuples of three numbers, which cost nothing once compiled.
"""

from math import floor, sqrt

import numpy as np
from numba import njit, prange

# mypy: disable-error-code="no-untyped-def"

PIECES = 32  # of all elements, each looked through by one thread
FEW = 4096  # elements: a pass over them takes less than threads take to start
LEVEL = 1e-18  # square of a height above a triangle, in its size: what counts as on it
ROOM = 4  # candidates per element that a piece has room for at first


@njit(cache=True, error_model="numpy", inline="always")
def _at(x, i):
    return x[i, 0], x[i, 1], x[i, 2]


@njit(cache=True, error_model="numpy", inline="always")
def _minus(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@njit(cache=True, error_model="numpy", inline="always")
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(cache=True, error_model="numpy", inline="always")
def _cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@njit(cache=True, error_model="numpy", inline="always")
def _corners(x, F, f):
    return _at(x, F[f, 0]), _at(x, F[f, 1]), _at(x, F[f, 2])


# ------------------------------------------------------------------------------------------------ closest points


@njit(cache=True, error_model="numpy")
def _closest(p, a, b, c):
    """Barycentric weights (u, v, w) of the point of triangle abc nearest to p, and its region.

    Region 0: the face; 1, 2, 3: edges bc, ca, ab; 4, 5, 6: corners a, b, c.
    """
    ab, ac = _minus(b, a), _minus(c, a)
    ap = _minus(p, a)
    d1, d2 = _dot(ab, ap), _dot(ac, ap)
    if d1 <= 0.0 and d2 <= 0.0:
        return (1.0, 0.0, 0.0), 4
    bp = _minus(p, b)
    d3, d4 = _dot(ab, bp), _dot(ac, bp)
    if d3 >= 0.0 and d4 <= d3:
        return (0.0, 1.0, 0.0), 5
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        v = d1 / (d1 - d3)
        return (1.0 - v, v, 0.0), 3
    cp = _minus(p, c)
    d5, d6 = _dot(ab, cp), _dot(ac, cp)
    if d6 >= 0.0 and d5 <= d6:
        return (0.0, 0.0, 1.0), 6
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        w = d2 / (d2 - d6)
        return (1.0 - w, 0.0, w), 2
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return (0.0, 1.0 - w, w), 1
    total = va + vb + vc
    return (va / total, vb / total, vc / total), 0


@njit(cache=True, error_model="numpy", inline="always")
def _from(p, a, b, c, w):
    """The vector to p from the point of triangle abc with weights w."""
    return (
        p[0] - w[0] * a[0] - w[1] * b[0] - w[2] * c[0],
        p[1] - w[0] * a[1] - w[1] * b[1] - w[2] * c[1],
        p[2] - w[0] * a[2] - w[1] * b[2] - w[2] * c[2],
    )


@njit(cache=True, error_model="numpy")
def _nearest(p, X, F, flat, begin, end, ways, outward, away):
    """The nearest of the triangles flat[begin:end] to p (-1: there is none), weights, squared distance, region.

    With ``ways`` p is inside, and triangles with p above their plane, by more than round-off, or with a normal
    ``outward`` along p's own, ``away``, count only when there is no other.
    """
    triangle, region, weights, best, fitting = -1, 0, (0.0, 0.0, 0.0), np.inf, False
    for k in range(begin, end):
        f = flat[k]
        a, b, c = _corners(X, F, f)
        w, kind = _closest(p, a, b, c)
        d = _from(p, a, b, c, w)
        d2 = _dot(d, d)
        fits = True
        if ways:
            n = _cross(_minus(b, a), _minus(c, a))
            up, nn = _dot(_minus(p, a), n), _dot(n, n)
            below = up <= 0.0 or up * up <= LEVEL * nn * sqrt(nn)  # up is the height times |n|, |n| an area
            fits = below and _dot(_at(outward, f), away) <= 0.0
        if triangle < 0 or (d2 < best if fits == fitting else fits):
            triangle, region, weights, best, fitting = f, kind, w, d2, fits
    return triangle, weights, best, region


@njit(cache=True, error_model="numpy")
def nearest_of_lists(P, X, F, lists, choice, ways):
    """For point i the nearest triangle among list ``choice[i]`` of `Lists`; with `Ways` (else None) points are inside.

    Returns triangle (p,) (-1: empty list), weights (p, 3), squared distance (p,), region (p,).
    """
    n = len(P)
    triangle, region = np.full(n, -1, np.int64), np.zeros(n, np.int64)
    weights, best = np.zeros((n, 3)), np.full(n, np.inf)
    for i in range(n):
        p, begin, end = _at(P, i), lists.start[choice[i]], lists.start[choice[i] + 1]
        if ways is None:
            found = _nearest(p, X, F, lists.flat, begin, end, False, X, p)
        else:
            found = _nearest(p, X, F, lists.flat, begin, end, True, ways.outward, _at(ways.away, i))
        triangle[i], w, best[i], region[i] = found
        weights[i, 0], weights[i, 1], weights[i, 2] = w
    return triangle, weights, best, region


@njit(cache=True, error_model="numpy")
def normals(x, F):
    """Area normals (k, 3) of the triangles and their sums at the vertices (n, 3)."""
    faces, vertices = np.empty((len(F), 3)), np.zeros((len(x), 3))
    for f in range(len(F)):
        a, b, c = _corners(x, F, f)
        faces[f, 0], faces[f, 1], faces[f, 2] = _cross(_minus(b, a), _minus(c, a))
        for r in range(3):
            for m in range(3):
                vertices[F[f, r], m] += faces[f, m]
    return faces, vertices


# ------------------------------------------------------------------------------------------------ broad phase


@njit(cache=True, error_model="numpy", inline="always")
def _hash(i, j, k, mask):
    return ((i * 73856093) ^ (j * 19349663) ^ (k * 83492791)) & mask


@njit(cache=True, error_model="numpy", inline="always")
def _cell(p, scale):
    return np.int64(floor(p[0] * scale)), np.int64(floor(p[1] * scale)), np.int64(floor(p[2] * scale))


@njit(cache=True, error_model="numpy")
def hash_points(P, vertex, body, scale, mask):
    """`Grid` of the points P (p, 3)."""
    n = len(P)
    key = np.empty(n, np.int64)
    start = np.zeros(mask + 2, np.int64)
    for i in range(n):
        a, b, c = _cell(_at(P, i), scale)
        key[i] = _hash(a, b, c, mask)
        start[key[i] + 1] += 1
    for b in range(mask + 1):
        start[b + 1] += start[b]
    place = start[:-1].copy()
    points, number, whose = np.empty((n, 3)), np.empty(n, np.int64), np.empty(n, np.int64)
    owner = np.full(mask + 1, -2, np.int64)
    for i in range(n):
        b, s = key[i], place[key[i]]
        place[b] += 1
        number[s], whose[s] = vertex[i], body[i]
        owner[b] = body[i] if owner[b] in (-2, body[i]) else -1
        for m in range(3):
            points[s, m] = P[i, m]
    return points, number, whose, start, owner, scale, mask


def candidates(x, elements, shunned, grid, reach):
    """`all_candidates`, where a few elements are not worth waking threads for."""
    return (few_candidates if len(elements) < FEW else all_candidates)(x, elements, shunned, grid, reach)


@njit(cache=True, error_model="numpy")
def few_candidates(x, elements, shunned, grid, reach):
    """The same on one thread."""
    m = len(elements)
    found = np.empty((ROOM * m, 2), np.int64)
    count = _near_boxes(x, elements, shunned, grid, reach, 0, m, found)
    if count > len(found):  # once more, with room for all
        found = np.empty((count, 2), np.int64)
        _near_boxes(x, elements, shunned, grid, reach, 0, m, found)
    return found[:count, 0].copy(), found[:count, 1].copy()


@njit(cache=True, error_model="numpy", parallel=True)
def all_candidates(x, elements, shunned, grid, reach):
    """Slots of the grid (c,) and elements (c,): points within ``reach`` of the box of an element, in its order.

    Corners of the element and points of the body ``shunned[e]`` are left out. Each element has a place of its own in
    the result, so any number of threads gives the same.
    """
    m = len(elements)
    pieces = min(PIECES, m)
    first, found = np.zeros(pieces + 1, np.int64), np.empty((ROOM * m, 2), np.int64)
    for p in prange(pieces):
        begin, end = p * m // pieces, (p + 1) * m // pieces
        first[p + 1] = _near_boxes(x, elements, shunned, grid, reach, begin, end, found[ROOM * begin : ROOM * end])
    for p in range(pieces):
        first[p + 1] += first[p]
    slot, element = np.empty(first[pieces], np.int64), np.empty(first[pieces], np.int64)
    for p in prange(pieces):
        begin, end, count = p * m // pieces, (p + 1) * m // pieces, first[p + 1] - first[p]
        out = found[ROOM * begin : ROOM * end]
        if count > len(out):  # once more, with room for all
            out = np.empty((count, 2), np.int64)
            _near_boxes(x, elements, shunned, grid, reach, begin, end, out)
        for i in range(count):
            slot[first[p] + i], element[first[p] + i] = out[i, 0], out[i, 1]
    return slot, element


@njit(cache=True, error_model="numpy")
def _near_boxes(x, elements, shunned, grid, reach, begin, end, out):
    """The candidates of elements begin:end, as (slot, element) rows of ``out`` as far as they fit; how many."""
    count = 0
    for e in range(begin, end):
        count = _near_box(x, elements[e], shunned[e], grid, reach, e, count, out)
    return count


@njit(cache=True, error_model="numpy", inline="always")
def _box(x, corners, reach):
    low, high = _at(x, corners[0]), _at(x, corners[0])
    for r in range(1, len(corners)):
        p = _at(x, corners[r])
        low = min(low[0], p[0]), min(low[1], p[1]), min(low[2], p[2])
        high = max(high[0], p[0]), max(high[1], p[1]), max(high[2], p[2])
    return (low[0] - reach, low[1] - reach, low[2] - reach), (high[0] + reach, high[1] + reach, high[2] + reach)


@njit(cache=True, error_model="numpy", inline="always")
def _within(p, low, high):
    if p[0] < low[0] or p[0] > high[0] or p[1] < low[1] or p[1] > high[1]:
        return False
    return p[2] >= low[2] and p[2] <= high[2]


@njit(cache=True, error_model="numpy", inline="always")
def _meets(grid, s, corners, body, low, high):
    """Whether the point in slot s is in the box and neither of the body nor a corner of the element."""
    if grid.body[s] == body or not _within(_at(grid.points, s), low, high):
        return False
    own = False
    for r in range(len(corners)):
        own |= grid.vertex[s] == corners[r]
    return not own


@njit(cache=True, error_model="numpy")
def _near_box(x, corners, body, grid, reach, e, count, out):
    """The candidates of element e, written to ``out`` from row ``count`` as far as they fit; the new count."""
    low, high = _box(x, corners, reach)
    wide = _minus(high, low)
    cells = (wide[0] * grid.scale + 1.0) * (wide[1] * grid.scale + 1.0) * (wide[2] * grid.scale + 1.0)
    if not cells <= len(grid.points):  # fewer points than cells, as where a body has exploded
        for s in range(len(grid.points)):
            if _meets(grid, s, corners, body, low, high):
                if count < len(out):
                    out[count, 0], out[count, 1] = s, e
                count += 1
        return count
    (i0, j0, k0), (i1, j1, k1) = _cell(low, grid.scale), _cell(high, grid.scale)
    for i in range(i0, i1 + 1):
        for j in range(j0, j1 + 1):
            for k in range(k0, k1 + 1):
                b = _hash(i, j, k, grid.mask)
                if grid.owner[b] == body or grid.owner[b] == -2:
                    continue
                for s in range(grid.start[b], grid.start[b + 1]):
                    if not _meets(grid, s, corners, body, low, high):
                        continue
                    if _cell(_at(grid.points, s), grid.scale) == (i, j, k):  # another cell of the bucket has its turn
                        if count < len(out):
                            out[count, 0], out[count, 1] = s, e
                        count += 1
    return count


# ------------------------------------------------------------------------------------------------ narrow phase


@njit(cache=True, error_model="numpy")
def _in_tet(p, a, b, c, d):
    """Whether p is inside tet abcd, and its barycentric weights; a flat tet holds nothing."""
    u, v, t, q = _minus(b, a), _minus(c, a), _minus(d, a), _minus(p, a)
    over = _cross(v, t)
    det = _dot(u, over)
    if det == 0.0:
        return False, (0.0, 0.0, 0.0, 0.0)
    w1, w2, w3 = _dot(q, over) / det, _dot(u, _cross(q, t)) / det, _dot(u, _cross(v, q)) / det
    w0 = 1.0 - w1 - w2 - w3
    return w0 >= 0.0 and w1 >= 0.0 and w2 >= 0.0 and w3 >= 0.0, (w0, w1, w2, w3)


@njit(cache=True, error_model="numpy")
def inside_tets(x, T, P, point, tet):
    """Whether point[i] of P is inside tet[i] (c,), and its barycentric weights (c, 4)."""
    n = len(point)
    inside, weights = np.zeros(n, np.bool_), np.zeros((n, 4))
    for i in range(n):
        e = tet[i]
        a, b, c, d = _at(x, T[e, 0]), _at(x, T[e, 1]), _at(x, T[e, 2]), _at(x, T[e, 3])
        inside[i], w = _in_tet(_at(P, point[i]), a, b, c, d)
        weights[i, 0], weights[i, 1], weights[i, 2], weights[i, 3] = w
    return inside, weights


@njit(cache=True, error_model="numpy")
def _above(p, own, a, b, c, N, one_sided, reach):
    """Whether p is straight above triangle abc (up to 8 degrees) and within ``reach``, the weights, the way from there.

    Of triangles with one side only vertices that face them (their ``own`` normal against N) count.
    """
    area = _dot(N, N)
    if area == 0.0 or (one_sided and _dot(own, N) > 0.0):
        return False, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    w, _ = _closest(p, a, b, c)
    d = _from(p, a, b, c, w)
    d2, along = _dot(d, d), _dot(d, N)
    near = d2 <= reach * reach and not (one_sided and along < 0.0)
    return near and along * along >= 0.98 * d2 * area, w, d


@njit(cache=True, error_model="numpy")
def above_triangles(x, sides, reach, vertex, triangle):
    """Whether vertex[i] is straight above triangle[i] (c,), and weights (c, 3) of the nearest point; see `_above`."""
    n = len(vertex)
    above, weights = np.zeros(n, np.bool_), np.zeros((n, 3))
    for i in range(n):
        f, v = triangle[i], vertex[i]
        a, b, c = _corners(x, sides.F, f)
        own, N = _at(sides.own, v), _at(sides.N, f)
        above[i], w, _ = _above(_at(x, v), own, a, b, c, N, f < sides.solids, reach)
        weights[i, 0], weights[i, 1], weights[i, 2] = w
    return above, weights

# mypy: ignore-errors
"""Sweeps of the remesher over a mesh under edit; every sweep is deterministic and keeps all faces counter-clockwise.

``table`` = (number of edge features, edges of each corner feature (c, d) padded with -1) tells which features connect.
"""

import numpy as np
from numba import njit

from pliant.cloth._topology import (
    BORDER,
    FIXED,
    RING,
    area,
    collapse,
    corner,
    distance,
    find_edge,
    flip,
    link_ok,
    ring,
    room,
)
from pliant.cloth._topology import split_edge as cut

STRAIN = 0.01  # no flip and no merge stores more than this strain would


@njit(cache=True)
def shared_edge(a, b, edges, corner_edges):
    """The edge feature that the features a and b have in common, or -1; two corners share none."""
    if a < 0 or b < 0:
        return -1
    if a < edges and b < edges:
        return a if a == b else -1
    if a >= edges and b >= edges:
        return -1
    e, c = (a, b - edges) if a < edges else (b, a - edges)
    for i in range(corner_edges.shape[1]):
        if corner_edges[c, i] == e:
            return e
    return -1


@njit(cache=True)
def metric(m, a, b):
    """Squared length of the material edge a-b in the mean of its end tensors; an edge is too long above 1."""
    u, w = m.X[b, 0] - m.X[a, 0], m.X[b, 1] - m.X[a, 1]
    s0, s1, s2 = m.S[a, 0] + m.S[b, 0], m.S[a, 1] + m.S[b, 1], m.S[a, 2] + m.S[b, 2]
    return 0.5 * (s0 * u * u + 2.0 * s1 * u * w + s2 * w * w)


@njit(cache=True)
def corner_product(m, S, c, a, b):
    """(a - c)^T S (b - c) in the material; S = (xx, xy, yy)."""
    p0, p1 = m.X[a, 0] - m.X[c, 0], m.X[a, 1] - m.X[c, 1]
    q0, q1 = m.X[b, 0] - m.X[c, 0], m.X[b, 1] - m.X[c, 1]
    return S[0] * p0 * q0 + S[1] * (p0 * q1 + p1 * q0) + S[2] * p1 * q1


@njit(cache=True)
def dihedral_cosine(x, a, b, c, d):
    e, p, q = x[b] - x[a], x[c] - x[a], x[d] - x[a]
    n = np.cross(e, p)
    k = np.cross(q, e)
    return np.dot(n, k) / (np.sqrt(np.dot(n, n) * np.dot(k, k)) + 1e-300)


@njit(cache=True)
def stored(m, a, b, c):
    """A |F^T F - 1|^2 / 8 of the face a, b, c: its membrane energy by E / 1, for small strains and nu = 0 [m^2]."""
    e0, e1 = m.X[b, 0] - m.X[a, 0], m.X[b, 1] - m.X[a, 1]
    g0, g1 = m.X[c, 0] - m.X[a, 0], m.X[c, 1] - m.X[a, 1]
    det = e0 * g1 - e1 * g0
    if det == 0.0:
        return 0.0
    uu, uw, ww = 0.0, 0.0, 0.0
    for i in range(3):
        p, q = m.x[b, i] - m.x[a, i], m.x[c, i] - m.x[a, i]
        f0, f1 = (p * g1 - q * e1) / det, (q * e0 - p * g0) / det
        uu += f0 * f0
        uw += f0 * f1
        ww += f1 * f1
    return 0.0625 * abs(det) * ((uu - 1.0) ** 2 + 2.0 * uw * uw + (ww - 1.0) ** 2)


@njit(cache=True)
def depth_at(m, p0, p1, p2, deepest):
    """How deep [m] a point is in convex bodies, or ``deepest`` where it is no deeper than that."""
    for k in range(len(m.start) - 1):
        gap = -np.inf
        for j in range(m.start[k], m.start[k + 1]):
            gap = max(gap, m.planes[j, 0] * p0 + m.planes[j, 1] * p1 + m.planes[j, 2] * p2 - m.planes[j, 3])
            if gap >= -deepest:
                break
        deepest = max(deepest, -gap)
    return deepest


@njit(cache=True)
def depth_over(m, a, b, c):
    """How deep [m] the face a, b, c is in convex bodies, at the points that split it in 16 but its corners; 0 outside.

    A corner of a body may be deep in a face whose edges pass it by.
    """
    deepest = 0.0
    for i in range(5):
        for j in range(5 - i):
            k = 4 - i - j
            if max(i, j, k) < 4:
                p0, p1, p2 = 0.25 * (i * m.x[a] + j * m.x[b] + k * m.x[c])
                deepest = depth_at(m, p0, p1, p2, deepest)
    return deepest


@njit(cache=True)
def should_flip(m, f, k, edges, corner_edges):
    """Delaunay in the mean metric, as long as the flip keeps faces upright and does not cross a crease."""
    g = m.N[f, k]
    if g < 0:
        return False
    c, a, b = m.F[f, k], m.F[f, (k + 1) % 3], m.F[f, (k + 2) % 3]
    if shared_edge(m.feature[a], m.feature[b], edges, corner_edges) >= 0:
        return False
    d = m.F[g, 0] + m.F[g, 1] + m.F[g, 2] - a - b
    X = m.X
    A0, A1 = area(X, c, a, b), area(X, d, b, a)
    if min(area(X, c, a, d), area(X, d, b, c)) <= 1e-3 * (A0 + A1):
        return False
    S = (
        0.25 * (m.S[a, 0] + m.S[b, 0] + m.S[c, 0] + m.S[d, 0]),
        0.25 * (m.S[a, 1] + m.S[b, 1] + m.S[c, 1] + m.S[d, 1]),
        0.25 * (m.S[a, 2] + m.S[b, 2] + m.S[c, 2] + m.S[d, 2]),
    )
    left = A1 * corner_product(m, S, c, a, b)
    right = A0 * corner_product(m, S, d, b, a)
    if left + right >= -0.01 * (A0 + A1):
        return False
    if dihedral_cosine(m.x, a, b, c, d) <= 0.766:  # 40 degrees: a sharper fold keeps its edge
        return False
    change = stored(m, c, a, d) + stored(m, d, b, c) - stored(m, c, a, b) - stored(m, d, b, a)
    if change > 0.5 * STRAIN**2 * (A0 + A1):
        return False
    deep = max(depth_over(m, c, a, d), depth_over(m, d, b, c))
    return deep <= m.sunk or deep <= max(depth_over(m, c, a, b), depth_over(m, d, b, a))


@njit(cache=True)
def flips(m, edges, corner_edges):
    """Flip until Delaunay, at most ten rounds, each over the faces next to flips; the number of flips."""
    total = 0
    stale = np.ones(m.count[1], dtype=np.bool_)
    for _ in range(10):
        done = 0
        for f in range(m.count[1]):
            if not stale[f] or m.F[f, 0] < 0:
                continue
            stale[f] = False
            for k in range(3):
                g = m.N[f, k]
                if g > f and should_flip(m, f, k, edges, corner_edges):
                    flip(m, f, k)
                    done += 1
                    for changed in (f, g):
                        stale[changed] = True
                        for j in range(3):
                            if m.N[changed, j] >= 0:
                                stale[m.N[changed, j]] = True
        total += done
        if done == 0:
            break
    return total


@njit(cache=True)
def flips_around(m, v, edges, corner_edges):
    """Flip the edges opposite to v and at v after an insertion."""
    faces = np.empty(RING, dtype=np.int64)
    for _ in range(3):
        n = ring(m, v, faces)
        done = 0
        for i in range(n):
            f = faces[i]
            k = corner(m.F, f, v)
            if m.F[f, k] == v and should_flip(m, f, k, edges, corner_edges):
                flip(m, f, k)
                done += 1
        if done == 0:
            break


@njit(cache=True)
def split_at(m, f, k, s, edges, corner_edges):
    """Split an edge; the new vertex lies on the feature that both ends share."""
    a, b = m.F[f, (k + 1) % 3], m.F[f, (k + 2) % 3]
    e = shared_edge(m.feature[a], m.feature[b], edges, corner_edges)
    v = cut(m, f, k, s, (1.0 - s) * m.x[a] + s * m.x[b])
    m.feature[v] = e
    return v


@njit(cache=True)
def splits(m, edges, corner_edges):
    """Split the edges that are too long, longest first; returns the number of splits, or -1 - n when room ran out."""
    total = 0
    for _ in range(30):
        heads = np.empty(3 * m.count[1], dtype=np.int64)
        lengths = np.empty(3 * m.count[1])
        n = 0
        for f in range(m.count[1]):
            if m.F[f, 0] < 0:
                continue
            for k in range(3):
                if m.N[f, k] < f:
                    s = metric(m, m.F[f, (k + 1) % 3], m.F[f, (k + 2) % 3])
                    if s > 1.0:
                        heads[n] = 3 * f + k
                        lengths[n] = -s
                        n += 1
        if n == 0:
            break
        order = np.argsort(lengths[:n], kind="mergesort")
        ends = np.empty((n, 2), dtype=np.int64)
        for i in range(n):
            h = heads[order[i]]
            ends[i, 0], ends[i, 1] = m.F[h // 3, (h % 3 + 1) % 3], m.F[h // 3, (h % 3 + 2) % 3]
        for i in range(n):
            f, k = find_edge(m, ends[i, 0], ends[i, 1])
            if f < 0:
                continue  # a flip took it away
            if not room(m):
                return -1 - total
            v = split_at(m, f, k, 0.5, edges, corner_edges)
            total += 1
            flips_around(m, v, edges, corner_edges)
    return total


@njit(cache=True)
def may_merge(m, a, b, border_edge, edges, corner_edges):
    """Whether the rules of border and features let a disappear into b."""
    if m.flags[a] & FIXED:
        return False
    if m.flags[a] & BORDER and not border_edge:
        return False
    if m.feature[a] >= 0:
        return m.feature[a] < edges and shared_edge(m.feature[a], m.feature[b], edges, corner_edges) >= 0
    return True


@njit(cache=True)
def merged_quality(m, a, b, faces, n, limit):
    """Of the faces that merging a into b leaves: smallest area, whether it shrank, aspect, longest metric edge.

    The aspect counts as 1 when no worse than that of the faces there now. Stops at the first edge above ``limit``.
    """
    smallest, shrank, worst, longest = np.inf, False, np.inf, 0.0
    present = np.inf
    for i in range(n):  # lengths first: most merges fail here
        f = faces[i]
        v = m.F[f, (corner(m.F, f, a) + 1) % 3]
        if v != b:
            longest = max(longest, metric(m, b, v))
            if longest > limit:
                return smallest, shrank, worst, longest
    for i in range(n):
        f = faces[i]
        k = corner(m.F, f, a)
        p, q = m.F[f, (k + 1) % 3], m.F[f, (k + 2) % 3]
        present = min(present, aspect(m.X, a, p, q))
        if p == b or q == b:
            continue
        longest = max(longest, metric(m, b, q))  # the last of a border vertex
        if longest > limit:
            break
        A = area(m.X, b, p, q)
        if smallest > A:
            smallest = A
            shrank = area(m.X, a, p, q) > A
        worst = min(worst, aspect(m.X, b, p, q))
    return smallest, shrank, 1.0 if worst >= present else worst, longest


@njit(cache=True)
def strains(m, a, b, faces, n):
    """Whether merging a into b would strain the cloth: a wrinkle pressed flat stores what bending it did not."""
    change, A = 0.0, 0.0
    for i in range(n):
        f = faces[i]
        k = corner(m.F, f, a)
        p, q = m.F[f, (k + 1) % 3], m.F[f, (k + 2) % 3]
        A += area(m.X, a, p, q)
        change -= stored(m, a, p, q)
        if p != b and q != b:
            change += stored(m, b, p, q)
    return change > 0.5 * STRAIN**2 * A


@njit(cache=True)
def sinks(m, a, b, faces, n):
    """Whether merging a into b would put faces deeper into a body than those at a are."""
    old, new = m.sunk, 0.0
    for i in range(n):
        f = faces[i]
        k = corner(m.F, f, a)
        p, q = m.F[f, (k + 1) % 3], m.F[f, (k + 2) % 3]
        old = max(old, depth_over(m, a, p, q))
        if p != b and q != b:
            new = max(new, depth_over(m, b, p, q))
    return new > old


@njit(cache=True)
def aspect(X, a, b, c):
    """12 sqrt(3) area / perimeter^2: 1 for an equilateral face, 0 for a needle."""
    P = distance(X, a, b) + distance(X, b, c) + distance(X, c, a)
    if P == 0.0:
        return 0.0
    return 20.784609690826528 * area(X, a, b, c) / (P * P)


@njit(cache=True)
def border_edge(m, a, b):
    f, k = find_edge(m, a, b)
    return m.N[f, k] < 0


@njit(cache=True)
def collapses(m, size_min, aspect_min, edges, corner_edges):
    """Merge vertices whose removal leaves no edge above 0.9, no crumb and no needle; the number of merges.

    At most three rounds, each over the vertices next to merges.
    """
    total = 0
    faces = np.empty(RING, dtype=np.int64)
    stale = np.ones(m.count[0], dtype=np.bool_)
    for _ in range(3):
        done = 0
        for a in range(m.count[0]):
            if not stale[a] or m.VF[a] < 0 or m.flags[a] & FIXED:
                continue
            stale[a] = False
            n = ring(m, a, faces)
            best, target = 0.64, -1
            for i in range(n):
                f = faces[i]
                k = corner(m.F, f, a)
                for j in (1, 2):
                    if j == 2 and m.N[f, (k + 1) % 3] >= 0:
                        continue  # the next face of the ring has this neighbour, too
                    b = m.F[f, (k + j) % 3]
                    s = metric(m, a, b)
                    if s >= best:
                        continue
                    outer = m.N[f, (k + 3 - j) % 3] < 0
                    if not may_merge(m, a, b, outer, edges, corner_edges):
                        continue
                    limit = 0.81 if s > 0.04 else 1.0
                    smallest, shrank, worst, longest = merged_quality(m, a, b, faces, n, limit)
                    if longest > limit or smallest <= 0.0 or worst < aspect_min:
                        continue
                    if shrank and worst < 1.0 and smallest < 0.1 * size_min * size_min:
                        continue
                    if not link_ok(m, a, b, faces, n) or strains(m, a, b, faces, n):
                        continue
                    if not sinks(m, a, b, faces, n):
                        best, target = s, b
            if target >= 0:
                collapse(m, a, target, faces, n)
                done += 1
                n = ring(m, target, faces)
                for i in range(n):
                    for k in range(3):
                        stale[m.F[faces[i], k]] = True
        total += done
        if done == 0:
            break
    return total

# mypy: ignore-errors
"""Editing a triangle mesh in place: split, flip, collapse on arrays of faces and face neighbours.

``N[f, k]`` is the face across the edge opposite to corner k of face f (-1 on the border), faces are counter-clockwise
in the material plane, ``VF[v]`` is any face at v (-1: removed), a removed face has F[f, 0] = -1. ``count`` holds the
used lengths (vertices, faces). Every operation is O(valence) and keeps the arrays consistent; none decides whether it
should happen.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

BORDER, FIXED = 1, 2
RING = 256  # longest ring of faces handled; operations on larger ones are refused


class Tri(NamedTuple):
    """The mesh under edit: topology, material and world positions, features, border flags, sizing tensors; and the
    planes of the convex bodies around, body by body, in which no new edge may be deeper than ``sunk`` [m]."""

    F: np.ndarray
    N: np.ndarray
    VF: np.ndarray
    X: np.ndarray
    x: np.ndarray
    feature: np.ndarray
    flags: np.ndarray
    S: np.ndarray
    count: np.ndarray
    planes: np.ndarray
    start: np.ndarray
    sunk: float


@njit(cache=True)
def neighbours(F, n):
    """N (m, 3) of faces F (m, 3), or an empty array when an edge has more than two faces or two of the same turn."""
    m = len(F)
    head = np.full(n, -1, dtype=np.int64)  # half-edges by their start, as linked lists
    following = np.full(3 * m, -1, dtype=np.int64)
    N = np.full((m, 3), -1, dtype=np.int64)
    for f in range(m):
        for k in range(3):
            a, b = F[f, (k + 1) % 3], F[f, (k + 2) % 3]
            i = head[a]
            while i >= 0:
                if F[i // 3, (i % 3 + 2) % 3] == b:
                    return np.empty((0, 3), dtype=np.int64)
                i = following[i]
            following[3 * f + k] = head[a]
            head[a] = 3 * f + k
    for f in range(m):
        for k in range(3):
            a, b = F[f, (k + 1) % 3], F[f, (k + 2) % 3]
            i = head[b]
            while i >= 0:
                if F[i // 3, (i % 3 + 2) % 3] == a:
                    N[f, k] = i // 3
                i = following[i]
    return N


@njit(cache=True)
def corner(F, f, v):
    if F[f, 0] == v:
        return 0
    return 1 if F[f, 1] == v else 2


@njit(cache=True)
def across(N, f, g):
    """The corner of f that lies opposite to its neighbour g."""
    if N[f, 0] == g:
        return 0
    return 1 if N[f, 1] == g else 2


@njit(cache=True)
def ring(m, v, out):
    """Faces at v, counter-clockwise (from border to border); their number, or -1 when there are more than RING."""
    start = m.VF[v]
    f = start
    while True:  # clockwise to the border or once around
        k = corner(m.F, f, v)
        g = m.N[f, (k + 2) % 3]
        if g < 0 or g == start:
            break
        f = g
    if m.N[f, (corner(m.F, f, v) + 2) % 3] >= 0:
        f = start
    n = 0
    first = f
    while f >= 0:
        if n == RING:
            return -1
        out[n] = f
        n += 1
        f = m.N[f, (corner(m.F, f, v) + 1) % 3]
        if f == first:
            break
    return n


@njit(cache=True)
def find_edge(m, a, b):
    """(f, k) with the edge a-b opposite to corner k of f, either direction; (-1, -1) when there is none."""
    faces = np.empty(RING, dtype=np.int64)
    n = ring(m, a, faces)
    for i in range(n):
        f = faces[i]
        k = corner(m.F, f, a)
        if m.F[f, (k + 1) % 3] == b:
            return f, (k + 2) % 3
        if m.F[f, (k + 2) % 3] == b:
            return f, (k + 1) % 3
    return -1, -1


@njit(cache=True)
def relink(N, f, old, new):
    if f >= 0:
        N[f, across(N, f, old)] = new


@njit(cache=True)
def new_vertex(m, X, x):
    v = m.count[0]
    m.count[0] += 1
    m.X[v] = X
    m.x[v] = x
    m.feature[v] = -1
    m.flags[v] = 0
    return v


@njit(cache=True)
def room(m):
    """Whether one more split fits into the arrays."""
    return m.count[0] + 1 <= len(m.VF) and m.count[1] + 2 <= len(m.F)


@njit(cache=True)
def split_edge(m, f, k, s, x):
    """Split the edge a -> b opposite to corner k of f at X = (1 - s) X_a + s X_b; the new vertex is put at x."""
    F, N = m.F, m.N
    c, a, b = F[f, k], F[f, (k + 1) % 3], F[f, (k + 2) % 3]
    g, nca, nbc = N[f, k], N[f, (k + 2) % 3], N[f, (k + 1) % 3]
    v = new_vertex(m, (1.0 - s) * m.X[a] + s * m.X[b], x)
    m.S[v] = (1.0 - s) * m.S[a] + s * m.S[b]
    f2 = m.count[1]
    m.count[1] += 1
    g2 = -1
    if g >= 0:
        g2 = m.count[1]
        m.count[1] += 1
        j = across(N, g, f)
        d, nad, ndb = F[g, j], N[g, (j + 1) % 3], N[g, (j + 2) % 3]
        F[g, 0], F[g, 1], F[g, 2] = d, v, a
        N[g, 0], N[g, 1], N[g, 2] = f, nad, g2
        F[g2, 0], F[g2, 1], F[g2, 2] = d, b, v
        N[g2, 0], N[g2, 1], N[g2, 2] = f2, g, ndb
        relink(N, ndb, g, g2)
        m.VF[d] = g
    else:
        m.flags[v] = BORDER
    F[f, 0], F[f, 1], F[f, 2] = c, a, v
    N[f, 0], N[f, 1], N[f, 2] = g, f2, nca
    F[f2, 0], F[f2, 1], F[f2, 2] = c, v, b
    N[f2, 0], N[f2, 1], N[f2, 2] = g2, nbc, f
    relink(N, nbc, f, f2)
    m.VF[a], m.VF[b], m.VF[c], m.VF[v] = f, f2, f, f
    return v


@njit(cache=True)
def split_face(m, f, w, x):
    """Insert a vertex with barycentric weights w (3) into face f, put at x."""
    F, N = m.F, m.N
    a, b, c = F[f, 0], F[f, 1], F[f, 2]
    nbc, nca = N[f, 0], N[f, 1]
    v = new_vertex(m, w[0] * m.X[a] + w[1] * m.X[b] + w[2] * m.X[c], x)
    m.S[v] = w[0] * m.S[a] + w[1] * m.S[b] + w[2] * m.S[c]
    g, e = m.count[1], m.count[1] + 1
    m.count[1] += 2
    nab = N[f, 2]
    F[f, 0], F[f, 1], F[f, 2] = a, b, v
    N[f, 0], N[f, 1], N[f, 2] = g, e, nab
    F[g, 0], F[g, 1], F[g, 2] = b, c, v
    N[g, 0], N[g, 1], N[g, 2] = e, f, nbc
    F[e, 0], F[e, 1], F[e, 2] = c, a, v
    N[e, 0], N[e, 1], N[e, 2] = f, g, nca
    relink(N, nbc, f, g)
    relink(N, nca, f, e)
    m.VF[a], m.VF[b], m.VF[c], m.VF[v] = f, g, g, f
    return v


@njit(cache=True)
def flip(m, f, k):
    """Replace the edge a-b opposite to corner k of f by the edge between the two opposite corners."""
    F, N = m.F, m.N
    g = N[f, k]
    j = across(N, g, f)
    c, a, b, d = F[f, k], F[f, (k + 1) % 3], F[f, (k + 2) % 3], F[g, j]
    nbc, nca = N[f, (k + 1) % 3], N[f, (k + 2) % 3]
    nad, ndb = N[g, (j + 1) % 3], N[g, (j + 2) % 3]
    F[f, 0], F[f, 1], F[f, 2] = c, a, d
    N[f, 0], N[f, 1], N[f, 2] = nad, g, nca
    F[g, 0], F[g, 1], F[g, 2] = d, b, c
    N[g, 0], N[g, 1], N[g, 2] = nbc, f, ndb
    relink(N, nad, g, f)
    relink(N, nbc, f, g)
    m.VF[a], m.VF[b], m.VF[c], m.VF[d] = f, g, f, f


@njit(cache=True)
def link_ok(m, a, b, faces, n):
    """Whether a may merge into b without pinching: common neighbours are exactly the corners opposite to a-b."""
    near = np.empty(2 * RING, dtype=np.int64)
    count = 0
    shared = 0
    for i in range(n):
        f = faces[i]
        k = corner(m.F, f, a)
        p, q = m.F[f, (k + 1) % 3], m.F[f, (k + 2) % 3]
        if p == b or q == b:
            shared += 1
            if m.N[f, k] < 0 and m.N[f, corner(m.F, f, b)] < 0:
                return False  # an ear whose tip would be lost
        for v in (p, q):
            seen = v == b
            for j in range(count):
                seen = seen or near[j] == v
            if not seen:
                near[count] = v
                count += 1
    other = np.empty(RING, dtype=np.int64)
    nb = ring(m, b, other)
    if nb < 0:
        return False
    common = 0
    for i in range(count):
        found = False
        for j in range(nb):
            f = other[j]
            found = found or m.F[f, 0] == near[i] or m.F[f, 1] == near[i] or m.F[f, 2] == near[i]
        common += found
    return common == shared


@njit(cache=True)
def collapse(m, a, b, faces, n):
    """Merge vertex a into its neighbour b, which stays where it is; ``faces[:n]`` is the ring of a."""
    F, N = m.F, m.N
    for i in range(n):
        f = faces[i]
        ka = corner(F, f, a)
        if F[f, (ka + 1) % 3] != b and F[f, (ka + 2) % 3] != b:
            F[f, ka] = b
            m.VF[b] = f
    for i in range(n):
        f = faces[i]
        ka = corner(F, f, a)
        if F[f, ka] != a:
            continue
        kb = corner(F, f, b)
        c = F[f, 3 - ka - kb]
        outer, inner = N[f, ka], N[f, kb]  # across b-c and across c-a
        relink(N, outer, f, inner)
        relink(N, inner, f, outer)
        alive = outer if outer >= 0 else inner
        m.VF[c] = alive
        m.VF[b] = alive
        F[f, 0] = -1
    m.VF[a] = -1


@njit(cache=True)
def area(X, a, b, c):
    return 0.5 * ((X[b, 0] - X[a, 0]) * (X[c, 1] - X[a, 1]) - (X[b, 1] - X[a, 1]) * (X[c, 0] - X[a, 0]))


@njit(cache=True)
def distance(X, a, b):
    return np.sqrt((X[a, 0] - X[b, 0]) ** 2 + (X[a, 1] - X[b, 1]) ** 2)

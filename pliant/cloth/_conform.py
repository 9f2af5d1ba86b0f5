# mypy: ignore-errors
"""The loop that turns a mesh with freshly inserted feature vertices into one that can be simulated."""

import numpy as np
from numba import njit

from pliant.cloth._sweeps import border_edge, flips, may_merge, merged_quality, shared_edge, sinks, split_at, strains
from pliant.cloth._topology import RING, area, collapse, corner, distance, flip, link_ok, ring, room


@njit(cache=True)
def try_merge(m, a, b, least, edges, corner_edges, faces):
    """Merge a into b when rules, link and upright faces allow."""
    n = ring(m, a, faces)
    if n < 0 or not may_merge(m, a, b, border_edge(m, a, b), edges, corner_edges):
        return False
    smallest, _, _, _ = merged_quality(m, a, b, faces, n, np.inf)
    if smallest < least or not link_ok(m, a, b, faces, n):
        return False
    collapse(m, a, b, faces, n)
    return True


@njit(cache=True)
def may_wait(m, a, v, faces):
    """Whether a merge of a into v would strain the cloth now, or put it into a body."""
    n = ring(m, a, faces)
    return n >= 0 and (strains(m, a, v, faces, n) or sinks(m, a, v, faces, n))


@njit(cache=True)
def merge_short(m, tau, creased, edges, corner_edges):
    """Merge edges at feature vertices shorter than tau: other vertices into them, or along the crease.

    A merge that would strain the cloth, or put it into a body, waits until the edge is half as short.
    """
    faces = np.empty(RING, dtype=np.int64)
    done = 0
    least = 1e-4 * tau * tau
    for v in range(m.count[0]):
        while m.VF[v] >= 0 and m.feature[v] >= 0:
            n = ring(m, v, faces)
            near, shortest = -1, tau
            for i in range(n):
                f = faces[i]
                k = corner(m.F, f, v)
                for j in (1, 2):
                    a = m.F[f, (k + j) % 3]
                    crease = shared_edge(m.feature[v], m.feature[a], edges, corner_edges) >= 0
                    d = distance(m.X, v, a)
                    if crease == creased and (creased or m.feature[a] < 0) and d < shortest:
                        near, shortest = a, d
            if near < 0 or (shortest > 0.5 * tau and may_wait(m, near, v, faces)):
                break
            merged = try_merge(m, near, v, least, edges, corner_edges, faces)
            if not merged and creased:
                merged = try_merge(m, v, near, least, edges, corner_edges, faces)
            if not merged:
                break
            done += 1
    return done


@njit(cache=True)
def demote_rivals(m, tau, edges, corner_edges):
    """Of two feature vertices closer than tau that share no crease, the younger edge vertex becomes an ordinary one."""
    faces = np.empty(RING, dtype=np.int64)
    done = 0
    for v in range(m.count[0]):
        if m.VF[v] < 0 or m.feature[v] < 0 or m.feature[v] >= edges:
            continue
        n = ring(m, v, faces)
        for i in range(n):
            f = faces[i]
            k = corner(m.F, f, v)
            for j in (1, 2):
                a = m.F[f, (k + j) % 3]
                if m.feature[a] < 0 or m.feature[v] < 0 or distance(m.X, v, a) >= tau:
                    continue
                if shared_edge(m.feature[v], m.feature[a], edges, corner_edges) < 0 and (
                    a < v or m.feature[a] >= edges
                ):
                    m.feature[v] = -1
                    done += 1
    return done


@njit(cache=True)
def foot(X, p, a, b):
    """Parameter of the point of a-b closest to p and its distance."""
    u, w = X[b, 0] - X[a, 0], X[b, 1] - X[a, 1]
    if u == 0.0 and w == 0.0:
        return 0.0, np.inf
    s = ((X[p, 0] - X[a, 0]) * u + (X[p, 1] - X[a, 1]) * w) / (u * u + w * w)
    d0, d1 = X[p, 0] - X[a, 0] - s * u, X[p, 1] - X[a, 1] - s * w
    return s, np.sqrt(d0 * d0 + d1 * d1)


@njit(cache=True)
def straighten(m, f, edges, corner_edges):
    """A face with all corners on one crease: flip or merge away its middle corner; True when something changed."""
    longest, k = -1.0, 0
    for i in range(3):
        d = distance(m.X, m.F[f, (i + 1) % 3], m.F[f, (i + 2) % 3])
        if d > longest:
            longest, k = d, i
    g = m.N[f, k]
    c, a, b = m.F[f, k], m.F[f, (k + 1) % 3], m.F[f, (k + 2) % 3]
    if g >= 0:
        d = m.F[g, 0] + m.F[g, 1] + m.F[g, 2] - a - b
        if min(area(m.X, c, a, d), area(m.X, d, b, c)) > 0.0:
            flip(m, f, k)
            return True
    faces = np.empty(RING, dtype=np.int64)
    to = a if distance(m.X, c, a) < distance(m.X, c, b) else b
    return try_merge(m, c, to, 0.0, edges, corner_edges, faces)


@njit(cache=True)
def cure_thin(m, tau, edges, corner_edges):
    """Split the edge that lies too close (tau / 2) to a corner of its face, so that the next round can merge there."""
    done = 0
    for f in range(m.count[1]):
        if m.F[f, 0] < 0 or not room(m):
            continue
        on = 0
        for k in range(3):
            on += m.feature[m.F[f, k]] >= 0
        if on == 0:
            continue
        bonds = 0
        for k in range(3):
            p, q = m.F[f, (k + 1) % 3], m.F[f, (k + 2) % 3]
            bonds += shared_edge(m.feature[p], m.feature[q], edges, corner_edges) >= 0
        if bonds == 3:
            done += straighten(m, f, edges, corner_edges)
            continue
        for k in range(3):
            c, p, q = m.F[f, k], m.F[f, (k + 1) % 3], m.F[f, (k + 2) % 3]
            crease = shared_edge(m.feature[p], m.feature[q], edges, corner_edges) >= 0
            if on < 3 and m.feature[c] < 0 and not crease or on == 3 and crease:
                continue
            if m.N[f, k] < 0 and not crease:
                continue
            s, d = foot(m.X, c, p, q)
            if d < 0.5 * tau and 0.05 < s < 0.95:
                split_at(m, f, k, min(max(s, 0.1), 0.9), edges, corner_edges)
                done += 1
                break
    return done


@njit(cache=True)
def settle(m, tau, rounds, edges, corner_edges):
    """Flip, merge and split around feature vertices until nothing changes; returns (rounds used, operations)."""
    total = 0
    for r in range(rounds):
        done = demote_rivals(m, tau, edges, corner_edges)
        done += merge_short(m, tau, False, edges, corner_edges)
        done += merge_short(m, tau, True, edges, corner_edges)
        done += cure_thin(m, tau, edges, corner_edges)
        total += done
        if done == 0:
            return r, total
        total += flips(m, edges, corner_edges)
    return rounds, total


@njit(cache=True)
def locate(X, F, m, p):
    """The face (among the first m) whose smallest barycentric weight at p is largest, and the weights."""
    best, face = -np.inf, -1
    weights = np.zeros(3)
    for f in range(m):
        a, b, c = F[f, 0], F[f, 1], F[f, 2]
        if a < 0:
            continue
        b0, b1, c0, c1 = X[b, 0] - X[a, 0], X[b, 1] - X[a, 1], X[c, 0] - X[a, 0], X[c, 1] - X[a, 1]
        p0, p1 = p[0] - X[a, 0], p[1] - X[a, 1]
        det = b0 * c1 - b1 * c0
        if det <= 0.0:  # of a mesh under edit: two vertices were just put into one place
            continue
        w1 = (p0 * c1 - p1 * c0) / det
        w2 = (b0 * p1 - b1 * p0) / det
        low = min(1.0 - w1 - w2, w1, w2)
        if low > best:
            best, face = low, f
            weights[0], weights[1], weights[2] = 1.0 - w1 - w2, w1, w2
            if low > 1e-9:
                break
    return face, weights


@njit(cache=True)
def locate_all(X, F, P):
    """`locate` for all points P (k, 2): faces (k,) and weights (k, 3)."""
    face, weights = np.empty(len(P), dtype=np.int64), np.empty((len(P), 3))
    for i in range(len(P)):
        face[i], weights[i] = locate(X, F, len(F), P[i])
    return face, weights

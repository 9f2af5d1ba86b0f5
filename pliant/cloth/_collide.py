# mypy: ignore-errors
"""Loops of the collision detection: cloth edges and sharp edges, tips and faces, vertices and convex bodies."""

import numpy as np
from numba import njit


@njit(cache=True, error_model="numpy")
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(cache=True, error_model="numpy")
def between(m, n1, n2, slack):
    """Whether the direction m across an edge lies between its face normals; a wire (n1 = n2) takes a half circle."""
    c = dot(n1, n2)
    p, q = dot(m, n1), dot(m, n2)
    if 1.0 - c < 1e-9:
        return p > slack
    det = 1.0 - c * c
    return (p - c * q) / det > -slack and (q - c * p) / det > -slack


@njit(cache=True, error_model="numpy")
def edge_edge(x, cloth, A, B, N1, N2, reach):
    """Crossings of cloth edges with sharp edges: (cloth edge, feature) and (s, t, gap, normal) with |gap| <= reach.

    s, t are the parameters of the closest points, the gap is positive outside and measured along the mutual normal.
    """
    pairs = np.empty((len(cloth) + 64, 2), dtype=np.int64)
    values = np.empty((len(cloth) + 64, 6))
    n = 0
    w = np.empty(3)
    m = np.empty(3)
    low, high = np.minimum(A, B) - reach, np.maximum(A, B) + reach
    for k in range(len(cloth)):
        p, q = x[cloth[k, 0]], x[cloth[k, 1]]
        x0, y0, z0 = min(p[0], q[0]), min(p[1], q[1]), min(p[2], q[2])
        x1, y1, z1 = max(p[0], q[0]), max(p[1], q[1]), max(p[2], q[2])
        for e in range(len(A)):
            if x1 < low[e, 0] or y1 < low[e, 1] or z1 < low[e, 2]:
                continue
            if x0 > high[e, 0] or y0 > high[e, 1] or z0 > high[e, 2]:
                continue
            d = B[e] - A[e]
            dd = dot(d, d)
            u0, u1, u2 = q[0] - p[0], q[1] - p[1], q[2] - p[2]
            m[0], m[1], m[2] = u1 * d[2] - u2 * d[1], u2 * d[0] - u0 * d[2], u0 * d[1] - u1 * d[0]
            mm = dot(m, m)
            uu = u0 * u0 + u1 * u1 + u2 * u2
            if mm < 1.2e-3 * uu * dd:  # within 2 degrees of each other
                continue
            ud = u0 * d[0] + u1 * d[1] + u2 * d[2]
            for i in range(3):
                w[i] = p[i] - A[e, i]
            uw = u0 * w[0] + u1 * w[1] + u2 * w[2]
            dw = dot(d, w)
            det = uu * dd - ud * ud
            s = (ud * dw - dd * uw) / det
            t = (uu * dw - ud * uw) / det
            if s < 0.0 or s > 1.0 or t < 0.0 or t > 1.0:
                continue
            sign = 1.0 if dot(m, N1[e]) + dot(m, N2[e]) >= 0.0 else -1.0
            for i in range(3):
                m[i] *= sign / np.sqrt(mm)
            gap = dot(m, w)
            if abs(gap) > reach or not between(m, N1[e], N2[e], 0.035):
                continue
            if n == len(pairs):
                pairs = np.concatenate((pairs, np.empty_like(pairs)))
                values = np.concatenate((values, np.empty_like(values)))
            pairs[n, 0], pairs[n, 1] = k, e
            values[n, 0], values[n, 1], values[n, 2] = s, t, gap
            values[n, 3], values[n, 4], values[n, 5] = m[0], m[1], m[2]
            n += 1
    return pairs[:n].copy(), values[:n].copy()


@njit(cache=True, error_model="numpy")
def within(x, tips, reach):
    """The tips in the bounding box of the points x, widened by ``reach``."""
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for v in range(len(x)):
        for i in range(3):
            low[i], high[i] = min(low[i], x[v, i]), max(high[i], x[v, i])
    found = np.empty(len(tips), dtype=np.int64)
    n = 0
    for c in range(len(tips)):
        inside = True
        for i in range(3):
            inside = inside and low[i] - reach <= tips[c, i] <= high[i] + reach
        found[n] = c
        n += inside
    return found[:n]


@njit(cache=True, error_model="numpy")
def tip_faces(x, faces, tips, normals, inward, reach):
    """All faces that a tip is over, within ``reach``: (tip, face), barycentric weights, height above the face."""
    pairs = np.empty((16, 2), dtype=np.int64)
    values = np.empty((16, 4))
    n = 0
    near = within(x, tips, reach)
    for f in range(len(faces)):
        v0, v1, v2 = faces[f, 0], faces[f, 1], faces[f, 2]
        x0, x1 = min(x[v0, 0], x[v1, 0], x[v2, 0]) - reach, max(x[v0, 0], x[v1, 0], x[v2, 0]) + reach
        y0, y1 = min(x[v0, 1], x[v1, 1], x[v2, 1]) - reach, max(x[v0, 1], x[v1, 1], x[v2, 1]) + reach
        z0, z1 = min(x[v0, 2], x[v1, 2], x[v2, 2]) - reach, max(x[v0, 2], x[v1, 2], x[v2, 2]) + reach
        for c in near:
            if tips[c, 0] < x0 or tips[c, 0] > x1 or tips[c, 1] < y0 or tips[c, 1] > y1:
                continue
            if tips[c, 2] < z0 or tips[c, 2] > z1:
                continue
            hit, above, v, w = poked(x[v0], x[v1], x[v2], tips[c], normals[c], inward[c])
            if hit and abs(above) <= reach:
                if n == len(pairs):
                    pairs, values = np.concatenate((pairs, pairs)), np.concatenate((values, values))
                pairs[n, 0], pairs[n, 1] = c, f
                values[n, 0], values[n, 1], values[n, 2], values[n, 3] = 1.0 - v - w, v, w, above
                n += 1
    return pairs[:n], values[:n]


@njit(cache=True, error_model="numpy")
def poked(p, q, r, tip, normal, inward):
    """Whether the tip is over the face p, q, r from outside, its height above it, and its weights at q and r."""
    a, b, t = q - p, r - p, tip - p
    n = np.empty(3)
    n[0], n[1], n[2] = a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
    size = np.sqrt(dot(n, n))
    n /= size if dot(n, normal) > 0.0 else -size
    above = dot(n, t)
    if dot(n, normal) < 0.1:
        return False, above, 0.0, 0.0
    for k in range(len(inward)):
        if dot(n, inward[k]) > 0.035:  # the face would cut the body
            return False, above, 0.0, 0.0
    aa, ab, bb, at, bt = dot(a, a), dot(a, b), dot(b, b), dot(a, t), dot(b, t)
    det = aa * bb - ab * ab
    v, w = (bb * at - ab * bt) / det, (aa * bt - ab * at) / det
    return not (v < -1e-2 or w < -1e-2 or v + w > 1.01), above, v, w  # a tip at a bent edge is over both faces


@njit(cache=True, error_model="numpy")
def vertex_body(x, planes, start, depth, reach):
    """Vertices near or in convex bodies: (vertex, nearest plane) and the signed distance in [-depth, reach]."""
    pairs = np.empty((len(x) * max(len(start) - 1, 1), 2), dtype=np.int64)
    gaps = np.empty(len(pairs))
    n = 0
    for v in range(len(x)):
        for b in range(len(start) - 1):
            best, plane = -np.inf, -1
            for p in range(start[b], start[b + 1]):
                g = planes[p, 0] * x[v, 0] + planes[p, 1] * x[v, 1] + planes[p, 2] * x[v, 2] - planes[p, 3]
                if g > best:
                    best, plane = g, p
                    if g > reach:
                        break
            if -depth <= best <= reach:
                pairs[n, 0], pairs[n, 1], gaps[n] = v, plane, best
                n += 1
    return pairs[:n].copy(), gaps[:n].copy()


@njit(cache=True, error_model="numpy")
def face_depths(x, faces, planes, least):
    """(m,) how deep [m] faces are in a convex body, at the points that split them in 16; ``least`` where not deeper."""
    deepest = np.full(len(faces), least)
    for f in range(len(faces)):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        for i in range(5):
            for j in range(5 - i):
                k = 4 - i - j
                deep = np.inf
                for p in range(len(planes)):
                    out = 0.0
                    for d in range(3):
                        out += planes[p, d] * 0.25 * (i * x[a, d] + j * x[b, d] + k * x[c, d])
                    deep = min(deep, planes[p, 3] - out)
                    if deep <= deepest[f]:
                        break
                deepest[f] = max(deepest[f], deep)
    return deepest

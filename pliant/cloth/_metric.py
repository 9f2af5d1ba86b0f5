# mypy: ignore-errors
"""Small symmetric 2 x 2 tensors (xx, xy, yy) and the sizing field of a deformed sheet [Narain et al. 2012]."""

import numpy as np
from numba import njit


@njit(cache=True, error_model="numpy")
def eigen(a, b, c):
    """Eigenvalues (large, small) of [[a, b], [b, c]] and the unit vector of the large one."""
    mean, half = 0.5 * (a + c), 0.5 * (a - c)
    r = np.sqrt(half * half + b * b)
    angle = 0.5 * np.arctan2(b, half)
    return mean + r, mean - r, np.cos(angle), np.sin(angle)


@njit(cache=True, error_model="numpy")
def from_eigen(large, small, c, s):
    return large * c * c + small * s * s, (large - small) * c * s, large * s * s + small * c * c


@njit(cache=True, error_model="numpy")
def root(a, b, c):
    """Square root of the positive part."""
    l, s, cs, sn = eigen(a, b, c)
    return from_eigen(np.sqrt(max(l, 0.0)), np.sqrt(max(s, 0.0)), cs, sn)


@njit(cache=True, error_model="numpy")
def enclose(a, b, c, p, q, r):
    """Tensor maximum: the smallest disk around two disks with centre ((xx - yy)/2, xy) and radius (xx + yy)/2."""
    x0, y0, r0 = 0.5 * (a - c), b, 0.5 * (a + c)
    x1, y1, r1 = 0.5 * (p - r), q, 0.5 * (p + r)
    d = np.sqrt((x1 - x0) ** 2 + (y1 - y0) ** 2)
    if d + r1 <= r0:
        return a, b, c
    if d + r0 <= r1:
        return p, q, r
    radius = 0.5 * (d + r0 + r1)
    w = (radius - r0) / d
    x, y = x0 + w * (x1 - x0), y0 + w * (y1 - y0)
    return radius + x, y, radius - x


@njit(cache=True, error_model="numpy")
def compression(e0, e1, e2, s0, s1, s2, c):
    """Positive part of (-e + sqrt(e^2 - 4 c^2 perp(S^2))) / (2 c^2): wrinkles that a compression e would make."""
    d0 = e0 * e0 + e1 * e1 - 4 * c * c * s2
    d1 = e1 * (e0 + e2) + 4 * c * c * s1
    d2 = e1 * e1 + e2 * e2 - 4 * c * c * s0
    r0, r1, r2 = root(d0, d1, d2)
    l, s, cs, sn = eigen(r0 - e0, r1 - e1, r2 - e2)
    f = 0.5 / (c * c)
    return from_eigen(f * max(l, 0.0), f * max(s, 0.0), cs, sn)


@njit(cache=True, error_model="numpy")
def clamp(a, b, c, low, high, aspect2):
    """Eigenvalues into [low, high], the small one raised to aspect^2 of the large one."""
    l, s, cs, sn = eigen(a, b, c)
    l = min(max(l, low), high)
    s = min(max(s, low), high)
    return from_eigen(l, max(s, aspect2 * l), cs, sn)


@njit(cache=True, error_model="numpy")
def shape_operator(x, X, faces, N, crease, normals, f, A):
    """S = sum theta |e| t t^T / (2 A) over the edges of face f, t across the edge in the material plane."""
    s0, s1, s2 = 0.0, 0.0, 0.0
    for k in range(3):
        g = N[f, k]
        if g < 0 or crease[f, k]:
            continue  # a crease on a sharp feature is represented exactly and needs no refinement
        a, b = faces[f, (k + 1) % 3], faces[f, (k + 2) % 3]
        e0, e1, e2 = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        length = np.sqrt(e0**2 + e1**2 + e2**2) + 1e-300
        p0, p1, p2 = normals[f, 0], normals[f, 1], normals[f, 2]
        q0, q1, q2 = normals[g, 0], normals[g, 1], normals[g, 2]
        sine = (p1 * q2 - p2 * q1) * (e0 / length) + (p2 * q0 - p0 * q2) * (e1 / length)
        sine += (p0 * q1 - p1 * q0) * (e2 / length)
        theta = np.arctan2(sine, p0 * q0 + p1 * q1 + p2 * q2)
        u, w = X[b, 0] - X[a, 0], X[b, 1] - X[a, 1]
        scale = theta / (2.0 * A * np.sqrt(u * u + w * w))
        s0 += scale * w * w
        s1 -= scale * u * w
        s2 += scale * u * u
    return s0, s1, s2


@njit(cache=True, error_model="numpy")
def face_normals(x, faces):
    n = np.empty((len(faces), 3))
    for f in range(len(faces)):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        p0, p1, p2 = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        q0, q1, q2 = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
        n0, n1, n2 = p1 * q2 - p2 * q1, p2 * q0 - p0 * q2, p0 * q1 - p1 * q0
        size = np.sqrt(n0**2 + n1**2 + n2**2) + 1e-300
        n[f, 0], n[f, 1], n[f, 2] = n0 / size, n1 / size, n2 / size
    return n


@njit(cache=True, error_model="numpy")
def angle_average(F, X, faces):
    """F (m, 3, 2) of the faces averaged at each vertex by the angles they have there, (n, 3, 2); 0 where none is."""
    total = np.zeros((len(X), 3, 2))
    weight = np.zeros(len(X))
    for f in range(len(faces)):
        for k in range(3):
            a, b, c = faces[f, k], faces[f, (k + 1) % 3], faces[f, (k + 2) % 3]
            p0, p1, q0, q1 = X[b, 0] - X[a, 0], X[b, 1] - X[a, 1], X[c, 0] - X[a, 0], X[c, 1] - X[a, 1]
            angle = np.arctan2(p0 * q1 - p1 * q0, p0 * q0 + p1 * q1)
            weight[a] += angle
            for i in range(3):
                total[a, i, 0] += angle * F[f, i, 0]
                total[a, i, 1] += angle * F[f, i, 1]
    for v in range(len(X)):
        if weight[v] > 0.0:
            total[v] /= weight[v]
    return total


@njit(cache=True, error_model="numpy")
def folds(x, faces, marked):
    """At the marked vertices the sum of the face normals (n, 3) and the smallest cosine between two of them (n,)."""
    count = np.zeros(len(x) + 1, dtype=np.int64)
    for f in range(len(faces)):
        for k in range(3):
            count[faces[f, k] + 1] += marked[faces[f, k]]
    first = np.cumsum(count)
    place = first[:-1].copy()
    normals = np.empty((first[-1], 3))
    n = np.empty(3)
    for f in range(len(faces)):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        if not (marked[a] or marked[b] or marked[c]):
            continue
        p, q = x[b] - x[a], x[c] - x[a]
        n[0], n[1], n[2] = p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]
        n /= np.sqrt(n[0] ** 2 + n[1] ** 2 + n[2] ** 2) + 1e-300
        for v in (a, b, c):
            if marked[v]:
                normals[place[v]] = n
                place[v] += 1
    total, cosine = np.zeros((len(x), 3)), np.ones(len(x))
    for v in range(len(x)):
        for i in range(first[v], first[v + 1]):
            total[v] += normals[i]
            for j in range(first[v], i):
                cosine[v] = min(cosine[v], np.sum(normals[i] * normals[j]))
    return total, cosine


@njit(cache=True)
def crease_sums(X, a, b):
    """Sums (n, 2) at the ends of the edges a-b of their unit directions, all turned the same way at a vertex."""
    sums = np.zeros_like(X)
    for i in range(len(a)):
        d = X[b[i]] - X[a[i]]
        d /= np.sqrt(d[0] ** 2 + d[1] ** 2)
        for v in (a[i], b[i]):
            sums[v] += d if sums[v, 0] * d[0] + sums[v, 1] * d[1] >= 0 else -d
    return sums


@njit(cache=True, error_model="numpy")
def sizing(x, X, u, faces, N, crease, refine, bounds):
    """Vertex tensors (n, 3) [1/m^2]. ``u (m, 3, 3)`` world velocities of the corners, ``crease (m, 3)`` marks edges on
    features, ``refine`` = (angle, velocity, compression), ``bounds`` = (size min, size max, aspect min)."""
    S = np.zeros((len(X), 3))
    weight = np.zeros(len(X))
    normals = face_normals(x, faces)
    low, high, aspect2 = 1.0 / bounds[1] ** 2, 1.0 / bounds[0] ** 2, bounds[2] ** 2
    F = np.zeros((3, 2))
    G = np.zeros((3, 2))
    for f in range(len(faces)):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        p0, p1 = X[b, 0] - X[a, 0], X[b, 1] - X[a, 1]
        q0, q1 = X[c, 0] - X[a, 0], X[c, 1] - X[a, 1]
        det = p0 * q1 - p1 * q0
        for i in range(3):
            dp, dq = x[b, i] - x[a, i], x[c, i] - x[a, i]
            F[i, 0] = (dp * q1 - dq * p1) / det
            F[i, 1] = (dq * p0 - dp * q0) / det
            dp, dq = u[f, 1, i] - u[f, 0, i], u[f, 2, i] - u[f, 0, i]
            G[i, 0] = (dp * q1 - dq * p1) / det
            G[i, 1] = (dq * p0 - dp * q0) / det
        s0, s1, s2 = shape_operator(x, X, faces, N, crease, normals, f, 0.5 * det)
        t0, t1, t2 = s0 * s0 + s1 * s1, s1 * (s0 + s2), s1 * s1 + s2 * s2
        w = 1.0 / refine[0] ** 2
        m0, m1, m2 = w * t0, w * t1, w * t2
        w = 1.0 / refine[1] ** 2
        g0 = w * (G[0, 0] ** 2 + G[1, 0] ** 2 + G[2, 0] ** 2)
        g1 = w * (G[0, 0] * G[0, 1] + G[1, 0] * G[1, 1] + G[2, 0] * G[2, 1])
        g2 = w * (G[0, 1] ** 2 + G[1, 1] ** 2 + G[2, 1] ** 2)
        m0, m1, m2 = enclose(m0, m1, m2, g0, g1, g2)
        e0 = F[0, 0] ** 2 + F[1, 0] ** 2 + F[2, 0] ** 2 - 1.0
        e1 = F[0, 0] * F[0, 1] + F[1, 0] * F[1, 1] + F[2, 0] * F[2, 1]
        e2 = F[0, 1] ** 2 + F[1, 1] ** 2 + F[2, 1] ** 2 - 1.0
        k0, k1, k2 = compression(e0, e1, e2, t0, t1, t2, refine[2])
        m0, m1, m2 = enclose(m0, m1, m2, k0, k1, k2)
        m0, m1, m2 = clamp(m0, m1, m2, low, high, aspect2)
        for k in range(3):
            v = faces[f, k]
            weight[v] += det
            S[v, 0] += det * m0
            S[v, 1] += det * m1
            S[v, 2] += det * m2
    for v in range(len(X)):
        S[v] /= weight[v]
    return S

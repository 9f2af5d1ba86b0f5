"""The three linear elements: how coordinates become F, its SVD, and which modes of a 3-D density exist.

Every element presents a full 3x3 F to the density, so each material is written once:

- `TET`       F = D_s D_m^{-1};
- `PLANAR`    F = [f0 f1 e3], plane strain: the out-of-plane stretch is 1;
- `MEMBRANE`  F = [f0 f1 n] with the unit normal n of the deformed triangle: psi(s0, s1, 1).

Dropping the third column (and, in the plane, the third row) of P is then exactly the derivative of the embedded energy.
Lane tables: ``T (NODES*W)`` premultiplied node offsets, ``G (10*W)`` rows 0-8 the shape gradients of nodes 1, 2, 3
(rows of D_m^{-1}; third component zero on triangles), row 9 the rest volume.
"""

import math
from typing import Any, NamedTuple

from pliant.kernels.device import W, cross, device, dot, lanes, select
from pliant.kernels.svd import orthogonal, svd3, svd_surface, unit

piola = None  # bound per density in `restrict_membrane`


class Element(NamedTuple):
    """Device functions and counts of one element."""

    name: str
    nodes: int
    dim: int
    gather: Any  # x -> F as the density sees it
    columns: Any  # x -> F with zeros outside its own rows and columns; linear, so it also makes Fdot of v
    svd: Any
    restrict: Any  # adapts the spectrum of the 3-D density (see `isotropic`)


@lanes
def gather_tet(x, T, G, F):
    for l in range(W):
        i, j, k, n = T[l], T[l + W], T[l + 2 * W], T[l + 3 * W]
        for r in range(3):
            a, b, c = x[j + r] - x[i + r], x[k + r] - x[i + r], x[n + r] - x[i + r]
            F[l + 3 * r * W] = a * G[l] + b * G[l + 3 * W] + c * G[l + 6 * W]
            F[l + (3 * r + 1) * W] = a * G[l + W] + b * G[l + 4 * W] + c * G[l + 7 * W]
            F[l + (3 * r + 2) * W] = a * G[l + 2 * W] + b * G[l + 5 * W] + c * G[l + 8 * W]


@lanes
def columns_planar(x, T, G, F):
    for l in range(W):
        i, j, k = T[l], T[l + W], T[l + 2 * W]
        for r in range(2):
            a, b = x[j + r] - x[i + r], x[k + r] - x[i + r]
            F[l + 3 * r * W] = a * G[l] + b * G[l + 3 * W]
            F[l + (3 * r + 1) * W] = a * G[l + W] + b * G[l + 4 * W]
            F[l + (3 * r + 2) * W] = 0.0
            F[l + (6 + r) * W] = 0.0
        F[l + 8 * W] = 0.0


@lanes
def gather_planar(x, T, G, F):
    columns_planar(x, T, G, F)
    for l in range(W):
        F[l + 8 * W] = 1.0


@lanes
def columns_membrane(x, T, G, F):
    for l in range(W):
        i, j, k = T[l], T[l + W], T[l + 2 * W]
        for r in range(3):
            a, b = x[j + r] - x[i + r], x[k + r] - x[i + r]
            F[l + 3 * r * W] = a * G[l] + b * G[l + 3 * W]
            F[l + (3 * r + 1) * W] = a * G[l + W] + b * G[l + 4 * W]
            F[l + (3 * r + 2) * W] = 0.0


@lanes
def gather_membrane(x, T, G, F):
    columns_membrane(x, T, G, F)
    for l in range(W):
        n = normal((F[l], F[l + 3 * W], F[l + 6 * W]), (F[l + W], F[l + 4 * W], F[l + 7 * W]))
        for r in range(3):
            F[l + (3 * r + 2) * W] = n[r]


@device
def normal(a, b):
    """Unit normal of two vectors; some direction orthogonal to the longer one when they are parallel."""
    aa, bb = dot(a, a), dot(b, b)
    n, area = unit(cross(a, b), 1e-15 * math.sqrt(aa * bb) + 1e-150)
    along, _ = unit(select(aa >= bb, a, b), 1e-150)
    return select(area > 0.0, n, orthogonal(along))


@device
def restrict_tet(z, F, r, p):
    return z


@device
def restrict_planar(z, F, r, p):
    """Only the in-plane stretches are free: couplings with s2 are removed before any clamping."""
    return z[0], z[1], 0.0, z[3], 0.0, 1.0, 0.0, 0.0, z[8], 0.0, 0.0, z[11]


def restrict_membrane(z, F, r, p):
    """As in the plane, plus the two modes n v_i^T that turn the triangle, with eigenvalues psi_i / s_i."""
    P = piola(F, p)
    u = r[0] * P[0] + r[3] * P[3] + r[6] * P[6], r[0] * P[1] + r[3] * P[4] + r[6] * P[7]
    w = r[1] * P[0] + r[4] * P[3] + r[7] * P[6], r[1] * P[1] + r[4] * P[4] + r[7] * P[7]
    e0 = (u[0] * r[12] + u[1] * r[15]) / max(r[9], 1e-12)
    e1 = (w[0] * r[13] + w[1] * r[16]) / max(r[10], 1e-12)
    return z[0], z[1], 0.0, z[3], 0.0, 1.0, e1, e0, z[8], e1, e0, z[11]


TET = Element("tet", 4, 3, gather_tet, gather_tet, svd3, restrict_tet)
PLANAR = Element("planar", 3, 2, gather_planar, columns_planar, svd_surface, restrict_planar)
MEMBRANE = Element("membrane", 3, 3, gather_membrane, columns_membrane, svd_surface, restrict_membrane)

"""The three linear elements as device functions: how coordinates become F, its SVD, and which modes of a 3-D density exist.

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

from pliant.kernels.device import W, device, lanes
from pliant.kernels.svd import cross, orthogonal, svd3, svd_surface, unit

piola = None  # bound per density in `restrict_membrane`


class Element(NamedTuple):
    """Device functions and counts of one element."""

    name: str
    nodes: int
    dim: int
    gather: Any  # x -> F as the density sees it
    columns: Any  # x -> F with zeros outside the element's own columns and rows; linear in x, so it also makes Fdot of v
    svd: Any
    restrict: Any  # adapts the spectrum of the 3-D density (see `isotropic`)


@lanes
def gather_tet(x, T, G, F):
    for l in range(W):
        i = T[l]; j = T[l + W]; k = T[l + 2 * W]; n = T[l + 3 * W]
        for r in range(3):
            x0 = x[i + r]
            a = x[j + r] - x0; b = x[k + r] - x0; c = x[n + r] - x0
            F[l + 3 * r * W] = a * G[l] + b * G[l + 3 * W] + c * G[l + 6 * W]
            F[l + (3 * r + 1) * W] = a * G[l + W] + b * G[l + 4 * W] + c * G[l + 7 * W]
            F[l + (3 * r + 2) * W] = a * G[l + 2 * W] + b * G[l + 5 * W] + c * G[l + 8 * W]


@lanes
def columns_planar(x, T, G, F):
    for l in range(W):
        i = T[l]; j = T[l + W]; k = T[l + 2 * W]
        for r in range(2):
            a = x[j + r] - x[i + r]; b = x[k + r] - x[i + r]
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
        i = T[l]; j = T[l + W]; k = T[l + 2 * W]
        for r in range(3):
            a = x[j + r] - x[i + r]; b = x[k + r] - x[i + r]
            F[l + 3 * r * W] = a * G[l] + b * G[l + 3 * W]
            F[l + (3 * r + 1) * W] = a * G[l + W] + b * G[l + 4 * W]
            F[l + (3 * r + 2) * W] = 0.0


@lanes
def gather_membrane(x, T, G, F):
    columns_membrane(x, T, G, F)
    for l in range(W):
        n0, n1, n2 = normal(F[l], F[l + 3 * W], F[l + 6 * W], F[l + W], F[l + 4 * W], F[l + 7 * W])
        F[l + 2 * W] = n0
        F[l + 5 * W] = n1
        F[l + 8 * W] = n2


@device
def normal(a0, a1, a2, b0, b1, b2):
    """Unit normal of two vectors; some direction orthogonal to the longer one when they are parallel."""
    c0, c1, c2 = cross(a0, a1, a2, b0, b1, b2)
    a = math.sqrt(a0 * a0 + a1 * a1 + a2 * a2)
    b = math.sqrt(b0 * b0 + b1 * b1 + b2 * b2)
    n0, n1, n2, area = unit(c0, c1, c2, 1e-15 * a * b + 1e-150)
    longer = a >= b
    d0, d1, d2, _ = unit(a0 if longer else b0, a1 if longer else b1, a2 if longer else b2, 1e-150)
    p0, p1, p2 = orthogonal(d0, d1, d2)
    return (n0 if area > 0.0 else p0), (n1 if area > 0.0 else p1), (n2 if area > 0.0 else p2)


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

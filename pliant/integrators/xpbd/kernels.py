"""Gauss-Seidel sweeps over point, distance, hinge and volume constraints, in the order of a `Plan`.

Each projection solves its own constraint for the current positions [Macklin2016, Eq. 18 and 26]

    dlam = (-C - a lam - g grad C.(x - x0)) / ((1 + g) grad C W grad C^T + a),     x += W grad C^T dlam,  lam += dlam

with a = compliance / h^2, g = beta / h for stiffness-proportional damping beta [s], W the inverse masses (n, 3), zero
where a coordinate is prescribed, and x0 the positions at the start of the substep. Everything is updated in place.
"""

# mypy: ignore-errors
import math

from numba import njit, prange

from pliant.kernels.device import FASTMATH, device

sweep = njit(parallel=True, cache=True, fastmath=FASTMATH, error_model="numpy")
EPS = 1e-12  # m: shorter than this a length has no direction


@sweep
def points(x, x0, W, lam, patches, colours, h, beta, nodes, target, alpha):
    """C = x - target, three components with compliance alpha each."""
    g = beta / h
    for p in prange(len(patches) - 1):
        for k in range(patches[p], patches[p + 1]):
            i = nodes[k, 0]
            a = alpha[k] / (h * h)
            for r in range(3):
                C = x[i, r] - target[k, r]
                d = -(C + a * lam[k, r] + g * (x[i, r] - x0[i, r])) / ((1.0 + g) * W[i, r] + a + 1e-300)
                lam[k, r] += d
                x[i, r] += W[i, r] * d


@sweep
def planes(x, x0, W, lam, patches, colours, h, beta, nodes, point, normal, alpha):
    """C = (x - point).normal >= 0: the multiplier pushes only."""
    n0 = normal[0]
    n1 = normal[1]
    n2 = normal[2]
    for p in prange(len(patches) - 1):
        for k in range(patches[p], patches[p + 1]):
            i = nodes[k, 0]
            a = alpha[k] / (h * h)
            C = (x[i, 0] - point[0]) * n0 + (x[i, 1] - point[1]) * n1 + (x[i, 2] - point[2]) * n2
            D = W[i, 0] * n0 * n0 + W[i, 1] * n1 * n1 + W[i, 2] * n2 * n2
            d = max(-(C + a * lam[k]) / (D + a + 1e-300), -lam[k])
            lam[k] += d
            x[i, 0] += W[i, 0] * n0 * d
            x[i, 1] += W[i, 1] * n1 * d
            x[i, 2] += W[i, 2] * n2 * d


@sweep
def distances(x, x0, W, lam, patches, colours, h, beta, nodes, rest, alpha):
    """C = |x_i - x_j| - rest."""
    g = beta / h
    scale = 1.0 / (h * h)
    for c in range(len(colours) - 1):
        for p in prange(colours[c], colours[c + 1]):
            for k in range(patches[p], patches[p + 1]):
                i = nodes[k, 0]
                j = nodes[k, 1]
                s0 = x[i, 0] - x[j, 0]
                s1 = x[i, 1] - x[j, 1]
                s2 = x[i, 2] - x[j, 2]
                L = math.sqrt(s0 * s0 + s1 * s1 + s2 * s2)
                q = 1.0 / max(L, EPS)
                s0 *= q
                s1 *= q
                s2 *= q
                a = alpha[k] * scale
                D = (W[i, 0] + W[j, 0]) * s0 * s0 + (W[i, 1] + W[j, 1]) * s1 * s1 + (W[i, 2] + W[j, 2]) * s2 * s2
                C = L - rest[k] + a * lam[k]
                if g > 0.0:
                    C += g * s0 * ((x[i, 0] - x0[i, 0]) - (x[j, 0] - x0[j, 0]))
                    C += g * s1 * ((x[i, 1] - x0[i, 1]) - (x[j, 1] - x0[j, 1]))
                    C += g * s2 * ((x[i, 2] - x0[i, 2]) - (x[j, 2] - x0[j, 2]))
                d = -C / ((1.0 + g) * D + a + 1e-300)
                lam[k] += d
                x[i, 0] += W[i, 0] * s0 * d
                x[i, 1] += W[i, 1] * s1 * d
                x[i, 2] += W[i, 2] * s2 * d
                x[j, 0] -= W[j, 0] * s0 * d
                x[j, 1] -= W[j, 1] * s1 * d
                x[j, 2] -= W[j, 2] * s2 * d


@sweep
def flat_hinges(x, x0, W, lam, patches, colours, h, beta, nodes, stencil, alpha):
    """C = sum_i k_i x_i, three components with compliance alpha each: bending of what is flat at rest."""
    g = beta / h
    for c in range(len(colours) - 1):
        for p in prange(colours[c], colours[c + 1]):
            for k in range(patches[p], patches[p + 1]):
                a = alpha[k] / (h * h)
                for r in range(3):
                    C = a * lam[k, r]
                    D = 0.0
                    for v in range(4):
                        i = nodes[k, v]
                        s = stencil[k, v]
                        C += s * (x[i, r] + g * (x[i, r] - x0[i, r]))
                        D += W[i, r] * s * s
                    d = -C / ((1.0 + g) * D + a + 1e-300)
                    lam[k, r] += d
                    for v in range(4):
                        i = nodes[k, v]
                        x[i, r] += W[i, r] * stencil[k, v] * d


@sweep
def curved_hinges(x, x0, W, lam, patches, colours, h, beta, nodes, stencil, rest, alpha):
    """C = |sum_i k_i x_i| - rest: bending of what is curved at rest."""
    g = beta / h
    for c in range(len(colours) - 1):
        for p in prange(colours[c], colours[c + 1]):
            for k in range(patches[p], patches[p + 1]):
                a = alpha[k] / (h * h)
                s0 = 0.0
                s1 = 0.0
                s2 = 0.0
                for v in range(4):
                    i = nodes[k, v]
                    s0 += stencil[k, v] * x[i, 0]
                    s1 += stencil[k, v] * x[i, 1]
                    s2 += stencil[k, v] * x[i, 2]
                L = math.sqrt(s0 * s0 + s1 * s1 + s2 * s2)
                q = 1.0 / max(L, EPS)
                s0 *= q
                s1 *= q
                s2 *= q
                C = L - rest[k] + a * lam[k]
                D = 0.0
                for v in range(4):
                    i = nodes[k, v]
                    t = stencil[k, v]
                    D += t * t * (W[i, 0] * s0 * s0 + W[i, 1] * s1 * s1 + W[i, 2] * s2 * s2)
                    moved = s0 * (x[i, 0] - x0[i, 0]) + s1 * (x[i, 1] - x0[i, 1]) + s2 * (x[i, 2] - x0[i, 2])
                    C += g * t * moved
                d = -C / ((1.0 + g) * D + a + 1e-300)
                lam[k] += d
                for v in range(4):
                    i = nodes[k, v]
                    t = stencil[k, v] * d
                    x[i, 0] += W[i, 0] * s0 * t
                    x[i, 1] += W[i, 1] * s1 * t
                    x[i, 2] += W[i, 2] * s2 * t


@device
def cross(a0, a1, a2, b0, b1, b2):
    return a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0


@sweep
def volumes(x, x0, W, lam, patches, colours, h, beta, nodes, rest, alpha):
    """C = signed volume of a tetrahedron - rest [m^3]; the gradients are a sixth of the facing area vectors."""
    g = beta / h
    for c in range(len(colours) - 1):
        for p in prange(colours[c], colours[c + 1]):
            for k in range(patches[p], patches[p + 1]):
                i = nodes[k, 0]
                j = nodes[k, 1]
                m = nodes[k, 2]
                n = nodes[k, 3]
                a0 = x[j, 0] - x[i, 0]
                a1 = x[j, 1] - x[i, 1]
                a2 = x[j, 2] - x[i, 2]
                b0 = x[m, 0] - x[i, 0]
                b1 = x[m, 1] - x[i, 1]
                b2 = x[m, 2] - x[i, 2]
                c0 = x[n, 0] - x[i, 0]
                c1 = x[n, 1] - x[i, 1]
                c2 = x[n, 2] - x[i, 2]
                j0, j1, j2 = cross(b0, b1, b2, c0, c1, c2)
                m0, m1, m2 = cross(c0, c1, c2, a0, a1, a2)
                n0, n1, n2 = cross(a0, a1, a2, b0, b1, b2)
                i0 = -(j0 + m0 + n0)
                i1 = -(j1 + m1 + n1)
                i2 = -(j2 + m2 + n2)
                a = alpha[k] / (h * h)
                C = (a0 * j0 + a1 * j1 + a2 * j2) / 6.0 - rest[k] + a * lam[k]
                D = W[i, 0] * i0 * i0 + W[i, 1] * i1 * i1 + W[i, 2] * i2 * i2
                D += W[j, 0] * j0 * j0 + W[j, 1] * j1 * j1 + W[j, 2] * j2 * j2
                D += W[m, 0] * m0 * m0 + W[m, 1] * m1 * m1 + W[m, 2] * m2 * m2
                D += W[n, 0] * n0 * n0 + W[n, 1] * n1 * n1 + W[n, 2] * n2 * n2
                if g > 0.0:
                    M = i0 * (x[i, 0] - x0[i, 0]) + i1 * (x[i, 1] - x0[i, 1]) + i2 * (x[i, 2] - x0[i, 2])
                    M += j0 * (x[j, 0] - x0[j, 0]) + j1 * (x[j, 1] - x0[j, 1]) + j2 * (x[j, 2] - x0[j, 2])
                    M += m0 * (x[m, 0] - x0[m, 0]) + m1 * (x[m, 1] - x0[m, 1]) + m2 * (x[m, 2] - x0[m, 2])
                    M += n0 * (x[n, 0] - x0[n, 0]) + n1 * (x[n, 1] - x0[n, 1]) + n2 * (x[n, 2] - x0[n, 2])
                    C += g * M / 6.0
                d = -C / ((1.0 + g) * D / 36.0 + a + 1e-300)
                lam[k] += d
                t = d / 6.0
                x[i, 0] += W[i, 0] * i0 * t
                x[i, 1] += W[i, 1] * i1 * t
                x[i, 2] += W[i, 2] * i2 * t
                x[j, 0] += W[j, 0] * j0 * t
                x[j, 1] += W[j, 1] * j1 * t
                x[j, 2] += W[j, 2] * j2 * t
                x[m, 0] += W[m, 0] * m0 * t
                x[m, 1] += W[m, 1] * m1 * t
                x[m, 2] += W[m, 2] * m2 * t
                x[n, 0] += W[n, 0] * n0 * t
                x[n, 1] += W[n, 1] * n1 * t
                x[n, 2] += W[n, 2] * n2 * t

"""Hessian blocks of isotropic densities from their spectrum; no 9x9 matrix and no 9x12 product is ever formed.

With F = U diag(s) V^T the tangent of psi(s) has three twist modes, three flip modes and a 3x3 scaling block
[Smith2018; Kim2019]. In the singular frame, dP = U (K : (U^T dF V)) V^T with

    dP_ii = sum_j Z_ij M_jj,     dP_ij = a_k M_ij + b_k M_ji,     a = (flip + twist)/2,  b = (flip - twist)/2,

so the 3x3 block of two nodes with shape gradients p, q (in the V frame) is U K(p, q) U^T in closed form.

Templates: `spectral(s0, s1, s2, p)` of the density returns (Z00 Z01 Z02 Z11 Z12 Z22, twist 0..2, flip 0..2), mode k
belonging to the pair of axes without k; `svd` and `restrict` come from the element, NODES and DIM are its counts.
"""

from pliant.kernels.bind import Functions, bind, template_device
from pliant.kernels.device import W, det, device, lanes, load8, load9, times, times_transpose
from pliant.kernels.svd import psd3

# Bound per element and density.
NODES = 4
svd = restrict = spectral = spectrum = energy = stress = None


def phase_spectrum(F, G, params, floor, S):
    """SVD, spectrum and clamped twist / flip pairs of all lanes, weighted with the rest volume.

    Rows of S: 0-8 U, 9-17 shape gradients in the V frame, 18-23 Z, 24-26 a, 27-29 b, 30 the least leading minor of Z.
    """
    for l in range(W):
        f = load9(F, l)
        p = load8(params, l)
        r = svd(f)
        z = restrict(spectral(r[9], r[10], r[11], p), f, r, p)
        w = G[l + 9 * W]
        for k in range(9):
            S[l + k * W] = r[k]
        for n in range(3):
            g = G[l + 3 * n * W], G[l + (3 * n + 1) * W], G[l + (3 * n + 2) * W]
            for k in range(3):
                S[l + (9 + 3 * n + k) * W] = g[0] * r[12 + k] + g[1] * r[15 + k] + g[2] * r[18 + k]
        for k in range(6):
            S[l + (18 + k) * W] = w * z[k]
        for k in range(3):
            twist = max(z[6 + k], floor)
            flip = max(z[9 + k], floor)
            S[l + (24 + k) * W] = 0.5 * w * (flip + twist)
            S[l + (27 + k) * W] = 0.5 * w * (flip - twist)
        minor = z[0] * z[3] - z[1] * z[1]
        S[l + 30 * W] = min(z[0], min(minor, det((z[0], z[1], z[2], z[1], z[3], z[4], z[2], z[4], z[5]))))


@lanes
def phase_clamp(S):
    """Project the scaling blocks, unless those of all lanes are definite (Sylvester)."""
    indefinite = 0
    for l in range(W):
        if not (S[l + 30 * W] > 0.0):
            indefinite += 1
    if indefinite == 0:
        return
    for l in range(W):
        z = psd3((S[l + 18 * W], S[l + 19 * W], S[l + 20 * W], S[l + 21 * W], S[l + 22 * W], S[l + 23 * W]))
        for k in range(6):
            S[l + (18 + k) * W] = z[k]


@device
def pair_block(p, q, Z, a, b, U):
    """U K(p, q) U^T for the shape gradients p and q of two nodes."""
    x, y, z = p[0] * q[0], p[1] * q[1], p[2] * q[2]
    K = (
        Z[0] * x + a[2] * y + a[1] * z,
        Z[1] * p[0] * q[1] + b[2] * p[1] * q[0],
        Z[2] * p[0] * q[2] + b[1] * p[2] * q[0],
        Z[1] * p[1] * q[0] + b[2] * p[0] * q[1],
        Z[3] * y + a[2] * x + a[0] * z,
        Z[4] * p[1] * q[2] + b[0] * p[2] * q[1],
        Z[2] * p[2] * q[0] + b[1] * p[0] * q[2],
        Z[4] * p[2] * q[1] + b[0] * p[1] * q[2],
        Z[5] * z + a[1] * x + a[0] * y,
    )
    return times_transpose(times(U, K), U)


@lanes
def phase_pair(S, m, n, H):
    """The block of nodes m and n (counted without node 0) of all lanes into H (9 rows)."""
    for l in range(W):
        i = l + (9 + 3 * m) * W
        j = l + (9 + 3 * n) * W
        B = pair_block(
            (S[i], S[i + W], S[i + 2 * W]),
            (S[j], S[j + W], S[j + 2 * W]),
            (S[l + 18 * W], S[l + 19 * W], S[l + 20 * W], S[l + 21 * W], S[l + 22 * W], S[l + 23 * W]),
            (S[l + 24 * W], S[l + 25 * W], S[l + 26 * W]),
            (S[l + 27 * W], S[l + 28 * W], S[l + 29 * W]),
            load9(S, l),
        )
        for k in range(9):
            H[l + k * W] = B[k]


def blocks(F, G, params, psd, S, H):
    """Blocks of the node pairs (1,1), (1,2), ... of all lanes, 9 rows of H each, weighted with the rest volume."""
    spectrum(F, G, params, 0.0 if psd else -1e300, S)
    if psd:
        phase_clamp(S)
    k = 0
    for m in range(NODES - 1):
        for n in range(m, NODES - 1):
            phase_pair(S, m, n, H[9 * W * k :])
            k += 1


def isotropic(psi, piola, spectral):
    """Family of densities with direct formulas for psi(F, p) and piola(F, p) and a spectrum."""

    def functions(element, label):
        restrict = template_device(element.restrict, label, piola=piola)
        spectrum = lanes(bind(phase_spectrum, label, svd=element.svd, spectral=spectral, restrict=restrict))
        return Functions(psi, piola, lanes(bind(blocks, label, spectrum=spectrum, NODES=element.nodes)))

    return functions


def principal(energy, stress, spectral):
    """Family of densities of principal stretches only: energy(s0, s1, s2, p), stress = (dpsi/ds_i), and a spectrum."""

    def functions(element, label):
        psi = device(bind(principal_psi, label, svd=element.svd, energy=energy))
        piola = device(bind(principal_piola, label, svd=element.svd, stress=stress))
        return isotropic(psi, piola, spectral)(element, label)

    return functions


def principal_psi(F, p):
    r = svd(F)
    return energy(r[9], r[10], r[11], p)


def principal_piola(F, p):
    """U diag(dpsi/ds) V^T"""
    r = svd(F)
    t0, t1, t2 = stress(r[9], r[10], r[11], p)
    U = (r[0] * t0, r[1] * t1, r[2] * t2, r[3] * t0, r[4] * t1, r[5] * t2, r[6] * t0, r[7] * t1, r[8] * t2)
    return times_transpose(U, r[12:])

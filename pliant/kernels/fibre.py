"""Densities of one fibre direction a, psi(I5) with I5 = |F a|^2 [Kim2019]: no SVD, three eigenvalues in closed form.

    P = 2 psi' F a a^T,     dP/dF = 2 psi' (a a^T kron I) + 4 psi'' vec(F a a^T) vec(F a a^T)^T

with the eigenvalues lam0 = 2 psi' + 4 I5 psi'' along F a and lam1 = 2 psi' across it, so that the block of two nodes with
shape gradients g, h is (a.g)(a.h) (lam1 I + (lam0 - lam1) w w^T / I5), w = F a.

A law(I5, sign, p) returns (psi, psi', psi''). Rows 3-5 of the parameters hold a; sign is that of a^T S a with the signed
stretch S when the law asks for it (a reflected fibre is then not at rest), else 1.
"""

from pliant.kernels.bind import Functions, bind
from pliant.kernels.device import W, apply, device, lanes, load8, load9

# Bound per element and density.
NODES = 4
law = sign = svd = phase = None


def fibre(law, *, signed=False):
    """Family of densities psi(I5)."""

    def functions(element, label):
        sign = device(bind(stretch_sign, label, svd=element.svd)) if signed else always_one
        phase = lanes(bind(phase_fibre, label, law=law, sign=sign))
        return Functions(
            device(bind(fibre_psi, label, law=law, sign=sign)),
            device(bind(fibre_piola, label, law=law, sign=sign)),
            lanes(bind(blocks, label, phase=phase, NODES=element.nodes)),
        )

    return functions


@device
def always_one(F, p):
    return 1.0


def stretch_sign(F, p):
    """Sign of a^T V diag(s) V^T a."""
    r = svd(F)
    c0 = p[3] * r[12] + p[4] * r[15] + p[5] * r[18]
    c1 = p[3] * r[13] + p[4] * r[16] + p[5] * r[19]
    c2 = p[3] * r[14] + p[4] * r[17] + p[5] * r[20]
    return 1.0 if r[9] * c0 * c0 + r[10] * c1 * c1 + r[11] * c2 * c2 >= 0.0 else -1.0


def fibre_psi(F, p):
    w0, w1, w2 = apply(F, p[3], p[4], p[5])
    return law(w0 * w0 + w1 * w1 + w2 * w2, sign(F, p), p)[0]


def fibre_piola(F, p):
    w0, w1, w2 = apply(F, p[3], p[4], p[5])
    c = 2.0 * law(w0 * w0 + w1 * w1 + w2 * w2, sign(F, p), p)[1]
    a0 = c * p[3]; a1 = c * p[4]; a2 = c * p[5]
    return (w0 * a0, w0 * a1, w0 * a2, w1 * a0, w1 * a1, w1 * a2, w2 * a0, w2 * a1, w2 * a2)


def phase_fibre(F, G, params, floor, S):
    """Rows of S: 0-2 a.g of nodes 1, 2, 3; 3-8 lam1 I + (lam0 - lam1) w w^T / I5, clamped and weighted."""
    for l in range(W):
        f = load9(F, l)
        p = load8(params, l)
        w0, w1, w2 = apply(f, p[3], p[4], p[5])
        I5 = w0 * w0 + w1 * w1 + w2 * w2
        _, d1, d2 = law(I5, sign(f, p), p)
        volume = G[l + 9 * W]
        lam1 = volume * max(2.0 * d1, floor)
        c = (volume * max(2.0 * d1 + 4.0 * I5 * d2, floor) - lam1) / max(I5, 1e-24)
        for n in range(3):
            S[l + n * W] = p[3] * G[l + 3 * n * W] + p[4] * G[l + (3 * n + 1) * W] + p[5] * G[l + (3 * n + 2) * W]
        S[l + 3 * W] = lam1 + c * w0 * w0
        S[l + 4 * W] = c * w0 * w1
        S[l + 5 * W] = c * w0 * w2
        S[l + 6 * W] = lam1 + c * w1 * w1
        S[l + 7 * W] = c * w1 * w2
        S[l + 8 * W] = lam1 + c * w2 * w2


@lanes
def phase_pair(S, m, n, H):
    for l in range(W):
        c = S[l + m * W] * S[l + n * W]
        H[l] = c * S[l + 3 * W]
        H[l + W] = c * S[l + 4 * W]
        H[l + 2 * W] = c * S[l + 5 * W]
        H[l + 3 * W] = c * S[l + 4 * W]
        H[l + 4 * W] = c * S[l + 6 * W]
        H[l + 5 * W] = c * S[l + 7 * W]
        H[l + 6 * W] = c * S[l + 5 * W]
        H[l + 7 * W] = c * S[l + 7 * W]
        H[l + 8 * W] = c * S[l + 8 * W]


def blocks(F, G, params, psd, S, H):
    phase(F, G, params, 0.0 if psd else -1e300, S)
    k = 0
    for m in range(NODES - 1):
        for n in range(m, NODES - 1):
            phase_pair(S, m, n, H[9 * W * k :])
            k += 1

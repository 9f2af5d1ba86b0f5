"""Densities of one fibre direction a, psi(I5) with I5 = |F a|^2 [Kim2019]: no SVD, three eigenvalues in closed form.

    P = 2 psi' F a a^T,     dP/dF = 2 psi' (a a^T kron I) + 4 psi'' vec(F a a^T) vec(F a a^T)^T

with the eigenvalues lam0 = 2 psi' + 4 I5 psi'' along F a and lam1 = 2 psi' across it, so that the block of two nodes
with shape gradients g, h is (a.g)(a.h) (lam1 I + (lam0 - lam1) w w^T / I5), w = F a.

A law(I5, sign, p) returns (psi, psi', psi''). Rows 3-5 of the parameters hold a; sign is that of a^T S a with the
signed stretch S when the law asks for it (a reflected fibre is then not at rest), else 1.
"""

from pliant.kernels.bind import Functions, bind
from pliant.kernels.device import W, apply, device, dot, lanes, load8, load9, outer, transpose

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
    c = apply(transpose(r[12:]), p[3:6])
    return 1.0 if r[9] * c[0] * c[0] + r[10] * c[1] * c[1] + r[11] * c[2] * c[2] >= 0.0 else -1.0


def fibre_psi(F, p):
    w = apply(F, p[3:6])
    return law(dot(w, w), sign(F, p), p)[0]


def fibre_piola(F, p):
    w = apply(F, p[3:6])
    c = 2.0 * law(dot(w, w), sign(F, p), p)[1]
    return outer(w, (c * p[3], c * p[4], c * p[5]))


def phase_fibre(F, G, params, floor, S):
    """Rows of S: 0-2 a.g of nodes 1, 2, 3; 3-8 lam1 I + (lam0 - lam1) w w^T / I5, clamped and weighted."""
    for l in range(W):
        f = load9(F, l)
        p = load8(params, l)
        w = apply(f, p[3:6])
        I5 = dot(w, w)
        _, d1, d2 = law(I5, sign(f, p), p)
        volume = G[l + 9 * W]
        lam1 = volume * max(2.0 * d1, floor)
        c = (volume * max(2.0 * d1 + 4.0 * I5 * d2, floor) - lam1) / max(I5, 1e-24)
        for n in range(3):
            S[l + n * W] = dot(p[3:6], (G[l + 3 * n * W], G[l + (3 * n + 1) * W], G[l + (3 * n + 2) * W]))
        S[l + 3 * W] = lam1 + c * w[0] * w[0]
        S[l + 4 * W] = c * w[0] * w[1]
        S[l + 5 * W] = c * w[0] * w[2]
        S[l + 6 * W] = lam1 + c * w[1] * w[1]
        S[l + 7 * W] = c * w[1] * w[2]
        S[l + 8 * W] = lam1 + c * w[2] * w[2]


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

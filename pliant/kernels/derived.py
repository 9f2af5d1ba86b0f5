"""Densities given by a formula alone: stress and Hessian blocks from its first and second derivatives.

`invariants` makes a density of I1 = tr C, I2 = (I1^2 - tr C^2)/2 = |cof F|^2 and J = det F. With s the signed singular
values, i, j, k three different axes, and psi_1, psi_2, psi_J the derivatives,

    P      = 2 psi_1 F + 2 psi_2 (I1 F - F F^T F) + psi_J cof F
    twist  = (psi_i + psi_j)/(s_i + s_j) = 2 psi_1 + 2 psi_2 (s_k^2 + s_i s_j) + psi_J s_k
    flip   = (psi_i - psi_j)/(s_i - s_j) = 2 psi_1 + 2 psi_2 (s_k^2 - s_i s_j) - psi_J s_k

have no denominators, so that equal stretches need no care. `stretches` makes one of the singular values themselves (any
symmetric function); its quotients go over to their limits where two stretches nearly agree.
"""

import math

from pliant.kernels.bind import bind
from pliant.kernels.device import cofactor, combine, det, device, norm2, times, times_transpose
from pliant.kernels.isotropic import isotropic, principal

NEAR = 1e-4  # difference of stretches below which a quotient is replaced by its limit: both are then right to 1e-8

# Bound per density: derivatives of psi(I1, I2, J) or psi(s0, s1, s2); whether psi is finite for det F <= 0.
value = first = second = None
INVERTIBLE = True


def invariants(value, first, second, invertible):
    """Family of densities psi(I1, I2, J, p) with (psi_1, psi_2, psi_J) and those followed by 11 12 1J 22 2J JJ."""

    def functions(element, label):
        psi = device(bind(invariant_psi, label, value=value, INVERTIBLE=invertible))
        piola = device(bind(invariant_piola, label, first=first))
        spectral = device(bind(invariant_spectral, label, second=second))
        return isotropic(psi, piola, spectral)(element, label)

    return functions


def invariant_psi(F, p):
    J = det(F)
    if not INVERTIBLE and not J > 0.0:
        return math.inf
    return value(norm2(F), norm2(cofactor(F)), J, p)


def invariant_piola(F, p):
    I1 = norm2(F)
    cof = cofactor(F)
    d1, d2, dJ = first(I1, norm2(cof), det(F), p)
    FFF = times(times_transpose(F, F), F)
    return combine(1.0, combine(2.0 * (d1 + d2 * I1), F, -2.0 * d2, FFF), dJ, cof)


def invariant_spectral(s0, s1, s2, p):
    a, b, c = s0 * s0, s1 * s1, s2 * s2
    J0, J1, J2 = s1 * s2, s0 * s2, s0 * s1
    d1, d2, dJ, h11, h12, h1J, h22, h2J, hJJ = second(a + b + c, a * b + b * c + a * c, s0 * J0, p)
    u0, u1, u2 = 2.0 * s0, 2.0 * s1, 2.0 * s2  # dI1/ds
    w0, w1, w2 = u0 * (b + c), u1 * (a + c), u2 * (a + b)  # dI2/ds
    # second derivatives of psi(s): products of first ones, then psi_1 2 + psi_2 2 (s_j^2 + s_k^2) on the diagonal and
    # psi_2 4 s_i s_j + psi_J s_k beside it
    g0, g1, g2 = h11 * u0 + h12 * w0 + h1J * J0, h11 * u1 + h12 * w1 + h1J * J1, h11 * u2 + h12 * w2 + h1J * J2
    k0, k1, k2 = h12 * u0 + h22 * w0 + h2J * J0, h12 * u1 + h22 * w1 + h2J * J1, h12 * u2 + h22 * w2 + h2J * J2
    m0, m1, m2 = h1J * u0 + h2J * w0 + hJJ * J0, h1J * u1 + h2J * w1 + hJJ * J1, h1J * u2 + h2J * w2 + hJJ * J2
    e, f = 2.0 * d1, 2.0 * d2
    return (
        u0 * g0 + w0 * k0 + J0 * m0 + e + f * (b + c),
        u0 * g1 + w0 * k1 + J0 * m1 + 2.0 * f * J2 + dJ * s2,
        u0 * g2 + w0 * k2 + J0 * m2 + 2.0 * f * J1 + dJ * s1,
        u1 * g1 + w1 * k1 + J1 * m1 + e + f * (a + c),
        u1 * g2 + w1 * k2 + J1 * m2 + 2.0 * f * J0 + dJ * s0,
        u2 * g2 + w2 * k2 + J2 * m2 + e + f * (a + b),
        e + f * (a + J0) + dJ * s0, e + f * (b + J1) + dJ * s1, e + f * (c + J2) + dJ * s2,
        e + f * (a - J0) - dJ * s0, e + f * (b - J1) - dJ * s1, e + f * (c - J2) - dJ * s2,
    )  # fmt: skip


def stretches(value, first, second, invertible):
    """Family of densities psi(s0, s1, s2, p), symmetric, with its three first and those followed by 00 01 02 11 12 22."""

    def functions(element, label):
        energy = device(bind(stretch_energy, label, value=value, INVERTIBLE=invertible))
        spectral = device(bind(stretch_spectral, label, second=second))
        return principal(energy, first, spectral)(element, label)

    return functions


def stretch_energy(s0, s1, s2, p):
    if not INVERTIBLE and not s2 > 0.0:
        return math.inf
    return value(s0, s1, s2, p)


@device
def quotient(difference, distance, limit):
    near = abs(distance) < NEAR
    return limit if near else difference / (1.0 if near else distance)


def stretch_spectral(s0, s1, s2, p):
    d0, d1, d2, h00, h01, h02, h11, h12, h22 = second(s0, s1, s2, p)
    m0, m1, m2 = 0.5 * (h11 + h22), 0.5 * (h00 + h22), 0.5 * (h00 + h11)
    return (
        h00, h01, h02, h11, h12, h22,
        quotient(d1 + d2, s1 + s2, m0 + h12), quotient(d0 + d2, s0 + s2, m1 + h02), quotient(d0 + d1, s0 + s1, m2 + h01),
        quotient(d1 - d2, s1 - s2, m0 - h12), quotient(d0 - d2, s0 - s2, m1 - h02), quotient(d0 - d1, s0 - s1, m2 - h01),
    )  # fmt: skip

"""The action of the matrix exponential, w = exp(t A) v, by Arnoldi with adaptive substeps.

Each substep projects A onto the Krylov space K_m(A, w), A V_m = V_m H_m + h_{m+1,m} v_{m+1} e_m^T, and takes
w <- |w| V_{m+1} exp(dt Hbar) e_1, where Hbar is H_m with two more rows whose entries of the exponential estimate the
local error. A substep that is too long costs another small exponential, never another product with A.
[Sidje1998, Alg. 3.2; Chen2019, sec. 4.2]
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import expm

from pliant.arrays import Array

SAFETY, SLACK = 0.9, 1.2  # gamma and delta of [Sidje1998]
BREAKDOWN = 1e-12  # relative to |H|: the Krylov space is invariant, the rest of the interval is exact
REJECTIONS = 12


@dataclass(frozen=True)
class Exponential:
    """``w`` = exp(t A) v and the work it took; ``converged`` is False when ``reached`` [s] stayed short of t."""

    w: Array
    substeps: int
    products: int
    error: float  # sum of the local error estimates, as a part of the largest |w|
    converged: bool
    reached: float


Basis = Callable[[Array, int], tuple[Array, Array, bool, float]]  # what `arnoldi` returns, for a start and m


def expv(
    apply: Callable[[Array], Array],
    v: Array,
    t: float,
    *,
    m: int = 30,
    tolerance: float = 1e-7,
    max_substeps: int = 100_000,
    basis: Basis | None = None,
) -> Exponential:
    """exp(t A) v for ``apply(x)`` = A x and t > 0; the error is about ``tolerance`` times the largest |w|.

    ``basis`` may do the Arnoldi process of A in its own way.
    """
    basis = basis or (lambda start, m: arnoldi(apply, start, m))
    w = np.array(v, dtype=np.float64)
    m = min(m, len(w))
    now, step = 0.0, 0.0
    substeps = products = 0
    error = 0.0
    largest = float(np.linalg.norm(w))
    told = lambda: error / max(largest, 1e-300)
    while now < t and substeps < max_substeps:
        with np.errstate(over="ignore"):
            beta = float(np.linalg.norm(w))
        if beta == 0.0 or not np.isfinite(beta):
            return Exponential(w, substeps, products, told(), bool(np.isfinite(beta)), now)
        V, H, exact, after = basis(w / beta, m)
        products += len(V)
        if not np.isfinite(H).all():
            return Exponential(w * np.nan, substeps, products, told(), False, now)
        step = t - now if exact else min(t - now, step or first_step(H, m, tolerance))
        for _ in range(REJECTIONS):
            with np.errstate(over="ignore", invalid="ignore"):  # growth beyond the range shows as not finite
                small = expm(step * H)[:, 0]
            local = 0.0 if exact else beta * estimate(small, after)
            largest = max(largest, beta * float(np.linalg.norm(small[: len(V)])))
            allowed = step / t * tolerance * largest
            if local <= SLACK * allowed:
                break
            step *= SAFETY * (allowed / local) ** (1.0 / m) if np.isfinite(local) else 0.1
        else:
            return Exponential(w, substeps, products, told(), False, now)
        with np.errstate(over="ignore", invalid="ignore"):
            w = beta * (small[: len(V)] @ V)
        now = t if step >= t - now else now + step
        substeps, error = substeps + 1, error + local
        step *= min(5.0, SAFETY * (allowed / max(local, 1e-30 * allowed)) ** (1.0 / m))
    return Exponential(w, substeps, products, told(), now >= t, now)


def arnoldi(apply: Callable[[Array], Array], v: Array, m: int) -> tuple[Array, Array, bool, float]:
    """Rows V of an orthonormal basis, the matrix for the small exponential, whether it is exact, and |A v_{m+1}|.

    Gram-Schmidt is repeated when the first pass cancels ("twice is enough").
    """
    V = np.zeros((m + 1, len(v)))
    H = np.zeros((m + 2, m + 2))
    V[0] = v
    for j in range(m):
        w = apply(V[j])
        before = np.linalg.norm(w)
        c = V[: j + 1] @ w
        w = w - c @ V[: j + 1]
        after = np.linalg.norm(w)
        if after < 0.7 * before:
            again = V[: j + 1] @ w
            w = w - again @ V[: j + 1]
            c, after = c + again, np.linalg.norm(w)
        H[: j + 1, j] = c
        if after <= BREAKDOWN * max(1e-300, float(np.abs(H[: j + 1, : j + 1]).max())):
            return V[: j + 1], H[: j + 1, : j + 1], True, 0.0
        H[j + 1, j] = after
        V[j + 1] = w / after
    H[m + 1, m] = 1.0
    return V, H, False, float(np.linalg.norm(apply(V[m])))


def estimate(small: Array, after: float) -> float:
    """Local error of a substep per unit |w|, from the last two entries of the small exponential [Sidje1998, Eq. 10]."""
    p1, p2 = abs(float(small[-2])), abs(float(small[-1])) * after
    if p1 > 10.0 * p2:
        return p2
    return p1 * p2 / (p1 - p2) if p1 > p2 else p1


def first_step(H: Array, m: int, tolerance: float) -> float:
    """The a priori substep ((m+1)/e)^{m+1} sqrt(2 pi (m+1)) tol / (4 |A|) to the power 1/m, over |A| ~ |H|."""
    norm = float(np.linalg.norm(H[: m + 1, :m], 2))
    bound = ((m + 1) / np.e) ** (m + 1) * np.sqrt(2.0 * np.pi * (m + 1)) * tolerance / 4.0
    return float(bound ** (1.0 / m) / norm)

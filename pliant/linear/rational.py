"""The motion of a linear body during one step, in a rational Krylov space.

    M q'' + D q' + K q = sum_k f_k (t/h)^k,    q(0) = 0,  q'(0) = v

is projected onto V = span of (A^-1 M)^j {v, A^-1 f_k}, V^T M V = I, with A = M + h D + h^2 K as linearly implicit steps
factor it, and the small system is solved exactly. How many vectors it takes depends on the motion, not on the stiffest
element: modes that oscillate many times in a step and hold little energy need not be resolved. As v lies in the space,
the energy of the undamped body (kinetic, elastic, potential of a constant load) is kept whatever the number of vectors.
The error falls slowly (about as their inverse) where stiff modes are excited. [VanDenEshof2006]

Damping that shares no modes with K mixes them: the space is then that of the first-order system, whose vectors are
pairs (q, q'). Its positions lie in the span of its velocities, which alone are made orthonormal. [BaiSu2005]
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import factorial

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh, expm

from pliant.arrays import Array

DEPENDENT = 1e-10  # what is left of a vector of length 1 that the space holds already
GROWTH = 1.25  # the space grows by this factor between looks at the result
SYMMETRIC = 1e-10  # |K - K^T| / |K| of round-off


@dataclass(frozen=True, eq=False)
class LinearMotion:
    """q(h) and q'(h) - v, how many systems were solved, and the ``error``: how much the last vectors changed."""

    dq: Array
    dv: Array
    solves: int
    error: float


def motion(
    M: sp.csr_matrix,
    K: sp.csr_matrix,
    D: sp.csr_matrix | None,
    solve: Callable[[Array], Array],
    v: Array,
    loads: Sequence[Array],
    h: float,
    *,
    m: int,
    tolerance: float,
) -> LinearMotion:
    """The motion above, ``solve(b)`` = A^-1 b, with at most ``m`` vectors or until ``tolerance`` is met.

    Errors are of (q / h, q') in the norm of M, as a part of the motion.
    """
    n = len(v)
    starts = [solve(f) for f in loads if f.any()]
    solves = len(starts)
    fresh = np.array([v] * bool(v.any()) + starts).reshape(-1, n)
    mates = h * fresh * (np.arange(len(fresh)) >= len(fresh) - solves)[:, None] if D is not None else fresh[:, :0]
    V, MV, KV, DV, P = *(np.zeros((0, n)) for _ in range(4)), mates[:0]
    seen, small, error = 0, (np.zeros(0), np.zeros(0)), 0.0
    while True:
        room = m - len(V)
        fresh, mates, Mf = orthonormal(fresh[:room], mates[:room], V, P, M)
        V, P, MV = np.vstack([V, fresh]), np.vstack([P, mates]), np.vstack([MV, Mf])
        KV, DV = np.vstack([KV, (K @ fresh.T).T]), DV if D is None else np.vstack([DV, (D @ fresh.T).T])
        done = not len(fresh) or len(V) >= m
        if done or len(V) >= GROWTH * seen:
            before, seen = small, len(V)
            small = reduced(V @ KV.T, None if D is None else V @ DV.T, MV @ v, [V @ f for f in loads], h)
            error = change(before, small, h)
        if done or error <= tolerance:
            return LinearMotion(small[0] @ V, small[1] @ V, solves, error if len(fresh) else 0.0)
        load = Mf.T if D is None else Mf.T - h * (K @ mates.T)
        fresh = np.ascontiguousarray(solve(np.ascontiguousarray(load)).T)
        mates = mates if D is None else mates + h * fresh
        solves += len(fresh)


def orthonormal(fresh: Array, mates: Array, V: Array, P: Array, M: sp.csr_matrix) -> tuple[Array, Array, Array]:
    """What the rows of ``fresh`` add to those of V, orthonormal in M, with their mates treated alike; M times it."""
    basis, partners, images = V, P, np.zeros((0, V.shape[1]))
    for x, p in zip(fresh, mates):
        length = np.sqrt(x @ (M @ x))
        x, p = x / length, p / length
        for _ in range(2):
            c = basis @ (M @ x)
            x, p = x - c @ basis, p - c @ partners
        y = M @ x
        length = float(np.sqrt(x @ y))
        if length > DEPENDENT:
            basis, images = np.vstack([basis, x / length]), np.vstack([images, y / length])
            partners = np.vstack([partners, p / length])
    return basis[len(V) :], partners[len(V) :], images


def reduced(K: Array, D: Array | None, a: Array, loads: list[Array], h: float) -> tuple[Array, Array]:
    """q(h) and q'(h) - a of a small system with M = I: mode by mode where it is undamped, else by an exponential."""
    if D is None and np.abs(K - K.T).max(initial=0.0) <= SYMMETRIC * np.abs(K).max(initial=0.0):
        lam, Q = eigh(0.5 * (K + K.T))
        c = stumpff(h * h * lam, len(loads) + 1)
        a = Q.T @ a
        q, v = h * c[1] * a, -(h * h * lam) * c[2] * a
        for k, f in enumerate(loads):
            g = factorial(k) * (Q.T @ f)
            q, v = q + h * h * c[k + 2] * g, v + h * c[k + 1] * g
        return Q @ q, Q @ v
    n, p = len(a), len(loads)
    J = np.zeros((2 * n + p, 2 * n + p))  # over (q, h q', 1, t/h, (t/h)^2, ...), in units of h
    J[:n, n : 2 * n] = np.eye(n)
    J[n : 2 * n, :n] = -h * h * K
    J[n : 2 * n, n : 2 * n] = 0.0 if D is None else -h * D
    for k, f in enumerate(loads):
        J[n : 2 * n, 2 * n + k] = h * h * f
        if k:
            J[2 * n + k, 2 * n + k - 1] = k
    start = np.concatenate([np.zeros(n), h * a, np.eye(1, p)[0] if p else np.zeros(0)])
    end = expm(J) @ start
    return end[:n], end[n : 2 * n] / h - a


def change(before: tuple[Array, Array], now: tuple[Array, Array], h: float) -> float:
    """How far (q / h, q') went from one space to the next, which holds it, as a part of itself."""
    size = lambda q, v: float(np.hypot(np.linalg.norm(q) / h, np.linalg.norm(v)))
    padded = [np.concatenate([x, np.zeros(len(y) - len(x))]) for x, y in zip(before, now)]
    whole = size(*now)
    return size(now[0] - padded[0], now[1] - padded[1]) / whole if whole > 0.0 else 0.0


def stumpff(z: Array, last: int) -> list[Array]:
    """c_j(z) = sum_i (-z)^i / (2 i + j)! for j = 0 ... ``last`` (at least 2) and any real z.

    c_0 = cos sqrt z, c_1 = sin(sqrt z) / sqrt z, c_{j+2} = (1/j! - c_j) / z: entire, so that rigid modes (z = 0) fly
    freely and negative ones grow with sinh and cosh.
    """
    near = np.abs(z) < 1.0
    far = np.where(near, 1.0, z)
    x = np.sqrt(far.astype(complex))
    c = [np.cos(x).real, (np.sin(x) / x).real, 2.0 * ((np.sin(0.5 * x) / x) ** 2).real]
    for j in range(1, last - 1):
        c.append((1.0 / factorial(j) - c[j]) / far)
    series = lambda j: sum((-z) ** i / factorial(2 * i + j) for i in range(11))
    return [np.where(near, series(j), c[j]) for j in range(last + 1)]

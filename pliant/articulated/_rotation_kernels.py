"""Rotations from rotation vectors, their tangents S(r) and the rates of these, for real and complex numbers."""

import numpy as np
from numba import njit

_options = {"cache": True, "error_model": "numpy"}


@njit(**_options)
def _coefficients(t2):
    """s, a, b of `pliant.articulated.se3` and da/d(t^2), db/d(t^2), by their series where t^2 is small."""
    if abs(t2) < 0.1:  # 8 terms, error < 1e-19
        s = a = b = da = db = 0.0 * t2
        f = 1.0  # (2 k + 1)! for k = 7, then downwards
        for i in range(2, 16):
            f *= i
        for k in range(7, -1, -1):
            s = 1.0 / f - t2 * s
            a = 1.0 / (f * (2 * k + 2)) - t2 * a
            b = 1.0 / (f * (2 * k + 2) * (2 * k + 3)) - t2 * b
            da = -(k + 1) / (f * (2 * k + 2) * (2 * k + 3) * (2 * k + 4)) - t2 * da
            db = -(k + 1) / (f * (2 * k + 2) * (2 * k + 3) * (2 * k + 4) * (2 * k + 5)) - t2 * db
            if k > 0:
                f /= (2 * k + 1) * (2 * k)
        return s, a, b, da, db
    t = np.sqrt(t2)
    s = np.sin(t) / t
    a = (1.0 - np.cos(t)) / t2
    b = (t - np.sin(t)) / (t2 * t)
    return s, a, b, (s - 2.0 * a) / (2.0 * t2), (a - 3.0 * b) / (2.0 * t2)


@njit(**_options)
def _add_hat(x, c, out):
    """out += c [x]."""
    out[0, 1] -= c * x[2]
    out[0, 2] += c * x[1]
    out[1, 2] -= c * x[0]
    out[1, 0] += c * x[2]
    out[2, 0] -= c * x[1]
    out[2, 1] += c * x[0]


@njit(**_options)
def exponentials(r, turn):
    """I + c1 [r] + c2 [r]^2 (k, 3, 3) for r (k, 3): the rotation, (c1, c2) = (s, a), or S(r), (c1, c2) = (-a, b)."""
    out = np.zeros((len(r), 3, 3), r.dtype)
    for k in range(len(r)):
        x = r[k]
        t2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2]
        s, a, b, _, _ = _coefficients(t2)
        c1, c2 = (s, a) if turn else (-a, b)
        _add_hat(x, c1, out[k])
        for i in range(3):
            for j in range(3):
                out[k, i, j] += c2 * x[i] * x[j]
            out[k, i, i] += 1.0 - c2 * t2
    return out


@njit(**_options)
def exponential_rates(r, v):
    """d/dt (I - a [r] + b [r]^2) along v (k, 3, 3)."""
    out = np.zeros((len(r), 3, 3), r.dtype)
    for k in range(len(r)):
        x, y = r[k], v[k]
        t2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2]
        rate = 2.0 * (x[0] * y[0] + x[1] * y[1] + x[2] * y[2])
        _, a, b, da, db = _coefficients(t2)
        _add_hat(x, -rate * da, out[k])
        _add_hat(y, -a, out[k])
        for i in range(3):
            for j in range(3):
                out[k, i, j] += rate * db * x[i] * x[j] + b * (x[i] * y[j] + y[i] * x[j])
            out[k, i, i] -= rate * db * t2 + b * rate
    return out

"""Rigid motions: frames E = (R, p), twists phi = (omega, nu) in body coordinates, adjoints [Weidner2022, ch. 3].

    A(E) = [R 0; [p] R  R]       ad(phi) = [[omega] 0; [nu] [omega]]       dA/dt = A ad(phi)
    exp[r] = I + s [r] + a [r]^2     S(r) = I - a [r] + b [r]^2
    s = sin t / t,   a = (1 - cos t) / t^2,   b = (t - sin t) / t^3,   t = |r|

All functions broadcast over leading axes and accept complex numbers, so that derivatives can be taken by complex steps.
"""

import math

import numpy as np

from pliant.arrays import Array
from pliant.articulated import _rotation_kernels as kernels

_SMALL = 0.1  # below this t^2 the power series (8 terms, error < 1e-19) replaces the closed forms
_REPARAMETERISE = 1.5 * math.pi  # |r| beyond which exponential coordinates are moved to the other chart


def hat(w: Array) -> Array:
    """[w] (..., 3, 3) with [w] x = w x x, for w (..., 3)."""
    H = np.zeros((*w.shape, 3), dtype=w.dtype)
    H[..., 0, 1], H[..., 0, 2], H[..., 1, 2] = -w[..., 2], w[..., 1], -w[..., 0]
    H[..., 1, 0], H[..., 2, 0], H[..., 2, 1] = w[..., 2], -w[..., 1], w[..., 0]
    return H


def frame(R: Array | None = None, p: Array | tuple[float, float, float] | None = None) -> Array:
    """E (..., 4, 4) from a rotation R (..., 3, 3) and an origin p (..., 3); identity and zero where omitted."""
    R = np.eye(3) if R is None else np.asarray(R)
    p = np.zeros(3) if p is None else np.asarray(p, dtype=None if np.iscomplexobj(p) else float)
    shape = np.broadcast_shapes(R.shape[:-2], p.shape[:-1])
    E = np.zeros((*shape, 4, 4), dtype=np.result_type(R, p, float))
    E[..., :3, :3] = R
    E[..., :3, 3] = p
    E[..., 3, 3] = 1.0
    return E


def inverse(E: Array) -> Array:
    """E^-1 = (R^T, -R^T p)."""
    Rt = np.swapaxes(E[..., :3, :3], -1, -2)
    return frame(Rt, -(Rt @ E[..., :3, 3, None])[..., 0])


def adjoint(E: Array) -> Array:
    """A(E) (..., 6, 6): maps twists of the inner frame to the outer one."""
    R = E[..., :3, :3]
    A = np.zeros((*E.shape[:-2], 6, 6), dtype=E.dtype)
    A[..., :3, :3] = R
    A[..., 3:, 3:] = R
    A[..., 3:, :3] = hat(E[..., :3, 3]) @ R
    return A


def ad(phi: Array) -> Array:
    """ad(phi) (..., 6, 6), the Lie bracket with phi."""
    W = hat(phi[..., :3])
    A = np.zeros((*phi.shape[:-1], 6, 6), dtype=phi.dtype)
    A[..., :3, :3] = W
    A[..., 3:, 3:] = W
    A[..., 3:, :3] = hat(phi[..., 3:])
    return A


def gamma(x: Array) -> Array:
    """Gamma(x) = ([x]^T I) (..., 3, 6): body-frame velocity of the body point x is Gamma phi."""
    G = np.zeros((*x.shape[:-1], 3, 6), dtype=x.dtype)
    G[..., :, :3] = -hat(x)
    G[..., :, 3:] = np.eye(3)
    return G


def _horner(t2: Array, first: int) -> Array:
    """sum_k (-t2)^k / (2k + first)! by Horner's rule."""
    value = np.zeros_like(t2)
    for k in range(7, -1, -1):
        value = value * -t2 + 1.0 / math.factorial(2 * k + first)
    return value


def coefficients(r: Array) -> tuple[Array, Array, Array]:
    """(s, a, b) of the formulas above for rotation vectors r (..., 3), series for small angles."""
    t2 = np.sum(r * r, axis=-1)
    small = np.abs(t2) < _SMALL
    safe = np.where(small, 1.0, t2)
    t = np.sqrt(safe)
    s = np.where(small, _horner(t2, 1), np.sin(t) / t)
    a = np.where(small, _horner(t2, 2), (1.0 - np.cos(t)) / safe)
    b = np.where(small, _horner(t2, 3), (t - np.sin(t)) / (safe * t))
    return s, a, b


def exp3(r: Array) -> Array:
    """Rotation matrix exp[r] (..., 3, 3) by Rodrigues' formula."""
    return kernels.exponentials(_flat(r), True).reshape(*r.shape, 3)


def exp3_jacobian(r: Array) -> Array:
    """S(r) (..., 3, 3): body angular velocity = S(r) rdot."""
    return kernels.exponentials(_flat(r), False).reshape(*r.shape, 3)


def exp3_jacobian_rate(r: Array, rdot: Array) -> Array:
    """dS/dt along rdot (..., 3, 3)."""
    kind = np.result_type(r, rdot)
    return kernels.exponential_rates(_flat(r.astype(kind)), _flat(rdot.astype(kind))).reshape(*r.shape, 3)


def _flat(r: Array) -> Array:
    """(k, 3), contiguous, for the compiled loops."""
    r = np.ascontiguousarray(r)
    return (r if r.dtype.kind == "c" else r.astype(np.float64, copy=False)).reshape(-1, 3)


def exp6(phi: Array) -> Array:
    """exp of a twist: the frame reached after unit time at constant body velocity phi (..., 6)."""
    w, nu = phi[..., :3], phi[..., 3:]
    _, a, b = coefficients(w)
    H = hat(w)
    V = np.eye(3) + a[..., None, None] * H + b[..., None, None] * (H @ H)
    return frame(exp3(w), (V @ nu[..., None])[..., 0])


def log6(E: Array) -> Array:
    """The twist phi (6,) with exp6(phi) = E, rotation angle in [0, pi]; one frame at a time."""
    R, p = E[:3, :3], E[:3, 3]
    axis = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    angle = math.atan2(float(np.linalg.norm(axis)), 0.5 * (float(np.trace(R)) - 1.0))
    if angle > math.pi - 1e-6:  # the skew part vanishes: take the axis from R + I
        column = int(np.argmax(np.diag(R)))
        axis = (R + np.eye(3))[:, column]
        w = axis / np.linalg.norm(axis) * angle
    else:
        w = axis * (angle / math.sin(angle) if angle > 1e-8 else 1.0)
    _, a, b = coefficients(w)
    H = hat(w)
    return np.concatenate([w, np.linalg.solve(np.eye(3) + a * H + b * (H @ H), p)])


def rotation(axis: Array | tuple[float, float, float], angle: float) -> Array:
    """Rotation by ``angle`` [rad] about ``axis`` (3,)."""
    a = np.asarray(axis, dtype=float)
    return exp3(a / np.linalg.norm(a) * angle)


def reparameterise(r: Array, rdot: Array) -> tuple[Array, Array]:
    """The same rotation and angular velocity in the chart |r| < pi once |r| > 1.5 pi: r <- (1 - 2 pi/|r|) r."""
    t = np.linalg.norm(r, axis=-1, keepdims=True)
    far = t > _REPARAMETERISE
    if not far.any():
        return r, rdot
    moved = np.where(far, (1.0 - 2.0 * math.pi / np.where(far, t, 1.0)) * r, r)
    omega = (exp3_jacobian(r) @ rdot[..., None])[..., 0]
    return moved, np.where(far, np.linalg.solve(exp3_jacobian(moved), omega[..., None])[..., 0], rdot)

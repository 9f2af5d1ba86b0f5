"""Signed SVD and semidefinite projection on hard matrices, against NumPy."""

import numpy as np
from numba import njit

from pliant.kernels.svd import psd3, svd3, svd_surface


@njit
def _each(F, surface, out):
    for e in range(len(F)):
        f = F[e].ravel()
        t = (f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8])
        r = svd_surface(t) if surface else svd3(t)
        for k in range(21):
            out[e, k] = r[k]


@njit
def _project(A, out):
    for e in range(len(A)):
        r = psd3((A[e, 0, 0], A[e, 0, 1], A[e, 0, 2], A[e, 1, 1], A[e, 1, 2], A[e, 2, 2]))
        for k in range(6):
            out[e, k] = r[k]


def decompose(F, surface=False):
    out = np.empty((len(F), 21))
    _each(F, surface, out)
    return out[:, :9].reshape(-1, 3, 3), out[:, 9:12], out[:, 12:].reshape(-1, 3, 3)


def rotation(rng):
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return Q * np.sign(np.linalg.det(Q))


def hard(rng, count=400):
    """Random, nearly rotations, repeated and tiny singular values, rank 2, 1, 0, reflections."""
    stretches = [
        lambda: rng.normal(size=3),
        lambda: 1 + 1e-9 * rng.normal(size=3),
        lambda: np.array([1.0, 1.0, rng.normal()]),
        lambda: np.array([1.3, 0.7, 10.0 ** -rng.uniform(3, 14)]),
        lambda: np.array([1.3, 10.0 ** -rng.uniform(3, 12), 10.0 ** -rng.uniform(3, 14)]),
        lambda: 10.0 ** rng.uniform(-2, 2, 3),
        lambda: np.array([1.0, 0.5, 0.0]),
        lambda: np.array([1.0, 0.0, 0.0]),
        lambda: -np.ones(3),
    ]
    F = [rotation(rng) @ np.diag(s()) @ rotation(rng).T for _ in range(count // 10) for s in stretches]
    exact = [np.diag(np.array(d, float)) for d in ([0, 0, 0], [1, 1, 1], [0, 1, 0], [1, 1, -1], [0, 0, 2])]
    return np.array([*F, *rng.normal(size=(count, 3, 3)), *exact])


def test_signed_svd():
    F = hard(np.random.default_rng(0))
    U, s, V = decompose(F)
    scale = np.maximum(np.linalg.norm(F, axis=(1, 2)), 1e-300)
    assert (np.abs(np.einsum("mij,mj,mkj->mik", U, s, V) - F).max(axis=(1, 2)) / scale).max() <= 2e-9
    for Q in (U, V):
        assert np.abs(Q @ Q.swapaxes(1, 2) - np.eye(3)).max() <= 1e-13
        assert np.linalg.det(Q).min() > 0.999
    expected = np.linalg.svd(F, compute_uv=False)
    assert (np.abs(np.abs(s) - expected).max(axis=1) / scale).max() <= 2e-9
    tiny = 1e-12 * scale
    assert ((s[:, 0] >= s[:, 1] - tiny) & (s[:, 1] >= np.abs(s[:, 2]) - tiny)).all()


def test_surface_svd_keeps_the_normal_out_of_plane():
    rng = np.random.default_rng(1)
    F = np.zeros((200, 3, 3))
    F[:, :2, :2] = rng.normal(size=(200, 2, 2))
    F[0, :2, :2] = 0.0
    F[1, :2, :2] = np.eye(2)
    F[:, 2, 2] = 1.0
    R = np.array([rotation(rng) for _ in F])
    U, s, V = decompose(R @ F, surface=True)
    assert np.abs(np.einsum("mij,mj,mkj->mik", U, s, V) - R @ F).max() <= 1e-13
    assert np.allclose(s[:, 0] * s[:, 1], np.linalg.det(F), atol=1e-13)
    assert (s[:, 2] == 1.0).all() and (V[:, 2] == [0.0, 0.0, 1.0]).all()


def test_semidefinite_projection():
    rng = np.random.default_rng(2)
    A = rng.normal(size=(500, 3, 3))
    A = A + A.swapaxes(1, 2)
    A[0], A[1], A[2] = 0.0, -np.eye(3), np.diag([1.0, -1.0, 0.0])
    out = np.empty((len(A), 6))
    _project(A, out)
    w, Q = np.linalg.eigh(A)
    expected = np.einsum("mij,mj,mkj->mik", Q, np.maximum(w, 0.0), Q)
    assert np.abs(out - expected[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]).max() <= 1e-9

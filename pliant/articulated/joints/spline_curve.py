"""Motion along a closed spline of frames [Lee2008]."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.arrays import Array
from pliant.articulated.joints.bspline import cumulative
from pliant.articulated.se3 import ad, adjoint, exp6, frame, log6
from pliant.errors import SceneError


@dataclass(frozen=True)
class SplineCurve:
    """Sliding along a closed spline: Q = C_k prod_i exp(d_(k+i) b_i(u)) of cyclic control frames C (..., m, 4, 4).

    q runs over m segments per turn, q = k + u; d_i = log(C_(i-1)^-1 C_i). Rotations d b below the angle ``negligible``
    [rad] are left out; none are by default, and only the regression energies of the public code need it (1e-9).
    """

    frames: Array
    steps: Array | None = None  # d (..., m, 6); derived from the frames when omitted
    negligible: float | Array = 0.0
    dof: ClassVar[int] = 1
    exponential: ClassVar[tuple[int, ...]] = ()

    def __post_init__(self) -> None:
        C = np.asarray(self.frames, dtype=float)
        if C.ndim < 3 or C.shape[-2:] != (4, 4) or C.shape[-3] < 4:
            raise SceneError(
                f"control frames of shape {C.shape}", where="SplineCurve", remedy="give at least 4 frames (m, 4, 4)"
            )
        object.__setattr__(self, "frames", C)
        if self.steps is None:
            d = [log6(np.linalg.solve(C[i - 1], C[i])) for i in range(len(C))]
            object.__setattr__(self, "steps", np.array(d))

    def _segment(self, q: Array) -> tuple[Array, Array, Array]:
        """Local parameter u (...,), first frame C_k (..., 4, 4) and the three following steps d (..., 3, 6)."""
        assert self.steps is not None
        s = q[..., 0]
        count = self.frames.shape[-3]
        k = np.floor(s.real).astype(int)
        index = (k[..., None] + np.arange(4)) % count
        frames = np.broadcast_to(self.frames, (*k.shape, *self.frames.shape[-3:]))
        steps = np.broadcast_to(self.steps, (*k.shape, *self.steps.shape[-2:]))
        C = np.take_along_axis(frames, index[..., :1, None, None], axis=-3)[..., 0, :, :]
        return s - k, C, np.take_along_axis(steps, index[..., 1:, None], axis=-2)

    def transform(self, q: Array) -> Array:
        u, Q, d = self._segment(q)
        b = cumulative(u)
        for i in range(3):
            Q = Q @ self._exp(d[..., i, :] * b[..., i + 1, None])
        return Q

    def _exp(self, phi: Array) -> Array:
        E = exp6(phi)
        straight = np.linalg.norm(phi[..., :3].real, axis=-1) < self.negligible
        return np.where(straight[..., None, None], frame(p=phi[..., 3:]), E) if straight.any() else E

    def _derivatives(self, q: Array) -> tuple[Array, Array]:
        """S and dS/dq (..., 6): S <- d b' + A S, S' <- d b'' + A (S' + ad(S) d b') with A = A(exp(-d b))."""
        u, _, d = self._segment(q)
        b, b1, b2 = cumulative(u), cumulative(u, 1), cumulative(u, 2)
        S = d[..., 0, :] * b1[..., 1, None]
        dS = d[..., 0, :] * b2[..., 1, None]
        for i in (1, 2):
            step, rate = d[..., i, :], d[..., i, :] * b1[..., i + 1, None]
            A = adjoint(self._exp(-step * b[..., i + 1, None]))
            dS = step * b2[..., i + 1, None] + (A @ (dS[..., None] + ad(S) @ rate[..., None]))[..., 0]
            S = rate + (A @ S[..., None])[..., 0]
        return S, dS

    def subspace(self, q: Array) -> Array:
        return self._derivatives(q)[0][..., None]

    def subspace_rate(self, q: Array, v: Array) -> Array:
        return (self._derivatives(q)[1] * v)[..., None]

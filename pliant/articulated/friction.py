"""Friction inside joints and outside, as one step's data: tangents, limits, and the local contact solves [card R-I]."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from pliant.arrays import Array, IntArray
from pliant.articulated import _kernels as kernels
from pliant.articulated.blocks import BlockMatrix
from pliant.articulated.constraints.rows import Rows
from pliant.articulated.joint_contacts import Patch
from pliant.articulated.tree import Kinematics
from pliant.errors import SceneError


@dataclass(frozen=True)
class Friction:
    """Coefficients: ``joints`` inside joints and closures, ``external`` on floors and boxes, unless given locally."""

    joints: float = 0.6
    external: float = 0.6

    def __post_init__(self) -> None:
        if not (self.joints >= 0.0 and self.external >= 0.0):
            raise SceneError(f"mu = ({self.joints}, {self.external})", where="Friction", remedy="coefficients are >= 0")


class MaximalFactor:
    """A^-1 over the maximal coordinates: block by block, or dense when springs couple bodies."""

    def __init__(self, A: BlockMatrix) -> None:
        self._coupled = A.coupled()
        try:
            self._inverse = np.linalg.inv(A.dense()) if self._coupled else np.linalg.inv(A.diagonal)
        except np.linalg.LinAlgError as error:
            raise SceneError(
                "a body has no rotational inertia", where="friction", remedy="particles cannot be used with SP or BISP"
            ) from error

    def solve(self, y: Array) -> Array:
        """A^-1 y for y (6n,) or (6n, k)."""
        if self._coupled:
            return self._inverse @ y
        n = len(self._inverse)
        return (self._inverse @ y.reshape(n, 6, -1)).reshape(y.shape)


class Contacts:
    """All contacts of one step: tangent rows T (s, 6n) of joints, closures and external rows, and their limits."""

    def __init__(
        self, kin: Kinematics, patches: Sequence[Patch], external: Sequence[Rows], mu: Friction, regularisation: float
    ) -> None:
        self.kin, self.patches, self.mu = kin, patches, mu
        n = len(kin.tree)
        self._maps = [_local_map(kin, p, regularisation) for p in patches]
        blocks = [np.zeros((0, 6 * n))]
        for p in patches:
            rows = p.rows(kin, p.tangents).reshape(-1, 2, 6)
            T = np.zeros((len(rows), n, 6))
            T[:, p.child] += rows[:, 0]
            if p.parent >= 0:
                T[:, p.parent] += rows[:, 1]
            blocks.append(T.reshape(-1, 6 * n))
        self._external = [(r.tangents.mu, len(r.g)) for r in external if r.tangents is not None]
        blocks += [r.tangents.T for r in external if r.tangents is not None]
        self._touching = [r.tangents is not None for r in external]
        self._counts = [len(r.g) for r in external]
        self.T = np.concatenate(blocks)

    def normals(self, wrenches: Array, closures: dict[int, Array], h: float) -> list[Array]:
        """Multipliers alpha (k, m) per patch [N s]: h (N M^-1 N^T + eps)^-1 N M^-1 f, Eq. 3.7."""
        out = []
        for p, local in zip(self.patches, self._maps, strict=True):
            if p.closure >= 0:
                f = closures[p.closure].reshape(-1, 6)[[p.child, p.parent]].ravel()
            else:
                w = wrenches[p.child]
                f = np.concatenate([w, -_to_parent(self.kin, p.child, w)])
            out.append((h * (local @ f)).reshape(p.normals.shape[:2]))
        return out

    def limits(self, alphas: list[Array], impulses: Array) -> Array:
        """mu times the normal impulses, one entry per tangent row; normals that share a tangent add up."""
        parts = [np.zeros(0)]
        for p, alpha in zip(self.patches, alphas, strict=True):
            mu = self.mu.joints if p.mu is None else p.mu
            parts.append(np.repeat(mu * np.abs(alpha).sum(axis=1), p.tangents.shape[1]))
        first = np.cumsum([0, *self._counts])
        owners = [i for i, touching in enumerate(self._touching) if touching]
        for (local, count), i in zip(self._external, owners, strict=True):
            mu = self.mu.external if local is None else local
            parts.append(np.repeat(mu * impulses[first[i] : first[i] + count], 2))
        return np.concatenate(parts)


def joint_wrenches(kin: Kinematics, f: Array, receiver: IntArray) -> Array:
    """Reaction wrench of each joint on its child (n, 6), from the sums on the bodies: leaf to root."""
    return kernels.accumulate(kin.tree.parent, receiver, kin.R, kin.p, f)


def _to_parent(kin: Kinematics, i: int, w: Array) -> Array:
    """A_ip^T w."""
    R, p = kin.R[i], kin.p[i]
    return np.concatenate([R.T @ (w[:3] - np.cross(p, w[3:])), R.T @ w[3:]])


def _local_map(kin: Kinematics, patch: Patch, regularisation: float) -> Array:
    """(N M^-1 N^T + eps)^-1 N M^-1 (rows, 12)."""
    N = patch.rows(kin, patch.normals)
    inertia = kin.tree.inertia
    inverse = np.concatenate(
        [1.0 / inertia[patch.child], 1.0 / inertia[patch.parent] if patch.parent >= 0 else np.zeros(6)]
    )
    NM = N * inverse
    H = NM @ N.T
    H[np.diag_indices(len(H))] += regularisation
    return scipy.linalg.cho_solve(scipy.linalg.cho_factor(H, check_finite=False), NM, check_finite=False)

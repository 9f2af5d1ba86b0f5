"""Friction inside joints and outside: tangents, limits, and the local contact solves [Weidner2022, sec. 3.3]."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numba import njit

from pliant.arrays import Array, IntArray
from pliant.articulated import _kernels as kernels
from pliant.articulated.blocks import BlockMatrix, PairRows
from pliant.articulated.constraints.rows import ConstraintRows, Unilateral, without_friction
from pliant.articulated.forces.joint import wrench_map
from pliant.articulated.joint_contacts import PatchGroup
from pliant.articulated.system import ArticulatedSystem
from pliant.articulated.tree import Kinematics
from pliant.errors import SceneError
from pliant.linear.box_matrix import SparseBox

UNSOLVED = "the programme of the friction impulses has not converged"


@dataclass(frozen=True)
class Friction:
    """Coefficients: ``joints`` inside joints and closures, ``external`` on floors and boxes, unless given locally."""

    joints: float = 0.6
    external: float = 0.6

    def __post_init__(self) -> None:
        if not (self.joints >= 0.0 and self.external >= 0.0):
            raise SceneError(f"mu = ({self.joints}, {self.external})", where="Friction", remedy="coefficients are >= 0")


@runtime_checkable
class RubbingJoints(Protocol):
    """An integrator that finds the friction in joints."""

    rubs_joints: ClassVar[bool]


def refuse_friction(system: ArticulatedSystem, where: str, *, rows: bool = False) -> None:
    """Refuse what would rub under BISP and be ignored by the method ``where``: contacts in joints, dry joints, floors.

    A floor or box whose ``mu`` is None takes the method's coefficient, of which a method without friction has none.
    Velocity steps with ``rows`` see the friction of floors and of dry joints.
    """
    remedy = "use BISP or StaggeredProjections, or take pliant.articulated.frictionless(system)"
    name = lambda link: f"'{system.tree.names[int(link)]}'"
    for dry in () if rows else system.dry:
        if dry.force > 0.0:
            raise SceneError(
                f"DryFriction of {dry.force:g} on {name(dry.link)} would have no effect",
                where=where,
                remedy="use LinearlyImplicit or, for articulated bodies alone, BISP, or give no friction",
            )
    for group in system.patches:
        for child, closure, mu in zip(group.child, group.closure, group.mu, strict=True):
            if mu != 0.0:
                what = f"joint of {name(child)}" if closure < 0 else f"closure {closure}, a hinge of {name(child)},"
                raise SceneError(f"the friction in the {what} would have no effect", where=where, remedy=remedy)
    for c in () if rows else system.constraints:
        if isinstance(c, Unilateral) and c.mu:
            what = f"{type(c).__name__} of {name(c.link)} has friction mu = {c.mu:g}, which would have no effect"
            raise SceneError(what, where=where, remedy=remedy)


def frictionless(system: ArticulatedSystem) -> ArticulatedSystem:
    """The same system with no friction in joints and closures, and mu = 0 on floors and boxes."""
    smooth = copy(system)
    smooth.patches, smooth.dry = (), ()
    smooth.constraints = without_friction(system.constraints)
    return smooth


class MaximalFactor:
    """A^-1 over the maximal coordinates: block by block, or dense when springs couple bodies."""

    def __init__(self, A: BlockMatrix) -> None:
        self.coupled = A.coupled()
        try:
            self.inverse = np.asarray(np.linalg.inv(A.dense() if self.coupled else A.diagonal), dtype=np.float64)
        except np.linalg.LinAlgError as error:
            raise SceneError(
                "a body has no rotational inertia", where="friction", remedy="particles cannot be used with SP or BISP"
            ) from error

    def solve(self, y: Array) -> Array:
        """A^-1 y for y (6n,) or (6n, k)."""
        if self.coupled:
            return self.inverse @ y
        n = len(self.inverse)
        return (self.inverse @ y.reshape(n, 6, -1)).reshape(y.shape)

    def between(self, T: PairRows, n: int, analysis: Any = None) -> Array | SparseBox:
        """T A^-1 T^T: sparse, as bodies are shared by few contacts, unless springs couple them."""
        if self.coupled:
            rows = T.dense(n)
            return rows @ self.solve(rows.T)
        return SparseBox(T.gram(self.inverse), analysis)


class LinkContacts:
    """All contacts of one step: tangent rows T (s, 6n) of joints, dry joints and external rows, and their limits."""

    def __init__(
        self, system: ArticulatedSystem, kin: Kinematics, external: Sequence[ConstraintRows], mu: Friction, eps: float
    ) -> None:
        self.kin, self.groups, self.dry = kin, system.patches, system.dry
        self._mu = [np.where(np.isnan(g.mu), mu.joints, g.mu) for g in self.groups]
        rows = [g.split_rows(kin) for g in self.groups]
        self._maps = [_local_maps(kin, g, N, eps) for g, (N, _) in zip(self.groups, rows, strict=True)]
        parts = [g.spread(T) for g, (_, T) in zip(self.groups, rows, strict=True)]
        parts += [_dry_row(kin, int(d.link)) for d in self.dry]
        parts += [PairRows.of(r.tangents.T) for r in external if r.tangents is not None]
        self.T = PairRows.stacked(parts)
        self._external = [_coefficients(r, mu) for r in external]

    def normals(self, wrenches: Array, closure: Callable[[int], Array], h: float) -> list[Array]:
        """Multipliers alpha (p, k, m) per group [N s]: h (N M^-1 N^T + eps)^-1 N M^-1 f, Eq. 3.7.

        ``wrenches`` (n, 6) are the joint reactions on the children, ``closure(c)`` the wrenches (n, 6) of the loop
        closure c.
        """
        out = []
        for g, local in zip(self.groups, self._maps, strict=True):
            f = np.zeros((len(g.child), 12))
            f[:, :6] = wrenches[g.child]
            f[:, 6:] = -_to_parents(self.kin, g.child, f[:, :6])
            for i in np.flatnonzero(g.closure >= 0):
                f[i] = closure(int(g.closure[i]))[[g.child[i], g.parent[i]]].ravel()
            out.append(h * (local @ f[:, :, None]).reshape(g.normals.shape[:3]))
        return out

    def limits(self, alphas: list[Array], impulses: Array, h: float) -> Array:
        """Bounds [N s] of the friction impulses, one per tangent row; normals that share a tangent add up."""
        parts = [np.zeros(0)]
        for g, mu, alpha in zip(self.groups, self._mu, alphas, strict=True):
            parts.append(np.repeat(mu[:, None] * np.abs(alpha).sum(axis=2), g.tangents.shape[2], axis=1).ravel())
        parts.append(h * np.array([d.force for d in self.dry]))
        mu_external = np.concatenate([np.zeros(0), *self._external])
        touching = np.isfinite(mu_external)
        parts.append(np.repeat(mu_external[touching] * impulses[touching], 2))
        return np.concatenate(parts)


def _coefficients(rows: ConstraintRows, mu: Friction) -> Array:
    """The coefficient of each inequality row; nan for rows without friction (joint limits)."""
    if rows.tangents is None:
        return np.full(len(rows.g), np.nan)
    return np.full(len(rows.g), mu.external if rows.tangents.mu is None else rows.tangents.mu)


def _dry_row(kin: Kinematics, link: int) -> PairRows:
    """The joint rate as a row."""
    bodies, W = wrench_map(kin, link)
    return PairRows(bodies[None], W[:, 0].reshape(1, 2, 6))


def shares(beta: Array, limits: Array) -> Array:
    """Friction impulses as parts of their limits, in [-1, 1]: what stays nearly constant from one solve to the next."""
    return np.clip(beta / np.maximum(limits, 1e-300), -1.0, 1.0)


def warm_start(share: Array | None, limits: Array) -> Array:
    """The same shares of new limits: contacts that slid start at their bounds."""
    return np.zeros_like(limits) if share is None or len(share) != len(limits) else share * limits


def joint_wrenches(kin: Kinematics, f: Array, receiver: IntArray) -> Array:
    """Reaction wrench of each joint on its child (n, 6), from the sums on the bodies: leaf to root."""
    return kernels.accumulate(kin.tree.parent, receiver, kin.R, kin.p, f)


def joint_force_wrenches(kin: Kinematics, tau: Array) -> Array:
    """Sums on the bodies (n, 6) of the wrenches that the joint forces tau (nr,) are, so that J^T of them is tau.

    W = A_ji^T S (S^T S)^-1 tau on the child, the opposite on its parent, joint by joint (as `wrench_map`).
    """
    t = kin.tree
    return _joint_forces(t.parent, t.ptr, t.Eb, kin.R, kin.p, kin.B, tau)


@njit(cache=True, error_model="numpy")
def _joint_forces(parent: IntArray, ptr: IntArray, Eb: Array, R: Array, p: Array, B: Array, tau: Array) -> Array:
    f, S, gram = np.zeros((len(parent), 6)), np.zeros((6, 6)), np.zeros((6, 6))
    x, w, child = np.zeros(6), np.zeros(6), np.zeros(6)
    for i in range(len(parent)):
        a, k = ptr[i], ptr[i + 1] - ptr[i]
        if not np.any(tau[a : a + k] != 0.0):
            continue
        turn, origin = np.ascontiguousarray(Eb[i, :3, :3]), np.ascontiguousarray(Eb[i, :3, 3])
        for c in range(k):
            kernels._to_child(turn, origin, B[a + c], S[c])
            x[c] = tau[a + c]
        for r in range(k):
            for c in range(k):
                gram[r, c] = np.dot(S[r], S[c])
        kernels._cholesky(gram, k)
        kernels._cholesky_solve(gram, k, x)
        w[:], child[:] = 0.0, 0.0
        for c in range(k):
            w += x[c] * S[c]
        kernels._to_parent(turn, origin, w, child)
        f[i] += child
        if parent[i] >= 0:
            kernels._to_parent(R[i], p[i], -child, f[parent[i]])
    return f


def _to_parents(kin: Kinematics, children: IntArray, w: Array) -> Array:
    """A_ip^T w for wrenches w (p, 6)."""
    Rt, p = np.swapaxes(kin.R[children], 1, 2), kin.p[children]
    moment = w[:, :3] - np.cross(p, w[:, 3:])
    return np.concatenate([(Rt @ moment[:, :, None])[..., 0], (Rt @ w[:, 3:, None])[..., 0]], axis=1)


def _local_maps(kin: Kinematics, group: PatchGroup, N: Array, eps: float) -> Array:
    """(N M^-1 N^T + eps)^-1 N M^-1 (p, rows, 12) of the normal rows N."""
    inertia = kin.tree.inertia
    inverse = np.concatenate([1.0 / inertia[group.child], 1.0 / inertia[np.maximum(group.parent, 0)]], axis=1)
    NM = N * inverse[:, None]
    H = NM @ np.swapaxes(N, 1, 2)
    every = np.arange(H.shape[1])
    H[:, every, every] += eps
    return np.linalg.solve(H, NM)

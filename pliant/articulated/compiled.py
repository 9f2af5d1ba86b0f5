"""Ordinary trees as arrays for the compiled passes; what they do not cover is computed in general form.

Ordinary: joints of `pliant.articulated.kinds`, springs and dampers in joints, damped bodies, torques in joints with no
rotation vector, stops, and joint limits while none is reached. Results are those of the general way to rounding.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pliant.arrays import Array
from pliant.articulated import _stage_kernels as kernels
from pliant.articulated._measure_kernels import measure
from pliant.articulated._tree_kernels import advance
from pliant.articulated.bodies import Body
from pliant.articulated.constraints.joints import JointLimit
from pliant.articulated.forces.bodies import BodyDamping
from pliant.articulated.forces.joint import JointSpring, JointTorque
from pliant.articulated.forces.stops import JointStop, excess
from pliant.articulated.joints import Prismatic, Revolute
from pliant.articulated.se3 import adjoint, hat, inverse
from pliant.articulated.tree import Tree
from pliant.kernels.bind import entry
from pliant.solvers.base import PULLS

_inverse_dynamics, _tangent = entry(kernels.inverse_dynamics), entry(kernels.tangent)
FULL_STEPS = 12  # of Newton's method, before the general way with its line search is taken


class Measured(NamedTuple):
    """Energies [J], momenta [kg m/s], [kg m^2/s] about the origin, power [W] of the dampers."""

    kinetic: float
    gravity: float
    elastic: float
    linear: tuple[float, ...]
    angular: tuple[float, ...]
    damping: float


class CompiledTree:
    """A tree with forces and limits as arrays (see `_joint_kernels` for their columns)."""

    def __init__(self, tree: Tree, gravity: Array, forces: Sequence[Any], limits: Sequence[JointLimit]) -> None:
        assert tree.covered is not None
        constants = _constants(tree, [f for f in forces if isinstance(f, BodyDamping)])
        springs = _springs(tree, [f for f in forces if isinstance(f, JointSpring)])
        self._fixed = (tree.covered[0], constants, np.asarray(gravity, dtype=float), *springs)
        self.torques = [f for f in forces if isinstance(f, JointTorque)]
        self._where = [tree.slice(int(f.link)) for f in self.torques]
        stops = [f for f in forces if isinstance(f, JointStop)]
        self._stopped = np.array([f.place(tree) for f in stops], dtype=np.int64)
        self.stopping = len(stops) > 0
        self._stops = np.array([(f.lower, f.upper, f.stiffness) for f in stops]).reshape(-1, 3)
        self._last: tuple[Array, Array, Measured] | None = None
        self._still = np.zeros(tree.dof)
        self.turning = any(link.joint.exponential for link in tree.links)
        self._limited = np.array([tree.ptr[int(c.link)] + c.coordinate for c in limits], dtype=np.int64)
        self.limited = len(limits) > 0
        self._lower, self._upper = np.array([c.lower for c in limits]), np.array([c.upper for c in limits])

    @staticmethod
    def of(tree: Tree, gravity: Array, forces: Sequence[Any], constraints: Sequence[Any]) -> "CompiledTree | None":
        """None where the tree, a force or a constraint is not ordinary."""
        if tree.covered is None or not all(type(link.body) is Body for link in tree.links):
            return None
        if not all(_ordinary(force, tree) for force in forces):
            return None
        limits = [c for c in constraints if type(c) is JointLimit]
        return CompiledTree(tree, gravity, forces, limits) if len(limits) == len(constraints) else None

    def at_limit(self, q: Array) -> bool:
        """Whether a joint has reached a limit."""
        x = q[self._limited]
        return not bool(((self._lower < x) & (x < self._upper)).all())

    def beyond(self, q: Array) -> Array:
        """How far the joints with a `JointStop` are beyond their limits."""
        return excess(q[self._stopped], self._stops[:, 0], self._stops[:, 1])

    def at_stop(self, q: Array) -> bool:
        """Whether one of them is."""
        return self.stopping and bool(self.beyond(q).any())

    def torque(self, t: float, q: Array | None = None) -> Array:
        """Joint forces (nr,) that depend on time alone, and those of stops where ``q`` is given."""
        if q is not None and self.at_stop(q):
            tau = self.torque(t).copy()
            np.subtract.at(tau, self._stopped, self._stops[:, 2] * self.beyond(q))
            return tau
        if not self.torques:
            return self._still
        tau = np.zeros_like(self._still)
        for force, where in zip(self.torques, self._where, strict=True):
            assert callable(force.torque)  # bound
            tau[where] += force.torque(t)
        return tau

    def moved(self, q: Array, v: Array, t: float, h: float, beta: float) -> tuple[Array, Array, float] | None:
        """(coordinates, rates, relative residual) after the velocity step to t.

        None where a joint is at a limit or moves no mass, or rates are not finite: then the residual is not either.
        """
        if (self.limited and self.at_limit(q)) or self.at_stop(q):
            return None
        u, after, residual, weakest = advance(*self._fixed, self.torque(t), q, v, h, beta, True)
        return (after, u, residual) if weakest > 0.0 and math.isfinite(residual) else None

    def acceleration(self, q: Array, v: Array, t: float) -> Array:
        """M^-1 f (nr,), by the recursion."""
        return advance(*self._fixed, self.torque(t, q), q, v, 1.0, 0.0, False)[0]

    def measured(self, q: Array, v: Array) -> "Measured":
        """Energies, momenta and the power of dampers; kept, since the ledger asks for them in turn."""
        if self._last is None or self._last[0] is not q or self._last[1] is not v:
            kinetic, weight, elastic, *p, power = measure(*self._fixed, q, v)
            elastic += 0.5 * float(self._stops[:, 2] @ self.beyond(q) ** 2) if self.stopping else 0.0
            self._last = (q, v, Measured(kinetic, weight, elastic, tuple(p[:3]), tuple(p[3:]), power))
        return self._last[2]

    def inverse_dynamics(self, q: Array, v: Array, a: Array, t: float) -> Array:
        """The joint forces missing for the acceleration a (nr,)."""
        return _inverse_dynamics(*self._fixed, self.torque(t, q), q, v, a)[0]

    def tangent(self, q: Array, v: Array, a: Array, weights: tuple[float, float, float]) -> Array:
        """Its derivative (nr, nr) along (w_K, w_D, w_M) d in q, v and a."""
        _, *at = _inverse_dynamics(*self._fixed, self._still, q, v, a)
        found: Array = _tangent(*self._fixed, q, v, a, *at, *weights)
        if self.at_stop(q):
            reached = self.beyond(q) != 0.0
            np.add.at(found, (self._stopped[reached],) * 2, weights[2] * self._stops[reached, 2])
        return found

    def weights(self, q: Array) -> Array:
        """The diagonal of J^T M J (nr,)."""
        return kernels.mass_diagonal(*self._fixed[:3], q)

    def root(
        self, stage: Any, guess: Array, tolerances: tuple[float, float], iterations: int
    ) -> tuple[Array, Array, float] | None:
        """(z, residuals, threshold) of a stage by full Newton steps; None where those do not suffice or meet a stop."""
        norms = np.empty(min(iterations, FULL_STEPS) + 1)
        start = stage.start
        pull = stage.c**2 * stage.norm(self.inverse_dynamics(start.q, start.v, self._still, start.t))
        relative, absolute = tolerances[0], tolerances[1] * min(1.0, PULLS * pull / stage.scale)
        how = (stage.c, stage.target, stage.base, guess, stage.weights, stage.scale, relative, absolute, norms)
        try:
            z, k, threshold, done = kernels.newton(*self._fixed, self.torque(stage.t), *how)
        except np.linalg.LinAlgError:
            return None
        return (z, norms[: k + 1], threshold) if done and not self.at_stop(z) else None


def _ordinary(force: Any, tree: Tree) -> bool:
    """Whether the compiled passes know a force."""
    if type(force) in (BodyDamping, JointStop):
        return True
    if type(force) is JointSpring:
        return not force.maximal and len(tree.links[int(force.link)].joint.exponential) <= 1
    return type(force) is JointTorque and not force.maximal and not tree.links[int(force.link)].joint.exponential


def _constants(tree: Tree, dampers: Sequence[BodyDamping]) -> Array:
    """C (n, 87)."""
    n = len(tree)
    base = np.array([np.eye(4) if j < 0 else tree.Eij[j] for j in tree.parent]) @ tree.E0
    C = np.zeros((n, 87))
    for column, E in ((0, base), (12, tree.Eb), (24, inverse(tree.Eb))):
        C[:, column : column + 9] = E[:, :3, :3].reshape(n, 9)
        C[:, column + 9 : column + 12] = E[:, :3, 3]
    C[:, 36:40] = tree.inertia[:, [0, 1, 2, 5]]
    C[:, 86] = [link.armature for link in tree.links]
    for i, link in enumerate(tree.links):
        if isinstance(link.joint, Revolute | Prismatic):
            C[i, 40:43] = link.joint.axis
            C[i, 44:50] = adjoint(tree.Eij[i]) @ link.joint.subspace(np.zeros(1))[:, 0]
            C[i, 50:86] = _parent_seen(link.joint, base[i], tree.Eb[i])
    for damper in dampers:
        C[slice(None) if damper.link is None else int(damper.link), 43] += damper.damping
    return C


def _parent_seen(joint: Revolute | Prismatic, base: Array, body: Array) -> Array:
    """The frame (R, p) of the parent seen from a link as three rows (36,): constant, times sin q or q, times cos q."""
    x, eye = np.asarray(joint.axis, dtype=float), np.eye(3)
    turns = isinstance(joint, Revolute)
    parts = (np.outer(x, x), hat(x), eye - np.outer(x, x)) if turns else (eye, 0.0 * eye, 0.0 * eye)
    slides = np.zeros((3, 3)) if turns else np.array([0.0 * x, x, 0.0 * x])
    rows = []
    for k, (Q, d) in enumerate(zip(parts, slides, strict=True)):
        R = body[:3, :3].T @ Q.T @ base[:3, :3].T
        p = -R @ base[:3, 3] - body[:3, :3].T @ (d + (body[:3, 3] if k == 0 else 0.0))
        rows.append([*R.ravel(), *p])
    return np.ravel(rows)


def _springs(tree: Tree, springs: Sequence[JointSpring]) -> tuple[Any, Array]:
    """springs (m, 4) and F (m, 8) of the compiled passes."""
    S, F = np.zeros((len(springs), 4), dtype=np.int64), np.zeros((len(springs), 8))
    for m, force in enumerate(springs):
        i = int(force.link)
        joint = tree.links[i].joint
        S[m] = i, joint.dof, tree.ptr[i], joint.exponential[0] if joint.exponential else -1
        F[m, :2] = force.stiffness, force.damping
        F[m, 2 : 2 + joint.dof] = force.rest
    return S, F

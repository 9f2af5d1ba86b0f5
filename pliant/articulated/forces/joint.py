"""Springs, dampers and torques in joints; in reduced coordinates, or as a pair of wrenches on child and parent."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.articulated.forces.base import joins_nothing, require_passive, stores_nothing
from pliant.articulated.loads import Loads
from pliant.articulated.quirks import Quirks
from pliant.articulated.se3 import adjoint, coefficients, exp3_jacobian, exp3_jacobian_rate, frame
from pliant.articulated.tree import Kinematics, Tree
from pliant.errors import SceneError, require_numbers

IN_TIME = "give a number, a function, or rows (time, value)"


@dataclass(frozen=True)
class JointSpring:
    """A spring and damper at one joint, tau = -k e - d w; ``maximal`` applies it as wrenches on child and parent.

    e = q - rest and w = qdot for the coordinates of hinges and sliders. The rotation of a ball (or free) joint is not a
    vector: there e = log(R_rest^T R), the shortest rotation back, and w is the angular velocity, so that neither
    depends on the zero of the joint nor on the chart of its exponential coordinates; ``rest`` is the rotation vector of
    R_rest.
    """

    link: int | str
    stiffness: float = 0.0
    damping: float = 0.0
    rest: float | Array = 0.0
    maximal: bool = False
    joins = joins_nothing

    def bind(self, tree: Tree) -> "JointSpring":
        link = tree.moved(self.link, f"JointSpring on {self.link!r}")
        require_passive(f"JointSpring on {self.link!r}", stiffness=self.stiffness, damping=self.damping)
        dof = tree.links[link].joint.dof
        rest = require_numbers(self.rest, f"JointSpring on {self.link!r}, rest", "give numbers")
        if rest.shape not in ((), (dof,)):
            raise SceneError(
                f"rest has {rest.size} entries for {dof} coordinates",
                where=f"JointSpring on '{self.link}'",
                remedy="give one number, or one per coordinate",
            )
        return replace(self, link=link, rest=np.broadcast_to(rest, (dof,)))

    def add(self, loads: Loads, kin: Kinematics, t: float) -> None:
        index = _coordinates(kin, self.link)
        e, P = self._stretch(kin), rates(kin, int(self.link))
        tau = -self.stiffness * (P.T @ e)
        K, D = -self.stiffness * self._slope(kin), -self.damping * (P.T @ P)
        if not self.maximal:
            loads.f_r[index] += tau
            loads.reduced_stiffness(index, K)
            loads.reduced_damping(index, D)
            return
        bodies, W = wrench_map(kin, int(self.link))
        loads.wrench(bodies, (W @ tau).reshape(-1, 6))
        loads.K.add_coupling(bodies, W @ K @ W.T)
        loads.D.add_coupling(bodies, W @ D @ W.T)

    def _stretch(self, kin: Kinematics) -> Array:
        """e (dof,)."""
        q, rest = kin.q[_coordinates(kin, self.link)], np.asarray(self.rest)
        e = q - rest
        for c in _turns(kin, int(self.link)):
            e[c] = relative_rotation(rest[c], q[c])
        return e

    def _slope(self, kin: Kinematics) -> Array:
        """d(P^T e)/dq (dof, dof), with the negative curvature of a stretch beyond half a turn left out."""
        q, rest = kin.q[_coordinates(kin, self.link)].real, np.asarray(self.rest)
        H = np.eye(len(q))
        for c in _turns(kin, int(self.link)):
            e, S = relative_rotation(rest[c], q[c]), exp3_jacobian(q[c])
            exact = S.T @ np.linalg.solve(exp3_jacobian(e), S)
            exact += np.stack([exp3_jacobian_rate(q[c], d).T @ e for d in np.eye(3)], axis=1)
            w, V = np.linalg.eigh(0.5 * (exact + exact.T))
            H[c, c] = (V * np.maximum(w, 0.0)) @ V.T
        return H

    def potential(self, kin: Kinematics, t: float, quirks: Quirks) -> float:
        e = self._stretch(kin)
        return 0.5 * self.stiffness * float(e @ e)


def in_time(given: Any, where: str) -> Callable[[float], Any]:
    """A function of time from a number, a function, or rows (time, value ...) with straight lines between them."""
    if callable(given):
        return given  # type: ignore[no-any-return]
    table = require_numbers(given, where, IN_TIME)
    if table.ndim == 0 and np.isfinite(table):
        return lambda t: float(table)
    if table.ndim != 2 or table.shape[1] < 2 or not np.isfinite(table).all() or not (np.diff(table[:, 0]) > 0.0).all():
        raise SceneError(f"it is {given!r}", where=where, remedy=IN_TIME)
    return lambda t: np.array([np.interp(t, table[:, 0], column) for column in table[:, 1:].T])


def one_in_time(given: Any, where: str) -> Callable[[float], float]:
    """The same of one number."""
    found = in_time(given, where)
    size = np.size(found(0.0))
    if size != 1:
        raise SceneError(f"it has {size} values", where=where, remedy=IN_TIME)
    return found if callable(given) else lambda t: float(np.ravel(found(t))[0])


def corners_of(given: Any) -> tuple[float, ...]:
    """The times at which a table has corners."""
    table = np.zeros(0) if callable(given) else np.asarray(given, dtype=float)
    return tuple(table[:, 0].tolist()) if table.ndim == 2 else ()


@dataclass(frozen=True)
class JointTorque:
    """A time-dependent torque or force tau(t) on the coordinates of one joint [N m or N].

    On the rotation of a ball joint it is a torque in the joint frame. ``torque`` is a number, a function of time, or
    rows (time, torque ...), interpolated linearly.
    """

    link: int | str
    torque: float | Callable[[float], float | Array] | Sequence[Sequence[float]]
    maximal: bool = False
    drives: ClassVar[bool] = True
    joins, potential = joins_nothing, stores_nothing

    @property
    def corners(self) -> tuple[float, ...]:
        return corners_of(self.torque)

    def bind(self, tree: Tree) -> "JointTorque":
        where = f"JointTorque on {self.link!r}"
        link, torque = tree.moved(self.link, where), in_time(self.torque, where)
        dof, given = tree.links[link].joint.dof, np.shape(torque(0.0))
        if dof == 0 or given not in ((), (1,), (dof,)):
            what = f"a torque of shape {given} for {dof} coordinates"
            raise SceneError(what, where=where, remedy="give one number, or one per coordinate of a joint that moves")
        return replace(self, link=link, torque=torque)

    def add(self, loads: Loads, kin: Kinematics, t: float) -> None:
        index = _coordinates(kin, self.link)
        assert callable(self.torque)  # bound
        tau = rates(kin, int(self.link)).T @ np.broadcast_to(np.asarray(self.torque(t), dtype=float), index.shape)
        if not self.maximal:
            loads.f_r[index] += tau
            return
        bodies, W = wrench_map(kin, int(self.link))
        loads.wrench(bodies, (W @ tau).reshape(-1, 6))


@dataclass(frozen=True)
class Servo:
    """A motor of limited torque at a joint with one coordinate: tau = T tanh(k (position(t) - q) / T) [N m or N].

    Near its target it is a spring of ``stiffness`` k, far from it it pulls with its ``limit`` T. ``position`` is a
    number, a function of time, or rows (time, position), interpolated linearly. Add a `JointSpring` for damping.
    """

    link: int | str
    position: float | Callable[[float], float] | Sequence[Sequence[float]]
    stiffness: float
    limit: float
    drives: ClassVar[bool] = True
    joins, potential = joins_nothing, stores_nothing

    @property
    def corners(self) -> tuple[float, ...]:
        return corners_of(self.position)

    def bind(self, tree: Tree) -> "Servo":
        where = f"Servo on {self.link!r}"
        link = tree.moved(self.link, where, coordinates=1)
        given = [require_numbers(x, where, "give numbers as stiffness and limit") for x in (self.stiffness, self.limit)]
        if not (given[0] > 0.0 and given[1] > 0.0):
            what = f"stiffness {self.stiffness}, limit {self.limit}"
            raise SceneError(what, where=where, remedy="give numbers > 0")
        return replace(self, link=link, position=one_in_time(self.position, where))

    def torque(self, q: float, t: float) -> float:
        """tau at the coordinate q."""
        assert callable(self.position)  # bound
        return self.limit * float(np.tanh(self.stiffness * (self.position(t) - q) / self.limit))

    def add(self, loads: Loads, kin: Kinematics, t: float) -> None:
        index = _coordinates(kin, self.link)
        assert callable(self.position)  # bound
        pull = np.tanh(self.stiffness * (self.position(t) - kin.q[index]) / self.limit)
        loads.f_r[index] += self.limit * pull
        loads.reduced_stiffness(index, np.diag(-self.stiffness * (1.0 - pull.real**2)))


def rates(kin: Kinematics, link: int) -> Array:
    """P (dof, dof) with P qdot = the rates forces act on: qdot, but the angular velocity S(r) rdot of rotations."""
    q = kin.q[_coordinates(kin, link)]
    P = np.eye(len(q), dtype=q.dtype)
    for c in _turns(kin, link):
        P[c, c] = exp3_jacobian(q[c])
    return P


def relative_rotation(rest: Array, r: Array) -> Array:
    """log(exp[rest]^T exp[r]) (3,), |.| <= pi, by quaternions; complex steps in r pass through."""
    a, b = _quaternion(-rest), _quaternion(r)
    w = a[0] * b[0] - a[1:] @ b[1:]
    v = a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
    if w.real < 0.0:  # the other quaternion of this rotation, less than half a turn away
        w, v = -w, -v
    x2 = (v @ v) / (1.0 + w) ** 2  # tan^2 of a quarter of the angle, at most 1
    if abs(x2) < 1e-4:
        ratio = 1.0 - x2 / 3.0 + x2**2 / 5.0 - x2**3 / 7.0
    else:
        ratio = np.arctan(np.sqrt(x2)) / np.sqrt(x2)
    return np.asarray(4.0 * ratio / (1.0 + w) * v)


def _quaternion(r: Array) -> Array:
    """(cos(t/2), sin(t/2)/t r) of the rotation vector r."""
    s, a, _ = coefficients(0.5 * r)
    return np.concatenate([[1.0 - a * (0.25 * (r @ r))], 0.5 * s * r])


def _turns(kin: Kinematics, link: int) -> list[slice]:
    """Where the rotation vectors are among the coordinates of a joint."""
    return [slice(k, k + 3) for k in kin.tree.links[link].joint.exponential]


def _coordinates(kin: Kinematics, link: int | str) -> IntArray:
    where = kin.tree.slice(link)
    return np.arange(where.start, where.stop)


def wrench_map(kin: Kinematics, link: int) -> tuple[IntArray, Array]:
    """Bodies (child, parent) and W (12, dof) with J^T W tau = tau at this joint and zero at all others.

    W = A_ji^T S (S^T S)^-1 on the child, opposite on the parent: a pure couple about a hinge, a pure force along a
    slider. W^T (phi_child, phi_parent) is the joint rate, so W W^T is the damping matrix of a unit joint damper.
    """
    A_ji = adjoint(kin.tree.Eb[link])
    S = A_ji @ kin.B[kin.tree.slice(link)].T
    child = A_ji.T @ S @ np.linalg.inv(S.T @ S)
    parent = int(kin.tree.parent[link])
    A = adjoint(frame(kin.R[link], kin.p[link]))
    return np.array([link, parent]), np.concatenate([child, -A.T @ child])

"""Scripted motions as data: of vertices, and of rigid bodies, which also have a pose and a twist.

Everything that is moved by a script takes any of them: pins, obstacles, the obstacles of Eulerian-on-Lagrangian cloth.
"""

from dataclasses import dataclass, field
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from pliant.arrays import Array
from pliant.errors import SceneError
from pliant.units import read_fields

Vector = tuple[float, float, float]
SAME_TIME = 1e-9  # s: times that differ by less are one


class Motion(Protocol):
    """Where vertices with rest positions ``X (p, d)`` are at time t [s]."""

    def positions(self, X: Array, t: float) -> Array: ...


@runtime_checkable
class Cornered(Protocol):
    """A motion or a load that changes its course at once, at some times [s]."""

    @property
    def corners(self) -> tuple[float, ...]: ...


@dataclass(frozen=True, eq=False)
class Pose:
    """x = origin + R (X - pivot) for points X of a body's own frame; ``R (3, 3)`` is a rotation."""

    R: Array
    origin: Array
    pivot: Array = field(default_factory=lambda: np.zeros(3))

    def local(self, x: Array) -> Array:
        """Points (p, 3) in the body's own frame."""
        return (x - self.origin) @ self.R + self.pivot

    def turn(self, directions: Array) -> Array:
        """Directions (p, 3) of the own frame, in space."""
        return directions @ self.R.T

    def world(self, X: Array) -> Array:
        return (X - self.pivot) @ self.R.T + self.origin


@dataclass(frozen=True, eq=False)
class Twist:
    """A rigid body moves with ``velocity`` [m/s] at the point ``at`` [m] and turns with ``spin`` [rad/s], all (3,)."""

    velocity: Array
    spin: Array
    at: Array

    def of(self, x: Array) -> Array:
        """Velocities (p, 3) of its points x (p, 3)."""
        return self.velocity + np.cross(self.spin, x - self.at)


Placement = tuple[Pose, Twist]  # where a body is, and how it moves


@runtime_checkable
class RigidMotion(Protocol):
    """A motion that keeps all distances."""

    def positions(self, X: Array, t: float) -> Array: ...

    def pose(self, t: float) -> Pose: ...

    def twist(self, t: float) -> Twist:
        """How it moves right after time t."""
        ...


@dataclass(frozen=True)
class Shake:
    """X + amplitude sin(2 pi frequency t); amplitude (d,) [m], frequency [Hz]."""

    amplitude: tuple[float, ...]
    frequency: float
    units: ClassVar[dict[str, str]] = {"amplitude": "m", "frequency": "1/s"}

    def __post_init__(self) -> None:
        read_fields(self)

    def positions(self, X: Array, t: float) -> Array:
        return X + np.asarray(self.amplitude) * np.sin(2.0 * np.pi * self.frequency * t)

    def pose(self, t: float) -> Pose:
        return Pose(np.eye(3), self._spatial() * np.sin(2.0 * np.pi * self.frequency * t))

    def twist(self, t: float) -> Twist:
        rate = 2.0 * np.pi * self.frequency
        return Twist(self._spatial() * rate * np.cos(rate * t), np.zeros(3), np.zeros(3))

    def _spatial(self) -> Array:
        out = np.zeros(3)
        out[: len(self.amplitude)] = self.amplitude
        return out


@dataclass(frozen=True)
class Keyframes:
    """Rigid motion x = pivot + R(t) (X - pivot) + d(t), interpolated linearly between keyframes and held outside.

    ``times (k,)`` [s] increasing, ``translations (k, 3)`` [m], ``rotations (k, 3)`` rotation vectors [rad] about
    ``pivot``; translation and rotation vector are each interpolated componentwise.
    """

    times: tuple[float, ...]
    translations: tuple[tuple[float, ...], ...] = ()
    rotations: tuple[tuple[float, ...], ...] = ()
    pivot: tuple[float, ...] = (0.0, 0.0, 0.0)
    units: ClassVar[dict[str, str]] = {"times": "s", "translations": "m", "rotations": "1", "pivot": "m"}

    def __post_init__(self) -> None:
        read_fields(self)
        if len(self.times) < 1 or (np.diff(self.times) <= 0).any():
            raise SceneError(f"times {self.times} must increase", where="Keyframes.times")
        for name in ("translations", "rotations"):
            given = len(getattr(self, name))
            if given not in (0, len(self.times)):
                raise SceneError(f"{given} {name} for {len(self.times)} times", where=f"Keyframes.{name}")

    @property
    def corners(self) -> tuple[float, ...]:
        return self.times

    def positions(self, X: Array, t: float) -> Array:
        pivot = np.asarray(self.pivot)[: X.shape[1]]
        x = X - pivot
        if self.rotations:
            x = x @ rotation(self._at(self.rotations, t))[: X.shape[1], : X.shape[1]].T
        if self.translations:
            x = x + self._at(self.translations, t)[: X.shape[1]]
        return x + pivot

    def pose(self, t: float) -> Pose:
        pivot = np.asarray(self.pivot, dtype=np.float64)
        R = rotation(self._at(self.rotations, t)) if self.rotations else np.eye(3)
        return Pose(R, pivot + self._at(self.translations, t) if self.translations else pivot, pivot)

    def twist(self, t: float) -> Twist:
        v, w = self._rate(self.translations, t), np.zeros(3)
        if self.rotations:
            w = _spin(self._at(self.rotations, t), self._rate(self.rotations, t))
        return Twist(v, w, self.pose(t).origin)

    def _at(self, values: tuple[tuple[float, ...], ...], t: float) -> Array:
        table = np.asarray(values, dtype=np.float64)
        return np.array([np.interp(t, self.times, column) for column in table.T])

    def _rate(self, values: tuple[tuple[float, ...], ...], t: float) -> Array:
        k = _interval(np.asarray(self.times), t)
        if k is None or not values:
            return np.zeros(3)
        return np.asarray(np.subtract(values[k + 1], values[k]) / (self.times[k + 1] - self.times[k]))


@dataclass(frozen=True)
class Phase:
    """From ``start`` to ``stop`` [s] a body moves with ``velocity`` [m/s] and turns with ``spin`` [rad/s]."""

    start: float
    stop: float
    velocity: Vector = (0.0, 0.0, 0.0)
    spin: Vector = (0.0, 0.0, 0.0)
    units: ClassVar[dict[str, str]] = {"start": "s", "stop": "s", "velocity": "m/s", "spin": "rad/s"}


@dataclass(frozen=True)
class Phases:
    """A rigid motion by velocities: one `Phase` after another, or several at once, about ``pivot`` [m], which moves."""

    phases: tuple[Phase, ...]
    pivot: Vector = (0.0, 0.0, 0.0)

    @property
    def corners(self) -> tuple[float, ...]:
        return tuple(t for phase in self.phases for t in (phase.start, phase.stop))

    def positions(self, X: Array, t: float) -> Array:
        return self.pose(t).world(X)

    def pose(self, t: float) -> Pose:
        from scipy.spatial.transform import Rotation

        R, pivot = Rotation.identity(), np.array(self.pivot, dtype=np.float64)
        p = pivot.copy()
        for phase in self.phases:
            dt = min(max(t - phase.start, 0.0), phase.stop - phase.start)
            R = Rotation.from_rotvec(dt * np.asarray(phase.spin)) * R
            p += dt * np.asarray(phase.velocity)
        return Pose(R.as_matrix(), p, pivot)

    def twist(self, t: float) -> Twist:
        v, w = np.zeros(3), np.zeros(3)
        for phase in self.phases:
            dt = min(max(t - phase.start, 0.0), phase.stop - phase.start)
            w = rotation(dt * np.asarray(phase.spin)) @ w  # turned along, as in `pose`
            if phase.start <= t < phase.stop - 1e-12:
                v += phase.velocity
                w += phase.spin
        return Twist(v, w, self.pose(t).origin)


@dataclass(frozen=True, eq=False)
class Track:
    """A rigid motion through recorded ``frames (k, 4, 4)`` at ``times (k,)`` [s]: x = E(t) X for points X of the frame.

    Between two of them the velocity of the frame's origin and the spin are constant; before the first and after the
    last nothing moves.
    """

    times: Array
    frames: Array

    def __post_init__(self) -> None:
        if len(self.times) == 0 or len(self.times) != len(self.frames) or (np.diff(self.times) <= 0.0).any():
            what = f"{len(self.frames)} frames at {len(self.times)} times, which must increase"
            raise SceneError(what, where="Track.times", remedy="give one time per frame, those of one run")

    @property
    def corners(self) -> tuple[float, ...]:
        return tuple(float(t) for t in self.times)

    def positions(self, X: Array, t: float) -> Array:
        return self.pose(t).world(X)

    def pose(self, t: float) -> Pose:
        k = int(np.clip(np.searchsorted(self.times, t + SAME_TIME, side="right") - 1, 0, len(self.times) - 1))
        v, w = self._rates(t)
        dt = min(max(t, self.times[0]), self.times[-1]) - self.times[k]
        R = rotation(dt * w) @ self.frames[k, :3, :3]
        return Pose(R, self.frames[k, :3, 3] + dt * v)

    def twist(self, t: float) -> Twist:
        return Twist(*self._rates(t), self.pose(t).origin)

    def _rates(self, t: float) -> tuple[Array, Array]:
        """Velocity of the origin [m/s] and spin [rad/s] right after time t."""
        from scipy.spatial.transform import Rotation

        k = _interval(self.times, t)
        if k is None:
            return np.zeros(3), np.zeros(3)
        h = self.times[k + 1] - self.times[k]
        turn = self.frames[k + 1, :3, :3] @ self.frames[k, :3, :3].T
        return (self.frames[k + 1, :3, 3] - self.frames[k, :3, 3]) / h, Rotation.from_matrix(turn).as_rotvec() / h


MOTIONS = (Shake, Keyframes, Phases, Track)


def _interval(times: Array, t: float) -> int | None:
    """The interval [times_k, times_(k+1)) that t lies in; None before the first and from the last on."""
    k = int(np.searchsorted(times, t + SAME_TIME, side="right")) - 1
    return k if 0 <= k < len(times) - 1 else None


def rotation(w: Array) -> Array:
    """exp([w]): the rotation about w by |w| radians (Rodrigues)."""
    angle = float(np.linalg.norm(w))
    W = _skew(w)
    if angle < 1e-12:
        return np.eye(3) + W
    return np.eye(3) + np.sin(angle) / angle * W + (1.0 - np.cos(angle)) / angle**2 * (W @ W)


def _spin(w: Array, rate: Array) -> Array:
    """The angular velocity of exp([w(t)]) when w changes with ``rate``: the left Jacobian of the rotation group."""
    angle = float(np.linalg.norm(w))
    W = _skew(w)
    if angle < 1e-6:
        return np.asarray(rate + 0.5 * W @ rate)
    first, second = (1.0 - np.cos(angle)) / angle**2, (angle - np.sin(angle)) / angle**3
    return np.asarray(rate + first * W @ rate + second * W @ (W @ rate))


def _skew(w: Array) -> Array:
    x, y, z = w
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])

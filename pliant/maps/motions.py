"""Scripted motions of vertices: rigid keyframes and shaking, as data that a scene file can hold."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from pliant.arrays import Array
from pliant.errors import SceneError
from pliant.units import read_fields


class Motion(Protocol):
    """Where vertices with rest positions ``X (p, d)`` are at time t [s]."""

    def positions(self, X: Array, t: float) -> Array: ...


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

    def positions(self, X: Array, t: float) -> Array:
        pivot = np.asarray(self.pivot)[: X.shape[1]]
        x = X - pivot
        if self.rotations:
            x = x @ rotation(self._at(self.rotations, t))[: X.shape[1], : X.shape[1]].T
        if self.translations:
            x = x + self._at(self.translations, t)[: X.shape[1]]
        return x + pivot

    def _at(self, values: tuple[tuple[float, ...], ...], t: float) -> Array:
        table = np.asarray(values, dtype=np.float64)
        return np.array([np.interp(t, self.times, column) for column in table.T])


def rotation(w: Array) -> Array:
    """exp([w]): the rotation about w by |w| radians (Rodrigues)."""
    angle = float(np.linalg.norm(w))
    x, y, z = w
    W = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    if angle < 1e-12:
        return np.eye(3) + W
    return np.eye(3) + np.sin(angle) / angle * W + (1.0 - np.cos(angle)) / angle**2 * (W @ W)

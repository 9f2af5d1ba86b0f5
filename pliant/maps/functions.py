"""Functions of time as data that a scene file can hold: torques, speeds and activations of motors and muscles."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant.errors import SceneError
from pliant.units import read_fields


@dataclass(frozen=True)
class Series:
    """``values (k,)`` or (k, d) at ``times (k,)`` [s], linear between them, held before and after."""

    times: tuple[float, ...]
    values: tuple[Any, ...]
    units: ClassVar[dict[str, str]] = {"times": "s"}

    def __post_init__(self) -> None:
        read_fields(self)
        if not len(self.times) or (np.diff(self.times) <= 0).any():
            raise SceneError(f"times {self.times} must increase", where="Series.times", remedy="give one or more")
        if np.shape(self.values)[:1] != (len(self.times),) or not np.isfinite(self.values).all():
            what = f"{len(self.values)} values for {len(self.times)} times"
            raise SceneError(what, where="Series.values", remedy="give one finite value per time")

    def __call__(self, t: float) -> Any:
        y = np.asarray(self.values, dtype=np.float64)
        if y.ndim == 1:
            return float(np.interp(t, self.times, y))
        return np.array([np.interp(t, self.times, column) for column in y.T])


@dataclass(frozen=True)
class Sine:
    """mean + amplitude sin(2 pi frequency t + phase), ``frequency`` [Hz], ``phase`` [rad]."""

    amplitude: float
    frequency: float
    phase: float = 0.0
    mean: float = 0.0
    units: ClassVar[dict[str, str]] = {"frequency": "1/s", "phase": "rad"}

    def __post_init__(self) -> None:
        read_fields(self)

    def __call__(self, t: float) -> float:
        return float(self.mean + self.amplitude * np.sin(2.0 * np.pi * self.frequency * t + self.phase))


FUNCTIONS = (Series, Sine)


def constant(value: Any) -> Series:
    """The function that is always ``value``."""
    return Series((0.0,), (tuple(value) if isinstance(value, list) else float(value),))

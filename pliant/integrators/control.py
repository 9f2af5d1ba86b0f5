"""What a control of step sizes is made of: a norm in metres, a controller, and states between two steps."""

from dataclasses import dataclass
from math import ceil, nextafter

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.integrators.estimate import LocalError
from pliant.state import State
from pliant.systems.base import System

SAFETY = 0.9  # of the step that would just do
LEAST = 0.1  # of the step tried, after a rejection
FAILED = 0.25  # of the step tried, after one that could not be solved
NOTHING = 1e-8  # an error, as a part of what is allowed, below which it is not told from none


@dataclass(frozen=True, eq=False)
class Yardstick:
    """Errors in metres of the worst body: of its positions the root mean square over its points, of its velocity as a
    whole (the mean) what it leads to in the time ``lead`` [s].

    Errors of velocities that point here and there in a body swing about: they come back as errors of positions, and
    where they are too fast for that, they do not matter. ``bodies (p,)`` numbers the body of every point.
    """

    bodies: IntArray
    lead: float

    def size(self, system: System, at: State, error: LocalError) -> float:
        """The size of an estimated error [m]."""
        if not len(self.bodies):  # nothing to be seen: coordinates, weighed by their inertia
            weights = system.weights(at.q)
            return max(_rms(error.q, weights), self.lead * _rms(error.v, weights))
        x = system.positions(at.q)
        apart, ahead = system.positions(at.q + error.q) - x, system.positions(at.q + self.lead * error.v) - x
        square = self._means((apart * apart).sum(axis=1))
        drift = np.array([self._means(ahead[:, k]) for k in range(3)]) ** 2
        return float(np.sqrt(max(square.max(), drift.sum(axis=0).max())))

    def _means(self, values: Array) -> Array:
        """The mean over the points of every body."""
        return np.bincount(self.bodies, values) / np.maximum(np.bincount(self.bodies), 1)


def _rms(e: Array, weights: Array) -> float:
    return float(np.sqrt(weights @ (e * e) / weights.sum()))


def bodies_of_points(system: System, q: Array) -> IntArray:
    """The number of the body that every point of a system belongs to."""
    found = np.zeros(len(system.positions(q)), dtype=np.int64)
    for k, cells in enumerate(system.cells()):
        found[np.unique(cells)] = k
    return found


def next_step(h: float, ratio: float, before: float, order: int, most: float) -> float:
    """The PI controller: h (1/r)^(0.7/p) r_before^(0.4/p) for errors per second that vanish like h^p.

    ``ratio`` r is the error over what is allowed, ``before`` that of the last step. [Soderlind2003, PI.3.4]
    """
    r, last = max(ratio, NOTHING), max(before, NOTHING)
    factor = SAFETY ** (1.0 / order) * r ** (-0.7 / order) * last ** (0.4 / order)
    return h * float(min(most, max(LEAST, factor)))


def shorter_step(h: float, ratio: float, order: int) -> float:
    """The step to try after one whose error was ``ratio`` times what is allowed; NaN: it could not be taken at all."""
    if not np.isfinite(ratio):
        return FAILED * h
    return h * float(min(SAFETY, max(LEAST, SAFETY * ratio ** (-1.0 / order))))


def divided(left: float, wanted: float) -> tuple[float, bool]:
    """The next step towards a time that must be met, ``left`` [s] away, and whether it arrives; no tiny last steps."""
    if not left < 2.0 * wanted:
        return wanted, False
    parts = ceil(left / wanted * (1.0 - 1e-9))
    return left / parts, parts == 1


def just_before(t: float, stop: float) -> float:
    """The longest step from t that ends before ``stop``, so that what ends there still acts."""
    h = stop - t
    while t + h >= stop:
        h = nextafter(h, 0.0) if t + nextafter(h, 0.0) < t + h else h - (stop - nextafter(stop, 0.0))
    return h


def between(a: State, b: State, t: float) -> State:
    """The state at time t on the cubic that has the positions and velocities of two states (Hermite).

    Its error of positions vanishes like h^4, that of velocities like h^3: faster than those of steps of order 2.
    """
    h = b.t - a.t
    s = (t - a.t) / h
    jump = b.q - a.q
    q = a.q + s * (h * a.v + s * (3.0 * jump - h * (2.0 * a.v + b.v) + s * (h * (a.v + b.v) - 2.0 * jump)))
    v = a.v + s * (6.0 * jump / h - 4.0 * a.v - 2.0 * b.v + s * (3.0 * (a.v + b.v) - 6.0 * jump / h))
    return State(q, v, t)

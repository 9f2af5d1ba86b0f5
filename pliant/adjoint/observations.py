"""Measured motions: markers at some times, and the same markers of a run with their derivatives by its parameters."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from pliant.adjoint.problem import Problem
from pliant.arrays import Array, IntArray
from pliant.errors import SceneError, require_numbers
from pliant.scene import Scene


@dataclass(frozen=True, eq=False)
class Observations:
    """Measured positions of markers: ``places (n, k, 3)`` [m] at ``times (n,)`` [s]; what is not finite is missing.

    ``markers`` are k groups of points of the scene; a marker is at the mean of its points. ``names`` are for plots.
    """

    markers: Sequence[IntArray]
    times: Array
    places: Array
    names: Sequence[str] = ()

    def __post_init__(self) -> None:
        given = self.markers if isinstance(self.markers, Sequence | np.ndarray) else ()
        markers = tuple(np.atleast_1d(np.asarray(m)) for m in given)
        times = require_numbers(self.times, "Observations.times", "give times [s]")
        places = require_numbers(self.places, "Observations.places", "give (times, markers, 3) [m]")
        if not markers or any(m.dtype.kind not in "iu" or not m.size for m in markers):
            remedy = "give numbers of points for every marker, such as [[5], [7]]"
            raise SceneError(f"markers are {self.markers!r}", where="Observations.markers", remedy=remedy)
        if times.ndim != 1 or not np.isfinite(times).all() or (np.diff(times) <= 0.0).any():
            raise SceneError("times do not increase", where="Observations.times", remedy="sort them, each once")
        if places.shape != (len(times), len(markers), 3):
            what = f"places of shape {places.shape} for {len(times)} times and {len(markers)} markers"
            raise SceneError(what, where="Observations.places", remedy="give (times, markers, 3)")
        if not np.isfinite(places).any():
            raise SceneError("nothing was seen", where="Observations.places", remedy="give some finite numbers")
        if isinstance(self.names, str) or len(self.names) not in (0, len(markers)):
            what = f"names are {self.names!r} for {len(markers)} markers"
            raise SceneError(what, where="Observations.names", remedy="give one name for each, or none")
        names = tuple(self.names) or tuple(f"point {m[0]}" for m in markers)
        for name, value in (("markers", markers), ("times", times), ("places", places), ("names", names)):
            object.__setattr__(self, name, value)

    def require_within(self, scene: Scene, points: int) -> None:
        """Refuse points that the scene does not have, and times that it does not reach."""
        last = max(int(m.max()) for m in self.markers)
        if last >= points or min(int(m.min()) for m in self.markers) < 0:
            what = f"point {last} of {points}"
            raise SceneError(what, where="Observations.markers", remedy=f"use 0 to {points - 1}")
        end = scene.steps * float(scene.h)
        if self.times[0] < 0.0 or self.times[-1] > end * (1.0 + 1e-9):
            what = f"seen from {self.times[0]:.6g} to {self.times[-1]:.6g} s, run from 0 to {end:.6g} s"
            raise SceneError(what, where="Observations.times", remedy="run for longer, or leave these times out")

    @property
    def seen(self) -> Array:
        """Which of all numbers are finite (3 k n,)."""
        return np.isfinite(self.places).ravel()


def interpolation(times: Array, h: float, steps: int) -> sp.csr_matrix:
    """Weights (n, steps + 1) of the states of a run at other times: cubic through the four nearest steps.

    Lagrange's polynomial: its error is of order h^4, where a method of order 2 has one of h^2. A time of a step has
    that step alone.
    """
    order = min(3, steps)
    rows, columns, values = [], [], []
    for row, t in enumerate(times / h):
        first = int(np.clip(np.floor(t) - order // 2, 0, steps - order))
        nodes = np.arange(first, first + order + 1)
        if abs(t - round(t)) < 1e-6:
            nodes = np.array([round(t)])
        for j in nodes:
            others = nodes[nodes != j]
            rows.append(row)
            columns.append(j)
            values.append(float(np.prod((t - others) / (j - others))))
    return sp.csr_matrix((values, (rows, columns)), shape=(len(times), steps + 1))


def observed(problem: Problem, seen: Observations, watch: Callable[[int], None] | None = None) -> tuple[Array, Array]:
    """The markers of the run at the times of the observations (3 k n,), and their derivatives (3 k n, size)."""
    system, size = problem.system, problem.parameters.size
    points = len(system.positions(problem.begin.q))
    seen.require_within(problem.scene, points)
    mean = _mean(seen.markers, points)
    places, slopes = [], []
    for k, (state, dq, _) in enumerate(problem.tangents(np.eye(size))):
        places.append(mean @ system.positions(state.q).ravel())
        slopes.append(mean @ (system.point_jacobian(state.q) @ dq))
        if watch is not None:
            watch(k)
    W = interpolation(seen.times, float(problem.scene.h), problem.scene.steps)
    values, width = len(seen.times) * mean.shape[0], mean.shape[0] * size
    return (W @ np.stack(places)).ravel(), np.asarray(W @ np.stack(slopes).reshape(-1, width)).reshape(values, size)


def _mean(markers: Sequence[IntArray], points: int) -> sp.csr_matrix:
    """Coordinates of the markers from those of all points (3 k, 3 points)."""
    rows = np.repeat(np.arange(len(markers)), [len(m) for m in markers])
    weights = np.concatenate([np.full(len(m), 1.0 / len(m)) for m in markers])
    chosen = sp.csr_matrix((weights, (rows, np.concatenate(markers))), shape=(len(markers), points))
    return sp.csr_matrix(sp.kron(chosen, sp.identity(3)))

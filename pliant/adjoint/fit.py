"""Fitting a scene to a measured motion by the Gauss-Newton method with Levenberg-Marquardt damping.

    min_x 1/2 |r(x)|^2,     r = markers of the run - measured positions,     (J^T J + lambda diag(J^T J)) dx = -J^T r

J is computed along with each run (tangents of all parameters together, on the same factors). Positive parameters are
fitted by their logarithms, so that they stay positive. With noise of equal size s on all measured numbers the
covariance of x is s^2 (J^T J)^-1; s is estimated from the remaining r. [Nocedal2006, Sec. 10.3]
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import t as student

from pliant.adjoint.observations import Observations, observed
from pliant.adjoint.parameters import Parameters, Wrt
from pliant.adjoint.problem import Problem
from pliant.arrays import Array
from pliant.errors import PliantError, SceneError, require_count
from pliant.scene import Scene

FIRST = 1e-3  # damping lambda
HALVINGS = 20  # of a step
LIMITS = {"nu": (-1.0, 0.5)}  # Poisson's ratio
WIDEST = 1.0  # change of a logarithm, or of a number in its own size, from one run to the next
UNSEEN = 1e-9  # singular value of J, relative to the largest, of a combination that the data do not show


@dataclass(frozen=True, eq=False)
class FitRun:
    """One run of a fit: the values of all parameters, the root mean square residual [m], and whether it improved."""

    run: int
    values: Array
    rms: float
    better: bool


@dataclass(frozen=True, eq=False)
class Fitted:
    """The fitted scene, the values of its parameters (size,) and their 95 % confidence intervals (size, 2).

    ``interval`` is None where the data do not determine all parameters, or are no more than these; ``noise`` [m] is the
    estimated standard deviation of the measured numbers. ``before`` and ``after`` are the positions of the markers (n,
    k, 3) in the first run and in the best. ``converged`` is False if the number of runs was not sufficient.
    """

    scene: Scene
    names: tuple[str, ...]
    start: Array
    values: Array
    interval: Array | None
    noise: float | None
    converged: bool
    history: tuple[FitRun, ...]
    before: Array
    after: Array

    @property
    def runs(self) -> int:
        return len(self.history)


def fit(
    scene: Scene,
    seen: Observations,
    wrt: Sequence[Wrt],
    *,
    runs: int = 15,
    tolerance: float = 1e-4,
    watch: Callable[[FitRun], None] | None = None,
    stepped: Callable[[int], None] | None = None,
) -> Fitted:
    """Fit the parameters ``wrt`` of a scene to a measured motion, in at most ``runs`` runs.

    It has converged when the next step would change no parameter by more than ``tolerance`` of its size, combinations
    left out that it would change by less than a hundredth of their uncertainty. ``watch`` is called with every run of
    the fit, ``stepped`` with every step of a run.
    """
    require_count(runs, 1, "fit.runs")
    if not isinstance(tolerance, float | int) or not 0.0 < tolerance < 1.0:
        raise SceneError(f"tolerance is {tolerance!r}", where="fit.tolerance", remedy="give one between 0 and 1")
    if not isinstance(seen, Observations):
        raise SceneError(f"seen is {seen!r:.60}", where="fit.seen", remedy="give Observations(markers, times, places)")
    problem = Problem(scene, wrt)
    scale = _Scale.of(problem.parameters)
    first = best = _run(problem, scale, scale.inner(problem.parameters.values), seen, stepped)
    trials, damping = [_told(1, scale, first.x, first.rms, True, watch)], FIRST
    while len(trials) < runs and not best.settled(tolerance):
        x, there = _next(problem, scale, best, damping)
        try:
            found = _run(there, scale, x, seen, stepped)
        except PliantError:  # it cannot be run with these values
            found = None
        gain = -1.0 if found is None else best.gain(found)
        trials.append(_told(len(trials) + 1, scale, x, np.inf if found is None else found.rms, gain > 0.0, watch))
        best = found if found is not None and gain > 0.0 else best
        damping *= 0.1 if gain > 0.75 else 1.0 if gain > 0.25 else 10.0
    spread = best.spread()
    return Fitted(
        problem.changed(scale.outer(best.x)).scene,
        _numbered(problem.parameters),
        problem.parameters.values,
        scale.outer(best.x),
        None if spread is None else np.stack([scale.outer(best.x - spread), scale.outer(best.x + spread)], axis=1),
        best.noise,
        best.settled(tolerance),
        tuple(trials),
        first.places,
        best.places,
    )


@dataclass(frozen=True, eq=False)
class _Scale:
    """x = log p for positive numbers, log((p - a)/(b - p)) between limits, else p in units of its parameter's largest.

    ``low`` and ``high`` are the limits: 0 and inf, or -inf and inf.
    """

    low: Array
    high: Array
    sizes: Array

    @classmethod
    def of(cls, parameters: Parameters) -> "_Scale":
        rows = []
        for p in parameters.parts:
            usual = (0.0, np.inf) if (p.value > 0.0).all() else (-np.inf, np.inf)
            limits = LIMITS.get(p.name.rpartition(".")[2], usual)
            rows += p.value.size * [(*limits, float(np.abs(p.value).max()) or 1.0)]
        return cls(*np.array(rows).T)

    def inner(self, p: Array) -> Array:
        free, half = np.isneginf(self.low), np.isposinf(self.high)
        with np.errstate(invalid="ignore"):
            return np.where(free, p / self.sizes, np.log(p - self.low) - np.where(half, 0.0, np.log(self.high - p)))

    def outer(self, x: Array) -> Array:
        free, half = np.isneginf(self.low), np.isposinf(self.high)
        with np.errstate(invalid="ignore", over="ignore"):
            between = self.low + (self.high - self.low) / (1.0 + np.exp(-x))
            return np.where(free, x * self.sizes, np.where(half, self.low + np.exp(x), between))

    def slope(self, x: Array) -> Array:
        """dp/dx."""
        p, free, half = self.outer(x), np.isneginf(self.low), np.isposinf(self.high)
        with np.errstate(invalid="ignore"):
            between = (p - self.low) * (self.high - p) / (self.high - self.low)
        return np.where(free, self.sizes, np.where(half, p - self.low, between))


@dataclass(frozen=True, eq=False)
class _Point:
    """A run at x: its markers (n, k, 3), what is left of the data (m,), and the slopes of that by x (m, size)."""

    x: Array
    places: Array
    r: Array
    J: Array

    @property
    def rms(self) -> float:
        return float(np.sqrt(np.mean(self.r**2)))

    @property
    def noise(self) -> float | None:
        free = len(self.r) - len(self.x)
        return float(np.sqrt(self.r @ self.r / free)) if free > 0 else None

    def step(self, damping: float) -> Array:
        """The damped step, no longer than `WIDEST`; combinations that no datum shows stay as they are."""
        U, s, Vt, size = self._svd
        dx = -(Vt.T @ (s / (s**2 + damping) * (U.T @ self.r))) / size
        return dx * min(1.0, WIDEST / max(float(np.abs(dx).max()), 1e-300))

    def gain(self, other: "_Point") -> float:
        """By how much the sum of squares became smaller, in parts of what J promised."""
        promised = float(self.r @ self.r - np.sum((self.r + self.J @ (other.x - self.x)) ** 2))
        return float(self.r @ self.r - other.r @ other.r) / max(promised, 1e-300)

    @cached_property
    def _svd(self) -> tuple[Array, Array, Array, Array]:
        """Of J with columns of length 1, without what it does not see, and the lengths of the columns."""
        size = np.linalg.norm(self.J, axis=0)
        seen = size > UNSEEN * np.linalg.norm(self.places)  # less is the round-off of the markers
        size = np.where(seen, size, 1.0)
        U, s, Vt = np.linalg.svd(np.where(seen, self.J, 0.0) / size, full_matrices=False)
        good = s > UNSEEN * s.max(initial=0.0)
        return U[:, good], s[good], Vt[good], size

    def deviation(self) -> Array | None:
        """Standard deviations of x (size,); None where the data do not determine all of it."""
        _, s, Vt, size = self._svd
        if self.noise is None or len(s) < len(self.x):
            return None
        return self.noise * np.linalg.norm(Vt / s[:, None], axis=0) / size

    def spread(self) -> Array | None:
        """Half the width of the intervals with 95 % confidence."""
        deviation = self.deviation()
        return None if deviation is None else float(student.ppf(0.975, len(self.r) - len(self.x))) * deviation

    def settled(self, tolerance: float) -> bool:
        """Whether the next step is short, apart from combinations that it would change by little of their uncertainty.

        A parameter by itself may be uncertain without an end, where a combination with others is anything but.
        """
        U, s, Vt, size = self._svd
        way = U.T @ self.r
        if self.noise is not None:
            way[np.abs(way) <= 0.01 * self.noise] = 0.0
        return bool((np.abs(Vt.T @ (way / s) / size) <= tolerance).all())


def _run(
    problem: Problem, scale: _Scale, x: Array, seen: Observations, stepped: Callable[[int], None] | None
) -> _Point:
    places, slopes = observed(problem, seen, stepped)
    chosen = seen.seen
    r, J = (places - seen.places.ravel())[chosen], slopes[chosen] * scale.slope(x)
    return _Point(x, places.reshape(seen.places.shape), r, J)


def _next(problem: Problem, scale: _Scale, best: _Point, damping: float) -> tuple[Array, Problem]:
    """Where to run next: as much of the step as leads to a scene that there is."""
    step = best.step(damping)
    for _ in range(HALVINGS):
        x = best.x + step
        try:
            return x, problem.changed(scale.outer(x))
        except PliantError:
            step = 0.5 * step
    return best.x, problem


def _told(
    run: int, scale: _Scale, x: Array, rms: float, better: bool, watch: Callable[[FitRun], None] | None
) -> FitRun:
    trial = FitRun(run, scale.outer(x), rms, better)
    if watch is not None:
        watch(trial)
    return trial


def _numbered(parameters: Parameters) -> tuple[str, ...]:
    """A name for every number."""
    return tuple(
        p.name if not p.value.ndim else f"{p.name}[{', '.join(map(str, k))}]"
        for p in parameters.parts
        for k in np.ndindex(p.value.shape)
    )

"""Line search for the strong Wolfe conditions, 0 < c1 < c2 < 1. [Ledwon2024, Eq. 3.6-3.7, corrected]

    f(x + a p) <= f(x) + c1 a g.p          enough decrease
    |g(x + a p).p| <= c2 |g(x).p|          flat enough

A step is doubled until it is bracketed, then the bracket shrinks by safeguarded interpolation. Values that are not
finite count as too long. Once f can no longer resolve the decrease, the slope alone decides; so it does for residuals
that are no gradient (damping, friction), where f is None.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pliant.solvers.base import StageLike
from pliant.solvers.line_search import Trial

ROUND_OFF = 1e-12  # of |f|: smaller decreases are noise


@dataclass(frozen=True)
class Probe:
    """The function along the line at step ``a``: its slope, and the point with its residual and merit."""

    a: float
    slope: float
    point: Trial


@dataclass(frozen=True)
class StrongWolfe:
    """``c2`` = 0.9 for Newton and quasi-Newton directions, 0.1 for steepest descent."""

    c1: float = 1e-4
    c2: float = 0.9
    brackets: int = 30
    zooms: int = 40

    def search(self, stage: StageLike, now: Trial, dz: np.ndarray, first: float = 1.0) -> Trial | None:
        """The accepted point, tried from step ``first``; None if dz does not descend or nothing acceptable is found."""
        slope = float(now.r @ dz)
        if not slope < 0.0:
            return None
        evaluations = 0

        def probe(a: float) -> Probe:
            nonlocal evaluations
            evaluations += 1
            z = now.z + a * dz
            merit = stage.merit(z) if now.merit is not None else None
            if merit is not None and not np.isfinite(merit):
                return Probe(a, np.nan, Trial(a, z, now.r, np.inf, merit, evaluations))
            r = stage.residual(z)
            return Probe(a, float(r @ dz), Trial(a, z, r, stage.norm(r), merit, evaluations))

        found = self._bracket(probe, Probe(0.0, slope, now), first, stage.limit(now.z, dz))
        return None if found is None else found.point

    def _bracket(self, probe: Callable[[float], Probe], start: Probe, first: float, most: float) -> Probe | None:
        """Lengthen the step until it is accepted or too long, then zoom in; never beyond the longest admissible one."""
        low, a = start, min(first, most)
        for _ in range(self.brackets):
            at = probe(a)
            if self._too_long(start, low, at):
                return self._zoom(probe, start, low, at)
            if abs(at.slope) <= -self.c2 * start.slope:
                return at
            if at.slope > 0.0:
                return self._zoom(probe, start, at, low)
            if a >= most:
                return at
            low, a = at, min(2.0 * a, most)
        return low if low.a > 0.0 else None

    def _zoom(self, probe: Callable[[float], Probe], start: Probe, low: Probe, high: Probe) -> Probe | None:
        """Shrink the bracket whose better end is ``low``."""
        for _ in range(self.zooms):
            at = probe(_inside(low, high))
            if self._too_long(start, low, at):
                high = at
            elif abs(at.slope) <= -self.c2 * start.slope:
                return at
            else:
                if at.slope * (high.a - low.a) >= 0.0:
                    high = low
                low = at
        return low if low.a > 0.0 else None

    def _too_long(self, start: Probe, low: Probe, at: Probe) -> bool:
        """Insufficient decrease, or no better than ``low``; judged by the slope when the merit cannot resolve it."""
        if not np.isfinite(at.slope):
            return True
        f0, f = start.point.merit, at.point.merit
        if f0 is None or f is None or abs(at.a * start.slope) <= ROUND_OFF * abs(f0):
            return at.slope > -self.c2 * start.slope
        least = low.point.merit if low.a > 0.0 else np.inf
        return f > f0 + self.c1 * at.a * start.slope or (least is not None and f >= least)


def _inside(low: Probe, high: Probe) -> float:
    """Secant step on the slopes, kept a tenth away from both ends; the middle when that is not possible."""
    width = high.a - low.a
    change = high.slope - low.slope
    fraction = -low.slope / change if np.isfinite(change) and change * width > 0.0 else 0.5
    return low.a + width * (fraction if 0.1 <= fraction <= 0.9 else 0.5)

"""Back-tracking along a descent direction, with two ways to judge a step.

(a) when the stage has a merit Phi: Armijo, Phi(t) <= Phi + 1e-4 t g.dz, as long as Phi can still resolve the change:
    of stiff bodies in short steps it cannot, what it adds up is too large;
(b) otherwise (friction, damping): |r(t)|^2 <= (1 - 2e-4 t) |r|^2, or |dz.r(t)| <= 0.9 |dz.r|, the projected residual
    test of Matthies and Strang, needed because with a projected Hessian |r| need not fall along dz.
Where the matrix is not symmetric (joints, multipliers), a Newton step need not descend along r, but |r| falls: only the
first test of (b) then applies to it.
    Where contact limits the way, no step ends where the forces push back as hard as they pulled: those that use up nine
    tenths of a gap each soon end so deep in a barrier that only short ones lead out of it again.
(c) where the stage is `Guided` (bodies on joints against barriers), Armijo on the guide, or |r| down by a tenth while
    the guide hardly rises: a residual that must fall steadily gets stuck between barriers, near the root the guide is
    not exact enough, and steps that let it rise at will undo what the others gained, for ever. A whole step with
    nothing in its way that leaves a tenth of |r| is near the root and is not asked for it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pliant.abilities import able
from pliant.arrays import Array
from pliant.solvers.base import Guided, StageLike
from pliant.solvers.rounding import blur_of

RESOLVED = 1e-12  # of the merit: changes below are rounding
SMALL = 1e-3  # of the size: residuals below bound an error so small
NEAR = 0.1  # part of the residual that a whole step leaves near the root, where it needs no guide
STRAY = 1e-2  # part of a step's slope by which the guide may rise where the residual falls


@dataclass(frozen=True)
class Trial:
    """An accepted point: step length t, z, residual and its norm, merit (None in mode b), evaluations used.

    ``escaped`` marks a step of the last resort, after which residuals start anew, ``cut`` one of a `Guided` stage that
    was as long as its limit allowed.
    """

    t: float
    z: Array
    r: Array
    norm: float
    merit: float | None
    evaluations: int
    escaped: bool = False
    cut: bool = False


@dataclass(frozen=True)
class LineSearch:
    """t = 1, 1/2, 1/4, ...; at most ``halvings``. Non-finite values count as rejection."""

    halvings: int = 15
    armijo: float = 1e-4
    projected: float = 0.9

    def search(self, stage: StageLike, current: Trial, dz: Array) -> Trial | None:
        """The first acceptable point along dz, or None when dz is no descent direction or nothing is acceptable."""
        slope = float(current.r @ dz)
        if not slope < 0.0 and stage.symmetric:
            return None
        limit = stage.limit(current.z, dz)
        t, evaluations, guide = min(1.0, limit), 0, None
        exact = np.inf if current.merit is None else RESOLVED * abs(current.merit)
        asked = False
        for k in range(self.halvings + 1):
            z = current.z + t * dz
            phi = stage.merit(z) if current.merit is not None else None
            if not asked and self._hopeless(current, phi, t, slope, exact):
                asked = True
                if current.norm <= SMALL * stage.scale:  # far from the root a merit tells; finding out costs a matrix
                    exact = max(exact, blur_of(stage, current.z))
            if not self._hopeless(current, phi, t, slope, exact):
                r = stage.residual(z)
                evaluations += 1
                trial = Trial(t, z, r, stage.norm(r), phi, evaluations)
                if k == 0 and current.merit is None:
                    if limit == np.inf and trial.norm <= NEAR * current.norm:
                        return trial
                    guide = stage.guide(current.z, current.r) if able(stage, Guided) else None
                    if guide is not None and not slope < 0.0:
                        return None
                if guide is not None:
                    trial = replace(trial, escaped=trial.norm > current.norm, cut=t == limit < 1.0)
                    if self._guided(current, trial, slope, guide):
                        return self._extended(stage, current, trial, dz, guide) if trial.escaped else trial
                elif self._acceptable(current, trial, slope, dz, exact) and not (
                    limit < 1.0 and self._rammed(r, slope, dz)
                ):
                    return trial
            t *= 0.5
        return None

    def _extended(
        self, stage: StageLike, current: Trial, trial: Trial, dz: Array, guide: Callable[[Array], float]
    ) -> Trial:
        """A step that raised the residual, made twice as long while at its end forces pull along dz as at its start.

        What stands on a point falls off it by negative curvature, of which a projected matrix knows nothing: whole
        steps are then a few per cent of the way, and so are the next.
        """
        slope = float(current.r @ dz)
        while trial.t >= 1.0 and float(dz @ trial.r) < self.projected * slope:
            t, way = 2.0 * trial.t, 2.0 * trial.t * dz
            if stage.limit(current.z, way) < 1.0:
                break
            r = stage.residual(current.z + way)
            longer = Trial(t, current.z + way, r, stage.norm(r), None, trial.evaluations + 1, True)
            if not (np.isfinite(longer.norm) and guide(longer.z) < guide(trial.z)):
                break
            trial = longer
        return trial

    def _guided(self, current: Trial, trial: Trial, slope: float, guide: Callable[[Array], float]) -> bool:
        """Test (c)."""
        if not np.isfinite(trial.norm):
            return False
        rise = guide(trial.z)
        if rise <= self.armijo * trial.t * slope:
            return True
        return trial.norm <= 0.9 * current.norm and rise <= STRAY * trial.t * abs(slope)

    def _rammed(self, r: Array, slope: float, dz: Array) -> bool:
        """Whether the forces push back along dz, and as hard as they pulled."""
        return float(dz @ r) > self.projected * abs(slope)

    def pulled(self, stage: StageLike, current: Trial, dz: Array) -> Trial | None:
        """The last resort of (b): the whole step if at its end the forces still pull along dz, dz.r(1) < 0.

        A body that buckles (negative curvature) is pulled harder the farther it goes, so |r| and |dz.r| grow and no t
        passes: without such a step the iteration stays trapped at the saddle.
        """
        if current.merit is not None or not stage.limit(current.z, dz) >= 1.0:
            return None
        z = current.z + dz
        r = stage.residual(z)
        norm = stage.norm(r)
        return Trial(1.0, z, r, norm, None, 1, True) if np.isfinite(norm) and float(dz @ r) < 0.0 else None

    def _hopeless(self, current: Trial, phi: float | None, t: float, slope: float, exact: float) -> bool:
        """Rejected by the merit alone, which saves a residual; near convergence the merit cannot decide."""
        if phi is None or current.merit is None:
            return False
        if not np.isfinite(phi):
            return True
        return abs(t * slope) > exact and phi > self._bound(current.merit, t, slope)

    def _bound(self, merit: float, t: float, slope: float) -> float:
        return merit + self.armijo * t * slope + 1e-14 * abs(merit)

    def _acceptable(self, current: Trial, trial: Trial, slope: float, dz: Array, exact: float) -> bool:
        if not np.isfinite(trial.norm):
            return False
        if trial.merit is not None and abs(trial.t * slope) > exact:
            return True  # the merit has already agreed
        decreased = trial.norm**2 <= (1.0 - 2e-4 * trial.t) * current.norm**2
        return decreased or (slope < 0.0 and abs(float(dz @ trial.r)) <= -self.projected * slope)

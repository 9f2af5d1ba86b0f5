"""Where a rigid obstacle is at time t, and how fast its points move."""

from dataclasses import dataclass

import numpy as np

from pliant.arrays import Array
from pliant.maps.motions import Motion, Pose, RigidMotion

EPSILON = 1e-7  # s: the backward difference that stands for a velocity when no time passes
REST = Pose(np.eye(3), np.zeros(3))


def pose_at(motion: Motion | None, t: float) -> Pose:
    """The pose a motion has brought the obstacle to; one that does not tell it is read off four of its points."""
    if motion is None:
        return REST
    if isinstance(motion, RigidMotion):
        return motion.pose(t)
    x = motion.positions(np.vstack([np.zeros(3), np.eye(3)]), t)
    return Pose((x[1:] - x[0]).T, x[0])


@dataclass(frozen=True, eq=False)
class Passage:
    """A motion from time t0 to t: the pose at the end, and the mean velocity of every point on the way."""

    pose: Pose
    before: Pose
    dt: float

    def velocity(self, x: Array) -> Array:
        """Mean velocity (p, 3) [m/s] of the obstacle's material points that end at x (p, 3)."""
        if self.before is self.pose:
            return np.zeros_like(x)
        return (x - self.before.world(self.pose.local(x))) / self.dt

    @property
    def outset(self) -> "Passage":
        """The same way seen from where it begins: the pose there, the mean velocity of points that set out at x."""
        return Passage(self.before, self.pose, -self.dt)


def passage(motion: Motion | None, t0: float, t: float) -> Passage:
    """The motion from t0 to t; for t <= t0 its velocity is the momentary one at t."""
    if motion is None:
        return Passage(REST, REST, 1.0)
    dt = t - t0 if t > t0 else EPSILON
    return Passage(pose_at(motion, t), pose_at(motion, t - dt), dt)

"""The bodies of an articulated motion as obstacles for soft bodies and cloth: they push, and are not pushed back."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.arrays import Array
from pliant.articulated.se3 import exp6, inverse, log6
from pliant.articulated.system import ArticulatedSystem
from pliant.contact.obstacles import Obstacle, Sphere
from pliant.contact.triangles import TriangleObstacle
from pliant.errors import SceneError
from pliant.mesh.mesh import Mesh
from pliant.state import State


@dataclass(frozen=True, eq=False)
class Travel:
    """A rigid motion through ``frames`` (k, 4, 4) at increasing ``times`` (k,) [s], held before and after.

    Between two frames the body keeps its twist: E(t) = E_i exp(s log(E_i^-1 E_(i+1))), s from 0 to 1.
    """

    times: Array
    frames: Array

    def positions(self, X: Array, t: float) -> Array:
        E = self.frame(t)
        return X @ E[:3, :3].T + E[:3, 3]

    def frame(self, t: float) -> Array:
        """Where the body is at time t (4, 4)."""
        i = int(np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, max(len(self.times) - 2, 0)))
        if len(self.times) == 1:
            return self.frames[0]
        s = float(np.clip((t - self.times[i]) / (self.times[i + 1] - self.times[i]), 0.0, 1.0))
        return self.frames[i] @ exp6(s * log6(inverse(self.frames[i]) @ self.frames[i + 1]))


def moving_obstacles(system: ArticulatedSystem, states: Sequence[State]) -> list[Obstacle]:
    """One obstacle per body with a closed surface (spheres as such), along the states of a run of the system."""
    times = np.array([state.t for state in states])
    if len(times) == 0 or (np.diff(times) <= 0.0).any():
        raise SceneError(
            f"{len(times)} states whose times do not increase", where="moving_obstacles", remedy="give those of one run"
        )
    frames = np.array([system.kinematics(state.q, state.v).frames for state in states])
    found: list[Obstacle] = []
    for i, link in enumerate(system.tree.links):
        motion, name, body = Travel(times, frames[:, i]), system.tree.names[i], link.body
        if body.radius > 0.0:
            found.append(Sphere(radius=body.radius, motion=motion, name=name))
        elif len(body.faces):
            found.append(TriangleObstacle(Mesh(body.points, body.faces), motion, name))
    return found

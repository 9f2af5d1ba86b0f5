"""The bodies of an articulated motion as obstacles for soft bodies and cloth: they push, and are not pushed back."""

from collections.abc import Sequence

import numpy as np

from pliant.articulated.system import ArticulatedSystem
from pliant.contact.obstacles import Obstacle, Sphere
from pliant.contact.triangles import TriangleObstacle
from pliant.errors import SceneError
from pliant.maps.motions import Track
from pliant.mesh.mesh import Mesh
from pliant.state import State


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
        motion, name, body = Track(times, frames[:, i]), system.tree.names[i], link.body
        if body.radius > 0.0:
            found.append(Sphere(radius=body.radius, motion=motion, name=name))
        elif len(body.faces):
            found.append(TriangleObstacle(Mesh(body.points, body.faces), motion, name))
    return found

"""What contact needs to know of a scene: bodies, masses, stiffness, obstacles."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.contact.contacts import Contacts, obstacle_contacts
from pliant.contact.obstacles import Obstacle
from pliant.contact.pairs import touchable_vertices
from pliant.contact.pose import Passage, passage
from pliant.mesh.mesh import Mesh
from pliant.mesh.topology import edges

G = 9.81  # m/s^2


@dataclass(frozen=True, eq=False)
class Setting:
    """Bodies in the scene's numbering: ``meshes``, ``offsets (b + 1,)``, nodal ``mass (n,)`` [kg], ``names``.

    ``modulus`` [N/m^2] (b,) is Young's modulus of every body (NaN where it has none), ``thickness`` [m] that of sheets.
    ``gravity`` [m/s^2] is how strong it is.
    """

    meshes: Sequence[Mesh]
    offsets: IntArray
    mass: Array
    modulus: Array
    thickness: Array
    names: Sequence[str]
    obstacles: Sequence[Obstacle]
    gravity: float = G

    @property
    def n(self) -> int:
        return int(self.offsets[-1])

    @cached_property
    def body(self) -> IntArray:
        """The body of every vertex (n,)."""
        return np.repeat(np.arange(len(self.meshes)), np.diff(self.offsets))

    @cached_property
    def skin(self) -> IntArray:
        """Vertices that can touch something."""
        return np.concatenate([touchable_vertices(m) + o for m, o in zip(self.meshes, self.offsets, strict=False)])

    @cached_property
    def edge_length(self) -> Array:
        """Mean edge length of every body (b,) [m]."""
        return np.array([_mean_edge(m) for m in self.meshes])

    @cached_property
    def stiffness(self) -> Array:
        """10 E times mean edge length (thickness for sheets) for every vertex (n,) [N/m]; NaN without a modulus."""
        width = np.where(np.isnan(self.thickness), self.edge_length, self.thickness)
        return (10.0 * self.modulus * width)[self.body]

    @cached_property
    def share(self) -> Array:
        """The weight a vertex carries when a body of its kind rests on one of six sides on Earth (n,) [N].

        A measure of force that scenes without gravity need as well.
        """
        skin = np.bincount(self.body[self.skin], minlength=len(self.meshes))
        weight = G * np.bincount(self.body, weights=self.mass, minlength=len(self.meshes))
        return (6.0 * weight / skin)[self.body]

    def passages(self, t0: float, t: float) -> list[Passage]:
        """How every obstacle moves from t0 to t."""
        return [passage(o.motion, t0, t) for o in self.obstacles]


def obstacle_gaps(setting: Setting, passages: Sequence[Passage], x: Array, margin: float) -> list[Contacts]:
    """Vertices closer than ``margin`` [m] to each obstacle at positions ``x (n, 3)``; gaps are those beyond it."""
    found = []
    for k, (obstacle, way) in enumerate(zip(setting.obstacles, passages, strict=True)):
        local = way.pose.local(x[setting.skin])
        g, n = obstacle.distance(local)
        near = np.flatnonzero(g < margin)
        local, points = local[near], x[setting.skin[near]]
        bend = obstacle.curvature(local)
        if bend is not None:
            bend = way.pose.R @ bend @ way.pose.R.T
        found.append(
            obstacle_contacts(
                setting.skin[near], way.pose.turn(n[near]), g[near] - margin, way.velocity(points), bend, -1 - k
            )
        )
    return found


def _mean_edge(mesh: Mesh) -> float:
    E = edges(mesh.T)
    return float(np.linalg.norm(mesh.X[E[:, 0]] - mesh.X[E[:, 1]], axis=1).mean())

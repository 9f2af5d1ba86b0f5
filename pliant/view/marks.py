"""What is drawn beside the surface: obstacles, joints, Eulerian vertices, contact points with their normals."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.export.colours import STEEL, STONE
from pliant.export.obstacles import ObstacleShape, shapes_of
from pliant.systems.base import Composed, System
from pliant.systems.contact import Touch
from pliant.systems.observed import Jointed, PartlyEulerian, Touching

JOINT, EULERIAN, CONTACT = (214, 90, 40), (20, 150, 60), (210, 30, 60)
NOWHERE = np.zeros((0, 3))


@dataclass(frozen=True, eq=False)
class Marks:
    """Positions [m] of ``joints``, ``eulerian`` vertices and ``contacts``, all (k, 3); unit ``normals`` of contacts."""

    joints: Array = field(default_factory=lambda: NOWHERE)
    eulerian: Array = field(default_factory=lambda: NOWHERE)
    contacts: Array = field(default_factory=lambda: NOWHERE)
    normals: Array = field(default_factory=lambda: NOWHERE)


NO_MARKS = Marks()


def marks_of(system: System, x: Array, t: float) -> Marks:
    """The marks of a system whose positions are x (n, 3) [m]; what it does not have is empty."""
    joints = system.joint_origins(x) if isinstance(system, Jointed) else NOWHERE
    eulerian = x[system.eol] if isinstance(system, PartlyEulerian) else NOWHERE
    touch = None
    if isinstance(system, Touching) and isinstance(system, Composed) and system.X.shape == x.shape:
        touch = system.contacts(x.ravel(), np.zeros(x.size), t)  # coordinates are positions
    if not isinstance(touch, Touch):
        return Marks(joints, eulerian)
    return Marks(joints, eulerian, touch.points, touch.normals)


class DrawnObstacles:
    """The obstacles and marks of one scene in the browser, drawn anew where they move."""

    def __init__(self, server: Any, name: str, offset: Array, scene: Any, low: Array, high: Array) -> None:
        self._scene, self._name, self._offset = server.scene, name, offset
        self._size = float(np.linalg.norm(high - low)) or 1.0
        self._shapes = shapes_of(scene, low, high)
        self._shown: set[str] = set()
        for k, shape in enumerate(self._shapes):
            self._obstacle(f"{name}/obstacle{k}", shape, 0.0)

    def show(self, marks: Marks, t: float) -> None:
        """Move what moves, and draw the marks."""
        for k, shape in enumerate(self._shapes):
            if shape.moves:
                self._obstacle(f"{self._name}/obstacle{k}", shape, t)
        self._dots("joints", marks.joints, JOINT)
        self._dots("eulerian", marks.eulerian, EULERIAN)
        self._dots("contacts", marks.contacts, CONTACT)
        ends = np.stack([marks.contacts, marks.contacts + 0.05 * self._size * marks.normals], axis=1) + self._offset
        if self._wanted("normals", len(ends)):
            thin = 0.002 * self._size
            sizes = {"shaft_radius": thin, "head_radius": 2 * thin, "head_length": 4 * thin}
            self._scene.add_arrows(f"{self._name}/normals", ends, CONTACT, **sizes)

    def _dots(self, kind: str, x: Array, colour: tuple[int, int, int]) -> None:
        if self._wanted(kind, len(x)):
            look = {"point_size": 0.012 * self._size, "point_shape": "circle", "precision": "float32"}
            self._scene.add_point_cloud(f"{self._name}/{kind}", x + self._offset, colour, **look)

    def _wanted(self, kind: str, count: int) -> bool:
        """Whether there is something to draw; what was there and is no more is taken away."""
        if count:
            self._shown.add(kind)
            return True
        if kind in self._shown:
            self._shown.remove(kind)
            self._scene.remove_by_name(f"{self._name}/{kind}")
        return False

    def _obstacle(self, name: str, shape: ObstacleShape, t: float) -> None:
        x = (shape.at(t) + self._offset).astype(np.float32)
        look: dict[str, Any] = {"color": STEEL, "side": "double"} if shape.thin else {"color": STONE}
        if shape.hollow:
            look |= {"opacity": 0.6, "side": "double"}
        self._scene.add_mesh_simple(name, x, shape.triangles.astype(np.uint32), flat_shading=True, **look)

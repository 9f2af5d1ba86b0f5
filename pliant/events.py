"""What happens to a scene while it runs: cuts, and pins that let go.

An event maps a scene to the scene after it, and states of the one to states of the other. It happens before the step
that begins at or after its time; integrators start again without memory, as after any jump. At a cut the vertices on
it are duplicated, masses follow the elements, positions and velocities are kept: mass, momentum and every energy are
the same on both sides, except that cloth no longer bends there. [Weidner2022, sec. 4.5]
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from pliant import attachments, loads
from pliant.arrays import IntArray, indices, require_among
from pliant.errors import SceneError
from pliant.maps.pins import NO_PIN
from pliant.mesh import CutMesh, Mesh, cut, plane_sides
from pliant.state import State
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.row_contact import RowContact
from pliant.units import read_fields

if TYPE_CHECKING:
    from pliant.scene import Scene

Carry = Callable[[State], State]  # a state of the scene before an event in the coordinates of the scene after it


class Event(Protocol):
    """Something that happens at a time [s]."""

    @property
    def time(self) -> float: ...

    def check(self, scene: "Scene") -> None:
        """Refuse a scene to which this event does not apply."""
        ...

    def apply(self, scene: "Scene") -> tuple["Scene", Carry]: ...


@dataclass(frozen=True)
class PlaneCut:
    """A cut through a body (its name or index) along the element faces nearest to a plane of the rest shape."""

    time: float
    point: tuple[float, ...]
    normal: tuple[float, ...]
    body: int | str = 0
    units: ClassVar[dict[str, str]] = {"time": "s", "point": "m"}

    def __post_init__(self) -> None:
        read_fields(self)
        require_time(self.time, "PlaneCut.time")

    def check(self, scene: "Scene") -> None:
        mesh = _require_elements(scene, self.body, "PlaneCut.body")
        sides = plane_sides(mesh, self.point, self.normal)
        if sides.all() or not sides.any():
            low, high = mesh.bounds.tolist()
            remedy = f"the rest shape reaches from {low} to {high} m"
            raise SceneError("all of the body is on one side of the plane", where="PlaneCut.point", remedy=remedy)

    def apply(self, scene: "Scene") -> tuple["Scene", Carry]:
        mesh = scene.deformable(self.body, "PlaneCut.body").mesh
        return severed(scene, self.body, cut(mesh, plane_sides(mesh, self.point, self.normal)))


@dataclass(frozen=True, eq=False)
class ElementCut:
    """Cuts the chosen ``elements`` (indices in the body) out of the rest; the numbering of elements never changes."""

    time: float
    elements: IntArray
    body: int | str = 0
    mask: int | None = field(default=None, init=False, repr=False)  # length of the mask that chose the elements
    units: ClassVar[dict[str, str]] = {"time": "s"}

    def __post_init__(self) -> None:
        read_fields(self)
        require_time(self.time, "ElementCut.time")
        elements, mask = indices(self.elements, "ElementCut.elements")
        object.__setattr__(self, "elements", elements)
        object.__setattr__(self, "mask", mask)
        if not len(elements):
            remedy = "choose the elements to cut out"
            raise SceneError("no element is chosen", where="ElementCut.elements", remedy=remedy)

    def check(self, scene: "Scene") -> None:
        mesh = _require_elements(scene, self.body, "ElementCut.body")
        require_among(self.elements, self.mask, len(mesh.T), "ElementCut.elements", "element")

    def apply(self, scene: "Scene") -> tuple["Scene", Carry]:
        mesh = scene.deformable(self.body, "ElementCut.body").mesh
        out = np.zeros(len(mesh.T), dtype=bool)
        out[self.elements] = True
        return severed(scene, self.body, cut(mesh, out))


@dataclass(frozen=True)
class Release:
    """Removes pins of a body: all of them, or those with the indices ``pins`` in the body as it was given."""

    time: float
    body: int | str = 0
    pins: Sequence[int] | None = None
    units: ClassVar[dict[str, str]] = {"time": "s"}

    def __post_init__(self) -> None:
        read_fields(self)
        require_time(self.time, "Release.time")

    def check(self, scene: "Scene") -> None:
        count = len(scene.deformable(self.body, "Release.body").pins)
        if self.pins is not None:
            require_among(*indices(self.pins, "Release.pins"), count, "Release.pins", "pin")

    def apply(self, scene: "Scene") -> tuple["Scene", Carry]:
        body: Any = scene.deformable(self.body, "Release.body")
        gone = range(len(body.pins)) if self.pins is None else indices(self.pins, "Release.pins")[0].tolist()
        kept = tuple(NO_PIN if k in gone else pin for k, pin in enumerate(body.pins))
        return scene.with_body(self.body, replace(body, pins=kept)), lambda state: state


EVENTS = (PlaneCut, ElementCut, Release)


def severed(scene: "Scene", which: int | str, done: CutMesh) -> tuple["Scene", Carry]:
    """The scene with one body on its cut mesh; every new vertex is where its origin is, and moves with it.

    Pins, attachments and loads hold and drive the copies of a vertex as they did the vertex.
    """
    body: Any = scene.deformable(which, "cut.body")
    pins = tuple(p.renumbered(np.flatnonzero(np.isin(done.origin, p.vertices))) for p in body.pins)
    start = None if body.positions is None else np.asarray(body.positions)[done.origin]
    number = scene.number(which, "cut.body")
    forces = [
        loads.after_cut(load, done.origin) if scene.number(load.body, "scene.forces") == number else load
        for load in scene.forces
    ]
    ties = attachments.after_cut(scene, number, done.origin)
    after = scene.with_body(
        which, replace(body, mesh=done.mesh, pins=pins, positions=start), forces=forces, attachments=ties
    )
    k, offsets, d = scene.deformables().index(body), scene.offsets(), scene.dim
    origin = np.arange(int(offsets[-1]))
    origin = np.concatenate([origin[: offsets[k]], done.origin + offsets[k], origin[offsets[k + 1] :]])
    n = d * int(offsets[-1])

    def carry(state: State) -> State:
        q, v = (np.concatenate([x[:n].reshape(-1, d)[origin].ravel(), x[n:]]) for x in (state.q, state.v))
        return State(q, v, state.t)

    return after, carry


def require_time(time: float, where: str) -> None:
    if not 0.0 <= time < np.inf:
        raise SceneError(f"the time {time}", where=where, remedy="give a time after the start, in seconds")


def _require_elements(scene: "Scene", which: int | str, where: str) -> Mesh:
    mesh = scene.deformable(which, where).mesh
    contact = scene.contact
    if isinstance(contact, BarrierContact):
        what, remedy = "the two sides of a cut touch, which barriers do not allow", "use PenaltyContact"
        raise SceneError(what, where="scene.contact", remedy=remedy)
    if isinstance(contact, RowContact) and contact.bodies and contact.edges and contact.self_contact:
        what, remedy = "the two sides of a cut touch, and edges that touch have no sides", "leave out edges"
        raise SceneError(what, where="scene.contact", remedy=f"{remedy} or self_contact")
    if mesh.kind == "springs":
        remedy = "cut solids, membranes and cloth: their mass lies in the elements"
        raise SceneError("the mass of springs lies in their vertices", where=where, remedy=remedy)
    return mesh

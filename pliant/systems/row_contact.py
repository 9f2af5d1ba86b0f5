"""Contact as rows of the velocity step: bounds on velocities instead of springs, and Coulomb friction.

    n . v_relative >= -gap/h,    impulse >= 0,    |friction| <= mu impulse

A gap closes exactly in one step, so bodies rest exactly at a surface; penetrations are resolved over a few steps.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.contact.coefficients import Coefficients, Mu, read_mu
from pliant.contact.contacts import Contacts, joined
from pliant.contact.initial import admissible
from pliant.contact.setting import Setting, obstacle_gaps
from pliant.contact.surfaces import Surfaces
from pliant.errors import SceneError
from pliant.state import State
from pliant.systems.base import Part
from pliant.systems.contact import ContactModel, Terms, Touch
from pliant.systems.coupled_step import CoupledStep, Together
from pliant.systems.coupling_rows import Touches
from pliant.systems.free_step import FreeStep
from pliant.systems.penalty_contact import not_negative
from pliant.systems.stepped import Reduction
from pliant.units import read_fields
from pliant.velocity_step import Linearisation, Prepared

CLOSED = 1e-6  # of half an edge: gaps below this count as contact


@dataclass(frozen=True)
class RowContact:
    """Hard contact with obstacles and between bodies for `LinearlyImplicit`: vertices against triangles.

    ``edges`` also finds contacts of edges with edges, as of boxes that lie across each other, by the distances of the
    IPC Toolkit; it needs a thickness, to tell inside from outside. ``mu`` is the friction coefficient, or a table of
    pairs (`pliant.contact.coefficients`). ``thickness`` [m] is the contact distance of vertices to obstacles and
    triangles, by default a thousandth of the shortest mean edge, since a vertex exactly on a triangle is neither above
    nor inside. ``gamma`` is the fraction of a penetration that one step resolves. ``resolve_initial`` separates bodies
    that overlap at the start.
    """

    mu: Mu = 0.3
    thickness: float | None = None
    gamma: float = 0.2
    bodies: bool = True
    edges: bool = False
    self_contact: bool = False
    resolve_initial: bool = False
    safe: ClassVar[bool] = False
    units: ClassVar[dict[str, str]] = {"thickness": "m", "gamma": "1"}

    def __post_init__(self) -> None:
        read_fields(self)
        object.__setattr__(self, "mu", read_mu(self.mu, "RowContact.mu"))
        not_negative(self.thickness or 0.0, "RowContact.thickness")
        if not 0.0 <= self.gamma <= 1.0:
            raise SceneError(f"gamma is {self.gamma}", where="RowContact.gamma", remedy="use 0 to 1")
        if self.edges and self.thickness == 0.0:
            remedy = "give a thickness > 0 [m], a small part of the edges, or none"
            raise SceneError("edges that touch have no sides", where="RowContact.thickness", remedy=remedy)

    def model(self, setting: Setting) -> "RowModel":
        return RowModel(self, setting)


class RowModel:
    """The rows of one scene. It has neither energies nor forces: a stage would not see it."""

    force_names: tuple[str, ...] = ()

    def __init__(self, choice: RowContact, setting: Setting) -> None:
        self.choice, self.setting = choice, setting
        self._mu = Coefficients(choice.mu, RowContact.mu, setting, "RowContact.mu")
        self._places = setting.told_places()
        shortest = float(setting.edge_length.min())
        self._margin = 0.5 * shortest
        self.thickness = 1e-3 * shortest if choice.thickness is None else choice.thickness
        pairs = choice.bodies and any(m.kind != "springs" for m in setting.meshes)
        sides = pairs and not choice.edges
        self._detector = setting.detector(self_contact=choice.self_contact) if sides else None
        self._surfaces = Surfaces(replace(setting, obstacles=())) if pairs and choice.edges else None

    def initial(self, q: Array, fixed: IntArray) -> Array:
        """The positions to start from: overlaps refused, or resolved; resting contact is tolerated."""
        gap = self.thickness - 0.04 * self._margin
        x, resolve, bodies = q.reshape(-1, 3), self.choice.resolve_initial, self.choice.bodies
        return admissible(self.setting, x, gap=gap, resolve=resolve, fixed=fixed // 3, bodies=bodies).ravel()

    def touches(self, x: Array, v: Array, t: float, h: float) -> Touches:
        """What the points ``x (n, 3)`` may meet in a step of h [s] from time t, given their velocities ``v (n, 3)``."""
        contacts = self._near(x, v, t, h)
        return Touches(contacts, self._mu(contacts), self.choice.gamma, self.setting, self.setting.body)

    def _near(self, x: Array, v: Array, t: float, h: float) -> Contacts:
        slack = self.setting.gravity * h * h
        speed = float(np.sqrt((v * v).sum(axis=1).max(initial=0.0)))
        reach, thickness = 2.0 * speed * h + slack + CLOSED * self._margin, self.thickness
        found = obstacle_gaps(self.setting, self.setting.passages(t, t + h), x, thickness + reach, self._places)
        found = [c.shifted(reach) for c in found]
        if self._detector is not None:
            pairs = self._detector.detect_along(x, h * v, slack=slack, thickness=thickness, margin=self._margin)
            apart = self._detector.apart(pairs, np.full(len(pairs.body), thickness))
            found.append(pairs.contacts(x, apart))
        if self._surfaces is not None:
            found.append(self._around(self._surfaces, x, thickness + min(2.0 * reach, self._margin)))
            if 2.0 * reach > self._margin:
                found.append(self._ahead(self._surfaces, x, h * v))
        return joined(found)

    def _around(self, surfaces: Surfaces, x: Array, reach: float) -> Contacts:
        """Vertices and triangles, edges and edges that are closer than ``reach``."""
        V = surfaces.vertices(x, [])
        return self._kept(surfaces.contacts(surfaces.collisions(V, reach), V, [])[0])

    def _ahead(self, surfaces: Surfaces, x: Array, way: Array) -> Contacts:
        """What is farther apart now and would meet during the displacement ``way (n, 3)`` [m]."""
        return self._kept(surfaces.meeting(surfaces.vertices(x, []), surfaces.vertices(x + way, [])))

    def _kept(self, contacts: Contacts) -> Contacts:
        """Those that count, with gaps beyond the thickness."""
        foreign = contacts.other != self.setting.body[contacts.nodes[:, 0]]
        kept = contacts if self.choice.self_contact else contacts.only(foreign)
        return kept.shifted(-self.thickness)

    def at(self, start: State, t: float, c: float = 0.0) -> Terms:
        """Nothing: impulses are found by the velocity step."""
        return Terms((), ())

    def touch(self, q: Array, v: Array, t: float) -> Touch:
        """Contacts that are closed now; their forces are known to the step alone (NaN here)."""
        x = q.reshape(-1, 3)
        found = self._near(x, np.zeros_like(x), t, 0.0)
        c = found.only(found.gaps <= CLOSED * self._margin)
        points = np.einsum("cr,crd->cd", np.maximum(c.weights, 0.0), x[c.nodes])
        bodies = np.column_stack([self.setting.body[c.nodes[:, 0]], c.other])
        unknown = np.full(len(c), np.nan)
        return Touch(points, c.normals, c.gaps, unknown, np.full((len(c), 3), np.nan), bodies, c.nodes[:, 0])

    def distance(self, q: Array, t: float) -> float:
        x = q.reshape(-1, 3)
        return float(self._near(x, np.zeros_like(x), t, 0.0).gaps.min(initial=np.inf))


def vertex_step(
    system: Part,
    contact: ContactModel | None,
    state: State,
    h: float,
    how: Linearisation,
    memory: Any = None,
    reduction: Reduction | None = None,
) -> Prepared:
    """The step of free vertices, or of those that lead, with the rows of their contacts where ``contact`` has rows."""
    rows = isinstance(contact, RowModel)
    how = replace(how, points=how.points or rows)
    kept = memory.parts[0] if isinstance(memory, Together) else memory
    step: Prepared
    if reduction is None:
        step = FreeStep(system, state, h, how, None if contact is None else contact.setting)
    else:
        step = reduction.prepare(system, state, h, kept, how)
    if not isinstance(contact, RowModel):
        return step
    touches = contact.touches(system.positions(state.q), state.v.reshape(-1, 3), state.t, h)
    return CoupledStep([step], [state], h, touches=touches, closing=how.closing(h))

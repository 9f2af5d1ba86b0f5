"""Penalty contact: springs that resist penetration, with friction and damping."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.contact.coefficients import Coefficients, Mu, read_mu
from pliant.contact.contacts import Contacts, Remembered, joined
from pliant.contact.initial import admissible
from pliant.contact.pairs import ClosePairs
from pliant.contact.pose import Passage
from pliant.contact.setting import Setting, obstacle_gaps
from pliant.contact.swept import Entries, entries
from pliant.energies.penalty import AnchoredPenalty, ContactPenalty
from pliant.errors import SceneError
from pliant.forces.base import Force
from pliant.forces.contact_damping import ContactDamping
from pliant.forces.friction import FrictionForce, StickSlip
from pliant.state import State
from pliant.systems.contact import Moments, Terms, Touch, touch_of
from pliant.systems.lagged import LaggedTerms, Loads, loads_of, push_of, read_solves, rounds_of
from pliant.units import read_fields


@dataclass(frozen=True)
class PenaltyContact:
    """Soft contact with obstacles, between bodies, and of bodies with themselves: vertices against triangles.

    ``k`` [N/m] is the stiffness per vertex (None: 10 E times the mean edge length, or the thickness of sheets). ``mu``
    is the friction coefficient, or a table of pairs (`pliant.contact.coefficients`). Sticking contacts creep at about
    ``creep`` [m/s], with lagged friction more slowly. ``lagged`` takes the normal forces of friction from the start of
    a stage, which gives solvers a potential to minimize; with ``friction_solves`` above 1 a step is solved up to that
    many times, with those of the last solution, until they change by less than a thousandth. ``damping`` r gives normal
    damping r sqrt(k m).

    ``thickness`` [m] is the contact distance of vertices to obstacles and triangles (None: half the thickness of a
    sheet on either side, since nothing is ever inside a sheet, and 0 for solids). ``smoothing`` [m] makes the spring
    softer at first, by default over 2 % of the shortest mean edge of the bodies, which helps solvers to converge.
    ``anisotropy`` alpha replaces the springs against obstacles by those of [ConJac2020] to the closest point at the
    start of a step, K ((1 - alpha) n n^T + alpha I): alpha > 0 also resists tangential motion, whatever mu is. They are
    meant for ConJac and BDF1; in integrators with several stages per step they move between stages.
    ``resolve_initial`` separates bodies that overlap at the start.
    """

    k: float | None = None
    mu: Mu = 0.3
    creep: float = 1e-2
    lagged: bool = True
    friction_solves: int = 1
    damping: float = 0.0
    thickness: float | None = None
    smoothing: float | None = None
    anisotropy: float | None = None
    bodies: bool = True
    self_contact: bool = True
    resolve_initial: bool = False
    safe: ClassVar[bool] = False
    units: ClassVar[dict[str, str]] = {
        "k": "N/m",
        "creep": "m/s",
        "damping": "1",
        "thickness": "m",
        "smoothing": "m",
        "anisotropy": "1",
    }

    def __post_init__(self) -> None:
        read_fields(self)
        object.__setattr__(self, "mu", read_mu(self.mu, "PenaltyContact.mu"))
        for name in ("damping", "thickness", "smoothing"):
            not_negative(getattr(self, name) or 0.0, f"PenaltyContact.{name}")
        if self.k is not None and not self.k > 0.0:
            raise SceneError(f"k is {self.k}", where="PenaltyContact.k", remedy="give a positive stiffness [N/m]")
        if not self.creep > 0.0:
            raise SceneError(f"creep is {self.creep}", where="PenaltyContact.creep", remedy="give a speed > 0 [m/s]")
        read_solves(self.friction_solves, "PenaltyContact.friction_solves")
        if self.friction_solves > 1 and not self.lagged:
            what, remedy = "friction that does not lag is solved once", "set lagged=True"
            raise SceneError(what, where="PenaltyContact.friction_solves", remedy=remedy)
        if self.anisotropy is not None and not 0.0 <= self.anisotropy <= 1.0:
            raise SceneError(f"anisotropy is {self.anisotropy}", where="PenaltyContact.anisotropy", remedy="use 0 to 1")

    def model(self, setting: Setting) -> "PenaltyModel":
        return PenaltyModel(self, setting)


class PenaltyModel:
    """Penalty contact of one scene.

    Per vertex (n,): stiffness ``k`` [N/m], damping ``k_d`` [N s/m], and how far a body reaches towards others
    (``sides``) and obstacles (``against``) [m]. ``margin`` [m] is how far ahead pairs are looked for.
    """

    def __init__(self, choice: PenaltyContact, setting: Setting) -> None:
        self.choice, self.setting = choice, setting
        self.k = setting.stiffness if choice.k is None else np.full(setting.n, choice.k)
        self.sides, self.against = _distances(setting, choice.thickness)
        self.thickest = 2.0 * float(self.sides.max(initial=0.0))
        self.mu = Coefficients(choice.mu, PenaltyContact.mu, setting, "PenaltyContact.mu")
        bound = choice.creep if choice.lagged else float("inf")  # so steep that Newton needs a potential to descend on
        self.law = StickSlip(self.mu.largest * setting.share / choice.creep, bound)
        given = choice.smoothing
        self.smoothing = 0.02 * float(setting.edge_length.min()) if given is None else given
        self.k_d = choice.damping * np.sqrt(self.k * setting.mass)
        self._moments = Moments()
        self.margin = 0.5 * float(setting.edge_length.min())
        anchored = choice.anisotropy is not None  # springs to closest points hold vertices alone
        self.places = setting.vertices if anchored else setting.told_places()
        self.reach = np.full(len(self.places), self.margin)
        self.reach[self.places.alone :] = min(self.margin, 0.5 * self.places.spacing)
        pairs = choice.bodies and any(m.kind != "springs" for m in setting.meshes)
        self.detector = setting.detector(self_contact=choice.self_contact) if pairs else None
        self.force_names = ("friction",) * bool(self.mu.largest)
        self.force_names += ("contact damping",) * bool(choice.damping)

    def initial(self, q: Array, fixed: IntArray) -> Array:
        """The positions to start from: overlaps refused, or resolved; resting contact is tolerated."""
        gap = (self.choice.thickness or 0.0) - 0.02 * float(self.setting.edge_length.min())
        x, resolve, bodies = q.reshape(-1, 3), self.choice.resolve_initial, self.choice.bodies
        return admissible(self.setting, x, gap=gap, resolve=resolve, fixed=fixed // 3, bodies=bodies).ravel()

    def at(self, start: State, t: float, c: float = 0.0) -> Terms:
        """Pairs as they are at the start or will be if nothing changes; obstacles as they are at t."""
        if start.t != t or c:
            return self._terms(start, t, c)
        return self._moments.at(start.q, t, lambda: self._terms(start, t, 0.0))

    def _terms(self, start: State, t: float, c: float) -> Terms:
        passages = self.setting.passages(start.t, t)
        x0, way = start.q.reshape(-1, 3), (t - start.t) * start.v.reshape(-1, 3)
        frozen = None
        if self.detector is not None:
            slack = self.setting.gravity * (t - start.t) ** 2
            frozen = self.detector.detect_along(x0, way, slack=slack, thickness=self.thickest, margin=self.margin)
        if (start.t != t or c) and not passages and (frozen is None or not len(frozen.body)):
            return Terms((), ())  # all step long; a moment has its terms, and their names in the books, even so
        anchored = self.choice.anisotropy is not None
        met = self._met(passages, x0, way)
        swept = None if anchored else entries(self.setting, passages, x0, way, self.reach, self.places)
        energies: list[Any] = [self.penalty(passages, swept, frozen, met)]
        before = energies
        if any(obstacle.motion is not None for obstacle in self.setting.obstacles):  # they have not moved yet
            outset = [way.outset for way in passages]
            before = [self.penalty(outset, None, frozen, self._met(outset, x0, way))]
        if self.choice.anisotropy is not None:
            anchors = self._anchors(start, t, passages)
            energies, before = [*energies, anchors], [*before, anchors]
        return self._terms_of(energies, before, start, t, c)

    def _met(self, passages: Sequence[Passage], x: Array, way: Array) -> list[IntArray]:
        """The places that may touch each obstacle in a stage from x on a ``way``, both (n, 3) [m]."""
        far = self.against[self.places.first] + self.margin + float(np.sqrt((way * way).sum(axis=1).max(initial=0.0)))
        pairs = zip(self.setting.obstacles, passages, strict=True)
        return [self.places.telling(obstacle, way.pose, x, far) for obstacle, way in pairs]

    def penalty(
        self,
        passages: Sequence[Passage],
        swept: Entries | None,
        frozen: ClosePairs | None,
        met: Sequence[IntArray] | None = None,
    ) -> ContactPenalty:
        """The springs of the pairs ``frozen``, and those against obstacles on their ``passages``.

        They are at the places ``met`` (None: all), settled for a stage, so that no spring begins under load in it.
        """
        apart = 0.0 if frozen is None else self._apart(frozen)
        met = [np.arange(len(self.places))] * len(passages) if met is None else met
        met = met if swept is None else swept.others(met)

        def contacts_at(x: Array) -> Contacts:
            x = x.reshape(-1, 3)
            anchored = self.choice.anisotropy is not None
            parts = [] if anchored else obstacle_gaps(self.setting, passages, x, self.against, self.places, met)
            if swept is not None:
                parts.append(swept.contacts(x, self.against))
            return joined(parts + ([frozen.contacts(x, apart)] if frozen is not None else []))

        return ContactPenalty(Remembered(contacts_at), self.k, smoothing=self.smoothing)

    def _apart(self, pairs: ClosePairs) -> Array:
        """How far vertices (c,) [m] stay from their triangles."""
        sides: Array = self.sides[pairs.nodes[:, :2]].sum(axis=1)
        return sides if self.detector is None else self.detector.apart(pairs, sides)

    def _anchors(self, start: State, t: float, passages: Sequence[Passage]) -> AnchoredPenalty:
        """Springs to what is inside an obstacle now, and to what will be at t if nothing changes.

        The latter meet the surface where the old velocities lead; they do not resist sliding in the step they land in.
        """
        x0, alpha = start.q.reshape(-1, 3), self.choice.anisotropy or 0.0
        now = joined(obstacle_gaps(self.setting, passages, x0, self.against))
        x1 = x0 + (t - start.t) * start.v.reshape(-1, 3)
        soon = joined(obstacle_gaps(self.setting, passages, x1, self.against))
        soon = soon.some(~np.isin(soon.nodes[:, 0], now.nodes[:, 0]))
        targets = [x[c.nodes[:, 0]] - c.gaps[:, None] * c.normals for x, c in ((x0, now), (x1, soon))]
        held = np.repeat([alpha, 0.0], [len(now), len(soon)])
        return AnchoredPenalty(joined([now, soon]), np.concatenate(targets), self.k, held)

    def _terms_of(self, energies: list[Any], before: list[Any], start: State, t: float, c: float) -> Terms:
        """The energies with their damping and friction; ``before`` are those of where the stage starts."""
        n, soft = self.setting.n, 0.5 * self.smoothing * self.k
        damping = [ContactDamping(e, self.k_d, soft) for e in energies] if self.choice.damping else []
        if not self.mu.largest:
            return Terms(tuple(energies), tuple(damping))
        if not self.choice.lagged:
            rubbing = [FrictionForce(e.loads, self.mu, self.law, n) for e in energies]
            return Terms(tuple(energies), (*rubbing, *damping))

        def friction(loads: Loads, x: Array) -> Force:
            return FrictionForce(lambda _: loads, self.mu, self.law, n, lagged=x, c=c)

        rounds = rounds_of(self.choice.friction_solves)
        push = lambda loads: push_of(loads, n)
        return LaggedTerms(energies, friction, tuple(damping), rounds, loads_of, push).starting(start, t, before)

    def touch(self, q: Array, v: Array, t: float) -> Touch:
        return self.touch_of(self.at(State(q, v, t), t).energies, q, v)

    def touch_of(self, energies: Sequence[Any], q: Array, v: Array) -> Touch:
        """What ``energies`` press with, and how that rubs."""
        rubs = [FrictionForce(energy.loads, self.mu, self.law, self.setting.n) for energy in energies]
        return Touch.joined([touch_of(self.setting, q, *rub.contact_forces(q, v)) for rub in rubs])

    def distance(self, q: Array, t: float) -> float:
        energies = self.at(State(q, np.zeros_like(q), t), t).energies
        return min(float(e.contacts(q).gaps.min(initial=np.inf)) for e in energies)  # type: ignore[attr-defined]


def not_negative(value: float, where: str) -> None:
    if not (np.isfinite(value) and value >= 0.0):
        raise SceneError(f"it is {value}", where=where, remedy="give a number >= 0")


def _distances(setting: Setting, thickness: float | None) -> tuple[Array, Array]:
    """How far from its vertices (n,) [m] a body reaches towards others, and towards obstacles.

    Sheets that say nothing else have half of their thickness, but never a quarter of an edge: neighbours would touch.
    """
    if thickness is None:
        sides = np.minimum(setting.half_width, 0.25 * setting.edge_length[setting.body])
        return sides, sides
    _require_thin(setting, thickness, "PenaltyContact.thickness")
    return np.full(setting.n, 0.5 * thickness), np.full(setting.n, thickness)


def _require_thin(setting: Setting, thickness: float, where: str) -> None:
    """A contact thickness beyond the edges of a mesh makes neighbours touch."""
    for name, edge in zip(setting.names, setting.edge_length, strict=True):
        if thickness > edge:
            raise SceneError(
                f"thickness {thickness:g} m is larger than the mean edge {edge:g} m of body {name!r}",
                where=where,
                remedy="use a thickness of at most a tenth of the edges, or a coarser mesh",
            )

"""A scene: bodies, what acts on them, and how time passes. It is data; `simulate` runs it."""

import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp

from pliant.arrays import IntArray
from pliant.articulated import TREE_INTEGRATORS
from pliant.articulated.body import Articulated
from pliant.attachments import Attachment, tied
from pliant.bodies import Copying, Deformable, Placed, Solid
from pliant.contact.obstacles import Obstacle
from pliant.contact.setting import Setting, Shape
from pliant.energies.base import Energy
from pliant.energies.gravity import Gravity
from pliant.errors import SceneError, require_name, require_part
from pliant.events import Event
from pliant.fitting import fitted, ratios
from pliant.forces.base import Force
from pliant.integrators import (
    BDF2,
    INTEGRATORS,
    REDUCED,
    Adaptive,
    AdaptiveConJac,
    ConJac,
    LinearlyImplicit,
    Quasistatic,
)
from pliant.integrators.base import Extrapolating, Integrator, Staged, require_fit
from pliant.loads import Load
from pliant.maps.motions import Cornered
from pliant.maps.pins import Pin
from pliant.parts import Made, Place, introduced
from pliant.policy import read_budget, read_policy, steps_of
from pliant.state import State
from pliant.systems.base import Reshaping
from pliant.systems.condensed import condensed, led
from pliant.systems.contact import ContactChoice, ContactModel
from pliant.systems.coupled import Coupled
from pliant.systems.eigenfit import EigenFit, Fit
from pliant.systems.elastodynamics import Elastodynamics
from pliant.systems.isolated import require_isolated
from pliant.systems.projected_contact import ProjectedContact
from pliant.systems.row_contact import RowContact
from pliant.systems.shown import Shown
from pliant.units import components

# These have a history, no velocities, fewer unknowns, or steps that end elsewhere.
UNPROJECTED = (BDF2, Quasistatic, ConJac, AdaptiveConJac, Adaptive)
CHOICES = (*INTEGRATORS, *REDUCED, *TREE_INTEGRATORS)


@runtime_checkable
class Separate(Protocol):
    """A body that may move in coordinates of its own, on joints or through its mesh, if ``separate`` says so."""

    @property
    def name(self) -> str: ...

    @property
    def separate(self) -> bool: ...

    @property
    def kind(self) -> type:
        """The class of the part."""
        ...

    @property
    def together(self) -> bool:
        """Whether all bodies of this class make one part."""
        ...

    @classmethod
    def gathered(cls, bodies: Sequence[Any], scene: Any) -> list[Made]:
        """The parts that all bodies of this class make."""
        ...


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything needed to run: ``h`` and ``duration`` [s], ``gravity`` [m/s^2] (z is up by default).

    ``bodies`` are of any kind, ``attachments`` tie them to each other, ``forces`` are loads that depend on time,
    ``events`` happen while it runs. ``on_failure`` says what a step that does not converge means: an error with a
    failure bundle ("raise"), a warning ("warn"), or half the step size until it converges ("substep"). ``units`` says
    what its numbers are in, for those who print them: "CGS" is cm, g, s, with energies in erg; nothing is converted.
    ``device="cuda"`` steps on a GPU (`pliant.cuda`).
    ``isolated`` says that nothing outside acts on the bodies: their momentum and angular momentum are then kept to
    rounding by every integrator (`pliant.systems.isolated`).
    ``budget`` [s] is the CPU time that a step may take, substeps included, before it has failed; None is no limit.
    """

    bodies: Sequence[Any]
    integrator: Integrator = field(default_factory=BDF2)
    h: float | str = 0.01
    duration: float | str = 1.0
    gravity: Sequence[float] = (0.0, 0.0, -9.81)
    contact: ContactChoice | None = None
    obstacles: Sequence[Obstacle] = ()
    attachments: Sequence[Attachment] = ()
    forces: Sequence[Load] = ()
    events: Sequence[Event] = ()
    on_failure: Literal["raise", "warn", "substep"] = "raise"
    on_energy_gain: Literal["ignore", "warn", "raise"] = "ignore"
    name: str = "scene"
    units: Literal["SI", "CGS"] = "SI"
    device: Literal["cpu", "cuda"] = "cpu"
    isolated: bool = False
    budget: float | str | None = None
    _built: ClassVar[Any] = (lambda: None, ())  # the last system, weakly, and where its parts start

    def __post_init__(self) -> None:
        for name, method in (
            ("obstacles", "distance"),
            ("forces", "force"),
            ("events", "apply"),
            ("attachments", "tie"),
        ):
            object.__setattr__(self, name, _listed(getattr(self, name), f"scene.{name}", method))
        object.__setattr__(self, "bodies", _bodies(self.bodies))
        require_name(self.name, "scene.name")
        if self.contact is not None:
            require_part(self.contact, "model", "scene.contact", "give PenaltyContact() or BarrierContact()")
        read_policy(self)
        read_budget(self)
        dims = {body.mesh.dim for body in self.deformables()}
        if len(dims) > 1:
            raise SceneError("planar and spatial bodies are mixed", where="scene.bodies", remedy="use one dimension")
        if self.obstacles and self.contact is None:
            remedy = "give contact=PenaltyContact() or BarrierContact()"
            raise SceneError("obstacles need a contact model", where="scene.obstacles", remedy=remedy)
        require_fit(self.integrator, self._kinds(), CHOICES)
        stepping: Any = self.integrator.integrator if isinstance(self.integrator, Adaptive) else self.integrator
        staged = isinstance(stepping, Staged) and not isinstance(stepping, Extrapolating)
        if self.contact is not None and self.contact.safe and not staged:
            name, remedy = type(stepping).__name__, "use BDF1, BDF2, SDIRK2, TRBDF2 or Quasistatic"
            raise SceneError(f"{name} can step across a barrier", where="scene.integrator", remedy=remedy)
        if isinstance(self.contact, RowContact) and not isinstance(stepping, LinearlyImplicit):
            what = f"{type(stepping).__name__} does not see the rows of RowContact"
            raise SceneError(what, where="scene.integrator", remedy="use LinearlyImplicit, or PenaltyContact")
        if isinstance(self.contact, ProjectedContact):
            self._require_projectable()
        reduced = [b.name for b in self.bodies if isinstance(b, Solid) and b.reduction is not None]
        if reduced and not isinstance(stepping, LinearlyImplicit):
            what = f"{type(stepping).__name__} does not know the reduction of {reduced[0]!r}"
            raise SceneError(what, where="scene.integrator", remedy="use LinearlyImplicit, or no reduction")
        if self.contact is not None and 2 in dims:
            raise SceneError("contact needs bodies in space", where="scene.contact", remedy="use tets or sheets")
        self._read_vectors()
        if self.isolated:
            self._require_alone()
        object.__setattr__(self, "events", tuple(sorted(self.events, key=lambda event: event.time)))
        for event in self.events:
            event.check(self)

    def _require_projectable(self) -> None:
        """Refuse what a correction after the step would not reach, or would be undone by."""
        if self._kinds() != [Elastodynamics]:
            remedy = "use PenaltyContact for coupled bodies"
            raise SceneError(
                "ProjectedContact moves vertices of soft bodies only", where="scene.contact", remedy=remedy
            )
        if isinstance(self.integrator, UNPROJECTED):
            what = f"{type(self.integrator).__name__} does not follow the corrections of ProjectedContact"
            raise SceneError(
                what, where="scene.integrator", remedy="use a one-step method of motion, or PenaltyContact"
            )

    def _require_alone(self) -> None:
        """Refuse what acts from outside, and what has no momentum; `require_isolated` sees the rest."""
        for name in ("obstacles", "forces"):
            if getattr(self, name):
                raise SceneError(f"an isolated scene has no {name}", where=f"scene.{name}", remedy="leave isolated out")
        if self.dim == 2 or self.integrator.order == 0:
            what = "only bodies that move in space keep linear and angular momentum"
            raise SceneError(what, where="scene.isolated", remedy="leave it out")

    def _kinds(self) -> list[type]:
        """The classes of systems that an integrator of this scene meets: those of its parts, and of all together."""
        apart = [b for b in self.bodies if _apart(b)]
        first = {type(b): b for b in reversed(apart)}
        soft: type = (
            EigenFit if any(isinstance(b, Solid) and b.fit is not None for b in self.bodies) else Elastodynamics
        )
        kinds = [soft] if len(apart) < len(self.bodies) else []
        kinds += [b.kind for b in apart if not b.together or b is first[type(b)]]
        own = self.contact is None or kinds == [soft] or issubclass(kinds[0], Reshaping)  # contact is theirs
        alone = len(kinds) == 1 and not self.attachments and own
        return list(dict.fromkeys(kinds if alone else [*kinds, Coupled]))

    def _read_vectors(self) -> None:
        object.__setattr__(self, "gravity", components(self.gravity, "m/s^2", "scene.gravity"))
        soft = ((f"{b.name}.velocity", b.velocity) for b in self.deformables())
        for where, given in (("gravity", self.gravity), *soft):
            vector = np.asarray(given, dtype=np.float64)
            if vector.shape not in ((self.dim,), (3,)) or not np.isfinite(vector).all():
                what = f"{where} is {tuple(given)}"
                raise SceneError(what, where=f"scene.{where}", remedy=f"give {self.dim} finite components")

    # ------------------------------------------------------------------------------------------------ bodies

    def deformables(self) -> list[Any]:
        """The bodies whose coordinates are the positions of their vertices."""
        return [b for b in self.bodies if not _apart(b)]

    def number(self, body: int | str, where: str) -> int:
        """The place of a body, given by its name or its number, in ``bodies``."""
        if isinstance(body, str):
            found = [k for k, b in enumerate(self.bodies) if b.name == body]
            if len(found) != 1:
                what = f"{len(found)} bodies are called {body!r}" if found else f"no body is called {body!r}"
                names = ", ".join(sorted({b.name for b in self.bodies}))
                raise SceneError(what, where=where, remedy=f"use its number, or one of {names}")
            return found[0]
        if not 0 <= body < len(self.bodies):
            raise SceneError(f"body {body} of {len(self.bodies)}", where=where, remedy="count bodies from 0")
        return int(body)

    def deformable(self, body: int | str, where: str) -> Any:
        """A deformable body by its name or number."""
        chosen = self.bodies[self.number(body, where)]
        if chosen not in self.deformables():
            raise SceneError(f"body {chosen.name!r} is not deformable", where=where, remedy="choose a soft body")
        return chosen

    def with_body(self, which: int | str, body: Any) -> "Scene":
        """The scene with one body in the place of another."""
        k = self.number(which, "scene.bodies")
        return replace(self, bodies=[*self.bodies[:k], body, *self.bodies[k + 1 :]])

    @property
    def steps(self) -> int:
        """Number of time steps of the whole run."""
        return steps_of(self)

    @property
    def dim(self) -> int:
        soft = self.deformables()
        return soft[0].mesh.dim if soft else 3

    def offsets(self) -> IntArray:
        """First vertex of every deformable body among their vertices, and the total (len + 1,)."""
        return np.concatenate([[0], np.cumsum([len(b.mesh.X) for b in self.deformables()])]).astype(np.int64)

    # ------------------------------------------------------------------------------------------------ physics

    def parts(self) -> list[Made]:
        """What the bodies become: all deformable ones together first, then the others, class by class."""
        soft = self.deformables()
        made = [self._soft(soft)] if soft else []
        kinds: dict[type, list[Any]] = {}
        for body in self.bodies:
            if _apart(body):
                kinds.setdefault(type(body), []).append(body)
        return made + [part for kind, bodies in kinds.items() for part in kind.gathered(bodies, self)]  # type: ignore[attr-defined]

    def system(self) -> Any:
        """The physics of the scene; built anew at each call."""
        made = self.parts()
        system = self._assembled(made)
        object.__setattr__(self, "_built", (weakref.ref(system), [m.start for m in made]))  # for `initial`, asked next
        return system

    def _assembled(self, made: list[Made]) -> Any:
        """The one part of the scene, or all of them coupled; contact of soft bodies alone belongs to their part."""
        if len(made) == 1 and not self.attachments:
            part = made[0].part
            if self.contact is None or not isinstance(part, Elastodynamics | EigenFit):
                return part if self.contact is None or not made[0].shapes else self._coupled(made)
            return part
        return self._coupled(made)

    def _coupled(self, made: list[Made]) -> Coupled:
        counts = [len(m.part.positions(m.part.rest)) for m in made]
        starts = np.cumsum([0, *counts])
        places = {
            id(body): replace(place, first=place.first + int(start))
            for m, start in zip(made, starts, strict=False)
            for body, place in m.places
        }
        springs, ties = tied(self, [places[id(body)] for body in self.bodies], int(starts[-1]))
        parts = [m.part for m in made]
        if isinstance(parts[0], Elastodynamics):
            held = [ties[0][ties[1] != 0.0], *(s.vertices for s in springs)] if ties else [s.vertices for s in springs]
            vertices = np.concatenate([np.zeros(0, dtype=np.int64), *held])
            parts[0] = led(parts[0], vertices[vertices < counts[0]])
        model, rows = None, None
        if self.contact is not None:
            shapes = [(s, int(start)) for m, start in zip(made, starts, strict=False) for s in m.shapes]
            if shapes:
                rows = np.concatenate([start + s.first + np.arange(len(s.mesh.X)) for s, start in shapes])
                model = self.contact.model(self.setting(made))
                rows = None if np.array_equal(rows, np.arange(starts[-1])) else rows
        shown = Shown()
        if self.contact is not None:
            parts, shown = introduced([replace(m, part=part) for m, part in zip(made, parts, strict=True)])
        return Coupled(parts, model, rows, springs, ties, shown, self.dim)

    def _soft(self, bodies: list[Any]) -> Made:
        """The part of all deformable bodies, and where they start."""
        system, offsets = self._elastic(bodies), self.offsets()
        d = self.dim
        start = np.concatenate([b.mesh.X if b.positions is None else b.positions for b in bodies])
        v = np.concatenate([np.tile(np.asarray(b.velocity, float)[:d], len(b.mesh.X)) for b in bodies])
        held = np.ones(len(v), dtype=bool)
        held[system.free] = False
        v[held] = 0.0
        q = system.prescribe(start.ravel().copy(), 0.0)
        x = system.positions(q)
        places = [
            (b, Place(b.name, int(a), x[a:e], b.mesh.T))
            for b, a, e in zip(bodies, offsets[:-1], offsets[1:], strict=True)
        ]
        return Made(system, State(q, v), self._soft_shapes(bodies), places)

    def _soft_shapes(self, bodies: list[Any]) -> list[Shape]:
        masses = [np.asarray(b.masses().sum(axis=1)).ravel() for b in bodies]
        first = self.offsets()
        return [
            Shape(b.mesh, m, b.name, b.young(), b.width(), first=int(a))
            for b, m, a in zip(bodies, masses, first, strict=False)
        ]

    def _elastic(self, bodies: list[Any]) -> Any:
        """Elastodynamics of the deformable bodies, with fitted frequencies where a body asks for them."""
        alone = len(bodies) == len(self.bodies) and not self.attachments
        model = None
        if self.contact is not None and alone:
            model = self.contact.model(Setting(self._soft_shapes(bodies), self.obstacles, self._strength()))
        system = elastodynamics(bodies, self.gravity, self.forces_on(bodies), model)
        reduced = [
            (first + np.arange(len(b.mesh.X)), b.reduction)
            for b, first in zip(bodies, self.offsets(), strict=False)
            if isinstance(b, Solid) and b.reduction is not None
        ]
        system = condensed(system, reduced) if reduced else system
        if all(not isinstance(b, Solid) or b.fit is None for b in bodies):
            return system
        return fitted(bodies, system, self._fit)

    @cached_property
    def _fit(self) -> Fit:
        """The frequencies of the fine bodies, found once."""
        soft = self.deformables()
        fine = [b if b.fit is None else b.fit.fine for b in soft]
        return ratios(soft, elastodynamics(soft, self.gravity), elastodynamics(fine, self.gravity))

    def forces_on(self, bodies: list[Any]) -> list[tuple[int, Load]]:
        """The loads with the number of their body among the deformable ones."""
        return [(bodies.index(self.deformable(f.body, "scene.forces")), f) for f in self.forces]

    def _strength(self) -> float:
        return float(np.linalg.norm(self.gravity))

    def setting(self, made: list[Made]) -> Setting:
        """What contact needs to know of the bodies and obstacles; groups are numbered through."""
        shapes: list[Shape] = []
        for m in made:
            base = 1 + max([s.group for s in shapes if s.group is not None], default=-1)
            shapes += [s if s.group is None else replace(s, group=base + s.group) for s in m.shapes]
        return Setting(shapes, self.obstacles, self._strength())

    def initial(self, system: Any = None) -> State:
        """Where everything starts: given or rest positions (scripts at t = 0), joint coordinates, with velocities."""
        system = self.system() if system is None else system
        built, starts = self._built
        if built() is not system:
            starts = [m.start for m in self.parts()]
        q, v = (np.concatenate([getattr(s, k) for s in starts]) for k in ("q", "v"))
        if isinstance(system, Coupled) and system.contact is not None:
            x = system.touchable.lift(q)
            if not np.array_equal(system.contact.initial(x, np.arange(len(x))), x):
                raise SceneError("bodies overlap at the start", where="scene.bodies", remedy="move them apart")
        elif isinstance(system, Elastodynamics | EigenFit) and system.contact is not None:
            held = np.setdiff1d(np.arange(len(q)), system.free)
            q = system.contact.initial(q, held)
        state = State(q, v, 0.0)
        if self.isolated:
            require_isolated(system, state)
        return state

    # ------------------------------------------------------------------------------------------------ events

    def after(self, happened: int) -> "Scene":
        """The scene after its first ``happened`` events."""
        scene = self
        for event in self.events[:happened]:
            scene, _ = event.apply(scene)
        return scene

    def due(self, t: float) -> int:
        """How many events have their time at or before t, up to round-off."""
        return sum(event.time <= t + 1e-9 * float(self.h) for event in self.events)

    def happen(self, happened: int, due: int, state: State) -> tuple["Scene", State]:
        """This scene (after ``happened`` events) and a state of it after those up to number ``due``."""
        scene: Scene = self
        for event in self.events[happened:due]:
            scene, carry = event.apply(scene)
            state = carry(state)
        return scene, state

    def event_after(self, t: float) -> float:
        """The time [s] of the first event after t, up to round-off; inf without one."""
        return min((event.time for event in self.events[self.due(t) :]), default=np.inf)

    def stops(self) -> tuple[float, ...]:
        """The times [s] at which something changes at once: events, and corners of scripts and loads."""
        moved = [pin.motion for body in self.deformables() for pin in body.pins]
        moved += [obstacle.motion for obstacle in self.obstacles]
        driven = [force for body in self.bodies if isinstance(body, Articulated) for force in body.forces]
        corners = [t for thing in (*moved, *self.forces, *driven) if isinstance(thing, Cornered) for t in thing.corners]
        return tuple(sorted({float(t) for t in (*corners, *(event.time for event in self.events)) if t > 0.0}))

    def restored(self, shape: Any) -> Any:
        """The system with the meshes that `Reshaping.topology` described."""
        return self.system().restored(shape)

    def run(self, folder: str | Path, **options: Any) -> Any:
        """Simulate and record into ``folder``; returns the run (frames, ledger, report)."""
        from pliant.record import record

        return record(self, folder, **options)


def elastodynamics(
    bodies: Sequence[Any],
    gravity: Sequence[float],
    loads: Sequence[tuple[int, Load]] = (),
    contact: ContactModel | None = None,
) -> Elastodynamics:
    """The physics of deformable bodies; ``loads`` with the number of the body each acts on."""
    offsets = np.concatenate([[0], np.cumsum([len(b.mesh.X) for b in bodies])]).astype(np.int64)
    n, d = int(offsets[-1]), bodies[0].mesh.dim
    X = np.concatenate([b.mesh.X for b in bodies])
    masses = [sp.csr_matrix(b.masses()) for b in bodies]
    energies: list[Energy] = []
    forces: list[Force] = []
    pins: list[Pin] = []

    def placed(members: list[int]) -> Placed:
        first = int(offsets[members[0]])
        m = sp.block_diag([masses[k] for k in members], format="csr")
        T = np.concatenate([bodies[k].mesh.T + offsets[k] for k in members])
        return Placed(X, T, first, sp.kron(_shifted(m, first, n), sp.identity(d), format="csr"))

    for alike in _alike(bodies):
        body, here = bodies[alike[0]], placed(alike)
        elastic = body.energies(here)
        if len({bodies[k].name for k in alike}) > 1:  # the books say that it is not the energy of one body
            for energy in elastic:
                energy.name += f" and {len(alike) - 1} alike"
        energies += elastic
        if body.damping is not None:
            forces.append(body.damping.force(body, here, elastic))
    forces += [load.force(placed([k])) for k, load in loads]
    for body, first in zip(bodies, offsets, strict=False):
        held = body.copies() if isinstance(body, Copying) else body.pins
        pins += [Pin(np.asarray(p.vertices) + first, p.motion, p.axes) for p in held]
    M = sp.block_diag(masses, format="csr")
    g = np.asarray(gravity, dtype=np.float64)[:d]
    if g.any():
        energies.append(Gravity(np.asarray(M.sum(axis=1)).ravel(), g))
    cells = [b.mesh.T + first for b, first in zip(bodies, offsets, strict=False)]
    return Elastodynamics(X, M.diagonal() if M.nnz == n else M, energies, forces, pins, contact, cells)


def _apart(body: Any) -> bool:
    return isinstance(body, Separate) and body.separate


def _listed(given: Any, where: str, method: str) -> tuple[Any, ...]:
    """A list of things that have a method, given as a list or alone."""
    parts = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
    for k, part in enumerate(parts):
        require_part(part, method, f"{where}[{k}]", f"give a list of {where.removeprefix('scene.')}")
    return parts


def _bodies(given: Any) -> tuple[Any, ...]:
    bodies = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
    for k, body in enumerate(bodies):
        if isinstance(body, type) or not isinstance(body, Deformable | Separate):
            shown = f"the class {body.__name__}" if isinstance(body, type) else repr(body)
            remedy = "give a list of Solid, Membrane, SpringNet, Cloth, Articulated or Rigid"
            raise SceneError(f"bodies[{k}] is {shown}", where=f"scene.bodies[{k}]", remedy=remedy)
        require_name(body.name, f"scene.bodies[{k}].name")
    if not bodies:
        raise SceneError("no bodies", where="scene.bodies", remedy="add at least one Solid, Membrane or SpringNet")
    return bodies


def _alike(bodies: Sequence[Any]) -> list[list[int]]:
    """Neighbouring bodies made of the same material in the same way: one energy serves them all."""
    groups: list[list[int]] = []
    for k, body in enumerate(bodies):
        if groups and body.alike() == bodies[groups[-1][0]].alike():
            groups[-1].append(k)
        else:
            groups.append([k])
    return groups


def _shifted(m: sp.csr_matrix, first: int, n: int) -> sp.csr_matrix:
    """A body's (n_b, n_b) matrix at its place in (n, n)."""
    coo = m.tocoo()
    return sp.csr_matrix((coo.data, (coo.row + first, coo.col + first)), shape=(n, n))

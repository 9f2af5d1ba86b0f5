"""A scene: bodies, what acts on them, and how time is stepped. It is data; `simulate` runs it."""

import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from pliant.arrays import IntArray
from pliant.articulated.body import Articulated
from pliant.assembly import assembled, frequencies, in_order, made_of, part_number
from pliant.attachments import Attachment
from pliant.contact.obstacles import Obstacle
from pliant.errors import SceneError, require_flag
from pliant.events import Event
from pliant.html import table
from pliant.integrators import BDF2
from pliant.integrators.base import Integrator
from pliant.loads import Load
from pliant.maps.motions import Cornered
from pliant.parts import Made, apart
from pliant.policy import steps_of
from pliant.scene_checks import check_scene
from pliant.starting import set_apart
from pliant.state import State
from pliant.systems.base import distinct
from pliant.systems.contact import ContactChoice
from pliant.systems.coupled import Coupled
from pliant.systems.eigenfit import EigenFit, Fit
from pliant.systems.elastodynamics import Elastodynamics
from pliant.systems.isolated import require_isolated
from pliant.systems.parts import Parts


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything needed to run a simulation; ``h`` is the time step and ``duration`` the simulated time [s].

    ``bodies`` may be of any kind, ``attachments`` tie them together, ``forces`` are loads that depend on time,
    ``events`` change the scene during the run, and ``gravity`` [m/s^2] acts along -z by default. ``on_failure`` is the
    policy for a step that does not converge: stop with an error and a failure bundle ("raise"), continue with a warning
    ("warn"), or halve the step until it converges ("substep"). ``units`` names the units of the scene in printed
    output: "CGS" is cm, g, s, with energies in erg; nothing is converted. ``device="cuda"`` runs the scene on a GPU
    (`pliant.cuda`). ``isolated`` declares that no external forces act on the bodies: every integrator then conserves
    momentum and angular momentum to round-off (`pliant.systems.isolated`). ``budget`` [s] limits the CPU time of a
    step, substeps included: a step that exceeds it has failed; None is no limit.
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
        check_scene(self)

    # ------------------------------------------------------------------------------------------------ bodies

    def deformables(self) -> list[Any]:
        """The bodies whose coordinates are the positions of their vertices."""
        return [b for b in self.bodies if not apart(b)]

    def number(self, body: int | str, where: str) -> int:
        """The index in ``bodies`` of a body given by its name or index."""
        if isinstance(body, str):
            found = [k for k, b in enumerate(self.bodies) if b.name == body]
            if len(found) != 1:
                what = f"{len(found)} bodies are called {body!r}" if found else f"no body is called {body!r}"
                names = ", ".join(sorted({b.name for b in self.bodies}))
                raise SceneError(what, where=where, remedy=f"use its number, or one of {names}")
            return found[0]
        if isinstance(body, bool) or not isinstance(body, Integral) or not 0 <= body < len(self.bodies):
            raise SceneError(f"body {body} of {len(self.bodies)}", where=where, remedy="count bodies from 0")
        return int(body)

    def deformable(self, body: int | str, where: str) -> Any:
        """A deformable body, by its name or index."""
        chosen = self.bodies[self.number(body, where)]
        if chosen not in self.deformables():
            remedy = "choose a soft body; Eulerian cloth is none here: it has pins and handles, or leave out `eulerian`"
            raise SceneError(f"body {chosen.name!r} is not deformable", where=where, remedy=remedy)
        return chosen

    def with_body(self, which: int | str, body: Any, **changed: Any) -> "Scene":
        """The scene with one body replaced by another, and what else is ``changed`` with it."""
        k = self.number(which, "scene.bodies")
        return replace(self, bodies=[*self.bodies[:k], body, *self.bodies[k + 1 :]], **changed)

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

    def body_names(self) -> list[str]:
        """The bodies' names in the order of their cells in files (see `parts`); equal ones are numbered."""
        return distinct([str(body.name) for body in in_order(self)])

    # ------------------------------------------------------------------------------------------------ physics

    def parts(self) -> list[Made]:
        """The parts that the bodies form: all deformable ones together first, then the others, class by class."""
        return made_of(self)

    def system(self) -> Any:
        """The equations of motion of the scene; built anew at each call."""
        made = self.parts()
        system = assembled(self, made)
        object.__setattr__(self, "_built", (weakref.ref(system), [m.start for m in made]))  # for `initial`, asked next
        return system

    def part(self, body: int | str, system: Any, state: State) -> tuple[Any, State]:
        """The part of ``system`` that a body (its name or number) belongs to, with its own coordinates and rates."""
        k = part_number(self, self.bodies[self.number(body, "scene.part")])
        if not isinstance(system, Parts):  # there is only one
            return system, state
        return system.parts[k], system.states(state)[k]

    @cached_property
    def fits(self) -> tuple[Fit, ...]:
        """The frequencies of the fine bodies that coarse ones are fitted to, computed once."""
        return frequencies(self)

    def initial(self, system: Any = None) -> State:
        """The initial state: given or rest positions (scripts at t = 0), joint coordinates, and velocities."""
        system = self.system() if system is None else system
        built, starts = self._built
        if built() is not system:
            starts = [m.start for m in self.parts()]
        q, v = (np.concatenate([getattr(s, k) for s in starts]) for k in ("q", "v"))
        if isinstance(system, Coupled) and system.contact is not None:
            q = set_apart(system, q)
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
        """The number of events whose time is at or before t, up to round-off."""
        return sum(event.time <= t + 1e-9 * float(self.h) for event in self.events)

    def happen(self, happened: int, due: int, state: State) -> tuple["Scene", State]:
        """This scene and state (after ``happened`` events), with the events up to number ``due`` applied."""
        scene: Scene = self
        for event in self.events[happened:due]:
            scene, carry = event.apply(scene)
            state = carry(state)
        return scene, state

    def event_after(self, t: float) -> float:
        """The time [s] of the first event after t, up to round-off; inf without one."""
        return min((event.time for event in self.events[self.due(t) :]), default=np.inf)

    def stops(self) -> tuple[float, ...]:
        """The times [s] of discontinuities: events, and corners of scripts and loads."""
        moved = [pin.motion for body in self.deformables() for pin in body.pins]
        moved += [obstacle.motion for obstacle in self.obstacles]
        driven = [force for body in self.bodies if isinstance(body, Articulated) for force in body.forces]
        corners = [t for thing in (*moved, *self.forces, *driven) if isinstance(thing, Cornered) for t in thing.corners]
        return tuple(sorted({float(t) for t in (*corners, *(event.time for event in self.events)) if t > 0.0}))

    def restored(self, shape: Any) -> Any:
        """The system with the meshes that `Reshaping.topology` described."""
        return self.system().restored(shape)

    def run(self, folder: str | Path, *, progress: bool = False, **options: Any) -> Any:
        """Simulate and record into ``folder``; returns the run (frames, ledger, report).

        ``progress`` shows a bar, in a terminal and in a notebook.
        """
        from pliant.record import record

        require_flag(progress, "Scene.run.progress")
        if not progress:
            return record(self, folder, **options)
        from pliant.progress import watching

        with watching(self, quiet=False) as watch:
            return record(self, folder, watch=watch, **options)

    def _repr_html_(self) -> str:
        rows: dict[str, Any] = {"bodies": ", ".join(f"{type(body).__name__} {body.name!r}" for body in self.bodies)}
        rows |= {"integrator": repr(self.integrator), "contact": "none" if self.contact is None else repr(self.contact)}
        rows |= {"obstacles": len(self.obstacles), "forces": len(self.forces), "events": len(self.events)}
        rows |= {"h [s]": self.h, "duration [s]": self.duration, "steps": self.steps}
        return table(f"Scene {self.name}", rows)

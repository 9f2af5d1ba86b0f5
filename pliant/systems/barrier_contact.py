"""Barrier contact: free of intersections, by a potential that is infinite at contact and steps that stop before it.

[Li2020], with lagged friction; distances, broad phase and continuous collision detection by the IPC Toolkit.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.contact.coefficients import Coefficients, Mu, read_mu
from pliant.contact.contacts import Contacts, Remembered, joined
from pliant.contact.initial import admissible
from pliant.contact.pose import Passage
from pliant.contact.setting import Setting, obstacle_gaps
from pliant.contact.surfaces import Surfaces
from pliant.energies.barrier import GapBarrier, SurfaceBarrier, barrier
from pliant.errors import SceneError
from pliant.forces.base import Force
from pliant.forces.friction import FrictionForce, SmoothStick
from pliant.state import State
from pliant.systems.contact import Moments, Terms, Touch, touch_of
from pliant.systems.lagged import LaggedTerms, Loads, loads_of, push_of, read_solves, rounds_of
from pliant.units import read_fields


@dataclass(frozen=True)
class BarrierContact:
    """Contact without intersections between all surfaces, from a distance ``dhat`` [m] on.

    ``dhat`` is a thousandth of the size of the scene by default. ``stiffness`` kappa [N/m^3]; "adaptive" makes the
    barrier at dhat/2 ten times as stiff as the elements of the bodies, or as the inertia of their vertices in a step if
    that is more, and sqrt(dhat/10 / d) times stiffer in a step that begins with a distance d below dhat/10. ``mu`` is
    the friction coefficient, or a table of pairs (`pliant.contact.coefficients`), ``creep`` [m/s] the speed below which
    contacts stick. Friction uses the normal forces of the previous step; with ``friction_solves`` above 1 a step is
    solved up to that many times, with those of the last solution, until they change by less than a thousandth.
    ``resolve_initial`` separates bodies that overlap at the start.
    """

    dhat: float | None = None
    stiffness: float | Literal["adaptive"] = "adaptive"
    mu: Mu = 0.0
    creep: float = 1e-3
    friction_solves: int = 1
    resolve_initial: bool = False
    safe: ClassVar[bool] = True
    units: ClassVar[dict[str, str]] = {"dhat": "m", "creep": "m/s"}

    def __post_init__(self) -> None:
        read_fields(self)
        object.__setattr__(self, "mu", read_mu(self.mu, "BarrierContact.mu"))
        read_solves(self.friction_solves, "BarrierContact.friction_solves")
        for name in ("dhat", "stiffness", "creep"):
            value = getattr(self, name)
            if value not in (None, "adaptive") and not (isinstance(value, float | int) and value > 0.0):
                raise SceneError(
                    f"{name} is {value!r}", where=f"BarrierContact.{name}", remedy="give a positive number"
                )

    def model(self, setting: Setting) -> "BarrierModel":
        return BarrierModel(self, setting)


class BarrierModel:
    """Barrier contact of one scene."""

    def __init__(self, choice: BarrierContact, setting: Setting) -> None:
        self.choice, self.setting = choice, setting
        X = np.concatenate([m.X for m in setting.meshes])
        size = float(np.linalg.norm(np.ptp(X, axis=0)))
        self.dhat = 1e-3 * size if choice.dhat is None else choice.dhat
        for name, edge in zip(setting.names, setting.edge_length, strict=True):
            if self.dhat > edge:
                raise SceneError(
                    f"dhat {self.dhat:g} m is larger than the mean edge {edge:g} m of body {name!r}",
                    where="BarrierContact.dhat",
                    remedy="use a distance of at most a tenth of the edges, or a coarser mesh",
                )
        self._kappa = self._base_stiffness()
        self._surfaces = Surfaces(setting)
        self._containers = [k for k, o in enumerate(setting.obstacles) if o.container]
        self._mu = Coefficients(choice.mu, BarrierContact.mu, setting, "BarrierContact.mu", within=True)
        self.force_names = ("friction",) * bool(self._mu.largest)
        self._moments = Moments()

    def _base_stiffness(self) -> float:
        """kappa with kappa b''(dhat/2) = 10 E times edge, or 10 m/h^2 where that is more, averaged over the vertices.

        A body that is soft and heavy for its step arrives with more than its elements can stop: barriers must.
        """
        if self.choice.stiffness != "adaptive":
            return float(self.choice.stiffness)
        setting = self.setting
        k = np.maximum(setting.stiffness, 10.0 * setting.mass / setting.h**2)[setting.skin]
        return float(k.mean() / barrier(np.array([0.5 * self.dhat]), self.dhat)[2][0])

    def initial(self, q: Array, fixed: IntArray) -> Array:
        """The positions to start from: overlaps and touching are refused, or resolved."""
        gap, resolve = 1e-3 * self.dhat, self.choice.resolve_initial
        x = admissible(self.setting, q.reshape(-1, 3), gap=gap, resolve=resolve, fixed=fixed // 3)
        if not self.distance(x.ravel(), 0.0) > 0.0:
            raise self._touching(x.ravel())
        return x.ravel()

    def _touching(self, q: Array) -> SceneError:
        """Who touches whom at the start."""
        with np.errstate(all="ignore"):  # forces are infinite where things touch
            touch = self.touch(q, np.zeros_like(q), 0.0)
        body, other = (int(b) for b in touch.bodies[np.argmin(touch.gaps)])
        names = self.setting.names
        if body == other:
            what = f"body {names[body]!r} touches itself at the start"
            crossing = self.setting.meshes[body].kind == "springs"
            remedy = "use a net whose springs do not cross" if crossing else "separate the surfaces"
        else:
            second = f"body {names[other]!r}" if other >= 0 else f"obstacle {self.setting.obstacles[-1 - other].name!r}"
            what = f"body {names[body]!r} touches {second} at the start"
            remedy = f"leave a gap, {self.dhat:.3g} m is enough"
        return SceneError(what, where="scene.bodies", remedy=remedy)

    def at(self, start: State, t: float, c: float = 0.0) -> Terms:
        """Stiffness and friction from the start of the stage, obstacles at its end."""
        if start.t != t or c:
            return self._terms(start, t, c)
        return self._moments.at(start.q, t, lambda: self._terms(start, t, 0.0))

    def _terms(self, start: State, t: float, c: float) -> Terms:
        passages = self.setting.passages(start.t, t)
        before = [way.outset for way in passages]
        kappa = self._stiffness(start.q, before)
        energies = self._energies(passages, kappa)
        if not self._mu.largest:
            return Terms(tuple(energies), ())
        law, n = SmoothStick(self.choice.creep), self.setting.n

        def friction(loads: Loads, x: Array) -> Force:
            return FrictionForce(lambda _: loads, self._mu, law, n, lagged=x, c=c)

        rounds = rounds_of(self.choice.friction_solves)
        lagged = LaggedTerms(energies, friction, (), rounds, loads_of, lambda loads: push_of(loads, n))
        return lagged.starting(start, t, self._energies(before, kappa))

    def _stiffness(self, q: Array, passages: list[Passage]) -> float:
        """kappa for a step from q.

        The force of a barrier is about kappa dhat^2 / d, so a resting body alternates between two distances if kappa
        is proportional to 1/d, and for ever; with the root of it every step halves the difference.
        """
        if self.choice.stiffness != "adaptive":
            return self._kappa
        closeness = 0.1 * self.dhat / max(self._nearest(q, passages), 1e-7 * self.dhat)
        return self._kappa * float(np.sqrt(max(closeness, 1.0)))

    def _energies(self, passages: list[Passage], kappa: float) -> list[SurfaceBarrier | GapBarrier]:
        energies: list[SurfaceBarrier | GapBarrier] = []
        if self._containers:
            near = Remembered(partial(self._near, passages=passages))
            energies.append(
                GapBarrier(near, partial(self._all_gaps, passages=passages), kappa, self.dhat, self.setting.n)
            )
        return [*energies, SurfaceBarrier(self._surfaces, passages, kappa, self.dhat)]

    def _near(self, x: Array, passages: list[Passage]) -> Contacts:
        """Vertices within dhat of a container, with their true distances."""
        found = obstacle_gaps(self.setting, passages, x.reshape(-1, 3), self.dhat)
        parts = [found[k] for k in self._containers]
        return joined([p.shifted(self.dhat) for p in parts])

    def _all_gaps(self, x: Array, passages: list[Passage]) -> Array:
        """Distances of all vertices to all containers."""
        points = x.reshape(-1, 3)[self.setting.skin]
        gaps = [self.setting.obstacles[k].distance(passages[k].pose.local(points))[0] for k in self._containers]
        return np.concatenate(gaps)

    def _nearest(self, q: Array, passages: list[Passage]) -> float:
        V = self._surfaces.vertices(q, passages)
        nearest = self._surfaces.nearest(V, self.dhat)
        if self._containers:
            nearest = min(nearest, float(self._all_gaps(q, passages).min()))
        return nearest

    def touch(self, q: Array, v: Array, t: float) -> Touch:
        energies: Any = self.at(State(q, v, t), t).energies
        rubs = [
            FrictionForce(energy.loads, self._mu, SmoothStick(self.choice.creep), self.setting.n) for energy in energies
        ]
        return Touch.joined([touch_of(self.setting, q, *rub.contact_forces(q, v)) for rub in rubs])

    def crossings(self, q: Array, t: float) -> int:
        """The number of edges that pass through triangles, and of vertices through the walls of containers."""
        passages = self.setting.passages(t, t)
        found = len(self._surfaces.crossings(self._surfaces.vertices(q, passages)))
        outside = int((self._all_gaps(q, passages) <= 0.0).sum()) if self._containers else 0
        return found + outside

    def distance(self, q: Array, t: float) -> float:
        return self._nearest(q, self.setting.passages(t, t))

"""Scenes whose bodies are cut while they move, with any integrator.

At a cut the vertices on it are duplicated, masses follow the elements, positions and velocities are kept: mass,
momentum and every energy are the same on both sides, except that cloth no longer bends there. Integrators start again
without memory, as after any jump. [Weidner2022, sec. 4.5]
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.bodies import read_out
from pliant.errors import SceneError
from pliant.maps.pins import Pin
from pliant.mesh import CutMesh, Mesh, cut, plane_sides
from pliant.scene import Scene
from pliant.state import State, Step
from pliant.systems.elastodynamics import Elastodynamics


class Cut(Protocol):
    """A cut through one body at a time [s]; ``apply`` makes it on the body's mesh as it is then."""

    @property
    def time(self) -> float: ...

    @property
    def body(self) -> int: ...

    def apply(self, mesh: Mesh) -> CutMesh: ...


@dataclass(frozen=True)
class PlaneCut:
    """Along the element faces nearest to a plane of the rest shape."""

    time: float
    point: tuple[float, ...]
    normal: tuple[float, ...]
    body: int = 0

    def apply(self, mesh: Mesh) -> CutMesh:
        return cut(mesh, plane_sides(mesh, self.point, self.normal))


@dataclass(frozen=True, eq=False)
class ElementCut:
    """Cut the chosen ``elements`` (numbers in the body) out of the rest; numbers of elements never change."""

    time: float
    elements: IntArray
    body: int = 0

    def apply(self, mesh: Mesh) -> CutMesh:
        chosen = np.zeros(len(mesh.T), dtype=bool)
        chosen[np.asarray(self.elements)] = True
        return cut(mesh, chosen)


class CutSystem:
    """The system of a scene after its first ``done`` cuts: that of the cut bodies, and able to be cut further."""

    def __init__(self, scene: Scene, done: int) -> None:
        self.scene, self.done = scene, done
        self.current: Elastodynamics = scene.system()

    def __getattr__(self, name: str) -> Any:
        if name == "current":  # not there yet: a copy in the making
            raise AttributeError(name)
        return getattr(self.current, name)

    def pulled(self, vertex: int, target: Array, k: float) -> "CutSystem":
        """The same with a spring from a vertex to a point: a hand, which a cut shakes off."""
        held = copy(self)
        held.current = self.current.pulled(vertex, target, k)
        return held

    def topology(self) -> int:
        """The number of cuts, from which `CutScene.restore` makes this system again."""
        return self.done

    def cells(self) -> list[IntArray]:
        """The elements of every body over the rows of `positions`."""
        return [b.mesh.T + first for b, first in zip(self.scene.bodies, self.scene.offsets(), strict=False)]


@dataclass(frozen=True, eq=False)
class Cutting:
    """The scene's integrator, which cuts whenever a step begins at or after the time of a cut."""

    integrator: Any
    cuts: tuple[Cut, ...]

    @property
    def order(self) -> int:
        return int(self.integrator.order)

    def step(self, system: CutSystem, state: State, h: float, memory: Any = None) -> Step:
        due = sum(c.time <= state.t + 1e-9 * h for c in self.cuts)
        if due <= system.done:
            return self.integrator.step(system, state, h, memory)
        system, state = severed(system, state, self.cuts[system.done : due])
        step = self.integrator.step(system, state, h, None)
        return replace(step, system=system, start=state)


@dataclass(frozen=True, eq=False)
class CutScene:
    """A scene and the cuts made in it, in the order of their times; runs, records and resumes like the scene."""

    scene: Scene
    cuts: Sequence[Cut]

    def __post_init__(self) -> None:
        object.__setattr__(self, "cuts", tuple(sorted(self.cuts, key=lambda c: c.time)))
        for c in self.cuts:
            if not 0 <= c.body < len(self.scene.bodies):
                what = f"body {c.body} of {len(self.scene.bodies)}"
                raise SceneError(what, where="CutScene.cuts", remedy="count bodies from 0")
            if not 0.0 <= c.time < np.inf:
                remedy = "give a time after the start, in seconds"
                raise SceneError(f"a cut at the time {c.time}", where="CutScene.cuts", remedy=remedy)
            if self.scene.bodies[c.body].mesh.kind == "springs":
                remedy = "cut solids, membranes and cloth: their mass lies in the elements"
                raise SceneError("the mass of springs lies in their vertices", where="CutScene.cuts", remedy=remedy)

    name, h, steps = read_out("scene.name"), read_out("scene.h"), read_out("scene.steps")
    on_failure, on_energy_gain = read_out("scene.on_failure"), read_out("scene.on_energy_gain")

    @cached_property
    def integrator(self) -> Cutting:
        return Cutting(self.scene.integrator, tuple(self.cuts))

    def system(self) -> CutSystem:
        return CutSystem(self.scene, 0)

    def initial(self, system: CutSystem) -> State:
        return self.scene.initial(system.current)

    def restore(self, topology: int) -> CutSystem:
        """The system after that many cuts."""
        scene = self.scene
        for c in self.cuts[:topology]:
            scene, _ = cut_scene(scene, c)
        return CutSystem(scene, topology)

    def run(self, folder: str | Path, **options: Any) -> Any:
        """Simulate and record into ``folder``; returns the run."""
        from pliant.record import record

        return record(self, folder, **options)


def severed(system: CutSystem, state: State, cuts: Sequence[Cut]) -> tuple[CutSystem, State]:
    """System and state after some cuts; every new vertex is where its origin is, and moves with it."""
    scene, origin = system.scene, np.arange(len(system.X))
    for c in cuts:
        scene, step = cut_scene(scene, c)
        origin = origin[step]
    q, v = (x.reshape(system.X.shape)[origin].ravel() for x in (state.q, state.v))
    return CutSystem(scene, system.done + len(cuts)), State(q, v, state.t)


def cut_scene(scene: Scene, c: Cut) -> tuple[Scene, IntArray]:
    """The scene with one body cut, and the old vertex of every vertex in the numbering of the whole scene."""
    bodies, offsets = list(scene.bodies), scene.offsets()
    body: Any = bodies[c.body]
    done = c.apply(body.mesh)
    pins = tuple(Pin(np.flatnonzero(np.isin(done.origin, p.vertices)), p.motion, p.axes) for p in body.pins)
    bodies[c.body] = replace(body, mesh=done.mesh, pins=pins)
    parts = [np.arange(len(b.mesh.X)) if k != c.body else done.origin for k, b in enumerate(bodies)]
    return replace(scene, bodies=bodies), np.concatenate([p + first for p, first in zip(parts, offsets, strict=False)])

"""Parameters of a scene and how its equations change with them.

Everything a method solves is g(q; p) = c^2 f(q, v, t; p) - M(q; p) d = 0 at some moment, with prescribed coordinates
q = place(t; p) and a start (q, v)(p). A parameter knows y^T dg/dp, y^T dplace/dp and y^T dstart/dp:

- `Few`: numbers anywhere in the scene. The scene is built with each of them a little larger and a little smaller, and g
  is differenced there, at the same positions: exact to rounding where g is linear in p, as in E, forces and densities.
- `PerElement`: one number per element. The body is taken apart into its elements; then every number moves only its own.
- `PerRegion`: one number for all elements of a region.
- `RestShape`: rest positions of a body's vertices, the same way, one corner of all elements at a time.
- `InitialState`: initial positions or velocities of all coordinates.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from pliant.adjoint.elements import STEP, PerElement, RestShape
from pliant.adjoint.moment import Moment, Still
from pliant.adjoint.path import read, replaced
from pliant.adjoint.regions import PerRegion, Regions
from pliant.arrays import Array
from pliant.bodies import Membrane, Solid
from pliant.errors import PliantError, SceneError
from pliant.scene import Scene
from pliant.state import State
from pliant.systems.base import System

Wrt = str | Regions  # how a user names a parameter
FEW = 64  # numbers that are differenced one by one
PHYSICS = ("bodies", "gravity", "contact", "obstacles", "attachments", "forces")  # of a scene: what g depends on


class Parameter(Protocol):
    """``size`` numbers; ``moves`` says whether prescribed coordinates depend on them."""

    name: str
    value: Array
    moves: bool

    def gather(self, moment: Moment, y: Array) -> Array:
        """y^T dg/dp (size,)."""
        ...

    def along(self, moment: Moment, rates: Array) -> Array:
        """dg/dp rates (N, k), for rates (size, k)."""
        ...

    def gather_placed(self, t: float, y: Array) -> Array:
        """y^T dplace(t)/dp (size,)."""
        ...

    def placed(self, t: float, rates: Array) -> Array:
        """dplace(t)/dp rates (N, k), zero on the free coordinates."""
        ...

    def start(self, rates: Array) -> tuple[Array, Array]:
        """The changes (N, k) of q and v at the start."""
        ...

    def gather_start(self, q: Array, v: Array) -> Array:
        """q^T dq/dp + v^T dv/dp at the start (size,)."""
        ...

    def applied(self, scene: Scene, value: Array) -> Scene:
        """The scene with another value of the parameter, in its shape."""
        ...


@dataclass(frozen=True, eq=False)
class Parameters:
    """Several parameters behind each other. Those that closures do not feel see the coordinates' part of g only."""

    parts: Sequence[Parameter]
    coordinates: int  # N, of the system
    slices: Sequence[slice] = field(init=False)

    def __post_init__(self) -> None:
        ends = np.cumsum([0, *(p.value.size for p in self.parts)])
        object.__setattr__(self, "slices", [slice(a, b) for a, b in zip(ends[:-1], ends[1:], strict=True)])

    @property
    def size(self) -> int:
        return sum(p.value.size for p in self.parts)

    @property
    def values(self) -> Array:
        """The numbers of all of them in the scene (size,)."""
        return np.concatenate([np.ravel(p.value) for p in self.parts])

    @property
    def moves(self) -> bool:
        return any(p.moves for p in self.parts)

    def along(self, moment: Moment, rates: Array) -> Array:
        parts = zip(self.parts, self.slices, strict=True)
        zero = np.zeros((moment.size, rates.shape[1]))
        return sum((p.along(moment, rates[s]) for p, s in parts if rates[s].any()), zero)

    def gather(self, moment: Moment, y: Array, into: Array) -> None:
        for p, s in zip(self.parts, self.slices, strict=True):
            into[s] += p.gather(moment, y)

    def placed(self, t: float, rates: Array) -> Array:
        parts = zip(self.parts, self.slices, strict=True)
        zero = np.zeros((self.coordinates, rates.shape[1]))
        return sum((p.placed(t, rates[s]) for p, s in parts if p.moves), zero)

    def gather_placed(self, t: float, y: Array, into: Array) -> None:
        for p, s in zip(self.parts, self.slices, strict=True):
            if p.moves:
                into[s] += p.gather_placed(t, y)

    def explicit(self, value: Callable[[Any], float], feels: Callable[[str], bool]) -> Array:
        """d value(system)/dp at a given state, of a value that feels some of the parameters."""
        found = [np.zeros(p.value.size) for p in self.parts]
        for k, p in enumerate(self.parts):
            if not feels(p.name):
                continue
            if not isinstance(p, Few):
                remedy = "use one number for the whole body, or a loss of positions and velocities"
                raise SceneError(f"a loss that depends on {p.name} itself", where="loss", remedy=remedy)
            found[k] = p.explicit(value)
        return np.concatenate(found)

    def start(self, rates: Array) -> tuple[Array, Array]:
        found = [p.start(rates[s]) for p, s in zip(self.parts, self.slices, strict=True)]
        zero = np.zeros((self.coordinates, rates.shape[1]))
        return sum((f[0] for f in found), zero), sum((f[1] for f in found), zero)

    def gather_start(self, q: Array, v: Array) -> Array:
        return np.concatenate([p.gather_start(q, v) for p in self.parts])


class Few:
    """Up to `FEW` numbers at a path of the scene."""

    def __init__(self, scene: Scene, path: str, system: System) -> None:
        self.name, self._scene = path, scene
        self.value = read(scene, path)
        if self.value.size > FEW:
            remedy = f"give at most {FEW} numbers, or one per element of a solid"
            raise SceneError(f"{path} has {self.value.size} numbers", where="wrt", remedy=remedy)
        self._free = system.free
        self.moves = len(system.free) < len(scene.initial(system).q) and self._displaced()

    @cached_property
    def _twins(self) -> list[tuple[Any, Any, float, Scene, Scene]]:
        """For every number the systems and scenes on both sides, and how far they are apart."""
        out = []
        flat, size = self.value.ravel(), max(float(np.abs(self.value).max()), 1e-3)
        for k in range(flat.size):
            sides = []
            for sign in (1.0, -1.0):
                moved = flat.copy()
                moved[k] += sign * STEP * size
                sides.append((moved[k], self._moved(moved.reshape(self.value.shape))))
            (up, high), (down, low) = sides
            out.append((high.system(), low.system(), float(up - down), high, low))
        return out

    def _moved(self, value: Array) -> Scene:
        """The scene with a value next to its own."""
        try:
            return replaced(self._scene, self.name, value)
        except PliantError as refused:
            what = f"{self.name} is at a limit, where it has no derivative to both sides ({refused.what})"
            raise SceneError(what, where="wrt", remedy="give it a value a little inside") from refused

    def _displaced(self) -> bool:
        """Whether prescribed coordinates feel the numbers, at any of a few times."""
        times = np.linspace(0.0, float(self._scene.duration), 7)
        return any(
            float(np.abs(self._place(k, t)).max(initial=0.0)) > 0.0 for k in range(self.value.size) for t in times
        )

    def _difference(self, k: int, moment: Moment) -> Array:
        high, low, step, _, _ = self._twins[k]
        return (moment.g(high) - moment.g(low)) / step

    def gather(self, moment: Moment, y: Array) -> Array:
        return np.array([y @ self._difference(k, moment) for k in range(self.value.size)])

    def along(self, moment: Moment, rates: Array) -> Array:
        zero = np.zeros((moment.size, rates.shape[1]))
        return sum((np.outer(self._difference(k, moment), r) for k, r in enumerate(rates) if r.any()), zero)

    def explicit(self, value: Callable[[Any], float]) -> Array:
        """d value(system)/dp (size,), of a function of the system at a given state."""
        return np.array([(value(high) - value(low)) / step for high, low, step, _, _ in self._twins])

    def _place(self, k: int, t: float) -> Array:
        high, low, step, _, _ = self._twins[k]
        zero = np.zeros_like(high.rest)
        return np.asarray((high.prescribe(zero, t) - low.prescribe(zero, t)) / step)

    def gather_placed(self, t: float, y: Array) -> Array:
        return np.array([y @ self._place(k, t) for k in range(self.value.size)])

    def placed(self, t: float, rates: Array) -> Array:
        zero = np.zeros((len(self._twins[0][0].rest), rates.shape[1]))
        return sum((np.outer(self._place(k, t), r) for k, r in enumerate(rates)), zero)

    @cached_property
    def _starts(self) -> list[tuple[Array, Array]]:
        out = []
        for high, low, step, up, down in self._twins:
            a, b = up.initial(high), down.initial(low)
            out.append(((a.q - b.q) / step, (a.v - b.v) / step))
        return out

    def start(self, rates: Array) -> tuple[Array, Array]:
        q, v = (np.stack(part) for part in zip(*self._starts, strict=True))
        return q.T @ rates, v.T @ rates

    def gather_start(self, q: Array, v: Array) -> Array:
        return np.array([q @ dq + v @ dv for dq, dv in self._starts])

    def applied(self, scene: Scene, value: Array) -> Scene:
        return replaced(scene, self.name, value)


class InitialState(Still):
    """``initial.q`` or ``initial.v``: where all free coordinates start, or how fast."""

    def __init__(self, scene: Scene, path: str, system: System) -> None:
        self.name, self._of_q = path, path.endswith("q")
        state = scene.initial(system)
        self.value = state.q if self._of_q else state.v
        self._mask = np.zeros(len(self.value))
        self._mask[system.free] = 1.0

    def gather(self, moment: Moment, y: Array) -> Array:
        return np.zeros(self.value.size)

    def along(self, moment: Moment, rates: Array) -> Array:
        return np.zeros((moment.size, rates.shape[1]))

    def start(self, rates: Array) -> tuple[Any, Any]:
        changes = self._mask[:, None] * rates
        return (changes, 0.0) if self._of_q else (0.0, changes)

    def gather_start(self, q: Array, v: Array) -> Array:
        return self._mask * (q if self._of_q else v)

    def applied(self, scene: Scene, value: Array) -> Scene:
        return scene  # which has no place for it: `started`

    def started(self, state: State, values: Array) -> State:
        """The state with these values in its free coordinates."""
        old = state.q if self._of_q else state.v
        new = np.where(self._mask > 0.0, values, old)
        return replace(state, q=new) if self._of_q else replace(state, v=new)


def parameter(scene: Scene, given: Wrt, system: System) -> Parameter:
    """The parameter that a path names."""
    if isinstance(given, Regions):
        return PerRegion(scene, given)
    path = given
    if path in ("initial.q", "initial.v"):
        return InitialState(scene, path, system)
    parts = path.split(".")
    if parts[0] in {f.name for f in fields(Scene)} - set(PHYSICS):
        what = f"{path} says when or how the scene is solved: there is no derivative"
        raise SceneError(what, where="wrt", remedy=f"name a number in {', '.join(PHYSICS[:-1])} or {PHYSICS[-1]}")
    if parts[0] == "bodies" and parts[-2:] == ["mesh", "X"]:
        return RestShape(scene, path, system)
    value = read(scene, path)
    if parts[0] == "bodies" and value.ndim == 1 and (value.size > FEW or parts[2] in ("material", "density")):
        body = scene.bodies[scene.number(int(parts[1]) if parts[1].isdigit() else parts[1], "wrt")]
        if isinstance(body, Solid | Membrane) and value.size == len(body.mesh.T):
            return PerElement(scene, path)
    return Few(scene, path, system)


def with_values(scene: Scene, parameters: Parameters, values: Array) -> tuple[Scene, State | None]:
    """The scene with other values of its parameters (flat), and the state it starts from where they say so."""
    parts = [(p, values[s].reshape(p.value.shape)) for p, s in zip(parameters.parts, parameters.slices, strict=True)]
    for p, value in parts:
        scene = p.applied(scene, value)
    state: State | None = None
    for p, value in parts:
        if isinstance(p, InitialState):
            state = p.started(scene.initial() if state is None else state, value)
    return scene, state

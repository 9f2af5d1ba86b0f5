"""Parameters of a scene and how its equations change with them.

Everything a method solves is g(q; p) = c^2 f(q, v, t; p) - M(q; p) d = 0 at some moment, with prescribed coordinates
q = place(t; p) and a start (q, v)(p). A parameter knows y^T dg/dp, y^T dplace/dp and y^T dstart/dp:

- `Few`: numbers anywhere in the scene. The scene is built with each of them a little larger and a little smaller, and g
  is differenced there, at the same positions: exact to rounding where g is linear in p, as in E, forces and densities.
- `PerElement`: one number per element. The body is taken apart into its elements; then every number moves only its own.
- `RestShape`: rest positions of a body's vertices, the same way, one corner of all elements at a time.
- `InitialState`: initial positions or velocities of all coordinates.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from pliant.adjoint.path import read, written
from pliant.arrays import Array, IntArray
from pliant.bodies import Membrane, Solid
from pliant.errors import SceneError
from pliant.loads import Tug
from pliant.mesh import Mesh
from pliant.scene import Scene, elastodynamics
from pliant.state import State
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.base import Contacting
from pliant.systems.penalty_contact import PenaltyContact

STEP = 1e-5  # of a parameter, for central differences: 1e-10 is lost to curvature and 1e-11 to rounding
FEW = 64  # numbers that are differenced one by one


@dataclass(frozen=True, eq=False)
class Moment:
    """Where g = c2 f(q, v, t) - M d is asked for; contacts are those that a stage from ``start`` found.

    With closures g has G^T ``multipliers`` in it, and their gaps with the sign turned behind it.
    """

    start: State
    q: Array
    v: Array
    t: float
    c2: float
    d: Array
    multipliers: Array | None = None

    def g(self, system: Any) -> Array:
        """g of a system."""
        live = system.at(self.start, self.t, np.sqrt(self.c2)) if isinstance(system, Contacting) else system
        out = np.asarray(self.c2 * live.force(self.q, self.v, self.t))
        if self.d.any():
            out = out - live.inertia(self.q, self.d)
        if self.multipliers is None:
            return out
        rows = live.closures(self.q, self.v, self.t)
        lengths = np.where(rows.positional, 1.0, np.sqrt(self.c2))  # as stages scale them
        return np.concatenate([out + rows.G.T @ self.multipliers, -lengths * rows.gap])

    def loose(self, dofs: IntArray) -> "Moment":
        """The same moment for loose elements with these coordinates (m, k), each on its own."""
        q, v, d = (a[dofs].ravel() for a in (self.q, self.v, self.d))
        start = State(self.start.q[dofs].ravel(), self.start.v[dofs].ravel(), self.start.t)
        return replace(self, start=start, q=q, v=v, d=d, multipliers=None)

    @property
    def size(self) -> int:
        return len(self.q) + (0 if self.multipliers is None else len(self.multipliers))


class Parameter(Protocol):
    """``size`` numbers; ``moves`` says whether prescribed coordinates depend on them."""

    name: str
    value: Array
    moves: bool

    def gather(self, moment: Moment, y: Array) -> Array:
        """y^T dg/dp (size,)."""
        ...

    def along(self, moment: Moment, rates: Array) -> Array:
        """dg/dp rates (N,)."""
        ...

    def gather_placed(self, t: float, y: Array) -> Array:
        """y^T dplace(t)/dp (size,)."""
        ...

    def placed(self, t: float, rates: Array) -> Array:
        """dplace(t)/dp rates (N,), zero on the free coordinates."""
        ...

    def start(self, rates: Array) -> tuple[Array, Array]:
        """The changes of q and v at the start."""
        ...

    def gather_start(self, q: Array, v: Array) -> Array:
        """q^T dq/dp + v^T dv/dp at the start (size,)."""
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
    def moves(self) -> bool:
        return any(p.moves for p in self.parts)

    def along(self, moment: Moment, rates: Array) -> Array:
        parts = zip(self.parts, self.slices, strict=True)
        return sum((p.along(moment, rates[s]) for p, s in parts if rates[s].any()), np.zeros(moment.size))

    def gather(self, moment: Moment, y: Array, into: Array) -> None:
        for p, s in zip(self.parts, self.slices, strict=True):
            into[s] += p.gather(moment, y)

    def placed(self, t: float, rates: Array) -> Array:
        parts = zip(self.parts, self.slices, strict=True)
        return sum((p.placed(t, rates[s]) for p, s in parts if p.moves), np.zeros(self.coordinates))

    def gather_placed(self, t: float, y: Array, into: Array) -> None:
        for p, s in zip(self.parts, self.slices, strict=True):
            if p.moves:
                into[s] += p.gather_placed(t, y)

    def explicit(self, value: Callable[[Any], float]) -> Array:
        """d value(system)/dp at a given state: numbers that are differenced, and states, which are no part of it."""
        found = []
        for p in self.parts:
            if not isinstance(p, Few | InitialState):
                remedy = "use one number for the whole body, or a loss of positions and velocities"
                raise SceneError(f"a loss that depends on {p.name} itself", where="loss", remedy=remedy)
            found.append(p.explicit(value) if isinstance(p, Few) else np.zeros(p.value.size))
        return np.concatenate(found)

    def start(self, rates: Array) -> tuple[Array, Array]:
        found = [p.start(rates[s]) for p, s in zip(self.parts, self.slices, strict=True)]
        zero = np.zeros(self.coordinates)
        return sum((f[0] for f in found), zero), sum((f[1] for f in found), zero)

    def gather_start(self, q: Array, v: Array) -> Array:
        return np.concatenate([p.gather_start(q, v) for p in self.parts])


class Few:
    """Up to `FEW` numbers at a path of the scene."""

    def __init__(self, scene: Scene, path: str, system: Any) -> None:
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
                value: Any = moved.reshape(self.value.shape) if self.value.ndim else float(moved[0])
                sides.append((moved[k], written(self._scene, self.name, value)))
            (up, high), (down, low) = sides
            out.append((high.system(), low.system(), float(up - down), high, low))
        return out

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
        return sum((r * self._difference(k, moment) for k, r in enumerate(rates) if r), np.zeros(moment.size))

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
        return sum((r * self._place(k, t) for k, r in enumerate(rates)), np.zeros_like(self._twins[0][0].rest))

    @cached_property
    def _starts(self) -> list[tuple[Array, Array]]:
        out = []
        for high, low, step, up, down in self._twins:
            a, b = up.initial(high), down.initial(low)
            out.append(((a.q - b.q) / step, (a.v - b.v) / step))
        return out

    def start(self, rates: Array) -> tuple[Array, Array]:
        q, v = (np.stack(part) for part in zip(*self._starts, strict=True))
        return rates @ q, rates @ v

    def gather_start(self, q: Array, v: Array) -> Array:
        return np.array([q @ dq + v @ dv for dq, dv in self._starts])


class _Still:
    """A parameter that neither places nor starts anything."""

    moves = False
    value: Array

    def gather_placed(self, t: float, y: Array) -> Array:
        return np.zeros(self.value.size)

    def placed(self, t: float, rates: Array) -> Any:
        return 0.0

    def start(self, rates: Array) -> tuple[Any, Any]:
        return 0.0, 0.0

    def gather_start(self, q: Array, v: Array) -> Array:
        return np.zeros(self.value.size)


class Apart:
    """A solid or a membrane taken apart into its elements: g over loose elements, which sum to that of the body."""

    def __init__(self, scene: Scene, k: int, where: str) -> None:
        body = scene.bodies[k]
        if not isinstance(body, Solid | Membrane) or (isinstance(body, Solid) and (body.fit or body.reduction)):
            remedy = "name a Solid or a Membrane without fit and reduction"
            raise SceneError(f"{body.name!r} cannot be taken apart into elements", where=where, remedy=remedy)
        mine = [f for f in scene.forces if scene.number(f.body, "scene.forces") == k]
        if any(isinstance(f, Tug) for f in mine):
            raise SceneError("a Tug is shared by mass", where=where, remedy="use Wind, or a number for the whole body")
        soft = scene.deformables()
        first, d = int(scene.offsets()[soft.index(body)]), body.mesh.dim
        moved: Any = [replace(f, body=0) for f in mine]  # type: ignore[type-var]
        self.body, self._gravity, self._loads = body, scene.gravity, [(0, f) for f in moved]
        T = body.mesh.T
        self.dofs = (d * (T + first)[:, :, None] + np.arange(d)).reshape(len(T), -1)  # (m, (d + 1) d) of the scene
        self._loose = np.arange(T.size).reshape(T.shape)

    def corners(self) -> Array:
        """Rest positions of the corners of all elements (m, d + 1, d) [m]."""
        return np.asarray(self.body.mesh.X[self.body.mesh.T])

    def system(self, corners: Array | None = None, **changed: Any) -> Any:
        """The loose elements as a system, with other rest positions of their corners or other fields."""
        X = (self.corners() if corners is None else corners).reshape(-1, self.body.mesh.dim)
        loose = replace(self.body, mesh=Mesh(X, self._loose), pins=(), positions=None, **changed)
        return elastodynamics([loose], self._gravity, self._loads)

    def g(self, system: Any, moment: Moment) -> Array:
        """g of every element (m, (d + 1) d)."""
        return moment.loose(self.dofs).g(system).reshape(self.dofs.shape)

    def summed(self, local: Array, size: int) -> Array:
        """What the elements give to all coordinates."""
        return np.asarray(np.bincount(self.dofs.ravel(), weights=local.ravel(), minlength=size), dtype=np.float64)


class PerElement(_Still):
    """One number per element at ``bodies.NAME.material.FIELD`` or ``bodies.NAME.density``."""

    def __init__(self, scene: Scene, path: str, system: Any) -> None:
        self.name, self.value = path, read(scene, path)
        _, name, rest = path.split(".", 2)
        k = scene.number(int(name) if name.isdigit() else name, "wrt")
        self._apart = Apart(scene, k, path)
        _require_own_stiffness(scene, path)
        body = scene.bodies[k]
        self._step = STEP * np.abs(self.value)
        high, low = (written(body, rest, self.value + sign * self._step) for sign in (1.0, -1.0))
        field = rest.partition(".")[0]
        self._high, self._low = (self._apart.system(**{field: vars(b)[field]}) for b in (high, low))

    def _rate(self, moment: Moment) -> Array:
        """dg/dp of every element's own number (m, (d + 1) d)."""
        difference = self._apart.g(self._high, moment) - self._apart.g(self._low, moment)
        return difference / (2.0 * self._step[:, None])

    def gather(self, moment: Moment, y: Array) -> Array:
        return np.asarray((y[self._apart.dofs] * self._rate(moment)).sum(axis=1))

    def along(self, moment: Moment, rates: Array) -> Array:
        return self._apart.summed(rates[:, None] * self._rate(moment), moment.size)


class RestShape:
    """Rest positions of a body's vertices, ``bodies.NAME.mesh.X``; pins hold them there, and there it starts."""

    def __init__(self, scene: Scene, path: str, system: Any) -> None:
        self.name, self._scene = path, scene
        name = path.split(".")[1]
        k = scene.number(int(name) if name.isdigit() else name, "wrt")
        self._apart = Apart(scene, k, path)
        _require_own_stiffness(scene, path)
        if scene.attachments:
            raise SceneError("attachments move with a rest shape", where=path, remedy="leave attachments out")
        body = scene.bodies[k]
        self.value = np.asarray(body.mesh.X)
        n, d = self.value.shape
        first = d * int(scene.offsets()[scene.deformables().index(body)])
        self._own, self._N = slice(first, first + n * d), len(system.rest)
        self._starts = body.positions is None
        edges = self.value[body.mesh.T[:, 1:]] - self.value[body.mesh.T[:, :1]]
        self._step = STEP * float(np.linalg.norm(edges, axis=2).mean())
        self._k, self._d = k, d
        held = np.setdiff1d(np.arange(self._N), system.free)
        self._held = held[(held >= first) & (held < first + n * d)]
        self.moves = bool(len(self._held))

    @cached_property
    def _twins(self) -> list[tuple[Any, Any]]:
        """The systems with coordinate j of corner a of all elements on either side, for every (a, j)."""
        corners = self._apart.corners()
        out = []
        for a in range(corners.shape[1]):
            for j in range(self._d):
                sides = []
                for sign in (1.0, -1.0):
                    moved = corners.copy()
                    moved[:, a, j] += sign * self._step
                    sides.append(self._apart.system(moved))
                out.append((sides[0], sides[1]))
        return out

    def _rates(self, moment: Moment) -> list[Array]:
        g = self._apart.g
        return [(g(high, moment) - g(low, moment)) / (2.0 * self._step) for high, low in self._twins]

    def gather(self, moment: Moment, y: Array) -> Array:
        own = y[self._apart.dofs]
        local = np.stack([(own * rate).sum(axis=1) for rate in self._rates(moment)], axis=1)
        return self._apart.summed(local, self._N)[self._own]

    def along(self, moment: Moment, rates: Array) -> Array:
        whole = np.zeros(self._N)
        whole[self._own] = rates
        mine = whole[self._apart.dofs]
        local = sum(mine[:, k, None] * rate for k, rate in enumerate(self._rates(moment)))
        return self._apart.summed(np.asarray(local), moment.size)

    @cached_property
    def _shifted(self) -> list[Any]:
        """The whole scene with the rest shape moved along every axis: motions act on each vertex by itself."""
        out = []
        for j in range(self._d):
            sides = []
            for sign in (1.0, -1.0):
                X = self.value.copy()
                X[:, j] += sign * self._step
                body = self._scene.bodies[self._k]
                sides.append(self._scene.with_body(self._k, replace(body, mesh=Mesh(X, body.mesh.T))).system())
            out.append(sides)
        return out

    def _places(self, t: float) -> Array:
        """dplace/dX (N, d) of every coordinate by those of its own vertex."""
        zero = np.zeros(self._N)
        columns = [(a.prescribe(zero, t) - b.prescribe(zero, t)) / (2.0 * self._step) for a, b in self._shifted]
        J = np.stack(columns, axis=1)
        inside = np.zeros(self._N, dtype=bool)
        inside[self._held] = True
        return np.where(inside[:, None], J, 0.0)

    def gather_placed(self, t: float, y: Array) -> Array:
        spread = (y[:, None] * self._places(t))[self._own]
        return spread.reshape(-1, self._d, self._d).sum(axis=1).ravel()

    def placed(self, t: float, rates: Array) -> Array:
        whole = np.zeros((self._N, self._d))
        whole[self._own] = np.repeat(rates.reshape(-1, self._d), self._d, axis=0)
        return np.asarray((whole * self._places(t)).sum(axis=1))

    def start(self, rates: Array) -> tuple[Any, Any]:
        q = self.placed(0.0, rates) if self.moves else np.zeros(self._N)
        if self._starts:
            free = np.setdiff1d(np.arange(self._own.start, self._own.stop), self._held)
            q[free] = rates[free - self._own.start]
        return q, 0.0

    def gather_start(self, q: Array, v: Array) -> Array:
        out = self.gather_placed(0.0, np.where(np.isin(np.arange(self._N), self._held), q, 0.0))
        if self._starts:
            free = np.setdiff1d(np.arange(self._own.start, self._own.stop), self._held)
            out[free - self._own.start] += q[free]
        return out


class InitialState(_Still):
    """``initial.q`` or ``initial.v``: where all free coordinates start, or how fast."""

    def __init__(self, scene: Scene, path: str, system: Any) -> None:
        self.name, self._of_q = path, path.endswith("q")
        state = scene.initial(system)
        self.value = state.q if self._of_q else state.v
        self._mask = np.zeros(len(self.value))
        self._mask[system.free] = 1.0

    def gather(self, moment: Moment, y: Array) -> Array:
        return np.zeros(self.value.size)

    def along(self, moment: Moment, rates: Array) -> Array:
        return np.zeros(moment.size)

    def start(self, rates: Array) -> tuple[Any, Any]:
        return (self._mask * rates, 0.0) if self._of_q else (0.0, self._mask * rates)

    def gather_start(self, q: Array, v: Array) -> Array:
        return self._mask * (q if self._of_q else v)

    def applied(self, state: State, values: Array) -> State:
        """The state with these values in its free coordinates."""
        old = state.q if self._of_q else state.v
        new = np.where(self._mask > 0.0, values, old)
        return replace(state, q=new) if self._of_q else replace(state, v=new)


def parameter(scene: Scene, path: str, system: Any) -> Parameter:
    """The parameter that a path names."""
    if path in ("initial.q", "initial.v"):
        return InitialState(scene, path, system)
    parts = path.split(".")
    if parts[0] == "bodies" and parts[-2:] == ["mesh", "X"]:
        return RestShape(scene, path, system)
    value = read(scene, path)
    if parts[0] == "bodies" and value.ndim == 1 and (value.size > FEW or parts[2] in ("material", "density")):
        body = scene.bodies[scene.number(int(parts[1]) if parts[1].isdigit() else parts[1], "wrt")]
        if isinstance(body, Solid | Membrane) and value.size == len(body.mesh.T):
            return PerElement(scene, path, system)
    return Few(scene, path, system)


def with_values(scene: Scene, parameters: Parameters, values: Array) -> tuple[Scene, State | None]:
    """The scene with other values of its parameters (flat), and the state it starts from where they say so."""
    state: State | None = None
    for p, s in zip(parameters.parts, parameters.slices, strict=True):
        value: Any = values[s].reshape(p.value.shape) if p.value.ndim else float(values[s][0])
        if isinstance(p, InitialState):
            continue
        if isinstance(p, RestShape):
            k = scene.number(int(n) if (n := p.name.split(".")[1]).isdigit() else n, "wrt")
            body = scene.bodies[k]
            scene = scene.with_body(k, replace(body, mesh=Mesh(value, body.mesh.T)))
        else:
            scene = written(scene, p.name, value)
    for p, s in zip(parameters.parts, parameters.slices, strict=True):
        if isinstance(p, InitialState):
            state = scene.initial() if state is None else state
            state = p.applied(state, values[s])
    return scene, state


def _require_own_stiffness(scene: Scene, path: str) -> None:
    """Contact that takes its stiffness from the body would depend on all of its elements at once."""
    contact = scene.contact
    borrowed = isinstance(contact, PenaltyContact) and contact.k is None
    if borrowed or (isinstance(contact, BarrierContact) and contact.stiffness == "adaptive"):
        remedy = "give the contact its own stiffness"
        raise SceneError(f"{path} also decides the stiffness of contact", where="wrt", remedy=remedy)

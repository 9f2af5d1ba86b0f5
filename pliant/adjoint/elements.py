"""Parameters with a number of its own for every element or vertex of a body, which is taken apart into its elements."""

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.adjoint.moment import Moment, Still
from pliant.adjoint.path import read, replaced, written
from pliant.arrays import Array
from pliant.assembly import elastodynamics
from pliant.bodies import Membrane, Solid
from pliant.errors import SceneError
from pliant.loads import Push, Tug
from pliant.mesh import Mesh
from pliant.scene import Scene
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.base import System
from pliant.systems.penalty_contact import PenaltyContact

STEP = 1e-5  # of a parameter, for central differences: 1e-10 is lost to curvature and 1e-11 to rounding


class Apart:
    """A solid or a membrane taken apart into its elements: g over loose elements, which sum to that of the body."""

    def __init__(self, scene: Scene, k: int, where: str, *, weighs: bool) -> None:
        """``weighs`` says that masses are to change: then loads that are shared by mass do, too, and all at once."""
        body = scene.bodies[k]
        if not isinstance(body, Solid | Membrane) or (isinstance(body, Solid) and (body.fit or body.reduction)):
            remedy = "name a Solid or a Membrane without fit and reduction"
            raise SceneError(f"{body.name!r} cannot be taken apart into elements", where=where, remedy=remedy)
        mine = [f for f in scene.forces if scene.number(f.body, "scene.forces") == k]
        shared = [f for f in mine if isinstance(f, Tug | Push)]
        if weighs and shared:
            what = f"a {type(shared[0]).__name__} is shared by mass"
            raise SceneError(what, where=where, remedy="use Wind, or a number for the whole body")
        soft = scene.deformables()
        first, d = int(scene.offsets()[soft.index(body)]), body.mesh.dim
        moved: Any = [replace(f, body=0) for f in mine if f not in shared]  # type: ignore[type-var]
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

    def g(self, system: System, moment: Moment) -> Array:
        """g of every element (m, (d + 1) d)."""
        return moment.loose(self.dofs).g(system).reshape(self.dofs.shape)

    def summed(self, local: Array, size: int) -> Array:
        """What the elements give to all coordinates."""
        return np.asarray(np.bincount(self.dofs.ravel(), weights=local.ravel(), minlength=size), dtype=np.float64)


class PerElement(Still):
    """One number per element at ``bodies.NAME.material.FIELD`` or ``bodies.NAME.density``."""

    def __init__(self, scene: Scene, path: str) -> None:
        self.name, self.value = path, read(scene, path)
        _, name, rest = path.split(".", 2)
        k = scene.number(int(name) if name.isdigit() else name, "wrt")
        self._apart = Apart(scene, k, path, weighs=rest == "density")
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
        rate, dofs = self._rate(moment), self._apart.dofs
        element = np.repeat(np.arange(len(dofs)), dofs.shape[1])
        shape = moment.size, len(dofs)
        return np.asarray(sp.csr_matrix((rate.ravel(), (dofs.ravel(), element)), shape=shape) @ rates)

    def applied(self, scene: Scene, value: Array) -> Scene:
        return replaced(scene, self.name, value)


class RestShape:
    """Rest positions of a body's vertices, ``bodies.NAME.mesh.X``; pins hold them there, and there it starts."""

    def __init__(self, scene: Scene, path: str, system: Any) -> None:
        self.name, self._scene = path, scene
        name = path.split(".")[1]
        k = scene.number(int(name) if name.isdigit() else name, "wrt")
        self._apart = Apart(scene, k, path, weighs=True)
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
        whole = np.zeros((self._N, rates.shape[1]))
        whole[self._own] = rates
        mine, found = whole[self._apart.dofs], self._rates(moment)
        columns = [
            self._apart.summed(sum(mine[:, k, c, None] * rate for k, rate in enumerate(found)), moment.size)
            for c in range(rates.shape[1])
        ]
        return np.stack(columns, axis=1)

    @cached_property
    def _shifted(self) -> list[Any]:
        """The whole scene with the rest shape moved along every axis: motions act on each vertex by itself."""
        out = []
        for j in range(self._d):
            sides = []
            for sign in (1.0, -1.0):
                X = self.value.copy()
                X[:, j] += sign * self._step
                sides.append(self.applied(self._scene, X).system())
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
        columns = rates.shape[1]
        whole = np.zeros((self._N, self._d, columns))
        whole[self._own] = np.repeat(rates.reshape(-1, self._d, columns), self._d, axis=0)
        return np.asarray((whole * self._places(t)[:, :, None]).sum(axis=1))

    def start(self, rates: Array) -> tuple[Any, Any]:
        q = self.placed(0.0, rates) if self.moves else np.zeros((self._N, rates.shape[1]))
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

    def applied(self, scene: Scene, value: Array) -> Scene:
        body = scene.bodies[self._k]
        return scene.with_body(self._k, replace(body, mesh=Mesh(value, body.mesh.T)))


def _require_own_stiffness(scene: Scene, path: str) -> None:
    """Contact that takes its stiffness from the body would depend on all of its elements at once."""
    contact = scene.contact
    borrowed = isinstance(contact, PenaltyContact) and contact.k is None
    if borrowed or (isinstance(contact, BarrierContact) and contact.stiffness == "adaptive"):
        remedy = "give the contact its own stiffness"
        raise SceneError(f"{path} also decides the stiffness of contact", where="wrt", remedy=remedy)

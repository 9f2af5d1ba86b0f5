"""Several parts as one system: q = (q_1, ..., q_k), with contact and attachments over their points.

    M = diag(M_1, ..., M_k)      f = (f_1, ..., f_k) + J^T f_x(x, J v, t)      x = x(q) all points, J = dx/dq

Parts know nothing of each other; what acts between them acts on points, with forces that sum to zero, and reaches the
coordinates through J^T. So it is equal and opposite in the only place where it could be otherwise.
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.energies.base import Energy, Guarding
from pliant.maps.points import ForceOnPoints, OnPoints, TieSprings, hessians_of
from pliant.pattern import added, side_by_side
from pliant.state import State
from pliant.systems import exchange
from pliant.systems.base import (
    Charted,
    Closures,
    Constrained,
    Contacting,
    Dissipating,
    Jointed,
    Part,
    Persistent,
    Pullable,
    Quadrature,
    Reducible,
    Restorable,
    Weights,
    Working,
    distinct,
)
from pliant.systems.contact import ContactModel, LiveForce, Touch
from pliant.systems.coupled_step import NOBODY, CoupledStep, prepared_parts
from pliant.systems.coupling_rows import Ties, differences
from pliant.systems.points import Points
from pliant.systems.pressed_step import Pressed
from pliant.systems.row_contact import RowModel
from pliant.systems.shown import Shown, Watching
from pliant.velocity_step import Linearisation, Prepared, Remeshing

SHARED = ("kinetic", "gravity")  # energies of all parts together; others are those of one part each


class Coupled:
    """``parts`` with a ``contact`` model over the points ``rows`` and ``energies`` over all of their points.

    ``ties`` are points that stay together: ``nodes`` and ``weights`` (k, r) with sum_r w_r x_r = 0, in their first
    ``dim`` coordinates. ``slices`` tell where each part's coordinates are. The rigid bodies ``shown`` are met by
    Eulerian cloth, whose rows are its own.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        contact: ContactModel | None = None,
        rows: IntArray | None = None,
        energies: Sequence[Energy] = (),
        ties: tuple[IntArray, Array] | None = None,
        shown: Shown = NOBODY,
        dim: int = 3,
    ) -> None:
        self.parts, self.contact, self.shown = tuple(parts), contact, shown
        count = sum(len(part.positions(part.rest)) for part in parts)
        self._tied, self._dim = ties, dim
        self.ties = None if ties is None else differences(*ties, count, dim)  # B (d k, 3 p): B x = 0
        sizes = [len(part.rest) for part in parts]
        ends = np.cumsum([0, *sizes])
        self.slices = tuple(slice(int(a), int(b)) for a, b in zip(ends[:-1], ends[1:], strict=True))
        self.free = np.concatenate([part.free + a for part, a in zip(parts, ends[:-1], strict=True)])
        self._size = int(ends[-1])
        self.scale = max(part.scale for part in parts)
        self.total_mass = sum(part.total_mass for part in parts)
        self.free_mass = sum(part.free_mass for part in parts)
        self.points = Points(parts, self.slices)
        self.touchable, self._rows = Points(parts, self.slices, rows), rows
        self._energies = tuple(energies)
        self._springs = tuple(OnPoints(e, self.points) for e in energies)
        self.energy_terms: tuple[OnPoints, ...] = self._springs
        live = () if contact is None else [LiveForce(contact, k, contact.setting.n) for k in contact.force_names]
        self.force_terms = tuple(ForceOnPoints(force, self.touchable) for force in live)

    @property
    def symmetric(self) -> bool:
        return all(part.symmetric for part in self.parts)

    @cached_property
    def border(self) -> IntArray:
        """The free coordinates of parts that move on joints."""
        sizes = np.cumsum([0, *(len(part.free) for part in self.parts)])
        own = [np.arange(sizes[k], sizes[k + 1]) for k, part in enumerate(self.parts) if not part.symmetric]
        return np.concatenate([np.zeros(0, dtype=np.int64), *own])

    @property
    def rest(self) -> Array:
        return self._joined([part.rest for part in self.parts])

    @property
    def between(self) -> tuple[ForceOnPoints, ...]:
        """The forces without a potential that act between the parts."""
        return self.force_terms

    def each(self, function: Callable[..., Any], *vectors: Array) -> list[Any]:
        """``function(part, q_part, ...)`` for every part, with its own piece of every vector."""
        return [function(part, *(x[s] for x in vectors)) for part, s in zip(self.parts, self.slices, strict=True)]

    def _joined(self, pieces: Sequence[Array]) -> Array:
        return np.concatenate(pieces)

    # ------------------------------------------------------------------------------------------------ contact

    def _touched(self, state: State) -> State:
        """The points that can touch, and their velocities."""
        x, J = self.touchable.lift(state.q), self.touchable.jacobian(state.q)
        return State(x, J @ state.v, state.t)

    def at(self, start: State, t: float) -> "Coupled":
        """The system of a stage that sets out from ``start`` and ends at t: its contacts are found once, here."""
        parts = self.each(
            lambda p, q, v: p.at(State(q, v, start.t), t) if isinstance(p, Contacting) else p, start.q, start.v
        )
        same = all(a is b for a, b in zip(parts, self.parts, strict=True))
        if self.contact is None and same:
            return self
        fixed = copy(self)
        fixed.parts = tuple(parts)
        if self.contact is not None:
            terms = self.contact.at(self._touched(start), t)
            fixed.contact = None
            fixed.energy_terms = (*self._springs, *(OnPoints(e, self.touchable) for e in terms.energies))
            fixed.force_terms = tuple(ForceOnPoints(f, self.touchable) for f in terms.forces)
        return fixed

    def begin(self, q: Array, guess: Array) -> Array:
        """The guess a stage may start from on the way from q: not beyond where contact allows."""
        guards = [e for e in self.energy_terms if isinstance(e.energy, Guarding)]
        if not guards:
            return guess
        still = guess.copy()
        still[self.free] = q[self.free]
        return guess if all(self._passable(e, q, guess) for e in guards) else still

    def _passable(self, term: OnPoints, q: Array, guess: Array) -> bool:
        """Whether the barrier lets its points pass from q to the guess, as they are and along their curved way."""
        x, y = self.touchable.lift(q), self.touchable.lift(guess)
        assert isinstance(term.energy, Guarding)
        return term.energy.begin(x, y, np.arange(len(x))) is y and term.limit(q, guess - q) >= 1.0

    # ------------------------------------------------------------------------------------------------ physics

    def mass(self, q: Array) -> sp.csr_matrix:
        return side_by_side(self.each(lambda p, x: p.mass(x), q))

    def inertia(self, q: Array, a: Array) -> Array:
        return self._joined(self.each(lambda p, x, y: p.inertia(x, y), q, a))

    def weights(self, q: Array) -> Array:
        return self._joined(self.each(lambda p, x: p.weights(x), q))

    def force(self, q: Array, v: Array, t: float) -> Array:
        if self.contact is not None:
            return self.at(State(q, v, t), t).force(q, v, t)
        f = self._joined(self.each(lambda p, x, u: p.force(x, u, t), q, v))
        for energy in self.energy_terms:
            f = f - energy.gradient(q)
        for force in self.force_terms:
            f = f + force.force(q, v, t)
        return f

    def accelerated(self, q: Array, f: Array) -> Array:
        """M^-1 f on the free coordinates, part by part."""
        return self._joined(self.each(lambda p, x, y: p.accelerated(x, y), q, f))

    def acceleration(self, q: Array, v: Array, t: float) -> Array:
        """M^-1 (f + G^T lambda), with G a = -d(G v - rate)/dt at constant v where there are closures."""
        a = self.accelerated(q, self.force(q, v, t))
        rows = self.closures(q, v, t)
        if rows is None:
            return a
        e = 1e-5 * self.scale / max(float(np.abs(v).max()), 1e-3 * self.scale)  # s: little of a turn, or of the way
        ahead, behind = (self.closures(q + s * v, v, t + s) for s in (e, -e))
        assert ahead is not None and behind is not None
        bias = ((ahead.G @ v - ahead.rate) - (behind.G @ v - behind.rate)) / (2.0 * e)
        X = np.stack([self.accelerated(q, g) for g in rows.G.toarray()], axis=1)
        return a + X @ np.linalg.lstsq(rows.G @ X, -bias - rows.G @ a, rcond=1e-12)[0]

    def stiffness(self, q: Array, v: Array, t: float, *, psd: bool = False) -> sp.csr_matrix:
        return sp.csr_matrix(-self.tangent(q, v, t, (0.0, 0.0, 1.0), psd=psd))

    def damping(self, q: Array, v: Array, t: float) -> sp.csr_matrix:
        return sp.csr_matrix(-self.tangent(q, v, t, (0.0, 1.0, 0.0), psd=False))

    def tangent(
        self, q: Array, v: Array, t: float, weights: Weights, *, psd: bool = True, a: Array | None = None
    ) -> sp.csr_matrix:
        if self.contact is not None:
            return self.at(State(q, v, t), t).tangent(q, v, t, weights, psd=psd, a=a)
        blocks = [
            part.tangent(q[s], v[s], t, weights, psd=psd, a=None if a is None else a[s])
            for part, s in zip(self.parts, self.slices, strict=True)
        ]
        hessians = hessians_of(self.energy_terms, q, psd=psd) if weights[2] else []
        damping = [f.damping(q, v, t) for f in self.force_terms] if weights[1] else []
        return self._with_terms(blocks, hessians, damping, (q, v, t), weights)

    def persistent_tangent(self, q: Array, v: Array, t: float, weights: Weights, *, psd: bool = True) -> sp.csr_matrix:
        """The tangent without the blocks that couple the two sides of contacts. [QLB2021, sec. 3.3]"""
        if self.contact is not None:
            return self.at(State(q, v, t), t).persistent_tangent(q, v, t, weights, psd=psd)

        def own(part: Any, x: Array, u: Array) -> sp.csr_matrix:
            tangent = part.persistent_tangent if isinstance(part, Persistent) else part.tangent
            return tangent(x, u, t, weights, psd=psd)

        hessians = [e.persistent_hessian(q, psd=psd) for e in self.energy_terms] if weights[2] else []
        damping = [f.persistent_damping(q, v, t) for f in self.force_terms] if weights[1] else []
        return self._with_terms(self.each(own, q, v), hessians, damping, (q, v, t), weights)

    def _with_terms(
        self, blocks: list[Any], hessians: list[Any], damping: list[Any], at: tuple[Any, ...], weights: Weights
    ) -> sp.csr_matrix:
        """diag(blocks) and what acts between the parts."""
        _, w_damping, w_stiffness = weights
        A = side_by_side(blocks)
        for H in hessians:
            A = added(A, w_stiffness * H)
        for D in damping:
            A = added(A, -w_damping * D)
        if w_stiffness:
            for force in self.force_terms:
                A = added(A, -w_stiffness * force.stiffness(*at))
        return A

    # ------------------------------------------------------------------------------------------------ boundary

    def restrict(self, A: sp.csr_matrix) -> sp.csr_matrix:
        return A if len(self.free) == A.shape[0] else sp.csr_matrix(A[self.free][:, self.free])

    def prescribe(self, q: Array, t: float) -> Array:
        return self._joined(self.each(lambda p, x: p.prescribe(x, t), q))

    def limit(self, q: Array, dq: Array) -> float:
        own = self.each(lambda p, x, dx: p.limit(x, dx), q, dq)
        return min([*own, *(e.limit(q, dq) for e in self.energy_terms)])

    def closures(self, q: Array, v: Array, t: float) -> Closures | None:
        """Those of the parts, and the points that are tied together."""
        found = []
        for part, s in zip(self.parts, self.slices, strict=True):
            mine = part.closures(q[s], v[s], t) if isinstance(part, Constrained) else None
            if mine is not None:
                found.append(mine.placed(s.start, self._size))
        if self.ties is not None:
            found.append(Closures.tying(self.ties @ self.points.lift(q), self.ties @ self.points.jacobian(q)))
        return Closures.joined(found) if found else None

    def closure_tangent(self, q: Array, v: Array, t: float, y: Array, w: float) -> tuple[sp.csr_matrix, sp.csr_matrix]:
        """d(G^T y)/dq + w d(G^T y)/dv and the same of the gaps, part by part; ties bend with the points."""
        blocks, gaps, first = [], [], 0
        for part, s in zip(self.parts, self.slices, strict=True):
            n = s.stop - s.start
            mine = part.closures(q[s], v[s], t) if isinstance(part, Constrained) else None
            if mine is None or not isinstance(part, Constrained):
                blocks.append(sp.csr_matrix((n, n)))
                continue
            k = len(mine.gap)
            B, g = part.closure_tangent(q[s], v[s], t, y[first : first + k], w)
            blocks.append(B)
            gaps.append(sp.hstack([sp.csr_matrix((k, s.start)), g, sp.csr_matrix((k, self._size - s.stop))]))
            first += k
        A = side_by_side(blocks)
        if self.ties is not None:
            A = sp.csr_matrix(A + self.points.curvature(q, self.ties.T @ y[first:]))
            gaps.append(self.ties @ self.points.jacobian(q))
        return A, sp.csr_matrix(sp.vstack(gaps))

    # ------------------------------------------------------------------------------------------------ velocity step

    def prepare(self, state: State, h: float, memory: Any, how: Linearisation) -> Prepared:
        """The blocks of all parts with the rows of ties and contacts; springs and penalties between them are added."""
        states = self._states(state)
        prepared = prepared_parts(self.parts, states, h, memory, how, self.shown)
        fresh = [p.remeshed if isinstance(p, Remeshing) else None for p in prepared]
        if any(f is not None for f in fresh):  # everything between the parts is that of the meshes just made
            states = [s if f is None else f[1] for s, f in zip(states, fresh, strict=True)]
            state = State(self._joined([s.q for s in states]), self._joined([s.v for s in states]), state.t)
        now = self.rebuilt(tuple(None if f is None else f[0] for f in fresh))
        return now._stepping(prepared, states, state, h, how)

    def _states(self, state: State) -> list[State]:
        return [State(state.q[s], state.v[s], state.t) for s in self.slices]

    def _stepping(
        self, prepared: Sequence[Prepared], states: list[State], state: State, h: float, how: Linearisation
    ) -> Prepared:
        """The prepared parts with all that acts between them."""
        ties = None
        if self.ties is not None and self._tied is not None:
            ties = Ties(*self._tied, (self.ties @ self.points.lift(state.q)).reshape(-1, self._dim))
        touches = None
        if isinstance(self.contact, RowModel):
            at = self._touched(state)
            touches = self.contact.touches(at.q.reshape(-1, 3), at.v.reshape(-1, 3), state.t, h)
            if self._rows is not None:
                touches = replace(touches, contacts=replace(touches.contacts, nodes=self._rows[touches.contacts.nodes]))
        between: Any = {"ties": ties, "touches": touches, "shown": self.shown, "rebuild": lambda _: self}
        coupled = CoupledStep(prepared, states, h, **between, place=self._placed)
        placed = self.at(state, state.t + h)
        terms = placed.energy_terms, placed.force_terms
        return Pressed(coupled, *terms, state, h, how.beta) if any(terms) else coupled

    def _placed(self, state: State) -> State:
        """The state with tied vertices of reduced bodies exactly where they belong, as their other vertices expect."""
        if self.ties is None or self._tied is None:
            return state
        q = state.q.copy()
        gap = (self.ties @ self.points.lift(q)).reshape(-1, self._dim)
        first = 0
        for part, s in zip(self.parts, self.slices, strict=True):
            count = len(part.positions(part.rest))
            if isinstance(part, Reducible) and part.reduction is not None:
                mine = self._tied[0][:, 0] - first
                own = np.flatnonzero((mine >= 0) & (mine < count))
                q[s.start + (self._dim * mine[own][:, None] + np.arange(self._dim))] -= gap[own]
            first += count
        return State(q, state.v, state.t)

    def rebuilt(self, changed: tuple[Any, ...]) -> "Coupled":
        """The same system with other parts where they have changed (None: not); kept points keep their attachments."""
        if all(part is None for part in changed):
            return self
        parts = [old if new is None else new for old, new in zip(self.parts, changed, strict=True)]
        starts = [np.cumsum([0, *(len(p.positions(p.rest)) for p in each)]) for each in (self.parts, parts)]

        def renumbered(nodes: IntArray) -> IntArray:
            owner = np.searchsorted(starts[0], nodes, side="right") - 1
            local = nodes - starts[0][owner]
            for k, (old, new) in enumerate(zip(self.parts, changed, strict=True)):
                if isinstance(new, Restorable):
                    local[owner == k] = new.renumbered(old, local[owner == k])
            return local + starts[1][owner]

        energies = [e.renumbered(renumbered, int(starts[1][-1])) for e in self._energies if isinstance(e, TieSprings)]
        rows = None if self._rows is None else renumbered(self._rows)
        ties = None if self._tied is None else (renumbered(self._tied[0]), self._tied[1])
        return Coupled(parts, self.contact, rows, energies, ties, self.shown, self._dim)

    def restored(self, topology: Sequence[Any]) -> "Coupled":
        """The same system with the meshes that `topology_of` described, one for each part."""
        each = zip(self.parts, topology, strict=True)
        return self.rebuilt(
            tuple(p.restored(own) if own is not None and isinstance(p, Restorable) else None for p, own in each)
        )

    # ------------------------------------------------------------------------------------------------ read-out

    def potential(self, q: Array, t: float) -> float | None:
        if self.contact is not None:
            return self.at(State(q, np.zeros_like(q), t), t).potential(q, t)
        own = self.each(lambda p, x: p.potential(x, t), q)
        if any(W is None for W in own) or not all(f.lagged for f in self.force_terms):
            return None
        return sum(own) + sum(e.value(q) for e in self.energy_terms)

    def steep(self, q: Array, v: Array, t: float, c: float) -> tuple[float, Array] | None:
        """Of contact and springs between the parts, and of the parts that have a potential.

        None with friction that follows its load: it is steep and has no potential.
        """
        if not all(force.lagged for force in self.force_terms):
            return None
        W, g = sum(e.value(q) for e in self.energy_terms), np.zeros_like(q)
        for energy in self.energy_terms:
            g += energy.gradient(q)
        for force in self.force_terms:
            lost, slope = force.sloping(q, v, t, c)
            W, g = W + lost, g + slope
        for part, s in zip(self.parts, self.slices, strict=True):
            own = part.potential(q[s], t)
            if own is not None:
                lost = part.dissipation(q[s], v[s]) if isinstance(part, Dissipating) else 0.0
                W, g[s] = W + own + c * lost, g[s] - part.force(q[s], v[s], t)
        return W, g

    def dissipation(self, q: Array, v: Array) -> float:
        """P(v) [W] of the lagged forces of parts and contacts."""
        own = self.each(lambda p, x, u: p.dissipation(x, u) if isinstance(p, Dissipating) else 0.0, q, v)
        return sum(own) + sum(f.dissipation(q, v) for f in self.force_terms if f.lagged)

    def contacts(self, q: Array, v: Array, t: float) -> Touch | None:
        """Points, normals, gaps and forces of all contacts between parts; None for a system without contact.

        Cloth that is shown the others comes after the bodies of the contact model, in the order of the parts.
        """
        found: list[Touch | None] = []
        if self.contact is not None:
            x = self._touched(State(q, v, t))
            found.append(self.contact.touch(x.q, x.v, t))
        states = self._states(State(q, v, t))
        live = self.shown.placements(self.parts, states)
        names = [] if self.contact is None else list(self.contact.setting.names)
        bodies = np.array([names.index(name) for *_, name in self.shown.bodies], dtype=np.int64)
        for k, part in enumerate(self.parts):
            if isinstance(part, Watching):
                own = part.contacts(states[k].q, states[k].v, t, live)
                found.append(None if own is None else own.placed(len(names) + len(found), bodies))
        known = [touch for touch in found if touch is not None]
        return Touch.joined(known) if found and len(known) == len(found) else None

    def min_distance(self, q: Array, t: float) -> float | None:
        """The smallest gap [m], negative where things overlap, inf when nothing is near; None without contact."""
        return None if self.contact is None else self.contact.distance(self.touchable.lift(q), t)

    def pushed(self, before: State, after: State, quadrature: Quadrature) -> float:
        """What moving obstacles did [J]."""
        if self.contact is None:
            return 0.0
        return exchange.pushed(self.contact, *self._on_points(before, after, quadrature))

    def pairs(self) -> tuple[tuple[str, str], ...]:
        own = () if self.contact is None else exchange.pairs(self.contact.setting)
        return (*own, *self.shown.pairs())

    def exchanges(self, before: State, after: State, quadrature: Quadrature) -> dict[tuple[str, str], float]:
        if self.contact is None:
            return {}
        return exchange.exchanges(self.contact, *self._on_points(before, after, quadrature))

    def _on_points(self, before: State, after: State, quadrature: Quadrature) -> tuple[State, State, Quadrature]:
        return self._touched(before), self._touched(after), tuple((self._touched(s), w) for s, w in quadrature)

    @property
    def works(self) -> tuple[str, ...]:
        """Names of the works that parts tell by their power."""
        return tuple(dict.fromkeys(name for part in self.parts if isinstance(part, Working) for name in part.works))

    def power(self, q: Array, v: Array, t: float) -> dict[str, float]:
        out = dict.fromkeys(self.works, 0.0)
        for own in self.each(lambda p, x, u: p.power(x, u, t) if isinstance(p, Working) else {}, q, v):
            for name, value in own.items():
                out[name] += value
        return out

    def switched(self, q: Array, v: Array, times: tuple[float, float]) -> float:
        return sum(self.each(lambda p, x, u: p.switched(x, u, times) if isinstance(p, Working) else 0.0, q, v))

    def joint_origins(self, x: Array) -> Array:
        """Where the joints of all parts are (k, 3) when the points are at x (p, 3)."""
        found, first = [np.zeros((0, 3))], 0
        for part in self.parts:
            count = len(part.positions(part.rest))
            if isinstance(part, Jointed):
                found.append(part.joint_origins(x[first : first + count]))
            first += count
        return np.concatenate(found)

    def positions(self, q: Array) -> Array:
        return np.concatenate(self.each(lambda p, x: p.positions(x), q))

    def cells(self) -> list[IntArray]:
        counts = [len(part.positions(part.rest)) for part in self.parts]
        first = np.cumsum([0, *counts])
        return [c + k for part, k in zip(self.parts, first, strict=False) for c in part.cells()]

    def point_jacobian(self, q: Array) -> sp.csr_matrix:
        return self.points.jacobian(q)

    def curvature(self, q: Array, g: Array) -> sp.csr_matrix:
        return self.points.curvature(q, g)

    def momenta(self, q: Array, v: Array) -> tuple[Array, Array]:
        each = self.each(lambda p, x, u: p.momenta(x, u), q, v)
        return np.sum([p for p, _ in each], axis=0), np.sum([L for _, L in each], axis=0)

    def energies(self, q: Array, v: Array, t: float) -> dict[str, float]:
        """Of all parts and of what acts between them, by name [J]."""
        if self.contact is not None:
            return self.at(State(q, v, t), t).energies(q, v, t)
        out: dict[str, float] = {"kinetic": 0.0}
        between: dict[str, float] = {}
        for e in self.energy_terms:
            between[e.name] = between.get(e.name, 0.0) + e.value(q)
        for own in (*self.each(lambda p, x, u: p.energies(x, u, t), q, v), between):
            for name, value in own.items():
                label = name if name in SHARED else distinct([*(k for k in out if k not in SHARED), name])[-1]
                out[label] = out.get(label, 0.0) + value
        return out

    def pulled(self, vertex: int, target: Array, k: float) -> "Coupled":
        """The same system with a spring ``k`` [N/m] of zero length from a row of `positions` to a point (3,)."""
        held, first = copy(self), 0
        for i, part in enumerate(self.parts):
            count = len(part.positions(part.rest))
            if first <= vertex < first + count and isinstance(part, Pullable):
                pulled = part.pulled(vertex - first, target, k)
                held.parts = (*self.parts[:i], pulled, *self.parts[i + 1 :])
            first += count
        return held

    def rechart(self, state: State) -> State:
        """Every part in coordinates that are far from the end of their range."""
        own = lambda p, q, v: p.rechart(State(q, v, state.t)) if isinstance(p, Charted) else State(q, v, state.t)
        each = self.each(own, state.q, state.v)
        q = self._joined([s.q for s in each])
        return state if np.array_equal(q, state.q) else State(q, self._joined([s.v for s in each]), state.t)

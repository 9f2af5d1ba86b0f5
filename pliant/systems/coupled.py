"""Several parts as one system: q = (q_1, ..., q_k), with contact and attachments over their points.

    M = diag(M_1, ..., M_k)      f = (f_1, ..., f_k) + J^T f_x(x, J v, t)      x = x(q) all points, J = dx/dq

Parts know nothing of each other; what acts between them acts on points, with forces that sum to zero, and reaches the
coordinates through J^T. So it is equal and opposite in the only place where it could be otherwise.
"""

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.abilities import able
from pliant.arrays import Array, IntArray
from pliant.contact.setting import Setting
from pliant.energies.base import Energy, Guarding
from pliant.maps.points import ForceOnPoints, OnPoints, TieSprings, definite, limit_of, tangent_of, tangents_of
from pliant.pattern import added, taken, times
from pliant.state import State
from pliant.systems import coupled_books, coupled_closures, exchange
from pliant.systems.acted import Acted, of_terms, placed
from pliant.systems.base import Part, Quadrature, Weights
from pliant.systems.closures import Closures
from pliant.systems.contact import ContactModel, LiveForce, Terms, Touch
from pliant.systems.coupled_step import NOBODY
from pliant.systems.coupled_velocity import prepared
from pliant.systems.coupling_rows import differences
from pliant.systems.observed import Barring, Restorable
from pliant.systems.parts import Parts
from pliant.systems.points import PartPoints
from pliant.systems.shown import Shown
from pliant.systems.stepped import Contacting, Dissipating, Persistent, Pointwise, Steepness, Summing
from pliant.velocity_step import Linearisation, Prepared


class Coupled(Parts):
    """``parts`` with a ``contact`` model over the points ``rows`` and ``energies`` over all of their points.

    ``ties`` are points that stay together: ``nodes`` and ``weights`` (k, r) with sum_r w_r x_r = 0, in their first
    ``dim`` coordinates. The rigid bodies ``shown`` are met by Eulerian cloth, whose rows are its own.
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
        super().__init__(parts)
        self.contact, self.shown = contact, shown
        count = sum(len(part.positions(part.rest)) for part in parts)
        self.tied, self.dim = ties, dim
        self._met: Setting | None = None  # who touches in a stage
        self._again: Any = None  # how its friction is found anew (`Terms.again`)
        self._swept: tuple[int, ...] = ()  # parts whose inertia is that of points, in a step
        self._since: tuple[Array, float] | None = None  # where a stage with such parts sets out, and its c
        self.ties = None if ties is None else differences(*ties, count, dim)  # B (d k, 3 p): B x = 0
        self.touchable, self.rows = PartPoints(parts, self.slices, rows), rows
        self._energies = tuple(energies)
        self._springs = tuple(OnPoints(e, self.points) for e in energies)
        self.energy_terms: tuple[OnPoints, ...] = self._springs
        live = () if contact is None else [LiveForce(contact, k, contact.setting.n) for k in contact.force_names]
        self.force_terms = tuple(ForceOnPoints(force, self.touchable) for force in live)

    @property
    def between(self) -> tuple[ForceOnPoints, ...]:
        """The forces without a potential that act between the parts."""
        return self.force_terms

    # ------------------------------------------------------------------------------------------------ contact

    def touched(self, state: State) -> State:
        """The points that can touch, and their velocities."""
        x = self.touchable.lift(state.q)
        if self._since is not None:
            return State(x, (x - self._since[0]) / self._since[1], state.t)
        return State(x, times(self.touchable.jacobian(state.q), state.v), state.t)

    def _terms(self) -> Terms:
        """Those of contact in a stage."""
        return Terms(tuple(e.energy for e in self.energy_terms), tuple(f.inner for f in self.force_terms))

    def at(self, start: State, t: float, c: float = 0.0) -> "Coupled":
        """The system of a stage that sets out from ``start`` and ends at t: its contacts are found once, here."""
        parts = self.each(
            lambda p, q, v: p.at(State(q, v, start.t), t, c) if able(p, Contacting) else p, start.q, start.v
        )
        same = all(a is b for a, b in zip(parts, self.parts, strict=True))
        if self.contact is None and same:
            return self
        fixed = copy(self)
        fixed.parts = tuple(parts)
        if self.contact is not None:
            fixed.contact, fixed._met = None, self.contact.setting
            fixed._since = (self.touchable.lift(start.q), c) if self._swept else None
            fixed._act(self.contact.at(self.touched(start), t, c).lasting(c))
        return fixed

    def _act(self, terms: Terms) -> None:
        """Take the terms of contact of one stage."""
        self.energy_terms = (*self._springs, *(OnPoints(e, self.touchable) for e in terms.energies))
        self.force_terms = tuple(ForceOnPoints(f, self.touchable, self._since) for f in terms.forces)
        self._again = terms.again

    def relagged(self, q: Array) -> "tuple[float | None, Coupled | None] | None":
        """How far lagged friction is from the root q of a stage, and the system with that of q."""
        found = None if self._again is None else self._again(self.touchable.lift(q))
        if found is None:
            return None
        lag, terms = found
        if terms is None:
            return lag, None
        fixed = copy(self)
        fixed._act(terms)
        return lag, fixed

    def pointwise(self, start: State, h: float) -> "Coupled":
        held = copy(self)
        own = self.each(
            lambda p, q, v: p.pointwise(State(q, v, start.t), h) if able(p, Pointwise) else p, start.q, start.v
        )
        held.parts = tuple(own)
        held._swept = tuple(k for k, part in enumerate(self.parts) if able(part, Pointwise))
        return held

    def acting(self, q: Array, v: Array, t: float) -> Acted | None:
        """Contact forces on the points in a stage."""
        if self._met is None:
            return None
        here, terms = self.touched(State(q, v, t)), self._terms()
        acted = of_terms(self._met, terms.energies, terms.forces, here.q, here.v)
        return placed(acted, self.rows, self.points.lift(q).reshape(-1, 3))

    def begin(self, q: Array, guess: Array) -> Array:
        """The guess a stage may start from on the way from q: not beyond where contact allows."""
        guards = [e for e in self.energy_terms if able(e.energy, Guarding)]
        if not guards:
            return guess
        still = guess.copy()
        still[self.free] = q[self.free]
        return guess if all(self._passable(e, q, guess) for e in guards) else still

    def _passable(self, term: OnPoints, q: Array, guess: Array) -> bool:
        """Whether the barrier lets its points pass from q to the guess, as they are and along their curved way."""
        x, y = self.touchable.lift(q), self.touchable.lift(guess)
        assert able(term.energy, Guarding)
        return term.energy.begin(x, y, np.arange(len(x))) is y and term.limit(q, guess - q) >= 1.0

    # ------------------------------------------------------------------------------------------------ physics

    def force(self, q: Array, v: Array, t: float) -> Array:
        if self.contact is not None:
            return self.at(State(q, v, t), t).force(q, v, t)
        f = np.concatenate(self.each(lambda p, x, u: p.force(x, u, t), q, v))
        for energy in self.energy_terms:
            f = f - energy.gradient(q)
        for force in self.force_terms:
            f = f + force.force(q, v, t)
        return f

    def force_sizes(self, q: Array, v: Array, t: float) -> Array:
        if self.contact is not None:
            return self.at(State(q, v, t), t).force_sizes(q, v, t)

        def own(part: Any, x: Array, u: Array) -> Array:
            return part.force_sizes(x, u, t) if able(part, Summing) else abs(part.force(x, u, t))

        sizes = np.concatenate(self.each(own, q, v))
        for energy in self.energy_terms:
            sizes = sizes + abs(energy.gradient(q))
        for force in self.force_terms:
            sizes = sizes + abs(force.force(q, v, t))
        return sizes

    def acceleration(self, q: Array, v: Array, t: float) -> Array:
        return coupled_closures.closed_acceleration(self, q, v, t)

    def acceleration_rows(self, q: Array, v: Array, t: float) -> tuple[Array, Array] | None:
        """What closures demand of accelerations."""
        return coupled_closures.acceleration_rows(self, q, v, t)

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
        curved = not psd or bool(self._swept)
        terms, bent = tangents_of(self.energy_terms, self.force_terms, (q, v, t), weights, psd=psd, curved=curved)
        if not psd:
            return added(self.join(blocks), added(terms, bent))
        for k in self._swept:  # what its own inertia and the contacts add is projected together: they balance
            s = self.slices[k]
            own = np.arange(s.start, s.stop)
            blocks[k] = definite(added(blocks[k], taken(bent, own, own)), self.parts[k].weights(q[s]))
        return added(self.join(blocks), terms)

    def persistent_tangent(self, q: Array, v: Array, t: float, weights: Weights, *, psd: bool = True) -> sp.csr_matrix:
        """The tangent without the blocks that couple the two sides of contacts. [QLB2021, sec. 3.3]"""
        if self.contact is not None:
            return self.at(State(q, v, t), t).persistent_tangent(q, v, t, weights, psd=psd)

        def own(part: Any, x: Array, u: Array) -> sp.csr_matrix:
            tangent = part.persistent_tangent if able(part, Persistent) else part.tangent
            return tangent(x, u, t, weights, psd=psd)

        terms = tangent_of(self.energy_terms, self.force_terms, (q, v, t), weights, psd=psd, persistent=True)
        return added(self.join(self.each(own, q, v)), terms)

    # ------------------------------------------------------------------------------------------------ boundary

    def limit(self, q: Array, dq: Array) -> float:
        own = self.each(lambda p, x, dx: p.limit(x, dx), q, dq)
        return min([*own, limit_of(self.energy_terms, q, dq)])

    def closures(self, q: Array, v: Array, t: float) -> Closures | None:
        """Those of the parts, and the points that are tied together."""
        return coupled_closures.closures(self, q, v, t)

    def closure_tangent(self, q: Array, v: Array, t: float, y: Array, w: float) -> tuple[sp.csr_matrix, sp.csr_matrix]:
        return coupled_closures.closure_tangent(self, q, v, t, y, w)

    # ------------------------------------------------------------------------------------------------ velocity step

    def prepare(self, state: State, h: float, memory: Any, how: Linearisation) -> Prepared:
        """The blocks of all parts with the rows of ties and contacts; springs and penalties between them are added."""
        return prepared(self, state, h, memory, how)

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
                if able(new, Restorable):
                    local[owner == k] = new.renumbered(old, local[owner == k])
            return local + starts[1][owner]

        energies = [e.renumbered(renumbered, int(starts[1][-1])) for e in self._energies if isinstance(e, TieSprings)]
        rows = None if self.rows is None else renumbered(self.rows)
        ties = None if self.tied is None else (renumbered(self.tied[0]), self.tied[1])
        return Coupled(parts, self.contact, rows, energies, ties, self.shown, self.dim)

    def restored(self, topology: Sequence[Any]) -> "Coupled":
        """The same system with the meshes that `topology_of` described, one for each part."""
        each = zip(self.parts, topology, strict=True)
        return self.rebuilt(
            tuple(p.restored(own) if own is not None and able(p, Restorable) else None for p, own in each)
        )

    # ------------------------------------------------------------------------------------------------ read-out

    def potential(self, q: Array, t: float) -> float | None:
        return coupled_books.potential(self, q, t)

    def steep(self, q: Array, v: Array, t: float, c: float) -> Steepness | None:
        return coupled_books.steep(self, q, v, t, c)

    def dissipation(self, q: Array, v: Array) -> float:
        """P(v) [W] of the lagged forces of parts and contacts."""
        own = self.each(lambda p, x, u: p.dissipation(x, u) if able(p, Dissipating) else 0.0, q, v)
        return sum(own) + sum(f.dissipation(q, v) for f in self.force_terms if f.lagged)

    def contacts(self, q: Array, v: Array, t: float) -> Touch | None:
        """Points, normals, gaps and forces of all contacts between parts; None for a system without contact."""
        return coupled_books.contacts(self, q, v, t)

    def min_distance(self, q: Array, t: float) -> float | None:
        """The smallest gap [m], negative where things overlap, inf when nothing is near; None without contact."""
        return None if self.contact is None else self.contact.distance(self.touchable.lift(q), t)

    def grain(self) -> float | None:
        return None if self.contact is None else self.contact.setting.grain()

    def crossings(self, q: Array, t: float) -> int | None:
        return self.contact.crossings(self.touchable.lift(q), t) if able(self.contact, Barring) else None

    def pushed(self, before: State, after: State, quadrature: Quadrature) -> float:
        """What moving obstacles did [J]."""
        here = exchange.met(self.contact, self._met, self._terms())
        return 0.0 if here is None else exchange.pushed(here, *self._on_points(before, after, quadrature))

    def pairs(self) -> tuple[tuple[str, str], ...]:
        own = () if self.contact is None else exchange.pairs(self.contact.setting)
        return (*own, *self.shown.pairs())

    def exchanges(self, before: State, after: State, quadrature: Quadrature) -> dict[tuple[str, str], float]:
        here = exchange.met(self.contact, self._met, self._terms())
        return {} if here is None else exchange.exchanges(here, *self._on_points(before, after, quadrature))

    def _on_points(self, before: State, after: State, quadrature: Quadrature) -> tuple[State, State, Quadrature]:
        return self.touched(before), self.touched(after), tuple((self.touched(s), w) for s, w in quadrature)

    def power(self, q: Array, v: Array, t: float) -> dict[str, float]:
        return coupled_books.power(self, q, v, t)

    def energies(self, q: Array, v: Array, t: float) -> dict[str, float]:
        """Of all parts and of what acts between them, by name [J]."""
        return coupled_books.energies(self, q, v, t)

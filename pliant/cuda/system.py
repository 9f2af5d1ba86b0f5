"""Elastodynamics on the device: the same equations, with coordinates that are device arrays.

Elastic energies, springs, constant loads and penalty contact have kernels. What has none (attachments, damping) is
evaluated by its own code on the host, with coordinates copied there and forces copied back; its matrix must lie within
the pattern of the meshes.
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from itertools import chain
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.cuda.coarse import coarse_space
from pliant.cuda.contact import DeviceContact, DeviceTouch, add_touching, mirrored
from pliant.cuda.device import arrays, to_device, to_host
from pliant.cuda.elements import DeviceElastic, grouped
from pliant.cuda.hosted import ForceOnHost, OnHost, require_able
from pliant.cuda.matrix import BlockRows, Diagonal, Matrix, add_diagonal
from pliant.cuda.pcg import DevicePCG
from pliant.cuda.springs import DeviceSprings
from pliant.energies.base import ConstantLoad
from pliant.energies.elastic import Elastic
from pliant.energies.gravity import DeadLoad
from pliant.energies.springs import Springs
from pliant.errors import SceneError
from pliant.forces.base import Lagged
from pliant.state import State
from pliant.systems import exchange
from pliant.systems.acted import Acted, Later, of_terms
from pliant.systems.base import Quadrature, System, Weights
from pliant.systems.contact import LiveForce, Terms
from pliant.systems.elastodynamics import Elastodynamics
from pliant.systems.labels import labels

PRECISE = 1e-6  # relative residual where a matrix takes the place of a factor that is exact on the CPU


class DeviceSystem:
    """`Elastodynamics` on the device; ``host`` is the system it was made from, which shows and records it."""

    symmetric: ClassVar[bool] = True

    def __init__(self, host: Elastodynamics) -> None:
        require_able(host)
        self.host = host
        self.X, self.scale, self.total_mass, self.free_mass = host.X, host.scale, host.total_mass, host.free_mass
        self.free, self._held = to_device(host.free), to_device(host.pins.prescribed)
        self.rest = to_device(host.rest)
        self._mass = to_device(host.nodal_mass)
        self._mask = to_device(np.isin(np.arange(len(host.rest)), host.free).astype(np.float64))
        self._inverse_mass = self._mask / self._mass
        pattern = host.pattern
        indptr = pattern.indptr[::3].astype(np.int64) // 9
        rows = np.repeat(np.arange(len(pattern.indptr) - 1), np.diff(pattern.indptr))
        self._rows = BlockRows(indptr, pattern.indices[(rows % 3 == 0) & (pattern.indices % 3 == 0)] // 3)
        self._hosts = grouped(host.energy_terms)
        self.contact = None if host.contact is None else DeviceContact(host.contact, self._rows)  # type: ignore[arg-type]
        self._terms = Terms((), ())  # of contact in a stage
        self._own = self.energy_terms = tuple(self._energy(group) for group in self._hosts)
        self._forces = tuple(ForceOnHost(f) for f in host.force_terms if not isinstance(f, LiveForce))
        self.force_terms: tuple[Any, ...] = self._forces + (() if self.contact is None else self.contact.live())
        self.linear = DevicePCG(coarse=coarse_space(host.X))
        self.early = replace(self.linear, early=True)
        self._setting = None if host.contact is None else host.contact.setting
        self._still = None if host.pins.moving else self._prescribed(0.0)

    def _energy(self, group: Sequence[Any]) -> Any:
        energy = group[0]
        if isinstance(energy, Elastic):
            return DeviceElastic(group, self._rows)
        if isinstance(energy, Springs):
            return DeviceSprings(energy, self._rows)
        if isinstance(energy, ConstantLoad):
            return DeadLoad(to_device(energy.load), name=energy.name)  # type: ignore[attr-defined]
        return OnHost(energy)

    # ------------------------------------------------------------------------------------------------ contact

    def at(self, start: State, t: float, c: float = 0.0) -> "DeviceSystem":
        """The system of a stage that sets out from ``start`` and ends at t: its contacts are found once, here."""
        return self if self.contact is None else self._touched(self.contact.at(start, t, c).lasting(c))

    def relagged(self, q: Any) -> "tuple[float | None, DeviceSystem | None] | None":
        """How far lagged friction is from the root q of a stage, and the system with that of q."""
        found = None if self._terms.again is None else self._terms.again(q)
        if found is None:
            return None
        lag, terms = found
        return lag, None if terms is None else self._touched(terms)

    def _touched(self, terms: Terms) -> "DeviceSystem":
        fixed = copy(self)
        fixed.contact, fixed._terms = None, terms
        fixed.energy_terms, fixed.force_terms = (*self._own, *terms.energies), (*self._forces, *terms.forces)
        return fixed

    def begin(self, q: Any, guess: Any) -> Any:
        return guess

    def acting(self, q: Any, v: Any, t: float) -> Acted | None:
        """Contact forces on the vertices in a stage; the host finds them when they are asked for."""
        setting, terms = self._setting, self._terms
        if setting is None or self.contact is not None:
            return None
        return Later(lambda: of_terms(setting, *mirrored(terms), to_host(q), to_host(v)))

    def fetch(self, values: Any) -> Array:
        return to_host(values)

    def fetched(self, state: State) -> State:
        return State(to_host(state.q), to_host(state.v), state.t)

    # ------------------------------------------------------------------------------------------------ physics

    def mass(self, q: Any) -> Diagonal:
        return Diagonal(self._mass)

    def inertia(self, q: Any, a: Any) -> Any:
        return self._mass * a

    def weights(self, q: Any) -> Any:
        return self._mass

    def force(self, q: Any, v: Any, t: float) -> Any:
        if self.contact is not None:
            return self.at(State(q, v, t), t).force(q, v, t)
        f = arrays().zeros_like(q)
        for energy in self.energy_terms:
            f -= energy.gradient(q)
        for force in self.force_terms:
            f += force.force(q, v, t)
        return f

    def force_sizes(self, q: Any, v: Any, t: float) -> Any:
        if self.contact is not None:
            return self.at(State(q, v, t), t).force_sizes(q, v, t)
        sizes = arrays().zeros_like(q)
        for energy in self.energy_terms:
            sizes += abs(energy.gradient(q))
        for force in self.force_terms:
            sizes += abs(force.force(q, v, t))
        return sizes

    def acceleration(self, q: Any, v: Any, t: float) -> Any:
        return self._inverse_mass * self.force(q, v, t)

    def march(self, q: Any, v: Any, dt: float, steps: int) -> tuple[Any, Any] | None:
        """``steps`` symplectic Euler steps with one elastic energy and constant loads; None with anything more."""
        energies = [e for e in self.energy_terms if not isinstance(e, DeadLoad)]
        simple = (
            self.contact is None and not self._terms.energies and not self.force_terms and not self.host.pins.moving
        )
        if not simple or len(energies) != 1 or not isinstance(energies[0], DeviceElastic):
            return None
        load = sum((e.load for e in self.energy_terms if isinstance(e, DeadLoad)), arrays().zeros_like(q))
        return energies[0].march(q, v, self._inverse_mass, load, dt, steps)

    def tangent(self, q: Any, v: Any, t: float, weights: Weights, *, psd: bool = True, a: Any = None) -> Matrix:
        if self.contact is not None:
            return self.at(State(q, v, t), t).tangent(q, v, t, weights, psd=psd)
        w_mass, w_damping, w_stiffness = weights
        values = arrays().zeros(self._rows.size)
        for energy in self.energy_terms:
            if isinstance(energy, DeviceElastic | DeviceSprings):
                energy.add_hessian(q, w_stiffness, psd, values)
        for weight, A in self._on_host(q, v, t, weights, psd):
            self._add(weight, A, values)
        add_diagonal(self._rows, values, w_mass, self._mass)
        touching = [term for term in (*self.energy_terms, *self.force_terms) if isinstance(term, DeviceTouch)]
        coupling = add_touching(touching, q, v, weights, psd, values)
        return Matrix(self._rows, values, self._mask, self.free, coupling)

    def _on_host(self, q: Any, v: Any, t: float, weights: Weights, psd: bool) -> list[tuple[float, sp.csr_matrix]]:
        """The matrices of what is evaluated on the host."""
        _, w_damping, w_stiffness = weights
        own = [e.host for e in self.energy_terms if isinstance(e, OnHost)]
        if not own and not self._forces:
            return []
        q, v = to_host(q), to_host(v)
        parts = [(w_stiffness, e.hessian(q, psd=psd)) for e in own]
        for f in (f.host for f in self._forces):
            parts += [(-w_stiffness, f.stiffness(q, v, t)), (-w_damping, f.damping(q, v, t))]
        return parts

    def _add(self, weight: float, A: sp.csr_matrix, values: Any) -> None:
        """values += weight A for a matrix of the host within the pattern."""
        if A.nnz == 0 or weight == 0.0:
            return
        A = sp.coo_matrix(A)
        i, j = A.row.astype(np.int64), A.col.astype(np.int64)
        if not self._rows.holds(i // 3, j // 3):
            what = "a force couples vertices without a common element, which has no place in the device's matrices"
            raise SceneError(what, where='device="cuda"', remedy='use device="cpu"')
        places = self._rows.place(i // 3, j // 3, 3 * (i % 3) + j % 3)
        values[to_device(places)] += to_device(weight * A.data)

    def restrict(self, A: Matrix) -> Matrix:
        return A

    def vertexwise(self, S: sp.csr_matrix) -> Callable[[Any], Any]:
        """r -> S^-1 r of the free coordinates, for a matrix S (n, n) over vertices that acts on every axis alike."""
        values = arrays().zeros(self._rows.size)
        self._add(1.0, sp.kron(S, sp.eye(3), format="coo"), values)
        constant = replace(self.linear, tolerance=PRECISE, patience=0)
        return constant.factor(Matrix(self._rows, values, self._mask, self.free)).solve

    def prescribe(self, q: Any, t: float) -> Any:
        if len(self._held) == 0:
            return q
        q = q.copy()
        q[self._held] = self._prescribed(t) if self._still is None else self._still
        return q

    def _prescribed(self, t: float) -> Any:
        return to_device(self.host.pins.lift(self.host.rest, t)[self.host.pins.prescribed])

    def limit(self, q: Any, dq: Any) -> float:
        return float("inf")

    # ------------------------------------------------------------------------------------------------ read-out

    def potential(self, q: Any, t: float) -> float | None:
        if self.contact is not None:
            return self.at(State(q, arrays().zeros_like(q), t), t).potential(q, t)
        if len(self._lagged()) < len(self.force_terms):
            return None
        return sum(e.value(q) for e in self.energy_terms)

    def dissipation(self, q: Any, v: Any) -> float:
        """P(v) [W] of the lagged forces, which are -dP/dv."""
        return sum((f.dissipation(q, v) for f in self._lagged()), 0.0)

    def _lagged(self) -> list[Lagged]:
        return [f for f in self.force_terms if isinstance(f, Lagged) and f.lagged]

    def positions(self, q: Any) -> Array:
        return self.host.positions(to_host(q))

    def cells(self) -> list[IntArray]:
        return self.host.cells()

    def energies(self, q: Any, v: Any, t: float) -> dict[str, float]:
        if self.contact is not None:
            return self.at(State(q, v, t), t).energies(q, v, t)
        out = {"kinetic": 0.5 * float(v @ (self._mass * v))}
        pressing, _ = mirrored(self._terms)
        hosts, values = [*chain(*self._hosts), *pressing], list[float]()
        for term in self.energy_terms:
            values += term.values(q) if isinstance(term, DeviceElastic) else [term.value(q)]
        known = dict(zip(map(id, hosts), values, strict=True))
        terms = (*self.host.energy_terms, *pressing)
        for label, e in zip(labels(terms), terms, strict=True):
            out[label] = out.get(label, 0.0) + known[id(e)]
        return out

    def momenta(self, q: Any, v: Any) -> tuple[Array, Array]:
        p, x = (self._mass * v).reshape(-1, 3), q.reshape(-1, 3)
        return to_host(p.sum(axis=0)), to_host(arrays().cross(x, p).sum(axis=0))

    def contacts(self, q: Any, v: Any, t: float) -> Any:
        """Points, normals, gaps and forces of all contacts, on the host; None for a system without contact."""
        if self.contact is None:
            return None
        energies, _ = mirrored(self.contact.at(State(q, v, t), t))
        return self.contact.host.touch_of(energies, to_host(q), to_host(v))

    def min_distance(self, q: Any, t: float) -> float | None:
        if self.contact is None:
            return None
        energies, _ = mirrored(self.contact.at(State(q, arrays().zeros_like(q), t), t))
        return min((float(e.contacts(to_host(q)).gaps.min(initial=np.inf)) for e in energies), default=np.inf)

    def grain(self) -> float | None:
        return self.host.grain()

    def pushed(self, before: State, after: State, quadrature: Quadrature) -> float:
        """What obstacles that move did [J]."""
        setting = self._setting
        if setting is None or all(obstacle.motion is None for obstacle in setting.obstacles):
            return 0.0
        ends, done = (self.fetched(before), self.fetched(after)), 0.0
        for s, weight in quadrature:
            terms = Terms(*mirrored(self._terms if self.contact is None else self.contact.at(s, s.t)))
            met = exchange.Met(setting, lambda _, terms=terms: terms)  # type: ignore[misc]
            done += exchange.pushed(met, *ends, [(self.fetched(s), weight)])
        return done


def on_device(system: System) -> DeviceSystem:
    """The system on the device; refuses by name what has no place there."""
    if not isinstance(system, Elastodynamics) or system.reduction is not None:
        what = f"{type(system).__name__} has no kernels on the device"
        remedy = 'soft bodies, membranes and springs run there; use device="cpu"'
        raise SceneError(what, where='device="cuda"', remedy=remedy)
    arrays()
    return DeviceSystem(system)

"""Elastodynamics: M qddot = -sum_i dW_i/dq + sum_j f_j(q, v, t) on the vertices of deformable bodies.

The signs are turned here and nowhere else: energies have Hessians (positive semidefinite when projected), systems have
K = df/dq and D = df/dv (negative semidefinite), and solver matrices are w_M M - w_D D - w_K K.
"""

from collections.abc import Sequence
from copy import copy
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from pliant.abilities import able
from pliant.arrays import Array, IntArray, cross
from pliant.contact.setting import Setting
from pliant.energies.attachment import AttachmentEnergy
from pliant.energies.base import ConstantLoad, Energy, Guarding, Limiting, MarchingEnergy, Pairing
from pliant.energies.gravity import DeadLoad
from pliant.forces.base import Approximating, Force, Lagged, PartlyIndefinite, Rubbing
from pliant.maps.pins import Pin, Pins
from pliant.pattern import Pattern
from pliant.state import State
from pliant.systems import exchange
from pliant.systems.acted import Acted, of_terms
from pliant.systems.base import Quadrature, Weights
from pliant.systems.contact import ContactModel, LiveForce, Terms, Touch
from pliant.systems.joined import Restriction
from pliant.systems.labels import labels
from pliant.systems.masses import Masses
from pliant.systems.observed import Barring
from pliant.systems.patterns import Patterns
from pliant.systems.projected_contact import Projecting
from pliant.systems.row_contact import vertex_step
from pliant.systems.stepped import Reduction
from pliant.velocity_step import Linearisation, Prepared


class Elastodynamics:
    """Vertices ``X (n, d)`` [m] with ``mass`` (nodal masses (n,) [kg] or a consistent (n, n) matrix), energies, forces.

    What depends on the topology alone (patterns, slots, restrictions) is made once. With ``contact`` the system of one
    stage is `at` (contacts detected, obstacles placed); asked directly, it detects where it is asked.
    ``cells`` are the elements of every body, ``reduction`` is what its velocity step does instead of moving every
    vertex.
    """

    symmetric: ClassVar[bool] = True
    _met: Setting | None = None  # who touches in a stage
    _again: Any = None  # how its friction is found anew (`Terms.again`)

    def __init__(
        self,
        X: Array,
        mass: Array | sp.csr_matrix,
        energies: Sequence[Energy],
        forces: Sequence[Force] = (),
        pins: Sequence[Pin] = (),
        contact: ContactModel | None = None,
        cells: Sequence[IntArray] = (),
        reduction: Reduction | None = None,
    ) -> None:
        self.X = np.array(X, dtype=np.float64)
        n, d = self.X.shape
        self.contact, self.reduction = contact, reduction
        self._cells = tuple(cells)
        self._energies, self._forces = tuple(energies), tuple(forces)
        self.energy_terms = self._energies
        live = () if contact is None else tuple(LiveForce(contact, name, n) for name in contact.force_names)
        self.force_terms = self._forces + live
        self.pins = Pins(self.X, pins)
        self.free = self.pins.free
        self.scale = float(np.linalg.norm(np.ptp(self.X, axis=0)))
        self._masses = Masses(mass, d, self.free)
        self.lumped, self.nodal_mass = self._masses.lumped, self._masses.nodal  # lumped, per coordinate [kg]
        self.total_mass = float(self.nodal_mass.sum()) / d  # [kg]
        self.free_mass = float(self.nodal_mass[self.free].sum())
        matrix = self._masses.matrix
        self._patterns = Patterns(matrix, self._energies, self._forces, contact is not None, self.X.ravel())
        self._restriction = Restriction(self.free)
        self._empty = sp.csr_matrix((n * d, n * d))

    @property
    def pattern(self) -> Pattern:
        """Of all matrices, contacts aside."""
        return self._patterns.whole[0]

    def at(self, start: State, t: float, c: float = 0.0) -> "Elastodynamics":
        """The system of a stage that sets out from ``start`` and ends at t: its contacts are found once, here."""
        if self.contact is None:
            return self
        return self._touched(self.contact.at(start, t, c).lasting(c), self.contact.setting)

    def _here(self, q: Array, v: Array, t: float) -> "Elastodynamics":
        """The system whose terms include the contacts of this moment."""
        return self if self.contact is None else self.at(State(q, v, t), t)

    def _touched(self, terms: Terms, met: Setting | None) -> "Elastodynamics":
        fixed = copy(self)  # shares patterns and slots; only the terms differ
        fixed.contact, fixed._met, fixed._again = None, met, terms.again
        fixed.energy_terms = self._energies + terms.energies
        fixed.force_terms = self._forces + terms.forces
        return fixed

    def relagged(self, q: Array) -> "tuple[float | None, Elastodynamics | None] | None":
        """How far lagged friction is from the root q of a stage, and the system with that of q."""
        found = None if self._again is None else self._again(q)
        if found is None:
            return None
        lag, terms = found
        return lag, None if terms is None else self._touched(terms, self._met)

    def acting(self, q: Array, v: Array, t: float) -> Acted | None:
        """Contact forces on the vertices in a stage."""
        return None if self._met is None else of_terms(self._met, self.energy_terms, self.force_terms, q, v)

    def begin(self, q: Array, guess: Array) -> Array:
        """The guess that a stage may start from, moved back towards q as far as contact requires."""
        for energy in self.energy_terms:
            if able(energy, Guarding):
                guess = energy.begin(q, guess, self.free)
        return guess

    def pulled(self, vertex: int, target: Array, k: float) -> "Elastodynamics":
        """The same system with a spring ``k`` [N/m] of zero length from a vertex to a point (3,) [m]: a hand."""
        n, d = self.X.shape
        spring = AttachmentEnergy(n, np.array([vertex]), np.asarray(target)[:d], k)
        return self._with(spring)  # which fills diagonal entries only: every pattern has them

    def loaded(self, load: Array) -> "Elastodynamics":
        """The same system with a constant ``load (N,)`` [N] besides."""
        return self._with(DeadLoad(load))

    def _with(self, energy: Energy) -> "Elastodynamics":
        more = copy(self)
        more.energy_terms = more._energies = (*self._energies, energy)
        return more

    # ------------------------------------------------------------------------------------------------ physics

    def mass(self, q: Array) -> sp.csr_matrix:
        return self._masses.matrix

    def inertia(self, q: Array, a: Array) -> Array:
        return self._masses.times(a)

    def weights(self, q: Array) -> Array:
        return self.nodal_mass

    def force(self, q: Array, v: Array, t: float) -> Array:
        here, f = self._here(q, v, t), np.zeros_like(q)
        for energy in here.energy_terms:
            f -= energy.gradient(q)
        for force in here.force_terms:
            f += force.force(q, v, t)
        return f

    def force_sizes(self, q: Array, v: Array, t: float) -> Array:
        here, sizes = self._here(q, v, t), np.zeros_like(q)
        for energy in here.energy_terms:
            sizes += abs(energy.gradient(q))
        for force in here.force_terms:
            sizes += abs(force.force(q, v, t))
        return sizes

    def acceleration(self, q: Array, v: Array, t: float) -> Array:
        return self.accelerated(q, self.force(q, v, t))

    def accelerated(self, q: Array, f: Array) -> Array:
        """M^-1 f on the free coordinates, zero on the prescribed ones."""
        return self._masses.solve(f)

    def march(self, q: Array, v: Array, dt: float, steps: int) -> tuple[Array, Array] | None:
        """``steps`` symplectic Euler steps in one kernel call: one marching energy, constant loads, nothing else.

        None when the system has anything more (several bodies, damping, moving scripts, consistent mass).
        """
        if self.contact is not None:
            return None
        loads = [e for e in self.energy_terms if able(e, ConstantLoad)]
        others = [e for e in self.energy_terms if not able(e, ConstantLoad)]
        simple = self.lumped and not self.force_terms and not self.pins.moving
        if not simple or len(others) != 1 or not able(others[0], MarchingEnergy):
            return None
        load = sum((e.load for e in loads), np.zeros_like(q))
        return others[0].march(q, v, self._masses.inverse, load, dt, steps)

    def stiffness(self, q: Array, v: Array, t: float, *, psd: bool = False) -> sp.csr_matrix:
        here = self._here(q, v, t)
        parts = [(-1.0, e.hessian(q, psd=psd)) for e in here.energy_terms]
        parts += [(1.0, f.stiffness(q, v, t)) for f in here.force_terms]
        return self.weighted_sum(parts)

    def exact_stiffness(self, q: Array, v: Array, t: float) -> sp.csr_matrix:
        """df/dq, with the parts that forces leave out of their stiffness."""
        here = self._here(q, v, t)
        parts = [(-1.0, e.hessian(q)) for e in here.energy_terms]
        for f in here.force_terms:
            slope = f.exact_stiffness(q, v, t) if able(f, Approximating) else f.stiffness(q, v, t)
            parts.append((1.0, slope))
        return self.weighted_sum(parts)

    def damping(self, q: Array, v: Array, t: float) -> sp.csr_matrix:
        return self.weighted_sum([(1.0, f.damping(q, v, t)) for f in self._here(q, v, t).force_terms])

    def tangent(
        self, q: Array, v: Array, t: float, weights: Weights, *, psd: bool = True, a: Array | None = None
    ) -> sp.csr_matrix:
        here = self._here(q, v, t)
        parts = [(1.0, e.hessian(q, psd=psd)) for e in here.energy_terms]
        if not psd:
            parts += [(-1.0, f.indefinite(q, v, t)) for f in here.force_terms if able(f, PartlyIndefinite)]
        return here._tangent(parts, [f.damping(q, v, t) for f in here.force_terms], (q, v, t), weights)

    def persistent_tangent(self, q: Array, v: Array, t: float, weights: Weights, *, psd: bool = True) -> sp.csr_matrix:
        """The tangent without the blocks that couple the two sides of contact pairs: always the pattern of the meshes.

        H_P of [QLB2021, sec. 3.3], for solvers that correct the rest by iterating.
        """
        here = self._here(q, v, t)
        parts = [
            (1.0, (e.persistent_hessian if able(e, Pairing) else e.hessian)(q, psd=psd)) for e in here.energy_terms
        ]
        damping = [(f.persistent_damping if able(f, Rubbing) else f.damping)(q, v, t) for f in here.force_terms]
        return here._tangent(parts, damping, (q, v, t), weights)

    def _tangent(self, hessians: list[Any], damping: list[Any], at: tuple[Any, ...], weights: Weights) -> sp.csr_matrix:
        w_mass, w_damping, w_stiffness = weights
        parts = [(w_stiffness * w, H) for w, H in hessians]
        for f, D in zip(self.force_terms, damping, strict=True):
            parts += [(-w_stiffness, f.stiffness(*at)), (-w_damping, D)]
        return self.weighted_sum(parts + [(w_mass, self._masses.matrix)])

    def weighted_sum(self, parts: list[tuple[float, sp.csr_matrix]]) -> sp.csr_matrix:
        """sum_k w_k A_k"""
        return self._patterns.weighted_sum(parts)

    # ------------------------------------------------------------------------------------------------ boundary

    def restrict(self, A: sp.csr_matrix) -> sp.csr_matrix:
        return self._restriction(A)

    def prescribe(self, q: Array, t: float) -> Array:
        return self.pins.lift(q, t)

    def limit(self, q: Array, dq: Array) -> float:
        limits = [e.limit(q, dq) for e in self.energy_terms if able(e, Limiting)]
        return min(limits, default=float("inf"))

    # ------------------------------------------------------------------------------------------------ read-out

    def potential(self, q: Array, t: float) -> float | None:
        here = self._here(q, np.zeros_like(q), t)
        if len(here._lagged()) < len(here.force_terms):
            return None
        return sum(e.value(q) for e in here.energy_terms)

    def dissipation(self, q: Array, v: Array) -> float:
        """P(v) [W] of the lagged forces, which are -dP/dv: the part of them in the incremental potential."""
        return sum(f.dissipation(q, v) for f in self._lagged())

    def _lagged(self) -> list[Lagged]:
        return [f for f in self.force_terms if able(f, Lagged) and f.lagged]

    def contacts(self, q: Array, v: Array, t: float) -> Touch | None:
        """Points, normals, gaps and forces of all contacts; None for a system without contact."""
        return None if self.contact is None else self.contact.touch(q, v, t)

    def min_distance(self, q: Array, t: float) -> float | None:
        return None if self.contact is None else self.contact.distance(q, t)

    def corrected(self, before: State, after: State) -> State:
        """``after`` with what contact has to say once a step is done; as it is where contact acts within steps."""
        if not able(self.contact, Projecting):
            return after
        return self.contact.projected(before, after, self.free)

    def grain(self) -> float | None:
        return None if self.contact is None else self.contact.setting.grain()

    def crossings(self, q: Array, t: float) -> int | None:
        return self.contact.crossings(q, t) if able(self.contact, Barring) else None

    def pushed(self, before: State, after: State, quadrature: Quadrature) -> float:
        here = self._contact_terms()
        return 0.0 if here is None else exchange.pushed(here, before, after, quadrature)

    def pairs(self) -> tuple[tuple[str, str], ...]:
        return () if self.contact is None else exchange.pairs(self.contact.setting)

    def exchanges(self, before: State, after: State, quadrature: Quadrature) -> dict[tuple[str, str], float]:
        here = self._contact_terms()
        return {} if here is None else exchange.exchanges(here, before, after, quadrature)

    def _contact_terms(self) -> exchange.Met | None:
        return exchange.met(self.contact, self._met, Terms(self.energy_terms, self.force_terms))

    def positions(self, q: Array) -> Array:
        """Vertex positions (n, 3) [m]; planar systems lie in z = 0."""
        x = q.reshape(len(self.X), -1)
        return x if x.shape[1] == 3 else np.column_stack([x, np.zeros(len(x))])

    @property
    def rest(self) -> Array:
        return self.X.ravel()

    def cells(self) -> list[IntArray]:
        return list(self._cells)

    def point_jacobian(self, q: Array) -> sp.csr_matrix:
        """The identity: coordinates are positions; planar ones have no z."""
        return self._point_jacobian

    @cached_property
    def _point_jacobian(self) -> sp.csr_matrix:
        n, d = self.X.shape
        return sp.csr_matrix(sp.kron(sp.identity(n), sp.eye(3, d)))

    def curvature(self, q: Array, g: Array) -> sp.csr_matrix:
        return self._empty

    def prepare(self, state: State, h: float, memory: Any, how: Linearisation) -> Prepared:
        """The velocity step of the vertices that are not pinned, or of those that lead."""
        return vertex_step(self, self.contact, state, h, how, memory, self.reduction)

    def momenta(self, q: Array, v: Array) -> tuple[Array, Array]:
        x, n = self.positions(q), len(self.X)
        p = self.inertia(q, v).reshape(n, -1)
        p = p if p.shape[1] == 3 else np.column_stack([p, np.zeros(n)])
        return p.sum(axis=0), cross(x, p).sum(axis=0)

    def rigid_rates(self, q: Array) -> Array:
        x, axes = self.positions(q), np.eye(3)
        fields = [np.tile(e, (len(x), 1)) for e in axes] + [np.cross(e, x) for e in axes]
        return np.column_stack([field[:, : self.X.shape[1]].ravel() for field in fields])

    def energies(self, q: Array, v: Array, t: float) -> dict[str, float]:
        here = self._here(q, v, t)
        out = {"kinetic": 0.5 * float(v @ self.inertia(q, v))}
        for label, e in zip(here.labels(), here.energy_terms, strict=True):
            out[label] = out.get(label, 0.0) + e.value(q)
        return out

    def labels(self) -> list[str]:
        return labels(self.energy_terms)

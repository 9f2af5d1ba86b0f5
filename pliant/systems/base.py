"""What a system is: everything an integrator may ask about the physics, and what some systems can do besides.

`System` is what every system has. The other protocols are abilities: a type has one by having its members, whoever
needs one asks with ``isinstance``, and nothing is looked up by name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pliant.arrays import Array, IntArray
from pliant.energies.base import Energy
from pliant.forces.base import Force
from pliant.state import State

Weights = tuple[float, float, float]


class System(Protocol):
    """M(q) qddot = f(q, v, t) with K = df/dq and D = df/dv (both negative semidefinite when projected).

    q holds all coordinates; ``free (n_free,)`` lists those that are solved for and ``prescribe(q, t)`` returns q with
    the others (pins, scripts) at their positions of time t. Where M depends on q, f contains the quadratic velocity
    terms. Matrices are CSR over all coordinates with one constant pattern per system. ``potential`` is None when a
    force without a potential acts.
    """

    free: IntArray
    scale: float  # a length of the size of the system, for tolerances [m]
    total_mass: float  # [kg]
    free_mass: float  # the mass that can move, once per free coordinate of it, for tolerances [kg]

    @property
    def symmetric(self) -> bool:
        """Whether K and D are: what moves on joints has gyroscopic terms, which are not."""
        ...

    def mass(self, q: Array) -> sp.csr_matrix: ...

    def inertia(self, q: Array, a: Array) -> Array:
        """M(q) a."""
        ...

    def weights(self, q: Array) -> Array:
        """A positive inertia for every coordinate, to weigh residuals with: row sums of M for vertices."""
        ...

    def force(self, q: Array, v: Array, t: float) -> Array: ...

    def acceleration(self, q: Array, v: Array, t: float) -> Array:
        """M^-1 f on the free coordinates, zero on the prescribed ones."""
        ...

    def stiffness(self, q: Array, v: Array, t: float, *, psd: bool = False) -> sp.csr_matrix: ...

    def damping(self, q: Array, v: Array, t: float) -> sp.csr_matrix: ...

    def tangent(
        self, q: Array, v: Array, t: float, weights: Weights, *, psd: bool = True, a: Array | None = None
    ) -> sp.csr_matrix:
        """w_M M - w_D D - w_K K for weights (w_M, w_D, w_K), over all coordinates.

        With an acceleration ``a`` where M depends on q, unless ``psd``: K is d(f - M(q) a)/dq.
        """
        ...

    def restrict(self, A: sp.csr_matrix) -> sp.csr_matrix:
        """The rows and columns of the free coordinates."""
        ...

    def prescribe(self, q: Array, t: float) -> Array: ...

    def limit(self, q: Array, dq: Array) -> float:
        """The largest s for which q + s dq is admissible; inf when there is no limit."""
        ...

    def potential(self, q: Array, t: float) -> float | None: ...

    def positions(self, q: Array) -> Array:
        """The points (p, 3) [m] that are seen, touched and recorded."""
        ...

    def cells(self) -> list[IntArray]:
        """Tetrahedra, triangles or segments over the rows of `positions`, one array per body."""
        ...

    def energies(self, q: Array, v: Array, t: float) -> dict[str, float]: ...

    def momenta(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Linear (3,) [kg m/s] and angular momentum (3,) [kg m^2/s] about the origin."""
        ...


@runtime_checkable
class Contacting(Protocol):
    """A system that must look for contacts at the start of every stage.

    ``at(state, t)`` is the system with the contacts found there; its ``begin(q, guess)`` returns the guess, held back
    where the way from q would cross something.
    """

    def at(self, state: State, t: float) -> Any: ...

    def begin(self, q: Array, guess: Array) -> Array: ...


@runtime_checkable
class Persistent(Protocol):
    """A system that can leave out of its tangent what couples the two sides of contacts [QLB2021, sec. 3.3]."""

    def persistent_tangent(
        self, q: Array, v: Array, t: float, weights: Weights, *, psd: bool = True
    ) -> sp.csr_matrix: ...


@runtime_checkable
class Dissipating(Protocol):
    """A system some of whose forces are -dP/dv of a dissipation P [W]."""

    def dissipation(self, q: Array, v: Array) -> float: ...


@runtime_checkable
class Touching(Protocol):
    """A system that knows its contacts: ``contacts`` is None where it has no contact at all."""

    def contacts(self, q: Array, v: Array, t: float) -> Any: ...


@runtime_checkable
class Composed(Protocol):
    """A system whose coordinates are vertex positions, made of energies and forces."""

    X: Array
    energy_terms: Sequence[Energy]
    force_terms: Sequence[Force]


@runtime_checkable
class Stretching(Protocol):
    """A system that tells itself by how much its elements are stretched; of `Composed` ones the energies do."""

    def det(self, q: Array) -> Array:
        """det F (m,) of every element; of a sheet the ratio of its areas."""
        ...


@runtime_checkable
class Pullable(Protocol):
    """A system that a hand can pull at: ``pulled`` is the same one with a spring ``k`` [N/m] to a point (3,)."""

    def pulled(self, vertex: Any, target: Array, k: float) -> Any: ...


@runtime_checkable
class Reshaping(Protocol):
    """A system whose mesh changes while it runs; ``topology`` is what makes this mesh again."""

    def topology(self) -> Any: ...


@runtime_checkable
class Working(Protocol):
    """A system that books the work of forces that are no `force_terms`: ``works`` are their names."""

    works: tuple[str, ...]

    def power(self, q: Array, v: Array, t: float) -> Mapping[str, float]: ...

    def switched(self, q: Array, v: Array, times: tuple[float, float]) -> float: ...


class Part(System, Protocol):
    """One body, or all bodies of one kind, as a part of a coupled system: its points and how they follow q."""

    def point_jacobian(self, q: Array) -> sp.csr_matrix:
        """J (3 p, N): the velocities of the points are J v."""
        ...

    def curvature(self, q: Array, g: Array) -> sp.csr_matrix:
        """d(J(q)^T g)/dq (N, N) for fixed forces ``g (3 p,)`` on the points; empty where J is constant."""
        ...


@dataclass(frozen=True, eq=False)
class Closures:
    """Equality constraints of a moment: ``gap (k,)`` must vanish, with ``G (k, N)`` over all velocities.

    Where ``positional``, gap is an error of positions, d(gap)/dq = G; elsewhere only a rate is prescribed, and gap is
    G v - rate. ``owners (k,)`` say which constraint of the system a row belongs to, ``rate (k,)`` what G v should be.
    """

    gap: Array
    G: sp.csr_matrix
    rate: Array
    positional: NDArray[np.bool_]
    owners: IntArray


@runtime_checkable
class Constrained(Protocol):
    """A system with loops that are closed, motors that prescribe rates, or points that are tied to each other."""

    def closures(self, q: Array, v: Array, t: float) -> Closures | None: ...


@runtime_checkable
class Marching(Protocol):
    """A system that can take many symplectic Euler steps in one compiled call; None where this one cannot."""

    def march(self, q: Array, v: Array, dt: float, steps: int) -> tuple[Array, Array] | None: ...

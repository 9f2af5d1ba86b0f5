"""What a system is: everything an integrator may ask about the physics.

`System` is what every system has. What some can do or tell besides are abilities, small protocols: those for methods
and solvers are in `pliant.systems.stepped`, those for observers in `pliant.systems.observed`, equality constraints in
`pliant.systems.closures`.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

import scipy.sparse as sp

from pliant.abilities import able
from pliant.arrays import Array, IntArray
from pliant.energies.base import Energy
from pliant.forces.base import Force
from pliant.state import State
from pliant.velocity_step import Linearisation, Prepared

Weights = tuple[float, float, float]
Quadrature = Sequence[tuple[State, float]]  # the states at which forces of a step are taken, with their weights


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

        With an acceleration ``a`` where M depends on q, unless ``psd``: K is d(f - M(q) a)/dq. With ``psd`` it is
        symmetric and, where w_M > 0, positive definite.
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

    def energies(self, q: Array, v: Array, t: float) -> dict[str, float]:
        """``kinetic`` and every potential [J], each under a name of its own (see `distinct`)."""
        ...

    def momenta(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Linear (3,) [kg m/s] and angular momentum (3,) [kg m^2/s] about the origin."""
        ...


@runtime_checkable
class Composed(Protocol):
    """A system whose coordinates are vertex positions, made of energies and forces."""

    X: Array
    energy_terms: Sequence[Energy]
    force_terms: Sequence[Force]


@runtime_checkable
class Parted(Protocol):
    """A system made of ``parts`` whose coordinates are ``slices`` of its own, and whose points follow each other.

    ``between`` are the forces without a potential that act between them, over all coordinates.
    """

    parts: Sequence[Any]
    slices: Sequence[slice]

    @property
    def between(self) -> Sequence[Force]: ...


def parts_of(system: System) -> list[tuple[Any, slice]]:
    """The parts of a system with their coordinates; a system without parts is its own."""
    if not able(system, Parted):
        return [(system, slice(None))]
    return list(zip(system.parts, system.slices, strict=True))


class Part(System, Protocol):
    """One body, or all bodies of one kind, as a part of a coupled system: its points and how they follow q."""

    def prepare(self, state: State, h: float, memory: Any, how: Linearisation) -> Prepared: ...

    @property
    def rest(self) -> Array:
        """Coordinates where it was built (N,)."""
        ...

    def point_jacobian(self, q: Array) -> sp.csr_matrix:
        """J (3 p, N): the velocities of the points are J v."""
        ...

    def accelerated(self, q: Array, f: Array) -> Array:
        """M(q)^-1 f on the free coordinates, zero on the prescribed ones."""
        ...

    def curvature(self, q: Array, g: Array) -> sp.csr_matrix:
        """d(J(q)^T g)/dq (N, N) for fixed forces ``g (3 p,)`` on the points; empty where J is constant."""
        ...


def distinct(names: Iterable[str], between: str = " ") -> list[str]:
    """The names, numbered where they are equal: elastic, elastic 2, elastic 3."""
    out: list[str] = []
    taken: set[str] = set()
    for name in names:
        label, k = name, 1
        while label in taken:
            k += 1
            label = f"{name}{between}{k}"
        taken.add(label)
        out.append(label)
    return out

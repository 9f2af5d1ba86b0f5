"""What a system is: everything an integrator may ask about the physics, and what some systems can do besides.

`System` is what every system has. The other protocols are abilities: a type has one by having its members, whoever
needs one asks with ``isinstance``, and nothing is looked up by name.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

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
class Contacting(Protocol):
    """A system that must look for contacts at the start of every stage.

    ``at(state, t, c)`` is the system with the contacts found there, for a stage of velocities (q - base)/c (0: for a
    moment); its ``begin(q, guess)`` returns the guess, held back where the way from q would cross something.
    """

    def at(self, state: State, t: float, c: float = 0.0) -> Any: ...

    def begin(self, q: Array, guess: Array) -> Array: ...


@runtime_checkable
class Lagging(Protocol):
    """A system of a stage whose friction has normal forces found elsewhere than at the root."""

    def relagged(self, q: Array) -> "tuple[float | None, Any] | None":
        """What to do at a root q; None: nothing, nobody asked for it.

        By how much of themselves those normal forces differ from those at q (None: there were none before), and the
        system with friction from these; None in its place where they agree, or were found often enough.
        """
        ...


@runtime_checkable
class Exact(Protocol):
    """A system that knows what its `stiffness` leaves out: K of damping that depends on q, which is not symmetric."""

    def exact_stiffness(self, q: Array, v: Array, t: float) -> sp.csr_matrix:
        """df/dq in full; methods that linearise once per step have their order from it."""
        ...


@runtime_checkable
class Persistent(Protocol):
    """A system that can leave out of its tangent what couples the two sides of contacts [QLB2021, sec. 3.3]."""

    def persistent_tangent(
        self, q: Array, v: Array, t: float, weights: Weights, *, psd: bool = True
    ) -> sp.csr_matrix: ...


@runtime_checkable
class PartlySymmetric(Protocol):
    """A system whose exact tangent is symmetric but for some rows and columns."""

    @property
    def border(self) -> IntArray:
        """These, as numbers (k,) among the free coordinates, ascending."""
        ...


@runtime_checkable
class Dissipating(Protocol):
    """A system some of whose forces are -dP/dv of a dissipation P [W]."""

    def dissipation(self, q: Array, v: Array) -> float: ...


@runtime_checkable
class Summing(Protocol):
    """A system that knows how large the terms of its force are, one by one."""

    def force_sizes(self, q: Array, v: Array, t: float) -> Array:
        """sum_k |f_k| (N,) [N], coordinate by coordinate: what is added up in `force`."""
        ...


@runtime_checkable
class Pointwise(Protocol):
    """A system the inertia of which can be that of its material points, in a step of backward Euler."""

    def pointwise(self, start: State, h: float) -> Any:
        """The system in the step of length h from ``start``: inertia on joints is a force with a potential."""
        ...

    def fitted(self, before: Array, q: Array, h: float) -> Array:
        """The velocities (N,) with which the points move as nearly as can be by (x(q) - x(before))/h."""
        ...


@runtime_checkable
class Steep(Protocol):
    """A system on joints some of whose forces change fast with q by potentials: contact, what is elastic."""

    def steep(self, q: Array, v: Array, t: float, c: float) -> tuple[float, Array] | None:
        """W(q) + c P(v) of these forces, where v changes by dq/c, and its slope; None if others are as steep."""
        ...


@runtime_checkable
class Touching(Protocol):
    """A system that knows its contacts: ``contacts`` is None where it has no contact at all."""

    def contacts(self, q: Array, v: Array, t: float) -> Any: ...


@runtime_checkable
class Acting(Protocol):
    """A system that knows its contact forces in a stage it was made for by `Contacting.at`."""

    def acting(self, q: Array, v: Array, t: float) -> Any:
        """They at q and v, as `pliant.systems.acted.Acted`; None without contact."""
        ...


@runtime_checkable
class Measuring(Protocol):
    """A system that knows how close its surfaces come to each other and to obstacles."""

    def min_distance(self, q: Array, t: float) -> float | None:
        """The least distance [m], negative where things overlap, inf when nothing is near; None without contact."""
        ...


@runtime_checkable
class Correcting(Protocol):
    """A system that corrects where a step has led: contact that puts vertices back onto obstacles."""

    def corrected(self, before: State, after: State) -> State: ...


@runtime_checkable
class Grained(Protocol):
    """A system that can say how fine the surfaces are that touch in it."""

    def grain(self) -> float | None:
        """The mean edge [m] of the finest body that can touch; None without contact."""
        ...


@runtime_checkable
class Barring(Protocol):
    """Something that lets nothing cross, and can be made to prove it."""

    def crossings(self, q: Array, t: float) -> int | None:
        """How many crossings there are, in exact arithmetic; None without a barrier."""
        ...


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
class Gripped(Protocol):
    """A `Pullable` system that carries the hand along when its mesh changes."""

    def grip_point(self, q: Array) -> Array | None:
        """Where it is held (3,) [m]; None when no hand pulls."""
        ...

    def let_go(self) -> Any:
        """The same system without a hand."""
        ...


@runtime_checkable
class Eulerian(Protocol):
    """A system some of whose vertices, ``eol``, also move through the material."""

    eol: IntArray

    def material_point(self, q: Array, vertex: int) -> Array:
        """The point of the material (2,) that is at a vertex now."""
        ...

    def material_points(self, q: Array) -> Array:
        """The points of the material (n, 2) [m] that are at all vertices now."""
        ...


@runtime_checkable
class Jointed(Protocol):
    """A system with joints."""

    def joint_origins(self, x: Array) -> Array:
        """Where the joints are (k, 3) [m] when the points are at x (p, 3)."""
        ...


@runtime_checkable
class Reshaping(Protocol):
    """A system whose mesh changes while it runs; ``topology`` is what makes this mesh again."""

    def topology(self) -> Any: ...


@runtime_checkable
class Restorable(Reshaping, Protocol):
    """A `Reshaping` system that can be made again; points that its attachments need survive all changes."""

    def restored(self, topology: Any) -> Any:
        """The same with the mesh that ``topology`` described."""
        ...

    def renumbered(self, old: Any, points: IntArray) -> IntArray:
        """The numbers that kept ``points (k,)`` of the mesh of ``old`` have in this one."""
        ...


@runtime_checkable
class Working(Protocol):
    """A system that books the work of forces that are no `force_terms`: ``works`` are their names."""

    works: tuple[str, ...]

    def power(self, q: Array, v: Array, t: float) -> Mapping[str, float]: ...

    def switched(self, q: Array, v: Array, times: tuple[float, float]) -> float: ...


@runtime_checkable
class Pushing(Protocol):
    """A system in which obstacles move by scripts."""

    def pushed(self, before: State, after: State, quadrature: Quadrature) -> float:
        """What the obstacles did [J] between two states: their normal forces times their ways."""
        ...


@runtime_checkable
class Exchanging(Protocol):
    """A system made of bodies or parts that do work on each other.

    The two works of a pair sum to zero up to what their contact stores and dissipates.
    """

    def pairs(self) -> Sequence[tuple[str, str]]:
        """Who can do work on whom, (a, b) and (b, a); the names are distinct."""
        ...

    def exchanges(self, before: State, after: State, quadrature: Quadrature) -> dict[tuple[str, str], float]:
        """(a, b) -> the work [J] that a did on b between two states, for the pairs that met."""
        ...


@runtime_checkable
class Parted(Protocol):
    """A system made of ``parts`` whose coordinates are ``slices`` of its own, and whose points follow each other.

    ``between`` are the forces without a potential that act between them, over all coordinates.
    """

    parts: Sequence[Any]
    slices: Sequence[slice]

    @property
    def between(self) -> Sequence[Force]: ...


def parts_of(system: Any) -> list[tuple[Any, slice]]:
    """The parts of a system with their coordinates; a system without parts is its own."""
    if not able(system, Parted):
        return [(system, slice(None))]
    return list(zip(system.parts, system.slices, strict=True))


@runtime_checkable
class Moving(Protocol):
    """A system that knows how its points follow its coordinates."""

    def point_jacobian(self, q: Array) -> sp.csr_matrix: ...


@runtime_checkable
class Floating(Protocol):
    """A system whose coordinates can follow any rigid motion of all of it, where nothing holds it."""

    def rigid_rates(self, q: Array) -> Array:
        """(N, 6): the velocities of q under translations along and rotations about the axes of the world."""
        ...


def topology_of(system: Any) -> Any:
    """What makes the meshes of a system again: None where none has changed, one for each part of a system of parts."""
    if isinstance(system, Parted):
        return tuple(topology_of(part) for part in system.parts)
    return system.topology() if isinstance(system, Reshaping) else None


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

    def placed(self, first: int, size: int) -> "Closures":
        """The same over ``size`` coordinates, of which these start at ``first``."""
        k, n = self.G.shape
        blank = [sp.csr_matrix((k, first)), self.G, sp.csr_matrix((k, size - first - n))]
        return replace(self, G=sp.csr_matrix(sp.hstack(blank)))

    @staticmethod
    def tying(gap: Array, G: sp.csr_matrix) -> "Closures":
        """Rows whose gaps are errors of positions, of nobody's constraint in particular."""
        k = len(gap)
        return Closures(gap, sp.csr_matrix(G), np.zeros(k), np.ones(k, dtype=bool), np.full(k, -1))

    @staticmethod
    def joined(parts: Sequence["Closures"]) -> "Closures":
        """Several sets of rows as one."""
        stack = lambda name: np.concatenate([getattr(p, name) for p in parts])
        G = sp.csr_matrix(sp.vstack([p.G for p in parts]))
        return Closures(stack("gap"), G, stack("rate"), stack("positional"), stack("owners"))


@runtime_checkable
class Constrained(Protocol):
    """A system with loops that are closed, motors that prescribe rates, or points that are tied to each other.

    Its `acceleration` obeys them too: M^-1 (f + G^T lambda), as TRBDF2 and explicit methods need it.
    """

    def closures(self, q: Array, v: Array, t: float) -> Closures | None: ...

    def closure_tangent(self, q: Array, v: Array, t: float, y: Array, w: float) -> tuple[sp.csr_matrix, sp.csr_matrix]:
        """d(G^T y)/dq (N, N) for fixed ``y (k,)`` and d(gap)/dq (k, N), where v changes by w dq.

        Rows that are linear have (0, G) where they are positional and (0, w G) elsewhere.
        """
        ...


@runtime_checkable
class Charted(Protocol):
    """A system whose coordinates are good in a part of their range only: rotations by exponential coordinates."""

    def rechart(self, state: State) -> State:
        """The same motion in other coordinates where these come near the end of their range, else ``state`` itself."""
        ...


@runtime_checkable
class Smooth(Protocol):
    """A system that has a stage and accelerations: what implicit and explicit methods step if its mesh stays."""

    def inertia(self, q: Array, a: Array) -> Array: ...

    def tangent(
        self, q: Array, v: Array, t: float, weights: Weights, *, psd: bool = True, a: Array | None = None
    ) -> sp.csr_matrix: ...

    def acceleration(self, q: Array, v: Array, t: float) -> Array: ...


@runtime_checkable
class Stepping(Protocol):
    """A system that the velocity step can advance; ``memory`` is what its `Moved` of the step before kept."""

    def prepare(self, state: State, h: float, memory: Any, how: Linearisation) -> Prepared:
        """Its block for the step of h [s] that sets out from ``state``."""
        ...


@runtime_checkable
class Rooting(Protocol):
    """A system that solves an ordinary stage by Newton's method in one compiled call."""

    def root(
        self, stage: Any, guess: Array, tolerances: tuple[float, float], iterations: int
    ) -> tuple[Array, Array, float] | None:
        """(z, residuals after every iteration, threshold); None where it is not ordinary, or Newton needs more care.

        ``tolerances`` are the parts of `pliant.solvers.base.Tolerance`, of the scale of the stage.
        """
        ...


@runtime_checkable
class Remote(Protocol):
    """A system whose coordinates are in the memory of a device; ``host`` is the same system on the CPU."""

    host: Any

    def fetch(self, values: Any) -> Array:
        """An array of the device, as one of the CPU."""
        ...

    def fetched(self, state: State) -> State: ...


@runtime_checkable
class Solving(Protocol):
    """A system whose matrices are its own, on a device: only its own linear solver factors them."""

    linear: Any


@runtime_checkable
class Direct(Protocol):
    """A system that takes an ordinary velocity step in one compiled call."""

    def directly(self, state: State, h: float, how: Linearisation) -> tuple[State, Any, float] | None:
        """(state, memory, relative residual) as `prepare`, solve and `finish` give; None where it is not ordinary."""
        ...


class Reduction(Protocol):
    """Another velocity step of the same system, with fewer unknowns."""

    def prepare(self, system: Any, state: State, h: float, memory: Any, how: Linearisation) -> Prepared: ...


@runtime_checkable
class Reducible(Protocol):
    """A system of vertices whose velocity step may have a ``reduction``; None where all of them move by themselves."""

    reduction: Reduction | None


@runtime_checkable
class Marching(Protocol):
    """A system that can take many symplectic Euler steps in one compiled call; None where this one cannot."""

    def march(self, q: Array, v: Array, dt: float, steps: int) -> tuple[Array, Array] | None: ...


def distinct(names: Iterable[str]) -> list[str]:
    """The names, numbered where they are equal: elastic, elastic 2, elastic 3."""
    out: list[str] = []
    taken: set[str] = set()
    for name in names:
        label, k = name, 1
        while label in taken:
            k += 1
            label = f"{name} {k}"
        taken.add(label)
        out.append(label)
    return out

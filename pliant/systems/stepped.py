"""What some systems can do besides `System`, for the methods that step them and the solvers of their stages.

A type has an ability by having its members; whoever needs one asks with ``isinstance``.
"""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.state import State
from pliant.systems.base import Weights
from pliant.velocity_step import Linearisation, Prepared


@runtime_checkable
class Contacting(Protocol):
    """A system that must look for contacts at the start of every stage.

    ``at(state, t, c)`` is the system with the contacts found there, for a stage of velocities (q - base)/c (0: for a
    moment; inf: for an equilibrium, in which nothing has a velocity); its ``begin(q, guess)`` returns the guess, held
    back where the way from q would cross something.
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


Steepness = Callable[[Array, Array], tuple[float, Callable[[], Array]]]
"""(q, v) -> W(q) + c P(v) of some forces, and a function that finds its slope."""


@runtime_checkable
class Steep(Protocol):
    """A system on joints some of whose forces change fast with q by potentials: contact, what is elastic."""

    def steep(self, q: Array, v: Array, t: float, c: float) -> Steepness | None:
        """What these forces cost near (q, v), where v changes by dq/c; None if others are as steep."""
        ...


@runtime_checkable
class Correcting(Protocol):
    """A system that corrects where a step has led: contact that puts vertices back onto obstacles."""

    def corrected(self, before: State, after: State) -> State: ...


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
    """A system whose matrices are its own, on a device: only its own linear solvers factor them.

    ``early`` keeps what it can of the preconditioner of an earlier matrix.
    """

    linear: Any
    early: Any

    def vertexwise(self, S: sp.csr_matrix) -> Callable[[Any], Any]:
        """r -> S^-1 r of the free coordinates, for a matrix S (n, n) over vertices that acts on every axis alike."""
        ...


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

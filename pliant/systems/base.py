"""What a system is: everything an integrator may ask about the physics."""

from typing import Any, Protocol, runtime_checkable

import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.state import State

Weights = tuple[float, float, float]


class System(Protocol):
    """M(q) qddot = f(q, v, t) with K = df/dq and D = df/dv (both negative semidefinite when projected).

    q holds all coordinates; ``free (n_free,)`` lists those that are solved for and ``prescribe(q, t)`` returns q with
    the others (pins, scripts) at their positions of time t. Matrices are CSR over all coordinates with one constant
    pattern per system. ``potential`` is None when a force without a potential acts.
    """

    free: IntArray
    scale: float  # a length of the size of the system, for tolerances [m]

    def mass(self, q: Array) -> sp.csr_matrix: ...

    def force(self, q: Array, v: Array, t: float) -> Array: ...

    def acceleration(self, q: Array, v: Array, t: float) -> Array:
        """M^-1 f on the free coordinates, zero on the prescribed ones."""
        ...

    def stiffness(self, q: Array, v: Array, t: float, *, psd: bool = False) -> sp.csr_matrix: ...

    def damping(self, q: Array, v: Array, t: float) -> sp.csr_matrix: ...

    def tangent(self, q: Array, v: Array, t: float, weights: Weights, *, psd: bool = True) -> sp.csr_matrix:
        """w_M M - w_D D - w_K K for weights (w_M, w_D, w_K), over all coordinates."""
        ...

    def restrict(self, A: sp.csr_matrix) -> sp.csr_matrix:
        """The rows and columns of the free coordinates."""
        ...

    def prescribe(self, q: Array, t: float) -> Array: ...

    def limit(self, q: Array, dq: Array) -> float:
        """The largest s for which q + s dq is admissible; inf when there is no limit."""
        ...

    def potential(self, q: Array, t: float) -> float | None: ...

    def positions(self, q: Array) -> Array: ...

    def energies(self, q: Array, v: Array, t: float) -> dict[str, float]: ...


@runtime_checkable
class Contacting(Protocol):
    """A system that must look for contacts at the start of every stage.

    ``at(state, t)`` is the system with the contacts found there; its ``begin(q, guess)`` returns the guess, held back
    where the way from q would cross something.
    """

    def at(self, state: State, t: float) -> Any: ...

"""The stage: the one nonlinear equation behind every implicit integrator.

    r(q) = M(q) (q - target) - c^2 f(q, (q - base)/c, t) = 0,        A(q) = M - c D - c^2 K

With a = (q - target)/c^2, K is d(f - M(q) a)/dq where the inertia depends on q, as on joints: then f contains the
quadratic velocity terms. With inertia = 0 it is quasistatics: r = -f, A = -K. [Weidner2022, App. C; DESIGN section 2]

Where the system has closures (loops, motors, ties), `pliant.closed_stage` adds their rows.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from pliant.abilities import able
from pliant.arrays import Array, IntArray
from pliant.budget import check_budget
from pliant.linear.base import Places
from pliant.state import State
from pliant.systems.base import Composed, System
from pliant.systems.closures import Closures, Constrained
from pliant.systems.stepped import (
    Contacting,
    Dissipating,
    PartlySymmetric,
    Persistent,
    Rooting,
    Steep,
    Summing,
)

G_EARTH = 9.81  # m/s^2: tolerances of quasistatics are parts of the weight
BLUR = 1e-13  # part of a potential that is round-off


@dataclass(frozen=True, eq=False)
class Stage:
    """The equation above for one solve; z are the free coordinates of q.

    ``frame`` is q with the prescribed coordinates where they belong at the end of the stage and the predictor in the
    free ones; ``start`` is the state the stage sets out from.
    """

    system: System
    c: float
    target: Array
    base: Array
    t: float
    frame: Array
    start: State
    inertia: float = 1.0
    weights: Array = field(init=False, repr=False)
    scale: float = field(init=False)
    definite: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if able(self.system, Contacting):  # detected once per stage, and the guess may not cross anything
            touched = self.system.at(self.start, self.t, self.c if self.inertia else np.inf)
            object.__setattr__(self, "system", touched)
            object.__setattr__(self, "frame", touched.begin(self.start.q, self.frame))
        weights = self.system.weights(self.start.q)[self.system.free]
        length = self.system.scale if self.inertia else G_EARTH
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "scale", length * float(np.sqrt(self.system.free_mass)))

    @property
    def symmetric(self) -> bool:
        """Whether the exact Jacobian is: not where parts move on joints."""
        return self.system.symmetric

    @property
    def border(self) -> IntArray:
        """The unknowns of parts that move on joints."""
        system = self.system
        if able(system, PartlySymmetric):
            return system.border
        return np.arange(0 if system.symmetric else len(system.free))

    def places(self, z: Array) -> Places | None:
        """The vertices whose coordinates the unknowns are, where all of them are in space."""
        system = self.system
        if not able(system, Composed) or system.X.shape[1] != 3:
            return None
        return Places(system.free, self.embed(z).reshape(-1, 3))

    @property
    def inertial(self) -> bool:
        return self.inertia > 0.0

    @property
    def mass(self) -> float:
        return float(self.weights.sum())

    @cached_property
    def pull(self) -> float:
        """|c^2 sum_k |f_k|| where the stage sets out: forces that balance each other count all the same."""
        system, (q, v, t) = self.system, (self.start.q, self.start.v, self.start.t)
        v = v if self.inertia else np.zeros_like(v)
        sizes = system.force_sizes(q, v, t) if able(system, Summing) else system.force(q, v, t)
        return self.c**2 * self.norm(sizes[system.free])

    def embed(self, z: Array) -> Array:
        """All coordinates, from the free ones."""
        q = self.frame.copy()
        q[self.system.free] = z
        return q

    def velocity(self, q: Array) -> Array:
        """v(q) = (q - base)/c; zero in quasistatics, where damping and friction do not act."""
        return (q - self.base) / self.c if self.inertia else np.zeros_like(q)

    def acceleration(self, q: Array) -> Array:
        """(q - target)/c^2, which is M^-1 f at the root, forces of constraints among them."""
        return (q - self.target) / self.c**2

    def closures(self, q: Array) -> Closures | None:
        """The closures at q; None where the system has none."""
        system = self.system
        return system.closures(q, self.velocity(q), self.t) if able(system, Constrained) else None

    def residual(self, z: Array) -> Array:
        check_budget()
        q = self.embed(z)
        r = -(self.c**2) * self.system.force(q, self.velocity(q), self.t)
        if self.inertia:
            r += self.system.inertia(q, q - self.target)
        return r[self.system.free]

    def jacobian(self, z: Array, *, psd: bool = True, coupled: bool = True) -> sp.csr_matrix:
        q = self.embed(z)
        a = (q - self.target) / self.c**2 if self.inertia else None
        return self._jacobian(q, self.velocity(q), psd, coupled, a)

    def start_jacobian(self, *, psd: bool = True, ahead: float = 0.0, coupled: bool = False) -> sp.csr_matrix:
        q, v = self.start.q, self.start.v
        way = ahead * v
        free = min(1.0, 0.9 * self.system.limit(q, way)) if ahead else 0.0  # beyond a barrier there is no matrix
        return self._jacobian(q + free * way, v if self.inertia else np.zeros_like(v), psd, coupled)

    def _jacobian(self, q: Array, v: Array, psd: bool, coupled: bool, a: Array | None = None) -> sp.csr_matrix:
        c, system = self.c, self.system
        weights = (self.inertia, self.inertia * c, c * c)
        if not coupled and able(system, Persistent):
            return system.restrict(system.persistent_tangent(q, v, self.t, weights, psd=psd))
        return system.restrict(system.tangent(q, v, self.t, weights, psd=psd, a=a))

    @property
    def dt(self) -> float:
        """Time from the start to the sought state [s]."""
        return self.t - self.start.t

    def merit(self, z: Array) -> float | None:
        """Phi = 1/2 (q - target)^T M (q - target) + c^2 W(q) + c^3 P(v(q)), P of forces that are -dP/dv.

        None where r is no gradient: without a potential, or where M depends on q.
        """
        q = self.embed(z)
        W = self.system.potential(q, self.t) if self.symmetric else None
        if W is None:
            return None
        d = q - self.target
        phi = 0.5 * self.inertia * float(d @ self.system.inertia(q, d)) + self.c**2 * W
        if self.inertia and able(self.system, Dissipating):
            phi += self.c**3 * self.system.dissipation(q, self.velocity(q))
        return phi

    def guide(self, z: Array, r: Array) -> Callable[[Array], float] | None:
        """Phi with the inertia of the start and the potentials that the system knows, and r - grad Phi as it is at z.

        None where `merit` exists, and where the system does not tell what is steep in it. Changes that round-off may
        have made come from the slopes at both ends. Phi is as exact as its largest terms: elements at rest store
        nothing, and what they cancel to do so is of the order of L^2 m, the square of ``scale``.
        """
        system, free, c = self.system, self.system.free, self.c
        if self.symmetric or not able(system, Steep):
            return None

        q = self.embed(z)
        steep = system.steep(q, self.velocity(q), self.t, c)
        if steep is None:
            return None

        def phi(z: Array) -> tuple[float, Callable[[], Array]]:
            q = self.embed(z)
            d = q - self.target
            pull = self.inertia * system.inertia(self.start.q, d)
            W, slope = steep(q, self.velocity(q))
            return 0.5 * float(d @ pull) + c * c * W, lambda: (pull + c * c * slope())[free]

        here = phi(z)
        slope = here[1]()

        def change(z1: Array) -> float:
            there = phi(z1)
            found = there[0] - here[0] + float((r - slope) @ (z1 - z))
            if abs(found) > BLUR * (abs(there[0]) + abs(here[0]) + self.scale**2):
                return found
            return float((r + 0.5 * (there[1]() - slope)) @ (z1 - z))

        return change

    def root(self, guess: Array, tolerances: tuple[float, float], iterations: int) -> tuple[Array, Array, float] | None:
        """The root by the system's own compiled Newton's method (`Rooting`); None where it has none for this stage."""
        found = able(self.system, Rooting) and self.inertia == 1.0
        return self.system.root(self, guess, tolerances, iterations) if found else None  # type: ignore[attr-defined]

    def norm(self, r: Array) -> float:
        return float(np.sqrt(r @ (r / self.weights)))

    def limit(self, z: Array, dz: Array) -> float:
        dq = np.zeros_like(self.frame)
        dq[self.system.free] = dz
        return self.system.limit(self.embed(z), dq)

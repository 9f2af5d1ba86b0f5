"""The stage: the one nonlinear equation behind every implicit integrator.

    r(q) = M(q) (q - target) - c^2 f(q, (q - base)/c, t) = 0,        A(q) = M - c D - c^2 K

With a = (q - target)/c^2, K is d(f - M(q) a)/dq where the inertia depends on q, as on joints: then f contains the
quadratic velocity terms. With inertia = 0 it is quasistatics: r = -f, A = -K. [Weidner2022, App. C; DESIGN section 2]
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.solvers.base import NonlinearSolver
from pliant.state import SolveReport, State
from pliant.systems.base import Contacting, Dissipating, Persistent, System

G = 9.81  # m/s^2: tolerances of quasistatics are parts of the weight


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

    def __post_init__(self) -> None:
        if isinstance(self.system, Contacting):  # detected once per stage, and the guess may not cross anything
            touched = self.system.at(self.start, self.t)
            object.__setattr__(self, "system", touched)
            object.__setattr__(self, "frame", touched.begin(self.start.q, self.frame))
        weights = self.system.weights(self.start.q)[self.system.free]
        length = self.system.scale if self.inertia else G
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "scale", length * float(np.sqrt(self.system.free_mass)))

    def embed(self, z: Array) -> Array:
        """All coordinates, from the free ones."""
        q = self.frame.copy()
        q[self.system.free] = z
        return q

    def velocity(self, q: Array) -> Array:
        """v(q) = (q - base)/c; zero in quasistatics, where damping and friction do not act."""
        return (q - self.base) / self.c if self.inertia else np.zeros_like(q)

    def residual(self, z: Array) -> Array:
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
        if not coupled and isinstance(system, Persistent):
            return system.restrict(system.persistent_tangent(q, v, self.t, weights, psd=psd))
        return system.restrict(system.tangent(q, v, self.t, weights, psd=psd, a=a))

    @property
    def dt(self) -> float:
        """Time from the start to the sought state [s]."""
        return self.t - self.start.t

    def merit(self, z: Array) -> float | None:
        """Phi = 1/2 (q - target)^T M (q - target) + c^2 W(q) + c^3 P(v(q)), P of forces that are -dP/dv."""
        q = self.embed(z)
        W = self.system.potential(q, self.t)
        if W is None:
            return None
        d = q - self.target
        phi = 0.5 * self.inertia * float(d @ self.system.inertia(q, d)) + self.c**2 * W
        if self.inertia and isinstance(self.system, Dissipating):
            phi += self.c**3 * self.system.dissipation(q, self.velocity(q))
        return phi

    def norm(self, r: Array) -> float:
        return float(np.sqrt(r @ (r / self.weights)))

    def limit(self, z: Array, dz: Array) -> float:
        dq = np.zeros_like(self.frame)
        dq[self.system.free] = dz
        return self.system.limit(self.embed(z), dq)


def solve_stage(stage: Stage, solver: NonlinearSolver, memory: Any) -> tuple[Array, SolveReport, Any]:
    """All coordinates at the root of the stage, from the predictor in its frame; the report; the solver's memory."""
    solution = solver.solve(stage, stage.frame[stage.system.free], memory)
    return stage.embed(solution.z), solution.report, solution.memory

"""The fully implicit stage in joint coordinates [Weidner2022, App. C], with an inertia that depends on q.

    r(q) = M(q) (q - target) - c^2 f(q, (q - base)/c, t)  =  c^2 ID(q, (q - base)/c, (q - target)/c^2, t)

ID is the inverse dynamics, so a residual costs O(n). The Jacobian is taken by complex steps: it contains the derivative
of the inertia exactly, hence Newton converges quadratically; it is not symmetric and is factored by LU.
"""

from dataclasses import dataclass, field
from math import sqrt

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.articulated.system import ArticulatedSystem, complex_jacobian


@dataclass(frozen=True, eq=False)
class ReducedStage:
    """The equation above for one solve, as the shared nonlinear solvers see it; start is q before the step."""

    system: ArticulatedSystem
    c: float
    target: Array
    base: Array
    t: float
    start: Array
    weights: Array = field(init=False, repr=False)
    scale: float = field(init=False)

    def __post_init__(self) -> None:
        weights = self.system.mass(self.start).diagonal()
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "scale", self.system.scale * sqrt(self.system.total_mass))

    @property
    def dt(self) -> float:
        return self.c

    def velocity(self, q: Array) -> Array:
        return (q - self.base) / self.c

    def residual(self, z: Array) -> Array:
        c = self.c
        return c * c * self.system.inverse_dynamics(z, self.velocity(z), (z - self.target) / (c * c), self.t)

    def jacobian(self, z: Array, *, psd: bool = True, coupled: bool = True) -> sp.csr_matrix:
        """dr/dq, exact whatever ``psd`` asks: there is nothing to project in an inertia-dominated matrix."""
        return sp.csr_matrix(complex_jacobian(self.residual, z))

    def start_jacobian(self, *, psd: bool = True, ahead: float = 0.0, coupled: bool = False) -> sp.csr_matrix:
        return self.jacobian(self.start + ahead * self.velocity(self.target))

    def merit(self, z: Array) -> float | None:
        return None

    def norm(self, r: Array) -> float:
        return float(np.sqrt(r @ (r / self.weights)))

    def limit(self, z: Array, dz: Array) -> float:
        return np.inf

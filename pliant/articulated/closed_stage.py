"""The fully implicit stage of an articulated system with closed loops, coupled joints or prescribed motion.

    M(q) (q - target) - c^2 f - G^T Lambda = 0,     g(q, t) = 0   or   c (G v - rate) = 0  where only the rate is given

Positions are met exactly, so nothing drifts and nothing is stabilised; Lambda = c^2 lambda, with lambda the constraint
forces. One equation over z = (q, Lambda) for the shared nonlinear solvers; its matrix is symmetric but indefinite where
the stage's own is symmetric.
"""

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.articulated.constraints.rows import Rows
from pliant.articulated.reduced_stage import ReducedStage
from pliant.articulated.system import ArticulatedSystem, complex_jacobian, refuse_inequalities
from pliant.articulated.tree import Kinematics
from pliant.state import State


@dataclass(frozen=True, eq=False)
class ClosedStage:
    """The equation above for one solve; ``free`` is the stage without constraints."""

    free: ReducedStage
    owners: tuple[int, ...] = field(init=False)  # the constraint of each row
    weights: Array = field(init=False, repr=False)
    scale: float = field(init=False)

    def __post_init__(self) -> None:
        refuse_inequalities(self.free.system, "fully implicit articulated step")
        q = self.free.start
        kin, rows = self.rows(q)
        G = _stack(kin, rows)
        inertia = self.free.system.mass(q).toarray()
        inverse_masses = np.einsum("kr,rk->k", G, np.linalg.solve(inertia, G.T))  # seen by the rows
        object.__setattr__(self, "owners", tuple(r.owner for r in rows for _ in r.g))
        object.__setattr__(self, "weights", np.concatenate([self.free.weights, inverse_masses]))
        object.__setattr__(self, "scale", self.free.scale)

    @property
    def c(self) -> float:
        return self.free.c

    @property
    def dt(self) -> float:
        return self.free.dt

    def split(self, z: Array) -> tuple[Array, Array]:
        """(q, Lambda)."""
        n = len(self.free.start)
        return z[:n], z[n:]

    def joined(self, q: Array) -> Array:
        """z with the coordinates q and no constraint forces."""
        return np.concatenate([q, np.zeros(len(self.owners))])

    def rows(self, q: Array) -> tuple[Kinematics, list[Rows]]:
        """Where the bodies are at q, and the constraints there."""
        kin = self.free.system.kinematics(q, self.free.velocity(q))
        return kin, self.free.system.rows(kin, self.free.t, inequality=False)

    def residual(self, z: Array) -> Array:
        q, multipliers = self.split(z)
        kin, rows = self.rows(q)
        G = _stack(kin, rows)
        rate = self.c * (G @ kin.v - np.concatenate([r.rate for r in rows]))
        positional = np.concatenate([np.full(len(r.g), r.positional) for r in rows])
        gap = np.where(positional, np.concatenate([r.g for r in rows]), rate)
        return np.concatenate([self.free.residual(q) - G.T @ multipliers, gap])

    def jacobian(self, z: Array, *, psd: bool = True, coupled: bool = True) -> sp.csr_matrix:
        """dr/dz, exact; every entry is stored, zeros included, so that solvers find the diagonal."""
        n = len(z)
        values = complex_jacobian(self.residual, z).ravel()
        return sp.csr_matrix((values, np.tile(np.arange(n), n), n * np.arange(n + 1)), shape=(n, n))

    def start_jacobian(self, *, psd: bool = True, ahead: float = 0.0, coupled: bool = False) -> sp.csr_matrix:
        return self.jacobian(self.joined(self.free.start + ahead * self.free.velocity(self.free.target)))

    def merit(self, z: Array) -> float | None:
        return None

    def norm(self, r: Array) -> float:
        """sqrt(r^T M^-1 r) over the motion and sqrt(g^T (G M^-1 G^T)^-1 g), row by row, over the constraints."""
        n = len(self.free.start)
        free, gap = r[:n], r[n:]
        return float(np.sqrt(free @ (free / self.weights[:n]) + gap @ (gap / self.weights[n:])))

    def limit(self, z: Array, dz: Array) -> float:
        return np.inf


def _stack(kin: Kinematics, rows: list[Rows]) -> Array:
    """G (k, nr) of all rows over the joint rates."""
    return np.concatenate([kin.project_rows(r.G) if r.maximal else r.G for r in rows])


def consistent_velocity(system: ArticulatedSystem, state: State) -> Array:
    """v after the impulses that make it agree with the constraints: min |u - v|_M, G u = rate.

    A method that remembers velocities must not remember one from before a motor was switched on.
    """
    kin = system.kinematics(state.q, state.v)
    rows = system.rows(kin, state.t, inequality=False)
    if not rows:
        return state.v
    G = _stack(kin, rows)
    X = np.linalg.solve(system.mass(state.q).toarray(), G.T)
    gap = np.concatenate([r.rate for r in rows]) - G @ state.v
    return state.v + X @ np.linalg.lstsq(G @ X, gap, rcond=1e-12)[0]

"""A stage with closures (loops, motors, ties), whose rows are met exactly at the new positions by multipliers:

r(q) - G^T Lambda = 0,      gap(q, t) = 0   or, where only a rate is prescribed,   c (G v - rate) = 0
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from pliant.abilities import able
from pliant.arrays import Array, IntArray
from pliant.errors import SceneError
from pliant.linear.lu import LU
from pliant.stage import G_EARTH, Stage
from pliant.state import Reactions, SolveReport, State
from pliant.systems.base import System
from pliant.systems.closures import Closures, Constrained
from pliant.systems.supports import script_rates


@dataclass(frozen=True, eq=False)
class ClosedStage:
    """A stage with closures: z = (free coordinates, Lambda), Lambda = c^2 times the constraint forces."""

    free: Stage
    closures: Closures  # where the stage sets out from: how many rows there are, and what they weigh
    weights: Array = field(init=False, repr=False)
    symmetric: ClassVar[bool] = False
    definite: ClassVar[bool] = False

    def __post_init__(self) -> None:
        free, rows = self.free, self.closures
        if not free.inertia and not rows.positional.all():
            remedy = "prescribe its position too, or use BDF1"
            raise SceneError("a constraint prescribes a rate only", where="Quasistatic", remedy=remedy)
        G = rows.G[:, free.system.free]
        seen = np.asarray(G.multiply(G) @ (1.0 / free.weights)).ravel()  # inverse masses
        seen[seen == 0.0] = 1.0 / free.system.free_mass  # rows that nothing can change
        if not free.inertia:  # lengths as parts of the size, like forces as parts of the weight
            seen *= (free.system.scale / G_EARTH) ** 2
        object.__setattr__(self, "weights", np.concatenate([free.weights, seen]))

    @property
    def scale(self) -> float:
        return self.free.scale

    @property
    def c(self) -> float:
        return self.free.c

    @property
    def inertial(self) -> bool:
        return self.free.inertial

    @property
    def mass(self) -> float:
        return self.free.mass

    @property
    def pull(self) -> float:
        return self.free.pull

    @property
    def dt(self) -> float:
        return self.free.dt

    @property
    def border(self) -> IntArray:
        """Joints, and the multipliers behind all coordinates."""
        n = len(self.free.system.free)
        return np.concatenate([self.free.border, n + np.arange(len(self.closures.gap))])

    def joined(self, z: Array) -> Array:
        """z of this stage with no constraint forces."""
        return np.concatenate([z, np.zeros(len(self.closures.gap))])

    def split(self, z: Array) -> tuple[Array, Array]:
        """(free coordinates, Lambda)."""
        n = len(z) - len(self.closures.gap)
        return z[:n], z[n:]

    def at(self, q: Array) -> Closures:
        found = self.free.closures(q)
        assert found is not None
        return found

    def residual(self, z: Array) -> Array:
        free, multipliers = self.split(z)
        rows = self.at(self.free.embed(free))
        pull = (rows.G.T @ multipliers)[self.free.system.free]
        return np.concatenate([self.free.residual(free) - pull, self._scaled(rows) * rows.gap])

    def jacobian(self, z: Array, *, psd: bool = True, coupled: bool = True) -> sp.csr_matrix:
        """dr/dz; with ``psd`` the system's own part is projected. Its diagonal is stored, zeros included.

        It is 1 for closures that nothing can change, as of pinned vertices that are tied, so that there is a factor.
        """
        free, multipliers = self.split(z)
        q, where = self.free.embed(free), self.free.system.free
        assert able(self.free.system, Constrained)
        rate = 1.0 / self.c if self.free.inertia else 0.0
        curved, gaps = self.free.system.closure_tangent(q, self.free.velocity(q), self.free.t, multipliers, rate)
        rows = self.at(q)
        A = self.free.jacobian(free, psd=psd, coupled=coupled) - curved[where][:, where]
        B = sp.diags(self._scaled(rows)) @ gaps[:, where]
        k = np.arange(len(rows.gap))
        idle = np.asarray(abs(B).sum(axis=1)).ravel() == 0.0
        corner = sp.csr_matrix((idle.astype(np.float64), (k, k)), shape=(len(k), len(k)))
        return sp.csr_matrix(sp.bmat([[A, -rows.G[:, where].T], [B, corner]]))

    def start_jacobian(self, *, psd: bool = True, ahead: float = 0.0, coupled: bool = False) -> sp.csr_matrix:
        q = (self.free.start.q + ahead * self.free.start.v)[self.free.system.free]
        return self.jacobian(self.joined(q), psd=psd, coupled=coupled)

    def merit(self, z: Array) -> float | None:
        return None

    def norm(self, r: Array) -> float:
        """sqrt(r^T M^-1 r) over the motion and sqrt(g^T (G M^-1 G^T)^-1 g) over the closures, both row by row."""
        n = len(r) - len(self.closures.gap)
        free, gap = r[:n], r[n:]
        return float(np.sqrt(free @ (free / self.weights[:n]) + gap @ (gap / self.weights[n:])))

    def limit(self, z: Array, dz: Array) -> float:
        return self.free.limit(self.split(z)[0], self.split(dz)[0])

    def reactions(self, q: Array, multipliers: Array) -> Reactions:
        """The constraint forces at the root."""
        rows, forces = self.at(q), multipliers / self.c**2
        scripted = self.free.velocity(q)
        scripted[self.free.system.free] = 0.0
        return Reactions(rows.owners, forces, float(rows.rate @ forces), -float(forces @ (rows.G @ scripted)))

    def _scaled(self, rows: Closures) -> Array:
        """Rates times c are lengths like the gaps."""
        return np.where(rows.positional, 1.0, self.c)


def consistent(system: System, state: State) -> State:
    """The state after the impulses that make its velocities agree with the closures: min |u - v|_M, G u = rate.

    A method that remembers velocities must not remember one from before a motor was switched on, and one that finds
    accelerations alone would never get rid of it.
    """
    if not able(system, Constrained) or system.closures(state.q, state.v, state.t) is None:
        return state
    G, b = velocity_rows(system, state.q, state.v, state.t)
    X = LU().factor(system.restrict(system.mass(state.q))).solve(G[:, system.free].T)
    v = state.v.copy()
    v[system.free] += X @ np.linalg.lstsq(G[:, system.free] @ X, b - G @ state.v, rcond=1e-12)[0]
    return State(state.q, v, state.t)


def velocity_rows(system: Any, q: Array, v: Array, t: float) -> tuple[Array, Array]:
    """(G, b) with G u = b for the velocities u that agree with closures: free ones are found, prescribed ones stay v.

    Where scripts are about to move otherwise than v says, b makes up for it.
    """
    rows = system.closures(q, v, t)
    held = np.ones(len(q), dtype=bool)
    held[system.free] = False
    return rows.G.toarray(), rows.rate + rows.G @ np.where(held, v - script_rates(system, q, t), 0.0)


def require_flat(system: System, state: State, method: str) -> None:
    """Refuse closures on which a method of stage order 1, or one that extrapolates, loses its order.

    Where rows curve or move, the first stage from exact velocities finds about half of the force that bends the path:
    forces are wrong in the first digit, velocities of order 1; those of the midpoint rule swing ever higher.
    """
    if not able(system, Constrained):
        return
    rows = system.closures(state.q, state.v, state.t)
    if rows is None:
        return
    curved, _ = system.closure_tangent(state.q, state.v, state.t, np.ones(len(rows.gap)), 0.0)
    if curved.data.any() or rows.rate[rows.positional].any():
        what = f"{method} loses its order on loops and ties that curve or move"
        raise SceneError(what, where="scene.integrator", remedy="use BDF1, BDF2 or TRBDF2")


def closure_work(*solves: tuple[float, SolveReport]) -> dict[str, float]:
    """The work [J] of closures that prescribe rates, and of scripts against closures; {} without any.

    From the time [s] that each solve stands for.
    """
    known = [(time, report.reactions) for time, report in solves if report.reactions is not None]
    if len(known) < len(solves):
        return {}
    return {"motors": sum(t * r.power for t, r in known), "scripts": sum(t * r.scripts for t, r in known)}


def motor_power(system: Any, q: Array, v: Array, t: float) -> float:
    """The power [W] of closures that prescribe rates, at a state: G^T lambda is what M a has beyond the forces."""
    rows = system.closures(q, v, t)
    if rows is None or not rows.rate.any():
        return 0.0
    pull = system.inertia(q, system.acceleration(q, v, t)) - system.force(q, v, t)
    return float(rows.rate @ np.linalg.lstsq(rows.G.T.toarray(), pull, rcond=1e-12)[0])

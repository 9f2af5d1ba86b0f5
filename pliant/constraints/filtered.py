"""Mass modification: directions of single particles whose change of velocity is prescribed inside an implicit step.

    S (A dv - b) = 0,   (I - S) dv = z,      A = M - h D - h^2 K,   b = h (f + h K v + K y)

S keeps the free directions of every particle: I, I - p p^T, I - p p^T - q q^T or 0. Conjugate gradients with the filter
after every product and every preconditioning solve this without refactoring when the constraints change.
[BaraffWitkin1998, sec. 5; Ledwon2024, sec. 3.3.3]
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.errors import SceneError
from pliant.linear.threads import one_thread
from pliant.state import Counts, SolveReport, State, Step
from pliant.systems.base import System
from pliant.velocity_step import change_of_momentum


class Filtered(NamedTuple):
    """The change of velocity (N,), the constraint force times h at the filtered particles, iterations, residual, and
    the tolerance that it is held against.
    """

    dv: Array
    reaction: Array
    iterations: int
    residual: float
    tolerance: float


@dataclass(frozen=True, eq=False)
class Directions:
    """``vertices (p,)`` may not move along the rows of ``axes (p, r, 3)``: r = 1, 2 or 3 orthonormal directions each.

    A row of zeros constrains nothing. ``change (p, 3)`` [m/s] is the prescribed change of velocity in the constrained
    directions, zero by default.
    """

    vertices: IntArray
    axes: Array
    change: Array | None = None

    def __post_init__(self) -> None:
        axes = np.asarray(self.axes, dtype=np.float64)
        gram = axes @ axes.transpose(0, 2, 1)
        diagonal = np.einsum("prr->pr", gram)
        bad = np.flatnonzero(np.abs(gram - diagonal[:, :, None] * np.eye(axes.shape[1])).max(axis=(1, 2)) > 1e-10)
        bad = np.union1d(bad, np.flatnonzero((np.minimum(np.abs(diagonal), np.abs(diagonal - 1)) > 1e-10).any(axis=1)))
        if len(bad):
            raise SceneError(
                f"the directions of vertex {np.asarray(self.vertices)[bad[0]]} are not orthonormal",
                where="Directions.axes",
                remedy="give unit vectors at right angles, or zeros",
            )

    def keep(self, u: Array) -> Array:
        """S u: the constrained components removed."""
        u = u.reshape(-1, 3).copy()
        part = u[self.vertices]
        u[self.vertices] = part - np.einsum("pr,prd->pd", np.einsum("prd,pd->pr", self.axes, part), self.axes)
        return u.ravel()

    def prescribed(self, N: int) -> Array:
        """z (N,): the prescribed change, in constrained directions only."""
        z = np.zeros(N)
        if self.change is not None:
            z.reshape(-1, 3)[self.vertices] = self.change
        return z - self.keep(z)


def filtered_pcg(
    A: sp.csr_matrix, b: Array, directions: Directions, *, tolerance: float = 1e-6, max_iterations: int | None = None
) -> Filtered:
    """Modified conjugate gradients, preconditioned with diag(A), stopped at |r| <= tolerance |S b| in that norm."""
    P = A.diagonal()
    dv = directions.prescribed(len(b))
    b_free = directions.keep(b)
    threshold = tolerance**2 * float(b_free @ (b_free / P))
    r = directions.keep(b - A @ dv)
    c = directions.keep(r / P)
    error, k = float(r @ c), 0
    limit = 2 * len(b) if max_iterations is None else max_iterations
    while error > threshold and k < limit:
        k += 1
        q = directions.keep(A @ c)
        a = error / float(c @ q)
        dv += a * c
        r -= a * q
        s = r / P
        error, previous = float(r @ s), error
        c = directions.keep(s + (error / previous) * c)
    return Filtered(dv, A @ dv - b, k, float(np.sqrt(max(error, 0.0))), float(np.sqrt(threshold)))


def filtered_step(
    system: System,
    state: State,
    h: float,
    directions: Directions,
    *,
    shift: Array | None = None,
    tolerance: float = 1e-6,
) -> tuple[State, Filtered]:
    """One linearly implicit Euler step; ``shift (N,)`` [m] moves constrained particles to their targets besides h v."""
    q, v, t = state.q, state.v, state.t
    A = system.tangent(q, v, t + h, (1.0, h, h * h))
    b = change_of_momentum(system, A, q, v, t + h, h)
    y = np.zeros_like(q) if shift is None else shift
    if shift is not None:
        b += h * (system.stiffness(q, v, t + h, psd=True) @ y)
    found = filtered_pcg(A, b, directions, tolerance=tolerance)
    v = v + found.dv
    return State(q + h * v + y, v, t + h), found


@dataclass(frozen=True, eq=False)
class FilteredEuler:
    """Linearly implicit Euler by filtered conjugate gradients: no factorization, whatever is held.

    ``sliding`` vertices (of the scene) do not move along the direction ``along``: they slide in planes across it. Pins
    are filtered too, with the velocities that their scripts ask for. The residual is that of the conjugate gradients.
    """

    sliding: IntArray | None = None
    along: tuple[float, float, float] = (0.0, 0.0, 1.0)
    tolerance: float = 1e-6
    order: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if not np.linalg.norm(self.along) > 0.0:
            raise SceneError(f"along is {self.along}", where="FilteredEuler.along", remedy="give a direction")
        if not 0.0 < self.tolerance < 1.0:
            remedy = "use a number in (0, 1)"
            raise SceneError(f"tolerance is {self.tolerance}", where="FilteredEuler.tolerance", remedy=remedy)

    @one_thread()
    def step(self, system: System, state: State, h: float, memory: Any = None) -> Step:
        if system.positions(state.q).size != state.q.size or state.q.size % 3:
            remedy = "use LinearlyImplicit"
            raise SceneError("only vertices in space can be filtered", where="FilteredEuler", remedy=remedy)
        end, found = filtered_step(system, state, h, self.directions(system, state, h), tolerance=self.tolerance)
        converged = found.residual <= found.tolerance
        message = "" if converged else "the conjugate gradients did not converge; reduce h"
        counts = Counts(forces=1, fills=1, inner=found.iterations)
        report = SolveReport(converged, found.iterations, found.residual, found.tolerance, counts, message=message)
        return Step(State(system.prescribe(end.q, end.t), end.v, end.t), None, (report,))

    def directions(self, system: System, state: State, h: float) -> Directions:
        """What may not move freely in a step: prescribed coordinates and sliding vertices."""
        v = state.v.reshape(-1, 3)
        held = np.ones(state.q.size, dtype=bool)
        held[system.free] = False
        held = held.reshape(v.shape)
        sliding = np.zeros(0, dtype=np.int64) if self.sliding is None else np.unique(self.sliding)
        bad = sliding[(sliding < 0) | (sliding >= len(v))]
        if len(bad):
            remedy = f"use 0..{len(v) - 1}"
            raise SceneError(f"vertex {bad[0]} does not exist", where="FilteredEuler.sliding", remedy=remedy)
        if held[sliding].any():
            first = sliding[held[sliding].any(axis=1)][0]
            raise SceneError(f"vertex {first} is pinned", where="FilteredEuler.sliding", remedy="choose free vertices")
        pinned = np.flatnonzero(held.any(axis=1))
        axes = np.zeros((len(pinned) + len(sliding), 3, 3))
        axes[: len(pinned)] = held[pinned, :, None] * np.eye(3)
        axes[len(pinned) :, 0] = np.asarray(self.along) / np.linalg.norm(self.along)
        scripted = ((system.prescribe(state.q, state.t + h) - state.q) / h).reshape(v.shape)
        change = np.concatenate([scripted[pinned], np.zeros((len(sliding), 3))])
        vertices = np.concatenate([pinned, sliding])
        return Directions(vertices, axes, change - v[vertices])

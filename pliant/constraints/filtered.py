"""Mass modification: directions of single particles whose change of velocity is prescribed inside an implicit step.

    S (A dv - b) = 0,   (I - S) dv = z,      A = M - h D - h^2 K,   b = h (f + h K v + K y)

S keeps the free directions of every particle: I, I - p p^T, I - p p^T - q q^T or 0. Conjugate gradients with the filter
after every product and every preconditioning solve this without refactoring when the constraints change.
[BaraffWitkin1998, sec. 5; Ledwon2024, sec. 3.3.3]
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.errors import SceneError
from pliant.state import State
from pliant.systems.base import System
from pliant.velocity_step import change_of_momentum


class Filtered(NamedTuple):
    """The change of velocity (N,), the constraint force times h at the filtered particles, iterations, residual."""

    dv: Array
    reaction: Array
    iterations: int
    residual: float


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
    return Filtered(dv, A @ dv - b, k, float(np.sqrt(max(error, 0.0))))


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

"""One step of SIERE, once its modes are known: matrices, the modes' own motion, the rest by linearly implicit Euler.

The formulas are in `pliant.integrators.siere`. [Chen2019, Eq. 6.1-6.8]
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from pliant.arrays import Array
from pliant.integrators import modal
from pliant.integrators.explicit import scripted_velocity
from pliant.linear.base import Factor
from pliant.state import State, Transient
from pliant.systems.base import System

INVARIANT = 1e-6  # |D U - M U D_r| relative to |D U| below which damping leaves the modes uncoupled
WEAK = 0.25  # h^2 D_mc A_cc^-1 D_cm below which damping may couple modes that are damped exactly with the rest
SINGULAR = -0.5  # h^2 lam below which the right-hand side is made orthogonal to the modes before the solve


@dataclass(frozen=True, eq=False)
class Matrices:
    """A = M + h D + h^2 K and the force over the free coordinates; K acts through A, which was assembled once."""

    A: sp.csr_matrix
    D: sp.csr_matrix | None
    m: Array  # row sums of M
    mass: tuple[sp.csr_matrix, sp.csr_matrix]  # over all, and over the free coordinates
    f: Array
    ramp: Array  # rate of change of f by the scripted coordinates [N/s]
    v: Array
    scripted: Array
    h: float

    def M(self, x: Array) -> Array:
        M = self.mass[1]
        if M.nnz == len(self.m):
            return self.m * x if x.ndim == 1 else self.m[:, None] * x
        return M @ x

    def step_forces(self, x: Array) -> Array:
        """h^2 K x."""
        y = self.A @ x - self.M(x)
        return y if self.D is None else y - self.h * (self.D @ x)

    def K(self, x: Array) -> Array:
        return self.step_forces(x) / self.h**2

    def implicit(self) -> Array:
        """h f - h^2 K v: the right-hand side of linearly implicit Euler for the change of the velocities."""
        return self.h * (self.f + self.h * self.ramp) - self.step_forces(self.v)


def assemble(system: System, state: State, h: float, *, psd: bool, mass: Transient) -> Matrices:
    """Everything a step needs, with forces of time t + h and one assembly."""
    q, t, free = state.q, state.t + h, system.free
    v = scripted_velocity(system, state, h)
    f = system.force(q, v, t)
    tangent = system.tangent(q, v, t, (1.0, h, h * h), psd=psd)
    damping = system.damping(q, v, t)
    M = system.mass(q)
    pair = mass.value if mass.value is not None and mass.value[0] is M else (M, system.restrict(M))
    moving = v.copy()
    moving[free] = 0.0
    ramp = np.zeros(len(free))
    if moving.any():  # prescribed coordinates move through the tangent: (h^2 K + h D) w, of which f holds D w already
        ramp = -(tangent @ moving - M @ moving + h * (damping @ moving))[free] / (h * h)
    D = -system.restrict(damping) if damping.nnz else None
    m = np.asarray(pair[1].sum(axis=1)).ravel()
    return Matrices(system.restrict(tangent), D, m, pair, f[free], ramp, v[free], v, h)


def increment(x: Matrices, factor: Factor, U: Array, lam: Array, y: Array) -> tuple[Array, Array]:
    """(dq, dv) of the step in the module's docstring; ``y`` is the linearly implicit change of the velocities."""
    h = x.h
    if not len(lam):
        return h * (x.v + y), y
    MU = x.M(U)
    a, c = MU.T @ x.v, U.T @ (x.f + 0.5 * h * x.ramp)
    if x.D is None:
        y_q, y_v = modal.undamped(lam, a, c, h)
    else:
        DU = x.D @ U
        Dr = U.T @ DU
        across = DU - MU @ Dr
        if np.abs(across).max() > INVARIANT * np.abs(DU).max():
            return coupled(x, factor, (U, MU, lam), (a, c), (Dr, across))
        y_q, y_v = modal.damped(lam, Dr, a, c, h)
    if h * h * lam[0] < SINGULAR:
        y = factor.solve(x.implicit() - MU @ (U.T @ x.implicit()))
    w = y - U @ (MU.T @ y)
    return U @ y_q + h * (x.v - U @ a + w), U @ y_v + w


def coupled(
    x: Matrices,
    factor: Factor,
    modes: tuple[Array, Array, Array],
    load: tuple[Array, Array],
    damping: tuple[Array, Array],
) -> tuple[Array, Array]:
    """(dq, dv) where damping couples modes and rest: if weakly, that of the modes is exact, else all is implicit."""
    (U, MU, lam), (a, c), (Dr, across), h = modes, load, damping, x.h
    weak = weakly_coupled(x, factor, across)
    y_q, y_v = modal.damped(lam, Dr, a, c, h) if weak else modal.undamped(lam, a, c, h)
    rhs = x.implicit() - MU @ (U.T @ x.implicit()) + MU @ y_v
    y = split_solve(factor, MU, h * h * np.diag(lam) + (h * Dr if weak else 0.0), rhs)
    y_m = MU.T @ y
    if not weak:  # the way follows what damping has left of the velocities
        y_q = y_q + h * (y_m - y_v)
    return U @ y_q + h * (x.v - U @ a + y - U @ y_m), y


def weakly_coupled(x: Matrices, factor: Factor, across: Array) -> bool:
    """Whether the damping ``across`` (n, s) = D_cm leaves the split definite, h^2 D_mc A^-1 D_cm < WEAK; M, which is
    less than A, is tried first."""
    for inverse in (lambda B: B / x.m[:, None], factor.solve):
        if x.h**2 * np.linalg.norm(across.T @ inverse(across), 2) < WEAK:
            return True
    return False


def split_solve(factor: Factor, W: Array, C: Array, g: Array) -> Array:
    """y with (A - W C W^T) y = g, by Woodbury with W's columns as further right-hand sides [Chen2019, Eq. 6.8]."""
    both = factor.solve(np.column_stack([g, W]))
    y, X = both[:, 0], both[:, 1:]
    return y + X @ np.linalg.solve(np.eye(len(C)) - C @ (W.T @ X), C @ (W.T @ y))


class Indefinite:
    """The LU factor of a matrix that Cholesky refuses: K had modes below -1/h^2."""

    memory, analysed, inner = None, True, 0

    def __init__(self, A: sp.csr_matrix) -> None:
        self._lu = splu(sp.csc_matrix(A))

    def solve(self, b: Array) -> Array:
        return self._lu.solve(b)

"""Descent methods: a direction, a line search, repeat. [Ledwon2024, sec. 3.2]

Each minimises the incremental potential of a stage (variational implicit Euler) or any smooth function given as a
`Function`. They are the textbook baselines; `Newton` and `QLB` are the ones to use. Newton with the PSD fix of the
thesis is ``Newton(project="on_demand")``, which works on the same stages and functions.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.clock import Clock
from pliant.solvers.base import NoMatrix, Solution, StageLike, Tolerance, check_options, require_definite
from pliant.solvers.newton import finish, row, start_trial
from pliant.solvers.pairs import Pairs
from pliant.solvers.wolfe import StrongWolfe
from pliant.state import Counts


class Function:
    """A plain function R^n -> R with its derivatives, as a stage: every nonlinear solver can minimise it."""

    c = 1.0
    dt = 0.0
    scale = 1.0
    pull = 1.0
    mass = 1.0
    inertial = False
    symmetric = True
    definite = True

    def __init__(
        self,
        n: int,
        value: Callable[[Array], float],
        gradient: Callable[[Array], Array],
        hessian: Callable[[Array], Array] | None = None,
    ) -> None:
        self.weights = np.ones(n)
        self._value, self._gradient, self._hessian = value, gradient, hessian

    def merit(self, z: Array) -> float:
        return float(self._value(z))

    def residual(self, z: Array) -> Array:
        return self._gradient(z)

    def jacobian(self, z: Array, *, psd: bool = True, coupled: bool = True) -> sp.csr_matrix:
        """The Hessian; with ``psd`` its negative eigenvalues are replaced by zero."""
        if self._hessian is None:
            raise NoMatrix("this Function was given no Hessian")
        H = np.asarray(self._hessian(z))
        if psd:
            w, Q = np.linalg.eigh(H)
            H = (Q * np.maximum(w, 0.0)) @ Q.T
        full = np.indices(H.shape).reshape(2, -1)  # zeros are stored: the pattern must not depend on the values
        return sp.csr_matrix((H.ravel(), full), shape=H.shape)

    def start_jacobian(self, *, psd: bool = True, ahead: float = 0.0, coupled: bool = False) -> sp.csr_matrix:
        return self.jacobian(np.zeros(len(self.weights)), psd=psd)

    def norm(self, r: Array) -> float:
        return float(np.linalg.norm(r))

    def limit(self, z: Array, dz: Array) -> float:
        return float("inf")


class InverseHessian(Protocol):
    """An approximation of the inverse Hessian that learns from accepted steps."""

    def apply(self, r: Array) -> Array: ...

    def learn(self, s: Array, y: Array) -> None: ...


class DenseInverse:
    """H <- (I - rho s y^T) H (I - rho y s^T) + rho s s^T, rho = 1/(s.y). [Ledwon2024, Eq. 3.14, corrected]

    It starts as a multiple of M^-1, scaled by the first pair.
    """

    def __init__(self, weights: Array) -> None:
        self.H = np.diag(1.0 / weights)
        self._fresh = True

    def apply(self, r: Array) -> Array:
        return self.H @ r

    def learn(self, s: Array, y: Array) -> None:
        sy = float(s @ y)
        if not sy > 1e-12 * float(np.linalg.norm(s)) * float(np.linalg.norm(y)):
            return
        if self._fresh:
            self.H *= sy / float(y @ (self.H @ y))
            self._fresh = False
        Hy = self.H @ y
        cross = np.outer(s, Hy)
        self.H += ((sy + float(y @ Hy)) / sy**2) * np.outer(s, s) - (cross + cross.T) / sy


class LimitedInverse:
    """The two-loop recursion over the last m pairs, on M^-1 times the length that the newest pair suggests.

    With m = 0 the direction is the gradient in the norm of the mass, which does not depend on the density of the mesh.
    """

    def __init__(self, weights: Array, m: int) -> None:
        self._pairs = Pairs(m)
        self._weights, self._length = weights, 1.0

    def apply(self, r: Array) -> Array:
        return self._pairs.apply(r, lambda b: self._length * b / self._weights)

    def learn(self, s: Array, y: Array) -> None:
        self._pairs.update(s, y)
        sy = float(s @ y)
        if sy > 0.0:
            self._length = sy / float(y @ (y / self._weights))


def descend(
    stage: StageLike,
    guess: Array,
    inverse: InverseHessian,
    search: StrongWolfe,
    tolerance: Tolerance,
    max_iterations: int,
) -> Solution:
    """z <- z - a H r with a by strong Wolfe; falls back to -M^-1 r where H r does not descend."""
    clock = Clock()
    now = start_trial(stage, guess, clock)
    goal = tolerance.goal(stage, now.norm)
    counts, history = Counts(forces=1), [row(0, now, 0.0)]
    message = ""
    k = 0
    while now.norm > goal.threshold and k < max_iterations:
        k += 1
        dz = -inverse.apply(now.r)
        if not float(dz @ now.r) < 0.0:
            dz = -now.r / stage.weights
        first = 1.0 if k > 1 else min(1.0, 1.0 / float(abs(dz).sum()))  # a gradient has no length of its own
        with clock("force"):
            found = search.search(stage, now, dz, first)
        if found is None:
            message = f"no acceptable step in iteration {k}"
            break
        counts += Counts(forces=found.evaluations)
        inverse.learn(found.z - now.z, found.r - now.r)
        now = found
        history.append(row(k, now, now.t))
    return finish(stage, now, goal, k, counts, clock, history, message, None)


@dataclass(frozen=True)
class BFGS:
    """Dense quasi-Newton: superlinear, O(n^2) memory; for small systems. [Ledwon2024, Alg. 3]"""

    tolerance: Tolerance = Tolerance()
    line_search: StrongWolfe = StrongWolfe()
    max_iterations: int = 5_000

    def __post_init__(self) -> None:
        check_options(self)

    def solve(self, stage: StageLike, guess: Array, memory: Any = None) -> Solution:
        require_definite(stage, self)
        return descend(stage, guess, DenseInverse(stage.weights), self.line_search, self.tolerance, self.max_iterations)


@dataclass(frozen=True)
class LBFGS:
    """Quasi-Newton from the last ``m`` secant pairs, without any matrix. [Ledwon2024, Alg. 4-5]"""

    m: int = 5
    tolerance: Tolerance = Tolerance()
    line_search: StrongWolfe = StrongWolfe()
    max_iterations: int = 50_000

    def __post_init__(self) -> None:
        check_options(self)

    def solve(self, stage: StageLike, guess: Array, memory: Any = None) -> Solution:
        require_definite(stage, self)
        inverse = LimitedInverse(stage.weights, self.m)
        return descend(stage, guess, inverse, self.line_search, self.tolerance, self.max_iterations)


def SteepestDescent(**options: Any) -> LBFGS:
    """z <- z - a M^-1 r: linear at the rate of the condition number, for comparison only. [Ledwon2024, sec. 3.2.1]"""
    return LBFGS(m=0, **{"line_search": StrongWolfe(c2=0.1), **options})

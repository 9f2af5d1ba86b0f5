"""The step of `LinearlyImplicit` on the tape: one linear system, whose matrix depends on where it is made.

    R(u; q, v) = M (u - v) - h D (u - v) - beta h^2 K(q) u - h f(q, v, t + h) = 0,     q' = q + h u

Its derivative contains that of K. Where K is minus a Hessian, the third derivative is symmetric in all its arguments,
so y^T (dK/dq) u along every direction is one difference of matrices along u, applied to y.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from pliant.adjoint.moment import Moment
from pliant.adjoint.operations import Algebra, by_columns
from pliant.adjoint.parameters import Parameters
from pliant.adjoint.tape import Vector
from pliant.arrays import Array, IntArray
from pliant.bodies import Rayleigh
from pliant.errors import SceneError
from pliant.forces.base import Approximating, Force
from pliant.integrators.linearly_implicit import LinearlyImplicit
from pliant.scene import Scene
from pliant.state import State
from pliant.systems.elastodynamics import Elastodynamics

STEP = 1e-5  # of the size of the system, for differences of stiffness matrices


@dataclass(frozen=True, eq=False)
class LinearMoment(Moment):
    """-R as a function of the system: c2 = h, d = u - v, and beta h^2 K u besides."""

    beta: float = 1.0

    def g(self, system: Elastodynamics) -> Array:
        q, v, t, h, d = self.q, self.v, self.t, self.c2, self.d
        out = h * system.force(q, v, t) - system.inertia(q, d)
        out += h * (system.damping(q, v, t) @ d) + self.beta * h * h * (system.stiffness(q, v, t) @ (v + d))
        return np.asarray(out)


@dataclass(eq=False)
class SteppedLinearly:
    """The velocities u after a step from ``start``; inputs are q and v."""

    system: Elastodynamics
    start: State
    h: float
    beta: float
    u: Array
    inputs: tuple[Vector, ...]
    algebra: Algebra

    @property
    def _held(self) -> IntArray:
        return np.setdiff1d(np.arange(len(self.u)), self.system.free)

    @property
    def _t(self) -> float:
        return self.start.t + self.h

    @property
    def moment(self) -> Moment:
        s = self.start
        return LinearMoment(s, s.q, s.v, self._t, self.h, self.u - s.v, beta=self.beta)

    def _matrix(self) -> sp.csr_matrix:
        s, h = self.start, self.h
        return self.system.tangent(s.q, s.v, self._t, (1.0, h, self.beta * h * h), psd=False)

    def _turned(self, way: Array, x: Array) -> Array:
        """beta h^2 dK/dq[way] x."""
        size = float(np.abs(way).max(initial=0.0))
        if size == 0.0:
            return np.zeros_like(x)
        e = STEP * self.system.scale / size
        high, low = (self.system.stiffness(self.start.q + s * way, self.start.v, self._t) @ x for s in (e, -e))
        return np.asarray(self.beta * self.h**2 * (high - low) / (2.0 * e))

    def tangent(self, changes: Sequence[Array], parameters: Parameters, rates: Array) -> Array:
        q, v = changes
        s, h, free = self.start, self.h, self.system.free
        A, K = self._matrix(), self.system.exact_stiffness(s.q, s.v, self._t)
        b = by_columns(lambda x: self._turned(x, self.u), q) + h * (K @ q)
        b += by_columns(lambda x: self.system.inertia(s.q, x), v) + parameters.along(self.moment, rates)
        u = np.zeros_like(b)
        u[self._held] = ((parameters.placed(self._t, rates) - q) / h)[self._held]
        b = b - A @ u
        u[free] = self.algebra.solve(self.system.restrict(A), b[free], symmetric=True)
        return u

    def adjoint(self, bar: Array, parameters: Parameters, into: Array) -> Sequence[Array]:
        s, h, free = self.start, self.h, self.system.free
        A, K = self._matrix(), self.system.exact_stiffness(s.q, s.v, self._t)
        y, held = np.zeros_like(bar), np.zeros_like(bar)
        y[free] = self.algebra.solve(self.system.restrict(A), bar[free], symmetric=True)
        parameters.gather(self.moment, y, into)
        held[self._held] = (bar - A.T @ y)[self._held] / h
        parameters.gather_placed(self._t, held, into)
        return self._turned(self.u, y) + h * (K.T @ y) - held, self.system.inertia(s.q, y)


def require_linear_step(scene: Scene) -> None:
    """Refuse linearly implicit steps whose matrix is no Hessian."""
    integrator = scene.integrator
    if not isinstance(integrator, LinearlyImplicit):
        return
    remedy = "use LinearlyImplicit(psd=False), or BDF1"
    if integrator.psd or integrator.variant != "A" or integrator.matrix is not None:
        raise SceneError("only its own unprojected matrix has an adjoint", where="LinearlyImplicit.psd", remedy=remedy)
    system = scene.system()
    plain = scene.contact is None and isinstance(system, Elastodynamics)
    if not plain or any(b.damping is not None and not constant(b.damping) for b in scene.deformables()):
        what = "only elastic bodies with constant damping, without contact, have an adjoint of this step"
        raise SceneError(what, where="scene.integrator", remedy="use BDF1 or BDF2")
    for force in system.force_terms:
        if _follows(force, system, float(scene.duration)):
            what = f"the force '{force.name}' follows the shape and has no potential"
            raise SceneError(f"{what}: no adjoint of this step", where="scene.forces", remedy="use BDF1 or BDF2")


def _follows(force: Force, system: Elastodynamics, duration: float) -> bool:
    """Whether df/dx is not symmetric at some time: of the air always, of a pressure on what is not closed."""
    if not isinstance(force, Approximating):
        return False
    rng = np.random.default_rng(0)
    x, v = (system.X.ravel() + 0.01 * system.scale * rng.normal(size=system.X.size), rng.normal(size=system.X.size))
    for t in np.linspace(0.0, duration, 5):
        whole = force.exact_stiffness(x, v, t)
        if abs(whole - force.stiffness(x, v, t)).max() > 1e-9 * abs(whole).max():
            return True
    return False


def constant(damping: object) -> bool:
    """Whether a choice of damping has a matrix that stays."""
    return isinstance(damping, Rayleigh) and not damping.current

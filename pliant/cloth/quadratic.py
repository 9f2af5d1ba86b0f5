"""The quadratic programme of a step of cloth, and how far its model of the energy can be trusted."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.cloth.collide import feature_body
from pliant.cloth.surroundings import Scenery
from pliant.state import State

if TYPE_CHECKING:
    from pliant.cloth.system import EolCloth

TRUST = 0.01  # of the kinetic and stored energy: what a step may store beyond its model
SHORT = 1e-3  # of the time that a wave needs to cross the cloth: steps are not made shorter than that
REST = 1e-3  # m/s: slower cloth is at rest, and all that differs is rounding


@dataclass(frozen=True, eq=False)
class StepModel:
    """U(q + h u) ~ U(q) - h f . u - h^2/2 u . K u: the potential of the cloth as its step sees it, K projected.

    In the model a step creates no energy, however long it is: what appears is what the model leaves out. That is little
    as long as faces turn and shrink little. Where a mesh vertex slides towards the next one in the material, and where
    cloth is stopped at speed, it may be more than all the cloth has.
    """

    state: State
    M: sp.csr_matrix
    K: sp.csr_matrix
    force: Array

    def holds(self, cloth: "EolCloth", u: Array, h: float) -> bool:
        """Whether moving with u for h [s] stores hardly more than the model says: TRUST of the energy of the cloth."""
        if h <= SHORT * cloth.scale * np.sqrt(cloth.material.rho / cloth.material.E):
            return True
        q, v = self.state.q, self.state.v
        before, after = (cloth.potentials(cloth.unpack(x, u)) for x in (q, q + h * u))
        expected = -h * (self.force @ u) - 0.5 * h * h * (u @ (self.K @ u))
        missed = sum(after.values()) - sum(before.values()) - expected
        kinetic = 0.5 * max(u @ (self.M @ u), v @ (self.M @ v), cloth.total_mass * REST**2)
        return bool(missed <= TRUST * (kinetic + before["membrane"] + before["bending"]))


def assemble(
    cloth: "EolCloth", state: State, scenery: Scenery, h: float, beta: float
) -> tuple[sp.csr_matrix, Array, StepModel]:
    """A = M - beta h^2 K and b = M v + h f (+ h f_v), with a trace of drag that keeps A definite; the model in them.

    Where the cloth is almost flat, a feature vertex could slide in the world and back in the material at no cost; a
    thousandth of its own mass, tied to its obstacle, makes it stay on the feature. On a live body, which would not feel
    the drag, the thousandth is an inertia in the material: that takes no momentum.
    """
    q, v, t = state.q, state.v, state.t
    M, K, f = cloth.mass(q), cloth.stiffness(q, v, t, psd=True), cloth.force(q, v, t)
    diagonal = M.diagonal()
    drag = np.full(len(q), 1e-9 * diagonal.mean())
    n, body = 3 * len(cloth.sheet.X), feature_body(cloth.sheet.feature[cloth.eol], scenery)
    script, live = np.flatnonzero(body < scenery.live), np.flatnonzero(body >= scenery.live)
    tied = (3 * cloth.eol[script][:, None] + np.arange(3)).ravel()
    flowing = (n + 2 * live[:, None] + np.arange(2)).ravel()
    drag[tied], drag[flowing] = 1e-3 * diagonal[tied], 1e-3 * diagonal[flowing]
    A = cloth.combined(M.data - beta * h * h * K.data, drag)
    b = cloth.momentum(q, v) + h * f
    b[tied] += drag[tied] * scenery.velocity(body[script], cloth.positions(q)[cloth.eol[script]]).ravel()
    b[flowing] += drag[flowing] * v[flowing]
    return A, b + h * cloth.quadratic_velocity(q, v) if cloth.method.qvv else b, StepModel(state, M, K, f)

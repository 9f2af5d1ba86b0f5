"""Links in a step of backward Euler whose inertia is that of their material points.

    W(q) = 1/(2 h^2) sum_p m_p |x_p(q) - x~_p|^2,      x~ = x(q_n) + h J(q_n) v_n + h^2 g

is a potential in the joint coordinates, as it is in the positions of a mesh [Li2020, Eq. 1]. Its gradient is the
inertial force M(q) a + (terms of the squared velocities) to the order of the method. So a step is a minimum, however
far links turn in it. M(q) (q - q_n - h v_n) is no gradient in joint coordinates, and where links turn by half a radian
in a step its derivative is far from M: in a chain hit by others, parts of it between -4 M and 25 M were seen.

A link has the inertia of four points: its center, and one a metre along each of its principal axes, by which it turns:

    1/2 m |p - p~|^2 + 1/2 sum_i s_i |R e_i - a~_i|^2,      s_i = (I_1 + I_2 + I_3)/2 - I_i
"""

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.articulated.islands import complex_step
from pliant.articulated.loads import Loads
from pliant.articulated.points import LinkPoints
from pliant.articulated.system import ArticulatedSystem
from pliant.articulated.tree import Kinematics
from pliant.pattern import added
from pliant.state import State
from pliant.systems.base import Weights


class PointwiseLinks:
    """The ``links`` of a system in the step of length h from ``start``: inertia and gravity are forces of a potential.

    So `inertia` has the armatures of joints only. Where nothing else acts on the links, the force is a gradient.
    """

    def __init__(self, links: ArticulatedSystem, start: State, h: float) -> None:
        self.links, self._h = links, h
        self.symmetric = not links.forces
        # what has nothing to do with inertia is that of the links
        self.free, self.rest, self.scale = links.free, links.rest, links.scale
        self.total_mass, self.free_mass = links.total_mass, links.free_mass
        self.mass, self.weights, self.positions = links.mass, links.weights, links.positions
        self.restrict, self.prescribe, self.limit = links.restrict, links.prescribe, links.limit
        self.closures, self.closure_tangent = links.closures, links.closure_tangent
        self._centers = LinkPoints.of_frames(links.tree, links.trees)
        kin = links.kinematics(start.q, start.v)
        x = self._centers.positions(kin) + h * (self._centers.jacobian(kin) @ start.v).reshape(-1, 3)
        self._goal = x + h * h * links.gravity

    def _pulls(self, q: Array) -> tuple[float, Array]:
        """h^2 W(q), and its slope (12 n,) over the points of the links."""
        d = self._centers.positions(self._at(q)) - self._goal
        g = momenta(self.links.tree.inertia, d)
        return 0.5 * float(g @ d.ravel()), g

    def _at(self, q: Array) -> Kinematics:
        return self.links.kinematics(q, np.zeros_like(q))

    def _applied(self, q: Array, v: Array, t: float) -> Array:
        """What springs, dampers and motors do (nr,)."""
        links = self.links
        if not links.forces:
            return np.zeros(len(q))
        kin = links.kinematics(q, v)
        loads = Loads(kin, links.quirks)
        for force in links.forces:
            force.add(loads, kin, t)
        maximal, reduced = loads.damping_force(kin)
        return kin.apply_transpose(loads.f + maximal) + loads.f_r + reduced

    def inertia(self, q: Array, a: Array) -> Array:
        return self.links.tree.armature * a

    def force(self, q: Array, v: Array, t: float) -> Array:
        J = self._centers.jacobian(self._at(q))
        return self._applied(q, v, t) - J.T @ self._pulls(q)[1] / self._h**2

    def force_sizes(self, q: Array, v: Array, t: float) -> Array:
        """Without the inertia, which is no force elsewhere."""
        return abs(self.links.force(q, v, t))

    def potential(self, q: Array, t: float) -> float | None:
        return None if self.links.forces else self._pulls(q)[0] / self._h**2

    def tangent(
        self, q: Array, v: Array, t: float, weights: Weights, *, psd: bool = True, a: Array | None = None
    ) -> sp.csr_matrix:
        """With ``psd`` too it is exact: `Coupled` projects it with what contact forces add."""
        w_mass, w_damping, w_stiffness = weights
        w = w_stiffness / self._h**2
        A = w * self.mass(q)
        armature = self.links.tree.armature
        if w_mass != w and armature.any():  # its inertia is no potential; in this step the weights are equal
            A = added(A, sp.csr_matrix(sp.diags_array(armature)), w_mass - w)
        A = added(A, self._centers.curvature(self._at(q), self._pulls(q)[1]), w)
        if not self.links.forces:
            return A
        moved = lambda e: -self._applied(q + w_stiffness * e, v + w_damping * e, t)
        return added(A, self.links.islands.matrix(complex_step(moved)))


def momenta(inertia: Array, d: Array) -> Array:
    """The mass matrix of the points times ``d (4 n, 3)``, flat."""
    d = d.reshape(-1, 4, 3)
    spread = 0.5 * inertia[:, :3].sum(axis=1, keepdims=True) - inertia[:, :3]
    axes = spread[:, :, None] * (d[:, 1:] - d[:, :1])
    center = inertia[:, 5, None] * d[:, 0] - axes.sum(axis=1)
    return np.concatenate([center[:, None], axes], axis=1).ravel()


def swept(system: ArticulatedSystem, before: Array, q: Array) -> Array:
    """J(q)^T M (x(q) - x(before)) + R (q - before) (nr,) over the material points and the rotors."""
    centers = LinkPoints.of_frames(system.tree, system.trees)
    here, there = (system.kinematics(x, np.zeros_like(x)) for x in (q, before))
    d = centers.positions(here) - centers.positions(there)
    return centers.jacobian(here).T @ momenta(system.tree.inertia, d) + system.tree.armature * (q - before)

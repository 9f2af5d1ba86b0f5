"""An articulated system: the tree, what acts on it, what restricts it [Weidner2022, ch. 3].

    (J^T M J + R) a = f_r + J^T (f_m - M Jdot v)

Generalised coordinates are the joint coordinates; f_m holds Coriolis, gravity and all maximal wrenches; R is diagonal,
the armature of the joints.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.articulated import _kernels as kernels
from pliant.articulated import measures
from pliant.articulated.assembly import Assembly, Gaps, check_inertia, inverse_inertia
from pliant.articulated.closures import (
    check_closures,
    closed_acceleration,
    closure_tangent,
    closures_of,
    refuse_inequalities,
)
from pliant.articulated.compiled import CompiledTree
from pliant.articulated.constraints.rows import Constraint, ConstraintRows, acceleration_rhs
from pliant.articulated.forces.base import ArticulatedForce
from pliant.articulated.forces.forms import settled
from pliant.articulated.forces.springs import PointSprings
from pliant.articulated.impulses import no_impulses
from pliant.articulated.islands import Islands, complex_step
from pliant.articulated.joint_contacts import DryFriction, JointContact, grouped
from pliant.articulated.loads import Loads
from pliant.articulated.points import LinkPoints
from pliant.articulated.quirks import Quirks
from pliant.articulated.tree import Kinematics, Link, Tree
from pliant.errors import SceneError
from pliant.maps.motions import Placement
from pliant.state import State
from pliant.systems.base import Weights
from pliant.systems.closures import Closures
from pliant.velocity_step import Linearisation, Prepared

DENSE = 128  # coordinates up to which the compiled pass fills a dense matrix


class ArticulatedSystem:
    """Links with forces and constraints. ``q``, ``v`` (nr,) are joint coordinates and rates in tree order.

    ``baumgarte`` [1/s] pulls constraint errors back. ``contacts`` are the implicit contacts of frictional joints.
    ``works`` names what `power` tells: of dampers, and of forces that have no potential or one that changes in time.
    """

    works: ClassVar[tuple[str, ...]] = ("damping", "drives")
    symmetric: bool = False

    def __init__(
        self,
        links: Sequence[Link],
        forces: Sequence[ArticulatedForce] = (),
        constraints: Sequence[Constraint] = (),
        *,
        gravity: Sequence[float] = (0.0, 0.0, -9.81),
        contacts: Sequence[JointContact] = (),
        dry_friction: Sequence[DryFriction] = (),
        baumgarte: float = 5.0,
        q: Array | None = None,
        quirks: Quirks = Quirks(),  # noqa: B008  (a frozen value)
    ) -> None:
        self.tree = Tree(links)
        self.gravity = np.asarray(gravity, dtype=float)
        self.baumgarte = float(baumgarte)
        self.quirks = quirks
        self.rest = np.zeros(self.tree.dof) if q is None else np.array(q, dtype=float)
        if self.rest.shape != (self.tree.dof,) or not np.isfinite(self.rest).all():
            what = f"q has {self.rest.size} entries" if self.rest.shape != (self.tree.dof,) else "q is not finite"
            raise SceneError(what, where="ArticulatedSystem", remedy=f"give {self.tree.dof} coordinates")
        self._seen: list[tuple[tuple[bytes, bytes], Kinematics]] = []
        self._compiled: tuple[Any, Any, CompiledTree | None] | None = None
        kin = self.kinematics(self.rest, np.zeros(self.tree.dof))
        self.forces = tuple(settled(f.bind(self.tree), kin) for f in forces)
        self.constraints = tuple(c.bind(self.tree) for c in constraints)
        self.patches = grouped([c.patch(self.tree, self.constraints) for c in contacts])
        self.dry = tuple(d.bind(self.tree) for d in dry_friction)
        self.free = np.arange(self.tree.dof)
        self.total_mass = self.free_mass = float(self.tree.inertia[:, 5].sum())  # [kg]
        self.trees = Islands(self.tree)
        self.points = LinkPoints.of_surfaces(self.tree, self.trees)
        self._faces = self.points.faces(self.tree)
        self.scale = max(float(np.ptp(self.positions(self.rest), axis=0).max(initial=0.0)), 1e-12)
        self.closing = tuple(c for c in self.constraints if not c.inequality)
        self.islands = Islands(self.tree, (*self.forces, *self.closing))
        check_inertia(kin)
        check_closures(self.constraints, kin, self.rows(kin, 0.0, inequality=False), self.scale)

    def pulled(self, vertex: int, target: Array, k: float) -> "ArticulatedSystem":
        """The same system with a spring ``k`` [N/m] of zero length from a row of `positions` to a point (3,)."""
        spring = PointSprings([int(self.points.link[vertex])], self.points.x[vertex], [None], target, k)
        held = copy(self)
        held.forces = (*self.forces, spring.bind(self.tree))
        return held

    # ------------------------------------------------------------------------------------------------ physics

    def kinematics(self, q: Array, v: Array) -> Kinematics:
        """Frames, twists and Jacobian at (q, v); the last ones are kept: points, inertia and forces ask in turn."""
        key = q.tobytes(), v.tobytes()  # compared faster than few numbers are by NumPy
        for known, kin in self._seen:
            if known == key:
                return kin
        kin = self.tree.kinematics(q, v)
        if kin.q.dtype == q.dtype == v.dtype == np.float64:
            self._seen[:] = [(key, kin), *self._seen[:2]]
        return kin

    def assemble(self, kin: Kinematics, t: float, h: float | None = None) -> Assembly:
        """All forces at this instant, with their derivatives; for a step of length ``h`` armatures are among them."""
        loads = Loads(kin, self.quirks)
        for force in self.forces:
            force.add(loads, kin, t)
        if h is not None:
            loads.armature(self.tree.armature, kin.v, h)
        f = kernels.wrenches(kin.frames, kin.twists, self.tree.inertia, self.gravity) + loads.f
        return Assembly(kin, self.tree.inertia, f, loads.f_r, loads)

    def rows(self, kin: Kinematics, t: float, *, inequality: bool) -> list[ConstraintRows]:
        """The active constraint rows of one sense."""
        mine = [(i, c) for i, c in enumerate(self.constraints) if c.inequality == inequality]
        found = [(i, c.rows(kin, t, self.quirks)) for i, c in mine]
        return [replace(r, owner=i) for i, r in found if r is not None]

    def mass(self, q: Array) -> sp.csr_matrix:
        """J^T M J + R (nr, nr)."""
        still = np.zeros_like(q)
        if self.ordinary is not None and len(q) <= DENSE and not np.iscomplexobj(q):
            return self.islands.stored(self.ordinary.tangent(q, still, still, (1.0, 0.0, 0.0)))
        kin = self.kinematics(q, still)
        return self.islands.matrix(lambda d: self._momentum(kin, d))

    def inertia(self, q: Array, a: Array) -> Array:
        """(J^T M J + R) a (nr,), in O(n)."""
        kin = self.kinematics(q, np.zeros_like(q))
        return self._momentum(kin, a.astype(kin.q.dtype))

    def _momentum(self, kin: Kinematics, v: Array) -> Array:
        return kin.apply_transpose(self.tree.inertia * kin.apply(v)) + self.tree.armature * v

    def weights(self, q: Array) -> Array:
        """The diagonal of J^T M J + R (nr,): off it, its entries may be negative."""
        if self.ordinary is not None:
            return self.ordinary.weights(q)
        return self.mass(q).diagonal()

    def inverse_dynamics(self, q: Array, v: Array, a: Array, t: float) -> Array:
        """J^T (M (J a + Jdot v) - f_m) + R a - f_r (nr,): the joint forces missing for the acceleration a; O(n)."""
        if self.ordinary is not None and not any(np.iscomplexobj(x) for x in (q, v, a)):
            return self.ordinary.inverse_dynamics(q, v, a, t)
        kin = self.kinematics(q, v)
        at = self.assemble(kin, t)
        maximal, reduced = at.loads.damping_force(kin)
        inertial = self.tree.inertia * (kin.apply(a.astype(kin.q.dtype)) + kin.bias)
        return kin.apply_transpose(inertial - at.f - maximal) + self.tree.armature * a - at.f_r - reduced

    def force(self, q: Array, v: Array, t: float) -> Array:
        """f_r + J^T (f_m - M Jdot v) (nr,), damping included."""
        return -self.inverse_dynamics(q, v, np.zeros(len(q)), t)

    def stiffness(self, q: Array, v: Array, t: float, *, psd: bool = False) -> sp.csr_matrix:
        """df/dq by complex steps, exact to rounding; with ``psd`` symmetrised and its positive part removed."""
        return -self.tangent(q, v, t, (0.0, 0.0, 1.0), psd=psd)

    def damping(self, q: Array, v: Array, t: float) -> sp.csr_matrix:
        """df/dv by complex steps; includes the gyroscopic part, so it is not symmetric."""
        return -self.tangent(q, v, t, (0.0, 1.0, 0.0), psd=False)

    def tangent(
        self, q: Array, v: Array, t: float, weights: Weights, *, psd: bool = True, a: Array | None = None
    ) -> sp.csr_matrix:
        """The derivative of the inverse dynamics along (w_K, w_D, w_M) d in q, v and a, for all d at once.

        With ``psd``, w_M M and the matrices that the forces give, projected: what the change of the inertia adds is not
        symmetric, and steps with its symmetric part alone converge worse than steps without it.
        """
        w_mass, w_damping, w_stiffness = weights
        if psd:
            slope = self.assemble(self.kinematics(q, v), t).slope(w_damping, w_stiffness)
            A, M = self.islands.projected(self.islands.matrix(slope)), self.mass(q)
            return sp.csr_matrix((A.data + w_mass * M.data, A.indices, A.indptr), shape=A.shape)
        a = np.zeros(len(q)) if a is None else a
        if self.ordinary is not None and len(q) <= DENSE:
            return self.islands.stored(self.ordinary.tangent(q, v, a, weights))
        moved = lambda e: self.inverse_dynamics(q + w_stiffness * e, v + w_damping * e, a + w_mass * e, t)
        return self.islands.matrix(complex_step(moved))

    def acceleration(self, q: Array, v: Array, t: float) -> Array:
        """M^-1 (f + G^T lambda): by the recursion in O(n) without closures, else with G a as they demand."""
        refuse_inequalities(self.constraints, "acceleration of an articulated system")
        if self.ordinary is not None and not np.iscomplexobj(q):
            return self.ordinary.acceleration(q, v, t)
        f, rows = self.force(q, v, t), self.acceleration_rows(q, v, t)
        if rows is None:
            return inverse_inertia(self.kinematics(q, v)).solve(f)
        return closed_acceleration(self.mass(q).toarray(), f, *rows)

    def acceleration_rows(self, q: Array, v: Array, t: float) -> tuple[Array, Array] | None:
        """What closed loops, coupled joints and motors demand of accelerations, with Baumgarte's feedback."""
        kin = self.kinematics(q, v)
        parts = self.rows(kin, t, inequality=False)
        return acceleration_rhs(kin, parts, self.baumgarte) if parts else None

    def accelerated(self, q: Array, f: Array) -> Array:
        """M(q)^-1 f (nr,), whatever closes."""
        return inverse_inertia(self.kinematics(q, np.zeros_like(q))).solve(f)

    def closures(self, q: Array, v: Array, t: float) -> Closures | None:
        """Closed loops, coupled joints and motors; what acts one way only is refused."""
        refuse_inequalities(self.constraints, "fully implicit step of an articulated system")
        if not self.closing:
            return None
        kin = self.kinematics(q, v)
        parts = self.rows(kin, t, inequality=False)
        return closures_of(kin, parts) if parts else None

    def closure_tangent(self, q: Array, v: Array, t: float, y: Array, w: float) -> tuple[sp.csr_matrix, sp.csr_matrix]:
        """By complex steps through the rows, which turn with the links."""
        return closure_tangent(self, q, v, t, y, w)

    def rechart(self, state: State) -> State:
        """The same motion in exponential coordinates that are away from their singularity."""
        q, v = self.tree.reparameterise(state.q, state.v)
        return state if np.array_equal(q, state.q) else State(q, v, state.t)

    def restrict(self, A: sp.csr_matrix) -> sp.csr_matrix:
        return A

    def limit(self, q: Array, dq: Array) -> float:
        return np.inf

    def potential(self, q: Array, t: float) -> float | None:
        """None: the generalised force contains velocity terms."""
        return None

    def prescribe(self, q: Array, t: float) -> Array:
        return q

    # ------------------------------------------------------------------------------------------------ read-outs

    def positions(self, q: Array) -> Array:
        """World positions (p, 3) of the surface points of all bodies; body origins where a body has no surface."""
        return self.points.positions(self.kinematics(q, np.zeros_like(q)))

    def point_jacobian(self, q: Array) -> sp.csr_matrix:
        """J (3 p, nr) of the points over the joint rates."""
        return self.points.jacobian(self.kinematics(q, np.zeros_like(q)))

    def curvature(self, q: Array, g: Array) -> sp.csr_matrix:
        """d(J^T g)/dq (nr, nr) for fixed forces g (3 p,) on the points."""
        return self.points.curvature(self.kinematics(q, np.zeros_like(q)), g)

    def placements(self, q: Array, v: Array) -> list[Placement]:
        """Where every link's own frame is, and how it moves."""
        return measures.placements(self, q, v)

    def cells(self) -> list[IntArray]:
        """The triangles over the rows of `positions`, one array for each tree of links."""
        trees = self.points.tree_of(self._faces[:, 0])
        return [self._faces[trees == k] for k in np.unique(trees)]

    @property
    def surface(self) -> IntArray:
        """Triangles (k, 3) over `positions`."""
        return self._faces

    def joint_origins(self, x: Array) -> Array:
        return self.points.joint_origins(self.tree, x)

    def contacts(self, q: Array, v: Array, t: float) -> "Gaps | None":
        """Where bodies touch floors and boxes now; None where there is nothing to touch."""
        return measures.contacts(self, q, v, t)

    def energies(self, q: Array, v: Array, t: float) -> dict[str, float]:
        """Kinetic energy, gravity, and the potential of the forces [J]."""
        return measures.energies(self, q, v, t)

    def power(self, q: Array, v: Array, t: float) -> dict[str, float]:
        """Power [W] of the dampers, and of torques and forces without a potential."""
        return measures.power(self, q, v, t)

    def switched(self, q: Array, v: Array, times: tuple[float, float]) -> float:
        """What the potentials of the forces gain by time alone [J]: muscles that are activated."""
        return measures.switched(self, q, v, times)

    def momenta(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Total linear momentum (3,) [kg m/s], and angular momentum (3,) [kg m^2/s] about the world origin."""
        return measures.momenta(self, q, v)

    def rigid_rates(self, q: Array) -> Array:
        """Rates of the joints at the roots; the nearest there are where such a joint is not free."""
        return measures.rigid_rates(self, q)

    @property
    def ordinary(self) -> CompiledTree | None:
        """The tree as arrays for the compiled passes; None where something about it is not ordinary."""
        known = self._compiled
        if known is None or known[0] is not self.forces or known[1] is not self.constraints:  # copies act otherwise
            made = CompiledTree.of(self.tree, self.gravity, self.forces, self.constraints)
            self._compiled = known = (self.forces, self.constraints, made)
        return known[2]

    def directly(self, state: State, h: float, how: Linearisation) -> tuple[State, Any, float] | None:
        """The velocity step in one compiled call; None where it is not ordinary, or another matrix is chosen."""
        dry = any(d.force > 0.0 for d in self.dry)
        ordinary = None if how.ahead or how.matrix is not None or dry else self.ordinary
        if ordinary is None:
            return None
        q, v = self.tree.reparameterise(state.q, state.v) if ordinary.turning else (state.q, state.v)
        t = state.t + h
        found = ordinary.moved(q, v, t, h, how.beta)
        return None if found is None else (State(found[0], found[1], t), no_impulses(h), found[2])

    def root(
        self, stage: Any, guess: Array, tolerances: tuple[float, float], iterations: int
    ) -> tuple[Array, Array, float] | None:
        """The root of a stage of an ordinary tree, by the compiled passes; None where it is not one."""
        if self.ordinary is None or self.constraints:
            return None
        return self.ordinary.root(stage, guess, tolerances, iterations)

    def pointwise(self, start: State, h: float) -> Any:
        from pliant.articulated.pointwise import PointwiseLinks

        return PointwiseLinks(self, start, h)

    def fitted(self, before: Array, q: Array, h: float) -> Array:
        """argmin_v |J v - (x(q) - x(before))/h|_M over the material points."""
        from pliant.articulated.pointwise import swept

        return self.accelerated(q, swept(self, before, q)) / h

    def prepare(self, state: State, h: float, memory: Any, how: Linearisation) -> Prepared:
        """The velocity step of the joint rates."""
        from pliant.articulated.dynamics import TreeStep

        return TreeStep(self, state, h, how)

"""MUSCLE: planar flesh condensed onto a few nodes and the joints of the bones it is grown to. [ConJac2020, sec. 4.5]

    (G^T (M - beta h^2 K) G + blkdiag(0, M_r)) u = G^T (M v + h f) + (0, M_r qdot + h tau),    u = (v_d, qdot)
    G = [I, 0; 0, J_a; J_qd, J_qa J_a]

J_a gives the velocities of the attached vertices from the joint rates: they are points of the bones, so nothing drifts.
Bones feel the flesh and its weight through G^T, and the flesh the bones. As in the source Gdot is left out.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.articulated.dynamics import right_hand_side
from pliant.articulated.linear import dense_matrix
from pliant.articulated.se3 import gamma
from pliant.articulated.system import ArticulatedSystem
from pliant.articulated.tree import Kinematics
from pliant.energies.elastic import Elastic
from pliant.errors import NotPositiveDefinite, SceneError
from pliant.integrators.conjac_plan import dofs_of
from pliant.linear.base import LinearSolver
from pliant.linear.cholesky import Cholesky
from pliant.maps.condensation import Condensed, Leading, follow
from pliant.state import Counts, SolveReport, State, Step
from pliant.systems.elastodynamics import Elastodynamics
from pliant.velocity_step import velocity_step


@dataclass(frozen=True, eq=False)
class Grown:
    """Flesh vertices that are points of a bone (name or number of its link)."""

    vertices: IntArray
    bone: int | str


class FleshAndBones:
    """Planar flesh (all vertices free of pins) grown to bones that move in the plane z = 0.

    q = (joint coordinates, flesh positions), v their rates. ``material(t)`` is the flesh's material at time t.
    """

    def __init__(
        self,
        bones: ArticulatedSystem,
        flesh: Elastodynamics,
        grown: tuple[Grown, ...],
        material: Callable[[float], Any],
    ) -> None:
        if flesh.X.shape[1] != 2 or len(flesh.free) != flesh.X.size:
            raise SceneError("the flesh must be planar and without pins", where="FleshAndBones")
        self.bones, self.flesh, self.material = bones, flesh, material
        self.joints = bones.tree.dof
        self.free: IntArray = np.arange(self.joints + flesh.X.size)
        self.total_mass = flesh.total_mass + bones.total_mass  # [kg]
        self.attached = np.concatenate([g.vertices for g in grown])
        self.bone = np.concatenate([np.full(len(g.vertices), bones.tree.body(g.bone)) for g in grown])
        if len(np.unique(self.attached)) < len(self.attached):
            raise SceneError("a vertex is grown to two bones", where="FleshAndBones.grown")
        E = bones.kinematics(bones.rest, np.zeros(self.joints)).frames[self.bone]
        X = np.column_stack([flesh.X[self.attached], np.zeros(len(self.attached))])
        self.local = np.einsum("aji,aj->ai", E[:, :3, :3], X - E[:, :3, 3])  # (a, 3) in the frames of the bones
        self._others = tuple(e for e in flesh.energy_terms if not isinstance(e, Elastic))
        (self._elastic,) = [e for e in flesh.energy_terms if isinstance(e, Elastic)]

    def at(self, t: float) -> Elastodynamics:
        """The flesh with its material of time t."""
        flesh = copy(self.flesh)  # shares patterns and slots; only the material differs
        flesh.energy_terms = (self._elastic.with_material(self.material(t)), *self._others)
        return flesh

    def split(self, q: Array) -> tuple[Array, Array]:
        """Joint part and flesh part of coordinates or rates."""
        return q[: self.joints], q[self.joints :]

    def attachment(self, kin: Kinematics) -> tuple[Array, Array]:
        """Positions (a, 2) of the attached vertices and J_a (2 a, joints)."""
        E = kin.frames[self.bone]
        x = np.einsum("aij,aj->ai", E[:, :3, :3], self.local) + E[:, :3, 3]
        J = kin.jacobian().reshape(-1, 6, self.joints)[self.bone]
        velocity = np.einsum("aij,ajk,akl->ail", E[:, :3, :3], gamma(self.local), J)
        return x[:, :2], velocity[:, :2].reshape(-1, self.joints)

    def initial(self) -> State:
        """Everything at rest where it was built."""
        q = np.concatenate([self.bones.rest, self.flesh.X.ravel()])
        return State(q, np.zeros_like(q))

    def positions(self, q: Array) -> Array:
        """Flesh vertices, then the bones' surface points (p, 3) [m]."""
        joints, x = self.split(q)
        return np.concatenate([self.flesh.positions(x), self.bones.positions(joints)])

    def cells(self) -> list[IntArray]:
        return [self._elastic.elements.nodes, np.asarray(self.bones.surface, dtype=np.int64) + len(self.flesh.X)]

    def joint_origins(self, x: Array) -> Array:
        return self.bones.joint_origins(x[len(self.flesh.X) :])

    def momenta(self, q: Array, v: Array) -> tuple[Array, Array]:
        (joints, x), (rates, xdot) = self.split(q), self.split(v)
        flesh, bones = self.flesh.momenta(x, xdot), self.bones.momenta(joints, rates)
        return flesh[0] + bones[0], flesh[1] + bones[1]

    def energies(self, q: Array, v: Array, t: float) -> dict[str, float]:
        """Of flesh and bones together, by name [J]."""
        (joints, x), (rates, xdot) = self.split(q), self.split(v)
        out = dict(self.at(t).energies(x, xdot, t))
        for name, value in self.bones.energies(joints, rates, t).items():
            out[name] = out.get(name, 0.0) + value
        return out


@dataclass(frozen=True, eq=False)
class ConJacMuscle:
    """The step above; ``nodes`` are the dynamic vertices of the flesh, ``gamma`` as in `ConJac`."""

    nodes: IntArray
    beta: float = 0.5
    gamma: float = 1.0 / 3.0
    linear: LinearSolver = field(default_factory=Cholesky)
    order: ClassVar[int] = 1
    made_for: ClassVar[type] = FleshAndBones

    def step(self, system: FleshAndBones, state: State, h: float, memory: Any = None) -> Step:
        q, x = system.split(state.q)
        flesh, t = system.at(state.t + h), state.t + h
        try:
            f, K, condensed = self.condensed(system, flesh, state, t, memory)
            A, b, J = stacked(system, flesh, state, h, (f, K, condensed.J), self.beta)
            solution = velocity_step(A, b, J=J)
        except NotPositiveDefinite as error:
            report = SolveReport(False, 1, float("nan"), 0.0, Counts(1, 1), message=str(error))
            return Step(state, memory, (report,))
        v, rates = condensed.J @ solution.u, solution.u[2 * len(self.nodes) :]
        q, x = q + h * rates, x + h * v + self.gamma * condensed.others[:, 0]
        place = (2 * system.attached[:, None] + np.arange(2)).ravel()
        x[place] = system.attachment(system.bones.kinematics(q, rates))[0].ravel()  # exactly on the bones
        finite = bool(np.isfinite(x).all() and np.isfinite(q).all())
        counts = Counts(1, 1, int(condensed.factor.analysed), 1, condensed.J.shape[1] + 1)
        report = SolveReport(finite, 1, 0.0, 0.0, counts, message="" if finite else "not finite")
        after = State(np.concatenate([q, x]), np.concatenate([rates, v]), t)
        return Step(after, condensed.factor.memory, (report,))

    def condensed(
        self, system: FleshAndBones, flesh: Elastodynamics, state: State, t: float, memory: Any
    ) -> tuple[Array, Any, Condensed]:
        """Force and stiffness of the flesh, and G with the correction in its ``others``."""
        (q, x), (qdot, v) = system.split(state.q), system.split(state.v)
        f, K = flesh.force(x, v, t), flesh.stiffness(x, v, t, psd=True)
        J_a = system.attachment(system.bones.kinematics(q, qdot))[1]
        leading = Leading(
            dofs_of(np.concatenate([self.nodes, system.attached]), flesh),
            scipy.linalg.block_diag(np.eye(2 * len(self.nodes)), J_a),
        )
        return f, K, follow(K, leading, self.linear, memory).condensed(f[:, None])


def stacked(
    system: FleshAndBones,
    flesh: Elastodynamics,
    state: State,
    h: float,
    parts: tuple[Array, Any, Array],
    beta: float,
) -> tuple[sp.csr_matrix, Array, Array]:
    """Matrix and right-hand side of flesh and bones, and J from u = (v_d, qdot) to the velocities of both."""
    f, K, G = parts
    (q, x), (qdot, v) = system.split(state.q), system.split(state.v)
    M = flesh.mass(x)
    at = system.bones.assemble(system.bones.kinematics(q, qdot), state.t + h)
    A = sp.block_diag([M - beta * h * h * K, dense_matrix(at, h)], format="csr")
    b = np.concatenate([M @ v + h * f, right_hand_side(at, h)])
    J = np.concatenate([G, np.eye(system.joints, G.shape[1], G.shape[1] - system.joints)])
    return A, b, J

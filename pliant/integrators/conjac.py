"""ConJac: large steps by condensing a body onto a few dynamic nodes. [ConJac2020; Weidner2022, ch. 4]

One step, as in the paper:
  1  forces f and stiffness K at the old positions
  2  the condensation Jacobian J and the stabilisation b_q, all right-hand sides in one solve
  3  J^T (M - h D - beta h^2 K) J v_d = J^T (M v + h (f - D v))        the velocity step, 3 n_d x 3 n_d
  4  v = J v_d;  x += h v, and x_q += gamma h b_q towards equilibrium
A body at rest is in the exact equilibrium of the full mesh, whatever the number of nodes.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.clock import Clock
from pliant.errors import NotPositiveDefinite, SceneError
from pliant.linear.base import LinearSolver
from pliant.linear.cholesky import Cholesky
from pliant.maps.condensation import Anchoring, Condensed, condense
from pliant.maps.pieces import Pieces, loose, pieces_of, promoted
from pliant.state import Counts, SolveReport, State, Step
from pliant.systems.elastodynamics import Elastodynamics
from pliant.velocity_step import velocity_step

ANCHOR = 1e-6  # tau: how weakly a loose piece follows the mean of its dynamic nodes


@dataclass(frozen=True, eq=False)
class Plan:
    """What depends on the topology and the nodes alone; kept between steps, rebuilt after a restart."""

    nodes: IntArray  # vertices that may be dynamic: the chosen ones and those promoted in pieces that nothing holds
    pieces: Pieces
    edge: Array  # mean edge length at each vertex, for the cap [m]
    transient = True


@dataclass(frozen=True, eq=False)
class ConJac:
    """Dynamic ``nodes`` are vertex numbers (none: quasistatic motion); `pliant.maps.placement` chooses good ones.

    ``gamma`` is the part of the force residual removed per correction, ``corrections`` how many there are in a step
    (more than one makes soft bodies and fast rotation work), ``inertial`` subtracts the inertia of the following nodes
    from the residual: always on in pieces that nothing holds, where gravity would otherwise sag a body in free flight.
    ``cap`` limits a correction to a part of the local edge length.
    """

    nodes: IntArray
    beta: float = 0.5
    gamma: float = 1.0 / 3.0
    corrections: int = 1
    inertial: bool = False
    cap: float = 0.25
    linear: LinearSolver = field(default_factory=Cholesky)
    order: ClassVar[int] = 1

    def step(self, system: Elastodynamics, state: State, h: float, memory: Any = None) -> Step:
        plan, analysis = memory if memory is not None else (None, None)
        if plan is None or len(plan.edge) != len(system.X):
            plan, analysis = plan_of(system, self.nodes), None
        state, report, analysis = self.advance(system, state, h, plan, plan.nodes, analysis)
        return Step(state, (plan, analysis), (report,))

    def advance(
        self, system: Elastodynamics, state: State, h: float, plan: Plan, dynamic: IntArray, analysis: Any
    ) -> tuple[State, SolveReport, Any]:
        """One step with the given dynamic vertices; the new state, the report, and the analysis to reuse."""
        clock = Clock()
        with clock("force"):
            f = system.force(state.q, state.v, state.t + h)
        with clock("fill"):
            K = system.stiffness(state.q, state.v, state.t + h, psd=True)
            D = system.damping(state.q, state.v, state.t + h)
            driven = self._driven(system, state, h)
        try:
            with clock("factor"):
                condensed = condense(
                    system.restrict(K),
                    dofs_of(dynamic, system),
                    (K @ driven)[system.free],
                    self.linear,
                    analysis,
                    self._anchoring(plan, dynamic, system, h),
                )
        except NotPositiveDefinite as error:
            report = SolveReport(False, 1, float("nan"), 0.0, Counts(1, 1), clock.totals(), message=str(error))
            return state, report, analysis
        with clock("solve"):
            v = driven
            v[system.free] = self._velocities(system, state, (f, K, D), condensed, driven, h)
            q = system.prescribe(state.q + h * v, state.t + h)
            q = self._stabilised(system, plan, condensed, (q, v), state, f, h)
        factor = condensed.factor
        columns = len(condensed.dynamic) + 1 + self.corrections
        counts = Counts(self.corrections, 1, int(factor.analysed), 1, columns)
        finite = bool(np.isfinite(q).all() and np.isfinite(v).all())
        report = SolveReport(finite, 1, 0.0, 0.0, counts, clock.totals(), message="" if finite else "not finite")
        return State(q, v, state.t + h), report, factor.memory

    def _driven(self, system: Elastodynamics, state: State, h: float) -> Array:
        """Velocities of the prescribed coordinates on their way to the end of the step, zero elsewhere."""
        driven = (system.prescribe(state.q, state.t + h) - state.q) / h
        driven[system.free] = 0.0
        return driven

    def _anchoring(self, plan: Plan, dynamic: IntArray, system: Elastodynamics, h: float) -> Anchoring | None:
        """The weak coupling that keeps loose pieces regular."""
        d = system.X.shape[1]
        rows: list[IntArray] = []
        columns: list[IntArray] = []
        for vertices in loose(plan.pieces, system.X, dynamic):
            nodes = np.flatnonzero(np.isin(dynamic, vertices))
            followers = np.setdiff1d(vertices, dynamic)
            for a in range(d):
                rows.append(d * followers + a)
                columns += [d * nodes + a] * len(followers)
        if not rows:
            return None
        every = np.concatenate(rows)
        weight = ANCHOR / h**2 * system.nodal_mass[every]
        return Anchoring(np.searchsorted(system.free, every), tuple(columns), weight)

    def _velocities(
        self,
        system: Elastodynamics,
        state: State,
        terms: tuple[Array, Any, Any],
        condensed: Condensed,
        v: Array,
        h: float,
    ) -> Array:
        """The velocity step on the dynamic coordinates, and with it all free velocities.

        (K J)_q = 0, so only the dynamic rows of K J are formed; J^T M J is a product of tall dense matrices.
        """
        f, K, D = terms
        J, free, dynamic = condensed.J, system.free, condensed.dynamic
        moved = v.copy()
        moved[free] = condensed.w
        rhs = system.mass(state.q) @ (state.v - moved) + h * f + self.beta * h * h * (K @ moved)
        if D.nnz:
            rhs += h * (D @ (moved - state.v))
        if not len(dynamic):
            return condensed.w
        mass = system.mass(state.q)[free][:, free]
        A = J.T @ (mass @ J) - self.beta * h * h * (system.restrict(K)[dynamic] @ J)
        if D.nnz:
            A -= h * (J.T @ (system.restrict(D) @ J))
        solution = velocity_step(0.5 * (A + A.T), J.T @ rhs[free])
        return J @ solution.u + condensed.w

    def _stabilised(
        self,
        system: Elastodynamics,
        plan: Plan,
        condensed: Condensed,
        moved: tuple[Array, Array],
        state: State,
        f: Array,
        h: float,
    ) -> Array:
        """x_q += -gamma K_qq^-1 f_q [ConJac2020, Eq. 12]; later corrections take the force where they are."""
        q, v = moved
        inertia = system.mass(q) @ (v - state.v) / h
        if not self.inertial:
            held = plan.pieces.held[plan.pieces.piece]
            inertia = np.where(np.repeat(held, system.X.shape[1]), 0.0, inertia)
        for k in range(self.corrections):
            if k:
                f = system.force(q, v, state.t + h)
            dx = np.zeros_like(q)
            dx[system.free] = self.gamma * condensed.correction((f - inertia)[system.free])
            q = q + capped(dx, plan.edge, self.cap)
        return q


def plan_of(system: Elastodynamics, nodes: IntArray) -> Plan:
    """Pieces, promotions and edge lengths for a system; nodes that are pinned or out of range are refused."""
    n, d = system.X.shape
    nodes = np.unique(np.asarray(nodes, dtype=np.int64))
    bad = nodes[(nodes < 0) | (nodes >= n)]
    if len(bad):
        raise SceneError(f"vertex {bad[0]} does not exist", where="ConJac.nodes", remedy=f"use 0..{n - 1}")
    pinned = np.setdiff1d(nodes, system.free // d)
    if len(pinned):
        raise SceneError(f"vertex {pinned[0]} is pinned", where="ConJac.nodes", remedy="choose free vertices")
    q = system.X.ravel()
    K = system.stiffness(q, 0.0 * q, 0.0, psd=True)
    pieces = pieces_of(K, d, system.free)
    rows = np.repeat(np.arange(n * d), np.diff(K.indptr)) // d
    columns = K.indices // d
    off = rows != columns
    length = np.linalg.norm(system.X[rows[off]] - system.X[columns[off]], axis=1)
    edge = np.bincount(rows[off], length, n) / np.maximum(np.bincount(rows[off], minlength=n), 1)
    return Plan(promoted(pieces, system.X, nodes), pieces, edge)


def dofs_of(vertices: IntArray, system: Elastodynamics) -> IntArray:
    """Positions among the free coordinates of all coordinates of some vertices."""
    d = system.X.shape[1]
    return np.searchsorted(system.free, (d * vertices[:, None] + np.arange(d)).ravel())


def capped(dx: Array, edge: Array, cap: float) -> Array:
    """dx scaled down so that no vertex moves more than ``cap`` of its mean edge length."""
    moves = np.linalg.norm(dx.reshape(len(edge), -1), axis=1)
    worst = float((moves / np.maximum(cap * edge, 1e-300)).max(initial=0.0))
    return dx / worst if worst > 1.0 else dx

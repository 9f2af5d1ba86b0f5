"""ConJac: large steps by condensing a body onto a few dynamic nodes. [ConJac2020; Weidner2022, ch. 4]

One step, as in the paper:
  1  forces f and stiffness K at the old positions
  2  the condensation Jacobian J and the stabilisation b_q, all right-hand sides in one solve
  3  J^T (M - h D - beta h^2 K) J v_d = J^T (M v + h (f - D v))        the velocity step, 3 n_d x 3 n_d
  4  v = J v_d, and friction;  x += h v, and x_q += gamma h b_q towards equilibrium
A body at rest is in the exact equilibrium of the full mesh, whatever the number of nodes.

Linearised once it is Newton's first step from v = 0 on M (v - v_0) = h f(x_0 + beta h v) with v in the range of J.
From v = v_0 (``ahead``) the same step keeps more energy in large motions. With ``iterations`` > 1 it goes on, f, K and
J taken anew each time: what soft bodies and fast turning need.

BDF2 (``second_order``) is the same step from another start and of another length: x_0 and v_0 are the base and the
velocity that the last two states lead to, c = 2h/3 stands for h, and beta = 1. What a correction moved is no motion
that goes on: the state before it counts as moved by it, too. Steps in which contacts press, and those that would change
an edge by more than ``cap`` of its length, are backward Euler, and what they did to the velocities is no history.
"""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.clock import Clock
from pliant.energies.base import Pressing
from pliant.errors import NotPositiveDefinite, SceneError
from pliant.integrators.bdf2 import History
from pliant.integrators.conjac_friction import filtered
from pliant.linear.base import LinearSolver
from pliant.linear.cholesky import Cholesky
from pliant.linear.threads import one_thread
from pliant.maps.condensation import follow
from pliant.state import Counts, SolveReport, State, Step
from pliant.systems.condensed_plan import CondensedMoment, Guess, Plan, capped, plan_of
from pliant.systems.condensed_step import Followers, LinearisedMoment, inertia_of, linearised
from pliant.systems.elastodynamics import Elastodynamics
from pliant.systems.placement import spread
from pliant.units import read_fields
from pliant.velocity_programme import velocity_step

SETTLED = 1e-10  # force left on the quasistatic nodes by the initial solve, as a part of the first
HALVINGS = 12


@dataclass(frozen=True, eq=False)
class ConJac:
    """Large steps for a body condensed onto a few dynamic nodes; all others follow quasistatically [ConJac2020].

    Dynamic ``nodes`` are vertex numbers (none: quasistatic motion), or ``count`` of them spread over the body. With a
    ``radius`` [m] each represents the mean over the vertices within it: in an impact the nodes carry the inertia of the
    whole body, and single vertices would dent and invert the elements around them.

    ``gamma`` is the fraction of the force residual removed per correction (None: a line search along the energy),
    ``corrections`` their number with one factor, ``iterations`` how often a step is linearised, and ``ahead``
    linearises it first at the positions that the old velocities lead to instead of the old positions. ``second_order``
    is BDF2 in the velocities of the nodes, at the same cost: it damps far less, is always linearised ahead, has no
    ``beta``, and starts with a step of backward Euler. ``inertial`` subtracts the inertia of the quasistatic nodes from
    the residual; unsupported pieces, which would otherwise sag in free flight, have as much of it subtracted as lowers
    their energy. ``cap`` limits the relative change of an edge length per correction, and per step of BDF2, which is
    otherwise taken anew by backward Euler. ``friction`` is that of contact with obstacles, ``settle`` puts the
    quasistatic nodes in equilibrium at t = 0. ``project``: K is made definite "always", "on_demand" where K_qq or the
    matrix of the step cannot be factored otherwise, or "never", in which case such steps fail. Corrections with the
    unprojected K converge like Newton's method, and only with it is BDF2 of second order in the positions.
    """

    nodes: IntArray | None = None
    count: int = 4
    radius: float = 0.0
    beta: float = 0.5
    gamma: float | None = 1.0 / 3.0
    corrections: int = 1
    iterations: int = 1
    inertial: bool = False
    ahead: bool = False
    second_order: bool = False
    cap: float = 0.25
    friction: float = 0.0
    settle: bool = False
    project: Literal["always", "on_demand", "never"] = "always"
    linear: LinearSolver = field(default_factory=Cholesky)
    order: ClassVar[int] = 1
    made_for: ClassVar[type] = Elastodynamics
    units: ClassVar[dict[str, str]] = {"radius": "m"}

    def __post_init__(self) -> None:
        read_fields(self)
        least_of = {"count": 0, "corrections": 0, "iterations": 1, "friction": 0.0, "cap": 0.0, "radius": 0.0}
        for name, least in least_of.items():
            if not getattr(self, name) >= least:
                raise SceneError(f"{name} is {getattr(self, name)}", where="ConJac", remedy=f"use at least {least}")
        if self.nodes is not None and self.count != ConJac.count:
            what = f"{len(self.nodes)} nodes and a count of {self.count}"
            raise SceneError(what, where="ConJac", remedy="give the nodes themselves, or how many to spread")
        if self.second_order and self.beta != ConJac.beta:
            what = f"beta = {self.beta} beside second_order"
            raise SceneError(what, where="ConJac", remedy="leave beta out: BDF2 is implicit in the whole step")
        if not self.beta > 0.0:
            raise SceneError(f"beta is {self.beta}", where="ConJac", remedy="use 0.5, or more to damp")

    @one_thread()
    def step(self, system: Elastodynamics, state: State, h: float, memory: Any = None) -> Step:
        plan, known = memory if memory is not None else (None, None)
        if plan is None or plan.vertices != len(system.X):
            plan, known = self.plan(system), replace(known, solver=None) if isinstance(known, History) else None
            if self.settle and state.t == 0.0:
                state = self.settled(CondensedMoment(system.at(state, state.t), state, h, plan, plan.nodes))
        state, report, known = self.advance(system, state, h, plan, plan.nodes, known)
        return Step(state, (plan, known), (report,))

    def plan(self, system: Elastodynamics) -> Plan:
        """What stays the same as long as the topology does."""
        nodes = spread(system, self.count) if self.nodes is None else self.nodes
        return plan_of(system, nodes, radius=self.radius)

    def leading(self, system: Elastodynamics, memory: Any) -> IntArray:
        """The dynamic vertices, with the patches they stand for."""
        plan = memory[0] if memory is not None and memory[0] is not None else self.plan(system)
        return plan.around(plan.nodes, system)

    def advance(
        self, system: Elastodynamics, state: State, h: float, plan: Plan, dynamic: IntArray, known: Any
    ) -> tuple[State, SolveReport, Any]:
        """One step with the given dynamic vertices; the new state, the report, and what the next step should know."""
        if not self.second_order:
            return self._linear_step(system, state, h, plan, dynamic, known, ahead=self.ahead)
        if pressed(system, state, h):
            return self._started_anew(system, state, h, plan, dynamic, None if known is None else known.solver)
        return self._second_order_step(system, state, h, plan, dynamic, known)

    def _second_order_step(
        self, system: Elastodynamics, state: State, h: float, plan: Plan, dynamic: IntArray, known: History | None
    ) -> tuple[State, SolveReport, Any]:
        """BDF2, or backward Euler where it starts; a step too rough for it is taken anew."""
        c, start, analysis = h, state, None if known is None else known.solver
        if known is not None and known.continues(state, h):
            c, base, v = known.extrapolated(h)
            start = State(base, v, state.t + h - c)
        after, report, analysis = self._linear_step(system, start, c, plan, dynamic, analysis, ahead=True)
        if not report.converged or plan.stretched(state.q, after.q) > self.cap:
            again, tried, analysis = self._started_anew(system, state, h, plan, dynamic, analysis)
            return again, replace(tried, counts=tried.counts + report.counts), analysis
        after = State(after.q, after.v, state.t + h)  # to the bit, which (t + h - c) + c is not
        corrected = after.q - system.prescribe(start.q + c * after.v, after.t)
        before = State(state.q + corrected, state.v, state.t)
        return after, report, History((after, before), (h,), analysis)

    def _started_anew(
        self, system: Elastodynamics, state: State, h: float, plan: Plan, dynamic: IntArray, analysis: Any
    ) -> tuple[State, SolveReport, Any]:
        """The published step with beta = 1, after which there is no history."""
        after, report, analysis = self._linear_step(system, state, h, plan, dynamic, analysis, ahead=self.ahead)
        return after, report, History((after,), (), analysis)

    def _linear_step(
        self,
        system: Elastodynamics,
        state: State,
        h: float,
        plan: Plan,
        dynamic: IntArray,
        analysis: Any,
        *,
        ahead: bool,
    ) -> tuple[State, SolveReport, Any]:
        """A step of backward Euler linearised; the new state, the report, and the analysis to reuse."""
        clock = Clock()
        now = CondensedMoment(system.at(state, state.t + h), state, h, plan, dynamic)
        guess = Guess(state.v, now.unhindered() if ahead else 0.0 * state.v, 0.0 * state.q)
        counts = Counts()
        try:
            for _ in range(self.iterations):
                local, v = self._solved(now, guess, analysis, clock)
                analysis = local.condensed.factor.memory
                inertia = inertia_of(now, v, self.inertial)
                with clock("solve"):
                    guess = Guess(v, v, guess.shift + local.correction(inertia, self._following))
                counts += Counts(1, 1, int(local.condensed.factor.analysed), 1, self._columns(local, inertia))
            q = now.system.prescribe(state.q + h * v, now.end) + guess.shift
            q, extra = self._corrected(now, local, v, inertia, q, clock)
        except NotPositiveDefinite as error:
            message = f"{error.what}: ConJac needs bodies that resist every deformation, which slack sheets do not"
            report = SolveReport(False, 1, float("nan"), 0.0, Counts(1, 1), clock.totals(), message=message)
            return state, report, analysis
        finite = bool(np.isfinite(q).all() and np.isfinite(v).all())
        message = "" if finite else "not finite"
        missed = given_up(now, q, v) if finite else float("nan")
        report = SolveReport(
            finite,
            self.iterations,
            missed,
            None,
            counts + extra + Counts(forces=1),
            clock.totals(),
            message=message,
            error=missed / max(float(np.sqrt(system.free_mass)), 1e-300) if finite else None,
            certified=False,
        )
        return State(q, v, now.end), report, analysis

    def _solved(
        self, now: CondensedMoment, guess: Guess, analysis: Any, clock: Clock
    ) -> tuple[LinearisedMoment, Array]:
        """The step linearised, and the velocities that follow; with K projected where it is wanted or needed."""

        def attempt(psd: bool) -> tuple[LinearisedMoment, Array]:
            beta = 1.0 if self.second_order else self.beta
            local = linearised(now, guess, beta, self._following, analysis, clock, psd=psd)
            return local, self._velocities(now, local, clock)

        try:
            return attempt(self.project == "always")
        except NotPositiveDefinite:
            if self.project != "on_demand":
                raise
            return attempt(True)

    @property
    def _following(self) -> Followers:
        gamma = 0.0 if self.gamma is None or not self.corrections else self.gamma
        return Followers(gamma, self.cap, self.inertial, self.linear)

    def _columns(self, local: LinearisedMoment, inertia: Array) -> int:
        """Right-hand sides solved for J, for what moves prescribed, and for the correction of this linearisation."""
        together = local.condensed.J.shape[1] + local.condensed.others.shape[1]
        return together + int(bool(self._following.gamma) and bool(inertia.any()))

    def _velocities(self, now: CondensedMoment, local: LinearisedMoment, clock: Clock) -> Array:
        """The velocity step on the dynamic coordinates, and with it all velocities."""
        if not len(local.condensed.dynamic):
            return local.w
        with clock("reduced"):
            v = local.lifted(velocity_step(*local.projected(local.momentum())).u)
            if self.friction > 0.0 and now.system.X.shape[1] == 3:
                rubbed = local.times(filtered(now.system, now.state.q, v, now.h, self.friction))
                v = local.lifted(velocity_step(*local.projected(rubbed)).u)
        return v

    def _corrected(
        self, now: CondensedMoment, local: LinearisedMoment, v: Array, inertia: Array, q: Array, clock: Clock
    ) -> tuple[Array, Counts]:
        """Positions q at the end of the step corrected further, with the force where they are and the same factor."""
        system = now.system
        more = self.corrections if self.gamma is None else self.corrections - 1
        for _ in range(more):
            with clock("force"):
                f = system.force(q, v, now.end)
            with clock("solve"):
                follows = local.condensed.correction(f[system.free])
                dx, kept = local.balanced(f, inertia, follows, self.inertial)
            dx = capped(dx if self.gamma is None else self.gamma * dx, now.plan, self.cap)
            with clock("force"):
                q = q + (searched(system, q, dx, f - kept, kept) if self.gamma is None else 1.0) * dx
        solves = max(more, 0) * (1 + int(bool(inertia.any())))
        return q, Counts(forces=max(more, 0), solves=solves)

    def settled(self, now: CondensedMoment, iterations: int = 100) -> State:
        """The state with f_q = 0: Newton on the following nodes, dynamic and prescribed ones where they are (G3)."""
        system, q, rest = now.system, now.state.q, np.zeros_like(now.state.v)
        if not now.plan.pieces.held.all():
            raise SceneError(
                "an unsupported piece has no equilibrium to start from", where="ConJac.settle", remedy="set False"
            )
        first, analysis = None, None
        for _ in range(iterations):
            f = system.force(q, rest, now.state.t)
            acting = f[system.free] if now.plan.means is None else now.plan.means.B.T @ f[system.free]
            size = float(np.linalg.norm(np.delete(acting, now.leading)))
            first = first or size
            if size <= SETTLED * first:
                break
            A = system.restrict(system.stiffness(q, rest, now.state.t, psd=True))
            known = follow(A, now.leading, self.linear, analysis, now.anchoring(), now.plan.means)
            condensed = known.condensed(f[system.free][:, None])
            analysis = condensed.factor.memory
            dx = np.zeros_like(q)
            dx[system.free] = condensed.others[:, 0]
            q = q + searched(system, q, dx, f, rest) * dx
        return State(q, now.state.v, now.state.t)


def searched(system: Elastodynamics, q: Array, dx: Array, f: Array, inertia: Array) -> float:
    """The first s = 1, 1/2, ... for which the energy W + inertia . x falls along dx as a tenth of its slope says."""

    def merit(s: float) -> float:
        return sum(e.value(q + s * dx) for e in system.energy_terms) + s * float(inertia @ dx)

    slope, here, s = float(f @ dx), merit(0.0), min(1.0, 0.99 * system.limit(q, dx))
    for _ in range(HALVINGS):
        if merit(s) <= here - 0.1 * s * slope + 1e-14 * abs(here):
            return s
        s *= 0.5
    return s


def pressed(system: Elastodynamics, state: State, h: float) -> bool:
    """Whether contacts press at the start of a step or where the velocities lead."""
    there = system.prescribe(state.q + h * state.v, state.t + h)
    contacts = [e for e in system.at(state, state.t + h).energy_terms if isinstance(e, Pressing)]
    return any(e.gradient(q).any() for e in contacts for q in (state.q, there))


def given_up(now: CondensedMoment, q: Array, v: Array) -> float:
    """The norm of the implicit Euler residual of all vertices: what the reduction and one linearisation leave of it."""
    system, free = now.system, now.system.free
    r = now.h * (system.inertia(q, v - now.state.v) - now.h * system.force(q, v, now.end))[free]
    return float(np.sqrt(r @ (r / system.weights(q)[free])))

"""Bilateral staggered projections: friction inside joints without a contact programme [Weidner2022, Alg. 3.2].

Reduced coordinates satisfy the joints exactly; the joint reaction is what is missing in the balance of the maximal
equations at the reduced velocity,

    h f_alpha = A J u - M J v - h (f~ + f_beta) - G^T y - h W tau,     so that J^T f_alpha = 0,

with y the multipliers of the external rows G (closures, floors, motors) and W tau the wrenches of joint forces. The
normal impulses are local solves (Eq. 3.7), and only the friction programme (Eq. 3.2) remains. As printed, the quadratic
velocity force acts twice, here f~ = f - M Jdot v is used throughout; and the reaction contains G^T (y - y_m), with y_m
the multipliers of free bodies (Eq. 3.8), which no joint exerts. ``published=True`` gives the printed algorithm.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from pliant.arrays import Array
from pliant.articulated.blocks import BlockMatrix
from pliant.articulated.constraints.rows import RowSet, owners_of
from pliant.articulated.dynamics import Impulses, active_rows
from pliant.articulated.friction import (
    UNSOLVED,
    Friction,
    LinkContacts,
    MaximalFactor,
    joint_force_wrenches,
    joint_wrenches,
    shares,
    warm_start,
)
from pliant.articulated.linear import dense_matrix
from pliant.articulated.recursion import Recursion, within_joints
from pliant.articulated.system import ArticulatedSystem, Assembly
from pliant.linear.box_matrix import Solve, SparseBox
from pliant.linear.box_qp import BoxSolver, ProjectedNewton
from pliant.linear.dual import Dual
from pliant.linear.inverse import dense_inverse
from pliant.linear.threads import one_thread
from pliant.state import Counts, SolveReport, State, Step

CYCLING = 20  # iterations after which reactions and friction are taken to chase each other


@dataclass(frozen=True)
class BISPMemory:
    """Friction wrenches (n, 6) kept for the next step, and what a reader may want to know about this one."""

    friction: Array
    share: Array | None  # friction impulses as parts of their limits
    beta: Array  # friction impulses [N s]
    limits: Array  # mu alpha [N s]
    reaction: Array  # f_alpha (n, 6), summed on the bodies; `joint_wrenches` gives those of single joints
    impulses: Impulses  # of all constraint rows
    analysis: Any = None  # of the friction programme's pattern, rebuilt where it is missing


@dataclass(frozen=True)
class BISP:
    """Linearly implicit step with friction in joints and contacts [Weidner2022, ch. 3].

    Converged when the joint reactions f_alpha change by less than ``tolerance`` (relative, squared).
    """

    friction: Friction = field(default_factory=Friction)
    published: bool = False
    tolerance: float = 1e-3
    iterations: int = 100
    regularisation: float = 1e-6
    box: BoxSolver = field(default_factory=ProjectedNewton)
    order: ClassVar[int] = 1
    made_for: ClassVar[type] = ArticulatedSystem
    rubs_joints: ClassVar[bool] = True
    works: ClassVar[tuple[str, ...]] = ("friction", "motors")

    @one_thread()
    def step(self, system: ArticulatedSystem, state: State, h: float, memory: BISPMemory | None = None) -> Step:
        q, v = system.tree.reparameterise(state.q, state.v)
        t = state.t + h
        kin = system.kinematics(q, v)
        analysis = None if memory is None else memory.analysis
        problem = _Problem(self, system, system.assemble(kin, t, h), active_rows(system, kin, t), h, analysis)
        f_beta = np.zeros((len(system.tree), 6)) if memory is None else memory.friction
        share = None if memory is None else memory.share
        beta = limits = np.zeros(len(problem.contacts.T))
        previous, solved, change, iteration = None, True, np.inf, 0
        while iteration < self.iterations:
            iteration += 1
            u, impulses, f_alpha = problem.react(f_beta)
            reaction = problem.reaction(f_alpha, impulses)
            change = problem.change(reaction, previous)
            if change < self.tolerance:
                break
            previous = reaction
            limits = self._damped(problem.limits(f_alpha, impulses), limits, iteration)
            beta = warm_start(share, limits)
            box = self.box.solve(problem.H, problem.slip(u, f_alpha, f_beta), -limits, limits, beta)
            beta, share, solved = box.x, shares(box.x, limits), box.converged
            f_beta = -problem.contacts.T.transpose(beta, len(f_beta)) / h
        if self.published:
            u, impulses = problem.reduced_solve(f_beta + f_alpha)
        report = SolveReport(
            change < self.tolerance and solved and bool(np.isfinite(u).all()),
            iteration,
            float(change),
            self.tolerance,
            Counts(1, 1, 0, 1, iteration),
            message="" if solved else UNSOLVED,
        )
        acted = Impulses.of((*problem.equality.parts, *problem.inequality.parts), impulses, h)
        analysis = problem.H.analysis if isinstance(problem.H, SparseBox) else None
        record = BISPMemory(f_beta, share, beta, limits, f_alpha, acted, analysis)
        work = {"friction": h * float((f_beta * kin.apply(u)).sum()), "motors": h * acted.power}
        return Step(State(q + h * u, u, t), record, (report,), work=work)

    def _damped(self, limits: Array, before: Array, iteration: int) -> Array:
        """The mean of the new and the last limits once the iteration is likely to cycle; as printed it may."""
        return limits if self.published or iteration <= CYCLING else 0.5 * (limits + before)


class _Problem:
    """One step's matrices, factored once; the loop only changes right-hand sides."""

    def __init__(
        self,
        method: BISP,
        system: ArticulatedSystem,
        at: Assembly,
        rows: tuple[RowSet, RowSet],
        h: float,
        analysis: Any,
    ) -> None:
        self.h, self.at, self.published, self.box = h, at, method.published, method.box
        self.kin = at.kin
        self.A = at.matrix(h)
        self.maximal = MaximalFactor(self.A)
        self.reduced = _reduced_inverse(at, self.A, h)
        self.momentum = at.inertia * at.kin.twists
        self.equality, self.inequality = rows
        self.owners = owners_of([*rows[0].parts, *rows[1].parts])
        G_r, rhs = np.concatenate([r.matrix for r in rows]), np.concatenate([r.rhs for r in rows])
        lower = np.concatenate([np.full(len(rows[0]), -np.inf), np.zeros(len(rows[1]))])
        self.reduced_dual = Dual(G_r, rhs, lower, self.reduced)
        G = np.concatenate([r.maximal for r in rows])
        self.maximal_rows = np.any(G != 0.0, axis=1)
        keep = self.maximal_rows
        if self.published:
            self.maximal_dual = Dual(G[keep], rhs[keep], lower[keep], self.maximal.solve)
        self.G = G
        self.contacts = LinkContacts(system, at.kin, rows[1].parts, method.friction, method.regularisation)
        self.H = self.maximal.between(self.contacts.T, len(system.tree), analysis)
        parent = system.tree.parent
        self.receiver = np.arange(-1, len(parent) - 1) if system.quirks.reaction_to_previous else parent

    def reduced_solve(self, extra: Array) -> tuple[Array, Array]:
        """(u, impulses) of the reduced system with additional wrenches; Eq. 3.8c."""
        h, at = self.h, self.at
        b = self.kin.apply_transpose(self.momentum + h * (at.biased + extra)) + h * at.f_r
        return self.reduced_dual.solve(b, self.box)

    def react(self, f_beta: Array) -> tuple[Array, Array, Array]:
        """(u, impulses, f_alpha): constrained reduced velocity, and the joint reactions; as printed from Eq. 3.8."""
        h, at = self.h, self.at
        u, impulses = self.reduced_solve(f_beta)
        if self.published:
            v, _ = self.maximal_dual.solve((self.momentum + h * (at.f + f_beta)).ravel(), self.box)
            return u, impulses, self.A.multiply(self.kin.apply(u) - v.reshape(-1, 6)) / h
        external = (self.G.T @ impulses).reshape(-1, 6)
        missing = self.A.multiply(self.kin.apply(u)) - self.momentum - h * (at.biased + f_beta) - external
        return u, impulses, missing / h - joint_force_wrenches(self.kin, self.joint_forces(u, impulses))

    def joint_forces(self, u: Array, impulses: Array) -> Array:
        """tau (nr,): joint springs, dampers and torques, and the rows on joint coordinates (limits, gears, motors)."""
        inner = ~self.maximal_rows
        pull = self.reduced_dual.G[inner].T @ impulses[inner]
        for index, block in self.at.loads.reduced_blocks(-self.h * self.h, -self.h):
            pull[index] -= block @ u[index]
        return self.at.f_r + pull / self.h

    def reaction(self, f_alpha: Array, impulses: Array) -> Array:
        """What must stop changing (k, n, 6): reactions of joints and of external rows; as printed, of joints only."""
        external = (self.G.T @ impulses).reshape(-1, 6) / self.h
        return np.stack([f_alpha] if self.published else [f_alpha, external])

    def change(self, f: Array, previous: Array | None) -> float:
        """Relative squared change of the reactions in the norm of the inverse inertia; 0 when there is no friction."""
        if len(self.contacts.T) == 0:
            return 0.0
        if previous is None:
            return np.inf
        norm = lambda w: np.sum(w * w / self.at.inertia, axis=(-2, -1))
        rounding = 1e-16 * norm(self.momentum / self.h + self.at.f) + 1e-300
        return float(np.max(norm(f - previous) / np.maximum(norm(f), rounding)))

    def limits(self, f_alpha: Array, impulses: Array) -> Array:
        wrenches = joint_wrenches(self.kin, f_alpha, self.receiver)
        alphas = self.contacts.normals(wrenches, lambda c: self._reaction(c, impulses), self.h)
        return self.contacts.limits(alphas, impulses[len(self.equality) :], self.h)

    def _reaction(self, constraint: int, impulses: Array) -> Array:
        """Wrenches (n, 6) of one constraint."""
        mine = self.owners == constraint
        return (self.G[mine].T @ impulses[mine]).reshape(-1, 6) / self.h

    def slip(self, u: Array, f_alpha: Array, f_beta: Array) -> Array:
        """Tangential velocities with all reactions but without friction; as printed, with those of joints only."""
        free = lambda w: self.maximal.solve(w.ravel()).reshape(-1, 6)
        if self.published:
            return self.contacts.T.apply(free(self.momentum + self.h * (self.at.f + f_alpha)))
        return self.contacts.T.apply(self.kin.apply(u) - free(self.h * f_beta))


def _reduced_inverse(at: Assembly, A: BlockMatrix, h: float) -> Solve:
    """b -> (J^T A J - h D_r - h^2 K_r)^-1 b: by the recursion in O(n), dense where springs couple bodies or joints."""
    blocks = at.loads.reduced_blocks(-h * h, -h)
    if A.coupled() or not within_joints(at.kin.tree, blocks):
        return dense_inverse(dense_matrix(at, h))
    recursion = Recursion(at.kin, A.diagonal, blocks)
    recursion.require_definite("BISP")
    return recursion.solve

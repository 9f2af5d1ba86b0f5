"""Bilateral staggered projections: friction inside joints without a contact programme [Weidner2022, Alg. 3.2].

Reduced coordinates satisfy the joints exactly; the joint reaction is the force that explains the difference between the
constrained and the unconstrained maximal velocities (Eq. 3.5), the normal impulses are local solves (Eq. 3.7), and only
the friction programme (Eq. 3.2) remains. As printed, the quadratic velocity force acts twice; here f~ = f - M Jdot v is
used throughout, and ``published=True`` gives the printed algorithm (card R-I, T11).
"""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from pliant.arrays import Array
from pliant.articulated.box_qp import BoxSolver, ProjectedNewton
from pliant.articulated.constraints.rows import RowSet
from pliant.articulated.dual import Dual
from pliant.articulated.dynamics import Impulses, active_rows
from pliant.articulated.friction import Contacts, Friction, MaximalFactor, joint_wrenches
from pliant.articulated.linear import Factored, dense_matrix
from pliant.articulated.system import ArticulatedSystem, Assembly
from pliant.state import Counts, SolveReport, State, Step


@dataclass(frozen=True)
class BISPMemory:
    """Friction wrenches (n, 6) and friction impulses kept for the next step; impulses of all constraint rows."""

    friction: Array
    beta: Array
    impulses: Impulses
    reaction: Array  # f_alpha (n, 6)
    limits: Array


@dataclass(frozen=True)
class BISP:
    """Linearly implicit step with friction in joints and contacts.

    Converged when the joint reactions f_alpha change by less than ``tolerance`` (relative, squared).
    """

    friction: Friction = field(default_factory=Friction)
    published: bool = False
    tolerance: float = 1e-3
    iterations: int = 100
    regularisation: float = 1e-6
    box: BoxSolver = field(default_factory=ProjectedNewton)
    order: ClassVar[int] = 1

    def step(self, system: ArticulatedSystem, state: State, h: float, memory: BISPMemory | None = None) -> Step:
        q, v = system.tree.reparameterise(state.q, state.v)
        t = state.t + h
        kin = system.kinematics(q, v)
        problem = _Problem(self, system, system.assemble(kin, t), active_rows(system, kin, t), h)
        f_beta = np.zeros((len(system.tree), 6)) if memory is None else memory.friction
        beta = problem.warm(None if memory is None else memory.beta)
        previous, limits, solved, change, iteration = None, np.zeros(len(beta)), True, np.inf, 0
        while iteration < self.iterations:
            iteration += 1
            u, impulses, f_alpha = problem.react(f_beta)
            change = problem.change(f_alpha, previous)
            if change < self.tolerance:
                break
            previous = f_alpha
            limits = problem.limits(f_alpha, impulses)
            box = self.box.solve(problem.H, problem.slip(u, f_beta, f_alpha), -limits, limits, beta)
            beta, solved = box.x, solved and box.converged
            f_beta = -(problem.contacts.T.T @ beta).reshape(-1, 6) / h
        if self.published:
            u, impulses = problem.reduced_solve(f_beta + f_alpha)
        report = SolveReport(
            change < self.tolerance and solved and bool(np.isfinite(u).all()),
            iteration,
            float(change),
            self.tolerance,
            Counts(1, 1, 0, 1, iteration),
        )
        record = BISPMemory(f_beta, beta, Impulses(problem.owners, impulses, h), f_alpha, limits)
        return Step(State(q + h * u, u, t), record, (report,))


class _Problem:
    """One step's matrices, factored once; the loop only changes right-hand sides."""

    def __init__(
        self, method: BISP, system: ArticulatedSystem, at: Assembly, rows: tuple[RowSet, RowSet], h: float
    ) -> None:
        self.h, self.at, self.published, self.box = h, at, method.published, method.box
        self.kin, self.system = at.kin, system
        self.A = at.matrix(h)
        self.maximal = MaximalFactor(self.A)
        self.reduced = Factored(dense_matrix(at, h))
        self.momentum = at.inertia * at.kin.twists
        self.equality, self.inequality = rows
        self.owners = tuple(int(p.owner) for r in rows for p in r.parts for _ in p.g)
        G_r, rhs = np.concatenate([r.matrix for r in rows]), np.concatenate([r.rhs for r in rows])
        lower = np.concatenate([np.full(len(rows[0]), -np.inf), np.zeros(len(rows[1]))])
        self.reduced_dual = Dual(G_r, rhs, lower, lambda y: self.reduced.solve(y, y).x)
        G = np.concatenate([r.maximal for r in rows])
        self.maximal_rows = np.any(G != 0.0, axis=1)
        keep = self.maximal_rows
        self.maximal_dual = Dual(G[keep], rhs[keep], lower[keep], self.maximal.solve)
        self.G = G
        self.contacts = Contacts(at.kin, system.patches, rows[1].parts, method.friction, method.regularisation)
        self.Y = self.maximal.solve(self.contacts.T.T)
        self.H = self.contacts.T @ self.Y
        parent = system.tree.parent
        self.receiver = np.arange(-1, len(parent) - 1) if system.quirks.reaction_to_previous else parent

    def warm(self, beta: Array | None) -> Array:
        n = len(self.contacts.T)
        return np.zeros(n) if beta is None or len(beta) != n else beta

    def reduced_solve(self, extra: Array) -> tuple[Array, Array]:
        """(u, impulses) of the reduced system with additional wrenches; Eq. 3.8c."""
        h, at = self.h, self.at
        b = self.kin.apply_transpose(self.momentum + h * (at.biased + extra)) + h * at.f_r
        return self.reduced_dual.solve(b, self.box)

    def react(self, f_beta: Array) -> tuple[Array, Array, Array]:
        """(u, impulses, f_alpha): constrained reduced velocity, and the joint reactions from Eq. 3.5a / 3.8."""
        u, impulses = self.reduced_solve(f_beta)
        f = self.at.f if self.published else self.at.biased
        v, _ = self.maximal_dual.solve((self.momentum + self.h * (f + f_beta)).ravel(), self.box)
        difference = self.kin.apply(u) - v.reshape(-1, 6)
        return u, impulses, self.A.multiply(difference) / self.h

    def change(self, f: Array, previous: Array | None) -> float:
        """Relative squared change of the reactions in the norm of the inverse inertia; 0 when there is no friction."""
        if len(self.contacts.T) == 0:
            return 0.0
        if previous is None:
            return np.inf
        d = f - previous
        return float(np.sum(d * d / self.at.inertia) / max(float(np.sum(f * f / self.at.inertia)), 1e-300))

    def limits(self, f_alpha: Array, impulses: Array) -> Array:
        wrenches = joint_wrenches(self.kin, f_alpha, self.receiver)
        closures = {c: self._reaction(c, impulses) for c in {p.closure for p in self.system.patches} if c >= 0}
        alphas = self.contacts.normals(wrenches, closures, self.h)
        return self.contacts.limits(alphas, impulses[len(self.equality) :])

    def _reaction(self, constraint: int, impulses: Array) -> Array:
        """Wrenches (6n,) of one constraint."""
        mine = np.array(self.owners, dtype=int) == constraint
        return self.G[mine].T @ impulses[mine] / self.h

    def slip(self, u: Array, f_beta: Array, f_alpha: Array) -> Array:
        """Tangential velocities with all reactions but without friction."""
        f = self.at.f if self.published else self.at.biased
        free = (self.momentum + self.h * (f + f_alpha)).ravel()
        return self.contacts.T @ self.maximal.solve(free)

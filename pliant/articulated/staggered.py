"""Staggered projections in maximal coordinates [Weidner2022, Alg. 3.1; Kaufman2008], the method BISP is compared with.

Alternate a contact solve (normal impulses with friction fixed) and a friction solve (tangential impulses with normal
impulses fixed) until the contact force stops changing. Joints drift in maximal coordinates and are stabilised.
"""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.articulated.constraints.rows import owners_of
from pliant.articulated.friction import UNSOLVED, Friction, LinkContacts, MaximalFactor, shares, warm_start
from pliant.articulated.maximal import Bodies, fitted, joint_map, joint_rows, kinematics, moved
from pliant.articulated.system import ArticulatedSystem
from pliant.articulated.tree import Kinematics
from pliant.linear.box_qp import BoxSolver, ProjectedNewton
from pliant.linear.dual import Dual
from pliant.linear.threads import one_thread
from pliant.state import Counts, SolveReport, State, Step


@dataclass(frozen=True)
class SPMemory:
    """The true, maximal state, how far it is off the joints (n, 6), and the friction kept for the next step."""

    bodies: Bodies
    errors: Array
    friction: Array
    share: Array | None


@dataclass(frozen=True)
class StaggeredProjections:
    """Friction in joints and contacts by staggered projections, for comparison with `BISP`.

    ``unilateral=True`` treats joints as contacts that push (all normals in one program), as in the original method.
    Otherwise joints are bilateral rows, and the normal impulses follow from their reactions as in BISP. For loop
    closures they do so in both cases: a closure's rows and a set of contacts for the same hinge would contradict each
    other by the drift of the joints, and opposite contacts then squeeze the hinge the harder the smaller h is. The
    returned State is the fit of joint coordinates to the bodies; `SPMemory.bodies` is what is integrated.
    """

    friction: Friction = field(default_factory=Friction)
    unilateral: bool = True
    baumgarte: float | None = None  # of the joints [1/s]; 0.2/h when omitted
    tolerance: float = 1e-3
    iterations: int = 100
    regularisation: float = 1e-6
    box: BoxSolver = field(default_factory=ProjectedNewton)
    order: ClassVar[int] = 1
    made_for: ClassVar[type] = ArticulatedSystem
    rubs_joints: ClassVar[bool] = True
    works: ClassVar[tuple[str, ...]] = ("friction", "motors")

    @one_thread()
    def step(self, system: ArticulatedSystem, state: State, h: float, memory: SPMemory | None = None) -> Step:
        if memory is None:
            jointed = system.kinematics(state.q, state.v)
            bodies, errors = Bodies(jointed.frames, jointed.twists), np.zeros((len(system.tree), 6))
        else:
            bodies, errors = memory.bodies, memory.errors
        kin = kinematics(system, bodies, state.q)
        problem = _Problem(self, system, kin, errors, state.t + h, h)
        f_beta = np.zeros_like(bodies.twists) if memory is None else memory.friction
        share = None if memory is None else memory.share
        previous, solved, change, iteration = None, True, np.inf, 0
        while iteration < self.iterations:
            iteration += 1
            phi, impulses = problem.contact_solve(f_beta)
            f_alpha = (problem.G.T @ impulses).reshape(-1, 6) / h
            change = problem.change(f_alpha, previous)
            if change < self.tolerance:
                break
            previous = f_alpha
            limits = problem.limits(impulses)
            slip = problem.T @ problem.factor.solve((problem.momentum + h * f_alpha).ravel())
            box = self.box.solve(problem.H, slip, -limits, limits, warm_start(share, limits))
            share, solved = shares(box.x, limits), box.converged
            f_beta = -(problem.T.T @ box.x).reshape(-1, 6) / h
        after = moved(bodies, phi.reshape(-1, 6), h)
        q, errors = fitted(system, after, state.q + h * kin.v)
        v = kinematics(system, after, q).v
        report = SolveReport(
            change < self.tolerance and solved,
            iteration,
            float(change),
            self.tolerance,
            Counts(1, 1, 0, 1, iteration),
            message="" if solved else UNSOLVED,
        )
        rubbed = h * float((f_beta * phi.reshape(-1, 6)).sum())
        memory = SPMemory(after, errors, f_beta, share)
        work = {"friction": rubbed, "motors": float(problem.rates @ impulses[: len(problem.rates)])}
        return Step(State(q, v, state.t + h), memory, (report,), work=work)


class _Problem:
    """One step's rows and factors."""

    def __init__(
        self,
        method: StaggeredProjections,
        system: ArticulatedSystem,
        kin: Kinematics,
        errors: Array,
        t: float,
        h: float,
    ) -> None:
        at = system.assemble(kin, t, h)
        W = joint_map(kin)
        at.loads.spread(W)
        A = at.matrix(h)
        self.kin, self.method, self.h, self.inertia = kin, method, h, at.inertia
        self.factor = MaximalFactor(A)
        self.momentum = at.inertia * kin.twists + h * (at.f + (W @ at.f_r).reshape(-1, 6))
        equal, unequal = (
            [r if r.maximal else replace(r, G=r.G @ W.T, maximal=True) for r in system.rows(kin, t, inequality=one_way)]
            for one_way in (False, True)
        )
        b = 0.2 / h if method.baumgarte is None else method.baumgarte
        self.contacts = LinkContacts(system, kin, unequal, method.friction, method.regularisation)
        covered = {int(c) for p in system.patches for c in p.child[p.closure < 0]} if method.unilateral else set()
        G, g, owner = joint_rows(kin, errors)
        keep = np.array([o not in covered for o in owner], dtype=bool)
        self._joint = owner[keep]
        rows, rhs = [G[keep]], [-b * g[keep]]
        for r in equal:
            rows.append(r.G)
            rhs.append(r.rate - system.baumgarte * r.g)
        self.rates = np.concatenate([np.zeros(len(self._joint)), *(r.rate for r in equal)])
        self._closing = np.concatenate([np.full(len(self._joint), -1), owners_of(equal)])
        self._equalities = len(self._closing)
        self._joints = [np.flatnonzero(p.closure < 0) for p in system.patches]  # that push as contacts
        if method.unilateral:
            for p, mine in zip(system.patches, self._joints, strict=True):
                N = p.rows(kin, p.normals)
                every = p.spread(N).dense(len(kin.tree))
                rows.append(every.reshape(*N.shape[:2], -1)[mine].reshape(-1, every.shape[1]))
                rhs.append(-b * np.einsum("prc,pc->pr", N[mine][..., :6], errors[p.child[mine]]).ravel())
        for r in unequal:
            rows.append(r.G)
            rhs.append(r.rate - system.baumgarte * r.g)
        self.G, e = np.concatenate(rows), np.concatenate(rhs)
        lower = np.where(np.arange(len(e)) < self._equalities, -np.inf, 0.0)
        self.dual = Dual(self.G, e, lower, self.factor.solve)
        if method.unilateral:  # redundant contacts: the same regularisation as Eq. 3.7 picks the least impulses
            self.dual.W[np.diag_indices(len(e))] += method.regularisation
        self.T = self.contacts.T.dense(len(kin.tree))
        self.H = self.T @ self.factor.solve(self.T.T)

    def contact_solve(self, f_beta: Array) -> tuple[Array, Array]:
        """Eq. 3.1: velocities and impulses of all rows, with the friction held."""
        return self.dual.solve((self.momentum + self.h * f_beta).ravel(), self.method.box)

    def change(self, f: Array, previous: Array | None) -> float:
        if len(self.T) == 0:
            return 0.0
        if previous is None:
            return np.inf
        d = f - previous
        return float(np.sum(d * d / self.inertia) / max(float(np.sum(f * f / self.inertia)), 1e-300))

    def limits(self, impulses: Array) -> Array:
        """mu alpha per tangent row."""
        closure = lambda c: self._wrenches(np.flatnonzero(self._closing == c), impulses)
        wrenches = np.zeros((len(self.kin.tree), 6))
        for i in np.unique(self._joint):
            wrenches[i] = self._wrenches(np.flatnonzero(self._joint == i), impulses)[i]
        alphas = self.contacts.normals(wrenches, closure, self.h)
        first = self._equalities
        if self.method.unilateral:
            for mine, alpha in zip(self._joints, alphas, strict=True):
                count = len(mine) * alpha[0].size
                alpha[mine] = impulses[first : first + count].reshape(-1, *alpha.shape[1:])
                first += count
        return self.contacts.limits(alphas, impulses[first:], self.h)

    def _wrenches(self, rows: IntArray, impulses: Array) -> Array:
        """Wrenches (n, 6) of some rows."""
        return (self.G[rows].T @ impulses[rows]).reshape(-1, 6) / self.h

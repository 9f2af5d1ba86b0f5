"""The velocity step of joints, RedMax [Weidner2022, Eq. 3.6].

    A u = J^T M J v + h (f_r + J^T (f_m - M Jdot v)),   A = J^T (M - hD - beta h^2 K) J - h D_r - beta h^2 K_r
    s.t.  G u = e,  C u >= d,      q += h u

A is `Dense`, `Sparse` or never formed (`MatrixFree`). Contacts with a coefficient of their own rub, and so do dry
joints.
"""

from functools import cached_property

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.articulated.constraints.rows import RowSet, stacked
from pliant.articulated.impulses import Impulses
from pliant.articulated.linear import Dense
from pliant.articulated.se3 import gamma
from pliant.articulated.system import ArticulatedSystem, Assembly
from pliant.articulated.tree import Kinematics
from pliant.errors import SceneError
from pliant.linear.staggered import Slip, coulomb
from pliant.state import State
from pliant.velocity_step import Block, Linearisation, Moved


class TreeStep:
    """Joint rates in the middle of a velocity step. What it keeps is the `Impulses` of its constraints."""

    def __init__(self, system: ArticulatedSystem, state: State, h: float, how: Linearisation) -> None:
        if how.ahead:
            remedy = 'use variant "A"'
            raise SceneError(
                "joints are always linearised at the current positions", where="LinearlyImplicit.variant", remedy=remedy
            )
        self.q, v = system.tree.reparameterise(state.q, state.v)
        self.system, self.h, self.t, self.how = system, h, state.t, how
        self.kin = system.kinematics(self.q, v)
        self.at = system.assemble(self.kin, state.t + h, h)
        self.rows = active_rows(system, self.kin, state.t + h)

    @cached_property
    def block(self) -> Block:
        equality, inequality = self.rows
        matrix = Dense() if self.how.matrix is None else self.how.matrix
        x, J = np.zeros((0, 3)), sp.csr_matrix((0, self.system.tree.dof))
        if self.how.points:
            points = self.system.points
            x, J = points.positions(self.kin), points.jacobian(self.kin)
        return Block(
            matrix.prepare(self.at, self.h, self.how.beta),
            right_hand_side(self.at, self.h),
            x,
            J,
            (equality.matrix, equality.rhs),
            (inequality.matrix, inequality.rhs),
            slip=_slip(self.system, self.kin, inequality, self.h),
            guess=self.kin.v,
        )

    def reach(self, u: Array, h: float) -> float:
        return h

    def finish(self, u: Array, equality: Array, inequality: Array, h: float) -> Moved:
        parts = (*self.rows[0].parts, *self.rows[1].parts)
        acted = Impulses.of(parts, np.concatenate([equality, inequality]), self.h)
        work = {"motors": self.h * acted.power}
        return Moved(State(self.q + h * u, u, self.t + h), acted, work=work)

    def carried(self, body: IntArray, x: Array) -> sp.csr_matrix:
        """(3 k, nr): R Gamma(x_local) J_body, the velocities of links ``body (k,)`` at world points ``x (k, 3)``."""
        E, dof = self.kin.frames[body], self.system.tree.dof
        local = np.einsum("kji,kj->ki", E[:, :3, :3], x - E[:, :3, 3])
        J = self.kin.jacobian().reshape(-1, 6, dof)[body]
        return sp.csr_matrix((E[:, :3, :3] @ gamma(local) @ J).reshape(-1, dof))


def _slip(system: ArticulatedSystem, kin: Kinematics, rows: RowSet, h: float) -> Slip | None:
    """The friction directions of contacts that have a coefficient (others do not rub here), and of dry joints."""
    slips, first = [], 0
    for part in rows.parts:
        if part.tangents is not None and part.tangents.mu:
            k, number = 2 * len(part.g), np.repeat(np.arange(first, first + len(part.g)), 2)
            slips.append(coulomb(kin.project_rows(part.tangents.T), np.zeros(k), number, np.full(k, part.tangents.mu)))
        first += len(part.g)
    dry = [d for d in system.dry if d.force > 0.0]
    if dry:
        T = np.eye(kin.tree.dof)[[kin.tree.ptr[int(d.link)] for d in dry]]
        none = np.zeros(len(dry))
        slips.append(Slip(T, none, np.full(len(dry), -1), none, h * np.array([d.force for d in dry])))
    each = zip(*((s.T, s.drift, s.rows, s.mu, s.bound) for s in slips), strict=True)
    return Slip(*(np.concatenate(a) for a in each)) if slips else None


def active_rows(system: ArticulatedSystem, kin: Kinematics, t: float) -> tuple[RowSet, RowSet]:
    """Equalities and the inequalities that act now."""
    b = system.baumgarte
    return (
        stacked(kin, system.rows(kin, t, inequality=False), b),
        stacked(kin, system.rows(kin, t, inequality=True), b),
    )


def right_hand_side(at: Assembly, h: float) -> Array:
    """J^T (M J v + h f~) + h f_r (nr,)."""
    return at.kin.apply_transpose(at.inertia * at.kin.twists + h * at.biased) + h * at.f_r

"""Springs and penalties between coupled parts in their velocity step."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import scipy.sparse as sp

from pliant.arrays import Array
from pliant.energies.base import Pressing
from pliant.linear.lowrank import Corrected, corrected
from pliant.maps.points import ForceOnPoints, OnPoints
from pliant.state import State
from pliant.systems.acted import Acted, linearised, placed
from pliant.systems.coupled_step import CoupledStep
from pliant.velocity_step import Block, Moved, VelocitySolution


class Pressed:
    """A coupled velocity step with springs and penalties between the points, linearised like all other forces.

    h f = h f_0 - (beta h^2 H + h D) v_new + h D v_old        over the points, v_new = J (u_0 + y) + w
    """

    def __init__(
        self,
        inner: CoupledStep,
        energies: Sequence[OnPoints],
        forces: Sequence[ForceOnPoints],
        state: State,
        h: float,
        beta: float,
    ) -> None:
        self._inner, self._energies, self._forces = inner, energies, forces
        self._state, self._h, self._beta = state, h, beta

    @cached_property
    def block(self) -> Block:
        block, h = self._inner.block, self._h
        whole, b = block.A, block.b
        A = whole.sparse() if isinstance(whole, Corrected) else whole
        u0, w = block.origin, block.w
        assert u0 is not None and w is not None
        for term in self._energies:
            rows = term.points.dofs
            J = block.J if rows is None else block.J[rows]
            x, moving = term.points.lift(self._state.q), J @ u0 + (w if rows is None else w[rows])
            H = self._beta * h * h * term.energy.hessian(x, psd=True)
            A = A + J.T @ H @ J
            b = b - J.T @ (h * term.energy.gradient(x) + H @ moving)
        for force in self._forces:
            rows = force.points.dofs
            J = block.J if rows is None else block.J[rows]
            x, old = force.points.lift(self._state.q), force.points.jacobian(self._state.q) @ self._state.v
            moving, t = J @ u0 + (w if rows is None else w[rows]), self._state.t + h
            D = -h * force.inner.damping(x, old, t)
            A = A + J.T @ D @ J
            b = b + J.T @ (h * force.inner.force(x, old, t) - D @ (moving - old))
        A = sp.csr_matrix(A)
        A.sort_indices()
        return replace(block, A=corrected(A, whole.W, whole.c) if isinstance(whole, Corrected) else A, b=b)

    def exchanged(self, found: VelocitySolution) -> dict[tuple[str, str], float]:
        return self._inner.exchanged(found)

    def acted(self, found: VelocitySolution) -> Acted | None:
        """Of rows where there are some, else of penalties, linearised as the step has them."""
        block, h = self._inner.block, self._h
        touching = [e for e in self._energies if isinstance(e.energy, Pressing)]
        if self._inner.touches is not None or not touching or block.w is None:
            return self._inner.acted(found)
        points, q, v = touching[0].points, self._state.q, self._state.v
        moving = block.J @ found.u + block.w
        new = moving if points.dofs is None else moving[points.dofs]
        old = points.lift(q), points.jacobian(q) @ v, self._state.t + h
        forces = [f.inner for f in self._forces]
        acted = linearised([e.energy for e in touching], forces, old, new, self._beta * h * new)
        rows = None if points.dofs is None else points.dofs[::3] // 3
        return placed(acted, rows, block.x)

    def reach(self, u: Array, h: float) -> float:
        return self._inner.reach(u, h)

    def finish(self, u: Array, equality: Array, inequality: Array, h: float) -> Moved:
        return self._inner.finish(u, equality, inequality, h)

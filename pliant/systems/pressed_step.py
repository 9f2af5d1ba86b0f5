"""Springs and penalties between coupled parts in their velocity step."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from pliant.abilities import able
from pliant.arrays import Array
from pliant.contact.setting import Setting
from pliant.energies.base import Pressing
from pliant.linear.lowrank import Corrected, corrected
from pliant.maps.points import ForceOnPoints, OnPoints, PointMap
from pliant.pattern import added, empty, pulled_back
from pliant.state import State
from pliant.systems.acted import Acted, linear_damping, linearised, placed
from pliant.systems.coupled_step import CoupledStep
from pliant.velocity_programme import VelocitySolution
from pliant.velocity_step import Block, Moved


class Pressed:
    """A coupled velocity step with springs and penalties between the points, linearised like all other forces.

    h f = h f_0 - (beta h^2 H + h D) v_new + h D v_old        over the points, v_new = J (u_0 + y) + w

    ``setting`` says who touches; None without contact.
    """

    def __init__(
        self,
        inner: CoupledStep,
        energies: Sequence[OnPoints],
        forces: Sequence[ForceOnPoints],
        state: State,
        h: float,
        beta: float,
        setting: Setting | None,
    ) -> None:
        self._inner, self._energies, self._forces = inner, energies, forces
        self._state, self._h, self._beta, self._setting = state, h, beta, setting

    @cached_property
    def block(self) -> Block:
        block = self._inner.block
        A, b = block.A.sparse() if isinstance(block.A, Corrected) else block.A, block.b
        places = [*(e.points for e in self._energies), *(f.points for f in self._forces)]
        for points in {id(p): p for p in places}.values():
            P, f = self._linearised(points, block)
            if P.nnz or f.any():
                J = block.J if points.dofs is None else block.J[points.dofs]
                A, b = added(A, pulled_back(J, P)), b + J.T @ f
        return replace(block, A=corrected(A, block.A.W, block.A.c) if isinstance(block.A, Corrected) else A, b=b)

    def _linearised(self, points: PointMap, block: Block) -> tuple[sp.csr_matrix, Array]:
        """beta h^2 H + h D over some points, and the momentum that what acts on them gives from u_0."""
        h, (q, v, t) = self._h, (self._state.q, self._state.v, self._state.t + self._h)
        assert block.origin is not None and block.w is not None
        x, old, moving = points.lift(q), points.jacobian(q) @ v, block.J @ block.origin + block.w
        moving = moving if points.dofs is None else moving[points.dofs]
        P, f = empty(len(x), len(x)), np.zeros_like(x)
        for energy in (term.energy for term in self._energies if term.points is points):
            P = added(P, energy.hessian(x, psd=True), self._beta * h * h)
            f -= h * energy.gradient(x)
        f -= P @ moving
        for force in (term.inner for term in self._forces if term.points is points):
            D = linear_damping(force, x, old, t)
            P = added(P, D, -h)
            f += h * (force.force(x, old, t) + D @ (moving - old))
        return P, f

    def exchanged(self, found: VelocitySolution) -> dict[tuple[str, str], float]:
        return self._inner.exchanged(found)

    def acted(self, found: VelocitySolution) -> Acted | None:
        """Of rows where there are some, else of penalties, linearised as the step has them."""
        block, h = self._inner.block, self._h
        touching = [e for e in self._energies if able(e.energy, Pressing)]
        if self._inner.touches is not None or not touching or block.w is None:
            return self._inner.acted(found)
        points, q, v = touching[0].points, self._state.q, self._state.v
        moving = block.J @ found.u + block.w
        new = moving if points.dofs is None else moving[points.dofs]
        old = points.lift(q), points.jacobian(q) @ v, self._state.t + h
        forces = [f.inner for f in self._forces]
        acted = linearised(self._setting, [e.energy for e in touching], forces, old, new, self._beta * h * new)
        rows = None if points.dofs is None else points.dofs[::3] // 3
        return placed(acted, rows, block.x)

    def reach(self, u: Array, h: float) -> float:
        return self._inner.reach(u, h)

    def finish(self, u: Array, equality: Array, inequality: Array, h: float) -> Moved:
        return self._inner.finish(u, equality, inequality, h)

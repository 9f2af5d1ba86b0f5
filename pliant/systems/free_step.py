"""The velocity step of a system whose free velocities are some of its own: vertices that are not pinned.

    (M - h D - beta h^2 K) v = M v_n + h (f - D v_n),    q = q_n + h v

solved for v - v_n; prescribed coordinates move as they must. [Weidner2022, Eq. C.1; Chen2019, Eq. 2.10]
"""

from functools import cached_property

import numpy as np

from pliant.abilities import able
from pliant.arrays import Array
from pliant.contact.setting import Setting
from pliant.forces.base import Braking
from pliant.pattern import added, empty, taken, times
from pliant.state import State
from pliant.systems.acted import Acted, linearised
from pliant.systems.base import Composed, Part
from pliant.systems.stepped import Contacting
from pliant.velocity_programme import VelocitySolution
from pliant.velocity_step import Block, Linearisation, Moved, change_of_momentum


class FreeStep:
    """A part whose velocities u are those of its free coordinates, in the middle of a step.

    ``setting`` says who touches; None without contact.
    """

    def __init__(
        self, system: Part, state: State, h: float, how: Linearisation, setting: Setting | None = None
    ) -> None:
        q, v, t = state.q, state.v, state.t + h
        self.system, self.state, self.how, self._setting = system, state, how, setting
        at = system.prescribe(q + h * v, t) if how.ahead else q
        self._at, self._t = at, t
        A = system.tangent(at, v, t, (1.0, h, how.beta * h * h), psd=how.psd)
        # from q, beta h^2 K v: the positions move with the old velocity too; ahead, they have done so already
        rhs = h * system.force(at, v, t) if how.ahead else change_of_momentum(system, A, q, v, t, h)
        self.change = (system.prescribe(q + h * v, t) - q) / h - v  # prescribed part known, free part unknown
        self.change[system.free] = 0.0
        for force in self._braking():
            A = added(A, force.braking(at, v, t), -h)
        rhs -= A @ self.change
        self._A, self._b = system.restrict(A), rhs[system.free]

    def _braking(self) -> list[Braking]:
        """The forces of contact that need more than their slope."""
        stage = self._stage
        return [] if stage is None else [f for f in stage.force_terms if able(f, Braking)]

    @cached_property
    def _stage(self) -> Composed | None:
        """The system with the contacts of this step; None where it has none."""
        system = self.system
        if not (able(system, Contacting) and able(system, Composed)):
            return None
        return system.at(State(self._at, self.state.v, self._t), self._t)

    @cached_property
    def block(self) -> Block:
        system, q, v = self.system, self.state.q, self.state.v
        n = len(system.free)
        x, J, w = np.zeros((0, 3)), empty(0, n), None
        if self.how.points:
            x, J = system.positions(q), system.point_jacobian(q)
            if n < len(q):
                given = v + self.change
                given[system.free] = 0.0
                w, J = times(J, given), taken(J, None, system.free)
        start = v[system.free]
        return Block(self._A, self._b, x, J, origin=start, w=w, guess=start)

    def acted(self, found: VelocitySolution) -> Acted | None:
        """Contact forces as the step has linearised them."""
        system, how, stage = self.system, self.how, self._stage
        if stage is None or stage is system or not how.psd:
            return None
        h = self._t - self.state.t
        new = self.state.v + self.change
        new[system.free] = found.u
        way = how.beta * h * (new - self.state.v if how.ahead else new)
        old = self._at, self.state.v, self._t
        return linearised(self._setting, stage.energy_terms, stage.force_terms, old, new, way)

    def reach(self, u: Array, h: float) -> float:
        return h

    def finish(self, u: Array, equality: Array, inequality: Array, h: float) -> Moved:
        t = self.state.t + h
        v = self.state.v + self.change
        v[self.system.free] = u
        return Moved(State(self.system.prescribe(self.state.q + h * v, t), v, t))

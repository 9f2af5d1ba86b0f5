"""Classical Runge-Kutta, order 4: the small-step ground truth; stable for h omega_max <= 2.83. [Chen2019, sec. 2.3]"""

from dataclasses import dataclass
from typing import Any, ClassVar

from pliant.arrays import Array
from pliant.integrators.explicit import begun, explicit_report, scripted_velocity
from pliant.linear.threads import one_thread
from pliant.state import State, Step
from pliant.systems.base import System
from pliant.systems.stepped import Smooth


@dataclass(frozen=True)
class RK4:
    """Classical Runge-Kutta: order 4, four force evaluations per step, explicit, stable for h omega_max <= 2.83.

    Scripted coordinates follow their script at every stage.
    """

    order: ClassVar[int] = 4
    made_for: ClassVar[type] = Smooth

    @one_thread()
    def step(self, system: System, state: State, h: float, memory: Any = None) -> Step:
        state, memory = begun(system, state, memory)
        q, v, t = state.q, scripted_velocity(system, state, h), state.t

        def slope(dq: Array, dv: Array, s: float) -> tuple[Array, Array]:
            return v + dv, system.acceleration(system.prescribe(q + dq, t + s), v + dv, t + s)

        q1, v1 = slope(0.0 * q, 0.0 * v, 0.0)
        q2, v2 = slope(0.5 * h * q1, 0.5 * h * v1, 0.5 * h)
        q3, v3 = slope(0.5 * h * q2, 0.5 * h * v2, 0.5 * h)
        q4, v4 = slope(h * q3, h * v3, h)
        q = system.prescribe(q + h / 6.0 * (q1 + 2.0 * q2 + 2.0 * q3 + q4), t + h)
        v = v + h / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4)
        return Step(State(q, v, t + h), memory, (explicit_report(system, state, q, v, h, 4),))

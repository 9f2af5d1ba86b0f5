"""An integrator of your own: one step of a system from a state.

    pliant run chen/elastic-rope --use my_leapfrog.py --set integrator=my-leapfrog --h 0.0001 --duration 0.1

``python my_leapfrog.py`` checks it. A scene file names this file under extensions = ["my_leapfrog.py"].
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import pliant as pl
from pliant.state import State, Step


@pl.register("integrator")
@dataclass(frozen=True)
class MyLeapfrog:
    """Kick, drift, kick: explicit, of order 2. The last acceleration is kept for the next step."""

    order: ClassVar[int] = 2

    def step(self, system: Any, state: State, h: float, memory: Any = None) -> Step:
        a = system.acceleration(state.q, state.v, state.t) if memory is None else memory["a"]
        v = state.v + 0.5 * h * a
        q = system.prescribe(state.q + h * v, state.t + h)
        a = system.acceleration(q, v, state.t + h)
        return Step(State(q, v + 0.5 * h * a, state.t + h), {"a": a})


if __name__ == "__main__":
    from pliant.testing import check_integrator

    net = pl.SpringNet(pl.mesh.spring_net(3, 3), k=40.0, mass=0.05, pins=pl.Pin(np.array([0, 2])))
    check_integrator(pl.Scene([net], integrator=MyLeapfrog(), h=0.002))

"""Tables call a run unstable where it flies apart, and say otherwise where a solver missed its tolerance."""

from dataclasses import dataclass, replace

import numpy as np

from pliant.bench.chen.play import play
from pliant.bodies import SpringNet
from pliant.integrators import LinearlyImplicit
from pliant.mesh import chain
from pliant.scene import Scene
from pliant.state import State


@dataclass(frozen=True)
class Changed:
    """Linearly implicit Euler whose steps end otherwise from the third on."""

    how: str
    order: int = 1

    def step(self, system, state, h, memory=None):
        step = LinearlyImplicit().step(system, state, h, memory)
        if state.t < 1.5 * h:
            return step
        if self.how == "missed":
            return replace(step, reports=tuple(replace(r, converged=False) for r in step.reports))
        return replace(
            step, state=State(step.state.q * (np.nan if self.how == "nan" else 1e6), step.state.v, state.t + h)
        )


def test_why_a_run_ended():
    scene = Scene([SpringNet(chain(3), k=10.0, mass=1.0)])
    system = scene.system()
    ends = {how: play(how, system, scene.initial(system), Changed(how), 0.01, 5) for how in ("missed", "nan", "far")}
    assert ends["missed"].ended == "not converged at step 3" and len(ends["missed"].energies) == 2
    assert ends["nan"].ended == ends["far"].ended == "unstable at step 3"
    whole = play("", system, scene.initial(system), LinearlyImplicit(), 0.01, 5)
    assert whole.ended == "" and whole.stable

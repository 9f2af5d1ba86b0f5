"""Where a step of the marionette goes: CPU time of every phase, from a profile with a CPU clock."""

import cProfile
import pstats
from time import process_time
from typing import Any

from pliant.linear.threads import one_thread
from pliant.scenes.world_marionette import marionette
from pliant.simulate import simulate
from pliant.state import State, Step

# phase -> functions (end of the file's name, function) that make it up; none is called by another one
PHASES: dict[str, tuple[tuple[str, str], ...]] = {
    "preparing parts": (("systems/coupled_step.py", "prepared_parts"), ("systems/coupled_step.py", "__init__")),
    "detection": (("systems/row_contact.py", "touches"),),
    "joining blocks and rows": (("systems/coupled_step.py", "block"),),
    "factor": (("linear/inverse.py", "__init__"),),
    "rows on each other": (("linear/inverse.py", "gram"),),
    "friction": (("linear/staggered.py", "_agreed"),),
    "finishing": (("systems/coupled_step.py", "finish"),),
}
WITHIN: dict[str, tuple[tuple[str, str], ...]] = {  # of preparing: Eulerian cloth only
    "remeshing": (("cloth/remesh.py", "remeshed"),),
}
SOLVE, STEP = ("velocity_step.py", "solve_block"), ("integrators/linearly_implicit.py", "step")


class ProfiledSteps:
    """An integrator, and a profile of its steps after the first three."""

    def __init__(self, integrator: Any) -> None:
        self.integrator, self.order, self.count = integrator, integrator.order, 0
        self.profile = cProfile.Profile(process_time)

    def step(self, system: Any, state: State, h: float, memory: Any = None) -> Step:
        self.count += 1
        if self.count > 3:
            self.profile.enable()
        try:
            return self.integrator.step(system, state, h, memory)
        finally:
            self.profile.disable()


def split(steps: int) -> dict[str, float]:
    """CPU time [ms] per step of the marionette, by phase; "step" is the whole."""
    scene = marionette()
    scene = marionette(duration=steps * float(scene.h))
    profiled = ProfiledSteps(scene.integrator)
    object.__setattr__(scene, "integrator", profiled)  # scenes take integrators of their own list only
    with one_thread():
        for _ in simulate(scene):
            pass
    found: Any = pstats.Stats(profiled.profile).stats  # type: ignore[attr-defined]
    spent = {
        (name, function): 1e3 * row[3] / (profiled.count - 3)
        for (name, _, function), row in found.items()
        if "pliant" in name
    }

    def total(functions: tuple[tuple[str, str], ...]) -> float:
        return sum(ms for (name, f), ms in spent.items() if any(name.endswith(end) and f == g for end, g in functions))

    phases = {phase: total(functions) for phase, functions in (PHASES | WITHIN).items()}
    phases["preparing parts"] -= phases["remeshing"]
    inside = phases["factor"] + phases["rows on each other"] + phases["friction"]
    phases["programme of rows"] = total((SOLVE,)) - inside
    phases["step"] = total((STEP,))
    return phases


def told(phases: dict[str, float]) -> str:
    """The phases as parts of a step, the largest first."""
    whole = phases["step"]
    rest = whole - sum(ms for phase, ms in phases.items() if phase != "step")
    parts = sorted(((ms, phase) for phase, ms in {**phases, "else": rest}.items() if phase != "step"), reverse=True)
    return f"{whole:.0f} ms: " + ", ".join(f"{phase} {100 * ms / whole:.0f} %" for ms, phase in parts)

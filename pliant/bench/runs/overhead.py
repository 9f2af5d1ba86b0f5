"""runs/overhead: what certificate, ledger and recording every frame cost, on BAR with Newton-direct.

CPU time of a run outside the integrator's own steps, relative to that inside them; both are clocked in the same run, so
that a busy machine slows both alike. Building the system is counted on neither side.
"""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from time import process_time
from typing import Any

from pliant.bench.table import Claim, Table
from pliant.integrators import BDF2
from pliant.mesh import bar as bar_mesh
from pliant.record import Output, record
from pliant.scenes.qlb import bar
from pliant.simulate import simulate
from pliant.state import State, Step


class Clocked:
    """An integrator and the CPU seconds spent in its steps."""

    def __init__(self, integrator: Any) -> None:
        self.integrator, self.order, self.seconds = integrator, integrator.order, 0.0

    def step(self, system: Any, state: State, h: float, memory: Any = None) -> Step:
        start = process_time()
        try:
            return self.integrator.step(system, state, h, memory)
        finally:
            self.seconds += process_time() - start


def run(*, quick: bool = False) -> Table:
    mesh = bar_mesh(size=(0.3, 0.1, 0.1), cells=(22, 7, 7)) if quick else None
    scene = replace(bar(mesh=mesh, integrator=BDF2()), on_failure="warn")
    scene = replace(scene, duration=(5 if quick else 6) * scene.h)
    with tempfile.TemporaryDirectory() as folder:  # compile and load everything
        record(replace(scene, duration=scene.h), folder)
    rows = [measured("simulate", scene, lambda clocked: list(simulate(clocked)))]
    with tempfile.TemporaryDirectory() as folder:
        output = Output(checkpoint_every=10)
        rows.append(measured("recorded", scene, lambda clocked: record(clocked, folder, output=output)))
    overhead = rows[-1]["overhead"]
    claim = Claim("certificate + ledger + recording every frame", "<= 5 %", f"{overhead:.1%}", overhead <= 0.05)
    vertices = len(scene.bodies[0].mesh.X)
    return Table("runs/overhead", f"BAR, {vertices} vertices, {scene.steps} steps, CPU time", rows, [claim])


def measured(name: str, scene: Any, call: Callable[[Any], Any]) -> dict[str, Any]:
    """One row: seconds in the integrator and around it."""
    start = process_time()
    scene.initial(scene.system())
    building = process_time() - start
    clocked = Clocked(scene.integrator)
    start = process_time()
    call(replace(scene, integrator=clocked))
    around = process_time() - start - clocked.seconds - building
    return {
        "run": name,
        "integrator [s]": clocked.seconds,
        "around it [s]": around,
        "per step [ms]": 1e3 * around / scene.steps,
        "overhead": around / clocked.seconds,
    }

"""runs/overhead: what certificate, ledger and recording every frame cost, on BAR with Newton-direct.

CPU time of the bare integrator loop, of `simulate`, and of a recorded run with a checkpoint every ten steps, over the
same steps; the memory of each starts warm.
"""

import tempfile
from dataclasses import replace
from time import process_time
from typing import Any

from pliant.bench.table import Claim, Table
from pliant.integrators import BDF2
from pliant.mesh import bar as bar_mesh
from pliant.record import Output, record
from pliant.scenes.qlb import bar
from pliant.simulate import simulate


def run(*, quick: bool = False) -> Table:
    mesh = bar_mesh(size=(0.3, 0.1, 0.1), cells=(22, 7, 7)) if quick else None
    scene = replace(bar(mesh=mesh, integrator=BDF2()), on_failure="warn")
    scene = replace(scene, duration=(5 if quick else 6) * scene.h)
    with tempfile.TemporaryDirectory() as folder:  # compile and load everything
        record(replace(scene, duration=scene.h), folder)
    bare = _cpu(lambda: integrate(scene))
    watched = _cpu(lambda: list(simulate(scene)))
    with tempfile.TemporaryDirectory() as folder:
        recorded = _cpu(lambda: record(scene, folder, output=Output(checkpoint_every=10)))
    rows: list[dict[str, Any]] = [
        {
            "run": name,
            "seconds": seconds,
            "per step [ms]": 1e3 * seconds / scene.steps,
            "overhead": seconds / bare - 1.0,
        }
        for name, seconds in (("integrator alone", bare), ("simulate", watched), ("recorded", recorded))
    ]
    overhead = rows[-1]["overhead"]
    claim = Claim("certificate + ledger + recording every frame", "<= 5 %", f"{overhead:.1%}", overhead <= 0.05)
    vertices = len(scene.bodies[0].mesh.X)
    return Table("runs/overhead", f"BAR, {vertices} vertices, {scene.steps} steps, CPU time", rows, [claim])


def integrate(scene: Any) -> None:
    """The integrator and nothing else."""
    system = scene.system()
    state, memory = scene.initial(system), None
    for _ in range(scene.steps):
        step = scene.integrator.step(system, state, scene.h, memory)
        state, memory = step.state, step.memory


def _cpu(call: Any) -> float:
    start = process_time()
    call()
    return process_time() - start

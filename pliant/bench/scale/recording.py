"""scale/recording: what certificates, ledgers and recordings cost at every size, beside the steps they belong to.

CPU time of a run outside the integrator's own steps, relative to these: with the ledger alone (`simulate`), with
every tenth frame, and with every frame recorded; a checkpoint every fifty steps. What is made once per run is found
from runs of two lengths and left out.
"""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from time import process_time
from typing import Any

from pliant.bench.runs.overhead import Clocked
from pliant.bench.scale.small import H, scene
from pliant.bench.table import Claim, Plot, Table
from pliant.integrators import BDF2
from pliant.linear.threads import one_thread
from pliant.record import Output, record
from pliant.scene import Scene
from pliant.simulate import simulate

CELLS = {48: (4, 2, 1), 384: (8, 4, 2), 6468: (22, 7, 7), 51744: (44, 14, 14)}  # tetrahedra: cells of a bar
STEPS = {48: 200, 384: 100, 6468: 20, 51744: 4}
MOST = 0.05  # the claim

Run = Callable[[Scene], Any]


def recorded(every: int) -> Run:
    """A run with every so many frames recorded."""

    def run(made: Scene) -> None:
        with tempfile.TemporaryDirectory() as folder:
            record(made, folder, output=Output(every=every, checkpoint_every=50))

    return run


RUNS: dict[str, Run] = {
    "ledger": lambda made: list(simulate(made)),
    "ledger, every 10th frame": recorded(10),
    "ledger, every frame": recorded(1),
}


def spent(made: Scene, run: Run) -> tuple[float, float]:
    """CPU seconds inside the steps of a run, and outside."""
    clocked: Any = Clocked(made.integrator)
    begun = process_time()
    run(replace(made, integrator=clocked))
    return clocked.seconds, process_time() - begun - clocked.seconds


def row(tets: int, name: str, repeats: int) -> dict[str, Any]:
    """The least of some runs, inside and outside of steps."""
    n = STEPS[tets]
    long = replace(scene(CELLS[tets]), integrator=BDF2(), duration=2 * n * H)
    short = replace(long, duration=n * H)
    spent(replace(long, duration=2 * H), RUNS[name])  # compiles
    inside, around = [], []
    for _ in range(repeats):
        (a, b), (c, d) = spent(short, RUNS[name]), spent(long, RUNS[name])
        inside.append((c - a) / n)
        around.append((d - b) / n)
    step, rest = min(inside), max(min(around), 0.0)
    return {
        "tets": tets,
        "run": name,
        "step ms": 1e3 * step,
        "around it ms": 1e3 * rest,
        "overhead %": 100.0 * rest / step,
    }


@one_thread()
def run(*, quick: bool = False) -> Table:
    sizes = [48, 384] if quick else list(CELLS)
    rows = [row(tets, name, 1 if quick else 3) for tets in sizes for name in RUNS]
    claims = []
    for tets in sizes:
        part = max(r["overhead %"] for r in rows if r["tets"] == tets) / 100.0
        name = f"certificates, ledger and every frame at {tets} tetrahedra"
        claims.append(Claim(name, f"<= {MOST:.0%}", f"{part:.1%}", part <= MOST))
    notes = [
        "BDF2 with default settings, h = 10 ms, E = 100 kPa. CPU time per step, one thread; the least of three runs. "
        "Frames and ledger lines are written together, once a second and before checkpoints. What is left in scenes of "
        "a few hundred tetrahedra is Python: energies, momenta, certificate and a line of text for steps of half a "
        "millisecond, and a fiftieth of a checkpoint that takes several."
    ]
    return Table(
        "scale/recording",
        "Cost of ledgers and recordings",
        rows,
        claims,
        notes,
        plot=Plot("run", "overhead %", "tets", "y"),
    )

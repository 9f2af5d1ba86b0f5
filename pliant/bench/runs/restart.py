"""runs/restart: run(20) against run(10) + kill -9 in step 11 + resume, byte for byte, for every integrator and solver.

Every killed run lives in a process of its own; when it dies it has already recorded a step that its checkpoint does
not know. All of them are then resumed in one fresh process and compared with runs that were never interrupted.
"""

import os
import signal
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

from pliant.bench.table import Claim, Table
from pliant.bodies import Rayleigh, Solid
from pliant.integrators import IMPLICIT, INTEGRATORS
from pliant.maps.motions import Shake
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar
from pliant.record import Output, load, record, resume
from pliant.scene import Scene
from pliant.solvers import SOLVERS

STEPS, LAST_SAVED, KILLED = 20, 10, 11
QUICK = (("BDF2", "Newton"), ("SDIRK2", "QLB"), ("BDF1", "NewtonPCG"), ("Verlet", ""))


def combinations() -> list[tuple[str, str]]:
    """Every integrator with every solver it can take ("" for those that take none)."""
    pairs = [(i.__name__, s.__name__) for i in IMPLICIT for s in SOLVERS]
    return pairs + [(i.__name__, "") for i in INTEGRATORS if i not in IMPLICIT]


def scene(integrator: str, solver: str) -> Scene:
    """A small shaken, damped bar with this integrator and solver."""
    make: Any = next(i for i in INTEGRATORS if i.__name__ == integrator)
    method = make(solver=next(s for s in SOLVERS if s.__name__ == solver)()) if solver else make()
    mesh = bar(size=(0.4, 0.1, 0.1), cells=(4, 1, 1))
    held = Pin(mesh.where(lambda X: X[:, 0] < 1e-9), Shake((0.0, 0.01, 0.0), 5.0))
    body = Solid(mesh, StableNeoHookean(1e4, 0.4), pins=held, damping=Rayleigh(alpha=0.1, beta=1e-4))
    return Scene([body], integrator=method, h=2e-3, duration=2e-3 * STEPS, on_failure="warn", name="restart")


def run(*, quick: bool = False) -> Table:
    pairs = list(QUICK) if quick else combinations()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as place:
        folders = {pair: Path(place) / "_".join(pair) for pair in pairs}
        child("kill", folders)
        killed = {pair: load(folder).report["status"] == "running" for pair, folder in folders.items()}
        child("resume", folders)
        for (integrator, solver), folder in folders.items():
            whole = folder.with_name("whole_" + folder.name)
            record(scene(integrator, solver), whole, output=Output(checkpoint_every=LAST_SAVED))
            row = {"integrator": integrator, "solver": solver or "-", "killed": killed[integrator, solver]}
            rows.append({**row, "equal": equal(whole, folder)})
    good = sum(row["killed"] and row["equal"] for row in rows)
    wanted = f"{len(rows)} of {len(rows)}"
    claim = Claim("resumed runs equal uninterrupted ones byte for byte", wanted, str(good), good == len(rows))
    return Table("runs/restart", "kill -9 in step 11 of 20, resumed in another process", rows, [claim])


def child(task: str, folders: dict[tuple[str, str], Path]) -> None:
    """Kill or resume all these runs from a fresh process with one thread (it forks)."""
    threads = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    arguments = [part for (i, s), folder in folders.items() for part in (i, s, str(folder))]
    command = [sys.executable, "-m", __name__, task, *arguments]
    subprocess.run(command, check=True, env={**os.environ, **threads})


def equal(a: Path, b: Path) -> bool:
    """Whether two runs have the same final state, frames and ledger, the cost columns left out.

    A factor that is kept over many steps is not saved but made again, so that factorizations may be counted once more.
    """
    cost = ("seconds", "factorizations")
    one, two = load(a), load(b)
    states = [(run.checkpoint.state.q.tobytes(), run.checkpoint.state.v.tobytes()) for run in (one, two)]
    frames = [b"".join(frame.points.tobytes() for frame in run.frames) for run in (one, two)]
    lines = [{k: v.tobytes() for k, v in run.ledger.items() if k not in cost} for run in (one, two)]
    finished = one.report["done"] == two.report["done"] == STEPS
    return bool(finished and states[0] == states[1] and frames[0] == frames[1] and lines[0] == lines[1])


def kill(integrator: str, solver: str, folder: str) -> None:
    """Record in a process that kills itself in step 11."""

    def die(step: Any) -> None:
        if step.index == KILLED:
            os.kill(os.getpid(), signal.SIGKILL)

    pid = os.fork()
    if pid == 0:
        try:
            record(scene(integrator, solver), folder, output=Output(checkpoint_every=LAST_SAVED), watch=die)
        finally:
            os._exit(0)
    _, status = os.waitpid(pid, 0)
    if os.waitstatus_to_exitcode(status) != -signal.SIGKILL:
        sys.stderr.write(f"{integrator} {solver} was not killed\n")


def go_on(integrator: str, solver: str, folder: str) -> None:
    try:
        resume(folder)
    except Exception as error:  # the comparison will say that this one is not equal
        sys.stderr.write(f"{integrator} {solver}: {type(error).__name__}: {error}\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # that a solver gives up on this scene is not the question here
    for k in range(2, len(sys.argv), 3):
        (kill if sys.argv[1] == "kill" else go_on)(*sys.argv[k : k + 3])

"""runs/restart: a run that is killed in its middle and resumed equals one that was not, byte for byte.

Every integrator and solver on a shaken bar, and every kind of mixture: soft, jointed and rigid bodies with cloth, held
apart by penalties, barriers or rows, tied together, with Eulerian cloth. Every killed run (kill -9) lives in a process
of its own; when it dies it has already recorded a step that its checkpoint does not know. All of them are then resumed
in one fresh process and compared with runs that were never interrupted. Mixtures run with two threads besides.
"""

import os
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pliant.bench.table import Claim, Table
from pliant.bench.world.mixtures import collision, resting, rigid_collision
from pliant.bodies import Rayleigh, Solid
from pliant.checkpoint import contents
from pliant.integrators import BDF1, IMPLICIT, INTEGRATORS, LinearlyImplicit
from pliant.maps.motions import Shake
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar
from pliant.record import Output, Run, load, record, recorder, resume
from pliant.scene import Scene
from pliant.scenes.world import gripper
from pliant.scenes.world_cloth import arm_and_cloth
from pliant.scenes.world_marionette import marionette
from pliant.scenes.world_pile import mixed_pile
from pliant.solvers import SOLVERS
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.penalty_contact import PenaltyContact
from pliant.systems.row_contact import RowContact

QUICK = (
    "BDF2 Newton",
    "SDIRK2 QLB",
    "BDF1 NewtonPCG",
    "Verlet",
    "ball, chain and cloth, rows",
    "box and Eulerian cloth",
)
THREADS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Rehearsal:
    """A scene of so many ``steps``, whose checkpoint is of step ``saved`` when it is killed in the next.

    One that is ``described`` by the file in its folder is resumed from that alone.
    """

    build: Callable[[], Scene]
    steps: int = 20
    saved: int = 10
    described: bool = False

    def scene(self) -> Scene:
        made = self.build()
        return replace(made, duration=self.steps * float(made.h))


def _mixtures() -> dict[str, Rehearsal]:
    """Mixtures that touch, before the kill and after it."""
    times: Any = {"h": 2e-3, "duration": 0.04}
    penalty, barrier = PenaltyContact(mu=0.3), BarrierContact(dhat=1e-3, mu=0.3)
    laid = lambda: resting(PenaltyContact(mu=0.3, thickness=1e-3), BDF1(), **times)
    return {
        "ball, chain and cloth, penalties": Rehearsal(lambda: collision(penalty, BDF1(), **times)),
        "ball, chain and cloth, barriers": Rehearsal(lambda: collision(barrier, BDF1(), **times)),
        "ball, bar and cloth, penalties": Rehearsal(lambda: rigid_collision(penalty, BDF1(), **times)),
        "ball, chain and cloth, rows": Rehearsal(lambda: collision(RowContact(mu=0.3), LinearlyImplicit(), **times)),
        **{f"cube and chain on a bed, from step {k}": Rehearsal(laid, saved=k) for k in (5, 10, 15)},
        "pile of five kinds, barriers": Rehearsal(lambda: mixed_pile(5), 24, 18),
        "hand and block": Rehearsal(lambda: gripper(cells=2)),
        "box and Eulerian cloth": Rehearsal(lambda: arm_and_cloth(5), 122, 116),
        "puppet with flesh and cloth": Rehearsal(lambda: marionette(cells=5)),
    }


def _bar(integrator: Any, solver: Any) -> Scene:
    """A small shaken, damped bar with this integrator and solver."""
    method = integrator() if solver is None else integrator(solver=solver())
    mesh = bar(size=(0.4, 0.1, 0.1), cells=(4, 1, 1))
    held = Pin(mesh.where(lambda X: X[:, 0] < 1e-9), Shake((0.0, 0.01, 0.0), 5.0))
    body = Solid(mesh, StableNeoHookean(1e4, 0.4), pins=held, damping=Rayleigh(alpha=0.1, beta=1e-4))
    return Scene([body], integrator=method, h=2e-3, duration=0.04, on_failure="warn", name="restart")


def cases() -> dict[str, Rehearsal]:
    """Every integrator with every solver it can take, and the mixtures."""
    pairs: list[tuple[Any, Any]] = [(i, s) for i in IMPLICIT for s in SOLVERS]
    pairs += [(i, None) for i in INTEGRATORS if i not in IMPLICIT]
    named = lambda i, s: i.__name__ if s is None else f"{i.__name__} {s.__name__}"
    return {named(i, s): Rehearsal(lambda i=i, s=s: _bar(i, s), described=True) for i, s in pairs} | _mixtures()  # type: ignore[misc]


def run(*, quick: bool = False) -> Table:
    names, mixed = list(QUICK) if quick else list(cases()), _mixtures()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as place:
        folders = {name: Path(place) / str(k) for k, name in enumerate(names)}
        child("kill", folders)
        killed = {name: load(folder).report["status"] == "running" for name, folder in folders.items()}
        child("resume", folders)
        whole = {name: folder.with_name(f"whole{folder.name}") for name, folder in folders.items()}
        child("whole", whole)
        twice = {name: folder.with_name(f"twice{folder.name}") for name, folder in folders.items() if name in mixed}
        child("whole", twice, threads=2)
        for name, folder in folders.items():
            row: dict[str, Any] = {"run": name, "steps": cases()[name].steps, "killed": killed[name]}
            row["equal"] = equal(whole[name], folder)
            rows.append(row | ({"two threads": equal(whole[name], twice[name], ())} if name in twice else {}))
    good, threaded = (sum(row.get(k) is True for row in rows) for k in ("equal", "two threads"))
    all_killed = all(row["killed"] for row in rows)
    claims = [
        Claim(
            "resumed runs equal uninterrupted ones byte for byte",
            f"{len(rows)} of {len(rows)}",
            str(good),
            good == len(rows) and all_killed,
        ),
        Claim("mixtures with one and with two threads", f"{len(twice)} equal", str(threaded), threaded == len(twice)),
    ]
    return Table("runs/restart", "kill -9 in the middle, resumed in another process", rows, claims)


def child(task: str, folders: dict[str, Path], threads: int = 1) -> None:
    """Kill, resume or run all these in a fresh process (it forks, so that one thread is all it may have to kill)."""
    arguments = [part for name, folder in folders.items() for part in (name, str(folder))]
    environment = {**os.environ, **dict.fromkeys(THREADS, str(threads))}
    subprocess.run([sys.executable, "-m", __name__, task, *arguments], check=True, env=environment)


def equal(a: Path, b: Path, cost: Iterable[str] = ("factorizations",)) -> bool:
    """Whether two finished runs have the same frames, ledger and checkpoint, times and columns of ``cost`` left out.

    A factor that is kept over many steps is not saved but made again, so that factorizations may be counted once more.
    """
    try:
        one, two = load(a), load(b)
        finished = one.report["status"] == two.report["status"] == "finished"
        return bool(finished and _bytes(one, {"seconds", *cost}) == _bytes(two, {"seconds", *cost}))
    except Exception as error:  # one of them has not run
        sys.stderr.write(f"{a.name} {b.name}: {type(error).__name__}: {error}\n")
        return False


def _bytes(run: Run, cost: set[str]) -> tuple[Any, ...]:
    """Everything in a run that may not depend on how it came about."""
    point = run.checkpoint
    frames = [contents(vars(frame)) for frame in run.frames]
    lines = {k: v.tobytes() for k, v in run.ledger.items() if k not in cost}
    return frames, lines, point.step, contents(point.state), contents(point.memory), contents(point.topology)


def kill(case: Rehearsal, folder: str) -> None:
    """Record in a process that kills itself in the step after the checkpoint."""

    def die(step: Any) -> None:
        if step.index == case.saved + 1:
            os.kill(os.getpid(), signal.SIGKILL)

    pid = os.fork()
    if pid == 0:
        try:
            recorder.LAG = 0.0  # as in slow scenes: the last step is in the files when it is killed
            record(case.scene(), folder, output=Output(checkpoint_every=case.saved), watch=die)
        finally:
            os._exit(0)
    os.waitpid(pid, 0)


def act(task: str, case: Rehearsal, folder: str) -> None:
    """One of the tasks of `child`."""
    if task == "kill":
        kill(case, folder)
    elif task == "resume":
        resume(folder, None if case.described else case.scene(), output=Output(checkpoint_every=case.saved))
    else:
        record(case.scene(), folder, output=Output(checkpoint_every=case.saved))


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # that a solver gives up on this scene is not the question here
    known = cases()
    for name, folder in zip(sys.argv[2::2], sys.argv[3::2], strict=True):
        try:
            act(sys.argv[1], known[name], folder)
        except Exception as error:  # the comparison will say that this one is not equal
            sys.stderr.write(f"{name}: {type(error).__name__}: {error}\n")

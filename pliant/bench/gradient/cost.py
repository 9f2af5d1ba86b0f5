"""gradient/cost: the gradient by one modulus per element against the run it belongs to, in CPU time and memory."""

import gc
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from time import process_time
from typing import Any

import numpy as np

from pliant.adjoint import PointTrajectory, gradient
from pliant.adjoint.problem import Keep
from pliant.bench.table import Claim, Table
from pliant.bodies import Solid
from pliant.integrators import BDF2
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.solvers import ND, Newton

MODULI = ["bodies.bar.material.E"]
KEEPS: tuple[Keep, Keep] = ("all", "few")


def swinging(cells: tuple[int, int, int], steps: int, solver: Any) -> Scene:
    """A bar held at one end falls under its weight."""
    mesh = bar((0.3, 0.1, 0.1), cells)
    held = Pin(np.flatnonzero(mesh.X[:, 0] < 1e-9))
    body = Solid(mesh, StableNeoHookean(np.full(len(mesh.T), 1e5), 0.4), pins=held, name="bar")
    return Scene([body], BDF2(solver), h=0.01, duration=0.01 * steps)


def peak(work: Callable[[], object]) -> float:
    """The most memory that is allocated at a time [MB], as tracemalloc counts it."""
    gc.collect()
    tracemalloc.start()
    work()
    found = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return found


def ran(scene: Scene) -> None:
    for _ in simulate(scene):
        pass


def seconds(work: Callable[[], object]) -> float:
    begun = process_time()
    work()
    return process_time() - begun


def timed(name: str, scene: Scene, loss: PointTrajectory) -> dict[str, Any]:
    """The run, and its gradient with all states kept and with few."""
    gradient(replace(scene, duration=2.0 * float(scene.h)), loss, MODULI)  # compiled, analysed
    run = seconds(lambda: ran(scene))
    every, few = (seconds(lambda k=k: gradient(scene, loss, MODULI, keep=k)) for k in KEEPS)  # type: ignore[misc]
    row = {"solver": name, "steps": scene.steps, "run [s]": run, "gradient with its run [s]": every}
    return {**row, "beyond the run / run": (every - run) / run, "few states: gradient with its runs [s]": few}


def measured(scene: Scene, loss: PointTrajectory) -> dict[str, Any]:
    """Peaks of memory: of the run, and of gradients over the peak of one of two steps, which keeps next to nothing."""
    bare = peak(lambda: gradient(replace(scene, duration=2.0 * float(scene.h)), loss, MODULI))
    run = peak(lambda: ran(scene))
    every, few = (peak(lambda k=k: gradient(scene, loss, MODULI, keep=k)) for k in KEEPS)  # type: ignore[misc]
    row = {"solver": "Newton", "steps": scene.steps, "peak of the run [MB]": run, "all states: peak [MB]": every}
    row |= {"few states: peak [MB]": few, "kept, few / all": (few - bare) / (every - bare)}
    return {**row, "peak above the run, few / all": (few - run) / (every - run)}


def run(*, quick: bool = False) -> Table:
    cells, steps = ((6, 2, 2), 64) if quick else ((22, 7, 7), 100)
    scenes = {name: swinging(cells, steps, solver) for name, solver in (("Newton", Newton()), ("ND", ND()))}
    mesh, last = scenes["Newton"].bodies[0].mesh, 4 * steps
    loss = PointTrajectory(np.array([int(np.argmax(mesh.X[:, 0]))]), np.zeros((last + 1, 1, 3)))
    times = [timed(name, scene, loss) for name, scene in scenes.items()]
    sizes = [measured(swinging(cells, n, Newton()), loss) for n in (steps, last)]
    claims = [
        Claim(f"gradient beyond its run, {row['solver']}", "<= 1.5 of the run", f"{r:.2f}", r <= 1.5)
        for row in times
        for r in [row["beyond the run / run"]]
    ]
    for what in ("kept, few / all", "peak above the run, few / all"):
        part = sizes[0][what]
        claims.append(Claim(f"memory with few states, {steps} steps: {what}", "<= 0.2", f"{part:.2f}", part <= 0.2))
    notes = [
        f"By the moduli of {len(mesh.T)} elements. CPU time of one thread.",
        "Kept is what a gradient has at its peak more than one of two steps has: the states of the run. The peak above "
        "the run also has the body taken apart into its elements and the matrices of one stage, which are there "
        f"however long the run is: in a run of {even(*sizes):.0f} steps the few states have 1/5 of that, too.",
    ]
    return Table("gradient/cost", "What a gradient by all moduli costs", times + sizes, claims, notes)


def even(short: dict[str, Any], long: dict[str, Any]) -> float:
    """The steps n with (few - run) = (all - run)/5, where all grows with n and few does not, as the two rows go on."""
    every, few, bare = "all states: peak [MB]", "few states: peak [MB]", "peak of the run [MB]"
    slope = (long[every] - short[every]) / (long["steps"] - short["steps"])
    wanted = 5.0 * (long[few] - long[bare]) - (long[every] - long[bare])
    return float(long["steps"] + wanted / slope)

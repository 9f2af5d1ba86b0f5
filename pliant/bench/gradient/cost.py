"""gradient/cost: the gradient by one modulus per element against the run it belongs to, in CPU time and memory."""

import tracemalloc
from time import process_time
from typing import Any

import numpy as np

from pliant.adjoint import PointTrajectory, gradient
from pliant.adjoint.operations import Algebra
from pliant.adjoint.problem import Keep, Problem
from pliant.bench.table import Claim, Table
from pliant.bodies import Solid
from pliant.checkpoint import Checkpoint
from pliant.integrators import BDF2
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.solvers import ND, Newton

MODULI = ["bodies.bar.material.E"]


def swinging(cells: tuple[int, int, int], steps: int, solver: Any) -> Scene:
    """A bar held at one end falls under its weight."""
    mesh = bar((0.3, 0.1, 0.1), cells)
    held = Pin(np.flatnonzero(mesh.X[:, 0] < 1e-9))
    body = Solid(mesh, StableNeoHookean(np.full(len(mesh.T), 1e5), 0.4), pins=held, name="bar")
    return Scene([body], BDF2(solver), h=0.01, duration=0.01 * steps)


def megabytes(scene: Scene, keep: Keep) -> float:
    """What is kept of a run at most: checkpoints, and the steps of the longest part of it [MB]."""
    problem = Problem(scene, MODULI)
    list(problem.tapes(Checkpoint(0, problem.begin), problem.begin, 2, Algebra()))  # what every run has
    tracemalloc.start()
    parts = problem.segments(keep)
    start, before, stop = parts[0]
    steps = list(problem.tapes(start, before, stop, Algebra()))
    held = tracemalloc.get_traced_memory()[0] / 2**20
    tracemalloc.stop()
    assert len(steps) == stop
    return held


def peak(scene: Scene, loss: PointTrajectory) -> float:
    """The most that a gradient allocates [MB]."""
    tracemalloc.start()
    gradient(scene, loss, MODULI)
    found = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return found


def run(*, quick: bool = False) -> Table:
    cells, steps = ((6, 2, 2), 64) if quick else ((22, 7, 7), 100)
    rows, ratios = [], {}
    for name, solver in (("Newton", Newton()), ("ND", ND())):
        scene = swinging(cells, steps, solver)
        tip = int(np.argmax(scene.bodies[0].mesh.X[:, 0]))
        loss = PointTrajectory(np.array([tip]), np.zeros((steps + 1, 1, 3)))
        gradient(swinging(cells, 2, solver), loss, MODULI)  # compiled, analysed
        begun = process_time()
        for _ in simulate(scene):
            pass
        forward = process_time() - begun
        begun = process_time()
        found = gradient(scene, loss, MODULI)
        seconds = process_time() - begun
        ratios[name] = (seconds - forward) / forward
        row = {"solver": name, "elements": len(found.flat), "run [s]": forward, "gradient with its run [s]": seconds}
        rows.append({**row, "beyond the run / run": ratios[name]})
    scene = swinging(cells, steps, Newton())
    kept = {"all": megabytes(scene, "all"), "few": megabytes(scene, "few")}
    part = kept["few"] / kept["all"]
    working = peak(swinging(cells, 2, Newton()), loss)
    claims = [
        Claim(f"gradient beyond its run, {solver}", "<= 1.5 of the run", f"{r:.2f}", r <= 1.5)
        for solver, r in ratios.items()
    ]
    claims.append(Claim("memory with few states kept / with all", "<= 0.2", f"{part:.2f}", part <= 0.2))
    notes = [
        "CPU time of one thread.",
        f"What is kept of the run while the sweep goes backwards: {kept['all']:.1f} MB with all states, "
        f"{kept['few']:.1f} MB with few; it grows with the number of steps, or with its square root.",
        f"The matrices and factors of one step, {working:.0f} MB, are needed besides, however long the run is.",
    ]
    return Table("gradient/cost", "What a gradient by all moduli costs", rows, claims, notes)

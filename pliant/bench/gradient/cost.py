"""gradient/cost: the gradient by one modulus per element against the run it belongs to, in CPU time and memory."""

import tracemalloc
from time import process_time
from typing import Any

import numpy as np

from pliant.adjoint import PointTrajectory, gradient
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


def swinging(cells: tuple[int, int, int], steps: int, solver: Any) -> Scene:
    """A bar held at one end falls under its weight."""
    mesh = bar((0.3, 0.1, 0.1), cells)
    held = Pin(np.flatnonzero(mesh.X[:, 0] < 1e-9))
    body = Solid(mesh, StableNeoHookean(np.full(len(mesh.T), 1e5), 0.4), pins=held, name="bar")
    return Scene([body], BDF2(solver), h=0.01, duration=0.01 * steps)


def run(*, quick: bool = False) -> Table:
    cells, steps = ((8, 3, 3), 10) if quick else ((22, 7, 7), 100)
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
    peaks = {}
    for keep in ("all", "few"):
        tracemalloc.start()
        gradient(scene, loss, MODULI, keep=keep)  # type: ignore[arg-type]
        peaks[keep] = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
    part = peaks["few"] / peaks["all"]
    claims = [
        Claim(f"gradient beyond its run, {solver}", "<= 1.5 of the run", f"{r:.2f}", r <= 1.5)
        for solver, r in ratios.items()
    ]
    claims.append(Claim("memory with few states kept / with all", "<= 0.2", f"{part:.2f}", part <= 0.2))
    notes = [
        "CPU time of one thread.",
        f"Most that Python and NumPy allocated: {peaks['all']:.0f} MB with all states, {peaks['few']:.0f} with few.",
    ]
    return Table("gradient/cost", "What a gradient by all moduli costs", rows, claims, notes)

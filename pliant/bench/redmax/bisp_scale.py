"""What a step of joint friction costs against the number of links: chains of 10 to 1,000, and the walker."""

from time import process_time
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.articulated.bisp import BISP
from pliant.bench.table import Claim, Plot, Table
from pliant.linear.box_matrix import BoxMatrix, box_matrix
from pliant.linear.box_qp import BoxSolution, ProjectedNewton
from pliant.linear.threads import one_thread
from pliant.scene import Scene
from pliant.scenes.redmax import chain_with_friction, walker
from pliant.state import Step


class DenseProgramme:
    """The same programme solver on a full matrix."""

    def solve(self, H: Array | BoxMatrix, g: Array, lo: Array, hi: Array, x: Array) -> BoxSolution:
        values = box_matrix(H).values
        full = values if isinstance(values, np.ndarray) else values.toarray()
        return ProjectedNewton().solve(full, g, lo, hi, x)


@one_thread()
def timed(scene: Scene, steps: int, *, dense: bool = False) -> tuple[list[float], list[Step]]:
    """CPU seconds of each step, after two that may compile; and the steps."""
    chosen: Any = scene.integrator
    system = scene.system()
    method = BISP(chosen.friction, box=DenseProgramme()) if dense else BISP(chosen.friction)
    state, memory, spent, taken = scene.initial(), None, [], []
    for k in range(steps + 2):
        start = process_time()
        step = method.step(system, state, float(scene.h), memory)
        if k >= 2:
            spent.append(process_time() - start)
            taken.append(step)
        state, memory = step.state, step.memory
    return spent, taken


def row(case: str, scene: Scene, steps: int, *, dense: bool = False) -> dict[str, Any]:
    spent, taken = timed(scene, steps)
    return {
        "case": case,
        "links": len(scene.system().tree),
        "steps": steps,
        "mean_ms": 1e3 * float(np.mean(spent)),
        "median_ms": 1e3 * float(np.median(spent)),
        "largest_ms": 1e3 * max(spent),
        "iterations": float(np.mean([s.reports[0].iterations for s in taken])),
        "dense_ms": 1e3 * float(np.mean(timed(scene, min(steps, 10), dense=True)[0])) if dense else None,
        "converged": all(r.converged for s in taken for r in s.reports),
    }


def run(*, quick: bool = False) -> Table:
    sizes = (10, 40, 80, 200) if quick else (10, 20, 40, 80, 160, 320, 640, 1000)
    chains = []
    for n in sizes:
        whole = chain_with_friction(0.5, n)
        steps = 20 if quick else (whole.steps if n <= 80 else 100)
        chains.append(row("chain", whole, steps, dense=n <= 80))
    walks = [row("walker, mu 0.4", walker(0.4), 5 if quick else 200)]
    slope = float(np.polyfit(np.log([r["links"] for r in chains]), np.log([r["mean_ms"] for r in chains]), 1)[0])
    eighty = next(r for r in chains if r["links"] == 80)
    good = all(r["converged"] for r in (*chains, *walks))
    claims = [
        Claim("time per step against the number of links", "slope <= 1.2", f"{slope:.2f}", slope <= 1.2),
        Claim("80 links, mean over the run", "<= 5 ms", f"{eighty['mean_ms']:.2f} ms", eighty["mean_ms"] <= 5.0),
        Claim("every step converged", "all", "all" if good else "not all", good),
    ]
    notes = [
        "CPU time on one thread, up to 80 links over the whole run of 2.5 s (500 steps), else over the first 100. "
        "dense_ms: the same step with the friction programme as a full matrix."
    ]
    title = "BISP: time per step against the number of links"
    return Table(
        "redmax/bisp_scale", title, [*chains, *walks], claims, notes, plot=Plot("links", "mean_ms", "case", "xy")
    )

"""CHAIN: bars with frictional hinges fall and stop; what SP costs against BISP [Weidner2022, Fig. 3.2, sec. 3.4]."""

from time import process_time
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.articulated.bisp import BISP
from pliant.articulated.friction import Friction
from pliant.articulated.staggered import StaggeredProjections
from pliant.bench.table import Claim, Table
from pliant.linear.box_matrix import BoxMatrix
from pliant.linear.box_qp import BoxSolution, BoxSolver, General, ProjectedNewton
from pliant.linear.qp import Clarabel
from pliant.linear.threads import one_thread
from pliant.scenes.redmax import chain_with_friction
from pliant.scenes.redmax import run as simulate

REFERENCE = {0.5: (1.53, 1.86), 1.0: (1.49, 1.49)}  # root and tip stop times of an independent implementation [s]
REST = 1e-2  # rad/s


def stop_times(radius: float) -> tuple[float, float, int]:
    """When the root joint and the tip joint come to rest for good, and the largest iteration count."""
    scene = chain_with_friction(radius)
    steps = simulate(scene)
    v = np.abs(np.array([s.state.v for s in steps]))
    last = [int(np.flatnonzero(v[:, j] > REST).max()) + 1 for j in (0, -1)]
    h = float(scene.h)
    return last[0] * h, last[1] * h, max(s.reports[0].iterations for s in steps[1:])


class Timed:
    """A programme solver that clocks itself."""

    def __init__(self, box: BoxSolver) -> None:
        self.box, self.seconds = box, 0.0

    def solve(self, H: Array | BoxMatrix, g: Array, lo: Array, hi: Array, x: Array) -> BoxSolution:
        start = process_time()
        solution = self.box.solve(H, g, lo, hi, x)
        self.seconds += process_time() - start
        return solution


@one_thread()
def cost(links: int, box: BoxSolver, steps: int | None = None) -> list[tuple[float, float]]:
    """CPU seconds per step (all, programmes only) of SP (unilateral) and of BISP; over the whole run, unless given."""
    scene, mu = chain_with_friction(0.5, links), Friction(0.3)
    count, spent = steps or scene.steps, []
    for make in (StaggeredProjections, BISP):
        simulate(scene, integrator=make(mu, box=box), steps=2)  # may compile
        timed = Timed(box)
        start = process_time()
        simulate(scene, integrator=make(mu, box=timed), steps=count)
        spent.append(((process_time() - start) / count, timed.seconds / count))
    return spent


def run(*, quick: bool = False) -> Table:
    rows: list[dict[str, Any]] = []
    found = {}
    for radius in (0.5, 1.0):
        root, tip, iterations = found[radius] = stop_times(radius)
        rows.append(
            {
                "case": f"radius {radius} cm",
                "root_stops": root,
                "tip_stops": tip,
                "reference": REFERENCE[radius],
                "max_iterations": iterations,
            }
        )
    ratios = {}
    for name, box in (("projected Newton", ProjectedNewton()), ("Clarabel", General(Clarabel()))):
        (sp, sp_qp), (bisp, bisp_qp) = cost(10, box, 10 if quick else None)
        ratios[name] = sp / bisp
        rows.append({"case": f"10 links, {name}", "sp_ms": 1e3 * sp, "bisp_ms": 1e3 * bisp, "ratio": sp / bisp})
        rows[-1] |= {"sp_qp_ms": 1e3 * sp_qp, "bisp_qp_ms": 1e3 * bisp_qp, "qp_ratio": sp_qp / bisp_qp}
    thin, thick = found[0.5], found[1.0]
    near = max(abs(thin[k] / REFERENCE[0.5][k] - 1.0) for k in (0, 1)), abs(max(thick[:2]) / 1.49 - 1.0)
    claims = [
        Claim(
            "a larger radius stops earlier",
            "2R before R",
            f"{max(thick[:2]):.2f} s, {max(thin[:2]):.2f} s",
            max(thick[:2]) < max(thin[:2]),
        ),
        Claim(
            "the root stops before the tip (R)", "root first", f"{thin[0]:.2f} s, {thin[1]:.2f} s", thin[0] < thin[1]
        ),
        Claim("stop times", "within 10 % of an independent code", f"{100 * max(near):.1f} %", max(near) < 0.1),
        *(
            Claim(
                f"SP with unilateral contacts against BISP, 10 links, both with {name}",
                "an order of magnitude",
                f"{ratio:.1f}x",
                ratio >= 10.0,
            )
            for name, ratio in ratios.items()
        ),
    ]
    notes = [
        "Both methods run the whole scene with the same solver of programmes; qp columns are the time inside it. The "
        "programme of BISP is sparse, that of SP is not. SP also fits joint coordinates to its drifting bodies once "
        "per step, in Python: most of the rest of its time."
    ]
    return Table("redmax/chain", "CHAIN: joint friction by BISP", rows, claims, notes)

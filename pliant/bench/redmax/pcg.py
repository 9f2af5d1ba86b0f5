"""The O(n) solver: iterations and time per step against the number of bodies and against dense direct [Wang2019]."""

from time import process_time
from typing import Any

import numpy as np

from pliant.articulated.linear import Dense, MatrixFree
from pliant.bench.table import Claim, Table
from pliant.integrators.linearly_implicit import LinearlyImplicit
from pliant.linear.threads import one_thread
from pliant.scene import Scene
from pliant.scenes.redmax import bridge, long_chain, tree, umbrella
from pliant.velocity_step import MatrixChoice


@one_thread()
def measure(scene: Scene, matrix: MatrixChoice, repeats: int) -> tuple[float, float]:
    """Least CPU seconds per step, and the mean number of iterations."""
    method, system = LinearlyImplicit(matrix=matrix), scene.system()
    state = scene.initial(system)
    best, iterations = np.inf, []
    for k in range(repeats + 1):
        start = process_time()
        step = method.step(system, state, float(scene.h))
        spent = process_time() - start
        if k:  # the first one may compile
            best = min(best, spent)
            iterations.append(step.reports[0].counts.inner)
        state = step.state
    return best, float(np.mean(iterations))


def difference(scene: Scene) -> float:
    """PCG against dense direct after one step, relative."""
    u = [
        LinearlyImplicit(matrix=m).step(scene.system(), scene.initial(), float(scene.h)).state.v
        for m in (MatrixFree(), Dense())
    ]
    return float(np.linalg.norm(u[0] - u[1]) / np.linalg.norm(u[1]))


def slope(n: list[int], t: list[float]) -> float:
    return float(np.polyfit(np.log(n), np.log(t), 1)[0])


def run(*, quick: bool = False) -> Table:
    rows: list[dict[str, Any]] = []
    repeats = 3 if quick else 10
    timed: dict[str, tuple[list[int], list[float]]] = {}

    def add(kind: str, scene: Scene, *, dense: bool) -> dict[str, Any]:
        spent, iterations = measure(scene, MatrixFree(), repeats)
        links = scene.system().tree
        r = {"scene": kind, "bodies": len(links), "dof": links.dof, "iterations": iterations}
        r |= {"pcg_ms": 1e3 * spent, "dense_ms": 1e3 * measure(scene, Dense(), 2)[0] if dense else None}
        rows.append(r)
        n, t = timed.setdefault(kind, ([], []))
        n.append(len(links))
        t.append(spent)
        return r

    chains = [
        add("chain", long_chain(n), dense=n <= 1000)
        for n in ((100, 200, 1000) if quick else (20, 50, 100, 200, 500, 1000, 2000, 5000))
    ]
    for n in (20, 100) if quick else (20, 100, 500, 1000):
        add("bridge", bridge(n), dense=n <= 500)
    trees = [add("tree", tree(k), dense=k <= 8) for k in ((4, 6) if quick else (4, 5, 6, 7, 8, 9))]
    for n in (8,) if quick else (8, 32, 128):
        add("umbrella", umbrella(n), dense=n <= 32)
    large = [r for r in chains if r["bodies"] >= 200]
    growth = slope([r["bodies"] for r in large], [r["pcg_ms"] for r in large])
    direct = [r for r in chains if r["dense_ms"] and r["bodies"] >= 200]
    dense_growth = slope([r["bodies"] for r in direct], [r["dense_ms"] for r in direct])
    hundred = next(r for r in chains if r["bodies"] == 100)
    thousand = next(r for r in chains if r["bodies"] == 1000)
    ratio = trees[-1]["iterations"] / trees[0]["iterations"]
    worst = max(difference(s) for s in (bridge(20), tree(5), umbrella(8)))
    claims = [
        Claim("the solution is that of dense direct", "1e-5", f"{worst:.1e}", worst < 1e-5),
        Claim(
            "iterations nearly constant (tree)",
            "< 2.5x for 18x the coordinates",
            f"{ratio:.2f}x for {trees[-1]['dof'] / trees[0]['dof']:.0f}x",
            ratio < 2.5,
        ),
        Claim("time per step against n, 200 bodies and more", "slope <= 1.2", f"{growth:.2f}", growth <= 1.2),
        Claim("dense direct", "slope > 2", f"{dense_growth:.2f}", dense_growth > 2.0),
        Claim(
            "faster than dense direct at 100 bodies",
            "crossover <= 100",
            f"{hundred['pcg_ms']:.2f} against {hundred['dense_ms']:.2f} ms",
            hundred["pcg_ms"] < hundred["dense_ms"],
        ),
        Claim(
            "a chain of 1000 bodies", "<= 15 ms per step", f"{thousand['pcg_ms']:.2f} ms", thousand["pcg_ms"] <= 15.0
        ),
    ]
    return Table("redmax/pcg", "PCG with projected block Jacobi", rows, claims)

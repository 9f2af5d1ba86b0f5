"""chen/table6_2: cost and stability of SI, SIERE, ERE and BE on the thesis's meshes. [Chen2019, Table 6.2]"""

from collections.abc import Callable
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np

from pliant.bench.chen.energies import BE, SI
from pliant.bench.chen.play import Played, play
from pliant.bench.table import Claim, Table
from pliant.integrators import ERE, SIERE
from pliant.integrators.exponential import Krylov, Mass, increment
from pliant.integrators.linearised import linearise
from pliant.scene import Scene
from pliant.scenes import chen_structures as scenes
from pliant.scenes.chen_meshes import thesis_mesh
from pliant.state import Counts, State

PROBE = 20  # substeps of the exponential from which the cost of a whole ERE step is estimated


@dataclass(frozen=True)
class EnergyCase:
    """A row of the table: the scene, its peak modulus, the thesis's seconds for SI, SIERE and ERE or a word."""

    name: str
    scene: Callable[[], Scene]
    E: float
    paper: tuple[str, str, str]
    s: int = 5


CASES = [
    EnergyCase("ball", lambda: scenes.hanging_ball(1e8), 1e8, ("44", "97", "36")),
    EnergyCase("ball", lambda: scenes.hanging_ball(1e10), 1e10, ("42", "96", "112")),
    EnergyCase("cuboid", lambda: scenes.cuboid(1e5), 1e5, ("unstable", "110", "unstable")),
    EnergyCase("honeycomb", lambda: scenes.honeycomb(1e8), 1e8, ("85", "154", "537")),
    EnergyCase("honeycomb", lambda: scenes.honeycomb(1e10), 1e10, ("84", "156", "5840")),
    EnergyCase("moebius", lambda: scenes.moebius_ball(1e8), 1e8, ("162", "223", "5780")),
    EnergyCase("moebius", lambda: scenes.moebius_ball(1e10), 1e10, ("154", "260", "> 20x")),
    EnergyCase("rope", lambda: scenes.coiled_rope(1e6), 1e6, ("unstable", "651", "> 20x"), s=1),
    EnergyCase("eiffel", lambda: scenes.tower(3e7), 3e7, ("631", "2315", "> 20x")),
]


def measure(case: EnergyCase, steps: int, repeats: int) -> dict[str, Played]:
    """The runs of all four methods; SI and SIERE take turns ``repeats`` times and keep the cheapest step times."""
    scene = case.scene()
    system, h = scene.system(), float(scene.h)
    start = scene.initial(system)
    methods: dict[str, Any] = {"SI": SI, "SIERE": SIERE(s=case.s)}
    best: dict[str, Played] = {}
    for _ in range(repeats):
        for name, integrator in methods.items():
            run = play(name, system, start, integrator, h, steps)
            if name not in best or run.per_step() < best[name].per_step():
                best[name] = run
    best["ERE"] = play_ere(system, start, h, steps, best["SIERE"])
    budget = 20.0 * sum(best["SIERE"].seconds)
    best["BE"] = play("BE", system, start, BE, h, max(4, steps // 3), budget=budget)
    return best


def play_ere(system: Any, start: State, h: float, steps: int, siere: Played) -> Played:
    """ERE if a step costs less than twenty of SIERE's; else only an estimate of its cost, from a part of one step."""
    begin = process_time()
    linear = linearise(system, start, h, at=start.t, psd=False)
    _, _, result = increment(linear, Mass(linear.M), h, Krylov(max_substeps=PROBE))
    cost = (process_time() - begin) * h / max(result.reached, 1e-12 * h)
    if cost <= 20.0 * siere.per_step():
        return play("ERE", system, start, ERE(), h, steps, budget=20.0 * sum(siere.seconds))
    products = round(result.products * h / max(result.reached, 1e-12 * h))
    return Played("ERE", h, seconds=[cost], counts=[Counts(inner=products)], ended="stopped: too slow")


def row(case: EnergyCase, runs: dict[str, Played]) -> dict[str, object]:
    cost = {name: run.per_step() for name, run in runs.items()}
    siere = runs["SIERE"]
    ms = lambda name: f"{1e3 * cost[name]:.1f}" + (f" ({runs[name].ended})" if runs[name].ended else "")
    solves = [c.solves for c in siere.counts[1:]]
    return {
        "mesh": case.name,
        "E [Pa]": f"{case.E:.0e}",
        **{f"{name} [ms/step]": ms(name) for name in ("SI", "SIERE", "ERE", "BE")},
        "SIERE/SI": "-" if runs["SI"].ended else round(cost["SIERE"] / cost["SI"], 2),
        "thesis SIERE/SI": _ratio(case.paper),
        "ERE/SIERE": round(cost["ERE"] / cost["SIERE"], 2),
        "solves/step": round(float(np.mean(solves)), 1) if solves else 0.0,
        "ERE products/step": round(float(np.mean([float(c.inner) for c in runs["ERE"].counts] or [np.nan]))),
        "thesis SI, SIERE, ERE [s]": ", ".join(case.paper),
    }


def _ratio(paper: tuple[str, str, str]) -> str:
    return f"{float(paper[1]) / float(paper[0]):.2f}" if paper[0] != "unstable" else "-"


def run(*, quick: bool = False) -> Table:
    cases = [c for c in CASES if not quick or c.name in ("ball", "honeycomb")]
    steps, repeats = (12, 2) if quick else (40, 3)
    rows, claims = [], []
    ratios: dict[str, list[float]] = {}
    for case in cases:
        runs = measure(case, steps, repeats)
        rows.append(row(case, runs))
        ratio = runs["SIERE"].per_step() / runs["SI"].per_step()
        ratios.setdefault(case.name, []).append(ratio)
        label = f"{case.name} {case.E:.0e}"
        if not runs["SI"].ended:
            claims.append(
                Claim(f"{label}: SIERE/SI", f"{_ratio(case.paper)}, target <= 1.5", f"{ratio:.2f}", ratio <= 1.5)
            )
        claims.append(
            Claim(f"{label}: SIERE is stable", "stable", runs["SIERE"].ended or "stable", runs["SIERE"].stable)
        )
        if case.paper[2] != "unstable" and case.name != "ball":
            more = runs["ERE"].per_step() / runs["SIERE"].per_step()
            claims.append(Claim(f"{label}: ERE costs more than SIERE", "> 1", f"{more:.1f}", more > 1.0))
    for name, pair in ratios.items():
        if len(pair) == 2:
            change = abs(pair[0] / pair[1] - 1.0)
            claims.append(
                Claim(f"{name}: ratio does not depend on E", "<= 15 %", f"{100 * change:.0f} %", change <= 0.15)
            )
    notes = [thesis_mesh(n).note for n in dict.fromkeys(c.name for c in cases) if n != "cuboid"]
    notes += [
        "cuboid: a grid of the source's size",
        "ERE stopped as too slow: its cost is extrapolated from 20 substeps",
        "CPU time of one thread, median step, first modes left out",
    ]
    return Table("chen/table6_2", "SI, SIERE, ERE and BE on the thesis's meshes", rows, claims, notes)

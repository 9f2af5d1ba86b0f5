"""solvers/default: every built-in scene that comes with Newton's method, projected always (before) and as it is now.

Joints and multipliers have nothing to project and are left out, and so is a scene in which nothing moves. Both solvers
walk their own way and take turns after each step, until one of them has spent ``SPEND`` seconds. A contest in which a
kernel had to be compiled does not count and is played again.
"""

import sys
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.bench.race import Runner, middle
from pliant.bench.table import Claim, Table
from pliant.integrators.base import Staged
from pliant.kernels.compiling import announced
from pliant.scene import Scene
from pliant.scenes import built_in
from pliant.solvers import ND, Newton

SPEND = 2.0  # CPU seconds per scene and solver
TRIES = 5  # a contest gets farther each time, and may meet further kernels
BEFORE, AFTER = ND(), Newton()
QUICK = ("bar-twist", "net", "contact/incline", "ledwon/hanging-cloth")


def run(*, quick: bool = False, only: str | None = None) -> Table:
    """All scenes, or those whose names contain ``only``."""
    rows, left = [], []
    for name, make in built_in().items():
        if (quick and name not in QUICK) or (only and only not in name):
            continue
        scene = make()
        if not has_default(scene):
            continue
        row = played(name, scene, 0.5 if quick else SPEND)
        if row is None or not row["before iterations"]:
            left.append(name)
            continue
        rows.append(row)
        sys.stderr.write(f"{rows[-1]}\n")
    notes = [
        f"Interleaved steps on one thread, CPU time; at most {SPEND:g} s for each scene and solver.",
        "Scenes that take one to three iterations with projected blocks gain nothing from the exact tangent, only from"
        " factors that are used again."
        " Newton's method is the right choice for them: QLB pays where a factorization costs many forces, from some ten"
        " thousand unknowns on, and is what the larger scenes (qlb/bar, qlb/arma) come with.",
        f"Left out: {len(left)} scenes without a symmetric stage or at rest ({', '.join(left) or 'none'}).",
    ]
    return Table(
        "solvers/default", "Newton: projected always (before) and on demand (after)", rows, claims(rows), notes
    )


def has_default(scene: Scene) -> bool:
    """Whether the scene comes with Newton's method."""
    return isinstance(scene.integrator, Staged) and isinstance(scene.integrator.solver, Newton)


def played(name: str, scene: Scene, spend: float) -> dict[str, Any] | None:
    """The row of a scene, or None where its stages are not symmetric."""
    row = None
    for _ in range(TRIES):
        compiled: list[str] = []
        with announced(compiled.append, lambda name, seconds: None):
            pair = contestants(scene)
            row = None if pair is None else compared(name, *pair, spend)
        if not compiled:
            break
    return row


def contestants(scene: Scene) -> tuple[Runner, Runner] | None:
    """The scene with both solvers, or None where its stages are not symmetric."""
    if not scene.system().symmetric:
        return None
    chosen: Any = scene.integrator
    before, after = (
        Runner(name, replace(scene, integrator=replace(chosen, solver=solver)))
        for name, solver in (("before", BEFORE), ("after", AFTER))
    )
    for runner in (before, after):  # compile and analyse
        runner.scene.integrator.step(runner.system, runner.state, float(scene.h), None)
    return before, after


def compared(name: str, before: Runner, after: Runner, spend: float) -> dict[str, Any]:
    """Both solvers over the same number of steps."""
    steps = 0
    while steps < before.scene.steps and max(before.seconds, after.seconds) < spend:
        for runner in (before, after):
            runner.step()
        steps += 1
    each: dict[str, Any] = {"scene": name, "unknowns": len(before.system.free), "steps": steps}
    for title, runner in (("before", before), ("after", after)):
        each[f"{title} ms/step"] = round(1e3 * runner.seconds / steps, 2)
        each[f"{title} iterations"] = round(runner.iterations / steps, 2)
        each[f"{title} factorizations"] = round(runner.counts.factorizations / steps, 2)
        each[f"{title} failed"] = f"{runner.failures}/{runner.solves}"
    low, high = middle(before, after)
    spread = {"in half of the steps": f"{low:.1f}-{high:.1f}"}
    why = reason(each["before iterations"], each["after iterations"])
    return each | {"before / after": round(before.seconds / after.seconds, 2)} | spread | {"gains nothing": why}


def reason(before: float, after: float) -> str:
    """Why a scene has nothing to gain, by its iterations per step; empty where it has."""
    if before < 1.1:
        return "linear: one iteration"
    if after > 0.95 * before:
        return "no block is ever indefinite"
    return "two or three iterations" if before <= 3.0 else ""


def claims(rows: list[dict[str, Any]]) -> list[Claim]:
    ratios = {row["scene"]: row["before / after"] for row in rows}
    slowest = min(ratios, key=lambda name: ratios[name])
    median = float(np.median(list(ratios.values())))
    hard = [row["before / after"] for row in rows if row["before iterations"] > 3.0]
    gained = float(np.median(hard)) if hard else float("nan")
    failed = {t: sum(int(row[f"{t} failed"].split("/")[0]) for row in rows) for t in ("before", "after")}
    fewer = failed["after"] <= failed["before"]
    return [
        Claim("no scene slower by more than 5 %", "ours", f"{ratios[slowest]}x ({slowest})", ratios[slowest] >= 0.95),
        Claim("median at least 1.5x faster", "ours", f"{median:.2f}x of {len(ratios)} scenes", median >= 1.5),
        Claim("the same of scenes with > 3 iterations", "ours", f"{gained:.2f}x of {len(hard)}", gained >= 1.5),
        Claim("no more failed solves than before", "ours", f"{failed['after']}, before {failed['before']}", fewer),
    ]

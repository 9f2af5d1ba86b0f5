"""ledwon/xpbd_vs_pd: XPBD, Projective Dynamics, PD with L-BFGS, QLB and Newton on the same energies.

Four scenes: hanging cloth, a twisted bar, a falling figure, a stiff chain whose last mass is 1000 times the others.
Four studies: error of one implicit Euler stage against work; error of whole runs to a fine-step reference against work;
how the iterations to 1 % depend on stiffness and resolution; energy lost by stopping early. Times are CPU time.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pliant.bench.ledwon.contest import METHODS, attempt, iterations_to, moment, simulate
from pliant.bench.ledwon.figures import Rows, draw
from pliant.bench.table import Claim, Table
from pliant.integrators import BDF1, SDIRK2, XPBD
from pliant.scene import Scene
from pliant.scenes.ledwon import FRAME, falling_figure, hanging_cloth, stiff_chain, twisted_bar
from pliant.solvers import PD, QLB, Newton, Tolerance

LADDER = {"XPBD": (1, 5, 20, 100, 400), "PD": (1, 5, 20, 100), "PD + L-BFGS": (1, 5, 20, 60), "QLB": (1, 3, 8, 20)}
LOOSE = Tolerance(relative=1e-3)
NEWTON = Newton(project="on_demand", tolerance=LOOSE)  # its faster form here


def scenes(quick: bool) -> dict[str, Scene]:
    size = {"cells": 10} if quick else {"cells": 30}
    return {
        "hanging cloth": hanging_cloth(**size),
        "twisted bar": twisted_bar(cells=(6, 2, 2) if quick else (15, 5, 5)),
        "falling figure": falling_figure(cells=8 if quick else 16),
        "stiff chain": stiff_chain(),
    }


def row(study: str, scene: str, method: str, setting: Any, **measured: float | None) -> dict[str, Any]:
    given = {"error": None, "cpu ms": None, "value": None, **{k.replace("_", " "): v for k, v in measured.items()}}
    return {"study": study, "scene": scene, "method": method, "setting": setting, **given}


def stage_study(quick: bool) -> Rows:
    """One frame's stage in mid-motion: error after a number of iterations, and what they cost."""
    rows = []
    for name, scene in scenes(quick).items():
        now = moment(scene, 12 if quick else 15)
        for method in METHODS:
            for k in LADDER.get(method, (1, 2, 4, 7)):
                error, seconds = attempt(now, method, k)
                rows.append(row("stage", name, method, k, error=error, cpu_ms=1e3 * seconds))
    return rows


def run_choices() -> dict[str, list[tuple[Any, Any]]]:
    """Integrators for whole runs at one step per frame, by method: (setting, integrator)."""
    return {
        "XPBD": [(f"1 x {k}", XPBD(1, k)) for k in (5, 20, 80)],
        "XPBD substeps": [(f"{k} x 1", XPBD(k, 1)) for k in (5, 20, 80)],
        "PD": [(k, BDF1(PD(m=0, fixed=k))) for k in (3, 10, 30)],
        "PD + L-BFGS": [(k, BDF1(PD(m=5, fixed=k))) for k in (3, 10, 30)],
        "QLB": [("1e-3", BDF1(QLB(tolerance=LOOSE))), ("1e-3, order 2", SDIRK2(QLB(tolerance=LOOSE)))],
        "Newton": [("1e-3", BDF1(NEWTON)), ("1e-3, order 2", SDIRK2(NEWTON))],
    }


def run_study(quick: bool) -> Rows:
    """Positions after a while, against a second order run with a fine step; relative to the distance travelled."""
    rows = []
    duration = (12 if quick else 24) * FRAME
    fine = FRAME / (8 if quick else 32)
    for name, scene in scenes(quick).items():
        exact, _, system = simulate(scene, SDIRK2(QLB(reuse="steps")), fine, duration)
        start = scene.initial(system).q
        for method, choices in run_choices().items():
            for setting, integrator in choices:
                state, seconds, _ = simulate(scene, integrator, FRAME, duration)
                error = float(np.linalg.norm(state.q - exact.q) / np.linalg.norm(exact.q - start))
                rows.append(row("run", name, method, setting, error=error, cpu_ms=1e3 * seconds))
    return rows


def dependence_study(quick: bool) -> Rows:
    """Iterations to 1 % of the prediction's error, for softer and stiffer, coarser and finer cloth."""
    cases: dict[str, Callable[[], Scene]] = {
        f"k = {k:g} N/m": lambda k=k: hanging_cloth(8 if quick else 16, k=k)  # type: ignore[misc]
        for k in (1e2, 1e3, 1e4)
    }
    cases |= {
        f"{c} x {c} cells": lambda c=c: hanging_cloth(c, k=1e3)  # type: ignore[misc]
        for c in ((6, 12) if quick else (8, 16, 32))
    }
    rows = []
    for name, build in cases.items():
        now = moment(build(), 6 if quick else 12)
        for method in METHODS:
            found = iterations_to(now, method, 0.01, 100 if quick else 1000)
            rows.append(row("dependence", name, method, "iterations to 1 %", value=found))
    return rows


def damping_study(quick: bool) -> Rows:
    """Energy that a chain of ten springs (1e4 N/m, equal masses) loses in half a second, against the iterations."""
    scene = stiff_chain(k=1e4, ratio=1.0, mass=0.05)
    counts = (1, 5, 20) if quick else (1, 5, 10, 50, 200)
    choices: list[tuple[str, int, Any]] = [("PD", k, BDF1(PD(m=0, fixed=k))) for k in counts]
    choices += [("PD + L-BFGS", k, BDF1(PD(m=5, fixed=k))) for k in counts]
    choices += [("XPBD", k, XPBD(1, k)) for k in counts[1:]]  # one sweep of the whole frame explodes here
    choices += [("XPBD substeps", k, XPBD(k, 1)) for k in counts[1:]]
    choices += [("Newton", 1, BDF1(Newton(project="on_demand")))]
    rows = []
    for method, k, integrator in choices:
        state, _, system = simulate(scene, integrator, FRAME, 0.5)
        start = scene.initial(system)
        before, after = (sum(system.energies(s.q, s.v, s.t).values()) for s in (start, state))
        rows.append(row("damping", "chain", method, k, value=before - after))
    return rows


def pick(rows: Rows, study: str, scene: str, method: str, key: str = "error") -> list[Any]:
    wanted = (study, scene, method)
    return [r[key] for r in rows if (r["study"], r["scene"], r["method"]) == wanted]


def claims(rows: Rows, quick: bool) -> list[Claim]:
    out = []
    for scene in ("hanging cloth", "stiff chain"):
        best = {m: min(pick(rows, "stage", scene, m)) for m in METHODS}
        text = ", ".join(f"{m} {e:.1e}" for m, e in best.items())
        converging = max(best["QLB"], best["Newton"]) < best["XPBD"]
        out.append(Claim(f"{scene}: matrix methods go on where XPBD stops", "expected", text, converging))
    for scene in ("hanging cloth", "twisted bar", "stiff chain"):
        iterated, stepped = pick(rows, "run", scene, "XPBD")[1], pick(rows, "run", scene, "XPBD substeps")[1]
        text = f"{stepped:.3f} against {iterated:.3f}"
        out.append(Claim(f"{scene}: 20 substeps beat 20 iterations", "[Macklin2019]", text, stepped < iterated))
    bar = moment(twisted_bar(cells=(6, 2, 2) if quick else (9, 3, 3), turns=1.0), 10 if quick else 20)
    plain, pairs = (
        PD(m=m, tolerance=Tolerance(1e-6, 0.0)).solve(bar.stage, bar.stage.frame[bar.system.free]).report.iterations
        for m in (0, 5)
    )
    out.append(
        Claim("twisted bar: L-BFGS saves iterations to 1e-6", ">= 3 x", f"{plain} -> {pairs}", plain >= 3 * pairs)
    )
    losses = pick(rows, "damping", "chain", "PD", "value")
    exact = pick(rows, "damping", "chain", "Newton", "value")[0]
    text = " > ".join(f"{x:.3f}" for x in losses) + f" -> {exact:.3f} J"
    falling = bool(np.all(np.diff(losses) < 0)) and losses[-1] > 0.99 * exact
    out.append(Claim("PD: fewer iterations, more numerical damping", "[Ledwon2024] asks", text, falling))
    soft, stiff = (pick(rows, "dependence", f"k = {k} N/m", "PD", "value")[0] for k in (100, 10000))
    newton = pick(rows, "dependence", "k = 10000 N/m", "Newton", "value")[0]
    worse = stiff is None or (soft is not None and stiff > 3 * soft)
    out.append(Claim("PD slows down with stiffness, Newton hardly", "expected", f"{soft} -> {stiff}, {newton}", worse))
    return out


def run(*, quick: bool = False, folder: str | Path | None = None) -> Table:
    rows = stage_study(quick) + run_study(quick) + dependence_study(quick) + damping_study(quick)
    where = Path(folder) if folder is not None else Path(tempfile.mkdtemp(prefix="pliant-"))
    figures = draw(rows, where)
    for r in rows:
        for key in ("error", "cpu ms", "value"):
            r[key] = None if r[key] is None else float(f"{r[key]:.4g}")
    notes = [
        "stage error: distance to the converged stage over that of the prediction; 1 means no progress",
        "XPBD's fixed point is not implicit Euler: it drops geometric stiffness, so its stage error levels off",
        "PD without pairs on stable neo-Hookean bodies is the quasi-Newton iteration with a line search",
    ]
    return Table(
        "ledwon/xpbd_vs_pd", "XPBD, PD, QLB and Newton on the same scenes", rows, claims(rows, quick), notes, figures
    )

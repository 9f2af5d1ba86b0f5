"""qlb/fig3: ND, QLF and QLB over BAR and ARMA with everything varied that the paper varies. [QLB2021, Fig. 3 a-h]

(a) stiffness, (b) Poisson's ratio, (c) heterogeneity, (d) anisotropy, (e) integrator, (f) damping, (g) material,
(h) step size. ND-exact (projection on demand) is added as the honest opponent: with projection always on, Newton is
only linearly convergent. Set PLIANT_BENCH_STEPS to limit the number of time steps of each run.
"""

import os
from collections.abc import Callable
from typing import Any

from pliant.bench.race import Runner, race, ratio
from pliant.bench.table import Claim, Table
from pliant.integrators import BDF1, BDF2, Quasistatic
from pliant.mesh import Mesh
from pliant.mesh import bar as bar_mesh
from pliant.scene import Scene
from pliant.scenes.qlb import arma, armadillo, bar
from pliant.solvers import QLB, QLF, Newton

SOLVERS: dict[str, Any] = {"ND": Newton(), "ND-exact": Newton(project="on_demand"), "QLF": QLF(), "QLB": QLB()}


def solved_by(build: Callable[..., Scene], name: str, integrator: Any = BDF2, **options: Any) -> Runner:
    return Runner(name, build(integrator=integrator(SOLVERS[name]), **options))


def cases(quick: bool) -> dict[str, tuple[Callable[..., Scene], dict[str, Any]]]:
    small: dict[str, Any] = {"mesh": bar_mesh(size=(0.3, 0.1, 0.1), cells=(18, 6, 6))} if quick else {}
    figure: dict[str, Any] = {"mesh": _coarse_figure() if quick else armadillo()}
    out: dict[str, tuple[Callable[..., Scene], dict[str, Any]]] = {}
    for E in (6e3, 2e4, 5e4, 1e5):
        out[f"BAR E={E:g}"] = (bar, {"E": E, **small})
    out["BAR nu=0.42"] = (bar, {"nu": 0.42, **small})
    out["BAR hetero"] = (bar, {"E": (6e4, 2e4), **small})
    out["BAR aniso"] = (bar, {"fibre": 3e4, **small})
    out["BAR BDF1"] = (bar, {"integrator": BDF1, **small})
    out["BAR quasistatic"] = (bar, {"integrator": Quasistatic, "damping": 0.0, **small})
    out["ARMA"] = (arma, figure)
    out["ARMA damping=1e-6"] = (arma, {"damping": 1e-6, **figure})
    out["ARMA StVK"] = (arma, {"material": "stvk", **figure})
    for h in (5e-3, 2e-2):
        out[f"ARMA h={h:g}"] = (arma, {"h": h, **figure})
    return out


def _coarse_figure() -> Mesh:
    from pliant.mesh import figure

    return figure(cells=14)


def run(*, quick: bool = False, only: str | None = None) -> Table:
    rows: list[dict[str, Any]] = []
    won: dict[str, list[Runner]] = {}
    limit = int(os.environ.get("PLIANT_BENCH_STEPS", "1000000"))
    for case, (build, options) in cases(quick).items():
        if only and only not in case:
            continue
        runners = [solved_by(build, name, **options) for name in SOLVERS]
        won[case] = race(runners, min(runners[0].scene.steps, limit))
        for runner in runners:
            rows.append(runner.row(case) | {"ND / this": round(ratio(runners, "ND", runner.name), 2)})
    notes = [
        "CPU seconds, one thread; solvers take turns after every time step.",
        "Paper: i7-7700, C++, CHOLMOD with MKL.",
    ]
    return Table("qlb/fig3", "QLB against Newton and a frozen factor", rows, claims(won), notes)


def claims(won: dict[str, list[Runner]]) -> list[Claim]:
    """QLB-1 to QLB-6 where their cases were run."""
    out = []
    stiff = "BAR E=1e+05" if "BAR E=1e+05" in won else "BAR E=100000"
    if stiff in won:
        x, exact = ratio(won[stiff], "ND", "QLB"), ratio(won[stiff], "ND-exact", "QLB")
        out.append(Claim("QLB-1 BAR E=1e5, against ND", "7.9x (pass: >= 3x)", f"{x:.1f}x", x >= 3.0))
        out.append(Claim("QLB-1 BAR E=1e5, against ND-exact", "not in the paper", f"{exact:.1f}x", exact >= 1.0))
        soft = "BAR E=6000"
        if soft in won:
            growth = {n: _seconds(won[stiff], n) / _seconds(won[soft], n) for n in SOLVERS}
            holds = growth["QLB"] < growth["ND"] and growth["QLB"] < growth["QLF"]
            shown = ", ".join(f"{n} {g:.2f}" for n, g in growth.items())
            out.append(Claim("QLB-1 time grows least with E", "yes", shown, holds))
    base = next((c for c in won if c in ("BAR E=20000", "BAR E=2e+04")), None)
    if base and "BAR nu=0.42" in won:
        faster = all(_seconds(won["BAR nu=0.42"], n) < _seconds(won[base], n) for n in ("ND", "QLF", "QLB"))
        fastest = all(_fastest(won[c]) == "QLB" for c in (base, "BAR nu=0.42"))
        out.append(Claim("QLB-2 nu=.42 faster for all, QLB fastest", "yes", f"{faster}, {fastest}", faster and fastest))
    for case in ("BAR hetero", "BAR aniso"):
        if base and case in won:
            slow = {n: _seconds(won[case], n) / _seconds(won[base], n) for n in ("ND", "QLF", "QLB")}
            shown = ", ".join(f"{n} {g:.2f}" for n, g in slow.items())
            out.append(Claim(f"QLB-3 {case} slows all three", "yes", shown, all(g > 1.0 for g in slow.values())))
    if base and "BAR quasistatic" in won:
        slowest = all(_seconds(won["BAR quasistatic"], n) >= _seconds(won["BAR BDF1"], n) for n in ("ND", "QLF", "QLB"))
        out.append(Claim("QLB-4 quasistatic slowest", "yes", str(slowest), slowest))
    if "ARMA" in won:
        a, b = ratio(won["ARMA"], "ND", "QLB"), ratio(won["ARMA"], "QLF", "QLB")
        out.append(Claim("QLB-6 ARMA against ND", "3.1x (pass: >= 1.5x)", f"{a:.2f}x", a >= 1.5))
        out.append(Claim("QLB-6 ARMA against QLF", "3.9x (pass: >= 1.5x)", f"{b:.2f}x", b >= 1.5))
        arma_cases = [c for c in won if c.startswith("ARMA")]
        first = [c for c in arma_cases if _fastest(won[c]) == "QLB"]
        out.append(
            Claim("QLB-6 fastest in every ARMA variant", "yes", f"{len(first)}/{len(arma_cases)}", first == arma_cases)
        )
    return out


def _seconds(runners: list[Runner], name: str) -> float:
    return next(r.seconds for r in runners if r.name == name)


def _fastest(runners: list[Runner]) -> str:
    """The fastest of the paper's three solvers."""
    return min((r for r in runners if r.name in ("ND", "QLF", "QLB")), key=lambda r: r.seconds).name

"""scale/step: one step of 10 ms of a hanging bar, from 6,000 to a million tetrahedra: CPU seconds, iterations, memory.

Factorizations are left out where they would take minutes; the exponents are those of the sizes there are. About seven
CPU minutes, most of them for the million.
"""

import gc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from pliant.advise import wave_time
from pliant.bench.table import Claim, Plot, Table
from pliant.bodies import Solid
from pliant.integrators import BDF1, XPBD, Verlet
from pliant.linear import PCG, Cholesky, Multigrid
from pliant.linear.threads import one_thread
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar
from pliant.scene import Scene
from pliant.solvers import PD, QLB, HybridLP, Newton, NewtonPCG

H, E, NU = 0.01, 1e5, 0.4
SIZES = {7: 3, 14: 3, 22: 3, 30: 3, 38: 3}  # cells across the bar, and steps that are timed after the first
DIRECT, SLOW = 22, 14  # the largest c for a factor in single and in double precision
METHODS: dict[str, tuple[Callable[[], Any], int]] = {
    "Newton, Cholesky": (lambda: BDF1(Newton(linear=Cholesky())), SLOW),
    "QLB, Cholesky": (lambda: BDF1(QLB(linear=Cholesky("single"))), DIRECT),
    "HYBRID-LP, Cholesky": (lambda: BDF1(HybridLP(linear=Cholesky("single"))), DIRECT),
    "NEWTON-I (block Jacobi)": (lambda: BDF1(NewtonPCG()), DIRECT),
    "Newton, multigrid": (lambda: BDF1(Newton(linear=PCG(preconditioner=Multigrid()))), 38),
    "QLB, multigrid": (lambda: BDF1(QLB(linear=Multigrid())), 38),
    "HYBRID-LP, multigrid": (lambda: BDF1(HybridLP(linear=Multigrid())), DIRECT),
    "PD": (lambda: BDF1(PD()), SLOW),
    "XPBD, 10 substeps": (XPBD, 38),
    "Verlet": (Verlet, 38),
}
IMPLICIT = [name for name in METHODS if name not in ("XPBD, 10 substeps", "Verlet")]


def scene(c: int) -> Scene:
    """A bar of 18 c^3 tetrahedra, held at one end under its own weight."""
    mesh = bar(size=(0.3, 0.1, 0.1), cells=(3 * c, c, c))
    pins = Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
    return Scene([Solid(mesh, StableNeoHookean(E=E, nu=NU), density=1000, pins=pins)], h=H, duration=1.0)


def peak() -> float | None:
    """The largest memory [GB] of this process since `forget_peak`; None where the system does not tell."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("VmHWM")]
    return float(found[0]) / 1e6 if found else None


def forget_peak() -> None:
    """Let the largest memory be the present one."""
    gc.collect()
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")


def row(name: str, made: Scene, system: Any, tets: int, steps: int) -> dict[str, Any]:
    """The median over steps after the first, which makes analyses and compiles."""
    method = METHODS[name][0]()
    parts = 1
    if isinstance(method, Verlet):
        parts = int(np.ceil(H / (0.4 * wave_time(made))))
    forget_peak()
    state, memory = made.initial(system), None
    seconds, iterations, converged = [], 0, True
    for _ in range(steps + 1):
        begun = process_time()
        for _ in range(parts):
            step = method.step(system, state, H / parts, memory)
            state, memory = step.state, step.memory
        seconds.append(process_time() - begun)
        iterations = sum(report.iterations for report in step.reports) if parts == 1 else parts
        converged = converged and all(report.converged for report in step.reports)
    sound = bool(converged and np.isfinite(state.q).all())
    return {
        "tets": tets, "method": name, "CPU s": float(np.median(seconds[1:])), "first s": seconds[0],
        "iterations": iterations, "peak GB": peak(), "converged": sound, "tip": float(state.q[2::3].min()),
    }  # fmt: skip


def exponent(rows: list[dict[str, Any]], name: str, since: int) -> float | None:
    """d log(CPU s) / d log(tets) of a method between the size from ``since`` on and its largest."""
    own = [r for r in rows if r["method"] == name and r["tets"] >= since]
    if len(own) < 2:
        return None
    return float(np.log(own[-1]["CPU s"] / own[0]["CPU s"]) / np.log(own[-1]["tets"] / own[0]["tets"]))


@one_thread()
def run(*, quick: bool = False) -> Table:
    sizes = {4: 1, 7: 1} if quick else SIZES
    rows: list[dict[str, Any]] = []
    for c, steps in sizes.items():
        made = scene(c)
        system = made.system()
        for name, (_, largest) in METHODS.items():
            if c <= largest:
                rows.append(row(name, made, system, 18 * c**3, steps))
    since = sorted({r["tets"] for r in rows})[0 if quick else 1]
    for r in rows:
        r["exponent"] = exponent(rows, r["method"], since) if r["tets"] > since else None
    top = rows[-1]["tets"]
    last = [r for r in rows if r["tets"] == top and r["method"] in IMPLICIT]
    best = min(last, key=lambda r: r["CPU s"])
    claims = [
        Claim(f"an implicit step of {top} tetrahedra", "<= 12 CPU s", f"{best['CPU s']:.2f} s", best["CPU s"] <= 12.0),
        Claim("its memory", "<= 6 GB", f"{best['peak GB'] or np.nan:.2f} GB", (best["peak GB"] or np.inf) <= 6.0),
        Claim(
            f"exponent of {best['method']} from {since} tetrahedra on", "<= 1.15", f"{best['exponent']:.2f}",
            best["exponent"] <= 1.15,
        ),
        Claim("every step converged", "all", f"{sum(not r['converged'] for r in rows)} did not",
              all(r["converged"] for r in rows)),
    ]  # fmt: skip
    tips = [
        [r["tip"] for r in rows if r["tets"] == tets and r["method"] in IMPLICIT] for tets in {r["tets"] for r in rows}
    ]
    apart = max((max(tip) - min(tip)) / abs(min(tip)) for tip in tips)
    claims.append(Claim("implicit methods agree where the tip is", "1e-4", f"{apart:.1e}", apart < 1e-4))
    notes = [
        "E = 100 kPa, nu = 0.4, h = 10 ms, the bar held at one end under its weight. CPU seconds of all threads: the "
        "median of three steps after the first; exponents from the second size on. Verlet takes as many parts of the "
        "step (iterations) as stability needs. Peak memory with the scene, which all methods of one size share."
    ]
    return Table("scale/step", "A step at every size", rows, claims, notes, plot=Plot("tets", "CPU s", "method", "xy"))

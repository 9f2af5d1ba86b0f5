"""ledwon/speed: projections per second of XPBD, local and global step of Projective Dynamics, frames per second.

A cloth of 101 x 101 vertices (40,200 springs) and BAR (51,744 tetrahedra). Sweeps and local steps are timed as CPU time
of one thread, the best of several; frames as CPU time of one thread, then as wall time with the threads there are.
"""

from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

import numba
import numpy as np

from pliant.bench.table import Claim, Table
from pliant.bodies import Solid
from pliant.integrators import BDF1, XPBD
from pliant.integrators.xpbd.model import compile_model
from pliant.maps.pins import Pin
from pliant.materials import ARAP, Corotational, NeoHookean, StableNeoHookean, StVK
from pliant.mesh import bar
from pliant.scene import Scene
from pliant.scenes.ledwon import FRAME, hanging_cloth
from pliant.solvers import PD

Rows = list[dict[str, Any]]


def best(call: Callable[[], Any], repeats: int, clock: Callable[[], float] = process_time) -> float:
    """Seconds of the fastest call; the first, which may compile, does not count."""
    call()
    found = np.inf
    for _ in range(repeats):
        start = clock()
        call()
        found = min(found, clock() - start)
    return found


def body(material: Any, quick: bool) -> Scene:
    mesh = bar(size=(0.3, 0.1, 0.1), cells=(20, 6, 6) if quick else (44, 14, 14))
    return Scene([Solid(mesh, material, pins=Pin(mesh.where(lambda X: X[:, 0] < 1e-9)))])


def cloth(quick: bool) -> Scene:
    return hanging_cloth(40 if quick else 100, k=1e3)


def row(what: str, count: int, seconds: float, threads: int, unit: str) -> dict[str, Any]:
    value = {"ns each": 1e9 * seconds / count, "ms": 1e3 * seconds}.get(unit, 1.0 / seconds)
    return {"what": what, "count": count, "threads": threads, "value": float(f"{value:.4g}"), "unit": unit}


def sweep_rows(quick: bool) -> Rows:
    """One Gauss-Seidel sweep over every constraint, positions slightly disturbed."""
    cases = {"XPBD distance": cloth(quick)}
    cases |= {f"XPBD {type(m).__name__}": body(m, quick) for m in (StableNeoHookean(), NeoHookean(), StVK())}
    cases |= {f"XPBD {type(m).__name__}": body(m, quick) for m in (Corotational(), ARAP())}
    rows = []
    for name, scene in cases.items():
        model = compile_model(scene.system())
        batch = model.batches[0]
        X = model.system.X
        x = X + 1e-4 * np.random.default_rng(0).normal(size=X.shape)
        x0, lam = x.copy(), np.zeros(batch.multipliers)

        def sweep(batch: Any = batch, x: Any = x, x0: Any = x0, lam: Any = lam, W: Any = model.W) -> None:
            batch.sweep(x, x0, W, lam, FRAME / 10, 0.0)

        rows.append(row(name, len(batch), best(sweep, 5 if quick else 20), 1, "ns each"))
    return rows


def projective_rows(quick: bool) -> Rows:
    """The local step is the gradient of ARAP (all projections), the global step one solve with three columns."""
    scene = body(ARAP(E=1e5), quick)
    system = scene.system()
    start = scene.initial(system)
    rng = np.random.default_rng(0)
    x = start.q + 1e-4 * rng.normal(size=len(start.q))
    elastic: Any = system.energy_terms[0]
    m = len(elastic.volumes)
    rows = [row("PD local step (ARAP)", m, best(lambda: elastic.gradient(x), 5 if quick else 20), 1, "ns each")]
    step = BDF1(PD(fixed=1)).step(system, start, FRAME)
    matrix = step.memory.value
    r = rng.normal(size=len(system.free))
    rows.append(row("PD global step (3 columns)", len(r), best(lambda: matrix.apply(r), 10), 1, "ms"))
    dense = BDF1(PD(fixed=1))
    rows.append(row("PD factorization", len(r), best(lambda: dense.step(system, start, FRAME), 2), 1, "ms"))
    return rows


def frame_rows(quick: bool, threads: int) -> Rows:
    """Whole frames of 1/60 s, residual report included; one thread by CPU time, several by the clock on the wall."""
    clock, unit = (process_time, "frames/CPU s") if threads == 1 else (perf_counter, "frames/s")
    whole = PD(m=0, fixed=10, line_search=None)
    cases: dict[str, tuple[Scene, Any]] = {
        "cloth, XPBD 10 x 1": (cloth(quick), XPBD(10)),
        "BAR, XPBD 10 x 1": (body(StableNeoHookean(), quick), XPBD(10)),
        "cloth, PD 10 iterations": (cloth(quick), BDF1(whole)),
        "BAR, PD 10 iterations": (body(ARAP(), quick), BDF1(whole)),
    }
    rows = []
    for name, (scene, integrator) in cases.items():
        system = scene.system()
        now = {"step": integrator.step(system, scene.initial(system), FRAME)}

        def frame(now: Any = now, system: Any = system, integrator: Any = integrator) -> None:
            now["step"] = integrator.step(system, now["step"].state, FRAME, now["step"].memory)

        rows.append(row(name, len(system.X), best(frame, 3 if quick else 25, clock), threads, unit))
    return rows


def run(*, quick: bool = False) -> Table:
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    rows = sweep_rows(quick) + projective_rows(quick)
    for threads in sorted({1, before}):
        numba.set_num_threads(threads)
        rows += frame_rows(quick, threads)
    numba.set_num_threads(before)
    value = {(r["what"], r["threads"]): r["value"] for r in rows}
    most = max(r["threads"] for r in rows)
    distance, tet = 1e9 / value["XPBD distance", 1], 1e9 / value["XPBD StableNeoHookean", 1]
    local = value["PD local step (ARAP)", 1]
    claims = [
        Claim("distance projections per second, one thread", ">= 5e6", f"{distance:.2e}", distance >= 5e6),
        Claim("tetrahedra per second, one thread", ">= 1e6", f"{tet:.2e}", tet >= 1e6),
        Claim("PD local step per tetrahedron, one thread", "<= 300 ns", f"{local:.0f} ns", local <= 300),
    ]
    for name in ("cloth, XPBD 10 x 1", "BAR, XPBD 10 x 1"):
        rate = value[name, most]
        claims.append(Claim(f"{name}, {most} threads", ">= 30 frames/s", f"{rate:.1f}", rate >= 30))
    notes = ["quick mode uses smaller meshes: its frame rates are not those of the claims"] if quick else []
    return Table("ledwon/speed", "Speed of XPBD and Projective Dynamics", rows, claims, notes)

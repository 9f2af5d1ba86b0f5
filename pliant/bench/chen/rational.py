"""chen/rational: ERE by solves instead of products on the meshes of Table 6.2. [Chen2019, sec. 4.2; VanDenEshof2006]

A step in a rational and in a polynomial Krylov space from the same state, a few steps of SIERE after the start, beside
those of SIERE and of linearly implicit Euler. Where a polynomial step takes more than `AFFORDED` products, its number
and time are extrapolated from its first substeps, and there is nothing exact to compare with. Then the rational method
alone for a while.
"""

from time import process_time
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.bench.chen.energies import SI
from pliant.bench.chen.play import Played, play
from pliant.bench.chen.table6_2 import CASES, PROBE, EnergyCase
from pliant.bench.table import Claim, Table
from pliant.integrators import ERE, SIERE
from pliant.integrators.base import advance
from pliant.integrators.exponential import Krylov, Mass, increment
from pliant.integrators.linearised import Linearised, linearise
from pliant.state import State

AFFORDED = 20_000  # products of a polynomial step that is computed to its end
VECTORS = (15, 30, 60)
RATIONAL = ERE(m=30, rational=True)


def started(system: Any, state: State, case: EnergyCase, h: float, steps: int) -> State:
    """A few steps of SIERE, so that the body moves."""
    memory = None
    for _ in range(steps):
        step = advance(SIERE(s=case.s), system, state, h, memory)
        state, memory = step.state, step.memory
    return state


def polynomial(linear: Linearised, h: float, limit: int) -> tuple[float, float, tuple[Array, Array] | None]:
    """Products and CPU seconds of one exponential, and (dq, dv) if it was computed to its end."""
    mass = Mass(linear.M)
    increment(linear, mass, h, Krylov(max_substeps=1))  # compiles
    start = process_time()
    _, _, probe = increment(linear, mass, h, Krylov(max_substeps=PROBE))
    seconds = process_time() - start
    whole = h / max(probe.reached, 1e-12 * h)
    if probe.products * whole > limit:
        return probe.products * whole, seconds * whole, None
    start = process_time()
    dq, dv, full = increment(linear, mass, h, Krylov())
    return float(full.products), process_time() - start, (dq, dv) if full.converged else None


def distance(step: tuple[Array, Array], exact: tuple[Array, Array], linear: Linearised, h: float) -> float:
    """Of (dq / h, dv), in the norm of M, as a part of the exact step's."""
    size = lambda q, v: float(np.sqrt(q @ (linear.M @ q) / h**2 + v @ (linear.M @ v)))
    return size(step[0] - exact[0], step[1] - exact[1]) / size(*exact)


def measure(case: EnergyCase, quick: bool) -> tuple[dict[str, Any], Played]:
    scene = case.scene()
    system, h = scene.system(), float(scene.h)
    state = started(system, scene.initial(system), case, h, 5)
    linear = linearise(system, state, h, at=state.t + 0.5 * h, psd=False)
    products, seconds, exact = polynomial(linear, h, 5_000 if quick else AFFORDED)
    row: dict[str, Any] = {"mesh": case.name, "E [Pa]": f"{case.E:.0e}", "products": round(products)}
    row["polynomial [ms]"] = round(1e3 * seconds, 1)
    methods: dict[str, Any] = {"SI": SI, "SIERE": SIERE(s=case.s)} | {
        f"{m} solves": ERE(m=m, rational=True) for m in VECTORS
    }
    for name, method in methods.items():
        after = method.step(system, state, h).state
        moved = tuple((x - y)[system.free] for x, y in ((after.q, state.q), (after.v, linear.scripted)))
        row[f"{name}, off by"] = None if exact is None else distance(moved, exact, linear, h)  # type: ignore[arg-type]
    run = play("ERE", system, state, RATIONAL, h, 5 if quick else 10)
    dull = play("SI", system, state, SI, h, 5)
    row["rational [ms/step]"] = round(1e3 * run.per_step(), 1)
    row["SI [ms/step]"] = round(1e3 * dull.per_step(), 1)
    row["solves/step"] = float(np.mean([c.solves for c in run.counts]))
    row["faster"] = round(seconds / run.per_step(), 1)
    return row, run


def run(*, quick: bool = False) -> Table:
    cases = [c for c in CASES if not quick or c.name in ("ball", "cuboid")]
    measured = [measure(case, quick) for case in cases]
    rows = [row for row, _ in measured]
    stiff = [row for row in rows if row["products"] > 1000]
    known = [row for row in stiff if row["30 solves, off by"] is not None]
    slowest = min(stiff, key=lambda r: r["faster"])
    most = max(row["solves/step"] for row in rows)
    label = lambda r: f"{r['mesh']} {r['E [Pa]']}"
    claims = [
        Claim("solves per step, every mesh and stiffness", "<= 31", f"{most:.0f}", most <= 31),
        Claim(
            "faster where products exceed 1000",
            ">= 3x",
            f"{slowest['faster']}x, {label(slowest)}",
            slowest["faster"] >= 3.0,
        ),  # fmt: skip
    ]
    for name, bar in (("SI", 0.1), ("SIERE", 1.0)):
        ratio = {label(r): r["30 solves, off by"] / r[f"{name}, off by"] for r in known}
        worst = max(ratio, key=lambda k: ratio[k])
        claims.append(
            Claim(
                f"distance from the exact step, as a part of {name}'s",
                f"<= {bar:g}",
                f"{ratio[worst]:.2g}, {worst}",
                ratio[worst] <= bar,
            )  # fmt: skip
        )
    less = all(r["60 solves, off by"] < r["15 solves, off by"] for r in known)
    claims.append(Claim("more vectors come closer", "60 solves against 15", "always" if less else "not always", less))
    broken = [f"{label(row)}: {played.ended}" for row, played in measured if played.ended]
    claims.append(Claim("its runs end", "all", ", ".join(broken) or "all", not broken))
    notes = [
        f"polynomial: dimension 30, tolerance 1e-7; beyond {AFFORDED} products extrapolated from {PROBE} substeps",
        "off by: distance of a step (dq/h, dv) from the exact exponential one in the norm of the mass matrix, relative",
        "CPU time of one thread, median step of 30 solves",
    ]
    return Table("chen/rational", "ERE by solves instead of products", rows, claims, notes)

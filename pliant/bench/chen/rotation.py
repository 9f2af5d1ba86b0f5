"""chen/rotation: a free bar rotates, in fixed and in rotating frames; energy and momentum over many steps.

Not in the source: its scenes are held or hang. A linear step takes the rotation of a body for a stretch, and its matrix
resists it; the stiffer the body, the more angular momentum is lost.
"""

from typing import Any

import numpy as np

from pliant.bench.chen.play import Played, play
from pliant.bench.table import Claim, Plot, Table
from pliant.bodies import Solid
from pliant.integrators import ERE, SIERE, Corotated, EnergyMomentum, ImplicitMidpoint, LinearlyImplicit
from pliant.materials import StableNeoHookean
from pliant.mesh import bar
from pliant.scene import Scene
from pliant.solvers import Newton
from pliant.state import State
from pliant.systems.elastodynamics import Elastodynamics

H = 0.01  # [s]
SPINS = {"5 rad/s about an axis": (0.0, 0.0, 5.0), "5.4 rad/s, tumbling": (3.0, 2.0, 4.0)}
FAST = ("50 rad/s, tumbling", (28.0, 18.5, 37.0))  # half a radian per step
METHODS: dict[str, Any] = {
    "SI": LinearlyImplicit(),
    "SIERE": SIERE(),
    "ERE": ERE(),
    "midpoint": ImplicitMidpoint(Newton(project="on_demand")),
}
TURNING: dict[str, Any] = {f"{name}, turning": Corotated(METHODS[name]) for name in ("SI", "SIERE", "ERE")}


def spinning_bar(E: float, omega: Any, cells: tuple[int, int, int]) -> tuple[Elastodynamics, State]:
    """0.3 m x 0.1 m x 0.1 m, free and unstrained, every vertex at omega x r."""
    scene = Scene([Solid(bar((0.3, 0.1, 0.1), cells), StableNeoHookean(E, 0.3))], gravity=(0.0, 0.0, 0.0))
    system = scene.system()
    X, m = system.X, system.nodal_mass[::3]
    return system, State(X.ravel(), np.cross(omega, X - np.average(X, axis=0, weights=m)).ravel())


def kept(system: Elastodynamics, start: State, run: Played) -> tuple[float, float]:
    """|L - L_0| / |L_0| and E / E_0, of the last step and of the worst; not a number where the run broke down."""
    if run.ended or run.state is None:
        return float("nan"), float("nan")
    L0 = system.momenta(start.q, start.v)[1]
    worst = max(float(np.linalg.norm(L - L0)) for L in run.path)
    first = sum(system.energies(start.q, start.v, 0.0).values())
    return worst / float(np.linalg.norm(L0)), float(run.total()[-1]) / first


def turn(name: str, integrator: Any, E: float, omega: Any, steps: int, cells: tuple[int, int, int]) -> dict[str, Any]:
    system, start = spinning_bar(E, omega, cells)
    watch = lambda s: system.momenta(s.q, s.v)[1]
    run = play(name, system, start, integrator, H, steps, watch=watch)
    lost, energy = kept(system, start, run)
    return {
        "E [Pa]": f"{E:.0e}",
        "method": name,
        "steps": steps,
        "L changed by": lost,
        "energy / start": energy,
        "ended": run.ended or "-",
        "CPU ms/step": round(1e3 * run.per_step(), 2),
    }


def run(*, quick: bool = False) -> Table:
    cells = (4, 1, 1) if quick else (6, 2, 2)
    steps = 30 if quick else 100
    rows = []
    for spin, omega in SPINS.items():
        for E in (1e4, 1e6, 1e8):
            for name, method in {**METHODS, **TURNING, "energy-momentum": EnergyMomentum()}.items():
                rows.append({"spin": spin, **turn(name, method, E, omega, steps, cells)})
    fast = [
        {"spin": FAST[0], **turn(name, method, 1e8, FAST[1], steps, cells)}
        for name, method in {**METHODS, **TURNING}.items()
    ]
    rows += fast
    many = 200 if quick else 100_000
    tumbling = list(SPINS.items())[1]
    rows.append({"spin": tumbling[0], **turn("energy-momentum", EnergyMomentum(), 1e6, tumbling[1], many, (2, 1, 1))})
    claims = [*turning_claims(rows, steps), *conserving_claims(rows, many)]
    shown = [
        {**r, "L changed by": f"{r['L changed by']:.1e}", "energy / start": f"{r['energy / start']:.6f}"} for r in rows
    ]
    notes = [
        f"{cells} cells, h = {H:g} s; the worst change of the angular momentum over the run, the energy at its end",
        "a start without strain: at 1e4 Pa a tenth of a percent of the energy goes into the stretch that turning makes",
    ]
    return Table("chen/rotation", "A free bar turns", shown, claims, notes, plot=Plot("method", "CPU ms/step"))


def turning_claims(rows: list[dict[str, Any]], steps: int) -> list[Claim]:
    out = []
    for name in ("SI", "SIERE", "ERE"):
        plain = [r["L changed by"] for r in rows if r["method"] == name and float(r["E [Pa]"]) >= 1e6]
        least = float(np.nanmin(plain))
        turning = [r for r in rows if r["method"] == f"{name}, turning"]
        lost = max(r["L changed by"] for r in turning)
        energies = [r["energy / start"] for r in turning]
        far = max(abs(e - 1.0) for e in energies)
        out += [
            Claim(f"{name} in turning frames keeps L in {steps} steps", "<= 1e-2", f"{lost:.1e}", lost <= 1e-2),
            Claim(f"{name} in turning frames: energy", "within 3 %", f"{100 * far:.2g} %", far <= 0.03),
            Claim(f"{name} in frames at rest loses it from 1 MPa on", "> 10 %", f"{least:.0%}", least > 0.1),
        ]
    return out


def conserving_claims(rows: list[dict[str, Any]], many: int) -> list[Claim]:
    short = [r for r in rows if r["method"] == "energy-momentum" and r["steps"] != many]
    long = next(r for r in rows if r["steps"] == many)
    worst = max(max(r["L changed by"], abs(r["energy / start"] - 1.0)) for r in short)
    drift = max(long["L changed by"], abs(long["energy / start"] - 1.0))
    return [
        Claim("energy-momentum keeps L and energy, every E", "<= 1e-9", f"{worst:.1e}", worst <= 1e-9),
        Claim(f"energy-momentum keeps both over {many} steps", "<= 1e-10", f"{drift:.1e}", drift <= 1e-10),
    ]

"""conjac/speed: VANILLA at 2 ms against ConJac with 6 nodes at 5 ms on DRAGON. [ConJac2020, sec. 4.1]"""

from time import process_time
from typing import Any

from pliant.bench.conjac.play import march
from pliant.bench.table import Claim, Table
from pliant.integrators import ConJac, LinearlyImplicit
from pliant.mesh import serpent
from pliant.scenes.conjac import DRAGON, dragon

BETAS = (0.5, 0.7, 1.0, 1.5, 2.0, 3.0)


def race(name: str, integrator: Any, h: float, mesh: Any, duration: float) -> dict[str, Any]:
    """CPU seconds of the whole run and the energy left at the end of that at release."""
    scene = dragon(integrator, h=h, mesh=mesh)
    released = energy = float("nan")
    start, spent, steps = process_time(), 0.0, 0
    for moment in march(scene, round(duration / h)):
        spent += process_time() - start
        energy = moment.energy
        if moment.state.t <= 0.25 + 1e-9:
            released = energy
        steps += 1
        start = process_time()
    return {"method": name, "h ms": 1e3 * h, "steps": steps, "CPU s": spent, "energy left": energy / released}


def run(*, quick: bool = False) -> Table:
    mesh = serpent(length=DRAGON, cells=40 if quick else 83)
    duration = 0.4 if quick else 1.0
    rows: list[dict[str, Any]] = []
    for beta in BETAS:
        rows = [race(f"VANILLA, beta {beta}", LinearlyImplicit(beta=beta), 2e-3, mesh, duration)]
        if rows[0]["energy left"] < 1.0:
            break
    rows.append(race("ConJac, 6 nodes, beta 0.5", ConJac(count=6, gamma=0.2), 5e-3, mesh, duration))
    ratio = rows[0]["CPU s"] / rows[1]["CPU s"]
    left = [row["energy left"] for row in rows]
    claims = [
        Claim("CJ-3 VANILLA at 2 ms / ConJac at 5 ms, CPU time", "> 2 x", f"{ratio:.2f} x", bool(ratio >= 2.0)),
        Claim(
            "CJ-3 ConJac at 5 ms at least nearly as lively",
            "about equal",
            f"{100 * left[1]:.0f} % vs {100 * left[0]:.0f} % of the energy at release",
            bool(left[1] > 0.8 * left[0]),
        ),
    ]
    notes = [f"VANILLA with the first beta of {BETAS} that is stable"]
    return Table("conjac/speed", f"DRAGON, {len(mesh.X)} vertices, {duration} s", rows, claims, notes)

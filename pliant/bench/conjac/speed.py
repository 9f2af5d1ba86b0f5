"""conjac/speed: VANILLA at 2 ms against ConJac with 6 nodes at 5 ms on DRAGON. [ConJac2020, sec. 4.1]"""

from time import process_time
from typing import Any

from pliant.bench.conjac.beta import smallest
from pliant.bench.conjac.play import march
from pliant.bench.table import Claim, Table
from pliant.integrators import ConJac, LinearlyImplicit
from pliant.mesh import serpent
from pliant.scenes.conjac import DRAGON, dragon


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
    duration = 0.4 if quick else 0.5
    vanilla = smallest(lambda b: LinearlyImplicit(beta=b), serpent(length=DRAGON, cells=40), 2e-3)[0].beta
    conjac = smallest(lambda b: ConJac(count=6, beta=b, gamma=0.2), serpent(length=DRAGON, cells=40), 5e-3)[0].beta
    conjac = max(conjac, 0.5)
    rows = [
        race(f"VANILLA, beta {vanilla}", LinearlyImplicit(beta=vanilla), 2e-3, mesh, duration),
        race(f"ConJac, 6 nodes, beta {conjac}", ConJac(count=6, beta=conjac, gamma=0.2), 5e-3, mesh, duration),
    ]
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
    notes = ["each at its smallest stable beta on a mesh of 1.6k vertices (ConJac: at least 0.5)"]
    return Table("conjac/speed", f"DRAGON, {len(mesh.X)} vertices, {duration} s", rows, claims, notes)

"""conjac/static: held still, ConJac comes to rest in the equilibrium of the full mesh. [ConJac2020, sec. 4.2-4.4]"""

from dataclasses import replace
from typing import Any

import numpy as np

from pliant.bench.conjac.play import equilibrium, march
from pliant.bench.table import Claim, Table
from pliant.integrators import ConJac
from pliant.integrators.placement import spread
from pliant.maps.pins import Pin
from pliant.mesh import Mesh, bar, paper_bar
from pliant.scene import Scene
from pliant.scenes.conjac import FIBRES, LENGTH, aniso, hetero, twist

CASES = ("HETERO", "TWIST", *(f"ANISO {name}" for name in FIBRES))


def still(case: str, mesh: Mesh) -> Scene:
    """The scene with its driven end held where it starts."""
    if case == "HETERO":
        return hetero(mesh=mesh)
    if case == "TWIST":
        scene = twist(mesh=mesh)
        body: Any = scene.bodies[0]
        return replace(scene, bodies=[replace(body, pins=[Pin(p.vertices) for p in body.pins])])
    return aniso(case.split()[1], mesh=mesh)


def settle(scene: Scene, count: int, gamma: float, exact: Any) -> dict[str, Any]:
    """Largest distance to the exact equilibrium, as a part of the sag, once nothing moves; h and beta for damping."""
    system = scene.system()
    X = system.X.ravel()
    sag = float(abs(exact - X).max())
    run = replace(scene, integrator=ConJac(spread(system, count), beta=3.0, gamma=gamma), h=5e-2, duration=40.0)
    error, quiet, last, steps = np.inf, np.inf, X, 0
    for moment in march(run):
        steps += 1
        quiet = float(abs(moment.state.v).max())
        moved = float(abs(moment.state.q - last).max())
        last = moment.state.q
        error = float(abs(last - exact).max()) / sag
        if quiet < 1e-9 and moved < 1e-13:
            break
    return {"nodes": count, "gamma": gamma, "sag mm": 1e3 * sag, "error / sag": error, "steps": steps, "speed": quiet}


def run(*, quick: bool = False) -> Table:
    rows: list[dict[str, Any]] = []
    for case in CASES:
        name = case.split()[0]
        mesh = bar((LENGTH, 0.05, 0.05), (12, 4, 4)) if quick else paper_bar(name)
        scene = still(case, mesh)
        system = scene.system()
        exact = equilibrium(system, scene.initial(system))
        for count, gamma in ((0, 1 / 3), (1, 1 / 3), (4, 1 / 3), (1, 1.0)):
            rows.append({"scene": case} | settle(scene, count, gamma, exact))
    worst = max(row["error / sag"] for row in rows)
    claims = [
        Claim(
            "CJ-4 static state equals the full equilibrium",
            "exactly the same",
            f"{worst:.1e} of the sag",
            worst <= 1e-8,
        )
    ]
    return Table(
        "conjac/static", "Static states", rows, claims, ["beta = 3, h = 50 ms, until speeds are below 1e-9 m/s"]
    )

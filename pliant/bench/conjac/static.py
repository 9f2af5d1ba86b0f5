"""conjac/static: held still, ConJac comes to rest in the equilibrium of the full mesh. [ConJac2020, sec. 4.2-4.4]"""

from dataclasses import replace
from typing import Any

import numpy as np

from pliant.arrays import Array
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


def settle(scene: Scene, count: int, gamma: float, exact: Array, *, slowly: bool = False) -> dict[str, Any]:
    """Largest distance to the exact equilibrium, as a part of the sag, once nothing moves.

    Long steps with beta = 1, several corrections and K as it is come to rest like Newton's method; ``slowly`` is the
    paper's step with beta = 3 for damping, of which every step takes away a third of what is left.
    """
    system = scene.system()
    X = system.X.ravel()
    sag = float(abs(exact - X).max())
    nodes = spread(system, count)
    if slowly:
        integrator, h = ConJac(nodes, beta=3.0, gamma=gamma), 5e-2
    else:
        integrator, h = ConJac(nodes, beta=1.0, gamma=gamma, corrections=6, project="on_demand"), 0.5
    error, quiet, last, steps = np.inf, np.inf, X, 0
    for moment in march(replace(scene, integrator=integrator, h=h, duration=800 * h)):
        steps += 1
        quiet = float(abs(moment.state.v).max())
        moved = float(abs(moment.state.q - last).max())
        last = moment.state.q
        error = float(abs(last - exact).max()) / sag
        if quiet < 1e-9 and moved < 1e-12:
            break
    found = {"sag mm": 1e3 * sag, "error / sag": error, "steps": steps, "speed": quiet}
    return {"nodes": count, "gamma": gamma, "beta": integrator.beta} | found


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
        if case == "TWIST" or quick:
            rows.append({"scene": case} | settle(scene, 4, 1 / 3, exact, slowly=True))
    worst = max(row["error / sag"] for row in rows)
    claims = [
        Claim(
            "CJ-4 static state equals the full equilibrium",
            "exactly the same",
            f"{worst:.1e} of the sag",
            worst <= 1e-8,
        )
    ]
    notes = [
        "until speeds are below 1e-9 m/s and a step moves nothing by 1e-12 m; steps of 0.5 s, six corrections in each",
        "beta = 3: steps of 50 ms with one correction, as in the paper; the same state after more steps",
    ]
    return Table("conjac/static", "Static states", rows, claims, notes)

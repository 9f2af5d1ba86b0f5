"""conjac/static: held still, ConJac comes to rest in the equilibrium of the full mesh. [ConJac2020, sec. 4.2-4.4]"""

from dataclasses import replace
from typing import Any

from pliant.arrays import Array
from pliant.bench.conjac.play import equilibrium, march
from pliant.bench.race import no_inversion
from pliant.bench.table import Claim, Table
from pliant.integrators import ConJac
from pliant.maps.pins import Pin
from pliant.mesh import Mesh, bar, paper_bar
from pliant.scene import Scene
from pliant.scenes.conjac import FIBRES, LENGTH, aniso, hetero, twist
from pliant.systems.placement import spread

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

    It comes to rest with the paper's step, damped by beta = 3, which takes away a third of what is left each time; once
    a step moves less than 1 % of the sag, unless ``slowly``, with long steps that converge like Newton's method.
    """
    system = scene.system()
    state = scene.initial(system)
    sag = float(abs(exact - state.q).max())
    nodes = spread(system, count)
    damped = replace(scene, integrator=ConJac(nodes, beta=3.0, gamma=gamma), h=5e-2)
    newton = replace(scene, integrator=ConJac(nodes, beta=1.0, gamma=gamma, corrections=6, project="on_demand"), h=0.5)
    phases = [(damped, 1e-12)] if slowly else [(damped, 1e-2 * sag), (newton, 1e-12)]
    counts, least = [], 1.0
    for phase, small in phases:
        steps, last = 0, state.q
        for moment in march(phase, 800, state):
            steps, state, least = steps + 1, moment.state, min(least, moment.det)
            moved, last = float(abs(state.q - last).max()), state.q
            if moved < small:
                break
        counts.append(steps)
    row = {"scene": scene.name, "nodes": count, "gamma": gamma, "sag mm": 1e3 * sag}
    found = {"error / sag": float(abs(state.q - exact).max()) / sag, "speed m/s": float(abs(state.v).max())}
    found["min det F"] = least
    return row | found | {"steps": " + ".join(str(k) for k in counts)}


def run(*, quick: bool = False) -> Table:
    rows: list[dict[str, Any]] = []
    for case in CASES:
        name = case.split()[0]
        mesh = bar((LENGTH, 0.05, 0.05), (12, 4, 4)) if quick else paper_bar(name)
        scene = still(case, mesh)
        system = scene.system()
        exact = equilibrium(system, scene.initial(system))
        for count, gamma in ((0, 1 / 3), (1, 1 / 3), (4, 1 / 3), (1, 1.0)):
            rows.append(settle(scene, count, gamma, exact))
        if case == "TWIST" or quick:
            rows.append(settle(scene, 4, 1 / 3, exact, slowly=True))
    worst = max(row["error / sag"] for row in rows)
    claims = [
        Claim(
            "CJ-4 static state equals the full equilibrium",
            "exactly the same",
            f"{worst:.1e} of the sag",
            worst <= 1e-8,
        ),
        no_inversion({f"{row['scene']}, {row['nodes']} nodes": row["min det F"] for row in rows}),
    ]
    notes = [
        "until a step moves nothing by 1e-12 m; steps: the paper's with beta = 3 and 50 ms, then, once they move less"
        " than 1 % of the sag, of 0.5 s with beta = 1 and six corrections; one row with the paper's steps alone",
        "with long steps from the start and gamma = 1 the helical bar comes to rest in another of its equilibria",
    ]
    return Table("conjac/static", "Static states", rows, claims, notes)

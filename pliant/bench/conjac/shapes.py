"""conjac/shapes: what layers and fibres do to the static shape. [ConJac2020, Fig. 5 and 6]"""

from itertools import combinations
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.bench.conjac.play import equilibrium
from pliant.bench.conjac.twist import angle
from pliant.bench.race import no_inversion
from pliant.bench.table import Claim, Table
from pliant.certificate import smallest_det
from pliant.mesh import bar, paper_bar
from pliant.scene import Scene
from pliant.scenes.conjac import FIBRES, LENGTH, aniso, hetero


def shape(scene: Scene) -> tuple[Array, Array]:
    """Rest and static positions (n, 3); conjac/static shows that ConJac comes to rest in the same ones."""
    system = scene.system()
    return system.X, equilibrium(system, scene.initial(system)).reshape(-1, 3)


def least(scene: Scene, x: Array) -> float:
    """The smallest det F at x (n, 3)."""
    return float(smallest_det(scene.system(), x.ravel()) or 0.0)


def bulges(scene: Scene) -> Array:
    """Largest radial growth [m] of each of the five layers, lowest first."""
    X, x = shape(scene)
    mesh: Any = scene.bodies[0].mesh
    grown = np.hypot(x[:, 0], x[:, 1]) - np.hypot(X[:, 0], X[:, 1])
    return np.array([grown[np.unique(mesh.T[mesh.region == k])].max() for k in range(5)])


def twisted(X: Array, x: Array) -> dict[str, float]:
    """Twist [deg] of the free end, its drop and how far it moves sideways [mm]."""
    low = np.flatnonzero(X[:, 2] < 1e-9)
    turned = angle(X[:, [2, 0, 1]], x[:, [2, 0, 1]], low)
    moved = (x[low] - X[low]).mean(axis=0)
    return {"twist deg": turned, "drop mm": -1e3 * float(moved[2]), "sideways mm": 1e3 * float(np.hypot(*moved[:2]))}


def run(*, quick: bool = False) -> Table:
    sizes = {name: paper_bar(name).bounds[1] for name in ("HETERO", "ANISO")}
    layered = bar(sizes["HETERO"], (15, 5, 5)) if quick else paper_bar("HETERO")
    fibred = bar(sizes["ANISO"], (15, 5, 5)) if quick else paper_bar("ANISO")
    grown = 1e3 * bulges(hetero(mesh=layered))
    rows: list[dict[str, Any]] = [{"scene": "HETERO"} | {f"layer {k} bulge mm": float(b) for k, b in enumerate(grown)}]
    shapes = {name: shape(aniso(name, mesh=fibred)) for name in FIBRES}
    found = {name: twisted(*positions) for name, positions in shapes.items()}
    rows += [{"scene": f"ANISO {name}"} | values for name, values in found.items()]
    helical = abs(found["helical"]["twist deg"])
    others = max(abs(v["twist deg"]) for name, v in found.items() if name != "helical")
    apart = min(1e3 * float(np.linalg.norm(a[1] - b[1], axis=1).max()) for a, b in combinations(shapes.values(), 2))
    claims = [
        Claim(
            "CJ-6 both soft layers bulge, the lower one more",
            "lower > upper > stiff",
            f"{grown[1]:.2f} > {grown[3]:.2f} > {max(grown[[2, 4]]):.2f} mm",
            bool(grown[1] > grown[3] > max(grown[[2, 4]])),
        ),
        Claim("CJ-6 helical fibres twist the bar", "> 1 deg", f"{helical:.2f} deg", helical > 1.0),
        Claim("CJ-6 the others do not", "< 0.1 deg", f"{others:.3f} deg", others < 0.1),
        Claim("CJ-6 all four final shapes differ", "yes", f"by at least {apart:.2f} mm", apart > 1.0),
        no_inversion({name: least(aniso(name, mesh=fibred), x) for name, (_, x) in shapes.items()}),
    ]
    return Table("conjac/shapes", "Static shapes of HETERO and ANISO", rows, claims, [f"bars of {LENGTH} m"])

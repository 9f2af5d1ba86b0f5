"""gradient/design: the rest shape of a bar that hangs straight under its weight, by Newton's method on the rest shape.

The check is independent of how it was found: the body is hung from its rest shape, a little disturbed, and must come to
the wanted shape by itself.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from pliant.adjoint.inverse_statics import rest_shape
from pliant.bench.table import Claim, Table
from pliant.bodies import Solid
from pliant.errors import ConvergenceError
from pliant.integrators import Quasistatic
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.solvers import Newton, Tolerance

LENGTH = 0.3


def straight(E: float, cells: tuple[int, int, int]) -> Scene:
    mesh = bar((LENGTH, 0.05, 0.05), cells)
    held = Pin(np.flatnonzero(mesh.X[:, 0] < 1e-9))
    body = Solid(mesh, StableNeoHookean(E, 0.4), pins=held, name="bar")
    return Scene([body], Quasistatic(Newton(tolerance=Tolerance(1e-12, 1e-12))), h=1.0, duration=1.0)


def hung(scene: Scene, mesh: Any) -> float:
    """How far from the wanted shape the body hangs, in sizes."""
    wanted = scene.bodies[0].mesh.X
    nudge = 1e-3 * LENGTH * np.sin(7.0 / LENGTH * wanted) * (wanted[:, :1] > 1e-9)
    *_, last = simulate(scene.with_body(0, replace(scene.bodies[0], mesh=mesh, positions=wanted + nudge)))
    return float(np.abs(last.state.q.reshape(-1, 3) - wanted).max()) / LENGTH


def run(*, quick: bool = False) -> Table:
    cells = (6, 1, 1) if quick else (12, 2, 2)
    rows: list[dict[str, Any]] = []
    for E in (1e7, 1e6, 2e5, 2e3):
        scene = straight(E, cells)
        row: dict[str, Any] = {"E [Pa]": E, "found": False, "Newton steps": np.nan, "stable": False}
        row |= {"moved by [sizes]": np.nan, "hangs within [sizes]": np.nan}
        try:
            found = rest_shape(scene, "bar")
            way = float(np.abs(found.mesh.X - scene.bodies[0].mesh.X).max()) / LENGTH
            row |= {"found": True, "Newton steps": found.steps, "stable": found.stable, "moved by [sizes]": way}
            if found.stable:
                row["hangs within [sizes]"] = hung(scene, found.mesh)
        except ConvergenceError:
            pass
        rows.append(row)
    good = [row for row in rows if row["stable"]]
    worst, most = max(r["hangs within [sizes]"] for r in good), max(r["Newton steps"] for r in good)
    told = not rows[-1]["stable"]
    claims = [
        Claim("hangs as drawn, where that is stable, worst", "1e-6 sizes", f"{worst:.1e}", worst <= 1e-6),
        Claim("Newton steps where it is stable, most", "<= 10", f"{most}", most <= 10),
        Claim("the softest bar cannot hang straight, which is reported", "yes", "yes" if told else "no", told),
    ]
    return Table("gradient/design", "Rest shapes of bars that hang straight", rows, claims)

"""chen/fig5_4: a bent strip released, DGSI against SI on the continuous mesh. [Chen2019, Figure 5.4]"""

from typing import Any

import numpy as np

from pliant.bench.chen.play import energy_plot, play
from pliant.bench.table import Claim, Table
from pliant.bodies import Solid
from pliant.dg import DiscontinuousSolid
from pliant.integrators import DGSI, LinearlyImplicit
from pliant.maps.pins import Pin
from pliant.materials import NeoHookean
from pliant.mesh import rectangle
from pliant.scene import Scene
from pliant.state import State
from pliant.systems.elastodynamics import Elastodynamics

ETA = 2e2  # twice the source's 1e2, which leaves out the 1/2 of the penalty
START = 50


def bent(system: Elastodynamics) -> State:
    x = system.X.copy()
    x[:, 1] += 0.15 * x[:, 0] ** 2
    return State(system.prescribe(x.ravel(), 0.0), np.zeros(x.size))


def run(*, quick: bool = False) -> Table:
    frames = 300 if quick else 1000
    mesh = rectangle(size=(1.0, 0.25), cells=(8, 2))
    material = NeoHookean(E=1e5, nu=0.3)
    clamp = Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
    loose = Scene([DiscontinuousSolid(mesh, material, ETA, density=4.0, pins=clamp)], gravity=(0, 0)).system()
    whole = Scene([Solid(mesh, material, density=4.0, pins=clamp)], gravity=(0, 0)).system()
    cases: list[tuple[str, Elastodynamics, Any]] = [
        ("DGSI", loose, DGSI()),
        ("SI on DG", loose, LinearlyImplicit()),
        ("SI on CG", whole, LinearlyImplicit()),
    ]
    runs = [play(n, s, bent(s), i, 0.01, frames) for n, s, i in cases]
    kept = {r.name: float(r.total()[-1] / r.total()[START - 1]) for r in runs}
    rows = [
        {
            "method": r.name,
            f"E({START}) [J]": f"{r.total()[START - 1]:.3e}",
            f"E({frames}) [J]": f"{r.total()[-1]:.3e}",
            "ratio": f"{kept[r.name]:.2e}",
        }
        for r in runs
    ]
    bound = 1e-2 if quick else 1e-6
    claims = [
        Claim(f"DGSI keeps E({frames})/E({START})", ">= 0.1", f"{kept['DGSI']:.2f}", kept["DGSI"] >= 0.1),
        Claim(
            "SI on the continuous mesh does not", f"<= {bound:g}", f"{kept['SI on CG']:.1e}", kept["SI on CG"] <= bound
        ),
    ]
    notes = ["SI on the whole discontinuous system behaves alike: the contrast is soft glue against a continuous mesh"]
    return Table(
        "chen/fig5_4",
        "Total energy of a released strip",
        rows,
        claims,
        notes,
        [energy_plot("fig5_4", "Released strip", runs)],
    )

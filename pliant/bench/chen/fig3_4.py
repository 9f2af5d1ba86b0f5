"""chen/fig3_4: the three lowest eigenvalues of a neo-Hookean bar; crossings are flagged. [Chen2019, Figure 3.4]"""

import numpy as np

from pliant.bench.chen.coarse import rest
from pliant.bench.chen.play import play, plot
from pliant.bench.table import Claim, Table
from pliant.bodies import Solid
from pliant.coarsen import rest_modes
from pliant.integrators import LinearlyImplicit
from pliant.linear.modes import lowest
from pliant.maps.pins import Pin
from pliant.materials import NeoHookean
from pliant.mesh import bar
from pliant.scene import Scene
from pliant.systems.eigenfit import MATCH

H = 0.01


def run(*, quick: bool = False) -> Table:
    frames = 40 if quick else 120
    rows, curves, crossed = [], {}, {}
    for E in (1e4, 1e5):
        mesh = bar((0.5, 0.12, 0.1), (8, 2, 2))
        solid = Solid(mesh, NeoHookean(E=E, nu=0.45), pins=Pin(mesh.where(lambda X: X[:, 0] < 1e-9)), lumped=False)
        system = Scene([solid], gravity=(0, 0, -2.0)).system()
        reference = rest_modes(system, 3)
        M = system.restrict(system.mass(system.X.ravel()))
        run_ = play(f"{E:.0e}", system, rest(system), LinearlyImplicit(), H, frames, watch=lambda s: s.q)
        lam, lost = [], []
        for q in run_.path:
            K = -system.restrict(system.stiffness(q, 0 * q, 0.0))
            found = lowest(K, M, 3, guess=reference.U)
            overlap = np.abs(found.U.T @ (M @ reference.U))
            lam.append(found.lam)
            lost.append(bool((overlap.argmax(axis=1) != np.arange(3)).any() or (overlap.max(axis=1) < MATCH).any()))
        first = next((k + 1 for k, flag in enumerate(lost) if flag), None)
        crossed[E] = first
        rows.append(
            {"E [Pa]": f"{E:.0e}", "frames": len(lam), "flagged frames": sum(lost), "first flagged": first or "-"}
        )
        t = H * np.arange(1.0, len(lam) + 1.0)
        for k in range(3):
            curves[f"{E:.0e} mode {k + 1}"] = (t, np.array(lam)[:, k] / reference.lam[k])
    claims = [
        Claim("modes cross at 1e4 Pa and are flagged", "crossing", f"frame {crossed[1e4]}", crossed[1e4] is not None),
        Claim("no crossing at 1e5 Pa", "none", f"frame {crossed[1e5]}", crossed[1e5] is None),
    ]
    picture = plot("fig3_4", "Eigenvalues over those at rest", curves, "lam / lam at rest")
    return Table(
        "chen/fig3_4", "Mode crossing of a soft bar", rows, claims, ["procedural bar, gravity 2 m/s^2"], [picture]
    )

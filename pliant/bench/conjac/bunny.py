"""conjac/bunny: a body dropped on a floor with friction, 24 unknowns. [ConJac2020, Fig. 8]

In the impact the inertia of the whole body acts on its dynamic nodes alone. Each dents what is around it, by about
m a / (count E edge): with 8 nodes the elements at some of them turn inside out; with more, at 1 ms, they do not.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from pliant.bench.conjac.play import march, no_inversion
from pliant.bench.table import Claim, Table
from pliant.integrators import ConJac
from pliant.mesh import long_eared
from pliant.scenes.conjac import BUNNY, bunny

ANGLES = (0.0, 0.7, 1.6)
FINE, IMPACT = 2.5e-4, 0.12  # the shorter step, and until when it goes [s]
LARGE = 5e-3  # the paper's step elsewhere [s]
COUNTS = (16, 32)  # of dynamic nodes, besides the paper's 8


def drop(
    mesh: Any,
    angle: float,
    mu: float,
    anisotropy: float = 0.1,
    stiffness: float = 1.0,
    count: int = 8,
    **timing: Any,
) -> dict[str, Any]:
    """One drop: how deep, how far it bounces, what happens to its energy and its sideways speed."""
    method = ConJac(count=count, friction=mu)
    made = bunny(method, angle=angle, anisotropy=anisotropy, stiffness=stiffness, mesh=mesh)
    scene = replace(made, **timing)
    low, energies, slides, rises, unknowns, least = [], [], [], [], 0, 1.0
    for moment in march(scene):
        v, m = moment.state.v.reshape(-1, 3), moment.system.nodal_mass[::3]
        low.append(float(moment.state.q[2::3].min()))
        energies.append(moment.energy)
        least = min(least, moment.det)
        slides.append(float(m @ v[:, 0] / m.sum()))
        rises.append(float(m @ v[:, 2] / m.sum()))
        unknowns = 3 * len(moment.step.memory[0].nodes)
    height = np.array(low)
    landed = np.arange(len(low)) > int(np.argmax(height < 0.0))
    clear = np.array(energies)[landed & (height > 0.0)]
    return {
        "angle": angle,
        "h ms": 1e3 * float(scene.h),
        "mu": mu,
        "alpha": anisotropy,
        "k / E edge": stiffness,
        "unknowns": unknowns,
        "depth mm": -1e3 * float(height.min()),
        "bounce mm": 1e3 * float(height[landed].max()),
        "impact m/s": min(rises),
        "rebound m/s": float(np.array(rises)[landed].max(initial=-np.inf)),
        "energy in the air": float(clear.max(initial=0.0)) / energies[0],
        "most energy": max(energies) / energies[0],
        "slide m/s": slides[-1],
        "fastest slide": float(np.abs(np.array(slides)[landed]).max()),
        "min det F": least,
        "steps": len(energies),
    }


def run(*, quick: bool = False) -> Table:
    mesh = long_eared(height=BUNNY, cells=12 if quick else 24.3)
    rows = [drop(mesh, angle, 0.3) for angle in (ANGLES[:1] if quick else ANGLES)]
    rows += [drop(mesh, 0.0, 0.3, 0.0), drop(mesh, 0.0, 0.0, 0.0)]
    rubbed, slick = rows[-2], rows[-1]
    large, hard = drop(mesh, 0.0, 0.3, h=LARGE), drop(mesh, 0.0, 0.3, stiffness=10.0, h=LARGE)
    finer = drop(mesh, 0.0, 0.3, h=FINE, duration=IMPACT)["most energy"]
    size, steps = rows[0]["unknowns"], min(row["steps"] for row in rows)
    bounce = min(row["bounce mm"] for row in rows)
    rebound = min(row["rebound m/s"] for row in rows)
    air, most = max(row["energy in the air"] for row in rows), max(row["most energy"] for row in rows)
    faster = max(row["fastest slide"] for row in rows) / 0.5
    gain = large["most energy"]
    claims = [
        Claim("CJ-9 size of the system", "24 x 24", f"{size} x {size}", size == 24),
        Claim("CJ-9 runs through", "yes", f"{steps} steps", steps == 400),
        Claim("CJ-9 bounces: its center rises again", "yes", f"at least {rebound:.2f} m/s", rebound > 0.1),
        Claim("CJ-9 bounces: it leaves the floor", "yes", f"at least {bounce:.1f} mm", bounce > 0.5),
        Claim("CJ-9 in the air again with less energy", "no gain", f"at most {100 * air:.0f} %", air <= 1.0),
        Claim("CJ-9 never more energy, contact included", "no gain", f"at most {100 * most:.1f} %", most <= 1.001),
        Claim(
            f"CJ-9 the same with h = {1e3 * FINE:g} ms, through the impact",
            "no gain",
            f"at most {100 * finer:.1f} %",
            finer <= 1.001,
        ),
        Claim(f"CJ-9 the same with h = {1e3 * LARGE:g} ms", "no gain", f"at most {100 * gain:.1f} %", gain <= 1.001),
        Claim("CJ-9 never faster sideways than at the start", "never", f"{faster:.2f} x", faster < 1.001),
        Claim(
            "CJ-9 friction slows the slide, without it nothing does (alpha = 0)",
            "-",
            f"{rubbed['slide m/s']:.3f} m/s, without {slick['slide m/s']:.3f} m/s",
            bool(rubbed["slide m/s"] < 0.8 * slick["slide m/s"]),
        ),
    ]
    rows += [large, hard]
    claims.append(
        no_inversion({f"angle {r['angle']}, {r['h ms']:g} ms, k {r['k / E edge']:g}": r["min det F"] for r in rows})
    )
    more = [drop(mesh, 0.0, 0.3, count=count, duration=IMPACT) for count in COUNTS]
    least = more[-1]["min det F"]
    claims.append(Claim(f"the same with {COUNTS[-1]} nodes, through the impact", "-", f"{least:.2f}", least > 0.0))
    rows += more
    notes = [
        f"{len(mesh.X)} vertices, h = 1 ms but for two rows; contacts are those where the old velocities lead",
        f"springs ten times stiffer and {1e3 * LARGE:g} ms: {hard['most energy']:.2f} of the energy",
        "elements turn inside out at dynamic nodes, which carry the inertia of the body in the impact",
    ]
    return Table("conjac/bunny", "BUNNY", rows, claims, notes)

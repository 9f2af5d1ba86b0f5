"""conjac/bunny: a body dropped on a floor with friction, 24 unknowns. [ConJac2020, Fig. 8]"""

from typing import Any

import numpy as np

from pliant.bench.conjac.play import march
from pliant.bench.table import Claim, Table
from pliant.integrators import ConJac
from pliant.mesh import long_eared
from pliant.scenes.conjac import bunny

ANGLES = (0.0, 0.7, 1.6)


def drop(mesh: Any, angle: float, mu: float) -> dict[str, Any]:
    """One drop: how deep, how far it bounces, what happens to its energy and its sideways speed."""
    scene = bunny(ConJac(count=8, friction=mu), angle=angle, mesh=mesh)
    low, energies, slides, depth, unknowns = [], [], [], 0.0, 0
    for moment in march(scene):
        x, v = moment.state.q.reshape(-1, 3), moment.state.v.reshape(-1, 3)
        m = moment.system.nodal_mass[::3]
        low.append(float(x[:, 2].min()))
        depth = max(depth, -low[-1])
        energies.append(moment.energy)
        slides.append(float(m @ v[:, 0] / m.sum()))
        unknowns = 3 * len(moment.step.memory[0].nodes)
    touched = int(np.argmax(np.array(low) < 0.0))
    gains = np.diff(energies[:]) / max(abs(energies[0]), 1e-300)
    return {
        "angle": angle,
        "mu": mu,
        "unknowns": unknowns,
        "depth mm": 1e3 * depth,
        "bounce mm": 1e3 * max(low[touched:]),
        "largest gain": float(gains.max()),
        "end energy": energies[-1] / energies[0],
        "slide m/s": slides[-1],
        "fastest slide after landing": float(np.abs(slides[touched:]).max()),
        "steps": len(energies),
    }


def run(*, quick: bool = False) -> Table:
    mesh = long_eared(cells=10 if quick else 24.3)
    angles = ANGLES[:2] if quick else ANGLES
    rows = [drop(mesh, angle, 0.3) for angle in angles] + [drop(mesh, angles[0], 0.0)]
    rubbed, slick = rows[0], rows[-1]
    gain = max(row["largest gain"] for row in rows)
    start = 0.5
    faster = max(row["fastest slide after landing"] for row in rows[:-1]) / start
    claims = [
        Claim(
            "CJ-9 size of the system",
            "24 x 24",
            f"{rubbed['unknowns']} x {rubbed['unknowns']}",
            rubbed["unknowns"] == 24,
        ),
        Claim(
            "CJ-9 runs through", "yes", f"{min(r['steps'] for r in rows)} steps", min(r["steps"] for r in rows) == 200
        ),
        Claim("CJ-9 bounces", "yes", f"{rubbed['bounce mm']:.1f} mm", rubbed["bounce mm"] > 0.5),
        Claim("CJ-9 no energy gain in a step", "none", f"{100 * gain:.2f} % of the start", gain < 1e-2),
        Claim("CJ-9 sideways speed never above that of the drop", "never", f"{faster:.2f} x", faster < 1.02),
        Claim(
            "CJ-9 friction stops the slide",
            "-",
            f"{rubbed['slide m/s']:.3f} m/s, without {slick['slide m/s']:.3f} m/s",
            abs(rubbed["slide m/s"]) < 0.5 * abs(slick["slide m/s"]),
        ),
    ]
    notes = [
        f"{len(mesh.X)} vertices; the penalty (alpha = 0.1) also resists sliding, so mu = 0 is not free of friction"
    ]
    return Table("conjac/bunny", "BUNNY", rows, claims, notes)

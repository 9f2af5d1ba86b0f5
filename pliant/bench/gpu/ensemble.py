"""Many copies of a small scene with different parameters, stepped together on a GPU and one by one."""

from typing import Any

import numpy as np

from pliant.batch import together
from pliant.bench.gpu.bars import H, told
from pliant.bench.gpu.speedup import stepped
from pliant.bench.table import Claim, Table
from pliant.bodies import Solid
from pliant.cuda.device import arrays, name
from pliant.integrators import BDF2
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar
from pliant.scene import Scene

CELLS = (9, 3, 3)  # 486 tetrahedra


def held(E: float) -> Scene:
    """A small bar held at one end, of Young's modulus ``E``."""
    mesh = bar(size=(0.3, 0.1, 0.1), cells=CELLS)
    end = Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
    return Scene([Solid(mesh, StableNeoHookean(E, 0.4), pins=end)], h=H)


def run(*, quick: bool = False) -> Table:
    arrays()
    count, steps = (16, 3) if quick else (1024, 10)
    E = np.geomspace(2e4, 2e6, count)
    all_at_once, q = stepped(together([held(float(one)) for one in E]), BDF2(), "cuda", steps, 2)
    rows: list[dict[str, Any]] = [{"how": "GPU, together", "copies": count, "steps_per_s": count / all_at_once}]
    apart = 0.0
    for k in (0, count // 2, count - 1):
        for label, device in (("GPU, one by one", "cuda"), ("CPU, one by one", "cpu")):
            alone, other = stepped(held(float(E[k])), BDF2(), device, steps, 2)
            rows.append(told({"how": f"{label}, E = {E[k]:.2g}", "copies": 1, "steps_per_s": 1.0 / alone}))
            apart = max(apart, float(np.abs(q.reshape(count, -1)[k] - other).max()))
    fastest = max(r["steps_per_s"] for r in rows if "CPU" in r["how"])
    gain = rows[0]["steps_per_s"] / fastest
    claims = [
        Claim("steps of all copies per second, against one core of the CPU", "reported", f"{gain:.0f}x", gain > 1.0),
        Claim("copies move as they do alone (E lowest, middle, highest)", "<= 1e-5 m", f"{apart:.1e} m", apart <= 1e-5),
    ]
    notes = [
        f"Device: {name()}. Bars of 486 tetrahedra, E = 20 kPa to 2 MPa; BDF2, {H:g} s, default "
        "tolerance. They are stepped as `pliant sweep --batch` steps them."
    ]
    return Table("gpu/ensemble", "Copies of a small scene at once", rows, claims, notes)

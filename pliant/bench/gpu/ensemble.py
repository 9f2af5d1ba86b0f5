"""Many copies of a small scene with different parameters, stepped together on a GPU and one by one."""

from typing import Any

import numpy as np

from pliant.bench.gpu.bars import H
from pliant.bench.gpu.speedup import stepped
from pliant.bench.table import Claim, Table
from pliant.bodies import Solid
from pliant.cuda.device import arrays, name
from pliant.integrators import BDF2
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import Mesh, bar
from pliant.scene import Scene

CELLS = (9, 3, 3)  # 486 tetrahedra


def copies(E: np.ndarray) -> Scene:
    """A held bar for every Young's modulus in ``E``, side by side in one mesh that nothing couples."""
    one = bar(size=(0.3, 0.1, 0.1), cells=CELLS)
    shift = np.arange(len(E))[:, None, None] * np.array([0.0, 0.3, 0.0])
    X = (one.X[None] + shift).reshape(-1, 3)
    T = (one.T[None] + len(one.X) * np.arange(len(E))[:, None, None]).reshape(-1, 4)
    mesh = Mesh(X, T)
    held = Pin(mesh.where(lambda X: X[:, 0] < one.X[:, 0].min() + 1e-9))
    return Scene([Solid(mesh, StableNeoHookean(np.repeat(E, len(one.T)), 0.4), pins=held)], h=H)


def run(*, quick: bool = False) -> Table:
    arrays()
    count, steps = (16, 3) if quick else (1024, 10)
    E = np.geomspace(2e4, 2e6, count)
    together, q = stepped(copies(E), BDF2(), "cuda", steps, 2)
    rows: list[dict[str, Any]] = [{"how": "GPU, together", "copies": count, "steps_per_s": count / together}]
    apart = 0.0
    for k in (0, count // 2, count - 1):
        for label, device in (("GPU, one by one", "cuda"), ("CPU, one by one", "cpu")):
            alone, other = stepped(copies(E[k : k + 1]), BDF2(), device, steps, 2)
            rows.append({"how": f"{label}, E = {E[k]:.2g}", "copies": 1, "steps_per_s": 1.0 / alone})
            shift = np.tile([0.0, 0.3 * k, 0.0], len(other) // 3)
            apart = max(apart, float(np.abs(q.reshape(count, -1)[k] - shift - other).max()))
    fastest = max(r["steps_per_s"] for r in rows if "CPU" in r["how"])
    gain = rows[0]["steps_per_s"] / fastest
    claims = [
        Claim("steps of all copies per second, against one core of the CPU", "reported", f"{gain:.0f}x", gain > 1.0),
        Claim("copies move as they do alone (E lowest, middle, highest)", "<= 1e-5 m", f"{apart:.1e} m", apart <= 1e-5),
    ]
    notes = [f"Device: {name()}. Bars of 486 tetrahedra, E = 20 kPa to 2 MPa; BDF2, {H:g} s, default tolerance."]
    return Table("gpu/ensemble", "Copies of a small scene at once", rows, claims, notes)

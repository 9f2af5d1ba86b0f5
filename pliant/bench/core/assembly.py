"""core/assembly: nanoseconds per element of energy, gradient and Hessian on the BAR (51,744 tets), one thread.

CPU time, minimum of repeats: on a shared machine that is the wall time of an idle one. "first" is the first call, which
compiles or, from the second process on, loads the kernel from the disk cache.
"""

import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from pliant.arrays import Array
from pliant.bench.core.materials import make
from pliant.bench.table import Claim, Table
from pliant.energies.elastic import Elastic
from pliant.materials import MATERIALS, StableNeoHookean
from pliant.mesh import Mesh, bar


def deformed(mesh: Mesh) -> Array:
    """A twisted, bent, stretched and slightly noisy state (n*3,) without inverted elements."""
    X = mesh.X
    t = X[:, 0] / X[:, 0].max()
    y, z = (X[:, 1:] - X[:, 1:].mean(axis=0)).T
    c, s = np.cos(1.2 * t), np.sin(1.2 * t)
    x = np.stack([1.15 * X[:, 0], c * y - s * z + 0.06 * t * t, s * y + c * z], axis=1)
    return (x + 1e-4 * np.random.default_rng(0).normal(size=X.shape)).ravel()


def seconds(work: Callable[[], Any], repeats: int) -> float:
    """Least CPU time of one call [s]."""
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def measure(mesh: Mesh, material: Any, repeats: int) -> dict[str, Any]:
    """One row: set-up and first calls [s], then ns per element."""
    start = time.process_time()
    energy = Elastic(mesh.X, mesh.T, material)
    setup = time.process_time() - start
    x = deformed(mesh)
    calls: dict[str, Callable[[], Any]] = {
        "energy": lambda: energy.value(x),
        "gradient": lambda: energy.gradient(x),
        "hessian psd": lambda: energy.hessian(x, psd=True),
        "hessian": lambda: energy.hessian(x),
    }
    first = sum(seconds(call, 1) for call in calls.values())
    row = {
        "material": type(material).__name__,
        "elements": len(mesh.T),
        "set-up s": round(setup, 2),
        "first s": round(first, 2),
    }
    return row | {name: round(seconds(call, repeats) / len(mesh.T) * 1e9, 1) for name, call in calls.items()}


def march_seconds(steps: int, repeats: int) -> tuple[float, int]:
    """CPU time [s] of ``steps`` explicit steps of the small BAR in one kernel call, and its number of elements."""
    mesh = bar(size=(0.3, 0.1, 0.1), cells=(22, 7, 7))
    energy = Elastic(mesh.X, mesh.T, StableNeoHookean())
    x = mesh.X.ravel()
    inverse = np.full(x.size, len(mesh.X) / 3.0)
    inverse[np.repeat(mesh.X[:, 0] < 1e-9, 3)] = 0.0
    load = np.tile([0.0, 0.0, -9.81], len(mesh.X)) * 3.0 / len(mesh.X)
    energy.march(x, np.zeros_like(x), inverse, load, 1e-5, 1)
    return seconds(lambda: energy.march(x, np.zeros_like(x), inverse, load, 1e-5, steps), repeats), len(mesh.T)


def run(*, quick: bool = False) -> Table:
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        return table(quick)
    finally:
        numba.set_num_threads(threads)


def table(quick: bool) -> Table:
    mesh = bar(cells=(22, 7, 7)) if quick else bar()
    rows = [measure(mesh, make(cls), 3 if quick else 15) for cls in MATERIALS]
    claims = []
    for row in rows:
        bound = 450 if row["material"] == "StableNeoHookean" else 900
        both = row["gradient"] + row["hessian psd"]
        claims.append(
            Claim(f"{row['material']}: gradient + hessian", f"<= {bound} ns", f"{both:.0f} ns", both <= bound)
        )
    took, elements = march_seconds(2000, 1 if quick else 5)
    claims.append(Claim(f"2000 explicit steps of {elements} tets", "<= 0.4 s", f"{took:.2f} s", took <= 0.4))
    if not quick:
        large = measure(bar(cells=(102, 29, 29)), StableNeoHookean(), 3)
        rows.append(large)
        growth = large["hessian psd"] / rows[0]["hessian psd"]
        claims.append(Claim(f"hessian at {large['elements']} tets", "linear: <= 1.5x", f"{growth:.2f}x", growth <= 1.5))
    return Table("core/assembly", "Elements per second, one thread", rows, claims, ["ns per element, CPU time"])

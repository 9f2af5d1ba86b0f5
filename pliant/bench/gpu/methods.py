"""XPBD, Projective Dynamics and early preconditioners on a GPU, beside the CPU of the same machine."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numba
import numpy as np

from pliant.bench.gpu.bars import SIZES, H, hanging_bar, told
from pliant.bench.gpu.speedup import stepped
from pliant.bench.table import Claim, Table
from pliant.cuda.device import arrays, name
from pliant.integrators import BDF1, XPBD
from pliant.materials import ARAP
from pliant.scene import Scene
from pliant.solvers import PD, HybridLP, NewtonLP

STEPS = 3


def neo_hookean(cells: tuple[int, int, int]) -> Scene:
    return hanging_bar(cells)


def arap(cells: tuple[int, int, int]) -> Scene:
    """The same bar of a material that is a squared distance, as Projective Dynamics wants it."""
    scene = hanging_bar(cells)
    return replace(scene, bodies=[replace(scene.bodies[0], material=ARAP(1e5))])


METHODS: dict[str, tuple[Callable[[Any], Scene], Any, bool]] = {  # scene, method, whether the CPU takes part
    "XPBD, 10 substeps": (neo_hookean, XPBD(10), True),
    "XPBD, 10 substeps, patch=1": (neo_hookean, XPBD(10, patch=1), True),
    "PD, 10 local/global iterations": (arap, BDF1(PD(m=0, fixed=10, line_search=None)), True),
    "PD, 5 pairs, to the tolerance": (arap, BDF1(PD()), False),
    "BDF1, Newton": (neo_hookean, BDF1(), False),
    "BDF1, NEWTON-LP": (neo_hookean, BDF1(NewtonLP()), False),
    "BDF1, HYBRID-LP": (neo_hookean, BDF1(HybridLP()), False),
}


def measured(size: str, label: str, cores: int) -> dict[str, Any]:
    """Seconds per step on the GPU, on all cores and on one; how far apart they end."""
    make, method, both = METHODS[label]
    scene = make(SIZES[size])
    system = scene.system()
    gpu, q = stepped(scene, method, "cuda", STEPS, 1, system)
    again = stepped(scene, method, "cuda", STEPS, 1, system)[1]
    row = {"size": size, "method": label, "gpu_s": gpu, "same_bytes": bool(np.array_equal(q, again))}
    times, apart = {1: np.nan, cores: np.nan}, np.nan
    for threads in times if both else ():
        numba.set_num_threads(threads)
        times[threads], other = stepped(scene, method, "cpu", 1 if size == "1M" else STEPS, 1, system)
        numba.set_num_threads(cores)
        if size != "1M":  # as many steps as the GPU's
            apart = float(np.abs(q - other).max())
    return told({**row, "one_core_s": times[1], "all_cores_s": times[cores], "ratio": times[1] / gpu, "apart_m": apart})


def run(*, quick: bool = False) -> Table:
    arrays()
    cores = numba.get_num_threads()
    rows = [measured(size, label, cores) for size in (["50k"] if quick else ["50k", "1M"]) for label in METHODS]
    claims = []
    for kind, most in (("XPBD", 1e-9), ("PD, 10", 1e-5)):
        mine = [r for r in rows if r["method"].startswith(kind)]
        gain = max(mine, key=lambda r: (r["size"] == "1M", r["ratio"]))
        what = f"{gain['method']}: a step of {gain['size']} tets, GPU against one core"
        claims.append(Claim(what, "reported", f"{gain['ratio']:.0f}x", gain["ratio"] > 1.0))
        apart = max(r["apart_m"] for r in mine if r["size"] == "50k")
        claims.append(Claim(f"{kind}: GPU and CPU agree", f"<= {most:g} m", f"{apart:.1e} m", apart <= most))
    same = sum(r["same_bytes"] for r in rows)
    claims.append(Claim("two runs on the GPU", "same bytes", f"{same} of {len(rows)}", same == len(rows)))
    notes = [
        f"Device: {name()}; {cores} CPU cores. Wall time of a step of {H:g} s of the hanging bar, mean of {STEPS} "
        "after one that compiles and factors. XPBD takes the same order of projections on both, PD the same matrix: a "
        "factor on the CPU, conjugate gradients to a millionth on the GPU."
    ]
    return Table("gpu/methods", "Position-based and projective methods on a GPU", rows, claims, notes)

"""One implicit and one explicit step of bars of 50 thousand, one million and eight million tetrahedra on a GPU."""

import gc
from time import perf_counter
from typing import Any

import numpy as np

from pliant.bench.gpu.bars import SIZES, H, hanging_bar, seconds, told
from pliant.bench.table import Claim, Table
from pliant.cuda.device import arrays, name, synchronized, to_device
from pliant.cuda.system import on_device
from pliant.integrators import BDF2, TRBDF2, Verlet
from pliant.state import State

STEPS = 4  # of which the last is timed: the first ones compile, and BDF2 starts with another method
SUBSTEPS = 20
LIMITS = {"1M": (0.25, 0.6), "8M": (4.0, np.inf)}  # s of an implicit step, ms of an explicit one


def measured(size: str) -> dict[str, Any]:
    """The parts of a step, whole steps, and the memory that they need."""
    xp = arrays()
    if xp is not np:  # what the last size has left
        gc.collect()
        xp.get_default_memory_pool().free_all_blocks()
    scene = hanging_bar(SIZES[size])
    host = scene.system()
    device: Any = on_device(host)
    start = scene.initial(host)
    q = to_device(start.q)
    v, weights = xp.zeros_like(q), (1.0, 0.0, (2.0 / 3.0 * H) ** 2)
    elastic = device.energy_terms[0]
    A = device.tangent(q, v, 0.0, weights)
    f = device.force(q, v, 0.0)[device.free]
    memory = device.linear.factor(A).memory
    factor = device.linear.factor(A, memory)
    row: dict[str, Any] = {
        "size": size,
        "tets": len(host.cells()[0]),
        "unknowns": len(host.free),
        "gradient_ms": 1e3 * seconds(lambda: elastic.gradient(q)),
        "matrix_ms": 1e3 * seconds(lambda: device.tangent(q, v, 0.0, weights)),
        "product_ms": 1e3 * seconds(lambda: [A.product(q) for _ in range(20)]) / 20,
        "pcg_ms": 1e3 * seconds(lambda: factor.solve(f)),
    }
    factor.inner = 0
    x = factor.solve(f)
    row |= {"pcg_iterations": factor.inner, "pcg_residual": float(xp.linalg.norm(A @ x - f) / xp.linalg.norm(f))}
    for label, method in (("bdf2", BDF2()), ("trbdf2", TRBDF2())):
        row |= implicit(label, method, device, State(q, v))
    verlet = Verlet(substeps=SUBSTEPS)
    dt = 1e-6
    row["verlet_ms"] = 1e3 * seconds(lambda: verlet.step(device, State(q, v), SUBSTEPS * dt)) / SUBSTEPS
    row["memory_GB"] = np.nan if xp is np else xp.get_default_memory_pool().total_bytes() / 1e9
    return row


def implicit(label: str, method: Any, device: Any, state: State) -> dict[str, Any]:
    """The last of some steps of H: its time, iterations, and whether it and all before converged."""
    memory, good, least, spent = None, True, 1.0, float("inf")
    for _ in range(STEPS):
        synchronized()
        begun = perf_counter()
        step = method.step(device, state, H, memory)
        synchronized()
        spent = perf_counter() - begun
        state, memory = step.state, step.memory
        good &= all(report.converged for report in step.reports)
        least = min(least, float(device.energy_terms[0].det(state.q).min()))
    newton = sum(report.iterations for report in step.reports)
    inner = sum(report.counts.inner for report in step.reports)
    return {
        f"{label}_s": spent,
        f"{label}_newton": newton,
        f"{label}_pcg": inner,
        f"{label}_good": good and least > 0.5,
    }


def run(*, quick: bool = False) -> Table:
    """``quick`` leaves out the eight million, whose tables take minutes to make on the CPU."""
    rows = [told(measured(size)) for size in SIZES if not (quick and size == "8M")]
    claims = []
    for row in rows:
        sound = row["bdf2_good"] and row["trbdf2_good"]
        if row["size"] not in LIMITS:
            continue
        implicit_s, verlet_ms = LIMITS[row["size"]]
        slowest = max(row["bdf2_s"], row["trbdf2_s"])
        what = f"{row['size']}: an implicit step, every one converged and no element below half its volume"
        claims.append(Claim(what, f"<= {implicit_s:g} s", f"{slowest:.3f} s", sound and slowest <= implicit_s))
        if np.isfinite(verlet_ms):
            measured_ms = row["verlet_ms"]
            claims.append(
                Claim(
                    f"{row['size']}: a Verlet step",
                    f"<= {verlet_ms:g} ms",
                    f"{measured_ms:.2f} ms",
                    measured_ms <= verlet_ms,
                )
            )
    notes = [
        f"Device: {name()}. Wall time, least of several calls after one that compiles.",
        f"h = {H:g} s, E = 100 kPa, default tolerance; PCG to 1e-2 with block Jacobi, beyond 300 iterations with a "
        "coarse space of rigid motions. The PCG of the columns is for the force at rest.",
    ]
    return Table("gpu/step", "Steps of bars on a GPU", rows, claims, notes)

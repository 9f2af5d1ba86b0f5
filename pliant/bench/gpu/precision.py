"""The matrix of conjugate gradients in single precision, in double precision: what it saves, what it changes."""

from dataclasses import replace
from functools import partial
from typing import Any

from pliant.bench.gpu.bars import SIZES, H, hanging_bar, seconds, told
from pliant.bench.gpu.step import implicit
from pliant.bench.table import Claim, Table
from pliant.cuda.device import arrays, name, to_device
from pliant.cuda.system import on_device
from pliant.integrators import BDF2
from pliant.state import State


def measured(size: str) -> list[dict[str, Any]]:
    """One solve and one implicit step each way; residuals are those of the matrix in double precision."""
    scene = hanging_bar(SIZES[size])
    host = scene.system()
    device: Any = on_device(host)
    xp, start = arrays(), scene.initial(host)
    q = to_device(start.q)
    v, weights = xp.zeros_like(q), (1.0, 0.0, (2.0 / 3.0 * H) ** 2)
    A, f = device.tangent(q, v, 0.0, weights), device.force(q, v, 0.0)[device.free]
    rows, linear = [], device.linear
    for single in (False, True):
        device.linear = replace(linear, single=single)
        memory = device.linear.factor(A).memory
        factor = device.linear.factor(A, memory)
        solve_ms = 1e3 * seconds(partial(factor.solve, f))
        factor.inner = 0
        x = factor.solve(f)
        residual = float(xp.linalg.norm(A @ x - f) / xp.linalg.norm(f))
        row = {
            "size": size,
            "matrix": "single" if single else "double",
            "pcg_ms": solve_ms,
            "pcg_iterations": factor.inner,
        }
        rows.append(told({**row, "residual": residual, **implicit("bdf2", BDF2(), device, State(q, v))}))
    return rows


def run(*, quick: bool = False) -> Table:
    arrays()
    rows = [row for size in (["50k"] if quick else ["50k", "1M"]) for row in measured(size)]
    claims = []
    for double, single in zip(rows[::2], rows[1::2], strict=True):
        gain = double["bdf2_s"] / single["bdf2_s"]
        what = f"{double['size']}: single precision makes a step faster, and it converges to the same tolerance"
        sound = double["bdf2_good"] and single["bdf2_good"] and single["residual"] <= 1.2e-2
        claims.append(Claim(what, "> 1.05x", f"{gain:.2f}x", sound and gain > 1.05))
    notes = [
        f"Device: {name()}. The hanging bar, h = {H:g} s, default tolerance; PCG to 1e-2. Vectors and sums are double."
    ]
    return Table("gpu/precision", "Single precision in conjugate gradients", rows, claims, notes)

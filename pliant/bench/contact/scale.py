"""contact/scale: what detection costs: growth with the number of surface triangles, self contact of a large body.

CPU time of all threads together, best of nine: a time on two idle cores is at most that, and other work on the machine
does not count.
"""

from time import process_time

import numpy as np
from numba import get_num_threads

from pliant.arrays import Array
from pliant.bench.table import Claim, Table
from pliant.contact.pairs import ClosePairs, PairDetector
from pliant.mesh import Mesh, ball, long_eared


def run(*, quick: bool = False) -> Table:
    unit = ball(radius=0.5, cells=5)
    per_ball = len(unit.surface())
    wanted = (1_000, 10_000) if quick else (1_000, 3_000, 10_000, 30_000, 100_000)
    rows = [_many(unit, round(triangles / per_ball)) for triangles in wanted]
    n, ms = np.array([(r["triangles"], r["ms"]) for r in rows]).T
    slope = float(np.polyfit(np.log(n), np.log(ms), 1)[0])
    steepest = float(np.diff(np.log(n * np.log(n))).sum() / np.diff(np.log(n)).sum())  # what n log n itself would read
    big = long_eared(cells=12) if quick else long_eared(cells=19)
    folded = _folded(big)
    detector = PairDetector([big], np.array([0, len(big.X)]))
    alone = _time(detector, folded)
    rows.append(
        {
            "case": "self contact",
            "bodies": 1,
            "triangles": len(big.surface()),
            "tets": len(big.T),
            "pairs": len(_detect(detector, folded).body),
            "ms": alone,
        }
    )
    shown = f"{slope:.2f}, n log n {steepest:.2f}"
    claims = [
        Claim("cost grows no faster than n log n (exponent)", "n log n", shown, slope <= steepest + 0.05),
        Claim(
            f"self contact of {len(big.T)} tets within 20 ms",
            "20 ms on two cores",
            f"{alone:.1f} ms CPU",
            alone <= 20.0,
        ),
    ]
    notes = [f"{get_num_threads()} threads, best of 9; vertices inside tets and those near triangles, both searched"]
    return Table("contact/scale", "Cost of detection", rows, claims, notes)


def _folded(mesh: Mesh) -> Array:
    """The figure with its upper part pushed into the lower one."""
    x = mesh.X.copy()
    middle = 0.5 * (x[:, 2].min() + x[:, 2].max())
    above = x[:, 2] > middle
    x[above, 2] = middle - 0.3 * (x[above, 2] - middle)
    return x


def _many(unit: Mesh, count: int) -> dict[str, float | str]:
    rng = np.random.default_rng(0)
    side = int(np.ceil(count ** (1 / 3)))
    cells = np.stack(np.meshgrid(*[np.arange(side)] * 3), axis=-1).reshape(-1, 3)[:count]
    meshes = [unit.transformed(translate=0.95 * c + 0.03 * rng.normal(size=3)) for c in cells]
    offsets = np.concatenate([[0], np.cumsum([len(m.X) for m in meshes])])
    detector = PairDetector(meshes, offsets)
    x = np.concatenate([m.X for m in meshes])
    return {
        "case": "touching balls",
        "bodies": count,
        "triangles": count * len(unit.surface()),
        "tets": len(detector.T),
        "pairs": len(_detect(detector, x).body),
        "ms": _time(detector, x),
    }


def _detect(detector: PairDetector, x: Array) -> ClosePairs:
    """What a step of 10 ms at 1 m/s asks for."""
    way = np.full_like(x, 0.01 / np.sqrt(3.0))
    return detector.detect_along(x, way, slack=1e-3, thickness=0.0, margin=0.02)


def _time(detector: PairDetector, x: Array) -> float:
    best = np.inf
    for _ in range(9):
        start = process_time()
        _detect(detector, x)
        best = min(best, process_time() - start)
    return round(1e3 * best, 3)

"""contact/scale: what detection costs: growth with the number of surface triangles, self contact of a large body."""

from time import process_time

import numpy as np

from pliant.bench.table import Claim, Table
from pliant.contact.pairs import PairDetector
from pliant.mesh import Mesh, ball, long_eared


def run(*, quick: bool = False) -> Table:
    counts = (5, 50) if quick else (5, 20, 80, 320, 500)
    unit = ball(radius=0.5, cells=5)
    rows = [_many(unit, n) for n in counts]
    size = np.log([r["triangles"] for r in rows])
    slope = float(np.polyfit(size, np.log([r["ms"] for r in rows]), 1)[0])
    big = long_eared(cells=12 if quick else 19)
    alone = _time(PairDetector([big], np.array([0, len(big.X)])), big.X)
    rows.append({"case": "self contact", "bodies": 1, "triangles": len(big.surface()), "tets": len(big.T), "ms": alone})
    claims = [
        Claim(
            "cost grows like n log n (exponent of the number of triangles)", "1.0 to 1.15", f"{slope:.2f}", slope < 1.15
        ),
        Claim(f"self contact of {len(big.T)} tets within 20 ms", "20 ms", f"{alone:.1f} ms CPU", alone <= 20.0),
    ]
    return Table("contact/scale", "Cost of detection", rows, claims)


def _many(unit: Mesh, count: int) -> dict[str, float | str]:
    rng = np.random.default_rng(0)
    side = int(np.ceil(count ** (1 / 3)))
    cells = np.stack(np.meshgrid(*[np.arange(side)] * 3), axis=-1).reshape(-1, 3)[:count]
    meshes = [unit.transformed(translate=0.95 * c + 0.03 * rng.normal(size=3)) for c in cells]
    offsets = np.concatenate([[0], np.cumsum([len(m.X) for m in meshes])])
    detector = PairDetector(meshes, offsets)
    x = np.concatenate([m.X for m in meshes])
    triangles = count * len(unit.surface())
    return {
        "case": "touching balls",
        "bodies": count,
        "triangles": triangles,
        "tets": len(detector.T),
        "ms": _time(detector, x),
    }


def _time(detector: PairDetector, x: np.ndarray) -> float:
    detector.detect(x)
    best = np.inf
    for _ in range(5):
        start = process_time()
        detector.detect(x)
        best = min(best, process_time() - start)
    return round(1e3 * best, 3)

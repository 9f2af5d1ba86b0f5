"""Twenty thousand random remeshing operations: nothing inverted, nothing lost, nothing random about the result."""

from time import process_time

import numpy as np

from pliant.arrays import Array
from pliant.bench.table import Claim, Table
from pliant.cloth._topology import neighbours
from pliant.cloth.remesh import FeatureTable, Remesher, remesh
from pliant.cloth.sheet import Sheet, border_edges, rectangle, sheet, signed_areas


def random_sizing(X: Array, rng: np.random.Generator) -> Array:
    """A rough anisotropic field: sizes 2.5 to 12 cm, aspect up to 5, a new direction field every time."""
    angle = rng.uniform(0, 6) + rng.uniform(1, 30) * X[:, 0] + rng.uniform(1, 30) * X[:, 1]
    large = rng.uniform(0.025, 0.12, len(X)) ** -2
    small = large * rng.uniform(0.04, 1, len(X))
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([large * c * c + small * s * s, (large - small) * s * c, large * s * s + small * c * c], axis=1)


def walk(operations: int, seed: int) -> tuple[Sheet, dict[str, float]]:
    """Remesh under ever new fields until so many operations are done; the worst of everything met on the way."""
    rng = np.random.default_rng(seed)
    now = sheet(*rectangle((1.0, 1.0), (12, 12)))
    worst = {"operations": 0.0, "sweeps": 0.0, "area": 1.0, "drift": 0.0, "euler": 0.0, "border": 0.0, "seconds": 0.0}
    while worst["operations"] < operations:
        S = random_sizing(now.X, rng)
        start = process_time()
        edited = remesh(now, S, Remesher(0.025, 0.12), FeatureTable())
        worst["seconds"] += process_time() - start
        now = edited.sheet
        N = neighbours(now.faces, len(now.X))
        areas = signed_areas(now.X, now.faces)
        border = border_edges(now.faces, len(now.X))
        length = np.linalg.norm(now.X[border[:, 1]] - now.X[border[:, 0]], axis=1).sum()
        euler = len(now.X) - ((N >= 0).sum() // 2 + (N < 0).sum()) + len(now.faces)
        worst["operations"] += edited.operations
        worst["sweeps"] += 1
        worst["area"] = min(worst["area"], float(areas.min()))
        worst["drift"] = max(worst["drift"], abs(float(areas.sum()) - 1.0))
        worst["euler"] = max(worst["euler"], abs(float(euler) - 1.0))
        worst["border"] = max(worst["border"], abs(float(length) - 4.0) + abs(float(now.fixed.sum()) - 4.0))
    return now, worst


def run(*, quick: bool = False) -> Table:
    operations = 4000 if quick else 20000
    walk(100, seed=0)  # compile
    one, worst = walk(operations, seed=7)
    two, _ = walk(operations, seed=7)
    same = np.array_equal(one.X, two.X) and np.array_equal(one.faces, two.faces)
    micro = 1e6 * worst["seconds"] / worst["operations"]
    claims = [
        Claim("no inverted face", "0", f"smallest area {worst['area']:.2e} m^2", worst["area"] > 0),
        Claim("area of the material domain", "1e-12", f"{worst['drift']:.1e}", worst["drift"] < 1e-12),
        Claim("Euler characteristic", "kept", f"off by {worst['euler']:.0f}", worst["euler"] == 0),
        Claim("border and corners", "kept", f"off by {worst['border']:.1e}", worst["border"] < 1e-12),
        Claim("deterministic", "same bytes", str(same), same),
    ]
    row = {**worst, "faces": len(one.faces), "microseconds_per_operation": micro}
    return Table("eol/remesh", f"{operations} random remeshing operations", [row], claims)

"""Cloth that falls on random convex bodies, still and turning: it stays out of them, whole and without new energy."""

import numpy as np

from pliant.bench.eol.books import Books, expected_stretch, smallest_cell
from pliant.bench.eol.march import march
from pliant.bench.eol.strain import THR, WEIGHT
from pliant.bench.table import Claim, Table
from pliant.bench.workers import spread
from pliant.contact.sharp import Hull
from pliant.maps.motions import Phase, Phases
from pliant.scene import Scene
from pliant.scenes.eol.variants import EOL, scene

SPEED = 3.4  # m/s, of a cloth that falls for 0.35 s


def random_hull(seed: int, cells: int) -> Scene:
    """A cloth one centimetre above the hull of 6 to 15 points, 0.15 to 0.35 m from its center; every third one turns.

    Every other one rubs, with mu = 0.3.
    """
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(int(rng.integers(6, 16)), 3))
    points *= rng.uniform(0.15, 0.35, size=(len(points), 1)) / np.linalg.norm(points, axis=1, keepdims=True)
    points += [0.5, 0.5, -points[:, 2].max() - 0.01]
    spin = rng.uniform(-3.0, 3.0)
    x, y, z = points.mean(axis=0)
    motion = Phases((Phase(0.0, 10.0, spin=(0.0, 0.0, spin)),), (x, y, z)) if seed % 3 == 2 else None
    return scene(f"HULL {seed}", EOL, cells, 0.6, [Hull(points, motion=motion)], mu=0.3 * (seed % 2))


def measure(fall: tuple[int, int]) -> dict[str, object]:
    """One fall: its seed and cells."""
    seed, cells = fall
    made = random_hull(seed, cells)
    books = Books()
    for moment in march(made):
        books.look(moment)
    turns = made.obstacles[0].motion is not None
    bound = expected_stretch(WEIGHT, SPEED, smallest_cell(made, cells), made.bodies[0].fabric)
    row = {"hull": seed, "mu": 0.3 * (seed % 2), "turns": turns, "bound": bound, "honest": books.honest}
    return row | books.columns()


def run(*, quick: bool = False) -> Table:
    cells, count = (6, 3) if quick else (8, 24)
    rows = list(spread(measure, [(seed, cells) for seed in range(count)]))
    deep = max(rows, key=lambda r: float(r["depth_mm"]))  # type: ignore[arg-type]
    long = max(rows, key=lambda r: float(r["stretch"]))  # type: ignore[arg-type]
    honest = sum(bool(r["honest"]) for r in rows)
    failed = sum(int(r["unconverged"]) for r in rows)  # type: ignore[call-overload]
    claims = [
        Claim(
            "depth in bodies, of all points of faces",
            f"<= thr = {THR:g} mm",
            f"{deep['depth_mm']:.2f} mm (hull {deep['hull']})",
            deep["depth_mm"] <= THR,  # type: ignore[operator]
        ),
        Claim(
            "stretch (all of it at one point; falls for 0.35 s)",
            f"<= {long['bound']:.2f}",
            f"{long['stretch']:.3f} (hull {long['hull']})",
            long["stretch"] <= long["bound"],  # type: ignore[operator]
        ),
        Claim("no energy from nowhere", f"{count} of {count}", f"{honest} of {count}", honest == count),
        Claim("every step converged", "yes", f"{failed} have not", failed == 0),
    ]
    return Table("eol/hulls", "Cloth falls on random hulls", rows, claims)

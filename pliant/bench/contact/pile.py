"""contact/pile: a hundred small piles of mixed kinds under barriers with friction; no intersection, no failed step.

Each seed throws six bodies of five kinds (soft cubes, rigid dice and balls, patches of rubber, chains on joints) into a
bowl. Every step is judged by routines that know nothing of barriers (`pliant.bench.piles`).
"""

import sys

from pliant.bench.piles import claims, watched
from pliant.bench.table import Table
from pliant.scenes.world_pile import mixed_pile

BODIES = 6


def run(*, quick: bool = False) -> Table:
    seeds, duration = (2, 0.1) if quick else (100, 0.2)
    points = lambda system, q: system.touchable.lift(q).reshape(-1, 3)
    rows = []
    for seed in range(seeds):
        rows.append(watched(mixed_pile(BODIES, seed=seed, duration=duration), seed, points))
        sys.stderr.write(f"{rows[-1]}\n")
    return Table("contact/pile", f"Piles of {BODIES} mixed bodies under barriers, h = 10 ms", rows, claims(rows))

"""contact/pile: a hundred small piles of mixed kinds under barriers with friction; no intersection, no failed step.

Each seed throws six bodies of five kinds (soft cubes, rigid dice and balls, patches of rubber, chains on joints) into a
bowl. Every step is judged by routines that know nothing of barriers (`pliant.bench.piles`).
"""

from pliant.bench.piles import claims, mixed_piles
from pliant.bench.table import Table

BODIES = 6


def run(*, quick: bool = False) -> Table:
    rows = mixed_piles(*((2, BODIES, 0.1) if quick else (100, BODIES, 0.2)), alone=quick)
    return Table("contact/pile", f"Piles of {BODIES} mixed bodies under barriers, h = 10 ms", rows, claims(rows))

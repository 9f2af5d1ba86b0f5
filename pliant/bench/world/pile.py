"""world/pile: seeded piles of mixed bodies under barriers; nothing may intersect in any step, every step converges."""

from pliant.bench.piles import claims, mixed_piles
from pliant.bench.table import Table


def run(*, quick: bool = False) -> Table:
    seeds, bodies, duration = (3, 6, 0.2) if quick else (30, 20, 0.5)
    rows = mixed_piles(seeds, bodies, duration, alone=quick)
    return Table("world/pile", f"Piles of {bodies} mixed bodies under barrier contact, h = 10 ms", rows, claims(rows))

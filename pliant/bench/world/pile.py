"""world/pile: seeded piles of mixed bodies under barriers; nothing may intersect in any step, every step converges."""

from pliant.bench.piles import claims, watched
from pliant.bench.table import Table
from pliant.scenes.world_pile import mixed_pile


def run(*, quick: bool = False) -> Table:
    seeds, count, duration = (3, 6, 0.2) if quick else (30, 20, 0.5)
    points = lambda system, q: system.touchable.lift(q).reshape(-1, 3)
    rows = [watched(mixed_pile(count, seed=seed, duration=duration), seed, points) for seed in range(seeds)]
    title = f"Piles of {count} mixed bodies under barrier contact, h = 10 ms"
    return Table("world/pile", title, rows, claims(rows))

"""world/pile: seeded piles of mixed bodies under barriers; nothing may intersect in any step, every step converges."""

import os
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context
from time import process_time
from typing import Any

from pliant.arrays import Array
from pliant.bench.piles import claims, watched
from pliant.bench.table import Table
from pliant.scenes.world_pile import mixed_pile
from pliant.systems.coupled import Coupled

PROCESSES = os.cpu_count() or 1  # at a time; each seed is a run of its own


def run(*, quick: bool = False) -> Table:
    seeds, count, duration = (3, 6, 0.2) if quick else (30, 20, 0.5)
    if quick:
        rows = [pile(seed, count, duration) for seed in range(seeds)]
    else:
        with ProcessPoolExecutor(PROCESSES, get_context("spawn")) as pool:
            rows = list(pool.map(pile, range(seeds), repeat(count), repeat(duration)))
    title = f"Piles of {count} mixed bodies under barrier contact, h = 10 ms"
    return Table("world/pile", title, rows, claims(rows))


def pile(seed: int, count: int, duration: float) -> dict[str, Any]:
    """The row of one pile, with the CPU time [s] that it took."""
    start = process_time()
    row = watched(mixed_pile(count, seed=seed, duration=duration), seed, touchable)
    return {**row, "CPU [s]": process_time() - start}


def touchable(system: Coupled, q: Array) -> Array:
    """The points (n, 3) that can touch."""
    x: Array = system.touchable.lift(q)
    return x.reshape(-1, 3)

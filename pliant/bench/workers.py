"""Work of a benchmark spread over processes: PLIANT_BENCH_WORKERS of them, as many as there are cores unless it is set.

Only benchmarks that count do so. Those that measure times run alone, in one process.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import TypeVar

import numba

from pliant.linear.threads import one_thread

WORKERS = int(os.environ.get("PLIANT_BENCH_WORKERS") or os.cpu_count() or 1)

T = TypeVar("T")
R = TypeVar("R")


def spread(work: Callable[[T], R], items: Iterable[T], *, workers: int = WORKERS, chunk: int = 1) -> Iterator[R]:
    """``work(item)`` of every item, in their order, by worker processes that take ``chunk`` items at a time.

    Processes are spawned: threads of kernels do not survive a fork. With one worker all is done in this process.
    """
    if workers == 1:
        yield from map(work, items)
        return
    with ProcessPoolExecutor(workers, get_context("spawn"), initializer=numba.set_num_threads, initargs=(1,)) as pool:
        yield from pool.map(partial(_on_one_thread, work), items, chunksize=chunk)


def _on_one_thread(work: Callable[[T], R], item: T) -> R:
    """As `pliant bench` does it in its own process."""
    with one_thread():
        return work(item)

"""scale/threads: what two threads are worth, part by part, and that they change no byte.

The speed-up is that of the least wall-clock times over some repetitions; on a machine that others use it says little,
as two threads get twice the share of one. Beside it stands the CPU time of the busiest thread, which no number of cores
can get below; where threads work in turn, as those of a factorization and its caller do, it is less than they need.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from time import clock_gettime, perf_counter
from typing import Any

import numba
import numpy as np

from pliant.bench.scale.multigrid import matrix, rest
from pliant.bench.scale.step import H, scene
from pliant.bench.table import Claim, Plot, Table
from pliant.integrators import BDF1, XPBD
from pliant.linear import Cholesky, Multigrid
from pliant.linear.threads import one_thread
from pliant.solvers import QLB

BATCH = 0.02  # s of a measurement, at least: threads take some 50 us to wake, and the clock has its own grain
Work = Callable[[], Any]


def loads() -> dict[int, float]:
    """CPU seconds of every thread of this process so far; {} where the system does not tell."""
    tasks = [int(path.name) for path in Path("/proc/self/task").glob("*")]
    return {task: clock_gettime((~task << 3) | 6) for task in tasks}  # Linux: the clock of a thread by its number


def weighed(work: Work, times: int = 1) -> tuple[float, float, bytes]:
    """CPU seconds of the busiest thread and wall-clock seconds of a call, and a digest of its result."""
    before, begun = loads(), perf_counter()
    for _ in range(times):
        result = work()
    wall, after = (perf_counter() - begun) / times, loads()
    busiest = max((after[name] - before.get(name, 0.0) for name in after), default=np.nan) / times
    return busiest, wall, hashlib.sha256(np.ascontiguousarray(result).tobytes()).digest()


def row(name: str, work: Work, repeats: int) -> dict[str, Any]:
    """The least over repetitions with one thread and with two, in turn; short parts many times in each."""
    config: Any = numba.config
    most = config.NUMBA_NUM_THREADS
    best = {1: (np.inf, np.inf), most: (np.inf, np.inf)}
    digests = set()
    times = 1 + int(BATCH / weighed(work)[1])
    for _ in range(repeats if times == 1 else 3 * repeats):
        for threads in best:
            numba.set_num_threads(threads)
            busy, wall, digest = weighed(work, times)
            best[threads] = min(best[threads][0], busy), min(best[threads][1], wall)
            digests.add(digest)
    numba.set_num_threads(most)
    (one, wall), (busier, wall_two) = best[1], best[most]
    return {
        "part": name, "one thread ms": 1e3 * one, f"busiest of {most} ms": 1e3 * busier, "speed-up": wall / wall_two,
        "one thread, wall-clock ms": 1e3 * wall, "same bytes": len(digests) == 1,
    }  # fmt: skip


def parts(c: int) -> dict[str, Work]:
    """What is measured, on a bar of 18 c^3 tetrahedra."""
    A, places = matrix(c, 1e6, 0.4, rest)
    x = np.random.default_rng(0).normal(size=A.shape[0])
    choice = Multigrid().placed(places)
    cycle = choice.factor(A)
    direct = {kind: Cholesky(kind).factor(A).memory for kind in ("supernodal", "single")}
    made = scene(c)
    system: Any = made.system()
    q, v = made.initial(system).q * 1.01, np.zeros(3 * len(system.X))

    def factored(kind: Any) -> Any:
        engine: Any = Cholesky(kind).factor(A, direct[kind]).memory.engine
        return engine.L

    def stepped(method: Any) -> Work:
        first = method.step(system, made.initial(system), H, None)
        return lambda: method.step(system, first.state, H, first.memory).state.q

    return {
        "products by blocks": lambda: cycle @ x,
        "residual": lambda: system.force(q, v, 0.0),
        "matrix": lambda: system.tangent(q, v, 0.0, (1.0, 0.0, H * H)).data,
        "V-cycle": lambda: cycle.solve(x),
        "multigrid set-up": lambda: choice.factor(A, cycle.memory).hierarchy.levels[1].val,
        "factor": lambda: factored("supernodal"),
        "factor, single precision": lambda: factored("single"),
        "QLB step, Cholesky": stepped(BDF1(QLB(linear=Cholesky("single")))),
        "QLB step, multigrid": stepped(BDF1(QLB(linear=Multigrid()))),
        "XPBD step": stepped(XPBD()),
    }


@one_thread()
def run(*, quick: bool = False) -> Table:
    rows = [row(name, work, 1 if quick else 5) for name, work in parts(8 if quick else 14).items()]
    ratio = {r["part"]: r["speed-up"] for r in rows}
    qlb = max(ratio["QLB step, Cholesky"], ratio["QLB step, multigrid"])
    different = [r["part"] for r in rows if not r["same bytes"]]
    claims = [
        Claim("factor", ">= 1.6", f"{ratio['factor']:.2f}", ratio["factor"] >= 1.6),
        Claim("products", ">= 1.5", f"{ratio['products by blocks']:.2f}", ratio["products by blocks"] >= 1.5),
        Claim("whole QLB step", ">= 1.5", f"{qlb:.2f}", qlb >= 1.5),
        Claim("the same bytes from one thread and from two", "all", ", ".join(different) or "all", not different),
    ]
    notes = [
        f"{18 * (8 if quick else 14) ** 3} tetrahedra. Speed-up: least wall-clock time of one thread over that of two. "
        f"{os.cpu_count()} cores with a load of {os.getloadavg()[0]:.0f} at the end; above the number of cores the "
        "speed-ups say nothing."
    ]
    return Table("scale/threads", "Two threads", rows, claims, notes, plot=Plot("part", "speed-up"))

"""scale/threads: what two threads are worth, part by part, and that they change no byte.

Two measures, the least of many repetitions with one thread and with two in turn. Wall-clock time says what a user gains
where cores are free; where others use them it says nothing, as two threads get twice the share of one. The CPU time of
the busiest thread is what uneven shares and parts that are not shared out leave: no machine can be faster, and one with
free cores is as fast if threads wake at once. The claims are judged by wall-clock time where others leave two cores
free, else by the busiest thread.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from time import clock_gettime, perf_counter, process_time
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

BATCH = 0.01  # s of a measurement, at least: threads take some 50 us to wake, and the clock has its own grain
IDLE = 0.5  # load that a machine has which nobody uses
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
    """The least over repetitions with one thread, with two and with all, in turn; short parts many times in each."""
    config: Any = numba.config
    most = config.NUMBA_NUM_THREADS
    best = dict.fromkeys((1, min(2, most), most), (np.inf, np.inf))
    digests = set()
    times = 1 + int(BATCH / weighed(work)[1])
    for _ in range(repeats if times == 1 else 4 * repeats):
        for threads in best:
            numba.set_num_threads(threads)
            busy, wall, digest = weighed(work, times)
            best[threads] = min(best[threads][0], busy), min(best[threads][1], wall)
            digests.add(digest)
    numba.set_num_threads(most)
    (busy, wall), (busy_two, wall_two) = best[1], best[min(2, most)]
    return {
        "part": name, "one thread, CPU ms": 1e3 * busy, "busiest of two, CPU ms": 1e3 * busy_two,
        "by CPU time": busy / busy_two, "one, wall-clock ms": 1e3 * wall, "two, wall-clock ms": 1e3 * wall_two,
        "by wall clock": wall / wall_two, **({f"{most} threads": wall / best[most][1]} if most > 2 else {}),
        "same bytes": len(digests) == 1,
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
    before, begun = os.getloadavg()[0], (process_time(), perf_counter())
    rows = [row(name, work, 1 if quick else 8) for name, work in parts(8 if quick else 14).items()]
    own = (process_time() - begun[0]) / (perf_counter() - begun[1])
    others, cores = max(before, os.getloadavg()[0] - own, 0.0), os.cpu_count() or 1
    measure = "by wall clock" if others <= cores - 2 + IDLE else "by CPU time"
    ratio = {r["part"]: r[measure] for r in rows}
    qlb = max(ratio["QLB step, Cholesky"], ratio["QLB step, multigrid"])
    different = [r["part"] for r in rows if not r["same bytes"]]
    claims = [
        Claim(f"factor, {measure}", ">= 1.6", f"{ratio['factor']:.2f}", ratio["factor"] >= 1.6),
        Claim(
            f"products, {measure}", ">= 1.5", f"{ratio['products by blocks']:.2f}", ratio["products by blocks"] >= 1.5
        ),
        Claim(f"whole QLB step, {measure}", ">= 1.5", f"{qlb:.2f}", qlb >= 1.5),
        Claim("the same bytes from any number of threads", "all", ", ".join(different) or "all", not different),
    ]
    notes = [
        f"{18 * (8 if quick else 14) ** 3} tetrahedra; the least of many repetitions. {cores} cores with a load of "
        f"{others:.1f} by others: the claims are judged {measure}. By CPU time: that of one thread over that of the "
        "busiest of two, which is what wall-clock time would show on free cores if threads woke at once."
    ]
    return Table("scale/threads", "Two threads", rows, claims, notes, plot=Plot("part", measure))

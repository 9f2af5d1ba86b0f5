"""scale/small: what a step of a small scene costs beyond the compiled work in it.

The kernels of a step are called again, in the order and as often as the step called them, with nothing between them:
energies, gradients and Hessians of the elements, the factorization, the substitutions. What the step takes besides is
Python, small vectors, and the tests that its certificate rests on.
"""

from collections.abc import Callable
from time import process_time
from typing import Any

from pliant.arrays import Array
from pliant.bench.table import Claim, Plot, Table
from pliant.bodies import Solid
from pliant.integrators import BDF1, Verlet
from pliant.linear import Automatic, approximate
from pliant.linear.threads import one_thread
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar
from pliant.scene import Scene
from pliant.solvers import QLB, Newton
from pliant.state import Counts, State

H = 0.01
CELLS = {48: (4, 2, 1), 384: (8, 4, 2), 6468: (22, 7, 7)}  # tetrahedra: cells of a bar
METHODS: dict[str, tuple[Any, float, Any]] = {  # with the step size [s] and its linear solver
    "QLB": (BDF1(QLB()), H, approximate()),
    "Newton": (BDF1(Newton()), H, Automatic()),
    "Verlet": (Verlet(), 1e-2 * H, None),
}
MOST = {48: 4.0, 384: 2.5, 6468: 1.3}  # the claims: a step over its kernels

Calls = list[Callable[[], Any]]


def scene(cells: tuple[int, int, int]) -> Scene:
    """A bar held at one end under its weight."""
    mesh = bar((0.3, 0.1, 0.1), cells)
    pins = Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
    return Scene([Solid(mesh, StableNeoHookean(E=1e5, nu=0.4), 1000.0, pins=pins)], h=H, duration=1.0)


def element_calls(system: Any, q: Array, v: Array, counts: Counts) -> tuple[Calls, Calls]:
    """What the elements do in one evaluation of the residual with its merit, and in one matrix."""
    (elastic,) = (e for e in system.energy_terms if e.name == "elastic")
    if not counts.fills:  # an explicit step: no merit, and one of the gradients within a kernel that marches
        marched = lambda: system.march(q, v, 1e-2 * H, 1)
        return [marched, *[lambda: elastic.gradient(q)] * (counts.forces - 1)], []
    return [lambda: elastic.gradient(q), lambda: elastic.value(q)], [lambda: elastic.hessian(q, psd=True)]


def linear_calls(system: Any, q: Array, v: Array, linear: Any) -> tuple[Calls, Calls]:
    """One factorization and one solve."""
    A, b = system.restrict(system.tangent(q, v, 0.0, (1.0, H, H * H))), v[system.free]
    factor = linear.factor(A)
    return [lambda: linear.factor(A, factor.memory)], [lambda: factor.solve(b)]


def replay(system: Any, state: State, counts: Counts, linear: Any) -> tuple[Calls, Calls]:
    """The kernels of a step in their order, and those of the elements among them."""
    evaluate, fill = element_calls(system, state.q, state.v, counts)
    if linear is None:
        return evaluate, evaluate
    factor, solve = linear_calls(system, state.q, state.v, linear)
    every, elements = [*evaluate], [*evaluate]
    for k in range(counts.solves):
        new = k < counts.fills
        every += [*(fill + factor if new else []), *solve, *evaluate]
        elements += [*(fill if new else []), *evaluate]
    return every, elements


def least(work: Callable[[], Any], repeats: int) -> float:
    """Least CPU time [ms]."""
    best = float("inf")
    for _ in range(repeats):
        begun = process_time()
        work()
        best = min(best, 1e3 * (process_time() - begun))
    return best


def called(calls: Calls) -> None:
    for call in calls:
        call()


def row(tets: int, name: str, repeats: int) -> dict[str, Any]:
    """The same step again and again, and its kernels, in turn: what else the machine does slows both alike."""
    method, h, linear = METHODS[name]
    made = scene(CELLS[tets])
    system: Any = made.system()
    state, memory = made.initial(system), None
    for _ in range(3):
        step = method.step(system, state, h, memory)
        state, memory = step.state, step.memory
    (report,) = method.step(system, state, h, memory).reports
    counts = report.counts
    every, elements = replay(system, state, counts, linear)
    times: list[tuple[float, ...]] = []
    for _ in range(3):
        one_step = least(lambda: method.step(system, state, h, memory), repeats)
        times.append((one_step, least(lambda: called(every), repeats), least(lambda: called(elements), repeats)))
    whole, kernels, own = (min(column) for column in zip(*times, strict=True))
    return {
        "tets": tets, "method": name, "iterations": report.iterations, "step ms": whole, "elements ms": own,
        "linear algebra ms": kernels - own if linear else 0.0, "rest ms": whole - kernels,
        "step / kernels": whole / kernels,
    }  # fmt: skip


@one_thread()
def run(*, quick: bool = False) -> Table:
    repeats = {48: 100, 384: 60, 6468: 10}
    rows = [row(t, name, max(n // 10, 2) if quick else n) for t, n in repeats.items() for name in METHODS]
    claims = []
    for tets, most in MOST.items():
        worst = max((r for r in rows if r["tets"] == tets), key=lambda r: r["step / kernels"])
        ratio, name = worst["step / kernels"], f"a step of {tets} tetrahedra, over its kernels"
        claims.append(Claim(name, f"<= {most:g} x", f"{ratio:.2f} x ({worst['method']})", ratio <= most))
    notes = [
        "E = 100 kPa, nu = 0.4, h = 10 ms (Verlet 0.1 ms), default settings. Least CPU time over repetitions of one "
        "and the same step and of its kernels alone, in turn, on one thread. Rest: Python, small vectors, the tests "
        "that the certificate rests on."
    ]
    title = "Steps of small scenes beside their kernels"
    return Table("scale/small", title, rows, claims, notes, plot=Plot("method", "step / kernels", "tets"))

"""Steps of articulated bodies beside MuJoCo in one run: chains of 10, 100 and 1,000 bodies, a tree, a walker."""

from collections.abc import Callable
from importlib import import_module
from time import process_time
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.articulated import RK45, Articulated, ArticulatedSystem, Dense, Link, at, cuboid
from pliant.articulated.forces import JointSpring
from pliant.articulated.joints import Revolute
from pliant.bench.scale.mjcf import model
from pliant.bench.table import Claim, Table
from pliant.integrators import BDF2, LinearlyImplicit
from pliant.linear.threads import one_thread
from pliant.scene import Scene
from pliant.scenes.redmax import walker
from pliant.simulate import simulate
from pliant.state import State

H, LENGTH, THICK, DAMPING = 1e-3, 0.2, 0.04, 0.01
X, Y, _ = np.eye(3)
BATCHES = 5  # timed in turn, and the fastest counts: whatever else runs slows both alike


def chain(n: int) -> tuple[list[Link], list[JointSpring]]:
    """Bars along x with damped hinges about y."""
    bar = cuboid((LENGTH, THICK, THICK), 1000.0, at(0.5 * LENGTH, 0.0, 0.0))
    links = [Link(Revolute(Y), bar, k - 1 if k else None, at(LENGTH if k else 0.0, 0.0, 0.0)) for k in range(n)]
    return links, [JointSpring(k, damping=DAMPING) for k in range(n)]


def branches(depth: int) -> tuple[list[Link], list[JointSpring]]:
    """A binary tree of bars, hinged about y and x in turn."""
    bar = cuboid((LENGTH, THICK, THICK), 1000.0, at(0.5 * LENGTH, 0.0, 0.0))
    n = 2**depth - 1
    place = lambda k: at(LENGTH if k else 0.0, THICK * (k % 2 - 0.5) if k else 0.0, 0.0)
    axis = lambda k: Y if int(np.log2(k + 1)) % 2 == 0 else X
    links = [Link(Revolute(axis(k)), bar, (k - 1) // 2 if k else None, place(k)) for k in range(n)]
    return links, [JointSpring(k, damping=DAMPING) for k in range(n)]


class Ours:
    """A system and a method that step on and on."""

    def __init__(self, system: ArticulatedSystem, method: Any, state: State, h: float) -> None:
        self.system, self.method, self.state, self.h, self.memory = system, method, state, h, None

    def __call__(self) -> None:
        step = self.method.step(self.system, self.state, self.h, self.memory)
        self.state, self.memory = step.state, step.memory


class Theirs:
    """The same in MuJoCo."""

    def __init__(self, mujoco: Any, made: Any, controls: float = 0.0) -> None:
        self.model = made
        self.data, self._step = mujoco.MjData(self.model), mujoco.mj_step
        self.data.ctrl[:] = controls

    def __call__(self) -> None:
        self._step(self.model, self.data)

    def coordinates(self, system: ArticulatedSystem) -> Array:
        """The angles of hinges in our order; theirs is depth first."""
        return np.array([float(self.data.joint(name).qpos[0]) for name in system.tree.names])


@one_thread()
def race(steppers: dict[str, Callable[[], None]], steps: int) -> dict[str, float]:
    """Least CPU time per step [ms] over batches that take turns."""
    best = dict.fromkeys(steppers, np.inf)
    for _ in range(BATCHES):
        for name, step in steppers.items():
            begun = process_time()
            for _ in range(steps):
                step()
            best[name] = min(best[name], 1e3 * (process_time() - begun) / steps)
    return best


def free_row(case: str, parts: tuple[list[Link], list[JointSpring]], steps: int, mujoco: Any) -> dict[str, Any]:
    """The plain step of a damped tree, compiled and general, beside MuJoCo; and how far apart they are after a run."""
    links, springs = parts
    system = ArticulatedSystem(links, springs)
    start = State(system.rest, np.zeros(system.tree.dof))
    ours = Ours(system, LinearlyImplicit(), start, H)
    ours()  # may compile
    runners: dict[str, Callable[[], None]] = {"ours_ms": ours}
    row: dict[str, Any] = {"case": case, "bodies": len(links)}
    if mujoco is not None:
        theirs = Theirs(mujoco, model(mujoco, system, H))
        theirs()
        runners["mujoco_ms"] = theirs
    row |= race(runners, steps)
    if mujoco is not None:
        row["ratio"] = row["ours_ms"] / row["mujoco_ms"]
        row["apart"] = _apart(ours.state.q, theirs.coordinates(system))
    general = Ours(system, LinearlyImplicit(matrix=Dense()), start, H)
    row |= race({"general_ms": general}, max(steps // 50, 2))
    return row


def _apart(q: Array, other: Array) -> float:
    return float(np.abs(q - other).max() / np.abs(q).max())


def stage_rows(steps: int) -> list[dict[str, Any]]:
    """Fully implicit and adaptive steps of the chain of ten, and a whole run with its ledger and certificates."""
    links, springs = chain(10)
    rows = []
    for name, method in (("BDF2", BDF2()), ("RK45", RK45())):
        system = ArticulatedSystem(links, springs)
        runner = Ours(system, method, State(system.rest, np.zeros(10)), H)
        runner()
        runner()
        count = steps if name == "BDF2" else max(steps // 20, 5)
        rows.append({"case": f"chain, {name}", "bodies": 10, **race({"ours_ms": runner}, count)})
    body = Articulated(links, springs)
    whole = Scene([body], h=H, duration=H * steps, integrator=LinearlyImplicit())
    best = np.inf
    for _ in range(3):
        begun = process_time()
        for _ in simulate(whole):
            pass
        best = min(best, process_time() - begun)
    rows.append({"case": "chain, whole run with ledger", "bodies": 10, "ours_ms": 1e3 * best / whole.steps})
    return rows


def walker_row(steps: int, mujoco: Any) -> dict[str, Any]:
    """The six-legged walker: 24 closure rows, 2 motors, friction in 38 hinges and on the floor."""
    scene = walker(0.2)
    system: Any = scene.system()
    ours = Ours(system, scene.integrator, scene.initial(), float(scene.h))
    ours()
    runners: dict[str, Callable[[], None]] = {"ours_ms": ours}
    if mujoco is not None:
        runners["mujoco_ms"] = Theirs(mujoco, model(mujoco, system, float(scene.h), rub=500.0), controls=-2.0 * np.pi)
    row: dict[str, Any] = {"case": "walker with friction, BISP", "bodies": len(system.tree), **race(runners, steps)}
    return row if mujoco is None else row | {"ratio": row["ours_ms"] / row["mujoco_ms"]}


def run(*, quick: bool = False) -> Table:
    try:
        mujoco = import_module("mujoco")
    except ImportError:
        mujoco = None
    times = 1 if quick else 10
    free = [
        free_row("chain", chain(10), 100 * times, mujoco),
        free_row("chain", chain(100), 20 * times, mujoco),
        free_row("chain", chain(200 if quick else 1000), 2 * times, mujoco),
        free_row("binary tree", branches(5 if quick else 7), 20 * times, mujoco),
    ]
    stages = stage_rows(50 * times)
    rows = [*free, *stages, walker_row(2 * times, mujoco)]
    claims = [
        Claim("BDF2, 10 bodies", "<= 0.2 ms", f"{stages[0]['ours_ms']:.3f} ms", stages[0]["ours_ms"] <= 0.2),
    ]
    if mujoco is not None:
        for row, most in zip(free, (3.0, 1.5, 1.0, 1.5), strict=True):
            name = f"step of a {row['case']} of {row['bodies']} against MuJoCo's"
            claims.append(Claim(name, f"<= {most:g} x", f"{row['ratio']:.2f} x", row["ratio"] <= most))
        far = max(row["apart"] for row in free[:2])
        claims.append(Claim("the same motion as MuJoCo's, chains of 10 and 100", "1e-9", f"{far:.1e}", far < 1e-9))
    notes = [
        "CPU time per step of 1 ms (walker 5 ms) on one thread, the fastest of five batches that take turns. Trees: "
        "damped hinges, linearly implicit Euler here and Euler with implicit damping in MuJoCo"
        + (f" {mujoco.__version__}" if mujoco is not None else " (not installed)")
        + "; general_ms: the general code, for what is not compiled. In MuJoCo the friction of the walker's hinges is "
        "a constant torque, closures are soft, and so are contacts: other physics, for the time only."
    ]
    return Table("scale/articulated", "Steps of articulated bodies beside MuJoCo", rows, claims, notes)

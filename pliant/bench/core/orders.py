"""core/orders: the observed order of every integrator on two problems, against DOP853 at 1e-12.

A damped stable neo-Hookean cantilever and a damped spring net swing under gravity; the step is halved from T/40 to
T/320 and the order is the slope of the error of the positions over the last halving.
"""

from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from pliant.arrays import Array
from pliant.bench.table import Claim, Table
from pliant.bodies import Rayleigh, Solid, SpringNet
from pliant.integrators import INTEGRATORS
from pliant.integrators.base import Staged
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar, spring_net
from pliant.scene import Scene
from pliant.solvers import Newton, Tolerance

TIGHT = Tolerance(relative=1e-9, absolute=1e-13)


def problems() -> dict[str, tuple[Scene, float]]:
    """Scenes small enough for a dense reference, and the time T to compare at [s]."""
    beam = bar(size=(0.2, 0.1, 0.1), cells=(2, 1, 1))
    cantilever = Solid(
        beam,
        StableNeoHookean(E=2e4, nu=0.4),
        pins=Pin(beam.where(lambda X: X[:, 0] < 1e-9)),
        damping=Rayleigh(alpha=0.5, beta=2e-3),
    )
    net = spring_net(4, 4)
    cloth = SpringNet(net, k=40.0, mass=0.05, pins=Pin(np.array([0, 3])), damping=Rayleigh(beta=2e-3))
    return {"cantilever": (Scene([cantilever]), 0.2), "spring net": (Scene([cloth]), 0.4)}


def reference(scene: Scene, T: float) -> Array:
    """Positions at T by an adaptive explicit method of order 8 on the free coordinates."""
    system = scene.system()
    start = scene.initial(system)
    n, free = len(start.q), system.free

    def rhs(t: float, y: Array) -> Array:
        q, v = start.q.copy(), np.zeros(n)
        q[free], v[free] = y[: len(free)], y[len(free) :]
        return np.concatenate([v[free], system.acceleration(q, v, t)[free]])

    y0 = np.concatenate([start.q[free], start.v[free]])
    solved = solve_ivp(rhs, (0.0, T), y0, method="DOP853", rtol=1e-12, atol=1e-13)
    q = start.q.copy()
    q[free] = solved.y[: len(free), -1]
    return q


def positions(scene: Scene, integrator: Any, T: float, steps: int) -> Array:
    """Positions at T after ``steps`` equal steps."""
    system = scene.system()
    state, memory = scene.initial(system), None
    for _ in range(steps):
        step = integrator.step(system, state, T / steps, memory)
        state, memory = step.state, step.memory
    return state.q


def tight(choice: Any) -> Any:
    """The integrator with a solver tolerance far below its own error."""
    return choice(solver=Newton(project="on_demand", tolerance=TIGHT)) if isinstance(choice(), Staged) else choice()


def observed_order(
    scene: Scene, integrator: Any, T: float, exact: Array, counts: list[int]
) -> tuple[float, list[float]]:
    """The slope over the last halving, and all errors relative to the distance travelled."""
    system = scene.system()
    size = float(np.linalg.norm(exact - scene.initial(system).q))
    errors = [float(np.linalg.norm(positions(scene, integrator, T, n) - exact)) / size for n in counts]
    return float(np.log2(errors[-2] / errors[-1])), errors


def run(*, quick: bool = False) -> Table:
    rows, claims = [], []
    dynamic: list[Any] = [c for c in INTEGRATORS if c.order > 0]
    counts = [40, 80] if quick else [40, 80, 160, 320]
    for name, (scene, T) in problems().items():
        exact = reference(scene, T)
        for choice in dynamic:
            order, errors = observed_order(scene, tight(choice), T, exact, counts)
            label = choice.__name__
            rows.append({"problem": name, "integrator": label, "declared": choice.order, "observed": round(order, 3)}
                        | {f"error T/{n}": f"{e:.2e}" for n, e in zip(counts, errors, strict=True)})  # fmt: skip
            band = 0.2 if choice.order >= 4 else 0.1
            holds = abs(order - choice.order) <= band
            claims.append(Claim(f"{label} on {name}", f"{choice.order} +- {band}", f"{order:.3f}", holds))
    return Table("core/orders", "Observed order of every integrator", rows, claims)

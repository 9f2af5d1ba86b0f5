"""contact/stack: ten cubes on top of each other rest for five seconds.

Drift is how far any vertex moves from where it was after half the time, when the impact of the first steps has decayed.
"""

from typing import Any

import numpy as np

from pliant.bench.table import Claim, Table
from pliant.scenes.contact import stack
from pliant.simulate import simulate
from pliant.systems.barrier_contact import BarrierContact

SIZE = 0.1  # m


def run(*, quick: bool = False) -> Table:
    count, duration = (4, 3.0) if quick else (10, 5.0)
    rows, claims = [], []
    barrier = BarrierContact(dhat=1e-3, mu=0.5, creep=1e-4)  # the creep of the scene's own penalty contact
    cases: dict[str, dict[str, Any]] = {"penalty": {}, "barrier": {"contact": barrier, "gap": 7e-4}}
    for name, options in cases.items():
        row = _rest(count, duration, options)
        rows.append({"contact": name, **row})
        drift, error = row["drift / size"], row["momentum error"]
        claims.append(Claim(f"{name}: drift below 1e-3 of the size", "1e-3", f"{drift:.1e}", drift < 1e-3))
        claims.append(Claim(f"{name}: momentum balance (error over the weight)", "0", f"{error:.1e}", error < 1e-3))
    return Table("contact/stack", "A stack of cubes at rest", rows, claims)


def _rest(count: int, duration: float, options: dict[str, Any]) -> dict[str, Any]:
    """Drift, and the largest difference between the change of momentum and the forces read from the floor."""
    scene = stack(count, size=SIZE, duration=duration, **options)
    start: Any = None
    books: Any = None
    drift = worst = 0.0
    iterations = 0
    for step in simulate(scene):
        x = step.state.q.reshape(-1, 3)
        weight = 9.81 * float(step.system.nodal_mass.sum()) / 3.0
        if step.state.t > 0.5 * duration:
            start = x if start is None else start
            drift = max(drift, float(np.linalg.norm(x - start, axis=1).max()) / SIZE)
        touch = step.system.contacts(step.state.q, step.state.v, step.state.t)
        below = touch.bodies[:, 1] < 0
        push = float((touch.normal_force[below] * touch.normals[below, 2]).sum())
        if books is not None:  # backward Euler: momentum changes by h times the force at the end of the step
            change = (step.ledger.linear[2] - books) / float(scene.h)
            worst = max(worst, abs(change - push + weight) / weight)
        books = step.ledger.linear[2]
        iterations += step.report.iterations
    return {
        "cubes": count,
        "seconds": duration,
        "iterations / step": round(iterations / scene.steps, 2),
        "drift / size": drift,
        "momentum error": worst,
    }

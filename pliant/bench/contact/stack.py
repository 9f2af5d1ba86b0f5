"""contact/stack: ten cubes on top of each other rest for five seconds."""

from typing import Any

import numpy as np

from pliant.bench.table import Claim, Table
from pliant.scenes.contact import stack
from pliant.simulate import simulate
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.penalty_contact import PenaltyContact

SIZE = 0.1  # m


def run(*, quick: bool = False) -> Table:
    count, duration = (4, 3.0) if quick else (10, 5.0)
    settle = 0.5 * duration
    choices: dict[str, tuple[Any, float]] = {
        "penalty": (PenaltyContact(mu=0.5, mu_bodies=0.5, self_contact=False), 1e-5),
        "barrier": (BarrierContact(dhat=1e-3, mu=0.5), 7e-4),
    }
    rows, claims = [], []
    for name, (contact, gap) in choices.items():
        scene = stack(count, size=SIZE, gap=gap, contact=contact, duration=duration)
        start = books = None
        drift = worst = 0.0
        weight = 0.0
        for step in simulate(scene):
            x = step.state.q.reshape(-1, 3)
            if weight == 0.0:
                weight = 9.81 * float(step.system.nodal_mass.sum()) / 3.0
            if step.state.t > settle:
                start = x if start is None else start
                drift = max(drift, float(np.linalg.norm(x - start, axis=1).max()) / SIZE)
            touch = step.system.contacts(step.state.q, step.state.v, step.state.t)
            below = touch.bodies[:, 1] < 0
            push = float((touch.normal_force[below] * touch.normals[below, 2]).sum())
            if books is not None:  # backward Euler: momentum changes by h times the force at the end of the step
                change = (step.ledger.linear[2] - books) / float(scene.h)
                worst = max(worst, abs(change - push + weight) / weight)
            books = step.ledger.linear[2]
        rows.append(
            {"contact": name, "cubes": count, "seconds": duration, "drift / size": drift, "momentum books": worst}
        )
        claims.append(Claim(f"{name}: drift below 1e-3 of the size", "1e-3", f"{drift:.1e}", drift < 1e-3))
        if name == "penalty":
            claims.append(Claim("momentum books balance (part of the weight)", "0", f"{worst:.1e}", worst < 1e-3))
    notes = ["the barrier's stiffness belongs to a stage, so its floor force can be read only up to that adaptation"]
    return Table("contact/stack", "A stack of cubes at rest", rows, claims, notes)

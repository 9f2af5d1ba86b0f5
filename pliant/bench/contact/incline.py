"""contact/incline: a block on a slope sticks below the friction angle and slides above it as Coulomb says."""

from math import atan, cos, degrees, sin
from typing import Any

import numpy as np

from pliant.bench.table import Claim, Table
from pliant.scenes.contact import incline
from pliant.simulate import simulate
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.penalty_contact import PenaltyContact

CREEP = 1e-3  # m/s: slower than this is sticking


def run(*, quick: bool = False) -> Table:
    rows, claims = [], []
    frictions = (0.3,) if quick else (0.1, 0.3, 0.6)
    for name, choice in (("penalty", PenaltyContact), ("barrier", BarrierContact)):
        errors: list[float] = []
        stuck: list[bool] = []
        for mu in frictions:
            for offset in (-0.05, 0.05, 0.2):
                contact = choice(mu=mu, creep=CREEP)
                row = _slide(atan(mu) + offset, mu, contact, 0.3 if quick else 0.6) | {"contact": name}
                rows.append(row)
                (stuck if offset < 0 else errors).append(row["speed at the end"] if offset < 0 else row["error"])
        claims += [
            Claim(f"{name}: sticks below atan(mu)", "yes", f"at most {max(stuck):.1e} m/s", max(stuck) < 2 * CREEP),
            Claim(f"{name}: sliding acceleration within 2 %", "0.02", f"{max(errors):.4f}", max(errors) < 0.02),
        ]
    return Table("contact/incline", "A block on a slope against Coulomb's law", rows, claims)


def _slide(angle: float, mu: float, contact: Any, duration: float) -> dict[str, Any]:
    track = [
        (s.state.t, s.state.v.reshape(-1, 3)[:, 0].mean())
        for s in simulate(incline(angle, contact=contact, duration=duration))
    ]
    t, u = np.array(track).T
    late = t > 0.5 * t[-1]
    measured = float(np.polyfit(t[late], u[late], 1)[0])
    expected = max(9.81 * (sin(angle) - mu * cos(angle)), 0.0)
    error = abs(measured - expected) / expected if expected else 0.0
    return {
        "contact": "",
        "mu": mu,
        "angle": round(degrees(angle), 2),
        "acceleration": round(measured, 4),
        "Coulomb": round(expected, 4),
        "error": round(error, 5),
        "speed at the end": float(f"{abs(u[-1]):.3g}"),
    }

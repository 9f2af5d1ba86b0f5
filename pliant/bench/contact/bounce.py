"""contact/bounce: a ball falls on a floor; no step may gain energy. [Chen2019, E6.5]"""

from dataclasses import replace
from typing import Any

import numpy as np

from pliant.bench.table import Claim, Table
from pliant.integrators import BDF1, SDIRK2
from pliant.scenes.contact import bouncing_ball
from pliant.simulate import simulate
from pliant.solvers import QLB
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.penalty_contact import PenaltyContact


def run(*, quick: bool = False) -> Table:
    cells, duration = (5, 0.4) if quick else (8, 1.0)
    cases: dict[str, tuple[Any, Any]] = {
        "penalty, BDF1": (PenaltyContact(mu=0.3), BDF1()),
        "barrier, BDF1": (BarrierContact(dhat=2e-3, mu=0.3), BDF1()),
        "penalty, SDIRK2 + QLB": (PenaltyContact(mu=0.3), SDIRK2(QLB(at="guess"))),
    }
    rows: list[dict[str, Any]] = []
    for name, (contact, integrator) in cases.items():
        scene = replace(bouncing_ball(cells=cells, contact=contact, integrator=integrator), duration=duration)
        steps = list(simulate(scene))
        total = np.array([s.ledger.total for s in steps])
        scale = max(s.ledger.scale for s in steps)
        height = np.array([s.state.q.reshape(-1, 3)[:, 2].mean() for s in steps])
        low = int(np.argmin(height))
        rows.append(
            {
                "case": name,
                "steps": len(steps),
                "largest gain": float(np.diff(total).max() / scale),
                "lost": float((total[0] - total[-1]) / scale),
                "rebound / fall": float((height[low:].max() - height[low]) / (height[0] - height[low])),
                "deepest": max(s.report.penetration for s in steps),
                "converged": all(s.report.converged for s in steps),
            }
        )
    euler, second = max(r["largest gain"] for r in rows[:2]), rows[2]["largest gain"]
    claims = [
        Claim("no step gains energy (backward Euler, part of the whole)", "0", f"{euler:.1e}", euler <= 1e-7),
        Claim("no step gains energy (SDIRK2, part of the whole)", "0", f"{second:.1e}", second <= 1e-7),
        Claim("every step converged", "yes", str(all(r["converged"] for r in rows)), all(r["converged"] for r in rows)),
    ]
    notes = [
        "SDIRK2 is L-stable but not algebraically stable: b_1 (2 a_11 - b_1) = (1 - g)(3 g - 1) = -0.09 for g = 1 - "
        "1/sqrt(2), so no bound on energy holds for it where a contact spring sets in within a step"
    ]
    return Table("contact/bounce", "A bouncing ball", rows, claims, notes)

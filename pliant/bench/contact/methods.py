"""contact/methods: what integrators do with contact: energy gained in an impact, slip on a slope that should hold.

A ball falls on a floor of penalties; no method may end with more energy than there was. Then a block lies on a slope
0.05 rad below the friction angle, where it may creep, more slowly than the contact states. Methods whose states are
solved stages do both. Others see contacts that they meet within a step too late; a run that gains by that raises an
alarm, which says what to take in their place.
"""

from dataclasses import replace
from math import atan
from typing import Any

import numpy as np

from pliant.alarms import GAINED
from pliant.bench.table import Claim, Table
from pliant.errors import PliantError
from pliant.integrators import (
    BDF1,
    BDF2,
    ERE,
    EXPRB32,
    SDIRK2,
    SIERE,
    TRBDF2,
    ConJac,
    ImplicitMidpoint,
    LinearlyImplicit,
)
from pliant.integrators.base import solved
from pliant.scenes.contact import bouncing_ball, incline
from pliant.simulate import simulate
from pliant.systems.penalty_contact import PenaltyContact

MU, CREEP = 0.3, 1e-3  # 1, m/s
METHODS: tuple[Any, ...] = (
    BDF1, BDF2, SDIRK2, TRBDF2, ImplicitMidpoint, LinearlyImplicit, ERE, SIERE, EXPRB32, ConJac,
)  # fmt: skip
NOTES = [
    "gained: the largest energy of the run above that at its start, part of it, and the largest gain of a single step "
    "(of BDF2 what it took before). named: the alarm says which methods to take instead. speed: on the slope after "
    "0.3 s, h = 5 ms in both scenes."
]


def run(*, quick: bool = False) -> Table:
    rows = [_row(method, 0.2 if quick else 0.5) for method in (METHODS[:5] if quick else METHODS)]
    good, others = ([r for r in rows if (r["solved"] == "yes") == kind] for kind in (True, False))
    most = max(r["gained"] for r in good)
    unseen = [r["method"] for r in others if r["gained"] > GAINED and r["named"] != "yes"]
    slow = max(r["speed [mm/s]"] for r in good)
    claims = [
        Claim("solved stages: energy gained in the impact", "0", f"{most:.1e}", most <= 1e-9),
        Claim("what gains more than 5 % raises an alarm that names a better choice", "all", _all(unseen), not unseen),
        Claim(
            "solved stages: creep below what is stated [mm/s]", f"{1e3 * CREEP:g}", f"{slow:.2g}", slow < 1e3 * CREEP
        ),
    ]
    return Table("contact/methods", "Integrators in an impact and on a slope", rows, claims, NOTES)


def _all(names: list[str]) -> str:
    return ", ".join(names) if names else "all"


def _row(method: Any, duration: float) -> dict[str, Any]:
    scene = bouncing_ball(cells=3, contact=PenaltyContact(mu=MU), integrator=method())
    total, named, ends = [], False, "yes"
    try:
        for step in simulate(replace(scene, duration=duration)):
            total.append(step.ledger.total)
            named |= any("take BDF1" in alarm.text for alarm in step.report.alarms)
    except PliantError as error:
        ends = error.what
    slope = incline(atan(MU) - 0.05, contact=PenaltyContact(mu=MU, creep=CREEP), duration=0.3)
    *_, last = simulate(replace(slope, integrator=method()))
    return {
        "method": method.__name__,
        "solved": "yes" if solved(method()) else "no",
        "ends": ends,
        "gained": float(max(total) / total[0] - 1.0),
        "in a step": float(np.diff(total).max() / total[0]),
        "named": "yes" if named else "no",
        "speed [mm/s]": 1e3 * abs(float(last.state.v.reshape(-1, 3)[:, 0].mean())),
    }

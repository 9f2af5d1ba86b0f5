"""time/onset: whether steps should end where a contact closes.

A soft ball falls by 2 cm on a hard floor. The time of its first contact is known from the free fall; `Adaptive` follows
the motion with and without it among its stops, for some tolerances. A step across the onset costs a rejection or two;
a method would have to look for the onset to spare them.
"""

from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np

from pliant.bench.table import Claim, Table
from pliant.bench.time.cases import MotionCase, error
from pliant.bench.time.work import tried
from pliant.integrators import TRBDF2, Adaptive
from pliant.scene import Scene
from pliant.scenes.contact import bouncing_ball
from pliant.systems.penalty_contact import PenaltyContact

G, HEIGHT = 9.81, 0.02
TOLERANCES = (3e-2, 1e-2, 3e-3)
WORTH = 1.2  # times fewer factorizations, from which looking for onsets would pay


def ball() -> Scene:
    """A ball 2 cm above a floor whose springs act at once, without smoothing."""
    return bouncing_ball(cells=3, E=2e5, height=HEIGHT, contact=PenaltyContact(mu=0.0, k=3e3, smoothing=0.0))


def run(*, quick: bool = False) -> Table:
    case, onset = MotionCase("ball", ball, 0.15, 10), sqrt(2.0 * HEIGHT / G)
    rows: list[dict[str, Any]] = []
    ratios = []
    for tolerance in TOLERANCES[: 1 if quick else None]:
        blind = Adaptive(TRBDF2(), tolerance=tolerance)
        exact = tried(case, replace(blind, tolerance=0.05 * tolerance)).q
        costs = []
        for name, method in (("no", blind), ("yes", blind.landing([onset]))):
            found = tried(case, method)
            costs.append(found.factorizations)
            wrong = error(found.q, exact, 3)
            row = {"tolerance [m]": tolerance, "lands on it": name, "error [m]": float(f"{wrong:.3g}")}
            rows.append({**row, "steps": found.steps, "factorizations": found.factorizations})
        ratios.append(costs[0] / costs[1])
    mean = float(np.exp(np.mean(np.log(ratios))))
    what = "factorizations without landing on the onset, over those with it: geometric mean"
    claims = [Claim(what, f"<= {WORTH:g}", f"{mean:.2f}", mean <= WORTH)]
    notes = [
        f"The claim holds while steps that look for onsets would save less than {WORTH:g} times: they are not built. "
        "How the steps fall decides the single ratios, in both directions, and so do the errors."
    ]
    return Table("time/onset", "Whether steps should end where a contact closes", rows, claims, notes)

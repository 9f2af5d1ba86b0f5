"""time/tolerance: the error that was made, over the tolerance that was asked for.

Six motions are followed with `Adaptive(TRBDF2)` and `Adaptive(BDF2)` for tolerances over four decades; the error is the
largest over all frames of the root mean square distance to DOP853 at 1e-11 on the same forces. The slope is that of a
line through log(error) over log(tolerance).
"""

from time import process_time
from typing import Any

import numpy as np

from pliant.bench.table import Claim, Plot, Table
from pliant.bench.time.cases import CASES, error, followed, reference
from pliant.integrators import BDF2, TRBDF2, Adaptive

TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
MOST = 10.0  # times the tolerance


def run(*, quick: bool = False) -> Table:
    rows: list[dict[str, Any]] = []
    claims = []
    tolerances = TOLERANCES[1:4] if quick else TOLERANCES
    for case in CASES[:2] if quick else CASES:
        scene = case.scene()
        exact = reference(scene, case.duration, case.frames)
        for method in (TRBDF2(), BDF2()):
            name, errors = type(method).__name__, []
            for tolerance in tolerances:
                begun = process_time()
                found = followed(case, Adaptive(method, tolerance=tolerance))
                errors.append(error(found.q, exact, scene.dim))
                rows.append(
                    {
                        "motion": case.name,
                        "integrator": name,
                        "tolerance [m/s]": tolerance,
                        "error [m]": float(f"{errors[-1]:.3g}"),
                        "error / tolerance": float(f"{errors[-1] / tolerance:.3g}"),
                        "estimated [m]": float(f"{found.estimate:.3g}"),
                        "steps": found.accepted,
                        "rejected": found.rejected,
                        "CPU s": round(process_time() - begun, 2),
                    }
                )
            slope = float(np.polyfit(np.log(tolerances), np.log(errors), 1)[0])
            worst = max(e / tolerance for e, tolerance in zip(errors, tolerances, strict=True))
            claims += [
                Claim(f"{case.name}, {name}: slope", "1 +- 0.2", f"{slope:.3f}", abs(slope - 1.0) <= 0.2),
                Claim(f"{case.name}, {name}: error / tolerance", f"<= {MOST:g}", f"{worst:.3g}", worst <= MOST),
            ]
    notes = ["Errors are allowed per second of motion, and the motions last 0.05 to 0.6 s."]
    plot = Plot("tolerance [m/s]", "error [m]", "motion", "xy")
    return Table("time/tolerance", "Errors follow the tolerance", rows, claims, notes, plot=plot)

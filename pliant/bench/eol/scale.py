"""CPU time of a step of cloth over its number of faces, while it is pulled over an edge."""

from dataclasses import replace
from time import process_time
from typing import Any

import numpy as np

from pliant.bench.table import Claim, Plot, Table
from pliant.scenes import eol

WARM, TIMED = 3, 8  # steps


def measure(cells: int) -> dict[str, object]:
    """EDGE draped, in the middle of the pull: half of the cloth rests on the box."""
    scene = eol.draped_edge(cells=cells)
    cloth, memory = scene.system(), None
    state = replace(scene.initial(cloth), t=0.2)
    seconds, parts = [], {"detect": 0.0, "remesh": 0.0, "fill": 0.0, "solve": 0.0}
    rounds = 0
    for k in range(WARM + TIMED):
        start = process_time()
        step = scene.integrator.step(cloth, state, float(scene.h), memory)
        took = process_time() - start
        cloth, state, memory = step.system or cloth, step.state, step.memory
        if k < WARM:
            continue
        seconds.append(took)
        rounds += sum(r.iterations for r in step.reports)
        for name in parts:
            parts[name] += sum(r.seconds.get(name, 0.0) for r in step.reports)
    total = sum(parts.values())
    return {
        "faces": len(cloth.sheet.faces),
        "contacts": int(step.reports[-1].history[0]["contacts"]),
        "ms_mean": 1e3 * float(np.mean(seconds)),
        "ms_max": 1e3 * float(np.max(seconds)),
        "factorizations": rounds / TIMED,
        **{f"{name}_%": round(100 * part / total, 1) for name, part in parts.items()},
    }


def run(*, quick: bool = False) -> Table:
    rows: list[dict[str, Any]] = [measure(c) for c in ((8, 12, 16) if quick else (16, 22, 35, 47, 70))]
    measure(8)  # compiled by now; the first row is measured again
    rows[0] = measure(8 if quick else 16)
    faces, mean = (np.array([float(r[k]) for r in rows]) for k in ("faces", "ms_mean"))
    slope = float(np.polyfit(np.log(faces), np.log(mean), 1)[0])
    big = min(rows, key=lambda r: abs(float(r["faces"]) - 8800))
    claims = [
        Claim("time over faces: exponent", "<= 1.3", f"{slope:.2f}", slope <= 1.3),
        Claim(
            f"a step at {big['faces']:.0f} faces, mean (largest)",
            "665 ms before rounds ended at their tolerance",
            f"{big['ms_mean']:.0f} ms ({big['ms_max']:.0f} ms)",
            big["ms_mean"] < 665,
        ),
    ]
    notes = [f"CPU time of {TIMED} steps after {WARM}; half of the cloth rests on a box and is pulled over its edge"]
    return Table("eol/scale", "Time of a step over faces", rows, claims, notes, plot=Plot("faces", "ms_mean", log="xy"))

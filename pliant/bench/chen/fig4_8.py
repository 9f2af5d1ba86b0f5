"""chen/fig4_8: cloth of two stiffnesses, which SI and BE damp unevenly. [Chen2019, Figure 4.8]"""

from typing import Any

import numpy as np

from pliant.bench.chen.contest import compete, error, ground_truth, rows
from pliant.bench.chen.play import energy_plot
from pliant.bench.table import Claim, Table
from pliant.scenes.chen_springs import mixed_cloth


def run(*, quick: bool = False) -> Table:
    scene, seconds = mixed_cloth(), 0.5 if quick else 2.0
    runs = compete(scene, seconds)
    truth = ground_truth(scene, seconds)
    table: list[dict[str, Any]] = rows(runs)
    early = max(1, round(0.25 * len(truth.path)))
    for r in table:
        r["error to RK4, first quarter [m]"] = f"{error(runs[r['method']], truth.path[:early]):.2e}"
        r["mean distance from IM [m]"] = f"{apart(runs[r['method']].path, runs['IM'].path):.2e}"
    far = {n: apart(r.path, runs["IM"].path) for n, r in runs.items()}
    text = ", ".join(f"{n} {d:.2g}" for n, d in far.items())
    closer = far["ERE"] < 0.5 * min(far["SI"], far["BE"])
    claims = [Claim("ERE stays closer to IM than SI and BE [m]", "similar; SI, BE differ", text, closer)]
    return Table("chen/fig4_8", "Cloth with halves of 20 and 200 N/m", table, claims,
                 figures=[energy_plot("fig4_8", "Cloth of two stiffnesses", [*runs.values(), truth])])  # fmt: skip


def apart(a: list[Any], b: list[Any]) -> float:
    """Mean distance of the vertices of two runs [m], over the steps both have."""
    n = min(len(a), len(b))
    return (
        float(np.linalg.norm((np.array(a[:n]) - np.array(b[:n])).reshape(-1, 3), axis=1).mean()) if n else float("nan")
    )

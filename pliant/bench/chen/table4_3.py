"""chen/table4_3: cloth falling on a sphere, running times and energies. [Chen2019, Table 4.3 and Figure 4.7]"""

import numpy as np

from pliant.bench.chen.contest import compete, cost_claims, damping_claim, product_note, rows
from pliant.bench.chen.play import Played, energy_plot
from pliant.bench.table import Claim, Table
from pliant.scenes.chen_springs import BALL, falling_cloth

PAPER = {"ERE": 8.42, "SI": 6.81, "BE": 18.91, "IM": 29.83}
RATIOS = {"ERE/SI": "1.24, < 1.5", "BE/ERE": "2.25, > 1.5", "IM/BE": "1.58, > 1"}


def collide(seconds: float) -> dict[str, Played]:
    return compete(falling_cloth(), seconds)


def deepest(run: Played) -> float:
    """Deepest penetration [m] over the run."""
    gap, _ = BALL.distance(np.concatenate(run.path).reshape(-1, 3))
    return float(np.maximum(-gap, 0.0).max())


def run(*, quick: bool = False) -> Table:
    runs = collide(0.4 if quick else 5.0)
    table = rows(runs)
    for r in table:
        r["thesis [s]"] = PAPER[r["method"]]
        r["penetration [m]"] = f"{deepest(runs[r['method']]):.1e}"
    claims = cost_claims(runs, RATIOS)
    worst = max(deepest(r) for r in runs.values())
    claims.append(Claim("no particle inside the sphere", "0", f"{worst:.1e} m", worst <= 1e-9))
    claims.append(damping_claim(runs))
    picture = energy_plot("table4_3", "Cloth on a sphere", list(runs.values()))
    fills = {r["method"]: r["fills/step"] for r in table}
    newton = f"IM needs {fills['IM']} Newton steps where BE needs {fills['BE']}: its stage is half a step long"
    return Table(
        "chen/table4_3", "Cloth collision, 11 x 11 particles", table, claims, [product_note(runs), newton], [picture]
    )

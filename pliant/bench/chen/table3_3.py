"""chen/table3_3: error of EigenFit and stiffness. [Chen2019, Table 3.3]"""

from typing import Any

from pliant.bench.chen.coarse import error_rows, simulate, systems
from pliant.bench.table import Claim, Table
from pliant.integrators import LinearlyImplicit
from pliant.materials import ARAP, NeoHookean
from pliant.scenes.chen_coarse import notes, pair

STIFFNESS = (1e4, 1e5, 5e5, 1e6, 1e7)
PAPER = {
    "arm": (0.91, 1.39, 0.615, 0.611, 0.438),
    "armadillo": (0.838, 0.755, 0.622, 0.307, 0.192),
    "bar": (1.431, 0.7281, 0.22, 0.247, 0.292),
}


FRAMES = 60  # 30 of them shaken


def run(*, quick: bool = False) -> Table:
    names = ("arm",) if quick else tuple(PAPER)
    moduli = (1e5, 1e7) if quick else STIFFNESS
    rows: list[dict[str, Any]] = []
    claims = []
    for name in names:
        relative = {}
        for E in moduli:
            material: Any = NeoHookean(E=E, nu=0.45) if name == "bar" else ARAP(E=E)
            body = pair(name, material, shaken=True, beta=0.0)
            built = systems(body, 10, False, ("coarse", "EigenFit"))
            runs = simulate(body, built, LinearlyImplicit(), 8 if quick else FRAMES)
            found, errors = error_rows(body, runs, mesh=name, E=f"{E:.0e}")
            relative[E] = float(errors["EigenFit"].mean() / errors["coarse"].mean())
            for r in found:
                r["thesis"] = PAPER[name][STIFFNESS.index(E)] if r["method"] == "EigenFit" else "-"
                r["modes alike"] = built["EigenFit"].fit.matched if r["method"] == "EigenFit" else "-"
                r["over coarse"] = round(relative[E], 3) if r["method"] == "EigenFit" else 1.0
            rows += found
        text = ", ".join(f"{E:.0e}: {v:.2f}" for E, v in relative.items())
        soft, stiff = moduli[0], moduli[-1]
        claims.append(
            Claim(f"{name}: the gain grows with stiffness", "error falls", text, relative[stiff] <= relative[soft])
        )
        claims.append(Claim(f"{name}: EigenFit below coarse at {stiff:.0e} Pa", "below", text, relative[stiff] < 1.0))
    remark = (
        "the source does not define its error; its numbers look like our last column: EigenFit's distance from the "
        "fine mesh (largest over vertices, mean over frames) over that of the plain coarse mesh"
    )
    return Table("chen/table3_3", "Error and stiffness", rows, claims, [*notes(*names), remark])

"""chen/table3_2: running time on the coarse mesh, with EigenFit, on the fine mesh. [Chen2019, Table 3.2]"""

from typing import Any

from pliant.bench.chen.coarse import simulate, systems
from pliant.bench.table import Claim, Table
from pliant.integrators import ImplicitMidpoint, LinearlyImplicit
from pliant.materials import ARAP, Linear
from pliant.scenes.chen_coarse import notes, pair

PAPER = {
    ("arm", "ARAP"): (219, 444, 839),
    ("armadillo", "linear"): (224, 300, 1387),
    ("armadillo", "ARAP"): (198, 546, 2399),
    ("bar", "linear"): (335, 386, 1683),
}


def run(*, quick: bool = False) -> Table:
    rows: list[dict[str, Any]] = []
    claims = []
    for (name, kind), (coarse, fitted, fine) in PAPER.items():
        if quick and (name, kind) != ("arm", "ARAP"):
            continue
        linear = kind == "linear"
        material: Any = Linear(E=1e5, nu=0.45) if linear else ARAP(E=1e6)
        body = pair(name, material, shaken=not linear)
        built = systems(body, 10, linear, ("coarse", "EigenFit"))
        integrator: Any = ImplicitMidpoint() if linear else LinearlyImplicit()
        runs = simulate(body, built, integrator, 6 if quick else 20, turns=0.05 if linear else 0.0)
        ms = {n: 1e3 * r.per_step() for n, r in runs.items()}
        rows.append({
            "mesh": name, "material": kind,
            **{f"{n} [ms/step]": round(ms[n], 1) for n in ("coarse", "EigenFit", "fine")},
            "EigenFit/coarse": round(ms["EigenFit"] / ms["coarse"], 2), "thesis": round(fitted / coarse, 2),
            "EigenFit/fine": round(ms["EigenFit"] / ms["fine"], 2), "thesis, fine": round(fitted / fine, 2),
        })  # fmt: skip
        text = f"{ms['coarse']:.1f}, {ms['EigenFit']:.1f}, {ms['fine']:.1f} ms"
        claims.append(Claim(f"{name} {kind}: coarse < EigenFit < fine", f"{coarse}, {fitted}, {fine} s", text,
                            ms["coarse"] < ms["EigenFit"] < ms["fine"]))  # fmt: skip
    used = dict.fromkeys(str(r["mesh"]) for r in rows)
    remark = "linear materials: the modes are those at rest, and the correction is nearly free"
    return Table("chen/table3_2", "Cost of EigenFit", rows, claims, [*notes(*used), remark])

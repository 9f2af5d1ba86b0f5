"""core/from_energy: what a material from its energy density alone costs, against the same one written by hand.

CPU time per element of energy, gradient and projected Hessian, each pair in one process on the same state; and by how
much their forces and Hessians differ.
"""

from typing import Any

import numpy as np

from pliant.bench.core.assembly import deformed, measure
from pliant.bench.table import Claim, Plot, Table
from pliant.energies.elastic import Elastic
from pliant.materials import FromEnergy, NeoHookean, StableNeoHookean, StVK
from pliant.mesh import bar

E, NU = 1e5, 0.4
LAME = "mu = E/(2*(1 + nu)); lam = E*nu/((1 + nu)*(1 - 2*nu)); "
FORMULAS: dict[type, str] = {
    StableNeoHookean: LAME + "k = lam + mu; mu/2*(I1 - 3) + k/2*(J - 1 - mu/k)**2",
    NeoHookean: LAME + "mu/2*(I1 - 3) - mu*log(J) + lam/2*log(J)**2",
    StVK: LAME + "lam/8*(I1 - 3)**2 + mu/4*(I1**2 - 2*I1 - 2*I2 + 3)",
}
SLOWER = 2.0  # times that we allow


def run(*, quick: bool = False) -> Table:
    mesh = bar(cells=(22, 7, 7))
    x = deformed(mesh)
    rows: list[dict[str, Any]] = []
    for cls, formula in list(FORMULAS.items())[: 1 if quick else None]:
        made = {"by hand": cls(E, NU), "from psi": FromEnergy(formula, {"E": E, "nu": NU})}
        found = {how: measure(mesh, material, 3 if quick else 10) for how, material in made.items()}
        by_hand, derived = (Elastic(mesh.X, mesh.T, material) for material in made.values())
        f, H = by_hand.gradient(x), by_hand.hessian(x, psd=True)
        row: dict[str, Any] = {"material": cls.__name__}
        for what in ("energy", "gradient", "hessian psd"):
            row |= {f"{what} [ns]": found["by hand"][what], f"from psi, {what} [ns]": found["from psi"][what]}
        both = [found[how]["gradient"] + found[how]["hessian psd"] for how in ("from psi", "by hand")]
        row["ratio"] = both[0] / both[1]
        row["difference"] = max(
            float(np.abs(derived.gradient(x) - f).max() / np.abs(f).max()),
            float(abs(derived.hessian(x, psd=True) - H).max() / abs(H).max()),
        )
        rows.append(row)
    worst, off = max(row["ratio"] for row in rows), max(row["difference"] for row in rows)
    claims = [
        Claim("forces and projected Hessians are the same", "<= 1e-9", f"{off:.1e}", off <= 1e-9),
        Claim("gradient + Hessian take as long", f"<= {SLOWER:g} times", f"{worst:.2f}", worst <= SLOWER),
    ]
    title = f"Materials from psi alone, {len(mesh.T)} tets, CPU time per element"
    return Table("core/from_energy", title, rows, claims, plot=Plot("material", "ratio"))

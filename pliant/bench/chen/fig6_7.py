"""chen/fig6_7: the untwisting cuboid with 5, 6, 10 and 20 modes, neo-Hookean and ARAP. [Chen2019, Figures 6.7, 6.8]"""

from dataclasses import replace

import numpy as np

from pliant.bench.chen.energies import BE, SIERE, Figure, row, simulate, table
from pliant.bench.chen.play import Played
from pliant.bench.table import Claim, Table
from pliant.integrators import ERE, LinearlyImplicit
from pliant.linear.modes import lowest
from pliant.scenes.chen_structures import cuboid


def run(*, quick: bool = False) -> Table:
    more = {f"SIERE s = {s}": SIERE(s=s) for s in ((6,) if quick else (6, 10, 20))}
    projected = {"SI, K projected": LinearlyImplicit(), "ERE, K projected on demand": ERE(max_substeps=2000)}
    methods = {**more, "BE": BE, "ERE": ERE(project="never", max_substeps=2000), **projected}
    note = "a grid of 1,216 vertices turned by 0.42 of a turn, an angle chosen so that SI fails: the source has none"
    note += f"; {_twist_modes()}"
    figure = Figure("chen/fig6_7", "Untwisting cuboid", cuboid(), (100, 15), methods, note=note)
    runs = simulate(figure, quick)
    by_name = {r.name: r for r in runs}
    arap_runs = simulate(Figure("chen/fig6_7", "ARAP", cuboid(arap=True), (150, 10), {"BE": BE}), quick)
    claims = [
        Claim(
            "SIERE is stable for every s", "stable", _ends(runs), all(not r.ended for r in runs if "SIERE" in r.name)
        ),
        Claim("SI fails", "unstable", by_name["SI"].ended or "stable", bool(by_name["SI"].ended)),
        Claim("ERE fails", "unstable", by_name["ERE"].ended or "stable", bool(by_name["ERE"].ended)),
        Claim("ARAP: SIERE is stable", "stable", arap_runs[0].ended or "stable", not arap_runs[0].ended),
        Claim("ARAP: SI fails", "unstable", arap_runs[1].ended or "stable", bool(arap_runs[1].ended)),
        _cheaper(arap_runs[0], arap_runs[-1]),
    ]
    if not quick:
        claims += _alike(by_name["SIERE s = 6"], by_name["SIERE s = 20"])
    whole = Figure("chen/fig6_7", "a whole turn", cuboid(arap=True, turns=1.0), (30, 10))
    arap_runs += [replace(r, name=f"{r.name}, a whole turn") for r in simulate(whole, quick)]
    result = table(figure, runs, claims)
    result.rows.extend({**row(r, ("elastic",)), "method": f"ARAP {r.name}"} for r in arap_runs)
    return result


def _twist_modes() -> str:
    """How much of the energy of a small twist 6 and 20 modes hold, and which modes these are."""
    scene = cuboid(turns=1e-3)
    system = scene.system()
    state, rest = scene.initial(system), scene.bodies[0].body.mesh.X.ravel()  # type: ignore[attr-defined]
    K, M = -system.restrict(system.stiffness(rest, 0 * rest, 0.0)), system.restrict(system.mass(rest))
    d = (state.q - rest)[system.free]
    modes = lowest(K, M, 20, tolerance=1e-4)
    part = modes.lam * (modes.U.T @ (M @ d)) ** 2 / (d @ (K @ d))
    first = ", ".join(str(k + 1) for k in np.flatnonzero(part > 0.01))
    return (
        f"its twisting modes are the {first} (counted at rest): 6 modes hold {100 * part[:6].sum():.0f} % of the energy"
        f" of a small twist, 20 hold {100 * part.sum():.0f} %, about the difference of the curves; with ARAP"
        " M + h^2 K stays positive definite, and SI stable, up to a whole turn"
    )


def _alike(few: Played, many: Played) -> list[Claim]:
    """s = 6 and s = 20 in elastic energy: late means, and the whole curves against the energy they start with."""
    a, b = (run.series("elastic") for run in (few, many))
    n = min(len(a), len(b))
    late = [float(e[-20:].mean()) for e in (a, b)]
    apart = float(np.abs(a[:n] - b[:n]).max() / a[0])
    return [
        Claim("late elastic energy, s = 6 and s = 20, within 30 %", "small difference",
              f"{late[0]:.3g}, {late[1]:.3g} J",
              abs(late[0] - late[1]) <= 0.3 * max(late)),
        Claim("curves of s = 6 and s = 20, of the energy at the start", "small difference, <= 10 %",
              f"{100 * apart:.1f} %", apart <= 0.1),
    ]  # fmt: skip


def _ends(runs: list[Played]) -> str:
    return ", ".join(f"{r.name}: {r.ended or 'stable'}" for r in runs if "SIERE" in r.name)


def _cheaper(siere: Played, be: Played) -> Claim:
    ratio = be.per_step() / siere.per_step()
    return Claim("ARAP: BE costs more than SIERE", "1.48 (129 s / 87 s)", f"{ratio:.2f}", ratio > 1.0)

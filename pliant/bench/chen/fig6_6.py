"""chen/fig6_6: the uncoiling rope, SIERE with one mode against BE and SI. [Chen2019, Figures 6.5 and 6.6]"""

from pliant.bench.chen.energies import BE, Figure, simulate, table
from pliant.bench.table import Claim, Table
from pliant.scenes.chen_meshes import thesis_mesh
from pliant.scenes.chen_structures import coiled_rope


def run(*, quick: bool = False) -> Table:
    note = thesis_mesh("rope").note
    figure = Figure("chen/fig6_6", "Uncoiling rope", coiled_rope(), (400, 10), {"BE": BE}, note=note)
    siere, si, be = runs = simulate(figure, quick)
    ratio = be.per_step() / siere.per_step()
    high = lambda r: float(r.series("elastic").max(initial=0.0))
    claims = [
        Claim("SIERE with s = 1 is stable", "stable", siere.ended or "stable", not siere.ended),
        Claim("SI diverges", "diverges", si.ended or "does not", bool(si.ended)),
        Claim("BE costs more than SIERE", "1.9 (1257 s / 651 s)", f"{ratio:.2f}", ratio > 1.0),
        Claim("SIERE swings higher than BE", "yes", f"{high(siere):.3g} vs {high(be):.3g} J", high(siere) > high(be)),
    ]
    return table(figure, runs, claims)

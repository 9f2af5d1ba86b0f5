"""chen/fig4_10: energy of a cape that dances, by method. [Chen2019, Figures 4.9 and 4.10]"""

from pliant.bench.chen.contest import compete, rows
from pliant.bench.chen.play import energy_plot
from pliant.bench.table import Claim, Table
from pliant.scenes.chen_springs import cape


def run(*, quick: bool = False) -> Table:
    runs = compete(cape(), 0.5 if quick else 5.0)
    kinetic = {n: float(r.series("kinetic").mean()) if not r.ended else float("nan") for n, r in runs.items()}
    table = [{**r, "mean kinetic [J]": f"{kinetic[r['method']]:.4f}"} for r in rows(runs)]
    text = ", ".join(f"{n} {e:.4f}" for n, e in kinetic.items())
    lively = min(kinetic["ERE"], kinetic["IM"]) > 1.1 * max(kinetic["SI"], kinetic["BE"])
    ended = [r.ended or "-" for r in runs.values()]
    claims = [
        Claim("ERE and IM stay livelier than SI and BE: mean kinetic energy [J]", "SI, BE lower", text, lively),
        Claim("all stable", "yes", ", ".join(ended), set(ended) == {"-"}),
    ]  # fmt: skip
    note = "the motion of the shoulders is ours"
    return Table("chen/fig4_10", "Cape, 11 x 11 particles, 50 N/m", table, claims, [note],
                 [energy_plot("fig4_10", "Cape", list(runs.values()), "kinetic")])  # fmt: skip

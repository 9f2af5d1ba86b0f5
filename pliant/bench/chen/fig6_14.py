"""chen/fig6_14: the bridge in the wind, the oscillation that SIERE keeps and SI loses. [Chen2019, Figure 6.14]"""

from pliant.bench.chen.energies import Figure, simulate, table
from pliant.bench.chen.play import Played
from pliant.bench.table import Claim, Table
from pliant.scenes.chen_meshes import thesis_mesh
from pliant.scenes.chen_wind import bridge


def run(*, quick: bool = False) -> Table:
    figure = Figure("chen/fig6_14", "Bridge in the wind", bridge(), (200, 40), note=thesis_mesh("bridge").note)
    runs = simulate(figure, quick)
    siere, si = (wobble(r) for r in runs[:2])
    claims = [
        Claim("SIERE oscillates at the end: swing of the elastic energy over its mean", "visible, >= 0.2",
              f"{siere:.2f}", siere >= 0.2 and not runs[0].ended),
        Claim("SI does not", "heavily damped, <= 0.02", f"{si:.1e}", si <= 0.02),
    ]  # fmt: skip
    return table(figure, runs, claims)


def wobble(run: Played) -> float:
    """Peak to peak of the elastic energy over its mean, in the last fifth."""
    late = run.series("elastic")[-len(run.energies) // 5 :]
    return float((late.max() - late.min()) / late.mean()) if len(late) else 0.0

"""chen/fig6_9: the hanging ball, SIERE as lively as ERE, SI dull at h and at h/5. [Chen2019, Figure 6.9]"""

from pliant.bench.chen.energies import SI, Figure, kept, oscillation_claims, simulate, table
from pliant.bench.chen.play import play
from pliant.bench.table import Claim, Table
from pliant.integrators import ERE
from pliant.scenes.chen_meshes import thesis_mesh
from pliant.scenes.chen_structures import hanging_ball


def run(*, quick: bool = False) -> Table:
    scene = hanging_ball()
    note = thesis_mesh("ball").note
    figure = Figure("chen/fig6_9", "Hanging ball", scene, (200, 40), {"ERE": ERE()}, note=note)
    runs = simulate(figure, quick)
    system, h = scene.system(), float(scene.h)
    fine = play("SI, h/5", system, scene.initial(system), SI, h / 5, 5 * figure.steps[quick])
    runs.append(fine)
    claims = oscillation_claims(runs, figure.terms)
    siere, ere = kept(runs[0], figure.terms), kept(runs[2], figure.terms)
    claims.append(Claim("SIERE as good as ERE", "alike", f"{siere:.2f} vs {ere:.2f}", siere >= 0.8 * ere))
    claims.append(
        Claim(
            "h/5 does not cure SI", "still damped", f"{kept(fine, figure.terms):.2f}", kept(fine, figure.terms) < siere
        )
    )
    return table(figure, runs, claims)

"""chen/fig5_4: a bent strip released, DGSI against SI on the continuous mesh. [Chen2019, Figure 5.4]"""

from typing import Any

from pliant.bench.chen.play import Played, energy_plot, play
from pliant.bench.table import Claim, Table
from pliant.integrators import DGSI, LinearlyImplicit
from pliant.scene import Scene
from pliant.scenes.chen_solids import continuous_strip, strip

START = 50


def run(*, quick: bool = False) -> Table:
    frames = 300 if quick else 1000
    loose, whole = strip(), continuous_strip()
    cases: list[tuple[str, Scene, Any]] = [
        ("DGSI", loose, DGSI()),
        ("SI on DG", loose, LinearlyImplicit()),
        ("SI on CG", whole, LinearlyImplicit()),
    ]
    runs = [_play(n, scene, i, frames) for n, scene, i in cases]
    kept = {r.name: float(r.total()[-1] / r.total()[START - 1]) for r in runs}
    first = {n: _energy(scene) for n, scene, _ in cases}
    rows = [
        {
            "method": r.name,
            "E(0) [J]": f"{first[r.name]:.3e}",
            f"E({START}) [J]": f"{r.total()[START - 1]:.3e}",
            f"E({frames}) [J]": f"{r.total()[-1]:.3e}",
            f"E({frames})/E({START})": f"{kept[r.name]:.2e}",
            f"E({frames})/E(0)": f"{r.total()[-1] / first[r.name]:.2e}",
        }
        for r in runs
    ]
    bound = 1e-2 if quick else 1e-6
    whole_run = {r.name: float(r.total()[-1]) / first[r.name] for r in runs}
    early = {r.name: float(r.total()[START - 1]) / first[r.name] for r in runs}
    claims = [
        Claim(f"DGSI keeps E({frames})/E({START})", ">= 0.1", f"{kept['DGSI']:.2f}", kept["DGSI"] >= 0.1),
        Claim(
            f"DGSI keeps E({frames})/E(0)",
            ">= 0.1",
            f"{whole_run['DGSI']:.1e}, of which E({START})/E(0) {early['DGSI']:.1e}",
            whole_run["DGSI"] >= 0.1,
        ),
        Claim(
            "SI on the continuous mesh does not", f"<= {bound:g}", f"{kept['SI on CG']:.1e}", kept["SI on CG"] <= bound
        ),
    ]
    notes = ["SI on the whole discontinuous system behaves alike: the contrast is soft glue against a continuous mesh"]
    return Table(
        "chen/fig5_4",
        "Total energy of a released strip",
        rows,
        claims,
        notes,
        [energy_plot("fig5_4", "Released strip", runs)],
    )


def _energy(scene: Scene) -> float:
    """What the strip is released with [J]."""
    system = scene.system()
    start = scene.initial(system)
    return sum(system.energies(start.q, start.v, 0.0).values())


def _play(name: str, scene: Scene, integrator: Any, frames: int) -> Played:
    system = scene.system()
    return play(name, system, scene.initial(system), integrator, float(scene.h), frames)

"""Energy over time of SI, SIERE, ERE and BE on one scene: the content of Figures 6.6 to 6.13. [Chen2019, sec. 6.4]"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pliant.bench.chen.play import Played, energy_plot, play, swing
from pliant.bench.table import Claim, Table
from pliant.integrators import BDF1, SIERE, LinearlyImplicit
from pliant.linear.cholesky import Cholesky
from pliant.linear.modes import Modes, lowest
from pliant.scene import Scene
from pliant.solvers import Newton, Tolerance


@dataclass(frozen=True)
class Figure:
    """What to run: ``steps`` in full and quick mode, ``methods`` beside SI and SIERE."""

    id: str
    title: str
    scene: Scene
    steps: tuple[int, int]
    methods: dict[str, Any] = field(default_factory=dict)
    terms: tuple[str, ...] = ("elastic",)
    note: str = ""


SI = LinearlyImplicit(psd=False)
# The source's Newton stops at 1e-6 absolute; at 10 GPa round-off alone is 6e-6 of the first residual.
BE = BDF1(Newton(project="on_demand", tolerance=Tolerance(relative=1e-5)))


def simulate(figure: Figure, quick: bool) -> list[Played]:
    """SI, SIERE as the scene has it, and the figure's further methods, each at most twenty times as costly as SIERE."""
    system, h = figure.scene.system(), float(figure.scene.h)
    start = figure.scene.initial(system)
    steps = figure.steps[quick]
    siere = play("SIERE", system, start, figure.scene.integrator, h, steps)
    budget = 20.0 * sum(siere.seconds)
    others = {"SI": SI, **figure.methods}
    return [siere, *(play(name, system, start, i, h, steps, budget=budget) for name, i in others.items())]


def row(run: Played, terms: tuple[str, ...]) -> dict[str, Any]:
    elastic = sum((run.series(t) for t in terms), np.zeros(len(run.energies)))
    early, late = swing(elastic) if len(elastic) > 4 else (np.nan, np.nan)
    return {
        "method": run.name,
        "steps": len(run.energies),
        "ended": run.ended or "-",
        "ms/step": round(1e3 * run.per_step(), 1) if run.seconds else "-",
        "swing, first fifth [J]": f"{early:.3g}",
        "swing, last fifth [J]": f"{late:.3g}",
        "kept": round(late / early, 3) if early > 0 else float("nan"),
    }


def kept(run: Played, terms: tuple[str, ...]) -> float:
    """Peak to peak of the potential energy in the last fifth over that in the first."""
    values = sum((run.series(t) for t in terms), np.zeros(len(run.energies)))
    if len(values) < 5:
        return 0.0
    early, late = swing(values)
    return late / early if early > 0 else 0.0


def oscillation_claims(runs: list[Played], terms: tuple[str, ...]) -> list[Claim]:
    """The generic acceptance: SIERE keeps at least half of the oscillation, SI at most a fifth."""
    siere, si = kept(runs[0], terms), kept(runs[1], terms)
    return [
        Claim("SIERE keeps the oscillation", ">= 0.5", f"{siere:.2f}", siere >= 0.5 and not runs[0].ended),
        Claim("SI loses it", "<= 0.2", f"{si:.2f} {runs[1].ended}", si <= 0.2 or bool(runs[1].ended)),
    ]


def two_loads(figure: Figure, quick: bool) -> Table:
    """The figure as it is, also with 20 modes, and under a tenth of its load. Loads are ours, the source states none.

    Thin parts bend along the linear modes, and stretch with the square of the amplitude; stretching is a stiff motion
    that SI damps. That loss hardly depends on the number of captured modes, only on the amplitude.
    """
    more = {} if quick else {"SIERE s = 20": SIERE(s=20)}
    runs = simulate(replace(figure, methods={**figure.methods, **more}), quick)
    claims = oscillation_claims(runs, figure.terms)
    lighter = replace(figure.scene, gravity=tuple(0.1 * g for g in figure.scene.gravity))
    for run in simulate(replace(figure, scene=lighter), quick):
        run.name += ", load / 10"
        runs.append(run)
    few = kept(runs[-2], figure.terms)
    claims.append(Claim("SIERE keeps the oscillation under a tenth of the load", ">= 0.5", f"{few:.2f}", few >= 0.5))
    runs.append(exact(figure.scene, figure.steps[quick]))
    return table(replace(figure, note=f"{figure.note}; {why(figure.scene)}"), runs, claims)


def why(scene: Scene) -> str:
    """What SIERE loses, in words, with the number that says what it is not."""
    return (
        f"for small motions the five captured modes hold {100 * share(scene, 5):.1f} % of the load's energy; what SIERE"
        " loses grows with the amplitude, not with the modes left out: bending stretches thin parts, and SI damps that."
        " The swing falls without any loss, too, as modes get out of phase: see the exact row"
    )


def share(scene: Scene, s: int) -> float:
    """The part of the energy f^T K^-1 f that the load puts into the s lowest modes, for small deflections."""
    K, f, modes = loaded(scene, s)
    return float(((modes.U.T @ f) ** 2 / modes.lam).sum() / (f @ Cholesky().factor(K).solve(f)))


def exact(scene: Scene, steps: int, s: int = 40) -> Played:
    """Small motions from rest without any damping, by s modes: y = c/lam (1 - cos(sqrt(lam) t)) in each of them.

    They are in phase at first only: the swing of their energy falls although none of it is lost.
    """
    _, f, modes = loaded(scene, s)
    t = float(scene.h) * np.arange(1.0, steps + 1.0)
    y = (modes.U.T @ f / modes.lam)[:, None] * (1.0 - np.cos(np.sqrt(modes.lam)[:, None] * t))
    run = Played("exact, small motions", float(scene.h))
    run.energies = [{"elastic": float(e)} for e in 0.5 * modes.lam @ y**2]
    return run


def loaded(scene: Scene, s: int) -> tuple[Any, Any, Modes]:
    """K and f of a scene at its start over the free coordinates, and the s lowest modes."""
    system = scene.system()
    state = scene.initial(system)
    K = -system.restrict(system.stiffness(state.q, state.v, 0.0))
    f = system.force(state.q, state.v, 0.0)[system.free]
    return K, f, lowest(K, system.restrict(system.mass(state.q)), s)


def table(figure: Figure, runs: list[Played], claims: list[Claim]) -> Table:
    name = figure.id.split("/")[1]
    picture = energy_plot(name, figure.title, runs, *figure.terms)
    notes = [figure.note] if figure.note else []
    return Table(figure.id, figure.title, [row(r, figure.terms) for r in runs], claims, notes, [picture])


__all__ = [
    "BE",
    "SI",
    "SIERE",
    "Figure",
    "kept",
    "oscillation_claims",
    "share",
    "simulate",
    "table",
    "two_loads",
    "why",
]

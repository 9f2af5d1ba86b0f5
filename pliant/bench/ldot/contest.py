"""What the Ldot figures share: the contestants, and the BAR and ARMADILLO cases. [Weidner2022, sec. 5.5]"""

from typing import Any

import numpy as np

from pliant.bench.samples import Build, Contest
from pliant.bench.table import Table
from pliant.integrators import BDF2, Quasistatic
from pliant.mesh import bar as bar_mesh
from pliant.mesh import figure
from pliant.scenes.qlb import arma, armadillo, bar
from pliant.solvers import ND, QLB, HybridL0, HybridL1, HybridLP, Newton, NewtonL0, NewtonL1, NewtonLP, NewtonPCG
from pliant.solvers.ldot import AS_PUBLISHED

# Where a bar is compressed, Newton with projected blocks may take some 150 iterations in one quasistatic step, more
# than it allows itself by default. All contestants get the same, larger, limit.
LIMIT: dict[str, Any] = {"max_iterations": 500}
THESIS: dict[str, Any] = AS_PUBLISHED | LIMIT
CONTESTANTS: dict[str, Any] = {
    "NEWTON-D": ND(**LIMIT),
    "NEWTON-I": NewtonPCG(project="always", **LIMIT),
    "NEWTON-L0": NewtonL0(**LIMIT),
    "NEWTON-L1": NewtonL1(**LIMIT),
    "NEWTON-LP": NewtonLP(**LIMIT),
    "HYBRID-L0": HybridL0(**LIMIT),
    "HYBRID-L1": HybridL1(**LIMIT),
    "HYBRID-LP": HybridLP(**LIMIT),
    "NEWTON-L0 published": NewtonL0(**THESIS),
    "HYBRID-L0 published": HybridL0(**THESIS),
    "HYBRID-L1 published": HybridL1(**THESIS),
    "NEWTON-D exact": Newton(chords=0, **LIMIT),
    "QLB": QLB(),
}


def chosen(*names: str) -> dict[str, Any]:
    """Some of the contestants."""
    return {name: CONTESTANTS[name] for name in names}


THREE = chosen("NEWTON-D", "NEWTON-L0", "HYBRID-L1")
SIX = THREE | chosen("HYBRID-L1 published", "NEWTON-D exact", "QLB")
RULE = (
    "NEWTON-D projects every element block, as the thesis does; NEWTON-D exact does so on demand, as our default does,"
    " which uses old factors besides (`Newton.chords`). The published L-solvers project always and never factor again;"
    " ours use the exact tangent in their Newton phase and factor again where that pays (see `Ldot`)."
)


def bar_case(quick: bool, **options: Any) -> Build:
    """BAR, quasistatic, as a function of the solver."""
    small: dict[str, Any] = {"mesh": bar_mesh(size=(0.3, 0.1, 0.1), cells=(18, 6, 6))} if quick else {}
    return lambda solver: bar(integrator=Quasistatic(solver), damping=0.0, **small, **options)


def figure_case(quick: bool, integrator: Any = BDF2, **options: Any) -> Build:
    """ARMADILLO as a function of the solver."""
    mesh = figure(cells=14) if quick else armadillo()
    return lambda solver: arma(integrator=integrator(solver), mesh=mesh, **options)


def wall_clock_figure(table: Table) -> Any:
    """Bars of CPU time per step, as in the thesis."""
    from pliant.plots import sheet, wall_clock

    drawn, ((axes,),) = sheet(size=(8.0, max(3.8, 0.2 * len(table.rows))))
    wall_clock(axes, table.rows, seconds="CPU s/step")
    return drawn


def iteration_rows(result: Contest) -> list[dict[str, Any]]:
    """One row for each time: iterations of every solver."""
    times = [t for t, _ in next(iter(result.iterations.values()))]
    return [
        {"t": round(t, 6)} | {name: curve[k][1] for name, curve in result.iterations.items()}
        for k, t in enumerate(times)
    ]


def iteration_figure(table: Table) -> Any:
    """Iterations over time, a curve for each solver."""
    from pliant.plots import iterations_per_step, sheet

    drawn, ((axes,),) = sheet(size=(8.0, 4.0))
    names = [name for name in table.columns if name != "t"]
    t = np.array([row["t"] for row in table.rows])
    iterations_per_step(axes, {name: (t, np.array([row[name] for row in table.rows])) for name in names})
    return drawn


def iteration_note(result: Contest, name: str) -> str:
    """Iterations, factorizations, PCG iterations and switches of a solver, per step."""
    runner, steps = result.runner(name), result.steps
    c = runner.counts
    counted = {"iterations": runner.iterations, "factorizations": c.factorizations, "PCG": c.inner}
    shown = ", ".join(f"{what} {count / steps:.1f}" for what, count in counted.items())
    return f"{name}, per step: {shown}; {c.switches} of {runner.solves} solves switch to Newton"

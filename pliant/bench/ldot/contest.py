"""What the Ldot figures share: the contestants, the BAR and ARMADILLO cases, and the race. [Weidner2022, sec. 5.5]

Set PLIANT_BENCH_STEPS to limit the number of time steps of each run.
"""

import os
from collections.abc import Callable, Iterable
from typing import Any

from pliant.bench.race import Runner, race, ratio
from pliant.integrators import BDF2, Quasistatic
from pliant.mesh import bar as bar_mesh
from pliant.mesh import figure
from pliant.scene import Scene
from pliant.scenes.qlb import arma, armadillo, bar
from pliant.solvers import HybridL0, HybridL1, HybridLP, Newton, NewtonL0, NewtonL1, NewtonLP, NewtonPCG

CONTESTANTS: dict[str, Any] = {
    "NEWTON-D": Newton(),
    "NEWTON-I": NewtonPCG(),
    "NEWTON-L0": NewtonL0(),
    "NEWTON-L1": NewtonL1(),
    "NEWTON-LP": NewtonLP(),
    "HYBRID-L0": HybridL0(),
    "HYBRID-L1": HybridL1(),
    "HYBRID-LP": HybridLP(),
}
THREE = ("NEWTON-D", "NEWTON-L0", "HYBRID-L1")


def bar_case(quick: bool, **options: Any) -> Callable[[Any], Scene]:
    """BAR, quasistatic, as a function of the solver."""
    small: dict[str, Any] = {"mesh": bar_mesh(size=(0.3, 0.1, 0.1), cells=(18, 6, 6))} if quick else {}
    return lambda solver: bar(integrator=Quasistatic(solver), damping=0.0, **small, **options)


def figure_case(quick: bool, integrator: Any = BDF2, **options: Any) -> Callable[[Any], Scene]:
    """ARMADILLO as a function of the solver."""
    mesh = figure(cells=14) if quick else armadillo()
    return lambda solver: arma(integrator=integrator(solver), mesh=mesh, **options)


def contest(
    case: str, build: Callable[[Any], Scene], names: Iterable[str]
) -> tuple[list[Runner], list[dict[str, Any]]]:
    """Race the named contestants; the runners and one row for each."""
    runners = [Runner(name, build(CONTESTANTS[name])) for name in names]
    limit = int(os.environ.get("PLIANT_BENCH_STEPS", "1000000"))
    race(runners, min(runners[0].scene.steps, limit))
    rows = [r.row(case) | {"NEWTON-D / this": round(ratio(runners, "NEWTON-D", r.name), 2)} for r in runners]
    return runners, rows

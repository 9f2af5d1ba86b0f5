"""ldot/fig5_10: nonlinear iterations per step of the shaken ARMADILLO, as a plot. [Weidner2022, Fig. 5.10]

The solvers as published, on a coarse figure: iterations hardly depend on the mesh.
"""

from typing import Any

from pliant.bench.ldot.contest import LIMIT, THESIS, iteration_figure, iteration_note, iteration_rows
from pliant.bench.race import all_converged
from pliant.bench.samples import contest
from pliant.bench.table import Claim, Table
from pliant.integrators import BDF2
from pliant.mesh import figure as figure_mesh
from pliant.scenes.qlb import arma
from pliant.solvers import ND, HybridL1, NewtonL0

SOLVERS = {"NEWTON-D": ND(**LIMIT), "NEWTON-L0": NewtonL0(**THESIS), "HYBRID-L1": HybridL1(**THESIS)}


def run(*, quick: bool = False) -> Table:
    mesh = figure_mesh(cells=10 if quick else 16)
    result = contest("ARMADILLO", lambda s: arma(integrator=BDF2(s), mesh=mesh), SOLVERS, 6 if quick else 30)
    hybrid = result.runner("HYBRID-L1")
    kept = hybrid.solves - hybrid.counts.switches
    newton, frozen = (result.runner(name).iterations for name in ("NEWTON-D", "NEWTON-L0"))
    claims = [
        Claim("most steps of HYBRID-L1 end in the quasi-Newton phase", "yes", f"{kept} of {hybrid.solves}",
              kept > 0.5 * hybrid.solves),
        Claim("NEWTON-L0 takes the iterations of NEWTON-D", "the same curve", f"{frozen} against {newton}",
              abs(frozen - newton) <= 0.1 * newton),
        all_converged(result.runners),
    ]  # fmt: skip
    notes = [f"{len(mesh.X)} vertices", *(iteration_note(result, name) for name in SOLVERS)]
    return Table("ldot/fig5_10", "Iterations per step, ARMADILLO", iteration_rows(result), claims, notes)


def figure(table: Table) -> Any:
    """Iterations over time, a curve for each solver."""
    return iteration_figure(table)

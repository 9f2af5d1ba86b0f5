"""qlb/alternatives: what the authors tried and dropped: PCG inside Newton, and L-BFGS on a scaled identity.

[QLB2021, sec. 3 and 4]. Every solver solves the same four steps of ARMA (see `pliant.bench.samples`).
"""

from dataclasses import dataclass
from typing import Any

import scipy.sparse as sp

from pliant.arrays import Array
from pliant.bench.samples import contest
from pliant.bench.table import Claim, Table
from pliant.integrators import BDF2
from pliant.mesh import figure as figure_mesh
from pliant.scenes.qlb import arma, armadillo
from pliant.solvers import ND, QLB, NewtonPCG
from pliant.solvers.qlb import AS_PUBLISHED


@dataclass(frozen=True)
class ScaledIdentity:
    """The mean diagonal entry of A times the identity, in place of a factorization."""

    def factor(self, A: sp.csr_matrix, memory: Any = None) -> "ScaledIdentityFactor":
        return ScaledIdentityFactor(float(A.diagonal().mean()))


class ScaledIdentityFactor:
    memory, analysed, inner = None, False, 0

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def solve(self, b: Array) -> Array:
        return b / self.scale


def run(*, quick: bool = False) -> Table:
    mesh = figure_mesh(cells=14) if quick else armadillo()
    solvers: dict[str, Any] = {
        "ND": ND(),
        "NEWTON-I": NewtonPCG(project="always"),
        "QLB": QLB(**AS_PUBLISHED),
        "L-BFGS on a scaled identity": QLB(**AS_PUBLISHED | {"linear": ScaledIdentity(), "recover": False}),
    }
    result = contest("ARMA", lambda solver: arma(mesh=mesh, integrator=BDF2(solver)), solvers, 4)
    slower = result.ratio("NEWTON-I", "ND")
    plain, qlb = result.runner("L-BFGS on a scaled identity"), result.runner("QLB")
    unusable = plain.failures > 0 or plain.iterations > 10 * qlb.iterations
    shown = f"{plain.failures} of {plain.solves} solves fail, {plain.iterations} iterations against {qlb.iterations}"
    claims = [
        Claim("QLB-9 PCG with block Jacobi slower than ND on ARMA", "yes", f"{slower:.2f} of its time", slower > 1.0),
        Claim("QLB-10 scaled identity unusable", "fails or > 10x iterations", shown, unusable),
    ]
    return Table("qlb/alternatives", "What QLB does not use", result.rows("ND"), claims)


def figure(table: Table) -> Any:
    from pliant.plots import sheet, wall_clock

    drawn, ((axes,),) = sheet()
    wall_clock(axes, table.rows, seconds="CPU s/step")
    return drawn

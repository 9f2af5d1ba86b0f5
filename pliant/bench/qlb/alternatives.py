"""qlb/alternatives: what the authors tried and dropped: PCG inside Newton, and L-BFGS on a scaled identity.

[QLB2021, sec. 3 and 4]. Set PLIANT_BENCH_STEPS to limit the number of time steps.
"""

import os
from dataclasses import dataclass
from typing import Any

import scipy.sparse as sp

from pliant.arrays import Array
from pliant.bench.race import Runner, race, ratio
from pliant.bench.table import Claim, Table
from pliant.integrators import BDF2
from pliant.mesh import figure
from pliant.scenes.qlb import arma, armadillo
from pliant.solvers import QLB, Newton, NewtonPCG


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
    mesh = figure(cells=14) if quick else armadillo()
    solvers: dict[str, Any] = {
        "ND": Newton(),
        "NEWTON-I": NewtonPCG(),
        "QLB": QLB(),
        "L-BFGS on a scaled identity": QLB(linear=ScaledIdentity(), recover=False),
    }
    runners = [Runner(name, arma(mesh=mesh, integrator=BDF2(solver))) for name, solver in solvers.items()]
    race(runners, min(10, int(os.environ.get("PLIANT_BENCH_STEPS", "10"))))
    by = {r.name: r for r in runners}
    slower = ratio(runners, "NEWTON-I", "ND")
    plain, qlb = by["L-BFGS on a scaled identity"], by["QLB"]
    unusable = plain.failures > 0 or plain.iterations > 10 * qlb.iterations
    shown = f"{plain.failures} of {plain.solves} solves fail, {plain.iterations} iterations against {qlb.iterations}"
    claims = [
        Claim("QLB-9 PCG with block Jacobi slower than ND on ARMA", "yes", f"{slower:.2f}x", slower > 1.0),
        Claim("QLB-10 scaled identity unusable", "fails or > 10x iterations", shown, unusable),
    ]
    return Table("qlb/alternatives", "What QLB does not use", [r.row("ARMA") for r in runners], claims)

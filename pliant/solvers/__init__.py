"""Nonlinear solvers: each a frozen dataclass; any of them serves any implicit integrator."""

from pliant.solvers.base import Solution, Tolerance
from pliant.solvers.descent import BFGS, LBFGS, Function, SteepestDescent
from pliant.solvers.ldot import HybridL0, HybridL1, HybridLP, Ldot, NewtonL0, NewtonL1, NewtonLP
from pliant.solvers.line_search import LineSearch
from pliant.solvers.newton import ND, Newton, NewtonPCG
from pliant.solvers.projective import PD
from pliant.solvers.qlb import AS_PUBLISHED, QLB, QLF

SOLVERS = (
    Newton,
    NewtonPCG,
    QLF,
    QLB,
    Ldot,
    NewtonL0,
    NewtonL1,
    NewtonLP,
    HybridL0,
    HybridL1,
    HybridLP,
    PD,
    BFGS,
    LBFGS,
)

__all__ = [s.__name__ for s in SOLVERS] + [
    "AS_PUBLISHED",
    "ND",
    "SOLVERS",
    "Function",
    "LineSearch",
    "Solution",
    "SteepestDescent",
    "Tolerance",
]

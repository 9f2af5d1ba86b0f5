"""Nonlinear solvers: each a frozen dataclass; any of them serves any implicit integrator."""

from pliant.solvers.base import Solution, Tolerance
from pliant.solvers.line_search import LineSearch
from pliant.solvers.newton import Newton, NewtonPCG
from pliant.solvers.qlb import QLB, QLF

SOLVERS = (Newton, NewtonPCG, QLF, QLB)

__all__ = ["SOLVERS", "LineSearch", "Newton", "NewtonPCG", "QLB", "QLF", "Solution", "Tolerance"]

"""Linear algebra: direct and iterative solvers, derivatives of factors, vibration modes, quadratic programmes."""

from pliant.linear.automatic import Automatic, approximate
from pliant.linear.base import Factor, LinearSolver
from pliant.linear.cholesky import Cholesky
from pliant.linear.cholmod import available as _cholmod
from pliant.linear.dchol import dchol, dchol_blocks, dchol_dense, dchol_difference
from pliant.linear.lu import LU
from pliant.linear.modes import Modes, ShiftInvert, highest, lowest
from pliant.linear.multigrid import Multigrid
from pliant.linear.pardiso import available as _pardiso
from pliant.linear.pcg import PCG, pcg
from pliant.linear.qp import OSQP, Clarabel, QPSolution, solve_qp
from pliant.linear.refined import RefinedCholesky

LINEAR: tuple[LinearSolver, ...] = (
    Cholesky("supernodal"),
    Cholesky("superlu"),
    *([Cholesky("pardiso")] if _pardiso() else []),
    *([Cholesky("cholmod")] if _cholmod() else []),
    PCG(tolerance=1e-12, max_iterations=5000),
    PCG(tolerance=1e-12, preconditioner=Multigrid()),
    RefinedCholesky(),
    Automatic(),
)
APPROXIMATE: tuple[LinearSolver, ...] = (Multigrid(),)  # as preconditioners, and in quasi-Newton methods

__all__ = [
    "APPROXIMATE",
    "LINEAR",
    "LU",
    "OSQP",
    "PCG",
    "Automatic",
    "Cholesky",
    "Clarabel",
    "Factor",
    "LinearSolver",
    "Modes",
    "Multigrid",
    "QPSolution",
    "RefinedCholesky",
    "ShiftInvert",
    "approximate",
    "dchol",
    "dchol_blocks",
    "dchol_dense",
    "dchol_difference",
    "highest",
    "lowest",
    "pcg",
    "solve_qp",
]

"""What a nonlinear solver is: something that finds the root of a stage and says honestly whether it did."""

from dataclasses import dataclass
from typing import Any, Protocol

import scipy.sparse as sp

from pliant.arrays import Array
from pliant.state import SolveReport


class StageLike(Protocol):
    """The equation r(z) = 0 over the free coordinates z, as the solvers see it; `pliant.stage.Stage` is the usual one."""

    def residual(self, z: Array) -> Array: ...

    def jacobian(self, z: Array, *, psd: bool = True) -> sp.csr_matrix: ...

    def merit(self, z: Array) -> float | None: ...

    def norm(self, r: Array) -> float: ...

    def limit(self, z: Array, dz: Array) -> float: ...


@dataclass(frozen=True)
class Solution:
    """The best iterate ``z``, the report that says whether it is a root, and the memory for the next solve."""

    z: Array
    report: SolveReport
    memory: Any = None


class NonlinearSolver(Protocol):
    """A choice of method, as a frozen dataclass. ``start`` is the state at the beginning of the step (free part)."""

    def solve(self, stage: StageLike, guess: Array, memory: Any = None, *, start: Array | None = None) -> Solution: ...

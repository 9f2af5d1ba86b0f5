"""The choice between a Cholesky factor and multigrid, by what each is estimated to cost on a pattern.

The width w of a graph of n nodes is the largest number of nodes at one distance from an end of it: the size of its
separators. Nested dissection then takes about FLOPS n w^1.5 operations and FILL n w^0.5 entries, for bars, plates and
cubes alike within a factor of two (n^2 and n^(4/3) for a cube). Multigrid costs as much per block for any shape.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from pliant.abilities import able
from pliant.kernels import aggregation
from pliant.linear.base import Factor, LinearSolver, Places, Placing
from pliant.linear.cholesky import Cholesky
from pliant.linear.multigrid import Multigrid
from pliant.linear.pcg import PCG

FLOPS, FILL = 60.0, 50.0  # of lattices of tetrahedra, three unknowns per node (see above)
RATE = 6e10  # operations per second of a factorization in single precision, one thread
CYCLES = 1.3e-6  # s per block: a set-up and thirty V-cycles
MARGIN = 3.0  # a factor solves exactly, whatever the material: it must cost this much more before it is given up
SMALL = 20_000  # nodes up to which nothing is estimated


class Estimate(NamedTuple):
    """What the linear algebra of a quasi-Newton solve costs on a pattern, one thread [s]; the factor's bytes."""

    nodes: int
    width: int
    factor: float
    storage: float
    multigrid: float

    @property
    def large(self) -> bool:
        """Whether multigrid is the better choice."""
        return self.nodes > SMALL and self.factor > MARGIN * self.multigrid

    def __str__(self) -> str:
        return (
            f"{self.nodes} nodes, up to {self.width} of them abreast: a factorization takes about {self.factor:.2g} s "
            f"and {self.storage / 1e9:.2g} GB, multigrid {self.multigrid:.2g} s"
        )


def estimate(A: sp.csr_matrix) -> Estimate:
    """The costs on the pattern of A, whose rows come in threes."""
    N = A.shape[0]
    count = -(-N // 3)
    ptr, col = aggregation.node_pattern(A.indptr, A.indices, np.arange(N) // 3, count)
    width = aggregation.width(ptr, col)
    return Estimate(count, width, FLOPS * count * width**1.5 / RATE, 8.0 * FILL * count * width**0.5, CYCLES * len(col))


@dataclass(frozen=True)
class Automatic:
    """``small`` where a factorization is cheap, ``large`` where it would cost several times what multigrid does."""

    small: LinearSolver = field(default_factory=Cholesky)
    large: LinearSolver = field(default_factory=lambda: PCG(preconditioner=Multigrid()))

    def factor(self, A: sp.csr_matrix, memory: Any = None) -> Factor:
        """Factor A by the better choice; ``memory`` is that of an earlier factor."""
        return self.chosen(A).factor(A, memory)

    def chosen(self, A: sp.csr_matrix) -> LinearSolver:
        """The choice for the pattern of A."""
        return self.large if A.shape[0] > 3 * SMALL and estimate(A).large else self.small

    def placed(self, places: Places) -> "PlacedAutomatic":
        """The same for matrices whose rows are at ``places``."""
        return PlacedAutomatic(self, places)


@dataclass(frozen=True, eq=False)
class PlacedAutomatic:
    """An automatic choice that tells the linear solver it chooses where the rows are."""

    choice: Automatic
    places: Places

    def factor(self, A: sp.csr_matrix, memory: Any = None) -> Factor:
        """Factor A by the better choice; ``memory`` is that of an earlier factor."""
        chosen = self.choice.chosen(A)
        return (chosen.placed(self.places) if able(chosen, Placing) else chosen).factor(A, memory)


def approximate() -> Automatic:
    """The choice of quasi-Newton methods and preconditioners: a factor in single precision, or a V-cycle."""
    return Automatic(Cholesky("single"), Multigrid())

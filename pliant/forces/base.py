"""What a force without a potential is: damping, friction, drag, followers, activation."""

from typing import Protocol

import scipy.sparse as sp

from pliant.arrays import Array


class Force(Protocol):
    """f(x, v, t) [N] with K = df/dx and D = df/dv as CSR matrices (patterns constant where possible, see Energy).

    ``stiffness`` may return a symmetric approximation of df/dx and says so in its docstring; ``damping`` is exact
    and negative semidefinite.
    """

    name: str

    def force(self, x: Array, v: Array, t: float) -> Array: ...

    def stiffness(self, x: Array, v: Array, t: float) -> sp.csr_matrix: ...

    def damping(self, x: Array, v: Array, t: float) -> sp.csr_matrix: ...

"""What an energy is: a scalar function of all coordinates with its derivatives."""

from typing import Protocol, runtime_checkable

import scipy.sparse as sp

from pliant.arrays import Array


class Energy(Protocol):
    """A potential W(x) [J] of the flat coordinates ``x (N,)``; the force is -gradient.

    ``hessian`` returns a full symmetric CSR matrix with sorted indices. When the pattern is constant (all but contact),
    every call returns the same ``indptr`` and ``indices`` objects and only ``data`` is new: systems rely on that to
    skip all index work. ``psd=True`` asks for the projection onto positive semidefinite element blocks.
    """

    name: str

    def value(self, x: Array) -> float: ...

    def gradient(self, x: Array) -> Array: ...

    def hessian(self, x: Array, *, psd: bool = False) -> sp.csr_matrix: ...


@runtime_checkable
class ConstantLoad(Protocol):
    """An energy that is linear in x: its force ``load (N,)`` [N] never changes (gravity)."""

    load: Array


@runtime_checkable
class Marching(Protocol):
    """An energy with a compiled loop over many explicit steps."""

    def march(
        self, x: Array, v: Array, inverse_mass: Array, load: Array, h: float, steps: int
    ) -> tuple[Array, Array]: ...

"""What a force without a potential is: damping, friction, drag, followers, activation."""

from typing import Any, Protocol, runtime_checkable

import scipy.sparse as sp

from pliant.arrays import Array, IntArray


class Force(Protocol):
    """f(x, v, t) [N] with K = df/dx and D = df/dv as CSR matrices (patterns constant where possible, see Energy).

    ``stiffness`` may return a symmetric approximation of df/dx and says so in its docstring; ``damping`` is exact
    and negative semidefinite.
    """

    name: str

    def force(self, x: Array, v: Array, t: float) -> Array: ...

    def stiffness(self, x: Array, v: Array, t: float) -> sp.csr_matrix: ...

    def damping(self, x: Array, v: Array, t: float) -> sp.csr_matrix: ...


@runtime_checkable
class Lagged(Protocol):
    """A force that is -dP/dv of a dissipation potential P(v) [W] if it is ``lagged``: while its normal forces, or the
    stiffness that it is in proportion to, stay what they were."""

    lagged: bool

    def dissipation(self, x: Array, v: Array) -> float: ...


@runtime_checkable
class Approximating(Protocol):
    """A force whose ``stiffness`` leaves a part of df/dx out, so as to stay symmetric.

    Roots of stages do not feel that; methods that linearise once per step lose their order to it.
    """

    def exact_stiffness(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        """df/dx in full."""
        ...


@runtime_checkable
class Rubbing(Force, Protocol):
    """A force of contacts, which couple bodies that touch; ``normal`` if it acts across the surfaces, not along."""

    normal: bool

    def pushes(self, x: Array, v: Array) -> Any:
        """The forces of every contact on its vertices, as `ContactForces`."""
        ...

    def persistent_damping(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        """The damping without the blocks that couple the two sides of a contact."""
        ...


@runtime_checkable
class LinearRubbing(Protocol):
    """A `Rubbing` force that tells its contacts apart in a step that is linearised once, too."""

    def linear_pushes(self, x: Array, v: Array, dv: Array) -> Any:
        """As ``pushes``, with velocities changed by ``dv (3n,)``: they sum to force + (damping + braking) dv."""
        ...


@runtime_checkable
class Braking(Protocol):
    """A force against slip, whose slope is 0 where something slips.

    A step that is linearised once would let it turn a slip round, and drive light vertices back and forth ever faster.
    """

    def braking(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        """What to add to ``damping``, so that the force stops a slip and never turns it round."""
        ...


@runtime_checkable
class Tensing(Protocol):
    """A force that is a stress in ``cells (m, k)``."""

    cells: IntArray

    def stress(self, x: Array, t: float) -> Array:
        """Cauchy stress (m, 3, 3) [Pa]."""
        ...


@runtime_checkable
class PartlyIndefinite(Protocol):
    """A force with a part of df/dx that is symmetric, but not definite; ``stiffness`` leaves it out."""

    def indefinite(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        """That part of df/dx."""
        ...

"""What a joint is: a family of frames with its motion subspace."""

from typing import Protocol

from pliant.arrays import Array


class Joint(Protocol):
    """Q(q), S(q) with twist = S qdot in the joint frame, and dS/dt [Weidner2022, sec. 3.1].

    A joint is a frozen dataclass; parameters may carry a leading axis, so one object also stands for a batch of joints
    of the same kind: every method broadcasts over the leading axes of q (..., dof). ``exponential`` lists the first
    index of each triple of exponential rotation coordinates: the only coordinates that are ever reparameterised.
    """

    @property
    def dof(self) -> int: ...

    @property
    def exponential(self) -> tuple[int, ...]: ...

    def transform(self, q: Array) -> Array:
        """Q(q) (..., 4, 4)."""
        ...

    def subspace(self, q: Array) -> Array:
        """S(q) (..., 6, dof)."""
        ...

    def subspace_rate(self, q: Array, v: Array) -> Array:
        """dS/dt along v (..., 6, dof)."""
        ...

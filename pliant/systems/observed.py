"""Optional abilities of systems that certificates, ledgers, recordings, the viewer and dragging by hand ask for.

A type has an ability by having its members; whoever needs one asks with ``isinstance``.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import scipy.sparse as sp

from pliant.abilities import able
from pliant.arrays import Array, IntArray
from pliant.state import State
from pliant.systems.base import Parted, Quadrature, System


@runtime_checkable
class Touching(Protocol):
    """A system that knows its contacts: ``contacts`` is None where it has no contact at all."""

    def contacts(self, q: Array, v: Array, t: float) -> Any: ...


@runtime_checkable
class Acting(Protocol):
    """A system that knows its contact forces in a stage it was made for by `Contacting.at`."""

    def acting(self, q: Array, v: Array, t: float) -> Any:
        """They at q and v, as `pliant.systems.acted.Acted`; None without contact."""
        ...


@runtime_checkable
class Measuring(Protocol):
    """A system that knows how close its surfaces come to each other and to obstacles."""

    def min_distance(self, q: Array, t: float) -> float | None:
        """The least distance [m], negative where things overlap, inf when nothing is near; None without contact."""
        ...


@runtime_checkable
class Grained(Protocol):
    """A system that can say how fine the surfaces are that touch in it."""

    def grain(self) -> float | None:
        """The mean edge [m] of the finest body that can touch; None without contact."""
        ...


@runtime_checkable
class Barring(Protocol):
    """Something that lets nothing cross, and can be made to prove it."""

    def crossings(self, q: Array, t: float) -> int | None:
        """How many crossings there are, in exact arithmetic; None without a barrier."""
        ...


@runtime_checkable
class Stretching(Protocol):
    """A system that reports the stretch of its elements itself; for `Composed` ones the energies do."""

    def det(self, q: Array) -> Array:
        """det F (m,) of every element; of a sheet the ratio of its areas."""
        ...


@runtime_checkable
class Pullable(Protocol):
    """A system that a hand can pull at: ``pulled`` is the same one with a spring ``k`` [N/m] to a point (3,)."""

    def pulled(self, vertex: Any, target: Array, k: float) -> Any: ...


@runtime_checkable
class Gripped(Protocol):
    """A `Pullable` system that carries the hand along when its mesh changes."""

    def grip_point(self, q: Array) -> Array | None:
        """Where it is held (3,) [m]; None when no hand pulls."""
        ...

    def let_go(self) -> Any:
        """The same system without a hand."""
        ...


@runtime_checkable
class Resting(Protocol):
    """A system that knows where it was built."""

    def positions(self, q: Array) -> Array: ...

    @property
    def rest(self) -> Array:
        """The coordinates there (N,)."""
        ...


@runtime_checkable
class PartlyEulerian(Protocol):
    """A system some of whose vertices, ``eol``, also move through the material."""

    eol: IntArray

    def material_point(self, q: Array, vertex: int) -> Array:
        """The point of the material (2,) that is at a vertex now."""
        ...

    def material_points(self, q: Array) -> Array:
        """The points of the material (n, 2) [m] that are at all vertices now."""
        ...


@runtime_checkable
class Jointed(Protocol):
    """A system with joints."""

    def joint_origins(self, x: Array) -> Array:
        """Where the joints are (k, 3) [m] when the points are at x (p, 3)."""
        ...


@runtime_checkable
class Reshaping(Protocol):
    """A system whose mesh changes while it runs; ``topology`` is what makes this mesh again."""

    def topology(self) -> Any: ...


@runtime_checkable
class Restorable(Reshaping, Protocol):
    """A `Reshaping` system that can be made again; points that its attachments need survive all changes."""

    def restored(self, topology: Any) -> Any:
        """The same with the mesh that ``topology`` described."""
        ...

    def renumbered(self, old: Any, points: IntArray) -> IntArray:
        """The numbers that kept ``points (k,)`` of the mesh of ``old`` have in this one."""
        ...


@runtime_checkable
class Working(Protocol):
    """A system that reports the work of forces that are not in `force_terms`: ``works`` are their names."""

    works: tuple[str, ...]

    def power(self, q: Array, v: Array, t: float) -> Mapping[str, float]: ...

    def switched(self, q: Array, v: Array, times: tuple[float, float]) -> float: ...


@runtime_checkable
class Pushing(Protocol):
    """A system in which obstacles move by scripts."""

    def pushed(self, before: State, after: State, quadrature: Quadrature) -> float:
        """The work [J] of obstacles between two states: their normal forces times their displacements."""
        ...


@runtime_checkable
class Exchanging(Protocol):
    """A system made of bodies or parts that do work on each other.

    The two works of a pair sum to zero up to what their contact stores and dissipates.
    """

    def pairs(self) -> Sequence[tuple[str, str]]:
        """Who can do work on whom, (a, b) and (b, a); the names are distinct."""
        ...

    def exchanges(self, before: State, after: State, quadrature: Quadrature) -> dict[tuple[str, str], float]:
        """(a, b) -> the work [J] that a did on b between two states, for the pairs that met."""
        ...


@runtime_checkable
class Moving(Protocol):
    """A system that knows how its points follow its coordinates."""

    def point_jacobian(self, q: Array) -> sp.csr_matrix: ...


@runtime_checkable
class Floating(Protocol):
    """A system whose coordinates can follow any rigid motion of all of it, where nothing holds it."""

    def rigid_rates(self, q: Array) -> Array:
        """(N, 6): the velocities of q under translations along and rotations about the axes of the world."""
        ...


def topology_of(system: System) -> Any:
    """What makes the meshes of a system again: None where none has changed, one for each part of a system of parts."""
    if able(system, Parted):
        return tuple(topology_of(part) for part in system.parts)
    return system.topology() if able(system, Reshaping) else None

"""Named arrays of a state for files and pictures: velocities and forces per vertex, stress and strain per element."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.abilities import able
from pliant.arrays import Array, IntArray
from pliant.energies.base import Internal, Layered, Pressing, Stressed
from pliant.energies.elastic import equivalent_stress
from pliant.errors import SceneError
from pliant.forces.base import Rubbing, Tensing
from pliant.record.frames import Frame, VtkCells
from pliant.state import State
from pliant.systems.acted import Acted
from pliant.systems.base import Composed, Parted, System, parts_of
from pliant.systems.observed import Acting, Moving, PartlyEulerian, Resting, Touching
from pliant.systems.stepped import Contacting
from pliant.systems.supports import support_forces


def topology_of(system: System, points: Array) -> tuple[VtkCells, list[IntArray]]:
    """The cells as files want them and as blocks; without any, every point is a cell of its own."""
    blocks = [np.asarray(block) for block in system.cells()] or [np.arange(len(points))[:, None]]
    return VtkCells.of(blocks), blocks


def known_channels(system: System, state: State) -> list[str]:
    """The channels that a system of this kind can tell."""
    found = ["velocity"] if _velocity(system, state) is not None else []
    found += ["displacement"] if _displacement(system, state) is not None else []
    parts = [part for part, _ in parts_of(system)]
    if any(able(part, Composed) for part in parts):
        found.append("elastic_force")
        found += ["contact_force", "friction_force"] if able(system, Touching) and _touched(system, state) else []
        found += CELL_CHANNELS if _stressed(system, state) else ()
    return [*found, *(["eulerian", "material"] if any(able(part, PartlyEulerian) for part in parts) else ())]


def frame_of(
    system: System,
    state: State,
    blocks: Sequence[IntArray],
    channels: Sequence[str] = (),
    acted: Any = None,
    leading: IntArray | None = None,
    support: Callable[[], Array | None] | None = None,
) -> Frame:
    """Positions and the asked channels of a state; forces at contacts are those that ``acted`` in the step to it.

    Where no step is known (the first frame, methods that do not tell), they are those of contacts detected there.
    ``leading`` are the vertices that the others follow, where the method has such; ``support`` finds what pins do.
    """
    points = np.asarray(system.positions(state.q), dtype=np.float64)
    point_values, cell_values = {}, {}
    told: dict[str, Callable[[], Array]] = {}
    if acted is not None:
        told |= {"contact_force": lambda: acted.contact, "friction_force": lambda: acted.friction}
    if leading is not None:
        told["leading"] = lambda: np.isin(np.arange(len(points)), leading).astype(np.float64)[:, None]
    if support is not None:
        told["reaction_force"] = lambda: _spatial(support(), len(points))
    for name in channels:
        if name in told:
            point_values[name] = told[name]()
        elif name in POINT_CHANNELS:
            point_values[name] = _spatial(POINT_CHANNELS[name](system, state), len(points))
        else:
            cell_values[name] = _cells(system, state, blocks, CELL_CHANNELS[name])
    return Frame(state.t, points, point_values, cell_values)


def check(channels: Sequence[str]) -> tuple[str, ...]:
    """The channels, if all are known."""
    known = [*POINT_CHANNELS, *CELL_CHANNELS]
    if isinstance(channels, str) or not isinstance(channels, Sequence):
        raise SceneError(f"channels are {channels!r}", where="output.channels", remedy="give a list of names")
    for name in channels:
        if name not in known:
            raise SceneError(f"unknown channel {name!r}", where="output.channels", remedy=f"use {', '.join(known)}")
    return tuple(channels)


def _spatial(values: Array | None, n: int) -> Array:
    """(n d,) -> (n, 3); NaN where the system does not know them; a table with n rows is what it is."""
    if values is None:
        return np.full((n, 3), np.nan)
    rows = values.reshape(n, -1)
    return rows if rows.shape[1] != 2 else np.column_stack([rows, np.zeros(n)])


def _by_parts(read: Callable[[Any, State], Array | None]) -> Callable[[Any, State], Array | None]:
    """A channel of points that every part of a system tells for itself; NaN for the parts that do not know it."""

    def values(system: System, state: State) -> Array | None:
        if not able(system, Parted):
            return read(system, state)
        each = [(part, State(state.q[own], state.v[own], state.t)) for part, own in parts_of(system)]
        return np.concatenate([_spatial(read(part, own), len(part.positions(own.q))) for part, own in each])

    return values


def _velocity(system: System, state: State) -> Array | None:
    """Velocities of the points."""
    if able(system, Composed):
        return state.v
    return system.point_jacobian(state.q) @ state.v if able(system, Moving) else None


def _displacement(system: System, state: State) -> Array | None:
    """From where the points are at rest [m]; vertices that slide through the material have no such place."""
    if able(system, PartlyEulerian) or not able(system, Resting):
        return None
    return system.positions(state.q) - system.positions(system.rest)


def _placed(system: System, state: State) -> Composed | None:
    """The system with the contacts of the state among its terms."""
    if not able(system, Composed):
        return None
    placed: Any = system.at(state, state.t) if able(system, Contacting) else system
    return placed


def _touched(system: Touching, state: State) -> bool:
    return system.contacts(state.q, state.v, state.t) is not None


def _elastic(system: System, state: State) -> Array | None:
    """Minus the gradients of the energies of the bodies' own shapes."""
    if not able(system, Composed):
        return None
    return sum((-e.gradient(state.q) for e in system.energy_terms if able(e, Internal)), np.zeros_like(state.q))


def _rubbing(placed: Composed, state: State, *, normal: bool) -> Array:
    """The normal or the tangential part of the forces at contacts that have no potential."""
    total = np.zeros_like(state.q)
    for force in placed.force_terms:
        if able(force, Rubbing) and force.normal == normal:
            total += force.force(state.q, state.v, state.t)
    return total


def _between(system: System, state: State) -> Acted | None:
    """The forces of contact between the parts of a system, detected where the state is."""
    placed: Any = system.at(state, state.t) if able(system, Contacting) else system
    return placed.acting(state.q, state.v, state.t) if able(placed, Acting) else None


def _contact(system: System, state: State) -> Array | None:
    """Minus the gradients of the contact energies, detected where the state is, and what damps along the normals."""
    placed = _placed(system, state)
    if placed is None:
        acted = _between(system, state)
        return None if acted is None else acted.contact
    pressing = (-e.gradient(state.q) for e in placed.energy_terms if able(e, Pressing))
    return sum(pressing, _rubbing(placed, state, normal=True))


def _friction(system: System, state: State) -> Array | None:
    """The forces at contacts along the surfaces."""
    placed = _placed(system, state)
    if placed is None:
        acted = _between(system, state)
        return None if acted is None else acted.friction
    return _rubbing(placed, state, normal=False)


def _eulerian(system: System, state: State) -> Array:
    """(n, 1): 1 at vertices that also move in the material (EOL cloth), 0 elsewhere."""
    mask = np.zeros((len(system.positions(state.q)), 1))
    mask[system.eol if able(system, PartlyEulerian) else []] = 1.0
    return mask


def _material(system: System, state: State) -> Array | None:
    """Where vertices are in the material [m], as coordinates of a texture: cloth may slide through its mesh."""
    return system.material_points(state.q) if able(system, PartlyEulerian) else None


@dataclass(frozen=True)
class _Stressed:
    """An energy that knows the stress in its elements, at its coordinates ``q``; ``first`` is its first point.

    Of a system of parts it counts coordinates and points from those of its part, whose muscles pull at time ``t``.
    """

    energy: Stressed
    q: Array
    t: float
    first: int
    muscles: tuple[Tensing, ...]

    def stress(self) -> Array:
        """With the active stress of muscles (m, 3, 3) [Pa]."""
        total = np.array(self.energy.stress(self.q))
        for muscle in self.muscles:
            k = _position(self.energy.elements.nodes, np.sort(muscle.cells, axis=1))
            if k >= 0:
                total[k : k + len(muscle.cells)] += muscle.stress(self.q, self.t)
        return total


def _layered(read: Callable[[Layered, Array], Array], width: tuple[int, ...]) -> Callable[[_Stressed], Array]:
    """A channel of energies that tell their elements apart; NaN for the others."""

    def values(at: _Stressed) -> Array:
        energy: Any = at.energy
        known = isinstance(energy, Layered)
        return read(energy, at.q) if known else np.full((len(energy.elements.nodes), *width), np.nan)

    return values


def _stressed(system: System, state: State) -> list[_Stressed]:
    """The energies that know the stress in their elements."""
    found: list[_Stressed] = []
    first = 0
    for part, own in parts_of(system):
        q = state.q[own]
        if able(part, Composed):
            muscles = tuple(f for f in part.force_terms if able(f, Tensing))
            found += [_Stressed(e, q, state.t, first, muscles) for e in part.energy_terms if able(e, Stressed)]
        first += len(part.positions(q))
    return found


def _cells(system: System, state: State, blocks: Sequence[IntArray], read: Callable[[_Stressed], Array]) -> Array:
    """One value per cell; NaN on cells that belong to no elastic energy."""
    energies = _stressed(system, state)
    parts: list[Array | None] = []
    for block in blocks:
        nodes = np.sort(block, axis=1)
        places = ((e, _position(e.energy.elements.nodes, nodes - e.first)) for e in energies)
        found = next(((e, k) for e, k in places if k >= 0), None)
        parts.append(None if found is None else read(found[0])[found[1] : found[1] + len(block)])
    width = next((part.shape[1:] for part in parts if part is not None), ())
    empty = [np.full((len(block), *width), np.nan) for block in blocks]
    return np.concatenate([none if part is None else part for part, none in zip(parts, empty, strict=True)])


def _position(all_nodes: IntArray, nodes: IntArray) -> int:
    """Where the rows ``nodes`` stand within those of an energy that may serve several bodies; -1 if they do not."""
    if all_nodes.shape[1] != nodes.shape[1]:
        return -1
    for start in np.flatnonzero((all_nodes == nodes[0]).all(axis=1)):
        if np.array_equal(all_nodes[start : start + len(nodes)], nodes):
            return int(start)
    return -1


def _green_strain(at: _Stressed) -> Array:
    """1/2 (F^T F - I), as (m, 9) with zeros for directions an element does not have."""
    F = at.energy.deformation(at.q)
    E = 0.5 * (np.einsum("mki,mkj->mij", F, F) - np.eye(F.shape[2]))
    full = np.zeros((len(E), 3, 3))
    full[:, : E.shape[1], : E.shape[2]] = E
    return full.reshape(-1, 9)


POINT_CHANNELS: dict[str, Callable[[Any, State], Array | None]] = {
    "velocity": _velocity,
    "displacement": _displacement,
    "elastic_force": _by_parts(_elastic),
    "contact_force": _contact,
    "friction_force": _friction,
    "reaction_force": support_forces,
    "eulerian": _by_parts(_eulerian),
    "material": _by_parts(_material),
    "leading": lambda system, state: None,  # known to the step, not to the system
}
CELL_CHANNELS: dict[str, Callable[[_Stressed], Array]] = {
    "stress": lambda at: at.stress().reshape(-1, 9),
    "von_mises": lambda at: equivalent_stress(at.stress()),
    "strain": _green_strain,
    "strain_energy": lambda at: at.energy.density(at.q),
    "det_F": lambda at: at.energy.det(at.q),
    "stiffness": _layered(lambda energy, q: energy.young(), ()),
    "fibre": _layered(lambda energy, q: energy.fibres(q), (3,)),
}

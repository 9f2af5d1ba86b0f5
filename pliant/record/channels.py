"""Named arrays of a state for files and pictures: velocities and forces per vertex, stress and strain per element."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.errors import SceneError
from pliant.record.frames import Frame, Topology
from pliant.state import State


def blocks_of(scene: Any, system: Any) -> list[IntArray]:
    """Cells over the rows of ``system.positions``: what the system says by ``cells()``, else the bodies' elements."""
    if hasattr(system, "cells"):
        return [np.asarray(block) for block in system.cells()]
    if hasattr(scene, "bodies") and hasattr(scene, "offsets"):
        return [body.mesh.T + first for body, first in zip(scene.bodies, scene.offsets(), strict=False)]
    return []


def topology_of(scene: Any, system: Any, points: Array) -> tuple[Topology, list[IntArray]]:
    """The cells as files want them and as blocks; without any, every point is a cell of its own."""
    blocks = blocks_of(scene, system) or [np.arange(len(points))[:, None]]
    return Topology.of(blocks), blocks


def frame_of(system: Any, state: State, blocks: Sequence[IntArray], channels: Sequence[str] = ()) -> Frame:
    """Positions and the asked channels of a state."""
    points = np.asarray(system.positions(state.q), dtype=np.float64)
    point_values, cell_values = {}, {}
    for name in channels:
        if name in POINT_CHANNELS:
            point_values[name] = _spatial(POINT_CHANNELS[name](system, state), len(points))
        else:
            cell_values[name] = _cells(system, state, blocks, CELL_CHANNELS[name])
    return Frame(state.t, points, point_values, cell_values)


def check(channels: Sequence[str]) -> tuple[str, ...]:
    """The channels, if all are known."""
    known = [*POINT_CHANNELS, *CELL_CHANNELS]
    for name in channels:
        if name not in known:
            raise SceneError(f"unknown channel {name!r}", where="output.channels", remedy=f"use {', '.join(known)}")
    return tuple(channels)


def _spatial(values: Array, n: int) -> Array:
    """(n d,) -> (n, 3); coordinates that are not positions give zeros; a table with n rows is what it is."""
    if values.ndim == 2:
        return values
    if len(values) not in (2 * n, 3 * n):
        return np.zeros((n, 3))
    rows = values.reshape(n, -1)
    return rows if rows.shape[1] == 3 else np.column_stack([rows, np.zeros(n)])


def _elastic(system: Any, state: State) -> Array:
    """Minus the gradients of all energies but gravity and attachments."""
    total = np.zeros_like(state.q)
    for energy in getattr(system, "energy_terms", ()):
        if energy.name not in ("gravity", "attachment"):
            total -= energy.gradient(state.q)
    return total


def _contact(system: Any, state: State) -> Array:
    """Minus the gradients of the contact energies, detected where the state is."""
    total = np.zeros_like(state.q)
    model = getattr(system, "contact", None)
    for energy in () if model is None else model.at(state, state.t).energies:
        total -= energy.gradient(state.q)
    return total


def _friction(system: Any, state: State) -> Array:
    total = np.zeros_like(state.q)
    for force in getattr(system, "force_terms", ()):
        if "friction" in force.name:
            total += force.force(state.q, state.v, state.t)
    return total


def _eulerian(system: Any, state: State) -> Array:
    """(n, 1): 1 at vertices that also move in the material (EOL cloth), 0 elsewhere."""
    mask = np.zeros((len(system.positions(state.q)), 1))
    mask[getattr(system, "eol", [])] = 1.0
    return mask


def _cells(system: Any, state: State, blocks: Sequence[IntArray], read: Callable[[Any, Array], Array]) -> Array:
    """One value per cell; NaN on cells that belong to no elastic energy."""
    energies = [e for e in getattr(system, "energy_terms", ()) if hasattr(e, "deformation")]
    parts: list[Array | None] = []
    for block in blocks:
        nodes = np.sort(block, axis=1)
        found = next(((e, k) for e in energies if (k := _position(e.elements.nodes, nodes)) >= 0), None)
        parts.append(None if found is None else read(found[0], state.q)[found[1] : found[1] + len(block)])
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


def _green_strain(energy: Any, q: Array) -> Array:
    """1/2 (F^T F - I), as (m, 9) with zeros for directions an element does not have."""
    F = energy.deformation(q)
    E = 0.5 * (np.einsum("mki,mkj->mij", F, F) - np.eye(F.shape[2]))
    full = np.zeros((len(E), 3, 3))
    full[:, : E.shape[1], : E.shape[2]] = E
    return full.reshape(-1, 9)


POINT_CHANNELS: dict[str, Callable[[Any, State], Array]] = {
    "velocity": lambda system, state: state.v,
    "elastic_force": _elastic,
    "contact_force": _contact,
    "friction_force": _friction,
    "eulerian": _eulerian,
}
CELL_CHANNELS: dict[str, Callable[[Any, Array], Array]] = {
    "stress": lambda energy, q: energy.stress(q).reshape(-1, 9),
    "von_mises": lambda energy, q: energy.von_mises(q),
    "strain": _green_strain,
    "strain_energy": lambda energy, q: energy.density(q),
    "det_F": lambda energy, q: energy.det(q),
}

"""Reactions of supports: the forces of pins and scripts on the vertices that they hold, r = M a - f."""

from typing import Any

import numpy as np

from pliant.abilities import able
from pliant.arrays import Array
from pliant.state import Reactions, State
from pliant.systems.base import Composed, Part, System, parts_of
from pliant.systems.closures import Constrained
from pliant.systems.observed import Acting
from pliant.systems.stepped import Contacting

MOMENT = 1e-5  # s: scripts are followed that far back to find their acceleration


def support_forces(
    system: System, state: State, *, static: bool = False, acted: Any = None, reactions: Reactions | None = None
) -> Array | None:
    """Forces (p, 3) [N] of pins and scripts on the points of a system, in the state a step arrives at.

    They are 0 on vertices that are free, NaN on points that are no vertices (of links) and where they are unknown; None
    where no part has vertices. ``static``: in an equilibrium, without velocities and inertia. ``acted`` and
    ``reactions`` are the contact and constraint forces of the step, where they are known.
    """
    if not any(able(part, Composed) for part, _ in parts_of(system)):
        return None
    q, t = state.q, state.t
    v = np.zeros_like(state.v) if static else state.v
    now = State(q, v, t)
    here = system.at(now, t, np.inf if static else 0.0) if able(system, Contacting) else system
    f = here.force(q, v, t) + _of_constraints(system, now, reactions)
    found = []
    for part, own in parts_of(system):
        n, of_vertices = len(part.positions(q[own])), able(part, Composed)
        if not of_vertices:
            found.append(np.full((n, 3), np.nan))
            continue
        r = -f[own] if static else part.inertia(q[own], _accelerations(part, q[own], f[own], t)) - f[own]
        r[part.free] = 0.0
        found.append(np.pad(r.reshape(n, -1), ((0, 0), (0, 3 - r.size // n))))
    held = np.concatenate(found)
    if acted is not None:  # instead of those that are found at the end of the step
        live = here.acting(q, v, t) if able(here, Acting) else None
        more = acted.contact + acted.friction - (0.0 if live is None else live.contact + live.friction)
        held -= np.where(_held(system, q), more, 0.0)
    return held


def _accelerations(part: Part, q: Array, f: Array, t: float) -> Array:
    """Of all coordinates: by the forces where they are free, right before t by the script where they are not."""
    driven = scripted(part, q, t, -MOMENT)
    return np.asarray(part.accelerated(q, f - part.inertia(q, driven)) + driven)


def scripted(system: System, q: Array, t: float, moment: float = MOMENT) -> Array:
    """Accelerations of prescribed coordinates right after t, or right before it (``moment`` < 0); 0 of all others."""
    weights = np.array([2.0, -5.0, 4.0, -1.0]) / moment**2  # the second derivative of the cubic through four moments
    now = system.prescribe(q, t)
    return np.asarray(sum(w * (system.prescribe(q, t + k * moment) - now) for k, w in enumerate(weights)))


def script_rates(system: System, q: Array, t: float) -> Array:
    """Velocities of prescribed coordinates right after t; 0 of all others."""
    weights = np.array([3.0, -1.5, 1.0 / 3.0]) / MOMENT  # the derivative of the cubic through four moments
    now = system.prescribe(q, t)
    return np.asarray(sum(w * (system.prescribe(q, t + k * MOMENT) - now) for k, w in enumerate(weights, 1)))


def _of_constraints(system: Any, state: State, reactions: Reactions | None) -> Array:
    """The forces of ties and loops on all coordinates; NaN where they act but are not known."""
    rows = system.closures(state.q, state.v, state.t) if able(system, Constrained) else None
    if rows is None:
        return np.zeros_like(state.q)
    if reactions is None or len(reactions.values) != rows.G.shape[0]:
        return np.where(np.asarray(abs(rows.G).sum(axis=0)).ravel() > 0.0, np.nan, 0.0)
    return np.asarray(rows.G.T @ reactions.values)


def _held(system: Any, q: Array) -> Array:
    """Which components of the points (p, 3) are prescribed."""
    found = []
    for part, own in parts_of(system):
        n, of_vertices = len(part.positions(q[own])), able(part, Composed)
        mask = np.zeros((n, 3), dtype=bool)
        if of_vertices:
            d = len(q[own]) // n
            held = np.ones(n * d, dtype=bool)
            held[part.free] = False
            mask[:, :d] = held.reshape(n, d)
        found.append(mask)
    return np.concatenate(found)

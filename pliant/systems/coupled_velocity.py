"""Coupled parts in the middle of a velocity step: their blocks, and all that acts between them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.abilities import able
from pliant.state import State
from pliant.systems.coupled_step import CoupledStep, prepared_parts
from pliant.systems.coupling_rows import Ties
from pliant.systems.pressed_step import Pressed
from pliant.systems.row_contact import RowModel
from pliant.systems.stepped import Reducible
from pliant.systems.ties import tie_gaps
from pliant.velocity_step import Linearisation, Prepared, Remeshing

if TYPE_CHECKING:
    from pliant.systems.coupled import Coupled


def prepared(system: "Coupled", state: State, h: float, memory: Any, how: Linearisation) -> Prepared:
    """The blocks of all parts with the rows of ties and contacts; springs and penalties between them are added."""
    states = system.states(state)
    together = prepared_parts(system.parts, states, h, memory, how, system.shown)
    fresh = [p.remeshed if able(p, Remeshing) else None for p in together]
    if any(f is not None for f in fresh):  # everything between the parts is that of the meshes just made
        states = [s if f is None else f[1] for s, f in zip(states, fresh, strict=True)]
        state = State(np.concatenate([s.q for s in states]), np.concatenate([s.v for s in states]), state.t)
    now = system.rebuilt(tuple(None if f is None else f[0] for f in fresh))
    return _stepping(now, together, states, state, h, how)


def _stepping(
    system: "Coupled", prepared: Sequence[Prepared], states: list[State], state: State, h: float, how: Linearisation
) -> Prepared:
    """The prepared parts with all that acts between them."""
    ties = None
    if system.ties is not None and system.tied is not None:
        gap = tie_gaps(system.ties, system.points.lift(state.q)).reshape(-1, system.dim)
        ties = Ties(*system.tied, gap)
    touches = None
    if isinstance(system.contact, RowModel):
        at = system.touched(state)
        touches = system.contact.touches(at.q.reshape(-1, 3), at.v.reshape(-1, 3), state.t, h)
        if system.rows is not None:
            touches = touches.renumbered(system.rows, len(system.points.lift(state.q)) // 3)
        if ties is not None:
            touches = touches.apart(ties)
    coupled = CoupledStep(
        prepared,
        states,
        h,
        ties=ties,
        touches=touches,
        shown=system.shown,
        rebuild=lambda _: system,
        place=lambda end: _placed(system, end),
        join=system.join,
        closing=how.closing(h),
    )
    stage = system.at(state, state.t + h)
    terms = stage.energy_terms, stage.force_terms
    setting = None if system.contact is None else system.contact.setting
    return Pressed(coupled, *terms, state, h, how.beta, setting) if any(terms) else coupled


def _placed(system: "Coupled", state: State) -> State:
    """The state with tied vertices of reduced bodies exactly where they belong, as their other vertices expect."""
    if system.ties is None or system.tied is None:
        return state
    q = state.q.copy()
    gap = (system.ties @ system.points.lift(q)).reshape(-1, system.dim)
    first = 0
    for part, s in zip(system.parts, system.slices, strict=True):
        count = len(part.positions(part.rest))
        if able(part, Reducible) and part.reduction is not None:
            mine = system.tied[0][:, 0] - first
            own = np.flatnonzero((mine >= 0) & (mine < count))
            q[s.start + (system.dim * mine[own][:, None] + np.arange(system.dim))] -= gap[own]
        first += count
    return State(q, state.v, state.t)

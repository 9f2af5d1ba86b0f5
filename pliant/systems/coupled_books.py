"""What coupled parts tell: energies, forces and contacts of all of them together, and of what acts between them."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.abilities import able
from pliant.arrays import Array
from pliant.forces.base import Lagged
from pliant.pattern import empty
from pliant.state import State
from pliant.systems.base import Composed, distinct
from pliant.systems.contact import Touch
from pliant.systems.observed import Working
from pliant.systems.shown import Watching
from pliant.systems.stepped import Dissipating, Steepness

if TYPE_CHECKING:
    from pliant.systems.coupled import Coupled

SHARED = ("kinetic", "gravity")  # energies of all parts together; others are those of one part each


def potential(system: "Coupled", q: Array, t: float) -> float | None:
    if system.contact is not None:
        return system.at(State(q, np.zeros_like(q), t), t).potential(q, t)
    own = system.each(lambda p, x: p.potential(x, t), q)
    if any(W is None for W in own) or not all(f.lagged for f in system.force_terms):
        return None
    return sum(own) + sum(e.value(q) for e in system.energy_terms)


def steep(system: "Coupled", q: Array, v: Array, t: float, c: float) -> Steepness | None:
    """Of contact and springs between the parts, and of what acts on vertices.

    None with friction that follows its load: it is steep and has no potential.
    """
    if not all(force.lagged for force in system.force_terms):
        return None
    own = [(s, _steep_part(p, q[s], v[s], t, c)) for p, s in zip(system.parts, system.slices, strict=True)]
    known = [(s, found) for s, found in own if found is not None]

    def at(q: Array, v: Array) -> tuple[float, Callable[[], Array]]:
        parts = [(s, *found(q[s], v[s])) for s, found in known]
        W = sum(e.value(q) for e in system.energy_terms) + sum(c * f.dissipation(q, v) for f in system.force_terms)

        def slope() -> Array:
            g = np.zeros_like(q)
            for energy in system.energy_terms:
                g += energy.gradient(q)
            for force in system.force_terms:
                g += force.sloping(q, v, t, c)
            for s, _, rise in parts:
                g[s] += rise()
            return g

        return W + sum(own for _, own, _ in parts), slope

    return at


def _steep_part(part: Any, q: Array, v: Array, t: float, c: float) -> Steepness | None:
    """The same of one part; forces on vertices that follow their positions damp with the matrix of (q, v)."""
    if part.potential(q, t) is not None:
        lost = part.dissipation if able(part, Dissipating) else lambda q, v: 0.0
        return lambda q, v: (part.potential(q, t) + c * lost(q, v), lambda: -part.force(q, v, t))
    if not able(part, Composed):
        return None
    lagged = [f for f in part.force_terms if able(f, Lagged) and f.lagged]
    others = [f for f in part.force_terms if not (able(f, Lagged) and f.lagged)]
    D = sum((f.damping(q, v, t) for f in others), empty(len(q), len(q)))

    def at(q: Array, v: Array) -> tuple[float, Callable[[], Array]]:
        W = sum(e.value(q) for e in part.energy_terms)
        lost = sum(f.dissipation(q, v) for f in lagged) - 0.5 * float(v @ (D @ v))
        return W + c * lost, lambda: sum(
            [*(e.gradient(q) for e in part.energy_terms), *(-f.force(q, v, t) for f in lagged)], -(D @ v)
        )

    return at


def contacts(system: "Coupled", q: Array, v: Array, t: float) -> Touch | None:
    """Points, normals, gaps and forces of all contacts between parts; None for a system without contact.

    Cloth that is shown the others comes after the bodies of the contact model, in the order of the parts.
    """
    found: list[Touch | None] = []
    if system.contact is not None:
        x = system.touched(State(q, v, t))
        found.append(system.contact.touch(x.q, x.v, t))
    states = system.states(State(q, v, t))
    live = system.shown.placements(system.parts, states)
    names = [] if system.contact is None else list(system.contact.setting.names)
    bodies = np.array([names.index(name) for *_, name in system.shown.bodies], dtype=np.int64)
    for k, part in enumerate(system.parts):
        if able(part, Watching):
            own = part.contacts(states[k].q, states[k].v, t, live)
            found.append(None if own is None else own.placed(len(names) + len(found), bodies))
    known = [touch for touch in found if touch is not None]
    return Touch.joined(known) if found and len(known) == len(found) else None


def power(system: "Coupled", q: Array, v: Array, t: float) -> dict[str, float]:
    out = dict.fromkeys(system.works, 0.0)
    for own in system.each(lambda p, x, u: p.power(x, u, t) if able(p, Working) else {}, q, v):
        for name, value in own.items():
            out[name] += value
    return out


def energies(system: "Coupled", q: Array, v: Array, t: float) -> dict[str, float]:
    """Of all parts and of what acts between them, by name [J]."""
    if system.contact is not None:
        return system.at(State(q, v, t), t).energies(q, v, t)
    out: dict[str, float] = {"kinetic": 0.0}
    between: dict[str, float] = {}
    for e in system.energy_terms:
        between[e.name] = between.get(e.name, 0.0) + e.value(q)
    for own in (*system.each(lambda p, x, u: p.energies(x, u, t), q, v), between):
        for name, value in own.items():
            label = name if name in SHARED else distinct([*(k for k in out if k not in SHARED), name])[-1]
            out[label] = out.get(label, 0.0) + value
    return out

"""What coupled parts tell: energies, forces and contacts of all of them together, and of what acts between them."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from pliant.abilities import able
from pliant.arrays import Array
from pliant.state import State
from pliant.systems.base import distinct
from pliant.systems.contact import Touch
from pliant.systems.observed import Working
from pliant.systems.shown import Watching
from pliant.systems.stepped import Dissipating

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


def steep(system: "Coupled", q: Array, v: Array, t: float, c: float) -> tuple[float, Callable[[], Array]] | None:
    """Of contact and springs between the parts, and of the parts that have a potential.

    None with friction that follows its load: it is steep and has no potential.
    """
    if not all(force.lagged for force in system.force_terms):
        return None
    W = sum(e.value(q) for e in system.energy_terms) + sum(c * f.dissipation(q, v) for f in system.force_terms)
    elastic = []
    for part, s in zip(system.parts, system.slices, strict=True):
        own = part.potential(q[s], t)
        if own is not None:
            lost = part.dissipation(q[s], v[s]) if able(part, Dissipating) else 0.0
            W += own + c * lost
            elastic.append((part, s))

    def slope() -> Array:
        g = np.zeros_like(q)
        for energy in system.energy_terms:
            g += energy.gradient(q)
        for force in system.force_terms:
            g += force.sloping(q, v, t, c)
        for part, s in elastic:
            g[s] -= part.force(q[s], v[s], t)
        return g

    return W, slope


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

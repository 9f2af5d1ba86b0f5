"""The work of bodies on each other: contact forces of a step times the displacements of the two sides.

A contact between a and b pushes with f_r on the vertices of both:

    work of b on a = sum_r f_r . dx_r over the vertices of a,    work of a on b the same over those of b

Their sum is what the contact has not stored and rubbing has not taken.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from pliant.abilities import able
from pliant.arrays import Array, IntArray
from pliant.contact.contacts import ContactForces
from pliant.contact.setting import Setting
from pliant.energies.base import Pressing
from pliant.forces.base import Rubbing
from pliant.state import State
from pliant.systems.base import Quadrature, distinct
from pliant.systems.contact import ContactModel, Terms


@dataclass(frozen=True, eq=False)
class Met:
    """Who may touch in a scene, and the contact terms ``at`` a state: in a stage always its own."""

    setting: Setting
    at: Callable[[State], Terms]


def met(model: ContactModel | None, setting: Setting | None, stage: Terms) -> Met | None:
    """Of a system with a contact ``model``, or of a ``stage`` with a ``setting``; None without contact."""
    if setting is not None:
        return Met(setting, lambda s: stage)
    return None if model is None else Met(model.setting, lambda s: model.at(s, s.t))


def parties(setting: Setting) -> list[str]:
    """Distinct names of the bodies, then of the obstacles."""
    return distinct([*setting.names, *(obstacle.name for obstacle in setting.obstacles)])


def pairs(setting: Setting) -> tuple[tuple[str, str], ...]:
    """Two bodies that can touch, or a body and an obstacle that moves, in both orders: what stands does no work."""
    names, b, group = parties(setting), len(setting.meshes), setting.group
    others = [[j for j in range(i + 1, b) if group[i] < 0 or group[i] != group[j]] for i in range(b)]
    found = [(names[i], names[j]) for i in range(b) for j in (*others[i], *_moving(setting))]
    return (*found, *((second, first) for first, second in found))


def exchanges(here: Met, before: State, after: State, quadrature: Quadrature) -> dict[tuple[str, str], float]:
    """(a, b) -> the work [J] of a on b by contact, for those that met, between ``before`` and ``after``."""
    setting = here.setting
    dx = (after.q - before.q).reshape(-1, 3)
    passages, dt = setting.passages(before.t, after.t), after.t - before.t
    work = nothing(setting)
    for s, weight in quadrature:
        x = s.q.reshape(-1, 3)
        for pushes in forces(here.at(s), s):
            ways, contacts = np.zeros_like(pushes.contacts.drift), pushes.contacts
            for k, passage in enumerate(passages):
                met = contacts.other == -1 - k
                ways[met] = dt * passage.velocity(contacts.relative(x)[met])
            work += weight * works(setting, setting.body, pushes, dx, ways)
    return told(setting, work)


def nothing(setting: Setting) -> Array:
    """No work [J] of anybody (row) on anybody (column): bodies, then obstacles."""
    return np.zeros((len(setting.meshes) + len(setting.obstacles),) * 2)


def works(setting: Setting, owner: IntArray, pushes: ContactForces, dx: Array, ways: Array) -> Array:
    """The work [J] of each body (row) on each (column): forces times the displacements ``dx (n, 3)`` of their nodes.

    ``owner (n,)`` are the bodies of the vertices, ``ways (c, 3)`` go the obstacles, which are pushed back.
    """
    b, contacts, work = len(setting.meshes), pushes.contacts, nothing(setting)
    first = owner[contacts.nodes[:, 0]]
    second = np.where(contacts.other >= 0, contacts.other, b - 1 - contacts.other)
    done = (pushes.forces * dx[pushes.nodes]).sum(axis=2)
    mine = owner[pushes.nodes] == first[:, None]
    back = np.where(contacts.other < 0, (pushes.forces.sum(axis=1) * ways).sum(axis=1), 0.0)
    np.add.at(work, (second, first), np.where(mine, done, 0.0).sum(axis=1))
    np.add.at(work, (first, second), np.where(mine, 0.0, done).sum(axis=1) - back)
    return work


def told(setting: Setting, work: Array) -> dict[tuple[str, str], float]:
    """(a, b) -> the work of a on b, for those that met: not within a body, nor of what stands."""
    names = parties(setting)
    moving = {*range(len(setting.meshes)), *_moving(setting)}
    return {(names[i], names[j]): float(work[i, j]) for i, j in np.argwhere(work) if i != j and {i, j} <= moving}


def _moving(setting: Setting) -> list[int]:
    """Obstacles that move, as numbers among the parties."""
    return [len(setting.meshes) + k for k, obstacle in enumerate(setting.obstacles) if obstacle.motion is not None]


def forces(terms: Terms, s: State) -> Iterator[ContactForces]:
    """The forces at the contacts in a state, term by term."""
    for energy in terms.energies:
        if able(energy, Pressing):
            yield energy.pushes(s.q)
    for force in terms.forces:
        if able(force, Rubbing):
            yield force.pushes(s.q, s.v)


def pushed(here: Met, before: State, after: State, quadrature: Quadrature) -> float:
    """Normal contact forces times the displacements of their obstacles [J]; friction is in the ledger as friction."""
    setting = here.setting
    if all(obstacle.motion is None for obstacle in setting.obstacles):
        return 0.0
    done, passages = 0.0, setting.passages(before.t, after.t)
    for s, weight in quadrature:
        for energy in here.at(s).energies:
            if not able(energy, Pressing):
                continue
            contacts, f_n = energy.loads(s.q)  # type: ignore[attr-defined]
            points = contacts.relative(s.q.reshape(-1, 3))
            for k, passage in enumerate(passages):
                met = contacts.other == -1 - k
                along = (contacts.normals[met] * passage.velocity(points[met])).sum(axis=1)
                done += weight * (after.t - before.t) * float(f_n[met] @ along)
    return done

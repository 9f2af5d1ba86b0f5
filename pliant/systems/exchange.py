"""Who did how much work on whom: contact forces of a step times the ways of the two sides they act on.

A contact between a and b pushes with f_r on the vertices of both:

    work of b on a = sum_r f_r . dx_r over the vertices of a,    work of a on b the same over those of b

Their sum is what the contact has not stored and rubbing has not taken.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from pliant.contact.contacts import ContactForces
from pliant.contact.setting import Setting
from pliant.energies.base import Pressing
from pliant.forces.base import Rubbing
from pliant.state import State
from pliant.systems.base import Quadrature, distinct


def parties(setting: Setting) -> list[str]:
    """Distinct names of the bodies, then of the obstacles."""
    return distinct([*setting.names, *(obstacle.name for obstacle in setting.obstacles)])


def pairs(setting: Setting) -> tuple[tuple[str, str], ...]:
    """Two different bodies, or a body and an obstacle that moves, in both orders: what stands still does no work."""
    names, b = parties(setting), len(setting.meshes)
    found = [(names[i], names[j]) for i in range(b) for j in (*range(i + 1, b), *_moving(setting))]
    return (*found, *((second, first) for first, second in found))


def exchanges(model: Any, before: State, after: State, quadrature: Quadrature) -> dict[tuple[str, str], float]:
    """(a, b) -> the work [J] of a on b by contact, for those that met, between ``before`` and ``after``."""
    setting: Setting = model.setting
    names, b = parties(setting), len(setting.meshes)
    dx = (after.q - before.q).reshape(-1, 3)
    passages, dt = setting.passages(before.t, after.t), after.t - before.t
    work = np.zeros((len(names), len(names)))  # [by, on]
    for s, weight in quadrature:
        x = s.q.reshape(-1, 3)
        for pushes in forces(model, s):
            contacts = pushes.contacts
            first = setting.body[contacts.nodes[:, 0]]
            second = np.where(contacts.other >= 0, contacts.other, b - 1 - contacts.other)
            done = weight * (pushes.forces * dx[pushes.nodes]).sum(axis=2)
            mine = setting.body[pushes.nodes] == first[:, None]
            np.add.at(work, (second, first), np.where(mine, done, 0.0).sum(axis=1))
            np.add.at(work, (first, second), np.where(mine, 0.0, done).sum(axis=1))
            for k, passage in enumerate(passages):
                met = contacts.other == -1 - k
                way = dt * passage.velocity(contacts.relative(x)[met])
                np.add.at(work, (first[met], b + k), -weight * (pushes.forces[met].sum(axis=1) * way).sum(axis=1))
    np.fill_diagonal(work, 0.0)  # within a body
    told = {*range(b), *_moving(setting)}
    return {(names[i], names[j]): float(work[i, j]) for i, j in np.argwhere(work) if i in told and j in told}


def _moving(setting: Setting) -> list[int]:
    """Obstacles that move, as numbers among the parties."""
    return [len(setting.meshes) + k for k, obstacle in enumerate(setting.obstacles) if obstacle.motion is not None]


def forces(model: Any, s: State) -> Iterator[ContactForces]:
    """The forces at the contacts of a state, term by term."""
    terms = model.at(s, s.t)
    for energy in terms.energies:
        if isinstance(energy, Pressing):
            yield energy.pushes(s.q)
    for force in terms.forces:
        if isinstance(force, Rubbing):
            yield force.pushes(s.q, s.v)


def pushed(model: Any, before: State, after: State, quadrature: Quadrature) -> float:
    """Normal contact forces times the ways of the obstacles they act at [J]; their friction is booked as friction."""
    setting: Setting = model.setting
    if all(obstacle.motion is None for obstacle in setting.obstacles):
        return 0.0
    done, passages = 0.0, setting.passages(before.t, after.t)
    for s, weight in quadrature:
        for energy in model.at(s, s.t).energies:
            contacts, f_n = energy.loads(s.q)
            points = contacts.relative(s.q.reshape(-1, 3))
            for k, passage in enumerate(passages):
                met = contacts.other == -1 - k
                along = (contacts.normals[met] * passage.velocity(points[met])).sum(axis=1)
                done += weight * (after.t - before.t) * float(f_n[met] @ along)
    return done

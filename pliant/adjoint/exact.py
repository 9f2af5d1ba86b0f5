"""Exact derivatives of forces: what solvers leave out because it is not symmetric belongs into gradients.

Friction depends on positions through the normal forces, those of the same moment or, where they are lagged, those of
the state that a stage set out from. Contacts couple a few vertices each, so these derivatives are differenced for many
vertices at once: those of one colour have no contact in common.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.contact.contacts import Contacts
from pliant.forces.base import Approximating, Force, Lagged, Rubbing
from pliant.state import State
from pliant.systems.base import Composed, Weights
from pliant.systems.elastodynamics import Elastodynamics

STEP = 1e-7  # of the size of the system, for central differences


def exact_tangent(
    system: Any, q: Array, v: Array, t: float, weights: Weights, a: Array | None
) -> tuple[sp.csr_matrix, bool]:
    """w_M M - w_D D - w_K df/dq over all coordinates, unprojected, and whether it is symmetric."""
    A, symmetric = system.tangent(q, v, t, weights, psd=False, a=a), system.symmetric
    for force in _forces(system, q, v, t):
        left_out = _left_out(force, q, v, t, system.scale)
        if left_out is not None:
            A, symmetric = A - weights[2] * left_out, False
    return sp.csr_matrix(A), symmetric


def _forces(system: Any, q: Array, v: Array, t: float) -> Sequence[Force]:
    """The forces of a system, contacts found where it is asked."""
    if isinstance(system, Elastodynamics) and system.contact is not None:
        system = system.at(State(q, v, t), t)
    return system.force_terms if isinstance(system, Composed) else ()


def _left_out(force: Force, q: Array, v: Array, t: float, scale: float) -> sp.csr_matrix | None:
    """df/dq less ``stiffness``; None where that is whole."""
    if isinstance(force, Approximating):
        return force.exact_stiffness(q, v, t) - force.stiffness(q, v, t)
    if isinstance(force, Rubbing) and not _lagged(force):
        contacts, _ = force.on_contacts(q, v)
        return differenced(lambda x: force.force(x, v, t), q, contacts, scale) if len(contacts) else None
    return None


def _lagged(force: Force) -> bool:
    return isinstance(force, Lagged) and force.lagged


def start_slope(system: Any, start: State, q: Array, v: Array, t: float) -> sp.csr_matrix | None:
    """df/dq_start of the forces that a stage from ``start`` lags; None where there are none."""
    if not isinstance(system, Elastodynamics) or system.contact is None:
        return None
    model = system.contact

    def lagged(x: Array) -> list[Force]:
        return [f for f in model.at(State(x, start.v, start.t), t).forces if _lagged(f)]

    found = [f.on_contacts(q, v)[0] for f in lagged(start.q) if isinstance(f, Rubbing)]
    if not any(len(c) for c in found):
        return None
    total = lambda x: sum((f.force(q, v, t) for f in lagged(x)), np.zeros_like(q))
    return sum(differenced(total, start.q, c, system.scale) for c in found if len(c))


def differenced(f: Callable[[Array], Array], x: Array, contacts: Contacts, scale: float) -> sp.csr_matrix:
    """df/dx of a force on contacts, by central differences of vertices of one colour at a time."""
    n = len(x) // 3
    used = contacts.weights != 0.0
    owner = np.repeat(np.arange(len(contacts)), used.sum(axis=1))
    B = sp.csr_matrix((np.ones(len(owner)), (owner, contacts.nodes[used])), shape=(len(contacts), n))
    P = sp.csr_matrix(B.T @ B)  # vertices that share a contact
    colours, step = _coloured(P), STEP * scale
    rows, columns, values = [], [], []
    pairs = P.tocoo()
    for colour in range(int(colours.max(initial=-1)) + 1):
        mine = colours[pairs.col] == colour
        i, j = pairs.row[mine], pairs.col[mine]
        for axis in range(3):
            d = np.zeros((n, 3))
            d[colours == colour, axis] = step
            rate = ((f(x + d.ravel()) - f(x - d.ravel())) / (2.0 * step)).reshape(n, 3)
            rows.append((3 * i[:, None] + np.arange(3)).ravel())
            columns.append(np.repeat(3 * j + axis, 3))
            values.append(rate[i].ravel())
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return sp.csr_matrix(entries, shape=(len(x), len(x)))


def _coloured(P: sp.csr_matrix) -> IntArray:
    """A colour for every vertex with contacts, -1 for the others; vertices of one colour have no neighbour in common."""
    far = sp.csr_matrix(P @ P)
    colours = np.full(P.shape[0], -1)
    for i in np.flatnonzero(np.diff(P.indptr)):
        taken = set(colours[far.indices[far.indptr[i] : far.indptr[i + 1]]])
        colours[i] = next(k for k in range(len(taken) + 1) if k not in taken)
    return colours

"""Exact derivatives of forces: what solvers leave out because it is not symmetric belongs into gradients.

Friction depends on positions through the normal forces: those of the same moment or, where they are lagged, those of
the state that a stage set out from. A contact couples few coordinates, so these derivatives are differenced for many
coordinates at once: those of one colour have no contact in common.
"""

from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.forces.base import Approximating, Force, Lagged, PartlyIndefinite, Rubbing
from pliant.maps.points import ForceOnPoints
from pliant.pattern_making import coloured
from pliant.state import State
from pliant.systems.base import Composed, Parted, System, Weights
from pliant.systems.stepped import Contacting

STEP = 1e-7  # of the size of the system, for central differences


def exact_tangent(
    system: System, q: Array, v: Array, t: float, weights: Weights, a: Array | None
) -> tuple[sp.csr_matrix, bool]:
    """w_M M - w_D D - w_K df/dq over all coordinates, unprojected, and whether it is symmetric."""
    A, symmetric = system.tangent(q, v, t, weights, psd=False, a=a), system.symmetric
    for where, left_out in _left_out(system, q, v, t):
        A, symmetric = A - weights[2] * _placed(left_out, where, len(q)), False
    return sp.csr_matrix(A), symmetric


def _left_out(system: System, q: Array, v: Array, t: float) -> Iterator[tuple[slice, sp.csr_matrix]]:
    """df/dq less ``stiffness`` of every force that does not provide all of it, and the coordinates it is for."""
    if isinstance(system, Contacting):
        system = system.at(State(q, v, t), t)
    if isinstance(system, Parted):
        for part, s in zip(system.parts, system.slices, strict=True):
            for where, missing in _left_out(part, q[s], v[s], t):
                yield slice(s.start + where.start, s.start + where.stop), missing
    forces = (
        system.between if isinstance(system, Parted) else system.force_terms if isinstance(system, Composed) else ()
    )
    for force in forces:
        missing = _missing(force, q, v, t, system.scale)
        if missing is not None:
            yield slice(0, len(q)), missing


def _missing(force: Force, q: Array, v: Array, t: float, scale: float) -> sp.csr_matrix | None:
    """df/dq less what the tangent of a system has of it; None where that is whole."""
    if isinstance(force, Approximating):
        return force.exact_stiffness(q, v, t) - force.stiffness(q, v, t)
    P = _coupling(force, q, v)
    if P is None:
        return None
    known = force.stiffness(q, v, t)
    if isinstance(force, PartlyIndefinite):
        known = known + force.indefinite(q, v, t)
    return differenced(lambda x: force.force(x, v, t), q, P, scale) - known


def start_slope(system: System, start: State, q: Array, v: Array, t: float, c: float = 0.0) -> sp.csr_matrix | None:
    """df/dq_start of the forces that a stage from ``start`` lags; None where there are none."""
    scale = system.scale
    if not isinstance(system, Contacting):
        return None

    def lagged(x: Array) -> list[Force]:
        live = system.at(State(x, start.v, start.t), t, c)
        forces = live.between if isinstance(live, Parted) else live.force_terms
        return [f for f in forces if _lagged(f)]

    found = [P for f in lagged(start.q) if (P := _coupling(f, start.q, v)) is not None]
    if not found:
        return None
    total = lambda x: sum((f.force(q, v, t) for f in lagged(x)), np.zeros_like(q))
    return differenced(total, start.q, sp.csr_matrix(sum(found)), scale)


def _lagged(force: Force) -> bool:
    return isinstance(force, Lagged) and force.lagged


def _coupling(force: Force, q: Array, v: Array) -> sp.csr_matrix | None:
    """Which coordinates meet in the contacts of a force (N, N); None where there are none."""
    if isinstance(force, ForceOnPoints):
        J = force.points.jacobian(q)
        P = _coupling(force.inner, force.points.lift(q), J @ v)
        J = abs(J)
        return None if P is None else sp.csr_matrix(J.T @ P @ J)
    if not isinstance(force, Rubbing):
        return None
    nodes: IntArray = force.pushes(q, v).nodes
    if not nodes.size:
        return None
    owner = np.repeat(np.arange(len(nodes)), nodes.shape[1])
    B = sp.csr_matrix((np.ones(nodes.size), (owner, nodes.ravel())), shape=(len(nodes), len(q) // 3))
    return sp.csr_matrix(sp.kron(B.T @ B, np.ones((3, 3))))


def differenced(f: Callable[[Array], Array], x: Array, P: sp.csr_matrix, scale: float) -> sp.csr_matrix:
    """df/dx with the entries of P, by central differences along all coordinates of a colour at once."""
    colours, step = coloured(P), STEP * scale
    entries = P.tocoo()
    values = np.zeros(len(entries.row))
    for colour in range(int(colours.max(initial=-1)) + 1):
        d = step * (colours == colour)
        rate = (f(x + d) - f(x - d)) / (2.0 * step)
        mine = colours[entries.col] == colour
        values[mine] = rate[entries.row[mine]]
    return sp.csr_matrix((values, (entries.row, entries.col)), shape=P.shape)


def _placed(A: sp.csr_matrix, where: slice, size: int) -> sp.csr_matrix:
    """A at its place among all coordinates."""
    if A.shape[0] == size:
        return A
    B = A.tocoo()
    return sp.csr_matrix((B.data, (B.row + where.start, B.col + where.start)), shape=(size, size))

"""Functions of points as functions of coordinates: x = x(q), whatever the coordinates are.

    W(q) = W(x(q))        gradient J^T g        Hessian J^T H J + d(J^T g)/dq        J = dx/dq
    f(q, v) = J^T f(x, J v)                     damping J^T D J

The second term of the Hessian is left out with psd=True, and always for forces: J^T H J is then semidefinite.
"""

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from pliant.abilities import able
from pliant.arrays import Array, IntArray
from pliant.contact.contacts import Remembered
from pliant.energies.base import Energy, Limiting, Pairing
from pliant.forces.base import Force, Lagged, PartlyIndefinite, Rubbing
from pliant.pattern import added, csr, empty, pulled_back, times, transposed_times

PIECES = 64  # into which a curved way is cut at most
SOFT = 0.1  # least eigenvalue of a projected matrix, in masses
CLOSE = 0.25  # part of the least distance by which a piece of the way may bend


class PointMap(Protocol):
    """Where points are, flat (3 p,) [m], and how they move; ``dofs`` are theirs among all (None: all of them)."""

    dofs: IntArray | None

    def lift(self, q: Array) -> Array: ...

    def jacobian(self, q: Array) -> sp.csr_matrix: ...

    def curvature(self, q: Array, g: Array) -> sp.csr_matrix: ...


@runtime_checkable
class Nearing(Limiting, Protocol):
    """A `Limiting` energy of contacts that knows its least distance and can keep a distance along the path."""

    def nearest(self, x: Array) -> float:
        """The least distance at x [m], or that at which contact begins if nothing is closer."""
        ...

    def limit(self, x: Array, dx: Array, apart: float = 0.0) -> float: ...


class OnPoints:
    """An energy of points as an energy of coordinates."""

    def __init__(self, energy: Energy, points: PointMap) -> None:
        self.energy, self.points, self.name = energy, points, energy.name
        self.gradient = Remembered(self._gradient)  # for the residual, and again for the slope of a potential

    def value(self, q: Array) -> float:
        return self.energy.value(self.points.lift(q))

    def _gradient(self, q: Array) -> Array:
        g = self.energy.gradient(self.points.lift(q))
        return transposed_times(self.points.jacobian(q), g) if g.any() else np.zeros_like(q)  # nothing touches, mostly

    def hessian(self, q: Array, *, psd: bool = False) -> sp.csr_matrix:
        return tangent_of([self], [], (q, np.zeros_like(q), 0.0), (0.0, 0.0, 1.0), psd=psd)

    def on_points(self, x: Array, *, psd: bool, persistent: bool) -> sp.csr_matrix:
        """The Hessian over the points; ``persistent`` without the blocks that couple the two sides of a contact."""
        energy = self.energy
        chosen = energy.persistent_hessian if persistent and able(energy, Pairing) else energy.hessian
        return chosen(x, psd=psd)

    def limit(self, q: Array, dq: Array) -> float:
        """The largest s for which x(q + s dq) is admissible all along the way."""
        return limit_of([self], q, dq)


class ForceOnPoints:
    """A force on points as a force on coordinates.

    In a step of length c from points x_0, ``since`` = (x_0, c), velocities are (x(q) - x_0)/c: a lagged force then has
    a potential in q.
    """

    def __init__(self, inner: Force, points: PointMap, since: tuple[Array, float] | None = None) -> None:
        self.inner, self.points, self.name, self.since = inner, points, inner.name, since
        self.lagged = able(inner, Lagged) and inner.lagged

    def _at(self, q: Array, v: Array) -> tuple[Array, Array, sp.csr_matrix]:
        J, x = self.points.jacobian(q), self.points.lift(q)
        return x, times(J, v) if self.since is None else (x - self.since[0]) / self.since[1], J

    def force(self, q: Array, v: Array, t: float) -> Array:
        x, u, J = self._at(q, v)
        f = self.inner.force(x, u, t)
        return transposed_times(J, f) if f.any() else np.zeros_like(q)  # nothing touches, mostly

    def on(self, q: Array, v: Array, t: float) -> Array:
        """The force on the points."""
        x, u, _ = self._at(q, v)
        return self.inner.force(x, u, t)

    def dissipation(self, q: Array, v: Array) -> float:
        x, u, _ = self._at(q, v)
        assert able(self.inner, Lagged)
        return self.inner.dissipation(x, u)

    def sloping(self, q: Array, v: Array, t: float, c: float) -> Array:
        """The slope -J^T f - c d(J^T f)/dq v of c P(J(q) v) of a lagged force where v changes by dq/c."""
        x, u, J = self._at(q, v)
        f = self.inner.force(x, u, t)
        return -transposed_times(J, f) - c * times(self.points.curvature(q, f), v)

    def stiffness(self, q: Array, v: Array, t: float) -> sp.csr_matrix:
        x, u, J = self._at(q, v)
        return pulled_back(J, self.inner.stiffness(x, u, t))

    def damping(self, q: Array, v: Array, t: float) -> sp.csr_matrix:
        x, u, J = self._at(q, v)
        return pulled_back(J, self.inner.damping(x, u, t))

    def on_points(self, q: Array, v: Array, t: float, *, persistent: bool) -> sp.csr_matrix:
        """The damping over the points; ``persistent`` without the blocks that couple the two sides of a contact."""
        inner, (x, u, _) = self.inner, self._at(q, v)
        chosen = inner.persistent_damping if persistent and able(inner, Rubbing) else inner.damping
        return chosen(x, u, t)

    def indefinite(self, q: Array, v: Array, t: float) -> sp.csr_matrix:
        return pulled_back(self.points.jacobian(q), self.indefinite_on_points(q, v, t))

    def indefinite_on_points(self, q: Array, v: Array, t: float) -> sp.csr_matrix:
        """The part of the stiffness over the points that `pliant.forces.base.PartlyIndefinite` is about."""
        x, u, _ = self._at(q, v)
        return self.inner.indefinite(x, u, t) if able(self.inner, PartlyIndefinite) else empty(len(x), len(x))


def limit_of(terms: Sequence[OnPoints], q: Array, dq: Array) -> float:
    """The largest s for which all terms allow x(q + s dq) all along the way, which is curved where bodies turn."""
    limits = [float("inf")]
    for points in {id(term.points): term.points for term in terms}.values():
        energies = [term.energy for term in terms if term.points is points]
        limits.append(_curved_limit([e for e in energies if able(e, Nearing)], points, q, dq))
        straight = [e for e in energies if able(e, Limiting) and not able(e, Nearing)]
        if straight:
            x = points.lift(q)
            dx = points.lift(q + dq) - x
            limits += [e.limit(x, dx) for e in straight]
    return min(limits)


def _curved_limit(energies: Sequence[Nearing], points: PointMap, q: Array, dq: Array) -> float:
    """The way is cut into pieces that bend by little compared with the least distance.

    On each, the straight way keeps as far from everything as the curved one may lie beside it.
    """
    if not energies:
        return float("inf")
    x0 = points.lift(q)
    pieces, bend, least = 1, _bend(points, q, dq, 1), CLOSE * min(e.nearest(x0) for e in energies)
    while bend > least:  # a fourth by each halving, once it turns by little
        pieces = max(2 * pieces, int(pieces * np.sqrt(bend / least)))
        bend = _bend(points, q, dq, pieces)
    reach = min(pieces, PIECES)
    for k in range(reach):
        x1 = points.lift(q + (k + 1) / pieces * dq)
        part = min(e.limit(x0, x1 - x0, bend) for e in energies)
        if part < 1.0:
            return (k + part) / pieces
        x0 = x1
    return float("inf") if reach == pieces else reach / pieces


def _bend(points: PointMap, q: Array, dq: Array, pieces: int) -> float:
    """How far the first of some pieces of the way lies beside its chord at most [m], with some margin."""
    x0, x1, x2 = (points.lift(q + s / pieces * dq) for s in (0.0, 0.5, 1.0))
    straight = x0 + 0.5 / pieces * times(points.jacobian(q), dq)  # off by as much, and after a whole turn too
    aside = np.stack([x1 - 0.5 * (x0 + x2), x1 - straight]).reshape(-1, 3)
    bend = float(np.sqrt((aside**2).sum(axis=1).max(initial=0.0)))
    return 1.5 * bend if bend > 1e-14 * float(np.abs(x0).max(initial=0.0)) else 0.0


def tangent_of(
    energies: Sequence[OnPoints],
    forces: Sequence[ForceOnPoints],
    at: tuple[Array, Array, float],
    weights: tuple[float, float, float],
    *,
    psd: bool,
    persistent: bool = False,
) -> sp.csr_matrix:
    """-w_D D - w_K K of all terms at (q, v, t): what acts on the same points is summed there and pulled back once."""
    total, bent = tangents_of(energies, forces, at, weights, psd=psd, persistent=persistent, curved=not psd)
    return added(total, bent)


def tangents_of(
    energies: Sequence[OnPoints],
    forces: Sequence[ForceOnPoints],
    at: tuple[Array, Array, float],
    weights: tuple[float, float, float],
    *,
    psd: bool,
    persistent: bool = False,
    curved: bool = True,
) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """`tangent_of` in two parts: J^T (...) J and, if ``curved``, d(J^T g)/dq: points may move on curves."""
    (q, v, t), (_, w_damping, w_stiffness) = at, weights
    total = bent = empty(len(q), len(q))
    places = [*(e.points for e in energies), *(f.points for f in forces)]
    for points in {id(p): p for p in places}.values():
        x, J = points.lift(q), points.jacobian(q)
        own = [e for e in energies if e.points is points and w_stiffness]
        P = empty(len(x), len(x))
        for energy in own:
            P = added(P, energy.on_points(x, psd=psd, persistent=persistent), w_stiffness)
        for force in (f for f in forces if f.points is points):
            if w_damping:
                P = added(P, force.on_points(q, v, t, persistent=persistent), -w_damping)
            if w_stiffness:
                P = added(P, force.inner.stiffness(x, times(J, v), t), -w_stiffness)
                if not psd:
                    P = added(P, force.indefinite_on_points(q, v, t), -w_stiffness)
        total = added(total, pulled_back(J, P))
        if own and curved:
            g = np.sum([e.energy.gradient(x) for e in own], axis=0)
            for force in (f for f in forces if f.points is points and f.since is not None):
                g = g - force.on(q, v, t)
            bent = added(bent, points.curvature(q, g), w_stiffness) if g.any() else bent
    return total, bent


def definite(A: sp.csr_matrix, weights: Array) -> sp.csr_matrix:
    """A symmetric matrix of small blocks with its eigenvalues made positive, in units of the masses ``weights (N,)``.

    Those that are negative change their sign: a step along them is as long as one along its mirror image, and none is
    below ``SOFT``.
    """
    s = 1.0 / np.sqrt(weights)
    count, label = connected_components(A, directed=False)
    sizes = np.bincount(label, minlength=count)
    order, first = np.argsort(label, kind="stable"), np.cumsum(sizes) - sizes
    place = np.empty(len(s), dtype=np.int64)  # of every coordinate in its block
    place[order] = np.arange(len(s)) - first[label[order]]
    indptr = np.concatenate([[0], np.cumsum(sizes[label])])
    indices, data = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1])
    rows = np.repeat(np.arange(len(s)), np.diff(A.indptr))
    for size in np.unique(sizes):
        blocks, number = np.zeros((int((sizes == size).sum()), size, size)), np.cumsum(sizes == size) - 1
        e = np.flatnonzero(sizes[label[rows]] == size)
        i, j = rows[e], A.indices[e]
        blocks[number[label[i]], place[i], place[j]] = A.data[e] * s[i] * s[j]
        w, Q = np.linalg.eigh(blocks)
        members = order[first[sizes == size][:, None] + np.arange(size)]
        where = indptr[members][:, :, None] + np.arange(size)
        indices[where] = members[:, None, :]
        turned = (Q * np.maximum(abs(w), SOFT)[:, None, :]) @ np.swapaxes(Q, 1, 2)
        data[where] = turned / (s[members][:, :, None] * s[members][:, None, :])
    return csr(data, indices, indptr.astype(np.int32), A.shape)


class TieSprings:
    """Springs of zero length between points: W = sum_i k_i/2 |sum_r w_ir x_(n_ir)|^2.

    ``nodes (m, r)`` and ``weights (m, r)`` say which points meet: the weights of a row sum to zero, so that ties push
    nothing as a whole. ``k (m,)`` [N/m].
    """

    name = "attachment"

    def __init__(self, n: int, nodes: IntArray, weights: Array, k: Array) -> None:
        self._nodes, self._weights, self._each = nodes, weights, k
        m, width = nodes.shape
        rows = np.repeat(np.arange(m), width)
        B = sp.csr_matrix((weights.ravel(), (rows, nodes.ravel())), shape=(m, n))
        self.B: sp.csr_matrix = sp.kron(B, sp.identity(3), format="csr")
        self.vertices = np.unique(nodes[weights != 0.0])  # that it pulls at
        self._k = np.repeat(k, 3)
        self._H = sp.csr_matrix(self.B.T @ sp.diags(self._k) @ self.B)
        self._H.sort_indices()

    def renumbered(self, number: Callable[[IntArray], IntArray], n: int) -> "TieSprings":
        """The same springs where the points, n of them now, have other numbers."""
        return TieSprings(n, number(self._nodes), self._weights, self._each)

    def value(self, x: Array) -> float:
        g = self.B @ x
        return 0.5 * float(g @ (self._k * g))

    def gradient(self, x: Array) -> Array:
        return self.B.T @ (self._k * (self.B @ x))

    def hessian(self, x: Array, *, psd: bool = False) -> sp.csr_matrix:
        return self._H


POINT_ENERGIES = (OnPoints, TieSprings)
POINT_FORCES = (ForceOnPoints,)

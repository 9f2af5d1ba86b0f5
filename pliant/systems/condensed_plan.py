"""What a condensed step needs to know before it starts: the nodes, the pieces, the edges, the moment."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray, indices, require_among
from pliant.errors import SceneError
from pliant.kernels.condense import largest_change, largest_strain
from pliant.maps.condensation import Anchoring, Means
from pliant.maps.pieces import Pieces, loose, movable, pieces_of, promoted
from pliant.state import State
from pliant.systems.elastodynamics import Elastodynamics

ANCHOR = 1e-6  # tau: how weakly a loose piece follows the mean of its dynamic nodes


@dataclass(frozen=True, eq=False)
class Plan:
    """What depends on the topology and the nodes alone; kept between steps, rebuilt after a restart."""

    nodes: IntArray  # vertices that may be dynamic: the chosen ones and those promoted in pieces that nothing holds
    pieces: Pieces
    movable: list[IntArray]  # vertices of the pieces that pins alone do not hold
    edges: IntArray  # (e, 2) vertices that act on each other, for the cap
    length: Array  # (e,) of the edges at rest [m]
    vertices: int
    inside: IntArray | None = None  # free coordinates of the bodies that are condensed; None: all
    attached: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # that others hold and pull at
    means: Means | None = None  # over the patches that the nodes stand for; None: the nodes themselves
    transient = True

    def around(self, nodes: IntArray, system: Elastodynamics) -> IntArray:
        """Vertices of the patches of some nodes."""
        if self.means is None or not len(nodes):
            return nodes
        d, among = system.X.shape[1], system.free if self.inside is None else self.inside
        return np.unique(among[self.means.W[_dofs(nodes, d, among)].indices] // d)

    def stretched(self, q: Array, there: Array) -> float:
        """The largest change of the length of an edge from q to there (N,), in lengths at rest."""
        now, then = (x.reshape(self.vertices, -1) for x in (q, there))
        return float(largest_change(self.edges, self.length, now, then))


@dataclass(frozen=True, eq=False)
class Guess:
    """Where a step is linearised: x_0 + beta (h ``moved`` + ``shift``), all (N,), with forces at ``velocity``."""

    velocity: Array
    moved: Array
    shift: Array


@dataclass(frozen=True, eq=False)
class CondensedMoment:
    """One step: the system with its contacts found, where it starts, its length, and which vertices are dynamic."""

    system: Elastodynamics
    state: State
    h: float
    plan: Plan
    dynamic: IntArray

    @property
    def end(self) -> float:
        return self.state.t + self.h

    @property
    def inside(self) -> IntArray:
        """The free coordinates that lead or follow."""
        return self.system.free if self.plan.inside is None else self.plan.inside

    @property
    def leading(self) -> IntArray:
        """Their positions among those that the others follow."""
        return _dofs(self.dynamic, self.system.X.shape[1], self.inside)

    def driven(self) -> Array:
        """Velocities (N,) of the prescribed coordinates on their way to the end of the step, zero elsewhere."""
        v = (self.system.prescribe(self.state.q, self.end) - self.state.q) / self.h
        v[self.system.free] = 0.0
        return v

    def unhindered(self) -> Array:
        """Velocities (N,) of a step without forces: the old ones where they are not prescribed."""
        v = self.driven()
        v[self.system.free] = self.state.v[self.system.free]
        return v

    def anchoring(self) -> Sequence[Anchoring]:
        """The weak coupling that keeps loose pieces regular."""
        d, free = self.system.X.shape[1], self.inside
        parts = []
        for vertices in loose(self.plan.movable, self.plan.pieces, self.system.X, self.dynamic):
            nodes = np.flatnonzero(np.isin(self.dynamic, vertices))
            followers = np.setdiff1d(vertices, self.dynamic)
            for a in range(d):
                every = np.intersect1d(d * followers + a, free)
                weight = ANCHOR / self.h**2 * self.system.nodal_mass[every]
                parts.append(Anchoring(np.searchsorted(free, every), d * nodes + a, weight))
        return parts


def plan_of(
    system: Elastodynamics,
    nodes: IntArray,
    *,
    attached: IntArray | None = None,
    condensed: IntArray | None = None,
    radius: float = 0.0,
    where: str = "ConJac.nodes",
) -> Plan:
    """Pieces, promotions and edges for a system; nodes that are pinned or out of range are refused.

    Vertices that are ``attached`` to something else lead too, ``condensed`` are those of the bodies that are (None:
    all). Nodes stand for the mean over what is within ``radius`` [m] of them.
    """
    n, d = system.X.shape
    nodes, mask = indices(nodes, where)
    require_among(nodes, mask, n, where)
    nodes = np.unique(nodes)
    q = system.X.ravel()
    K = system.stiffness(q, 0.0 * q, 0.0, psd=True)
    pieces = pieces_of(K, d, system.free)
    pinned = nodes[pieces.pinned[nodes]]
    if len(pinned):
        raise SceneError(f"vertex {pinned[0]} is pinned", where=where, remedy="choose free vertices")
    edges = edges_of(K, d)
    length = np.linalg.norm(system.X[edges[:, 0]] - system.X[edges[:, 1]], axis=1)
    inside = np.arange(n) if condensed is None else condensed
    held = np.zeros(0, dtype=np.int64) if attached is None else np.intersect1d(attached, inside)
    held = held[~pieces.pinned[held]]
    outside = np.setdiff1d(np.arange(n), inside)
    chosen = np.setdiff1d(promoted(pieces, system.X, np.concatenate([nodes, held, outside])), outside)
    moving = [mine for mine in movable(pieces, system.X) if np.isin(mine, inside).all()]
    coordinates = None if condensed is None else np.intersect1d((d * inside[:, None] + np.arange(d)), system.free)
    means = patches(system, chosen, held, coordinates, pieces, radius) if radius else None
    return Plan(chosen, pieces, moving, edges, length, n, coordinates, held, means)


def patches(
    system: Elastodynamics, nodes: IntArray, held: IntArray, inside: IntArray | None, pieces: Pieces, radius: float
) -> Means:
    """The means of nodes: the center of mass of what is within ``radius`` of each in the rest shape and in its piece,
    less what is pinned, held by others, or a node itself.
    """
    X, d = system.X, system.X.shape[1]
    among = system.free if inside is None else inside
    may = np.bincount(among // d, minlength=len(X)) == d
    may[nodes] = may[held] = False
    entries: list[tuple[IntArray, IntArray, Array]] = []
    for node in nodes:
        near = may & (pieces.piece == pieces.piece[node]) & (np.linalg.norm(X - X[node], axis=1) <= radius)
        patch = np.append(np.flatnonzero(near), node)
        weight = system.nodal_mass[d * patch] / system.nodal_mass[d * patch].sum()
        rows, columns = _dofs(np.full(len(patch), node), d, among), _dofs(patch, d, among)
        entries.append((rows, columns, np.repeat(weight, d)))
    others = np.setdiff1d(np.arange(len(among)), _dofs(nodes, d, among))
    rows, columns, weights = (np.concatenate(a) for a in zip((others, others, np.ones(len(others))), *entries))
    return Means(sp.csr_matrix((weights, (rows, columns)), shape=(len(among), len(among))))


def edges_of(K: sp.csr_matrix, d: int) -> IntArray:
    """Pairs of vertices (e, 2), the lower one first, whose first coordinates share an entry of K (n d, n d)."""
    rows = np.repeat(np.arange(K.shape[0]), np.diff(K.indptr))
    first = (rows % d == 0) & (K.indices % d == 0) & (rows < K.indices)
    return np.column_stack([rows[first], K.indices[first]]) // d


def dofs_of(vertices: IntArray, system: Elastodynamics) -> IntArray:
    """Positions among the free coordinates of all coordinates of some vertices."""
    return _dofs(vertices, system.X.shape[1], system.free)


def _dofs(vertices: IntArray, d: int, among: IntArray) -> IntArray:
    return np.searchsorted(among, (d * vertices[:, None] + np.arange(d)).ravel())


def capped(dx: Array, plan: Plan, cap: float) -> Array:
    """dx scaled down so that no edge changes by more than ``cap`` of its length: a correction must not turn elements
    inside out, but a limb may swing as far as it likes.
    """
    strain = largest_strain(plan.edges, plan.length, dx.reshape(plan.vertices, -1))
    return dx * (cap / strain) if strain > cap else dx

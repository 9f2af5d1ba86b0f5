"""Contact of cloth with itself: vertices and faces, edges and edges that come close, as rows of the velocity step.

    n . sum_r w_r xdot_r >= -(d - c) / h        d: distance of the closest points sum_r w_r x_r = d n,  c: clearance

The surface is that of the mesh, which moves with xdot alone: what slides through the mesh (Xdot) stays within it, so
the rows have no entries there. Rows come from what is close at the start of a step. A step whose straight ways still
meet is divided: its second half sees what has come close. On the shortest ways vertices are stopped instead.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.cloth.sheet import Sheet
from pliant.contact.surfaces import CAUTION, toolkit
from pliant.velocity_step import Relief

SHORT = 0.1  # of the clearance: ways of steps that are not divided any more
HALVINGS = 30  # of the ways of vertices that would still meet


@dataclass(frozen=True, eq=False)
class Close:
    """k pairs: vertices (k, 4), weights (k, 4) of the vector between the closest points, unit ``normal (k, 3)`` along
    it, ``distance (k,)`` [m] and the ``clearance (k,)`` [m] they should keep."""

    nodes: IntArray
    weights: Array
    normal: Array
    distance: Array
    clearance: Array

    def __len__(self) -> int:
        return len(self.distance)

    def approach(self, v: Array) -> Array:
        """How fast (k,) [m/s] the pairs close when vertices move with ``v (n, 3)``."""
        return -np.einsum("kr,krd,kd->k", self.weights, v[self.nodes], self.normal)

    def only(self, chosen: Any) -> "Close":
        return Close(*(getattr(self, name)[chosen] for name in vars(self)))

    def rows(self, relief: Relief, size: int) -> tuple[sp.csr_matrix, Array]:
        """The rows (k, size) and their right-hand sides (k,)."""
        columns = (3 * self.nodes[:, :, None] + np.arange(3)).ravel()
        values = (self.weights[:, :, None] * self.normal[:, None, :]).ravel()
        k, right = len(self), relief(self.distance - self.clearance)
        return sp.csr_matrix((values, (np.repeat(np.arange(k), 12), columns)), shape=(k, size)), right


NOTHING = Close(np.zeros((0, 4), np.int64), np.zeros((0, 4)), np.zeros((0, 3)), np.zeros(0), np.zeros(0))


class ClothSkin:
    """The surface of a sheet with its mesh of the moment, which keeps ``clearance`` [m] from itself.

    Close to each other in the material the clearance is at most a quarter of that way: a fold has no thickness.
    """

    def __init__(self, sheet: Sheet, edges: IntArray, clearance: float) -> None:
        self._ipc = toolkit()
        self.sheet, self.clearance = sheet, clearance
        E, F = edges.astype(np.int32, order="F"), sheet.faces.astype(np.int32, order="F")
        self.mesh = self._ipc.CollisionMesh(np.asfortranarray(sheet.x), E, F)
        self._broad, self._narrow = self._ipc.LBVH(), self._ipc.AdditiveCCD()

    def crossed(self) -> bool:
        """Whether the sheet passes through itself where it is."""
        return bool(self._ipc.has_intersections(self.mesh, np.asfortranarray(self.sheet.x), self._broad))

    def near(self, h: float) -> Close:
        """Pairs that could lose their clearance in a step of h [s], as fast as they close now."""
        x, v = np.asfortranarray(self.sheet.x), self.sheet.v
        spread = float(np.linalg.norm(v - v.mean(axis=0), axis=1).max(initial=0.0))
        found = self._ipc.NormalCollisions()
        reach = self.clearance + min(2.0 * h * spread, 10.0 * self.clearance)
        found.build(self.mesh, x, reach, broad_phase=self._broad)
        close = self._pairs([found[i] for i in range(len(found))], x)
        return close.only(close.distance - close.clearance <= h * close.approach(v) + self.clearance)

    def safe(self, x1: Array) -> float:
        """The part of the straight way to ``x1 (n, 3)`` that nothing is in the way of."""
        step = self._ipc.compute_collision_free_stepsize
        x0, x1 = np.asfortranarray(self.sheet.x), np.asfortranarray(x1)
        return float(step(self.mesh, x0, x1, 0.0, self._broad, self._narrow))

    def meeting(self, x1: Array) -> Close:
        """Pairs that meet on the straight way to ``x1 (n, 3)``; their normals are those shortly before."""
        x0, x1 = np.asfortranarray(self.sheet.x), np.asfortranarray(x1)
        found = self._ipc.Candidates()
        found.build(self.mesh, x0, x1, 0.0, self._broad)
        E, F = self.mesh.edges, self.mesh.faces
        met, when = [], []
        for pair in (*found.fv_candidates, *found.ee_candidates):
            a, b = pair.dof(x0, E, F), pair.dof(x1, E, F)
            hit, t = pair.ccd(a, b, 0.0, 1.0, self._narrow)
            if hit:
                met.append(pair)
                when.append(t)
        return self._pairs(met, x0, x1, when)

    def stopped(self, x1: Array) -> tuple[Array, int]:
        """Where vertices get to on their way to ``x1 (n, 3)`` if those that would meet stop, and how many do."""
        x0, share = self.sheet.x, np.ones(len(x1))
        for _ in range(HALVINGS):
            met = self.meeting(x0 + share[:, None] * (x1 - x0))
            if not len(met):
                break
            share[met.nodes.ravel()] *= 0.5
        x = x0 + share[:, None] * (x1 - x0)
        x = x if self.safe(x) >= 1.0 else x0 + CAUTION * self.safe(x) * (x - x0)
        return x, int(np.count_nonzero(np.any(x != x1, axis=1)))

    def _pairs(self, stencils: Sequence[Any], x0: Array, x1: Array | None = None, when: Sequence[float] = ()) -> Close:
        """Stencils of the toolkit as pairs: distances at x0, normals at x0 or, given times, on the way to x1."""
        k = len(stencils)
        if not k:
            return NOTHING
        E, F = self.mesh.edges, self.mesh.faces
        nodes, weights = np.zeros((k, 4), np.int64), np.zeros((k, 4))
        for i, stencil in enumerate(stencils):
            n = stencil.num_vertices()
            x = x0 if x1 is None else (1.0 - when[i]) * x0 + when[i] * x1
            nodes[i, :n] = stencil.vertex_ids(E, F)[:n]
            nodes[i, n:] = nodes[i, 0]
            weights[i, :n] = stencil.compute_coefficients(x[nodes[i, :n]].ravel())
        t = np.zeros(k) if x1 is None else np.asarray(when)
        at = x0[nodes] if x1 is None else x0[nodes] + t[:, None, None] * (x1 - x0)[nodes]
        between = np.einsum("kr,krd->kd", weights, at)
        normal = between / np.maximum(np.linalg.norm(between, axis=1, keepdims=True), 1e-300)
        distance = np.einsum("kr,krd,kd->k", weights, x0[nodes], normal)
        apart = np.linalg.norm(np.einsum("kr,krd->kd", weights, self.sheet.X[nodes]), axis=1)
        return Close(nodes, weights, normal, distance, np.minimum(self.clearance, 0.25 * apart))


@dataclass(frozen=True, eq=False)
class Own:
    """What a step knows of cloth meeting itself: its ``skin``, the pairs that have rows."""

    skin: ClothSkin
    close: Close

    @staticmethod
    def of(sheet: Sheet, edges: IntArray, clearance: float, h: float) -> "Own":
        skin = ClothSkin(sheet, edges, clearance)
        return Own(skin, skin.near(h))

    def divided(self, v: Array, h: float) -> bool:
        """Whether vertices that move with ``v (n, 3)`` for h [s] still meet, on ways long enough to be halved."""
        sheet, spread = self.skin.sheet, np.linalg.norm(v - v.mean(axis=0), axis=1).max(initial=0.0)
        halved = bool(h * spread > SHORT * self.skin.clearance) and self.skin.safe(sheet.x + h * v) < 1.0
        return halved and not self.skin.crossed()  # what is crossed already meets in the shortest step

    def stopped(self, moved: Sheet, h: float) -> tuple[Sheet, int]:
        """The sheet after h [s] where nothing has met, and how many vertices had to be stopped for that."""
        if self.skin.safe(moved.x) >= 1.0:
            return moved, 0
        x, stopped = self.skin.stopped(moved.x)
        return replace(moved, x=x, v=np.where(x == moved.x, moved.v, (x - self.skin.sheet.x) / h)), stopped

"""The surfaces of all bodies and obstacles as one collision mesh of the IPC Toolkit: collisions, safe steps."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.contact.contacts import ContactForces, Contacts, nothing
from pliant.contact.intersect import crossing
from pliant.contact.pose import Passage
from pliant.contact.setting import Setting
from pliant.errors import MissingDependency, SceneError
from pliant.mesh.topology import edges

CAUTION = 0.9  # part of the way to the first touch that a step may go
NOTHING = 1e-12  # weights below this are round-off, whose sign would say on which side a vertex is
CLOSEST = 1e-7, 1e-3  # of the largest coordinate, of dhat: nearer than both nothing comes


def toolkit() -> Any:
    """The ipctk package."""
    try:
        import ipctk
    except ImportError as error:
        raise MissingDependency("barrier contact needs ipctk", remedy="pip install ipctk") from error
    ipctk.set_logger_level(ipctk.LoggerLevel.error)
    ipctk.set_num_threads(1)  # several find collisions in changing order, and sums then differ in their last bits
    return ipctk


class Stencils(NamedTuple):
    """What collisions are: vertices (c, 4), their weights (c, 4), how many there are (c,), and multiplicities (c,).

    The weights are positive where a body touches first; ``contacts`` are the same with obstacles that stand still.
    """

    ids: IntArray
    weights: Array
    sizes: IntArray
    factor: Array
    contacts: Contacts


class Surfaces:
    """Vertices: those of the bodies that can touch, then those of obstacles that are no containers."""

    def __init__(self, setting: Setting) -> None:
        self._ipc = toolkit()
        self.setting, self.skin, self.n = setting, setting.skin, setting.n
        number = np.full(self.n, -1, dtype=np.int64)
        number[self.skin] = np.arange(len(self.skin))
        faces: list[IntArray] = []
        wires: list[IntArray] = []
        for mesh, first in zip(setting.meshes, setting.offsets, strict=False):
            (wires if mesh.kind == "springs" else faces).append(
                number[first + (mesh.T if mesh.kind == "springs" else mesh.surface())]
            )
        self._shapes: list[tuple[int, Array]] = []
        others = []
        count = len(self.skin)
        for k, obstacle in enumerate(setting.obstacles):
            X, F = obstacle.surface()
            if len(F):
                self._shapes.append((k, X))
                faces.append(F + count)
                others.append(np.full(len(X), -1 - k))
                count += len(X)
            elif not obstacle.container:
                remedy = "use PenaltyContact, or Eulerian cloth with RowContact"
                raise SceneError("it has no surface for a barrier", where=f"obstacles.{obstacle.name}", remedy=remedy)
        self.owner = np.concatenate([setting.body[self.skin], *others])  # body, or -1 - obstacle, per vertex
        F = np.concatenate([*faces, np.zeros((0, 3), np.int64)])
        E = np.concatenate([edges(F) if len(F) else np.zeros((0, 2), np.int64), *wires])
        rest = self._stacked(np.concatenate([m.X for m in setting.meshes]), [X for _, X in self._shapes])
        self.mesh = self._ipc.CollisionMesh(rest, E.astype(np.int32, order="F"), F.astype(np.int32, order="F"))
        self.mesh.can_collide = self._filter(count)
        self.features = self.mesh.edges, self.mesh.faces  # as the toolkit wants them
        self._face = np.full((count, 3), -1, dtype=np.int64)  # a triangle of every vertex; -1: it has none
        for r in range(3):
            self._face[F[::-1, r]] = F[::-1]
        self._broad = self._ipc.LBVH()
        self._narrow = self._ipc.AdditiveCCD()  # tight inclusion: six times as slow on piles, minutes near contact
        self._found: list[tuple[Array, float, Any]] = []  # the last answers: energies, friction, books ask again
        self._read: list[tuple[Any, Stencils]] = []  # what was read of the last collisions

    def _filter(self, count: int) -> Any:
        """Which vertices may meet: obstacles not each other, nor the shapes of one group."""
        if len(self.setting.apart):
            a, b = (self.setting.names[k] for k in self.setting.apart[0])
            what = f"edges and barriers do not know that {a!r} and {b!r}, which are connected, never touch"
            remedy = "use PenaltyContact, or RowContact without edges; or no self_contact, and attachments with contact"
            raise SceneError(what, where="scene.contact", remedy=remedy)
        group = self.setting.group[self.setting.body[self.skin]]
        if not (group >= 0).any():
            return self._ipc.make_static_obstacle_filter(len(self.skin))
        single = group.max() + 1 + np.arange(len(self.skin))  # a patch of its own for every vertex that may touch all
        own = np.where(group >= 0, group, single)
        still = np.full(count - len(self.skin), own.max() + 1)
        return self._ipc.make_vertex_patches_filter(np.concatenate([own, still]).astype(np.int32))

    def _stacked(self, x: Array, shapes: list[Array]) -> Array:
        return np.asfortranarray(np.concatenate([x.reshape(-1, 3)[self.skin], *shapes]))

    def vertices(self, x: Array, passages: list[Passage], *, before: bool = False) -> Array:
        """All vertices for body positions x, obstacles at the end (or the beginning) of their passages."""
        shapes = []
        for k, X in self._shapes:
            pose = passages[k].before if before else passages[k].pose
            shapes.append(pose.world(X))
        return self._stacked(x, shapes)

    def collisions(self, V: Array, dhat: float) -> Any:
        """Pairs of vertices, edges and triangles closer than ``dhat`` [m]."""
        for before, distance, found in self._found:
            if distance == dhat and np.array_equal(before, V):
                return found
        found = self._ipc.NormalCollisions()
        found.build(self.mesh, V, dhat, broad_phase=self._broad)
        self._found = [(V, dhat, found), *self._found[:2]]
        return found

    def nearest(self, V: Array, dhat: float) -> float:
        """The least distance [m] between what may touch, inf if none is below ``dhat``."""
        found = self.collisions(V, dhat)
        return float(np.sqrt(found.compute_minimum_distance(self.mesh, V))) if len(found) else np.inf

    def safe_step(self, V0: Array, V1: Array, dhat: float, apart: float = 0.0) -> float:
        """The part of the straight way from V0 to V1 on which all stay ``apart`` [m]; 1 when all of it.

        Whatever ``apart`` is, nothing comes so near that rounding decides who is on which side: additive steps shrink
        distances by a constant factor, and at 3e-11 of the size edges that are nearly parallel were seen to cross.
        """
        least = min(CLOSEST[0] * float(np.abs(V0).max()), CLOSEST[1] * dhat)
        if apart < least:
            apart = max(apart, min(least, 0.99 * self.nearest(V0, dhat)))
        step = self._ipc.compute_collision_free_stepsize
        return float(step(self.mesh, V0, V1, apart, self._broad, self._narrow))

    def crossings(self, V: Array) -> IntArray:
        """Pairs (edge, face) that cross, (k, 2), by exact arithmetic; what must not meet is not looked at."""
        broad = self._ipc.LBVH()
        broad.can_vertices_collide = self.mesh.can_collide
        broad.build(V, self.mesh.edges, self.mesh.faces, 0.0)
        near = [(c.edge_id, c.face_id) for c in broad.detect_edge_face_candidates()]
        E, F = (np.asarray(features, dtype=np.int64) for features in self.features)
        return crossing(V, E, F, np.array(near, dtype=np.int64).reshape(-1, 2))

    def contacts(self, collisions: Any, V: Array, passages: list[Passage]) -> tuple[Contacts, Array]:
        """Collisions as contacts between the bodies' own vertices, and the multiplicity of each (c,)."""
        read = self._stencils(collisions, V)
        if not self._shapes:
            return read.contacts, read.factor
        return replace(read.contacts, drift=self._drift(read.ids, read.weights, V, passages)), read.factor

    def _stencils(self, collisions: Any, V: Array) -> Stencils:
        """What the collisions found at V are."""
        for known, answer in self._read:
            if known is collisions:
                return answer
        E, F = self.features
        c = len(collisions)
        ids, weights, factor = np.zeros((c, 4), np.int64), np.zeros((c, 4)), np.zeros(c)
        sizes = np.zeros(c, np.int64)
        for i in range(c):
            stencil = collisions[i]
            dof = stencil.dof(V, E, F)
            own = stencil.compute_coefficients(dof)
            sizes[i] = len(own)
            ids[i, : len(own)] = stencil.vertex_ids(E, F)[: len(own)]
            weights[i, : len(own)] = own
            factor[i] = stencil.weight * stencil.mollifier(dof)
        weights = self._signed(ids, weights)
        read = Stencils(ids, weights, sizes, factor, self._as_contacts(ids, weights, V))
        self._read = [(collisions, read), *self._read[:2]]
        return read

    def meeting(self, V0: Array, V1: Array) -> Contacts:
        """What meets on straight ways from V0 to V1 of bodies: normals as shortly before, gaps along them at V0."""
        candidates = self._ipc.Candidates()
        candidates.build(self.mesh, V0, V1, 0.0, self._broad)
        ids, weights, where = [], [], []
        for pair in (*candidates.fv_candidates, *candidates.ee_candidates):
            a, b = (pair.dof(V, *self.features) for V in (V0, V1))
            hit, t = pair.ccd(a, b, 0.0, 1.0, self._narrow)
            if hit:
                at = (1.0 - t) * a + t * b
                ids.append(pair.vertex_ids(*self.features))
                weights.append(pair.compute_coefficients(at))
                where.append(at.reshape(-1, 3))
        if not ids:
            return nothing()
        nodes, w = np.array(ids, dtype=np.int64), np.array(weights)
        y = np.einsum("cr,crd->cd", w, np.array(where))
        n = y / np.maximum(np.linalg.norm(y, axis=1), 1e-300)[:, None]
        gaps = np.einsum("cr,crd,cd->c", w, V0[nodes], n)
        return replace(self._as_contacts(nodes, self._signed(nodes, w), V0), normals=n, gaps=gaps)

    def pushes(self, collisions: Any, V: Array, passages: list[Passage], forces: list[Array]) -> ContactForces:
        """The ``forces`` (k, 3) [N] of every collision on its vertices, those of obstacles left out."""
        (contacts, _), read = self.contacts(collisions, V, passages), self._stencils(collisions, V)
        f = np.zeros((len(contacts), 4, 3))
        for i, own in enumerate(forces):
            f[i, : len(own)] = own
        moving = (read.ids < len(self.skin)) & (np.arange(4) < read.sizes[:, None])
        nodes = np.where(moving, self.skin[np.where(moving, read.ids, 0)], contacts.nodes[:, :1])
        return ContactForces(contacts, nodes, np.where(moving[:, :, None], f, 0.0))

    def _signed(self, ids: IntArray, weights: Array) -> Array:
        """Weights (c, 4) that are positive where a body touches first, without those that are round-off."""
        weights = np.where(np.abs(weights) < NOTHING, 0.0, weights)
        owner = np.where(weights != 0.0, self.owner[ids], np.iinfo(np.int64).max)
        flip = (owner * (weights > 0.0)).min(axis=1, initial=0) < 0
        return np.where(flip[:, None], -weights, weights)

    def _drift(self, ids: IntArray, weights: Array, V: Array, passages: list[Passage]) -> Array:
        """How obstacles move where they are touched (c, 3) [m/s]."""
        drift = np.zeros((len(ids), 3))
        for k, _ in self._shapes:
            own = (self.owner[ids] == -1 - k) * weights
            hit = np.flatnonzero(own.any(axis=1))
            points = np.einsum("cr,crd->cd", -own[hit], V[ids[hit]])
            drift[hit] = passages[k].velocity(points)
        return drift

    def _as_contacts(self, ids: IntArray, weights: Array, V: Array) -> Contacts:
        """Obstacle vertices leave the weights; a contact starts with a body on its positive side."""
        y = np.einsum("cr,crd->cd", weights, V[ids])
        gap = np.linalg.norm(y, axis=1)
        n = y / np.maximum(gap, 1e-300)[:, None]
        still = self.owner[ids] < 0
        first = np.argmax(weights > 0.0, axis=1)
        second = np.argmin(weights, axis=1)
        rows = np.arange(len(ids))
        other = self.owner[ids[rows, second]]
        start = ids[rows, first]
        nodes = np.where(still | (weights == 0.0), start[:, None], ids)
        order = np.argsort(np.arange(4)[None, :] != first[:, None], axis=1, kind="stable")
        kept = np.where(still, 0.0, weights)
        return Contacts(
            self.skin[np.take_along_axis(nodes, order, axis=1)],
            np.take_along_axis(kept, order, axis=1),
            n,
            gap,
            np.zeros((len(ids), 3)),
            np.zeros((len(ids), 3, 3)),
            other,
            self._frames(ids, weights, start, ids[rows, second], other),
        )

    def _frames(self, ids: IntArray, weights: Array, first: IntArray, second: IntArray, other: IntArray) -> IntArray:
        """Triangles of the touched bodies, that which is touched if it is one; of the first where they have none."""
        touched = weights < 0.0
        frame = np.where(self._face[second, :1] < 0, self._face[first], self._face[second])
        whole = np.flatnonzero(touched.sum(axis=1) == 3)
        frame[whole] = ids[whole][touched[whole]].reshape(-1, 3)
        none = (other < 0)[:, None] | (frame < 0)
        return np.where(none, -1, self.skin[np.where(none, 0, frame)])

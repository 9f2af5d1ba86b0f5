"""Cloth whose vertices on sharp features also move in the material: M(q) qddot = f with q = (x, X of EOL vertices)."""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.cloth import _fill
from pliant.cloth._topology import neighbours
from pliant.cloth.eulerian import Eulerian
from pliant.cloth.grip import Grip
from pliant.cloth.hands import Hold
from pliant.cloth.kinematics import MASS, corner_velocities, deformation_gradients, quadratic_velocity
from pliant.cloth.material import ClothMaterial
from pliant.cloth.prepare import PreparedCloth, prepare
from pliant.cloth.remesh import FeatureTable, creases
from pliant.cloth.sheet import Sheet, open_edges, signed_areas
from pliant.cloth.surroundings import Surroundings
from pliant.cloth.touching import touching
from pliant.contact.sharp import Sharp
from pliant.energies.bending import cotangent_stencils
from pliant.energies.membrane import lame, material_gradients
from pliant.kernels import membrane
from pliant.kernels.bind import entry
from pliant.maps.motions import Placement
from pliant.pattern import Pattern
from pliant.state import State
from pliant.systems.base import Weights
from pliant.systems.contact import Touch
from pliant.velocity_step import Linearisation

DEFAULT, LINEARISATION = Eulerian(), Linearisation()


class EolCloth:
    """The mesh of a moment with its material and what is around it; a step that changes the mesh returns a new one.

    Coordinates q (3n + 2e,): positions of all n vertices, then the material positions of the e vertices that lie on a
    feature. ``sheet`` supplies the mesh, ``X`` of the other vertices, features and fixed vertices; its x, v, V are
    those of the moment the mesh was made. ``holds`` prescribe velocities of material points, ``grip`` is a spring that
    pulls at one.
    """

    symmetric: ClassVar[bool] = True

    def __init__(
        self,
        sheet: Sheet,
        material: ClothMaterial,
        around: Surroundings,
        method: Eulerian = DEFAULT,
        holds: Sequence[Hold] = (),
        grip: Grip | None = None,
    ) -> None:
        self.sheet, self.material, self.around, self.method = sheet, material, around, method
        self.holds, self.grip = tuple(holds), grip
        n = len(sheet.X)
        moving = (sheet.feature >= 0) & ~sheet.fixed & method.slides
        self.eol: IntArray = np.flatnonzero(moving)
        number = np.full(n, -1, dtype=np.int64)
        number[self.eol] = np.arange(len(self.eol))
        self.neighbours: IntArray = neighbours(sheet.faces, n)
        self.border: IntArray = open_edges(sheet.faces, self.neighbours)
        self.hinge, self._hinge_faces, self._creased = hinges_of(sheet, self.neighbours, around.table)
        self.edges: IntArray = np.concatenate([self.hinge[:, :2], self.border])
        self._number = number
        self._mu, self._lam = lame(material.E, material.nu)
        self.free: IntArray = np.arange(3 * n + 2 * len(self.eol))
        self.scale = float(np.ptp(sheet.X, axis=0).max())
        self.total_mass = material.rho * float(signed_areas(sheet.X, sheet.faces).sum())  # [kg]
        self.free_mass = 3.0 * self.total_mass

    # -- patterns: of a mesh under edit nobody asks for them

    @cached_property
    def _graph(self) -> tuple[IntArray, IntArray, IntArray]:
        """Which vertices each one meets in matrices: where its list starts, the lists; the numbers of EOL vertices."""
        return (*_fill.reach(self.sheet.faces, self.hinge, len(self.sheet.X)), self._number)

    @cached_property
    def _pattern(self) -> Pattern:
        start, near, number = self._graph
        return Pattern(*_fill.pattern(start, near, number, self.eol))

    @cached_property
    def _diagonal(self) -> IntArray:
        rows = np.repeat(np.arange(self._pattern.size), np.diff(self._pattern.indptr))
        return np.flatnonzero(rows == self._pattern.indices)

    # -- coordinates

    def pack(self, sheet: Sheet, t: float) -> State:
        """The state of a sheet with this mesh."""
        q = np.concatenate([sheet.x.ravel(), sheet.X[self.eol].ravel()])
        return State(q, np.concatenate([sheet.v.ravel(), sheet.V[self.eol].ravel()]), t)

    def unpack(self, q: Array, v: Array) -> Sheet:
        """The sheet of a state: world and material positions and rates of all vertices."""
        n = len(self.sheet.X)
        X, V = self.sheet.X.copy(), np.zeros((n, 2))
        X[self.eol], V[self.eol] = q[3 * n :].reshape(-1, 2), v[3 * n :].reshape(-1, 2)
        return replace(self.sheet, x=q[: 3 * n].reshape(n, 3), X=X, v=v[: 3 * n].reshape(n, 3), V=V)

    def positions(self, q: Array) -> Array:
        return q[: 3 * len(self.sheet.X)].reshape(-1, 3)

    def prescribe(self, q: Array, t: float) -> Array:
        return q

    def initial(self) -> State:
        """The state of the sheet it was made with, at t = 0."""
        return self.pack(self.sheet, 0.0)

    def topology(self) -> Sheet:
        """What `restored` makes this system again from."""
        return self.sheet

    def restored(self, topology: Sheet) -> "EolCloth":
        """The same cloth with another mesh."""
        return EolCloth(topology, self.material, self.around, self.method, self.holds, self.grip)

    def renumbered(self, old: "EolCloth", points: IntArray) -> IntArray:
        """The numbers that kept vertices ``points (k,)`` of the mesh of ``old`` have in this one."""
        kept = np.flatnonzero(self.sheet.fixed)
        if not len(kept) or not len(points):
            return np.zeros(len(points), dtype=np.int64)
        apart = np.sum((self.sheet.X[kept] - old.sheet.X[points][:, None]) ** 2, axis=2)
        return np.asarray(kept[np.argmin(apart, axis=1)])

    def shown(self, bodies: Sequence[Sharp]) -> "EolCloth":
        """The same cloth with ``bodies`` of other parts, in their own frames, that `prepare` is told the places of."""
        around = replace(self.around, live=tuple(bodies))
        return EolCloth(self.sheet, self.material, around, self.method, self.holds, self.grip)

    def point_jacobian(self, q: Array) -> sp.csr_matrix:
        """J (3 n, N): the vertices move with xdot, whatever the material does there."""
        n = 3 * len(self.sheet.X)
        return sp.csr_matrix((np.ones(n), np.arange(n), np.arange(n + 1)), shape=(n, len(q)))

    def curvature(self, q: Array, g: Array) -> sp.csr_matrix:
        return sp.csr_matrix((len(q), len(q)))

    @property
    def rest(self) -> Array:
        """The coordinates of the sheet it was made with."""
        return self.initial().q

    def prepare(
        self,
        state: State,
        h: float,
        memory: Any = None,
        how: Linearisation = LINEARISATION,
        live: Sequence[Placement] = (),
    ) -> PreparedCloth:
        """A velocity step of h [s] up to its solve; ``live`` says where the live bodies are and how they move."""
        return prepare(self, state, h, memory, how, live)

    def contacts(self, q: Array, v: Array, t: float, live: Sequence[Placement] = ()) -> Touch | None:
        """What touches at a moment; None where that is unknown because live bodies are around and were not shown."""
        if len(live) != len(self.around.live):
            return None
        return touching(self, self.unpack(q, v), self.around.at(t, live))

    def cells(self) -> list[IntArray]:
        """The triangles over the rows of `positions`."""
        return [self.sheet.faces]

    def pulled(self, where: int | Array, target: Array, k: float) -> "EolCloth":
        """The same cloth with a spring ``k`` [N/m] from a vertex, or a material point (2,), to a point (3,) [m]."""
        X = self.sheet.X[where] if isinstance(where, int) else where
        return self._gripped(Grip(np.asarray(X), np.asarray(target), k))

    def material_point(self, q: Array, vertex: int) -> Array:
        return self.material_points(q)[vertex]

    def material_points(self, q: Array) -> Array:
        return self.unpack(q, np.zeros_like(q)).X

    def grip_point(self, q: Array) -> Array | None:
        return None if self.grip is None else self.grip.held(self.unpack(q, np.zeros_like(q)))[2]

    def let_go(self) -> "EolCloth":
        """The same cloth without a hand."""
        return self._gripped(None)

    def _gripped(self, grip: Grip | None) -> "EolCloth":
        held = copy(self)
        held.grip = grip
        return held

    # -- physics

    def mass(self, q: Array) -> sp.csr_matrix:
        """Generalised inertia [Weidner2022, Eq. 2.8]."""
        sheet = self.unpack(q, np.zeros_like(q))
        data = np.zeros(self._pattern.nnz)
        F = deformation_gradients(sheet.x, sheet.X, sheet.faces)
        _fill.add_isotropic(data, self._pattern.indptr, self._graph, sheet.faces, self._inertia(sheet), F)
        return self._pattern.matrix(data)

    def inertia(self, q: Array, a: Array) -> Array:
        return self.mass(q) @ a

    def weights(self, q: Array) -> Array:
        return self.mass(q).diagonal()

    def acceleration(self, q: Array, v: Array, t: float) -> Array:
        """M^-1 (f + the quadratic velocity terms); where cloth is flat M is singular, and the least one is taken."""
        f = self.force(q, v, t) + self.quadratic_velocity(q, v)
        return np.asarray(np.linalg.lstsq(self.mass(q).toarray(), f, rcond=None)[0])

    def tangent(
        self, q: Array, v: Array, t: float, weights: Weights, *, psd: bool = True, a: Array | None = None
    ) -> sp.csr_matrix:
        w_mass, _, w_stiffness = weights
        return sp.csr_matrix(w_mass * self.mass(q) - w_stiffness * self.stiffness(q, v, t, psd=psd))

    def restrict(self, A: sp.csr_matrix) -> sp.csr_matrix:
        return A

    def limit(self, q: Array, dq: Array) -> float:
        return float("inf")

    def force(self, q: Array, v: Array, t: float) -> Array:
        """Generalised membrane, bending and gravity forces [N] [Weidner2022, Eq. 2.9]."""
        sheet = self.unpack(q, v)
        out = np.zeros(len(q))
        b, A, F = self._geometry(sheet)
        g = -membrane.element_gradients(sheet.x, sheet.faces, b, A, self._mu, self._lam)
        g += (self.material.rho / 3 * A)[:, None, None] * np.asarray(self.around.gravity)
        _fill.add_vector(out, self._graph[2], sheet.faces, g, F)
        w, k = self._hinge_stencils(sheet)
        f = w[:, None] * np.einsum("mi,mij->mj", k, sheet.x[self.hinge])
        _fill.add_hinge_forces(out, self._graph[2], self.hinge, f, k, self._hinge_maps(sheet, F))
        if self.grip is not None:
            face, share, x = self.grip.held(sheet)
            pull = self.grip.k * share[:, None] * (self.grip.target - x)
            _fill.add_vector(out, self._graph[2], sheet.faces[[face]], pull[None], F[[face]])
        return out

    def stiffness(self, q: Array, v: Array, t: float, *, psd: bool = False) -> sp.csr_matrix:
        """Pulled-back stiffness of membrane and bending [Weidner2022, Eq. 2.10]; the change of F is left out there."""
        sheet = self.unpack(q, v)
        data = np.zeros(self._pattern.nnz)
        b, A, F = self._geometry(sheet)
        H = membrane.element_hessians(sheet.x, sheet.faces, b, A, self._mu, self._lam, psd)
        _fill.add_dense(data, self._pattern.indptr, self._graph, sheet.faces, H, F)
        w, k = self._hinge_stencils(sheet)
        _fill.add_hinges(data, self._pattern.indptr, self._graph, self.hinge, w, k, self._hinge_maps(sheet, F))
        if self.grip is not None:
            face, share, _ = self.grip.held(sheet)
            W = self.grip.k * np.outer(share, share)
            _fill.add_isotropic(data, self._pattern.indptr, self._graph, sheet.faces[[face]], W[None], F[[face]])
        return self._pattern.matrix(-data)

    def combined(self, data: Array, diagonal: Array) -> sp.csr_matrix:
        """The matrix with these values plus a diagonal, in the pattern of `mass` and `stiffness`."""
        data = data.copy()
        data[self._diagonal] += diagonal
        return self._pattern.matrix(data)

    def damping(self, q: Array, v: Array, t: float) -> sp.csr_matrix:
        return self._pattern.matrix(np.zeros(self._pattern.nnz))

    def momentum(self, q: Array, v: Array) -> Array:
        """M v, element by element."""
        sheet = self.unpack(q, v)
        out = np.zeros(len(q))
        p = self._inertia(sheet) @ corner_velocities(sheet)
        F = deformation_gradients(sheet.x, sheet.X, sheet.faces)
        _fill.add_vector(out, self._graph[2], sheet.faces, p, F)
        return out

    def quadratic_velocity(self, q: Array, v: Array) -> Array:
        """Forces from the change of the inertia with q [N]; zero where nothing slides through the mesh."""
        sheet = self.unpack(q, v)
        fx, fX = quadratic_velocity(sheet, self.material.rho)
        n = len(sheet.X)
        out = np.zeros(len(q))
        np.add.at(out[: 3 * n].reshape(n, 3), sheet.faces, fx)
        full = np.zeros((n, 2))
        np.add.at(full, sheet.faces, fX)
        out[3 * n :] = full[self.eol].ravel()
        return out

    def momenta(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Linear [kg m/s] and angular momentum about the origin [kg m^2/s]."""
        sheet = self.unpack(q, v)
        p = self._inertia(sheet) @ corner_velocities(sheet)
        x = sheet.x[sheet.faces]
        return p.sum(axis=(0, 1)), np.cross(x, p).sum(axis=(0, 1))

    def potential(self, q: Array, t: float) -> float | None:
        return sum(self.potentials(self.unpack(q, np.zeros_like(q))).values())

    def energies(self, q: Array, v: Array, t: float) -> dict[str, float]:
        """Kinetic, membrane, bending and gravity energy [J], and that of a hand's spring."""
        sheet = self.unpack(q, v)
        return {"kinetic": self.kinetic(sheet), **self.potentials(sheet)}

    def potentials(self, sheet: Sheet) -> dict[str, float]:
        """All of `energies` but the kinetic one."""
        A = signed_areas(sheet.X, sheet.faces)
        w, k = self._hinge_stencils(sheet)
        kappa = np.einsum("mi,mij->mj", k, sheet.x[self.hinge])
        center = sheet.x[sheet.faces].mean(axis=1)
        return {
            "membrane": self.stored(sheet),
            "bending": 0.5 * float(w @ np.einsum("mj,mj->m", kappa, kappa)),
            "gravity": -self.material.rho * float(A @ (center @ np.asarray(self.around.gravity))),
            **({} if self.grip is None else {"attachment": self.grip.energy(sheet)}),
        }

    def det(self, q: Array) -> Array:
        """By how much every face (m,) is larger than at rest: the product of its two principal stretches."""
        F = self._geometry(self.unpack(q, np.zeros_like(q)))[2]
        return np.asarray(np.linalg.norm(np.cross(F[:, :, 0], F[:, :, 1]), axis=1))

    def kinetic(self, sheet: Sheet) -> float:
        """1/2 u^T M u of the velocities u of the material [J]."""
        u = corner_velocities(sheet)
        return 0.5 * float(np.einsum("mij,mik,mjk->", self._inertia(sheet), u, u))

    def stored(self, sheet: Sheet) -> float:
        """Membrane energy [J] of a sheet of this material, with whatever mesh."""
        b, A = material_gradients(sheet.X, sheet.faces)
        return float(membrane.value(sheet.x, sheet.faces, b, A, self._mu, self._lam))

    def _geometry(self, sheet: Sheet) -> tuple[Array, Array, Array]:
        b, A = material_gradients(sheet.X, sheet.faces)
        return b, A, entry(membrane.deformation)(sheet.x, sheet.faces, b)

    def _inertia(self, sheet: Sheet) -> Array:
        e1, e2 = (sheet.X[sheet.faces[:, k]] - sheet.X[sheet.faces[:, 0]] for k in (1, 2))
        A = 0.5 * (e1[:, 0] * e2[:, 1] - e1[:, 1] * e2[:, 0])
        return (self.material.rho * A)[:, None, None] * MASS

    def _hinge_stencils(self, sheet: Sheet) -> tuple[Array, Array]:
        """Weights (h,) and stencils (h, 4) of the energy sum w/2 |sum k_i x_i|^2.

        What a crease on a sharp edge stores depends on how round the edge is, which the model does not say; the mesh
        spreads it over the faces beside. As these narrow and widen while the material passes the edge, that would be
        energy from nowhere: a crease counts as wide as the largest cell.
        """
        k, A = cotangent_stencils(sheet.X, self.hinge)
        if self.method.remesher is not None and len(self._creased):
            a, b = self.hinge[self._creased, :2].T
            width = self.method.remesher.size_max * np.linalg.norm(sheet.X[b] - sheet.X[a], axis=1)
            A[self._creased] = np.maximum(A[self._creased], width)
        return 1.5 * self.material.beta / A, k

    def _hinge_maps(self, sheet: Sheet, F: Array) -> Array:
        return np.asarray(_fill.hinge_maps(sheet.X, F, self.hinge, self._hinge_faces, self._graph[2]))


def hinges_of(sheet: Sheet, N: IntArray, table: FeatureTable) -> tuple[IntArray, IntArray, IntArray]:
    """Hinges (h, 4) as `pliant.energies.bending.hinges` orders them, and their two faces (h, 2), from neighbours N; the
    numbers of those that lie on sharp edges."""
    faces = sheet.faces
    f, k = np.nonzero(np.arange(len(faces))[:, None] < N)
    g = N[f, k]
    a, b = faces[f, (k + 1) % 3], faces[f, (k + 2) % 3]
    hinge = np.stack([a, b, faces[f, k], faces[g].sum(axis=1) - a - b], axis=1)
    return hinge, np.stack([f, g], axis=1), np.flatnonzero(creases(sheet, table)[f, k])

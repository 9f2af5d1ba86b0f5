"""Elastic energy of linear finite elements, W(x) = sum_e V_e psi(F_e): tetrahedra, planar triangles, membranes.

F = D_s D_m^{-1}; value, gradient and Hessian run through the compiled passes of `pliant.kernels` for any material.
Results are bit-identical for any number of threads.
"""

from copy import copy
from functools import cached_property
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.energies.discrete_gradient import ElementGradient
from pliant.errors import MaterialError
from pliant.kernels import assembly
from pliant.kernels.collapse import determinants, first_collapse
from pliant.kernels.elements import MEMBRANE, TET
from pliant.kernels.rest import elements
from pliant.materials.base import Fibrous, Material, Sum, terms_of
from pliant.pattern import Pattern


class Elastic:
    """Elastic energy of elements ``T (m, 4 | 3)`` over rest positions ``X (n, 3 | 2)`` [m], as an `Energy`.

    - ``T (m, 4)``, ``X (n, 3)``: a solid;
    - ``T (m, 3)``, ``X (n, 2)``: a planar solid in ``plane`` "strain" (default) or "stress", 1 m thick unless said;
    - ``T (m, 3)``, ``X (n, 3)``: a membrane of the given ``thickness`` [m], in plane stress unless said otherwise.

    ``n`` is the number of vertices of the whole system, ``len(X)`` by default. The order and orientation of the
    vertices of an element do not matter.
    """

    internal: ClassVar[bool] = True

    def __init__(
        self,
        X: Array,
        T: IntArray,
        material: Material,
        n: int | None = None,
        *,
        name: str = "elastic",
        plane: str | None = None,
        thickness: float | None = None,
    ) -> None:
        self.name = name
        self.elements = elements(X, T, n, thickness)
        kind = self.elements.kind
        self.plane = None if kind is TET else plane or ("stress" if kind is MEMBRANE else "strain")
        self.material, self.seen = material, self._seen(material)
        self.n, self.dim = self.elements.n, kind.dim
        self.volumes = self.elements.volumes  # (m,) [m^3]
        self._terms = self._bind()

    def _bind(self) -> tuple[assembly.Term, ...]:
        """Kernels and parameters of the material."""
        return terms_of(self.seen, self.elements.kind, self.elements.place, where=self.name)

    def _seen(self, material: Material) -> Material:
        """The material as the elements see it: in plane strain, in each triangle's own axes."""
        if self.plane not in (None, "strain", "stress"):
            raise MaterialError(f'plane = "{self.plane}"', where=self.name, remedy='say "strain" or "stress"')
        if self.plane == "stress":
            material = material.plane_stress()
        if self.elements.axes is not None:
            if not material.rotation_invariant:
                raise MaterialError("a membrane turns freely: its material must be rotation invariant", where=self.name)
            material = material.in_axes(self.elements.axes)
        return material

    @cached_property
    def _matrices(self) -> Pattern:
        return Pattern(self.elements.pattern.indptr, self.elements.pattern.indices)

    def with_material(self, material: Material) -> "Elastic":
        """The same elements with other parameters (a muscle's new activation, say); no topology work is repeated."""
        other = copy(self)
        other.material, other.seen = material, other._seen(material)
        other._terms = other._bind()
        vars(other).pop("_discrete", None)
        return other

    # ---- Energy

    def value(self, x: Array) -> float:
        """Total energy [J] of the flat positions x (dim*n,)."""
        return assembly.energy(self.elements.place, self._terms, self.elements.flat(x))

    def gradient(self, x: Array) -> Array:
        """dW/dx (dim*n,) [N]; the force is its negative."""
        return assembly.gradient(self.elements.place, self._terms, self.elements.flat(x))

    def hessian(self, x: Array, *, psd: bool = False) -> sp.csr_matrix:
        """d2W/dx2; ``psd`` clamps the element tangents in closed form. Every call shares indptr and indices."""
        place, pattern = self.elements.place, self.elements.pattern
        return self._matrices.matrix(assembly.hessian(place, pattern, self._terms, self.elements.flat(x), psd))

    def limit(self, x: Array, dx: Array) -> float:
        """Largest admissible step t along dx: 0.9 of the first t with det F(x + t dx) = 0; inf for most materials."""
        if self.material.allows_inversion or self.elements.kind is MEMBRANE:  # a membrane turns over without collapsing
            return np.inf
        x, dx = (self.elements.flat(a).reshape(-1, self.elements.kind.dim) for a in (x, dx))
        return 0.9 * first_collapse(x, dx, self.elements.nodes, self.elements.gradients)

    def between(self, x0: Array, x1: Array) -> Array:
        """A gradient (dim*n,) between two shapes: its work is W(x1) - W(x0), it has no torque about their mean."""
        return self._discrete.between(x0, x1)

    @cached_property
    def _discrete(self) -> ElementGradient:
        if self.elements.kind is MEMBRANE or not self.material.rotation_invariant:
            what = f"{self.name!r} has no discrete gradient"
            remedy = "use solids of a rotation invariant material, or ImplicitMidpoint"
            raise MaterialError(what, where="EnergyMomentum", remedy=remedy)
        return ElementGradient(self.elements, lambda X, T: Elastic(X, T, self.material, plane=self.plane))

    # ---- explicit time stepping

    def march(self, x: Array, v: Array, inverse_mass: Array, load: Array, h: float, steps: int) -> tuple[Array, Array]:
        """``steps`` steps of symplectic Euler, v += h M^-1 (load - dW/dx), x += h v, in one kernel call.

        ``inverse_mass (N,)`` [1/kg] is 0 for coordinates whose velocity does not change; ``load (N,)`` [N] is constant.
        """
        x, v, inverse_mass, load = (self.elements.flat(a) for a in (x, v, inverse_mass, load))
        x, v = x.copy(), v.copy()
        if len(self._terms) > 1:
            for _ in range(steps):
                v += h * inverse_mass * (load - self.gradient(x))
                x += h * v
            return x, v
        (term,) = self._terms
        place = self.elements.place
        term.kernels.march(
            x, v, np.empty_like(x), inverse_mass, load, h, steps, place.T, place.G, term.table, term.stride, place.m
        )
        return x, v

    # ---- read-out, one row per element

    def element_energies(self, x: Array) -> Array:
        """Energy of every element (m,) [J]."""
        return assembly.element_energies(self.elements.place, self._terms, self.elements.flat(x))

    def density(self, x: Array) -> Array:
        """Energy per rest volume (m,) [J/m^3]."""
        return self.element_energies(x) / self.volumes

    def deformation(self, x: Array) -> Array:
        """Deformation gradients F: (m, 3, 3) solids, (m, 2, 2) planar solids, (m, 3, 2) membranes."""
        return self.elements.deformation(x)

    def det(self, x: Array) -> Array:
        """Volume ratio det F (m,); for membranes the (never negative) area ratio."""
        if self.elements.kind is MEMBRANE:
            F = self.deformation(x)
            return np.linalg.norm(np.cross(F[:, :, 0], F[:, :, 1]), axis=1)
        x = self.elements.flat(x).reshape(-1, self.dim)
        found: Array = determinants(x, self.elements.nodes, self.elements.gradients)
        return found

    def young(self) -> Array:
        """Young's modulus (m,) [Pa], of the body to which fibres are added."""
        return np.broadcast_to(np.asarray(self.material.young(), dtype=np.float64), self.volumes.shape)

    def fibres(self, x: Array) -> Array:
        """F a / |F a| (m, 3) of the first fibres of the material, as they are at x; zero where there are none."""
        parts = self.material.materials if isinstance(self.material, Sum) else (self.material,)
        found = np.zeros((len(self.volumes), 3))
        for part in parts:
            if isinstance(part, Fibrous) and self.elements.kind is TET:
                a = np.broadcast_to(part.direction, found.shape)
                found = np.einsum("mij,mj->mi", self.deformation(x), a)
                return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-300)
        return found

    def stress(self, x: Array) -> Array:
        """Cauchy stress P F^T / det F (m, 3, 3) [Pa]; planar solids include the out-of-plane stress of plane strain."""
        P = assembly.element_stresses(self.elements.place, self._terms, self.elements.flat(x))
        F = np.zeros_like(P)
        F[:, 2, 2] = 1.0 if self.plane == "strain" and self.dim == 2 else 0.0
        f = self.deformation(x)
        F[:, : f.shape[1], : f.shape[2]] = f
        return np.einsum("mij,mkj->mik", P, F) / self.det(x)[:, None, None]

    def von_mises(self, x: Array) -> Array:
        """Von Mises stress sqrt(3/2 dev s : dev s) (m,) [Pa]."""
        return equivalent_stress(self.stress(x))


def equivalent_stress(stress: Array) -> Array:
    """Von Mises' equivalent (m,) of stresses (m, 3, 3) [Pa]."""
    deviator = stress - np.trace(stress, axis1=1, axis2=2)[:, None, None] / 3 * np.eye(3)
    return np.asarray(np.sqrt(1.5 * np.einsum("mij,mij->m", deviator, deviator)))

"""Constraints made from energies: what XPBD projects in place of what the other methods differentiate.

A compliance is the inverse of a stiffness, so the physics is that of the energy: W = 1/2 sum C^2 / alpha. Gravity is a
load. Energies that are not in this table are refused by name.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.constraints import Displacement, Distances, Penalty, PlaneDistances, Volumes
from pliant.energies.attachment import AttachmentEnergy
from pliant.energies.base import Energy
from pliant.energies.bending import QuadraticBending
from pliant.energies.elastic import Elastic
from pliant.energies.gravity import Gravity
from pliant.energies.membrane import MembraneEnergy
from pliant.energies.projective import HingeBending, PlaneCollision
from pliant.energies.springs import Springs
from pliant.errors import SceneError
from pliant.integrators.xpbd import element_kernels as elements
from pliant.integrators.xpbd import kernels
from pliant.integrators.xpbd.patches import SweepPlan, plan
from pliant.materials import ARAP, Corotational, NeoHookean, StableNeoHookean, StVK
from pliant.materials.base import Isotropic, Material, lame, summands

SOFTEST = 1e-15  # of the stiffest constraint: a zero modulus (ARAP has no volume term) becomes a finite compliance


@dataclass(frozen=True, eq=False)
class Batch:
    """Constraints of one kind in the order of their plan: how each is projected, its vertices and numbers.

    ``nodes (m, k)``, ``table (m, w)`` see `kernels`; ``multipliers`` is the shape of theirs.
    """

    projection: Callable[..., None]
    plan: SweepPlan
    nodes: IntArray
    table: Array
    multipliers: tuple[int, int]

    def sweep(self, x: Array, x0: Array, W: Array, lam: Array, h: float, beta: float) -> None:
        """One Gauss-Seidel sweep: moves x (n, 3) and lam in place."""
        plan = self.plan
        kernels.swept(self.projection)(x, x0, W, lam, plan.patches, plan.colours, h, beta, self.nodes, self.table)

    def replanned(self, X: Array, patch: int) -> "Batch":
        """The same constraints in the order of patches of ``patch``."""
        made = plan(self.nodes, X, patch)
        return replace(self, plan=made, nodes=self.nodes[made.order], table=self.table[made.order])

    def __len__(self) -> int:
        return len(self.plan.order)


def batch(
    projection: Callable[..., None], nodes: IntArray, X: Array, columns: tuple[Any, ...], width: int = 1
) -> Batch:
    """Plan the sweep and bring everything into its order; columns are (m, ...) arrays, ``width`` multipliers each."""
    made = plan(nodes, X)
    numbers: Any = nodes.astype(np.int32)[made.order]
    return Batch(projection, made, numbers, np.column_stack(columns)[made.order], (len(nodes), width))


@singledispatch
def constraints(energy: Energy, X: Array) -> list[Batch]:
    """The constraints of an energy on vertices with rest positions X (n, 3)."""
    raise SceneError(
        f"{energy.name!r} ({type(energy).__name__}) has no constraint form",
        where="XPBD",
        remedy="use springs, elastic bodies, cloth, attachments, planes or penalties, or another integrator",
    )


@constraints.register
def _(energy: Gravity, X: Array) -> list[Batch]:
    return []


@constraints.register
def _(energy: Springs, X: Array) -> list[Batch]:
    return [batch(kernels.distance, energy.edges, X, (energy.rest, 1.0 / energy.k))]


@constraints.register
def _(energy: AttachmentEnergy, X: Array) -> list[Batch]:
    """Stiffness and target of every vertex from the derivatives: several springs at one vertex act as one."""
    n, d = X.shape
    x = X.ravel()
    k = energy.hessian(x).diagonal().reshape(n, d)[:, 0]
    held = np.flatnonzero(k > 0.0)
    target = np.zeros((len(held), 3))
    target[:, :d] = X[held] - energy.gradient(x).reshape(n, d)[held] / k[held, None]
    return [batch(kernels.point, held[:, None], X, (target, 1.0 / k[held]), width=3)]


@constraints.register
def _(energy: PlaneCollision, X: Array) -> list[Batch]:
    return [_plane(energy.vertices, energy.point, energy.normal, np.full(len(energy.vertices), 1.0 / energy.k), X)]


@constraints.register
def _(energy: QuadraticBending, X: Array) -> list[Batch]:
    """A hinge that is flat at rest; without any stiffness it is none."""
    bent = energy.weights > 0.0
    if not bent.any():
        return []
    return [
        batch(kernels.flat_hinge, energy.hinges[bent], X, (energy.stencils[bent], 1 / energy.weights[bent]), width=3)
    ]


@constraints.register
def _(energy: HingeBending, X: Array) -> list[Batch]:
    flat = energy.rest == 0.0
    alpha = 1.0 / energy.weights
    out = []
    if flat.any():
        tables: tuple[Array, ...] = (energy.stencils[flat], alpha[flat])
        out.append(batch(kernels.flat_hinge, energy.hinges[flat], X, tables, width=3))
    if not flat.all():
        tables = (energy.stencils[~flat], energy.rest[~flat], alpha[~flat])
        out.append(batch(kernels.curved_hinge, energy.hinges[~flat], X, tables))
    return out


@constraints.register
def _(energy: Penalty, X: Array) -> list[Batch]:
    return displacement(energy.function, 1.0 / energy.k, X)


@singledispatch
def displacement(function: Displacement, alpha: Array, X: Array) -> list[Batch]:
    """The constraints phi = 0 of a displacement function with compliances alpha (m,)."""
    raise SceneError(
        f"{type(function).__name__} have no XPBD kernel",
        where="XPBD",
        remedy="use Distances, Volumes or PlaneDistances, or HingeBending for bending",
    )


@displacement.register
def _(function: Distances, alpha: Array, X: Array) -> list[Batch]:
    return [batch(kernels.distance, function.nodes, X, (function.rest, alpha))]


@displacement.register
def _(function: Volumes, alpha: Array, X: Array) -> list[Batch]:
    return [batch(kernels.volume, function.nodes, X, (function.rest, alpha))]


@displacement.register
def _(function: PlaneDistances, alpha: Array, X: Array) -> list[Batch]:
    return [_plane(function.nodes[:, 0], function.point, function.normal, alpha, X)]


def _plane(vertices: IntArray, point: Array, normal: Array, alpha: Array, X: Array) -> Batch:
    place = np.tile(np.concatenate([in_space(point), in_space(normal)]), (len(vertices), 1))
    return batch(kernels.plane, vertices[:, None], X, (place, alpha))


def in_space(a: Array) -> Array:
    """Vectors (..., d) as (..., 3), with zeros for what is missing."""
    out = np.zeros((*np.shape(a)[:-1], 3))
    out[..., : np.shape(a)[-1]] = a
    return out


# ---- elastic elements


@constraints.register
def _(energy: Elastic, X: Array) -> list[Batch]:
    e = energy.elements
    out = []
    for material in summands(energy.material):
        seen = material.plane_stress() if energy.plane == "stress" else material
        law, mu, lam = pair(seen)
        out.append(_elements(law, e.nodes, e.gradients, e.volumes, (mu, lam), X))
    return out


@constraints.register
def _(energy: MembraneEnergy, X: Array) -> list[Batch]:
    G = in_space(energy.b[:, 1:])
    return [_elements(elements.corotational, energy.faces, G, energy.area, (energy.mu, energy.lam), X)]


def _elements(law: Any, nodes: IntArray, G: Array, volumes: Array, moduli: tuple[Any, Any], X: Array) -> Batch:
    """Elements with the shape gradients G (m, k, 3) of all vertices but the first, which are minus their sum."""
    m, k = nodes.shape
    G = G[:, : k - 1]
    G = np.concatenate([-G.sum(axis=1, keepdims=True), G], axis=1).reshape(m, 3 * k)
    mu, lam = (np.broadcast_to(p, m) for p in moduli)
    stiffness = np.stack([lam, mu], axis=1) * volumes[:, None]
    alpha = 1.0 / np.maximum(stiffness, SOFTEST * stiffness.max())
    return batch(elements.ELEMENTS[k, law], nodes, X, (G, alpha), width=2)


PAIRS = {
    StableNeoHookean: elements.stable_neo_hookean,
    NeoHookean: elements.neo_hookean,
    StVK: elements.stvk,
    Corotational: elements.corotational,
    ARAP: elements.corotational,
}


def pair(material: Material) -> tuple[Any, Any, Any]:
    """(law, mu, lam) of a material that is a pair of constraints, see `element_kernels`."""
    if type(material) not in PAIRS:
        raise SceneError(
            f"{type(material).__name__} is not a pair of constraints",
            where="XPBD",
            remedy=f"use {', '.join(known.__name__ for known in PAIRS)}, or another integrator",
        )
    given: Any = material
    return PAIRS[type(material)], *lame(given.E, given.nu if isinstance(given, Isotropic) else 0.0)

"""The matrix that Projective Dynamics puts in place of a Hessian: a weighted Laplacian L (n, n) per coordinate.

An energy sum_i w_i/2 min_p |G_i x - p|^2 has L = sum_i w_i G_i^T G_i, and L - Hessian is positive semidefinite in every
state [Bouaziz2014; Ledwon2024, Eq. 3.23]. For other densities the weight is the slope of the best line through the
stress-stretch curve around rest, k = int (s - 1) P(s) ds / int (s - 1)^2 ds over 1 +- window [Liu2017]: then L is only
close to the Hessian, and steps need a line search.
An energy of another kind (contact) takes part with its own method ``laplacian(x) -> (n, n) csr``, or with the trace of
its projected Hessian over the coordinates, which majorises blocks w w^T (x) n n^T such as those of contacts.
"""

from functools import singledispatch

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.energies.attachment import AttachmentEnergy
from pliant.energies.base import Energy, Majorised
from pliant.energies.bending import QuadraticBending
from pliant.energies.elastic import Elastic
from pliant.energies.gravity import Gravity
from pliant.energies.membrane import MembraneEnergy
from pliant.energies.projective import HingeBending
from pliant.energies.springs import Springs
from pliant.errors import SceneError
from pliant.materials.base import Material, Weighted, summands

WINDOW = 0.1  # stretches 1 +- this enter the slope


@singledispatch
def laplacian(energy: Energy, x: Array, n: int) -> sp.csr_matrix:
    """L (n, n) of an energy on n vertices; it depends on the flat coordinates x unless the energy `is_constant`."""
    if isinstance(energy, Majorised):
        return energy.laplacian(x)
    d = len(x) // n
    H = energy.hessian(x, psd=True)
    total = sp.csr_matrix((n, n))
    for axis in range(d):
        total = total + H[axis::d, axis::d]
    return sp.csr_matrix(total)


def is_constant(energy: Energy) -> bool:
    """Whether L is one of the table below: the same in every state."""
    return laplacian.dispatch(type(energy)) is not laplacian.dispatch(object)


@laplacian.register
def _(energy: Gravity, x: Array, n: int) -> sp.csr_matrix:
    return sp.csr_matrix((n, n))


@laplacian.register(AttachmentEnergy)
@laplacian.register(QuadraticBending)
def _(energy: Energy, x: Array, n: int) -> sp.csr_matrix:
    """Quadratic energies: the Hessian is L for every coordinate alike."""
    d = len(x) // n
    return sp.csr_matrix(energy.hessian(x)[::d, ::d])


@laplacian.register
def _(energy: HingeBending, x: Array, n: int) -> sp.csr_matrix:
    return energy.laplacian(x)


@laplacian.register
def _(energy: Springs, x: Array, n: int) -> sp.csr_matrix:
    stencil = np.broadcast_to([1.0, -1.0], energy.edges.shape)
    return assemble(energy.edges, stencil[:, None, :], energy.k, n)


@laplacian.register
def _(energy: Elastic, x: Array, n: int) -> sp.csr_matrix:
    e = energy.elements
    material = energy.material.plane_stress() if energy.plane == "stress" else energy.material
    g = e.gradients[:, : e.nodes.shape[1] - 1].transpose(0, 2, 1)  # (m, 3, k - 1): F = x G, one row per material axis
    G = np.concatenate([-g.sum(axis=2, keepdims=True), g], axis=2)
    return assemble(e.nodes, G, e.volumes * slope(material), n)


@laplacian.register
def _(energy: MembraneEnergy, x: Array, n: int) -> sp.csr_matrix:
    weights = energy.area * (2.0 * energy.mu + energy.lam)
    return assemble(energy.faces, energy.b.transpose(0, 2, 1), weights, n)


def assemble(elements: IntArray, G: Array, weights: Array, n: int) -> sp.csr_matrix:
    """sum_e w_e G_e^T G_e for stencils G (m, rows, k) on the vertices elements (m, k)."""
    k = elements.shape[1]
    blocks = np.einsum("m,mra,mrb->mab", np.broadcast_to(weights, len(elements)), G, G)
    rows, columns = np.repeat(elements, k, axis=1).ravel(), np.tile(elements, (1, k)).ravel()
    return sp.csr_matrix((blocks.ravel(), (rows, columns)), shape=(n, n))


def slope(material: Material, window: float = WINDOW) -> Array:
    """The weight k [Pa] of a material, a number as an array (1,) or one per element; sums add up.

    Squared distances say it themselves (``weight``); for others it is the slope of the stress-stretch curve around
    rest, other stretches at 1, the largest over the three axes, by Gauss quadrature with 8 points.
    """
    parts = summands(material)
    if len(parts) > 1:
        return sum((slope(part, window) for part in parts), start=np.zeros(1))
    if isinstance(material, Weighted):
        return np.atleast_1d(material.weight())
    m = max(len(values) for _, values in material.terms())
    points, weights = np.polynomial.legendre.leggauss(8)
    total = np.zeros((m, 3))
    for point, weight in zip(window * points, weights, strict=True):
        for axis in range(3):
            F = np.tile(np.eye(3), (m, 1, 1))
            F[:, axis, axis] += point
            total[:, axis] += weight * point * material.piola(F)[:, axis, axis]
    k = total.max(axis=1) / float(weights @ (window * points) ** 2)
    if not (k > 0.0).all():
        raise SceneError(
            f"the stress of {type(material).__name__} does not grow with stretch (slope {k.min():g} Pa)",
            where="Projective Dynamics",
            remedy="use solver=newton",
        )
    return k

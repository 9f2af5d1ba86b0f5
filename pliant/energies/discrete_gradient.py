"""Discrete gradients: forces between two shapes that do the work W(x1) - W(x0) exactly, and no torque.

For elements with W = V psi(C), C = F^T F, the second Piola-Kirchhoff stress between the two is

    S = S(Cm) + (psi_1 - psi_0 - S(Cm) : dC / 2) / (dC : dC / 2) dC,    Cm = (C_0 + C_1)/2,  dC = C_1 - C_0

and the nodal gradients are V Fm S grad N with Fm = (F_0 + F_1)/2: Fm S : dF = S : dC/2 is the change of psi, and S is
symmetric, so they turn nothing. Where dC is small the difference of psi is the integral of the stress by Gauss's rule,
which loses no digits. [Gonzalez2000; SimoTarnow1992]
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.kernels.rest import Elements

GAUSS = np.sqrt(0.15)  # the outer points of Gauss's rule of three on [-1/2, 1/2], whose weights are 5/18
SMALL = 1e-3  # dC : dC / 2 below which the rule is exact and psi_1 - psi_0 would lose digits


class ElementGradient:
    """The discrete gradient of solid elements.

    ``apart(X, T)`` makes their energy with vertices of their own, so that they can be asked at any F.
    """

    def __init__(self, elements: Elements, apart: Callable[[Array, IntArray], Any]) -> None:
        self._elements = elements
        m, k = elements.nodes.shape
        grad = elements.gradients[:, : k - 1, : k - 1]
        self._rest = np.concatenate([np.zeros((m, 1, k - 1)), np.linalg.inv(grad).transpose(0, 2, 1)], axis=1)
        self._grad = np.concatenate([-grad.sum(axis=1, keepdims=True), grad], axis=1)  # of the shape functions
        self._apart = apart(self._rest.reshape(-1, k - 1), np.arange(m * k).reshape(m, k))
        self._share = elements.volumes / self._apart.volumes  # planar solids have a thickness

    def _placed(self, F: Array) -> Array:
        """Positions of all vertices when element e is deformed by F_e."""
        return np.einsum("mij,maj->mai", F, self._rest).ravel()

    def _energies(self, F: Array) -> Array:
        return self._share * self._apart.element_energies(self._placed(F))

    def _stress(self, C: Array, over: Array, dC: Array) -> tuple[Array, Array]:
        """V S(C) grad N (m, d + 1, d) and V S(C) : dC/2 (m,), where elements in ``over`` are turned over."""
        lam, Q = np.linalg.eigh(C)
        root = np.sqrt(np.maximum(lam, 1e-300))
        root[:, 0] *= np.where(over, -1.0, 1.0)  # which C does not tell
        U, inverse = (np.einsum("mia,ma,mja->mij", Q, values, Q) for values in (root, 1.0 / root))
        P = self._apart.gradient(self._placed(U)).reshape(self._rest.shape)  # V P grad N, and S = U^-1 P
        own = self._share[:, None, None] * np.einsum("mij,maj->mai", inverse, P)
        return own, 0.5 * np.einsum("mai,mij,maj->m", own, dC, self._rest)

    def between(self, x0: Array, x1: Array) -> Array:
        """(N,) [N]."""
        F0, F1 = self._elements.deformation(x0), self._elements.deformation(x1)
        C0, C1 = (np.swapaxes(F, 1, 2) @ F for F in (F0, F1))
        Fm, dC = 0.5 * (F0 + F1), C1 - C0
        over = np.linalg.det(Fm) < 0.0
        own, middle = self._stress(0.5 * (C0 + C1), over, dC)
        sides = [self._stress(0.5 * (C0 + C1) + way * dC, over, dC)[1] for way in (-GAUSS, GAUSS)]
        size = 0.5 * np.einsum("mij,mij->m", dC, dC)
        summed = 5.0 / 18.0 * (sides[0] + sides[1] - 2.0 * middle)
        missing = np.where(size < SMALL, summed, self._energies(F1) - self._energies(F0) - middle)
        own += (missing / np.maximum(size, 1e-300))[:, None, None] * np.einsum("mij,maj->mai", dC, self._grad)
        g = np.einsum("mij,maj->mai", Fm, own)
        out = np.zeros((x0.size // g.shape[2], g.shape[2]))
        np.add.at(out, self._elements.nodes, g)
        return out.ravel()


def spring_gradient(x0: Array, x1: Array, edges: IntArray, k: Array, rest: Array) -> Array:
    """k (1 - 2 l / (L_0 + L_1)) times the mean of the two spring vectors, (n, d) [N]."""
    s0, s1 = (x[edges[:, 0]] - x[edges[:, 1]] for x in (x0, x1))
    both = np.linalg.norm(s0, axis=1) + np.linalg.norm(s1, axis=1)
    tension = k * (1.0 - 2.0 * rest / np.maximum(both, 1e-300))
    pull = 0.5 * tension[:, None] * (s0 + s1)
    out = np.zeros_like(x0)
    np.add.at(out, edges[:, 0], pull)
    np.add.at(out, edges[:, 1], -pull)
    return out

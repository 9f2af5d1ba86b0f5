"""What EigenFit adds to a system, as terms that ledgers, certificates and exporters can read one by one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import scipy.sparse as sp

from pliant.arrays import Array
from pliant.linear.lowrank import corrected
from pliant.state import Counts
from pliant.systems.eigenfit_modes import Start


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The modes of all fitted bodies at q, one body after the other, their ratios, and what else was computed there."""

    q: Array
    K: sp.csr_matrix  # (N, N) elastic stiffness
    U: Array  # (N, s), zero on prescribed coordinates
    W: Array  # (N, s) K U Lam^-1
    lam: Array
    ratios: Array
    overlap: Array  # (s, s) with the modes at rest of the same body
    starts: tuple[Start, ...] = ()  # for the next step, body by body
    counts: Counts = Counts()

    def correction(self, f: Array) -> Array:
        """W (R - I) U^T f."""
        return self.W @ ((self.ratios - 1.0) * (self.U.T @ f))

    def energy(self, f: Array) -> float:
        """1/2 sum (r_i - 1) (u_i^T f)^2 / lam_i [J]: what the correction stores, for linear materials."""
        changed = self.ratios != 1.0
        a = self.U.T[changed] @ f
        return 0.5 * float(((self.ratios[changed] - 1.0) / self.lam[changed]) @ (a * a))


@dataclass(frozen=True, eq=False)
class CorrectionEnergy:
    """The potential of the correction by fixed modes; its gradient is exact for linear materials."""

    spectrum: Spectrum
    elastic_force: Callable[[Array], Array]
    name: str = "eigenfit"
    internal: ClassVar[bool] = True

    def value(self, x: Array) -> float:
        return self.spectrum.energy(self.elastic_force(x))

    def gradient(self, x: Array) -> Array:
        return -self.spectrum.correction(self.elastic_force(x))

    def hessian(self, x: Array, *, psd: bool = False) -> sp.csr_matrix:
        s = self.spectrum
        return corrected(sp.csr_matrix(s.K.shape), s.W, (s.ratios - 1.0) * s.lam)


@dataclass(frozen=True, eq=False)
class AddedForce:
    """A force that `EigenFit` adds, by name; its matrices are part of the system's own."""

    name: str
    at: Callable[[Array, Array], Array]  # of q and v

    def force(self, x: Array, v: Array, t: float) -> Array:
        return self.at(x, v)

    def stiffness(self, x: Array, v: Array, t: float) -> Any:
        return sp.csr_matrix((len(x), len(x)))

    def damping(self, x: Array, v: Array, t: float) -> Any:
        return sp.csr_matrix((len(x), len(x)))

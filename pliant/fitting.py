"""Coarse bodies that vibrate with the frequencies of the same bodies on fine meshes. [Chen2019, ch. 3]"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import scipy.sparse as sp

from pliant.coarsen import fit, prolongation
from pliant.errors import SceneError, require_count
from pliant.systems.eigenfit import EigenFit, Fit
from pliant.systems.eigenfit_modes import Mismatch
from pliant.systems.elastodynamics import Elastodynamics
from pliant.units import read_fields


@dataclass(frozen=True, eq=False)
class Fitting:
    """Fits the ``s`` lowest frequencies to those of ``fine``: the same body on a finer mesh, with the same supports.

    The fine body is not simulated; its modes at rest are computed once. The coarse body keeps its own damping;
    ``alpha`` [1/s] and ``beta`` [s] add alpha M + beta K# with the corrected stiffness K#. ``frozen`` keeps the modes
    of the rest state, which is exact for linear materials. For ``on_mismatch`` see `EigenFit`.
    """

    fine: Any
    s: int = 10
    alpha: float = 0.0
    beta: float = 0.0
    frozen: bool = False
    on_mismatch: Mismatch = "warn"
    units: ClassVar[dict[str, str]] = {"alpha": "1/s", "beta": "s"}

    def __post_init__(self) -> None:
        read_fields(self)
        require_count(self.s, 1, "Fitting.s")


def ratios(bodies: Sequence[Any], coarse: Elastodynamics, fine: Elastodynamics) -> Fit:
    """Ratios of the frequencies at rest, fine to coarse, squared; bodies without a fitting count as their own fine."""
    blocks = [sp.identity(len(b.mesh.X)) if b.fit is None else prolongation(b.mesh, b.fit.fine.mesh) for b in bodies]
    chosen = [b.fit for b in bodies if b.fit is not None]
    B = sp.csr_matrix(sp.block_diag(blocks, format="csr"))
    return fit(coarse, fine, B, sum(f.s for f in chosen), on_mismatch=chosen[0].on_mismatch)


def fitted(bodies: Sequence[Any], system: Elastodynamics, found: Fit) -> EigenFit:
    """The system of some bodies with the frequencies that were found."""
    chosen = [b.fit for b in bodies if b.fit is not None]
    first = chosen[0]
    for other in chosen[1:]:
        if (other.alpha, other.beta, other.frozen) != (first.alpha, first.beta, first.frozen):
            remedy = "give all fitted bodies of a scene the same alpha, beta and frozen"
            raise SceneError("fittings differ in their damping", where="Fitting", remedy=remedy)
    return EigenFit(
        system, found, alpha=first.alpha, beta=first.beta, frozen=first.frozen, rematch=not first.frozen,
        on_mismatch=first.on_mismatch,
    )  # fmt: skip

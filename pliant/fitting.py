"""Coarse bodies that vibrate with the frequencies of the same bodies on fine meshes. [Chen2019, ch. 3]"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

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


def ratios(body: Any, coarse: Elastodynamics, fine: Elastodynamics) -> Fit:
    """Ratios of the frequencies of a body alone at rest, fine to coarse, squared."""
    return fit(coarse, fine, prolongation(body.mesh, body.fit.fine.mesh), body.fit.s, on_mismatch=body.fit.on_mismatch)


def fitted(chosen: Sequence[Fitting], system: Elastodynamics, found: Sequence[Fit]) -> EigenFit:
    """The system of some bodies with the frequencies that were found for those that have a fitting."""
    first = chosen[0]
    for other in chosen[1:]:
        for name in ("alpha", "beta", "frozen", "on_mismatch"):
            one, two = getattr(first, name), getattr(other, name)
            if one != two:
                what, remedy = f"{name} is {one!r} here and {two!r} there", "give all fitted bodies of a scene the same"
                raise SceneError(what, where=f"Fitting.{name}", remedy=remedy)
    return EigenFit(
        system, found, alpha=first.alpha, beta=first.beta, frozen=first.frozen, rematch=not first.frozen,
        on_mismatch=first.on_mismatch,
    )  # fmt: skip

"""An energy seen from further on, W(x + way): contacts that a linearised step has not reached yet but will."""

from dataclasses import dataclass
from typing import Any

import scipy.sparse as sp

from pliant.arrays import Array


@dataclass(frozen=True, eq=False)
class Shifted:
    """``energy`` at x + ``way`` (N,) [m]."""

    energy: Any
    way: Array

    @property
    def name(self) -> str:
        return str(self.energy.name)

    def value(self, x: Array) -> float:
        return float(self.energy.value(x + self.way))

    def gradient(self, x: Array) -> Array:
        return self.energy.gradient(x + self.way)  # type: ignore[no-any-return]

    def hessian(self, x: Array, *, psd: bool = False) -> sp.csr_matrix:
        return self.energy.hessian(x + self.way, psd=psd)

"""Contact by rows of the velocity step: nothing is stored, a row n . u >= d stops what approaches."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.errors import SceneError
from pliant.units import read_fields


@dataclass(frozen=True)
class RowContact:
    """Rows for whatever is nearer than ``thickness`` [m], with Coulomb's coefficient ``mu``."""

    mu: float = 0.0
    thickness: float = 5e-3
    units: ClassVar[dict[str, str]] = {"mu": "1", "thickness": "m"}

    def __post_init__(self) -> None:
        read_fields(self)
        if not (np.isfinite(self.mu) and self.mu >= 0.0):
            raise SceneError(f"mu is {self.mu}", where="RowContact.mu", remedy="give a friction coefficient >= 0")
        if not (np.isfinite(self.thickness) and self.thickness > 0.0):
            raise SceneError(
                f"thickness is {self.thickness} m", where="RowContact.thickness", remedy="give a positive length [m]"
            )

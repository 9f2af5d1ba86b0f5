"""A planar solid of discontinuous triangles: each owns its vertices, glue holds them together. [Chen2019, sec. 5.4]"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.bodies import read_body
from pliant.energies.base import Energy
from pliant.energies.dg import BZ, IP, explode
from pliant.energies.elastic import Elastic
from pliant.errors import SceneError
from pliant.maps.pins import Pin
from pliant.mesh import Mesh, lumped_mass


@dataclass(frozen=True, eq=False)
class DiscontinuousSolid:
    """A planar solid of discontinuous triangles, which penalties hold together. [Chen2019, sec. 5.4]

    ``continuous`` is an ordinary triangle mesh and ``pins`` refer to its vertices: every copy of a pinned vertex is
    held. ``eta`` [Pa/m] is the penalty of the ``flux``; ``density`` is per area [kg/m^2].
    """

    continuous: Mesh
    material: Any
    eta: float
    flux: Literal["BZ", "IP"] = "BZ"
    density: float = 1000.0
    pins: Sequence[Pin] | Pin = ()
    damping: Any = None
    velocity: tuple[float, ...] = (0.0, 0.0, 0.0)
    positions: Array | None = None
    name: str = "discontinuous"
    mesh: Mesh = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.continuous, Mesh) or self.continuous.dim != 2 or self.continuous.kind != "triangles":
            remedy = "give a mesh of triangles in the plane"
            raise SceneError(f"mesh is {self.continuous!r}", where=f"{self.name}.continuous", remedy=remedy)
        object.__setattr__(self, "mesh", explode(self.continuous))
        read_body(self, pinned=self.continuous, density="kg/m^2", eta="Pa/m")

    def copies(self) -> list[Pin]:
        """The pins with every copy of the vertices they hold."""
        corners = self.continuous.T.ravel()
        return [p.renumbered(np.flatnonzero(np.isin(corners, p.vertices))) for p in self.pins]  # type: ignore[union-attr]

    def young(self) -> float:
        return float(np.mean(self.material.young()))

    def width(self) -> float:
        return float("nan")

    def alike(self) -> tuple[Any, ...]:
        return (id(self),)

    def masses(self) -> sp.csr_matrix:
        return sp.csr_matrix(sp.diags(lumped_mass(self.mesh, self.density)))

    def energies(self, placed: Any) -> list[Energy]:
        n = len(placed.X)
        if self.flux == "BZ":
            glue: Energy = BZ(self.continuous, self.eta, first=placed.first, n=n)
        elif n != len(self.mesh.X):
            raise SceneError("the IP flux needs the scene for itself", where=self.name, remedy='use flux="BZ"')
        else:
            glue = IP(self.continuous, self.material, self.eta)
        return [Elastic(placed.X, placed.T, self.material), glue]

"""What a mesh keeps, said without its numbers: choices that make displacement functions for the system at hand."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from pliant.constraints.functions import Displacement, Distances, Volumes
from pliant.errors import SceneError
from pliant.mesh.topology import edges
from pliant.systems.elastodynamics import Elastodynamics


@runtime_checkable
class Kept(Protocol):
    """A choice of constraints that reads the meshes of a system."""

    def of(self, system: Elastodynamics) -> Displacement: ...


@dataclass(frozen=True)
class KeptLengths:
    """Every edge keeps its rest length: ropes and nets that do not stretch. A mesh of triangles would lock."""

    def of(self, system: Elastodynamics) -> Displacement:
        E = np.concatenate([cells if cells.shape[1] == 2 else edges(cells) for cells in system.cells()])
        return Distances(system.X, E)


@dataclass(frozen=True)
class KeptVolumes:
    """Every tetrahedron keeps its volume."""

    def of(self, system: Elastodynamics) -> Displacement:
        T = [cells for cells in system.cells() if cells.shape[1] == 4]
        if not T:
            remedy = "use KeptLengths, or a body of tetrahedra"
            raise SceneError("no tetrahedra have a volume to keep", where="KeptVolumes", remedy=remedy)
        return Volumes(system.X, np.concatenate(T))


KEPT = (KeptLengths, KeptVolumes)

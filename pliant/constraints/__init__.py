"""Constraints on particles and meshes: geometric displacement functions phi(x), and five ways to keep phi = 0.

- `Penalty(function, k)`: an energy k/2 phi^2 for any integrator (stiff springs are its distances);
- `FilteredEuler(sliding, along)`, `filtered_step`: prescribed directions inside an implicit step, by modified
  conjugate gradients;
- `ConstrainedEuler(function)`: hard constraints, by the KKT or the Schur system;
- `ConstrainedEuler(function, compliance=1/k)`: the same with finite stiffness, well-conditioned up to k = infinity.
[Ledwon2024, sec. 3.3]
"""

from pliant.constraints.euler import ConstrainedEuler
from pliant.constraints.filtered import Directions, FilteredEuler, filtered_pcg, filtered_step
from pliant.constraints.functions import (
    Angles,
    Displacement,
    Distances,
    PlaneDistances,
    Shears,
    Volumes,
    curvature,
    jacobian,
)
from pliant.constraints.kept import KEPT, Kept, KeptLengths, KeptVolumes
from pliant.constraints.penalty import Penalty
from pliant.constraints.rows import ConstraintError, constrained_velocities

__all__ = [
    "KEPT",
    "Angles",
    "ConstrainedEuler",
    "ConstraintError",
    "Directions",
    "Displacement",
    "Distances",
    "FilteredEuler",
    "Kept",
    "KeptLengths",
    "KeptVolumes",
    "Penalty",
    "PlaneDistances",
    "Shears",
    "Volumes",
    "constrained_velocities",
    "curvature",
    "filtered_pcg",
    "filtered_step",
    "jacobian",
]

"""Energies that are squared distances to a set, w/2 min_{p in C} |G x - p|^2: the vocabulary of Projective Dynamics.

`StrainLimit` and `VolumeRange` are densities and go into `Elastic` (or a Solid, or a sum of materials) like any other;
`HingeBending` and `PlaneCollision` are energies of their own. All have exact Hessians, so every solver reaches the same
root. Springs, ARAP and `Attachment` belong to the same family. [Ledwon2024, sec. 3.4]
"""

from pliant.energies.projective.bending import HingeBending
from pliant.energies.projective.collision import PlaneCollision
from pliant.energies.projective.strain_limit import StrainLimit
from pliant.energies.projective.volume_range import VolumeRange

__all__ = ["HingeBending", "PlaneCollision", "StrainLimit", "VolumeRange"]

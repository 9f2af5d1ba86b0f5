"""Energies: one file each; `ENERGIES` lists them for the conformance tests."""

from pliant.energies.attachment import AttachmentEnergy
from pliant.energies.barrier import GapBarrier, SurfaceBarrier
from pliant.energies.bending import QuadraticBending
from pliant.energies.dg import BZ, IP
from pliant.energies.elastic import Elastic
from pliant.energies.gravity import DeadLoad, Gravity
from pliant.energies.membrane import MembraneEnergy
from pliant.energies.penalty import AnchoredPenalty, ContactPenalty
from pliant.energies.projective import HingeBending, PlaneCollision
from pliant.energies.shifted import Shifted
from pliant.energies.springs import Springs

ENERGIES = (
    Elastic,
    Springs,
    MembraneEnergy,
    QuadraticBending,
    HingeBending,
    BZ,
    IP,
    DeadLoad,
    Gravity,
    AttachmentEnergy,
    Shifted,
    ContactPenalty,
    AnchoredPenalty,
    PlaneCollision,
    GapBarrier,
    SurfaceBarrier,
)

__all__ = [*(energy.__name__ for energy in ENERGIES), "ENERGIES"]

"""Forces without a potential: one file each; `FORCES` lists them for the conformance tests."""

from pliant.forces.contact_damping import ContactDamping
from pliant.forces.friction import FrictionForce
from pliant.forces.green import GreenDamping
from pliant.forces.rayleigh import RayleighForce
from pliant.forces.surface_load import AirDrag, SurfacePressure
from pliant.forces.tension import FibreTension

FORCES = (RayleighForce, GreenDamping, ContactDamping, FrictionForce, FibreTension, SurfacePressure, AirDrag)

__all__ = [*(force.__name__ for force in FORCES), "FORCES"]

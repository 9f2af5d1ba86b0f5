"""Forces on articulated systems."""

from pliant.articulated.forces.base import ArticulatedForce
from pliant.articulated.forces.bodies import BodyDamping, WorldForce
from pliant.articulated.forces.forms import Explicit, Reduced
from pliant.articulated.forces.joint import JointSpring, JointTorque, Servo
from pliant.articulated.forces.springs import Cable, PointSprings, SpringDamper

FORCES = (JointSpring, JointTorque, BodyDamping, WorldForce, PointSprings, Cable, Explicit, Reduced)

__all__ = [
    "FORCES",
    "ArticulatedForce",
    "BodyDamping",
    "Cable",
    "Explicit",
    "JointSpring",
    "JointTorque",
    "PointSprings",
    "Reduced",
    "Servo",
    "SpringDamper",
    "WorldForce",
]

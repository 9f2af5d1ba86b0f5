"""Forces on articulated systems."""

from pliant.articulated.forces.base import ArticulatedForce
from pliant.articulated.forces.bodies import BodyDamping, WorldForce
from pliant.articulated.forces.forms import Explicit, Reduced
from pliant.articulated.forces.joint import JointSpring, JointTorque, Servo
from pliant.articulated.forces.springs import Cable, PointSprings, SpringDamper
from pliant.articulated.forces.stops import JointStop

ARTICULATED_FORCES = (
    *(PointSprings, Cable, JointSpring, JointStop, JointTorque, Servo),
    *(WorldForce, BodyDamping, Explicit, Reduced),
)

__all__ = [
    "ARTICULATED_FORCES",
    "ArticulatedForce",
    "BodyDamping",
    "Cable",
    "Explicit",
    "JointSpring",
    "JointStop",
    "JointTorque",
    "PointSprings",
    "Reduced",
    "Servo",
    "SpringDamper",
    "WorldForce",
]

"""Contact geometry: obstacles, detection, intersections."""

from pliant.contact.contacts import Contacts
from pliant.contact.initial import OverlapError
from pliant.contact.intersect import intersections
from pliant.contact.obstacles import Bowl, Box, Cylinder, Obstacle, Plane, Sphere
from pliant.contact.pairs import PairDetector
from pliant.contact.sharp import Hull, Points, Sharp, Wire
from pliant.contact.triangles import TriangleObstacle

OBSTACLES = (Plane, Sphere, Box, Cylinder, Bowl, TriangleObstacle, Hull, Points, Wire)

__all__ = [
    "OBSTACLES",
    "Bowl",
    "Box",
    "Contacts",
    "Cylinder",
    "Hull",
    "Obstacle",
    "OverlapError",
    "PairDetector",
    "Plane",
    "Points",
    "Sharp",
    "Sphere",
    "TriangleObstacle",
    "Wire",
    "intersections",
]

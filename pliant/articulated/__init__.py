"""Articulated bodies in reduced coordinates: RedMax, and joint friction by BISP [Weidner2022, ch. 3]."""

from pliant.articulated.bisp import BISP
from pliant.articulated.bodies import Body, at, composite, cuboid, cylinder, mesh_body, particle, rigid, sphere
from pliant.articulated.body import Articulated, Rigid, from_mjcf, from_urdf
from pliant.articulated.friction import Friction, frictionless
from pliant.articulated.linear import Dense, MatrixFree, Sparse
from pliant.articulated.mjcf import read_mjcf
from pliant.articulated.obstacles import moving_obstacles
from pliant.articulated.rk45 import RK45
from pliant.articulated.staggered import StaggeredProjections
from pliant.articulated.system import ArticulatedSystem
from pliant.articulated.tree import Link
from pliant.articulated.urdf import read_urdf

TREE_INTEGRATORS = (RK45, BISP, StaggeredProjections)  # for articulated bodies alone

__all__ = [
    "Articulated",
    "Rigid",
    "from_mjcf",
    "from_urdf",
    "BISP",
    "MatrixFree",
    "RK45",
    "TREE_INTEGRATORS",
    "ArticulatedSystem",
    "Body",
    "Dense",
    "Friction",
    "Link",
    "Sparse",
    "StaggeredProjections",
    "at",
    "composite",
    "cuboid",
    "cylinder",
    "frictionless",
    "mesh_body",
    "moving_obstacles",
    "particle",
    "read_mjcf",
    "read_urdf",
    "rigid",
    "sphere",
]

"""Constraints on articulated systems."""

from pliant.articulated.constraints.contact import BoxContact, FloorContact
from pliant.articulated.constraints.joints import CoupledJoints, JointLimit, PrescribedBody, PrescribedJoint
from pliant.articulated.constraints.loops import BallClosure, LoopClosure
from pliant.articulated.constraints.obstacle import ObstacleContact
from pliant.articulated.constraints.rows import Constraint, ConstraintRows, RowSet

CONSTRAINTS = (
    *(JointLimit, CoupledJoints, PrescribedJoint, PrescribedBody),
    *(LoopClosure, BallClosure, FloorContact, BoxContact, ObstacleContact),
)

__all__ = [
    "CONSTRAINTS",
    "BallClosure",
    "BoxContact",
    "Constraint",
    "CoupledJoints",
    "FloorContact",
    "JointLimit",
    "LoopClosure",
    "ObstacleContact",
    "PrescribedBody",
    "PrescribedJoint",
    "RowSet",
    "ConstraintRows",
]

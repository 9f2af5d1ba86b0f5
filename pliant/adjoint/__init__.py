"""Gradients through time: `gradient`, `tangent`, `objective`, and losses."""

from pliant.adjoint.losses import CustomLoss, EndEnergy, EndShape, Loss, PointTrajectory
from pliant.adjoint.path import read, written
from pliant.adjoint.sensitivity import Check, Gradient, gradient, objective, tangent

__all__ = [
    "Check",
    "CustomLoss",
    "EndEnergy",
    "EndShape",
    "Gradient",
    "Loss",
    "PointTrajectory",
    "gradient",
    "objective",
    "read",
    "tangent",
    "written",
]

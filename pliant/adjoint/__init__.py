"""Gradients through time: `gradient`, `tangent`, `objective`, and losses."""

from pliant.adjoint.gradient import Check, Gradient, gradient, objective, tangent
from pliant.adjoint.losses import CustomLoss, EndEnergy, EndShape, Loss, PointTrajectory

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
    "tangent",
]

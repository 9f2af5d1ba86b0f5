"""Gradients through time: `gradient`, `tangent`, `objective`, and losses."""

from pliant.adjoint.fit import FitRun, Fitted, fit
from pliant.adjoint.losses import ContactForce, CustomLoss, EndEnergy, EndShape, Loss, PointTrajectory, PointWeights
from pliant.adjoint.motion import Trajectory, jax_motion, torch_motion
from pliant.adjoint.observations import Observations
from pliant.adjoint.path import completed, read, written
from pliant.adjoint.recording import read_recording
from pliant.adjoint.regions import Regions
from pliant.adjoint.sensitivity import Check, Gradient, gradient, objective, tangent

__all__ = [
    "Check",
    "ContactForce",
    "CustomLoss",
    "EndEnergy",
    "EndShape",
    "FitRun",
    "Fitted",
    "Gradient",
    "Loss",
    "Trajectory",
    "Observations",
    "PointTrajectory",
    "PointWeights",
    "Regions",
    "completed",
    "fit",
    "gradient",
    "jax_motion",
    "objective",
    "read",
    "read_recording",
    "tangent",
    "torch_motion",
    "written",
]

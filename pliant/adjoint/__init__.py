"""Gradients through time: `gradient`, `tangent`, `objective`, and losses."""

from pliant.adjoint.gradient import Check, Gradient, gradient, objective, tangent
from pliant.adjoint.losses import Custom, EndShape, Energy, Loss, Track

__all__ = ["Check", "Custom", "EndShape", "Energy", "Gradient", "Loss", "Track", "gradient", "objective", "tangent"]

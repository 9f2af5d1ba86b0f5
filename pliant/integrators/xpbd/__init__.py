"""XPBD: position-based dynamics whose stiffness does not depend on the step or the iterations."""

from pliant.integrators.xpbd.step import XPBD

__all__ = ["XPBD"]

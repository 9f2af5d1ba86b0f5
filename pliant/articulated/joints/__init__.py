"""Joints, one per file."""

import numpy as np

from pliant.articulated.joints.base import Joint
from pliant.articulated.joints.composite import Composite
from pliant.articulated.joints.fixed import Fixed
from pliant.articulated.joints.free2d import Free2D
from pliant.articulated.joints.free3d import Free3D
from pliant.articulated.joints.freest import FreeST
from pliant.articulated.joints.planar import Planar
from pliant.articulated.joints.prismatic import Prismatic
from pliant.articulated.joints.revolute import Revolute
from pliant.articulated.joints.spherical import Spherical
from pliant.articulated.joints.spline_curve import SplineCurve
from pliant.articulated.joints.spline_surface import SplineSurface
from pliant.articulated.joints.translational import Translational
from pliant.articulated.joints.universal import Universal
from pliant.articulated.se3 import frame, rotation

JOINTS = (
    Fixed,
    Revolute,
    Prismatic,
    Planar,
    Translational,
    Universal,
    Spherical,
    Free2D,
    Free3D,
    FreeST,
    Composite,
    SplineCurve,
    SplineSurface,
)


def examples() -> tuple[Joint, ...]:
    """At least one joint of every kind, for the conformance tests."""
    axis = np.array([0.6, 0.0, 0.8])
    turns = ((3.0, (-1.0, 0, 0)), (1.5, (0, 0.2, -0.5)), (0.0, (1.0, 0, 0)), (-1.5, (0, 0, 0.5)))
    ring = np.stack([frame(rotation((0, 1, 0), turn), p) for turn, p in turns])
    grid = np.ix_(np.linspace(-1, 1, 4), np.linspace(-1, 1, 4))
    patch = np.stack(np.broadcast_arrays(*grid, 0.1, 0.3, -0.2, 0.4), axis=-1)
    return (
        Fixed(),
        Revolute(axis),
        Prismatic(axis),
        Planar(),
        Translational(),
        Universal(),
        Spherical(),
        Free2D(),
        Free3D(),
        FreeST(),
        Composite(Revolute(axis), Prismatic(axis)),
        Composite(Spherical(), Prismatic(axis)),
        SplineCurve(ring),
        SplineSurface(patch * np.linspace(0.5, 1.5, 16).reshape(4, 4, 1)),
    )


__all__ = [
    "JOINTS",
    "Composite",
    "Fixed",
    "Free2D",
    "Free3D",
    "FreeST",
    "Joint",
    "Planar",
    "Prismatic",
    "Revolute",
    "Spherical",
    "SplineCurve",
    "SplineSurface",
    "Translational",
    "Universal",
    "examples",
]

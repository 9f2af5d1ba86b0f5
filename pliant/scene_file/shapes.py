"""Shapes of links: bodies by kind and size, as documents name them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from pliant import articulated
from pliant.arrays import Array
from pliant.articulated.bodies import Body
from pliant.articulated.body import Rigid
from pliant.errors import SceneError
from pliant.mesh import Mesh

DENSITY = 1000.0


def box(sides: tuple[float, float, float], density: float = DENSITY, frame: Array | None = None) -> Body:
    """A box of ``sides`` along the axes of its ``frame``, which is in its middle."""
    return articulated.cuboid(sides, density, frame)


def cylinder(radius: float, height: float, density: float = DENSITY, frame: Array | None = None) -> Body:
    """A cylinder along z of its ``frame``."""
    return articulated.cylinder(radius, height, density, frame)


def sphere(radius: float, density: float = DENSITY, frame: Array | None = None) -> Body:
    """A ball."""
    return articulated.sphere(radius, density, frame)


def mesh(mesh: Mesh, density: float = DENSITY, frame: Array | None = None) -> Body:
    """The inside of a closed surface, or tetrahedra."""
    solid = Rigid(mesh, density, name="shape").body()
    return solid if frame is None else replace(solid, frame=np.asarray(frame) @ solid.frame)


def inertia(mass: float, center: Array, tensor: Array, frame: Array | None = None) -> Body:
    """A body without a surface: ``mass``, center of mass and ``tensor`` (3, 3) [kg m^2] about it."""
    if not (np.linalg.eigvalsh(np.asarray(tensor, dtype=float)) > 0.0).all():
        what = f"the moments of inertia are {np.linalg.eigvalsh(tensor).tolist()} kg m^2"
        raise SceneError(what, where="tensor", remedy="they must be positive; a point mass is a particle")
    return articulated.rigid(mass, center, tensor, frame)


def particle(mass: float) -> Body:
    """A point mass; its joint must not turn it."""
    return articulated.particle(mass)


def stored(file: Path) -> Body:
    """A body as a run folder keeps it: all arrays of a `Body` in an ``.npz`` file."""
    from pliant.scene_file.meshes import read_arrays

    values = read_arrays(file)
    return Body(**{**values, "radius": float(values.get("radius", 0.0))})


SHAPES = (box, cylinder, sphere, mesh, inertia, particle, stored)


def welded(parts: Sequence[Body]) -> Body:
    """One body of several."""
    return parts[0] if len(parts) == 1 else articulated.composite(parts)

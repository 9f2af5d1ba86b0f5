"""Bodies that are let go from a deformed shape: twisted bars, bent strips."""

from dataclasses import dataclass, replace

import numpy as np

from pliant.abilities import read_out
from pliant.arrays import Array
from pliant.deformable import Deformable, Placed
from pliant.energies.base import Energy
from pliant.mesh import Mesh


@dataclass(frozen=True, eq=False)
class Released:
    """``body`` let go from vertex positions ``x (n, d)`` [m]; its own mesh stays the shape without stress.

    Damping "at rest" is then that of the shape it is let go from.
    """

    body: Deformable
    x: Array
    positions: None = None

    @property
    def mesh(self) -> Mesh:
        return Mesh(X=self.x, T=self.body.mesh.T, region=self.body.mesh.region)

    pins, damping = read_out("body.pins"), read_out("body.damping")
    velocity, name = read_out("body.velocity"), read_out("body.name")
    masses, young, width = read_out("body.masses"), read_out("body.young"), read_out("body.width")

    def alike(self) -> tuple[object, ...]:
        return (id(self),)

    def energies(self, placed: Placed) -> list[Energy]:
        X = placed.X.copy()
        X[placed.first : placed.first + len(self.x)] = self.body.mesh.X
        return self.body.energies(replace(placed, X=X))


def twisted(X: Array, turns: float, axis: int = 2) -> Array:
    """X (n, 3) turned about ``axis`` through the middle: by ``turns`` at the far end, not at all at the near one."""
    x = X.copy()
    a, b = [k for k in range(3) if k != axis]
    z = x[:, axis] - x[:, axis].min()
    angle = 2 * np.pi * turns * z / z.max()
    center = x[:, [a, b]].mean(axis=0)
    u, w = (x[:, [a, b]] - center).T
    x[:, a] = center[0] + np.cos(angle) * u - np.sin(angle) * w
    x[:, b] = center[1] + np.sin(angle) * u + np.cos(angle) * w
    return x

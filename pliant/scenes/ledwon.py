"""Scenes for comparing XPBD, Projective Dynamics and Newton: cloth, a twisted bar, a falling figure, a stiff chain."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.abilities import read_out
from pliant.bodies import Solid, SpringNet
from pliant.deformable import Deformable, Placed
from pliant.energies.base import Energy
from pliant.energies.projective import PlaneCollision
from pliant.integrators import BDF1
from pliant.maps.motions import Keyframes
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar, chain, figure, spring_net
from pliant.scene import Scene

FRAME = 1 / 60  # s


@dataclass(frozen=True, eq=False)
class AboveFloor:
    """A body whose vertices are kept above the plane z = ``height`` [m] by springs of ``k`` [N/m] per vertex."""

    body: Deformable
    k: float
    height: float = 0.0

    mesh, pins, damping = read_out("body.mesh"), read_out("body.pins"), read_out("body.damping")
    velocity, name, masses = read_out("body.velocity"), read_out("body.name"), read_out("body.masses")
    positions, young, width = read_out("body.positions"), read_out("body.young"), read_out("body.width")

    def alike(self) -> tuple[object, ...]:
        return (id(self),)

    def energies(self, placed: Placed) -> list[Energy]:
        vertices = placed.first + np.arange(len(self.mesh.X))
        floor = PlaneCollision(len(placed.X), vertices, (0.0, 0.0, self.height), (0.0, 0.0, 1.0), self.k, rows="active")
        return [*self.body.energies(placed), floor]


def hanging_cloth(cells: int = 20, k: float = 1e3, mass: float = 0.5) -> Scene:
    """A square metre of cloth as a spring net, held at two corners; ``k`` [N/m] per spring, ``mass`` [kg] in all."""
    mesh = spring_net(cells, cells)
    corners = np.array([0, cells])
    body = SpringNet(mesh, k, mass / len(mesh.X), pins=Pin(corners), name="cloth")
    return Scene([body], integrator=BDF1(), h=FRAME, duration=1.0, name="hanging cloth")


def twisted_bar(
    cells: Sequence[int] = (12, 4, 4), E: float = 1e5, turns: float = 0.5, material: Any = None, duration: float = 1.0
) -> Scene:
    """A bar of 30 x 10 x 10 cm, one end held, the other turned about its axis by ``turns`` within the duration."""
    mesh = bar(size=(0.3, 0.1, 0.1), cells=cells)
    left, right = mesh.where(lambda X: X[:, 0] < 1e-9), mesh.where(lambda X: X[:, 0] > 0.3 - 1e-9)
    steps = max(2, int(np.ceil(8 * turns)) + 1)
    angles = np.linspace(0.0, 2 * np.pi * turns, steps)
    turn = Keyframes(
        times=tuple(np.linspace(0.0, duration, steps)),
        rotations=tuple((a, 0.0, 0.0) for a in angles),
        pivot=(0.0, 0.05, 0.05),
    )
    material = StableNeoHookean(E=E, nu=0.4) if material is None else material
    body = Solid(mesh, material, pins=[Pin(left), Pin(right, turn)], name="bar")
    return Scene([body], integrator=BDF1(), h=FRAME, duration=duration, name="twisted bar")


def falling_figure(cells: float = 12, E: float = 2e5, drop: float = 0.1) -> Scene:
    """A soft four-limbed figure of 29 cm that falls ``drop`` [m] onto a floor."""
    mesh = figure(cells=cells)
    mesh = mesh.transformed(translate=(0.0, 0.0, drop - float(mesh.X[:, 2].min())))
    body = AboveFloor(Solid(mesh, StableNeoHookean(E=E, nu=0.4), name="figure"), k=500.0)
    return Scene([body], integrator=BDF1(), h=FRAME, duration=1.0, name="falling figure")


def stiff_chain(links: int = 10, k: float = 1e5, ratio: float = 1000.0, mass: float = 0.005) -> Scene:
    """A horizontal chain of 1 m held at one end; the last mass is ``ratio`` times the others (``mass`` [kg])."""
    mesh = chain(links)
    masses = np.full(links + 1, mass)
    masses[-1] *= ratio
    body = SpringNet(mesh, k, masses, pins=Pin(np.array([0])), name="chain")
    return Scene([body], integrator=BDF1(), h=FRAME, duration=1.0, name="stiff chain")

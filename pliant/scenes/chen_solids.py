"""Solids of the ERE and additive chapters: cylinder, bars, bunny, and the strip of triangles. [Chen2019, sec. 4.2, 5.4]

Density 1000 kg/m^3 and nu = 0.48 as in the source; damping only alpha = 0.01, as its beta = 0.01 s would overdamp every
motion of these bodies. Sizes and meshes are ours.
"""

import numpy as np

from pliant.arrays import Array
from pliant.bodies import Rayleigh, Solid
from pliant.dg import DiscontinuousSolid
from pliant.integrators import DGSI, ERE
from pliant.maps.pins import Pin
from pliant.materials import NeoHookean
from pliant.mesh import Mesh, bar, cylinder, rectangle
from pliant.scene import Scene
from pliant.scenes.chen_meshes import thesis_mesh
from pliant.scenes.ledwon import AboveFloor
from pliant.scenes.released import Released, twisted

NU = 0.48
DAMPING = Rayleigh(alpha=0.01)


def compressed_cylinder(ratio: float = 1e3) -> Scene:
    """A neo-Hookean cylinder of 2,304 tets with E / density = ``ratio``; one end held. [Chen2019, Table 4.1]

    Its size is not in the source: with 4 m the exponential needs the source's number of substeps at small strain.
    """
    mesh = cylinder(1.0, 4.0, rings=4, layers=8)
    pins = Pin(mesh.where(lambda X: X[:, 2] < 1e-9))
    body = Solid(mesh, NeoHookean(E=1000.0 * ratio, nu=0.45), density=1000.0, pins=pins)
    return Scene([body], ERE(), h=1 / 30, gravity=(0, 0, 0))


def _bar(E: float, cells: tuple[int, int, int]) -> tuple[Mesh, Solid]:
    mesh = bar((1.0, 0.25, 0.25), cells)
    pins = Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
    return mesh, Solid(mesh, NeoHookean(E=E, nu=NU), density=1000.0, pins=pins, damping=DAMPING)


def soft_bar(E: float = 10e3, cells: tuple[int, int, int] = (10, 3, 3)) -> Scene:
    """A bar of 1 x 0.25 x 0.25 m held at one end and dropped. [Chen2019, Figure 4.12]"""
    return Scene([_bar(E, cells)[1]], ERE(), h=1 / 60)


def twisted_bar(E: float = 1e3, cells: tuple[int, int, int] = (10, 3, 3), turns: float = 0.25) -> Scene:
    """A bar of 1 x 0.25 x 0.25 m without gravity, held at one end and let go twisted. [Chen2019, Figure 4.11]"""
    mesh, body = _bar(E, cells)
    return Scene([Released(body, twisted(mesh.X, turns, axis=0))], ERE(), h=1 / 60, gravity=(0, 0, 0), duration=2.0)


def bouncing_bunny(E: float = 100e3, height: float = 0.02) -> Scene:
    """A bunny of 15 cm dropped from ``height`` [m] onto a floor of penalty springs. [Chen2019, Figure 4.13]"""
    mesh = thesis_mesh("bunny", 0.25).mesh
    mesh = mesh.transformed(translate=(0.0, 0.0, height - mesh.X[:, 2].min()))
    spacing = float(np.abs(mesh.measures()).mean() ** (1 / 3))
    body = Solid(mesh, NeoHookean(E=E, nu=NU), density=1000.0, damping=DAMPING)
    floored = AboveFloor(body, k=E * spacing)
    return Scene([floored], ERE(), h=1 / 180, duration=0.5, on_failure="substep")  # this material forbids inversion


def _strip() -> tuple[Mesh, NeoHookean, Pin]:
    mesh = rectangle(size=(1.0, 0.25), cells=(8, 2))
    return mesh, NeoHookean(E=1e5, nu=0.3), Pin(mesh.where(lambda X: X[:, 0] < 1e-9))


def strip(eta: float = 2e2) -> Scene:
    """1 kg of discontinuous triangles, 1 x 0.25 m, clamped, bent and let go; glue of ``eta`` [Pa/m]. [Figure 5.4]

    The source's eta is 1e2 without the 1/2 of the penalty, which is 2e2 here.
    """
    mesh, material, clamp = _strip()
    body = DiscontinuousSolid(mesh, material, eta, density=4.0, pins=clamp)
    return Scene([Released(body, bent(body.mesh))], DGSI(), h=0.01, gravity=(0, 0), duration=10.0)


def continuous_strip() -> Scene:
    """1 kg of ordinary triangles, 1 x 0.25 m, clamped, bent and let go: chen/strip without glue."""
    mesh, material, clamp = _strip()
    body = Solid(mesh, material, density=4.0, pins=clamp)
    return Scene([Released(body, bent(mesh))], DGSI(), h=0.01, gravity=(0, 0), duration=10.0)


def bent(mesh: Mesh) -> Array:
    x = mesh.X.copy()
    x[:, 1] += 0.15 * x[:, 0] ** 2
    return x

"""The scenes of the SIERE chapter: ball, honeycomb, Moebius ball, rope, tower, untwisting cuboid. [Chen2019, sec. 6.4]

The source does not state supports, wind and sizes; they are chosen here so that the described motion is seen. Damping
is zero, so that what is lost is lost by the integrator.
"""

from typing import Any

import numpy as np

from pliant.bodies import Solid
from pliant.integrators import SIERE
from pliant.maps.pins import Pin
from pliant.materials import ARAP, NeoHookean, StVK
from pliant.mesh import Mesh, bar
from pliant.scene import Scene
from pliant.scenes.chen_meshes import thesis_mesh
from pliant.scenes.ledwon import AboveFloor
from pliant.scenes.released import Released, twisted

NU = 0.45
G = 9.81


def _solid(mesh: Mesh, material: Any, pins: Pin | tuple[Pin, ...] = (), **options: Any) -> Solid:
    return Solid(mesh, material, density=1000.0, pins=pins, **options)


def _ball_material(mesh: Mesh, E: float) -> NeoHookean:
    """A shell of 2 cm with the peak modulus around a core a hundred times softer."""
    radius = np.linalg.norm(mesh.X[mesh.T].mean(axis=1) - mesh.X.mean(axis=0), axis=1)
    outer = np.linalg.norm(mesh.X - mesh.X.mean(axis=0), axis=1).max()
    return NeoHookean(E=np.where(radius > 0.8 * outer, E, E / 100.0), nu=NU)


def hanging_ball(E: float = 1e8) -> Scene:
    """A ball of radius 10 cm, held at the top, pulled down with 20 g. [Chen2019, sec. 6.4.3]"""
    mesh = thesis_mesh("ball", 0.2 * np.sqrt(3)).mesh
    top = mesh.X[:, 2].max()
    pins = Pin(mesh.where(lambda X: X[:, 2] > top - 0.02))
    return Scene([_solid(mesh, _ball_material(mesh, E), pins)], SIERE(), h=0.005, gravity=(0, 0, -20 * G))


def bouncing_ball(E: float = 1e8, height: float = 0.1) -> Scene:
    """A ball dropped from ``height`` [m] onto a floor of penalty springs, k ~ E times the element size."""
    mesh = thesis_mesh("ball", 0.2 * np.sqrt(3)).mesh
    mesh = mesh.transformed(translate=(0.0, 0.0, height - mesh.X[:, 2].min()))
    spacing = float(np.abs(mesh.measures()).mean() ** (1 / 3))
    body = AboveFloor(_solid(mesh, _ball_material(mesh, E)), k=E / 100.0 * spacing)
    return Scene([body], SIERE(), h=0.005, gravity=(0, 0, -G))


def honeycomb(E: float = 1e8, across: float = G) -> Scene:
    """A sheet hung up along one edge: a stiff rim around a soft core. [Chen2019, sec. 6.4.4]

    Its weight pulls along the sheet and moves it by a third of a millimetre; ``across`` [m/s^2] is a further
    acceleration that bends it, so that there is something to see.
    """
    mesh = thesis_mesh("honeycomb", 0.4).mesh
    low, high = mesh.bounds
    center = mesh.X[mesh.T].mean(axis=1)
    rim = ((center[:, :2] < low[:2] + 0.03) | (center[:, :2] > high[:2] - 0.03)).any(axis=1)
    pins = Pin(mesh.where(lambda X: X[:, 1] > high[1] - 0.01))
    material = NeoHookean(E=np.where(rim, E, E / 100.0), nu=NU)
    return Scene([_solid(mesh, material, pins)], SIERE(), h=0.01, gravity=(0, -G, -across))


def moebius_ball(E: float = 1e10) -> Scene:
    """A stiff core inside a thin sheet a hundred times softer, held at the bottom. [Chen2019, sec. 6.4.5]"""
    mesh = thesis_mesh("moebius", 0.3).mesh
    center = mesh.X[mesh.T].mean(axis=1)
    middle = 0.5 * (mesh.X.min(axis=0) + mesh.X.max(axis=0))
    core = np.linalg.norm(center - middle, axis=1) < 0.25 * np.ptp(mesh.X, axis=0).max()
    bottom = mesh.X[:, 2].min()
    pins = Pin(mesh.where(lambda X: X[:, 2] < bottom + 0.01))
    material = StVK(E=np.where(core, E, E / 100.0), nu=NU)
    return Scene([_solid(mesh, material, pins)], SIERE(), h=0.02, gravity=(0.5 * G, 0, -G))


def coiled_rope(E: float = 1e6) -> Scene:
    """A coil held at one end, uncoiling under its weight. [Chen2019, sec. 6.4.1]"""
    mesh = thesis_mesh("rope", 0.5).mesh
    axis = int(np.argmax(np.ptp(mesh.X, axis=0)))
    top = mesh.X[:, axis].max()
    pins = Pin(mesh.where(lambda X: X[:, axis] > top - 0.02))
    gravity = -G * np.eye(3)[axis]
    return Scene([_solid(mesh, NeoHookean(E=E, nu=NU), pins)], SIERE(s=1), h=0.01, gravity=tuple(gravity))


def tower(E: float = 3e7, wind: float = 5.0) -> Scene:
    """A table-top tower of 1 m; the wind is a lateral acceleration [m/s^2] on all of it. [Chen2019, sec. 6.4.6]"""
    mesh = thesis_mesh("eiffel", 1.0).mesh
    bottom = mesh.X[:, 2].min()
    pins = Pin(mesh.where(lambda X: X[:, 2] < bottom + 0.01))
    return Scene([_solid(mesh, StVK(E=E, nu=NU), pins)], SIERE(), h=0.1, gravity=(wind, 0, -G))


def cuboid(
    E: float = 1e5, *, arap: bool = False, cells: tuple[int, int, int] = (7, 7, 18), turns: float = 0.42
) -> Scene:
    """0.1 x 0.1 x 0.3 m (1,216 vertices; 1,245 in the source), held at one end, let go twisted. [Chen2019, sec. 6.4.2]

    The angle is not in the source; 0.42 of a turn is about the least at which SI with the exact K fails.
    """
    mesh = bar((0.1, 0.1, 0.3), cells)
    material: Any = ARAP(E=E) if arap else NeoHookean(E=E, nu=NU)
    pins = Pin(mesh.where(lambda X: X[:, 2] < 1e-9))
    body = Released(_solid(mesh, material, pins), twisted(mesh.X, turns))
    return Scene([body], SIERE(), h=0.01, gravity=(0, 0, 0))

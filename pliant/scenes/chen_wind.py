"""Large structures in the wind: a bridge and a tree. [Chen2019, sec. 6.4.6]

The source does not state its wind. Here it is a sideways acceleration of all masses, the drag of a body whose parts are
equally thick; it does not depend on the velocity, so that it damps nothing.
"""

import numpy as np

from pliant.bodies import Solid
from pliant.integrators import SIERE
from pliant.loads import Wind
from pliant.maps.pins import Pin
from pliant.materials import ARAP, NeoHookean
from pliant.scene import Scene
from pliant.scenes.chen_meshes import thesis_mesh

G = 9.81


def bridge(E: float = 1e10, wind: float = 0.2) -> Scene:
    """2 m long, held at its feet, in a steady side wind [m/s^2]: stiff arches, soft deck ``E`` / 10,000; ARAP.

    Its shape at rest carries its weight, so there is no gravity. Much stronger wind moves the deck so far along its
    linear modes in a step of 0.1 s that the stiff members stretch. A mesh of the user's own is soft in the middle half
    and stiff towards its ends.
    """
    found = thesis_mesh("bridge", 2.04)
    mesh = found.mesh
    along, center = int(np.argmax(np.ptp(mesh.X, axis=0))), mesh.X[mesh.T].mean(axis=1)
    part = mesh.region
    if found.own or part is None:
        middle = 0.5 * (mesh.X[:, along].min() + mesh.X[:, along].max())
        part = np.where(np.abs(center[:, along] - middle) < 0.25 * np.ptp(mesh.X[:, along]), 0, 2)
    modulus = np.array([E / 1e4, E / 1e2, E])[part]
    bottom = mesh.X[:, 2].min()
    pins = Pin(mesh.where(lambda X: X[:, 2] < bottom + 0.02))
    air = Wind(mean=tuple(wind * np.eye(3)[1 - along if along < 2 else 0]))
    body = Solid(mesh, ARAP(E=modulus), density=1000.0, pins=pins)
    return Scene([body], SIERE(), h=0.1, gravity=(0, 0, 0), duration=20.0, forces=[air])


def tree(E: float = 5e7, wind: float = 20.0, period: float = 0.8) -> Scene:
    """1 m high, held at its foot, in strong wind [m/s^2] that swells and dies down with ``period`` [s]; neo-Hookean."""
    mesh = thesis_mesh("tree", 1.15).mesh
    bottom = mesh.X[:, 2].min()
    pins = Pin(mesh.where(lambda X: X[:, 2] < bottom + 0.03))
    air = Wind(mean=(0.5 * wind, 0.0, 0.0), swing=(0.5 * wind, 0.3 * wind, 0.0), period=period)
    body = Solid(mesh, NeoHookean(E=E, nu=0.45), density=1000.0, pins=pins)
    return Scene([body], SIERE(), h=0.01, gravity=(0, 0, -G), duration=2.0, forces=[air])

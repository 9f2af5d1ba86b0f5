"""Ropes, cloth and the pendulum of the ERE and additive chapters. [Chen2019, sec. 4.2 and 5.3]

K_l is the stiffness of one metre: a spring of rest length l0 has k = K_l / l0. The source gives alpha = beta = 0.01,
but with that beta RK4 would need 400,000 steps per second on its stiffest rope where its Table 4.2 has 4,680: those
steps belong to beta of 2e-4 s at most, which the rope has here; the shaken cloth has the source's, other cloth 1e-3 s,
as implicit midpoint needs it. How the rope is held and let go, and how far cloth is shaken, is not in the source.
"""

import numpy as np

from pliant.arrays import Array
from pliant.bodies import Rayleigh, SpringNet
from pliant.contact.obstacles import Sphere
from pliant.integrators import ERE, MSSI
from pliant.maps.motions import Keyframes
from pliant.maps.pins import Pin
from pliant.mesh import Mesh, chain, spring_net
from pliant.scene import Scene
from pliant.systems.projected_contact import ProjectedContact

ALPHA = 0.01  # [1/s]
BALL = Sphere(center=(0.5, 0.5, -0.35), radius=0.3)  # under the falling cloth
ROPE_BETA, CLOTH_BETA, SHAKEN_BETA = 2e-4, 1e-3, 1e-2  # [s]


def _net(mesh: Mesh, K_l: float | Array, mass: float, beta: float, pins: Pin | tuple[Pin, ...]) -> SpringNet:
    lengths = np.linalg.norm(mesh.X[mesh.T[:, 0]] - mesh.X[mesh.T[:, 1]], axis=1)
    return SpringNet(mesh, k=K_l / lengths, mass=mass, pins=pins, damping=Rayleigh(ALPHA, beta))


def elastic_rope(K_l: float = 100.0, angle: float = 45.0) -> Scene:
    """One metre, 50 springs, 0.1 kg/m, held at one end and let go straight, ``angle`` [degrees] from hanging down.

    From 45 degrees on the rope goes slack as it falls, and K is indefinite. Let go horizontally it cracks like a whip,
    which neither ERE nor implicit midpoint survive at 1/60 s with this little damping.
    """
    t, a = np.linspace(0.0, 1.0, 51), np.radians(angle)
    straight = Mesh(X=np.stack([np.sin(a) * t, 0 * t, -np.cos(a) * t], axis=1), T=chain(50).T)
    return Scene([_net(straight, K_l, 0.1 / 50, ROPE_BETA, Pin(np.array([0])))], ERE(), h=1 / 60, duration=2.0)


def cloth(K_l: float | Array = 100.0, pins: Pin | tuple[Pin, ...] = (), beta: float = CLOTH_BETA) -> SpringNet:
    """11 x 11 particles, 1 m x 1 m, 0.2 kg, structural and shear springs."""
    return _net(spring_net(10, 10), K_l, 0.2 / 121, beta, pins)


def shaken_cloth(K_l: float = 100.0) -> Scene:
    """Held at four corners, dropped, and shaken once at t = 1 s: up 5 cm and down again, at 1 m/s.

    Three times as far (and with a tenth of the damping) no method follows the particles at this step size, and implicit
    midpoint bursts.
    """
    corners = np.array([0, 10, 110, 120])
    shake = Keyframes(times=(1.0, 1.05, 1.1), translations=((0, 0, 0), (0, 0, 0.05), (0, 0, 0)))
    return Scene([cloth(K_l, Pin(corners, shake), SHAKEN_BETA)], ERE(), h=1 / 60, duration=5.0)


def falling_cloth(K_l: float = 100.0) -> Scene:
    """Held at four corners, falling onto a sphere; particles inside are projected onto it. [Chen2019, Fig. 4.6]"""
    held, contact = Pin(np.array([0, 10, 110, 120])), ProjectedContact(margin=3e-4)
    return Scene([cloth(K_l, held)], ERE(), h=1 / 60, duration=5.0, contact=contact, obstacles=[BALL])


def mixed_cloth() -> Scene:
    """A cloth held at two corners; springs of 20 N/m in one half, of 200 N/m in the other."""
    mesh = spring_net(10, 10)
    middle = mesh.X[mesh.T].mean(axis=1)[:, 0]
    return Scene([cloth(np.where(middle < 0.5, 20.0, 200.0), Pin(np.array([0, 110])))], ERE(), h=1 / 60, duration=5.0)


def cape(K_l: float = 50.0) -> Scene:
    """A cape held along one edge that turns and sways like the shoulders of a dancer."""
    edge = np.arange(0, 121, 11)
    times = tuple(0.25 * k for k in range(21))
    turns = tuple((0.0, 0.0, 0.8 * np.sin(np.pi * t)) for t in times)
    sway = tuple((0.15 * np.sin(2 * np.pi * t), 0.0, 0.05 * np.sin(4 * np.pi * t)) for t in times)
    motion = Keyframes(times=times, translations=sway, rotations=turns, pivot=(0.5, 0.0, 0.0))
    return Scene([cloth(K_l, Pin(edge, motion))], ERE(), h=1 / 60, duration=5.0)


def pendulum(k: float = 1e4) -> Scene:
    """1 kg on a stiff spring of 1 m, let go horizontally. [Chen2019, sec. 5.3.1]"""
    return Scene([SpringNet(chain(1, 1.0), k=k, mass=1.0, pins=Pin(np.array([0])))], MSSI(), h=0.1, duration=20.0)

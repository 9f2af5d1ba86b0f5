"""First scenes: small, quick, each about one thing."""

from math import pi

import numpy as np

from pliant.bodies import Rayleigh, Solid, SpringNet
from pliant.integrators import BDF1, BDF2, Verlet
from pliant.maps.motions import Keyframes
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import ball, bar, chain, spring_net
from pliant.scene import Scene


def cantilever(cells: int = 4, E: float | str = "200 kPa") -> Scene:
    """A rubber bar clamped at one end sags under its weight and rings."""
    mesh = bar(size=(0.4, 0.1, 0.1), cells=(4 * cells, cells, cells))
    body = Solid(mesh, StableNeoHookean(E, 0.4), density=1000, pins=Pin(mesh.where(lambda X: X[:, 0] < 1e-9)))
    return Scene([body], integrator=BDF2(), h=0.01, duration=2.0, name="cantilever")


def bar_twist(cells: int = 4, turns: float = 0.5) -> Scene:
    """A soft bar held at both ends; one end is turned, then let stand."""
    mesh = bar(size=(0.3, 0.1, 0.1), cells=(3 * cells, cells, cells))
    angle = 2.0 * pi * turns
    script = Keyframes(times=(0.0, 1.0), rotations=((0.0, 0.0, 0.0), (angle, 0.0, 0.0)), pivot=(0.0, 0.05, 0.05))
    pins = [Pin(mesh.where(lambda X: X[:, 0] < 1e-9)), Pin(mesh.where(lambda X: X[:, 0] > 0.3 - 1e-9), script)]
    body = Solid(mesh, StableNeoHookean("100 kPa", 0.45), density=1000, pins=pins)
    return Scene([body], integrator=BDF2(), h=0.01, duration=1.5, name="bar-twist")


def swinging_bar(cells: int = 2, E: float | str = "500 kPa", damping: float = 0.0) -> Scene:
    """A bar hung up at one edge falls and swings: most of its energy stays in rigid motion."""
    mesh = bar(size=(0.4, 0.05, 0.05), cells=(8 * cells, cells, cells))
    edge = mesh.where(lambda X: (X[:, 0] < 1e-9) & (X[:, 2] < 1e-9))
    body = Solid(
        mesh,
        StableNeoHookean(E, 0.4),
        density=1000,
        pins=Pin(edge),
        damping=Rayleigh(beta=damping) if damping else None,
    )
    return Scene([body], integrator=BDF1(), h=0.01, duration=1.0, name="swinging-bar")


def falling_ball(cells: int = 6) -> Scene:
    """A ball in free fall: its momentum grows by its weight, and its shape does not change."""
    body = Solid(ball(radius=0.1, cells=cells), StableNeoHookean("50 kPa", 0.4), density=900, velocity=(1.0, 0.0, 2.0))
    return Scene([body], integrator=BDF2(), h=0.01, duration=0.5, name="falling-ball")


def net(cells: int = 10, k: float | str = "200 N/m") -> Scene:
    """A net of springs hung up at two corners."""
    mesh = spring_net(cells, cells)
    corners = np.flatnonzero((mesh.X[:, 1] > 1.0 - 1e-9) & ((mesh.X[:, 0] < 1e-9) | (mesh.X[:, 0] > 1.0 - 1e-9)))
    body = SpringNet(mesh, k=k, mass=0.4 / len(mesh.X), pins=Pin(corners), damping=Rayleigh(alpha=0.2))
    return Scene([body], integrator=BDF1(), h=0.01, duration=2.0, name="net")


def spring_chain(links: int = 10) -> Scene:
    """A chain of springs under gravity, stepped explicitly."""
    mesh = chain(links)
    body = SpringNet(mesh, k="500 N/m", mass="20 g", pins=Pin(np.array([0])))
    return Scene([body], integrator=Verlet(substeps=10), h=0.01, duration=2.0, name="spring-chain")

"""Scenes and stages shared by the tests of this folder."""

import numpy as np

from pliant.bodies import Solid, SpringNet
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar, spring_net
from pliant.scene import Scene
from pliant.stage import Stage
from pliant.state import State


def beam(material=None, cells=(2, 1, 1), free=False, **options):
    mesh = bar(size=(0.2, 0.1, 0.1), cells=cells)
    pins = () if free else Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
    material = StableNeoHookean(E=2e4, nu=0.4) if material is None else material
    return Scene([Solid(mesh, material, pins=pins, **options)], gravity=(0, 0, 0) if free else (0, 0, -9.81))


def net(cells=4, k=40.0, free=False, **options):
    pins = () if free else Pin(np.array([0, cells]))
    body = SpringNet(spring_net(cells, cells), k=k, mass=0.05, pins=pins, **options)
    return Scene([body], gravity=(0, 0, 0) if free else (0, 0, -9.81))


def stage_of(scene, c=0.01, seed=0, size=0.01):
    """An implicit Euler stage from random positions and velocities near rest."""
    system = scene.system()
    rng = np.random.default_rng(seed)
    q = system.prescribe(scene.initial(system).q + size * rng.normal(size=system.X.size), 0.0)
    v = rng.normal(size=len(q))
    return Stage(system, c, q + c * v, q, c, system.prescribe(q + c * v, c), State(q, v, 0.0))


def guess_of(stage):
    return stage.frame[stage.system.free]


def stage_after(scene, steps, integrator):
    """The implicit Euler stage that follows ``steps`` steps of a scene."""
    system = scene.system()
    state, memory, h = scene.initial(system), None, float(scene.h)
    for _ in range(steps):
        step = integrator.step(system, state, h, memory)
        state, memory = step.state, step.memory
    target = state.q + h * state.v
    return Stage(system, h, target, state.q, state.t + h, system.prescribe(target, state.t + h), state)

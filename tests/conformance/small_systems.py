"""Small systems that the conformance suites share: every kind of term, pinned and free, lumped and consistent mass."""

import numpy as np

from pliant.bodies import Green, Rayleigh, Solid, SpringNet
from pliant.maps.motions import Shake
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar, rectangle, spring_net
from pliant.scene import Scene


def beam_scene(**options):
    mesh = bar(size=(0.2, 0.1, 0.1), cells=(2, 1, 1))
    free = options.pop("free", False)
    motion = options.pop("motion", None)
    pins = () if free else Pin(mesh.where(lambda X: X[:, 0] < 1e-9), motion)
    material = options.pop("material", StableNeoHookean(E=2e4, nu=0.4))
    return Scene([Solid(mesh, material, pins=pins, **options)], gravity=(0, 0, 0) if free else (0, 0, -9.81))


def net_scene(**options):
    return Scene([SpringNet(spring_net(3, 3), k=40.0, mass=0.05, pins=Pin(np.array([0, 2])), **options)])


def plane_scene(**options):
    mesh = rectangle(size=(0.2, 0.1), cells=(3, 2))
    pins = Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
    return Scene([Solid(mesh, StableNeoHookean(E=2e4, nu=0.4), pins=pins, **options)], gravity=(0, -9.81))


SCENES = {
    "beam": beam_scene,
    "beam free": lambda: beam_scene(free=True),
    "beam consistent": lambda: beam_scene(lumped=False),
    "beam Rayleigh": lambda: beam_scene(damping=Rayleigh(alpha=0.5, beta=2e-3)),
    "beam Green": lambda: beam_scene(damping=Green(2e-3)),
    "beam shaken": lambda: beam_scene(motion=Shake((0.0, 0.01, 0.0), 3.0)),
    "plane": plane_scene,
    "net": net_scene,
    "two bodies": lambda: Scene([*beam_scene().bodies, *net_scene().bodies]),
}


def rough_state(scene, seed=0, size=0.01):
    """A system and random positions and velocities near rest, scripts respected."""
    system = scene.system()
    rng = np.random.default_rng(seed)
    state = scene.initial(system)
    q = system.prescribe(state.q + size * rng.normal(size=len(state.q)), 0.0)
    v = rng.normal(size=len(q))
    return system, q, v

"""Scenes about contact: BUNNY and DUCKS of the papers, and small ones, each about one thing.

[QLB2021, Table 1; Weidner2022, Table 5.2; Chen2019, E6.5]
"""

from math import cos, sin
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from pliant.arrays import Array
from pliant.bodies import Green, Membrane, Rayleigh, Solid
from pliant.contact.obstacles import Bowl, Plane, Sphere
from pliant.integrators import BDF1, SDIRK2
from pliant.maps.motions import Keyframes, rotation
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import Mesh, ball, box, duck, long_eared, sheet
from pliant.mesh.swept import disc, sweep
from pliant.scene import Scene
from pliant.solvers import QLB, Newton
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.contact import ContactChoice
from pliant.systems.penalty_contact import PenaltyContact


def bunny(
    *, E: float = 8e4, damping: float = 1e-3, h: float = 5e-3, integrator: Any = None, mesh: Mesh | None = None
) -> Scene:
    """BUNNY: a long-eared figure of 2.25 kg dropped on its side; floor with friction, self contact; 3 s."""
    mesh = mesh if mesh is not None else long_eared()
    turned = mesh.transformed(rotate=rotation(np.array([0.9, 0.5, 0.0])))
    turned = turned.transformed(translate=-turned.bounds[0] * (0, 0, 1) + (0, 0, 0.05))
    body = Solid(
        turned,
        StableNeoHookean(E, 0.49),
        density=2.25 / float(mesh.measures().sum()),
        damping=Green(damping),
        velocity=(0.5, 0.0, -0.5),
        name="bunny",
    )
    return Scene(
        [body],
        contact=PenaltyContact(mu=0.4),
        obstacles=[Plane()],
        integrator=integrator or SDIRK2(QLB()),
        h=h,
        duration=3.0,
        name="bunny",
    )


def ducks(
    count: int = 100,
    *,
    E: float = 5e4,
    damping: float = 4e-3,
    h: float = 1e-2,
    integrator: Any = None,
    mesh: Mesh | None = None,
) -> Scene:
    """DUCKS: soft ducks of 13 g fall into a bowl; contact with it (friction, damping) and between them; 2 s.

    The papers give no contact stiffness. Ours is E times the mean edge of 8 mm, a tenth of the default: in 10 ms a duck
    moves by more than an edge, and stiffer springs come and go within a step, which no frozen factor follows.
    Nor do they give the bowl. Ours takes four layers: out of a column of eleven, ducks land at 3 m/s and are flung
    around at 200 rad/s, two radians a step, for which 10 ms are too long whatever solves it.
    """
    mesh = mesh if mesh is not None else duck()
    density = 13.1e-3 / float(mesh.measures().sum())
    middle = 0.5 * (mesh.bounds[0] + mesh.bounds[1])
    pitch = 1.02 * mesh.size
    radius = max(2.6, 0.65 + np.sqrt(count / (4.0 * np.pi))) * pitch
    rng = np.random.default_rng(7)
    material, viscosity = StableNeoHookean(E, 0.49), Green(damping)
    bodies = []
    for k, place in enumerate(_heap(count, pitch, radius - 0.6 * pitch)):
        turn = rotation(rng.normal(size=3))
        placed = mesh.transformed(translate=-middle).transformed(rotate=turn, translate=place)
        bodies.append(Solid(placed, material, density=density, damping=viscosity, name=f"duck {k}"))
    return Scene(
        bodies,
        contact=PenaltyContact(k=8e-3 * E, mu={"bowl": 0.3, "default": 0.0}, damping=0.1, self_contact=False),
        obstacles=[Bowl(center=(0.0, 0.0, radius), radius=radius)],
        integrator=integrator or SDIRK2(QLB()),
        h=h,
        duration=2.0,
        on_failure="substep",  # many ducks landing at once are too much for a step of 10 ms now and then
        name=f"ducks-{count}",
    )


def _heap(count: int, pitch: float, radius: float) -> Array:
    """The lowest ``count`` places of a lattice inside an upright cylinder, just above the bottom of the bowl."""
    cells = np.arange(-8, 9)
    x, y = (pitch * c.ravel() for c in np.meshgrid(cells, cells))
    inside = np.hypot(x, y) < radius
    x, y = x[inside], y[inside]
    wall = radius + 0.6 * pitch
    floor = wall - np.sqrt(np.maximum(wall**2 - (np.hypot(x, y) + 0.6 * pitch) ** 2, 0.0)) + 0.7 * pitch
    layers = range(count // len(x) + 1)
    places = np.concatenate([np.column_stack([x, y, floor + k * pitch]) for k in layers])
    return places[np.argsort(places[:, 2], kind="stable")][:count]


def bouncing_ball(
    *, E: float = 5e5, height: float = 0.1, integrator: Any = None, contact: ContactChoice | None = None, cells: int = 8
) -> Scene:
    """A ball falls on a floor ``height`` [m] below it and bounces."""
    mesh = ball(radius=0.1, cells=cells).transformed(translate=(0, 0, 0.1 + height))
    body = Solid(mesh, StableNeoHookean(E, 0.4), density=1000, name="ball")
    return Scene(
        [body],
        contact=contact or PenaltyContact(mu=0.0),
        obstacles=[Plane()],
        integrator=integrator or BDF1(),
        h=0.005,
        duration=1.0,
        name="bouncing-ball",
    )


def stack(
    count: int = 10,
    *,
    size: float = 0.1,
    E: float = 2e6,
    gap: float = 1e-5,
    contact: ContactChoice | None = None,
    duration: float = 5.0,
) -> Scene:
    """A tower of cubes at rest, ``gap`` [m] apart, each a little smaller than the one below."""
    bodies, z = [], 0.0
    for k in range(count):
        s = size * (1.0 - 0.02 * k)
        mesh = box(size=(s, s, s), cells=(2, 2, 2))
        mesh = mesh.transformed(translate=(-0.5 * s, -0.5 * s, z + gap))
        z += s + gap
        material = StableNeoHookean(E, 0.3)
        # the tower sways after it has been set down: with no damping at all, for longer than it is watched
        bodies.append(Solid(mesh, material, density=1000, damping=Rayleigh(beta=2e-2), name=f"cube {k}"))
    # what rests must neither creep nor rock: a thousandth of the size in 5 s allows 2e-5 m/s, a few per cent of creep
    choice = contact or PenaltyContact(mu=0.5, creep=1e-4, smoothing=1e-3 * size, self_contact=False)
    return Scene(
        bodies, contact=choice, obstacles=[Plane()], integrator=BDF1(), h=0.01, duration=duration, name="stack"
    )


def incline(
    angle: float = 0.4,
    *,
    mu: float = 0.3,
    contact: ContactChoice | None = None,
    duration: float = 0.5,
    h: float = 0.005,
) -> Scene:
    """A block on a floor with gravity tilted by ``angle`` [rad] towards +x: sticks below atan(mu), slides above."""
    mesh = box(size=(0.2, 0.2, 0.1), cells=(4, 4, 2))
    body = Solid(mesh.transformed(translate=(0, 0, 1e-4)), StableNeoHookean(2e5, 0.3), damping=Rayleigh(beta=5e-3))
    g = (9.81 * sin(angle), 0.0, -9.81 * cos(angle))
    choice = contact or PenaltyContact(mu=mu, creep=1e-3)
    return Scene(
        [body],
        contact=choice,
        obstacles=[Plane()],
        gravity=g,
        integrator=BDF1(),
        h=h,
        duration=duration,
        name="incline",
    )


def cloth_on_sphere(cells: int = 16) -> Scene:
    """A square of rubber cloth falls on a ball and drapes over it."""
    mesh = sheet(size=(0.5, 0.5), cells=(cells, cells))
    middle = 0.5 * (mesh.bounds[0] + mesh.bounds[1])
    mesh = mesh.transformed(translate=-middle + (0.0, 0.0, 0.13))
    body = Membrane(mesh, StableNeoHookean("200 kPa", 0.3), thickness="1 mm", density=1000, damping=Rayleigh(alpha=0.5))
    return Scene(
        [body],
        contact=PenaltyContact(k=50.0, mu=0.4, thickness=2e-3, bodies=False),
        obstacles=[Sphere((0, 0, 0), 0.12), Plane((0, 0, -0.3))],
        integrator=BDF1(),
        h=0.005,
        duration=1.0,
        name="cloth-on-sphere",
    )


def rope_knot(layers: int = 80) -> Scene:
    """A rope lies in a loose overhand knot; its two ends are pulled apart, and it ties itself."""
    center, ends = _overhand(layers, unit=0.02)
    tangent = np.gradient(center, axis=0)
    tangent /= np.linalg.norm(tangent, axis=1)[:, None]
    side = np.empty_like(tangent)  # carried along without twisting
    side[0] = np.cross(tangent[0], (0.0, 0.0, 1.0))
    for k in range(1, len(tangent)):
        side[k] = side[k - 1] - (side[k - 1] @ tangent[k]) * tangent[k]
    side /= np.linalg.norm(side, axis=1)[:, None]
    section = disc(0.012, rings=1)
    mesh = sweep(section, np.stack((side, np.cross(tangent, side)), axis=2), center)
    first, last = np.arange(len(section.X)), np.arange(len(mesh.X) - len(section.X), len(mesh.X))
    pins = [
        Pin(v, Keyframes((0.0, 1.5), ((0.0, 0.0, 0.0), tuple(0.28 * e))))
        for v, e in zip((first, last), ends, strict=True)
    ]
    rubber = StableNeoHookean("300 kPa", 0.4)
    body = Solid(mesh, rubber, density=1000, pins=pins, damping=Rayleigh(beta=2e-3), name="rope")
    return Scene(
        [body],
        contact=BarrierContact(dhat=2e-3, mu=0.2),
        integrator=BDF1(Newton(project="on_demand", max_iterations=300)),
        h=0.01,
        duration=1.5,
        gravity=(0.0, 0.0, 0.0),
        name="rope-knot",
    )


def _overhand(layers: int, unit: float) -> tuple[Array, Array]:
    """Points (layers + 1, 3) along a trefoil cut open at a lobe, its ends led out and past each other, and where to.

    (sin t + 2 sin 2t, cos t - 2 cos 2t, -1.5 sin 3t) in units of ``unit`` [m].
    """
    t = np.linspace(np.pi + 0.35, 3.0 * np.pi - 0.35, 60)
    lobes = np.column_stack([np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), -1.5 * np.sin(3 * t)])
    out = np.array([[-0.9, -0.45, 0.0], [0.9, -0.45, 0.0]])
    out /= np.linalg.norm(out, axis=1)[:, None]
    led = np.array([9.0, 7.0, 5.0, 3.0])[:, None]
    points = np.vstack([lobes[0] + led * out[0], lobes, lobes[-1] + led[::-1] * out[1]])
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    along = CubicSpline(length, points)
    return unit * along(np.linspace(0.0, length[-1], layers + 1)), out

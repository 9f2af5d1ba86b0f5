"""NEWCOMER: small scenes as people write them first, with nothing set that a default exists for.

Bodies start a few millimetres above what they land on and have a little damping, so that they come to rest.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.articulated.body import Rigid
from pliant.bodies import Membrane, Rayleigh, Solid
from pliant.cloth.body import Cloth
from pliant.contact.obstacles import Bowl, Box, Plane, Sphere
from pliant.integrators import BDF1
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import Mesh, ball, box, sheet
from pliant.scene import Scene
from pliant.systems.contact import ContactChoice
from pliant.systems.penalty_contact import PenaltyContact

GAP = 2e-3  # [m] of everything that falls
SOFT, FIRM, STIFF = 1e5, 1e6, 1e7  # Pa
CALM = Rayleigh(alpha=2.0, beta=5e-3)

Setup = tuple[list[Any], list[Any]]  # bodies and obstacles


def newcomer(
    setup: str = "ball on block",
    *,
    contact: ContactChoice | None = None,
    integrator: Any = None,
    h: float = 5e-3,
    duration: float = 0.5,
) -> Scene:
    """A small contact scene, one of `SETUPS`, with the contact, integrator and h that a beginner would choose."""
    bodies, obstacles = SETUPS[setup]()
    return Scene(
        bodies,
        contact=contact or PenaltyContact(),
        obstacles=obstacles,
        integrator=integrator or BDF1(),
        h=h,
        duration=duration,
        name=f"newcomer: {setup}",
    )


def _at(mesh: Mesh, z: float, x: float = 0.0, y: float = 0.0) -> Mesh:
    """The mesh above the point (x, y), its lowest vertices at z."""
    low, high = mesh.bounds
    return mesh.transformed(translate=(x - 0.5 * (low[0] + high[0]), y - 0.5 * (low[1] + high[1]), z - low[2]))


def _solid(mesh: Mesh, E: float, name: str) -> Solid:
    return Solid(mesh, StableNeoHookean(E, 0.4), density=1000.0, damping=CALM, name=name)


def _cube(side: float = 0.1, cells: int = 3) -> Mesh:
    return box((side, side, side), (cells, cells, cells))


def _slab() -> Mesh:
    return box((0.2, 0.2, 0.06), (5, 5, 2))


def _ball(radius: float = 0.05) -> Mesh:
    return ball(radius=radius, cells=5)


def _sheet(cells: int = 12) -> Mesh:
    return sheet((0.3, 0.3), (cells, cells))


def _membrane(mesh: Mesh, pins: Any = ()) -> Membrane:
    return Membrane(mesh, StableNeoHookean(FIRM, 0.3), thickness=1e-3, density=1000.0, damping=CALM, pins=pins)


def _cloth(mesh: Mesh) -> Cloth:
    return Cloth(mesh, damping=Rayleigh(alpha=2.0))


def _on_floor(*layers: tuple[Callable[[Mesh], Any], Mesh]) -> Setup:
    """Bodies above each other on the floor, with gaps between them."""
    bodies, z = [], GAP
    for make, mesh in layers:
        placed = _at(mesh, z)
        bodies.append(make(placed))
        z = float(placed.bounds[1][2]) + GAP
    return bodies, [Plane()]


def _made(E: float, name: str) -> Callable[[Mesh], Any]:
    return lambda mesh: _solid(mesh, E, name)


def _rigid(name: str = "rigid") -> Callable[[Mesh], Any]:
    return lambda mesh: Rigid(mesh, name=name)


def _in_bowl() -> Setup:
    left, right = (_at(_ball(), 0.02, x=x) for x in (-0.055, 0.055))
    return [_solid(left, SOFT, "left"), _solid(right, FIRM, "right")], [Bowl((0.0, 0.0, 0.2), 0.2)]


def _trampoline() -> Setup:
    mesh = _at(_sheet(10), 0.0)
    rim = np.flatnonzero((np.abs(np.abs(mesh.X[:, :2]) - 0.15) < 1e-9).any(axis=1))
    return [_membrane(mesh, Pin(rim)), _solid(_at(_ball(), GAP), SOFT, "ball")], []


def _over_sphere(make: Callable[[Mesh], Any]) -> Setup:
    return [make(_at(_sheet(), GAP))], [Sphere((0.0, 0.0, -0.08), 0.08), Plane((0.0, 0.0, -0.3))]


def _over_box(make: Callable[[Mesh], Any]) -> Setup:
    return [make(_at(_sheet(), GAP))], [Box((0.0, 0.0, -0.05), (0.16, 0.16, 0.1)), Plane((0.0, 0.0, -0.1))]


SETUPS: dict[str, Callable[[], Setup]] = {
    "ball on floor": lambda: _on_floor((_made(SOFT, "ball"), _ball())),
    "cube on floor": lambda: _on_floor((_made(FIRM, "cube"), _cube())),
    "ball on block": lambda: _on_floor((_made(FIRM, "block"), _slab()), (_made(SOFT, "ball"), _ball())),
    "stiff ball on soft block": lambda: _on_floor((_made(SOFT, "block"), _slab()), (_made(STIFF, "ball"), _ball())),
    "cube on cube": lambda: _on_floor((_made(FIRM, "lower"), _cube()), (_made(FIRM, "upper"), _cube(0.08))),
    "stack of three": lambda: _on_floor(
        (_made(STIFF, "stiff"), _cube()), (_made(SOFT, "soft"), _cube(0.09)), (_made(FIRM, "firm"), _cube(0.08))
    ),
    "rigid box on floor": lambda: _on_floor((_rigid(), _cube(cells=2))),
    "rigid box on soft block": lambda: _on_floor((_made(SOFT, "block"), _slab()), (_rigid(), _cube(0.08, 2))),
    "soft ball on rigid box": lambda: _on_floor((_rigid(), _cube(0.12, 2)), (_made(SOFT, "ball"), _ball())),
    "rigid stack": lambda: _on_floor((_rigid("lower"), _cube(cells=2)), (_rigid("upper"), _cube(0.08, 2))),
    "balls in a bowl": _in_bowl,
    "ball on trampoline": _trampoline,
    "membrane over sphere": lambda: _over_sphere(_membrane),
    "cloth over sphere": lambda: _over_sphere(_cloth),
    "cloth over box": lambda: _over_box(_cloth),
    "cloth on floor": lambda: _on_floor((_cloth, _sheet(8))),
    "cloth on ball": lambda: _on_floor((_made(FIRM, "ball"), _ball(0.06)), (_cloth, _sheet(10))),
    "membrane on block": lambda: _on_floor((_made(FIRM, "block"), _cube(0.12)), (_membrane, _sheet(10))),
    "rigid box on cloth": lambda: _on_floor((_cloth, _sheet(8)), (_rigid(), _cube(0.06, 2))),
}

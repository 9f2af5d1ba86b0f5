"""Scenes that differ in parameters only, stepped together as one: copies side by side that nothing couples.

On a GPU a small scene leaves most of the device idle, and a hundred copies of it take hardly longer than one. Body k of
all scenes becomes one body: its mesh is that of all copies, its parameters are those of each, element by element.
"""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.bodies import Membrane, Solid
from pliant.errors import SceneError
from pliant.maps.pins import Pin
from pliant.mesh import Mesh
from pliant.scene import Scene
from pliant.state import State

WITHOUT = ("contact", "attachments", "forces", "events")  # what would couple copies, or has no place in a batch
OWN = ("bodies", "name", "obstacles", *WITHOUT)  # fields of scenes that are not compared


def together(scenes: Sequence[Scene]) -> Scene:
    """One scene with the bodies of all scenes; refuses by name what cannot be stepped together."""
    if not isinstance(scenes, Sequence) or not scenes or not all(isinstance(scene, Scene) for scene in scenes):
        raise SceneError(f"scenes are {scenes!r:.60}", where="together", remedy="give a list of one scene or more")
    first = scenes[0]
    for scene in scenes:
        for name in WITHOUT:
            if getattr(scene, name):
                raise _refusal(f"scenes with {name}")
        for f in fields(scene):
            if f.name not in OWN and not _same(getattr(scene, f.name), getattr(first, f.name)):
                raise _refusal(f"{f.name} differs")
        if len(scene.bodies) != len(first.bodies):
            raise _refusal("the numbers of bodies differ")
    return replace(first, bodies=[_merged(copies) for copies in zip(*(s.bodies for s in scenes), strict=True)])


def parted(scenes: Sequence[Scene], state: State) -> list[State]:
    """The state of every scene, from the state of the combined one."""
    count, sizes = len(scenes), [body.mesh.X.size for body in scenes[0].bodies]
    ends = count * np.cumsum(sizes)[:-1]

    def rows(values: Array) -> Array:
        """One row per scene."""
        return np.concatenate([part.reshape(count, -1) for part in np.split(values, ends)], axis=1)

    return [State(q, v, state.t) for q, v in zip(rows(state.q), rows(state.v), strict=True)]


def _merged(copies: Sequence[Any]) -> Any:
    """One body made of copies that differ in material, density, positions and pins at most."""
    first = copies[0]
    if not all(isinstance(body, Solid | Membrane) and type(body) is type(first) for body in copies):
        raise _refusal(f"{first.name!r} is neither a solid nor a membrane")
    mesh = first.mesh
    if not all(np.array_equal(body.mesh.T, mesh.T) for body in copies):
        raise _refusal(f"the meshes of {first.name!r} differ in their elements")
    n, m = len(mesh.X), len(mesh.T)
    stacked = {
        "mesh": Mesh(
            np.concatenate([body.mesh.X for body in copies]),
            np.concatenate([body.mesh.T + n * k for k, body in enumerate(copies)]),
        ),
        "material": _material([body.material for body in copies], m, f"{first.name}.material"),
        "density": _parameter([body.density for body in copies], m, f"{first.name}.density"),
        "pins": _pins([body.pins for body in copies], n),
    }
    if any(body.positions is not None for body in copies):
        placed = [body.mesh.X if body.positions is None else body.positions for body in copies]
        stacked["positions"] = np.concatenate(placed)
    for f in fields(first):
        if f.name not in (*stacked, "positions") and not all(
            _same(getattr(b, f.name), getattr(first, f.name)) for b in copies
        ):
            raise _refusal(f"{first.name}.{f.name} differs")
    return replace(first, **stacked)


def _material(materials: Sequence[Any], m: int, where: str) -> Any:
    """One material whose parameters are those of each, element by element."""
    first = materials[0]
    if not all(type(material) is type(first) for material in materials) or not is_dataclass(first):
        raise _refusal(f"{where} is of several kinds")
    return replace(
        first,  # type: ignore[type-var]
        **{f.name: _parameter([getattr(k, f.name) for k in materials], m, f"{where}.{f.name}") for f in fields(first)},
    )


def _parameter(values: Sequence[Any], m: int, where: str) -> Any:
    """A parameter that all share, or one number per element of all copies."""
    if any(np.shape(v) == (m,) for v in values) or all(np.shape(v) == () for v in values):
        if all(np.shape(v) == () and _same(v, values[0]) for v in values):
            return values[0]
        return np.concatenate([np.broadcast_to(v, m) for v in values])
    if not all(_same(v, values[0]) for v in values):
        raise _refusal(f"{where} differs")
    return values[0]


def _pins(pins: Sequence[Any], n: int) -> list[Pin]:
    """The pins of all copies; those that hold still, and along the same axes, as one."""
    still: dict[tuple[int, ...], list[IntArray]] = {}
    out = []
    for k, own in enumerate(pins):
        for pin in [own] if isinstance(own, Pin) else own:
            if pin.motion is None:
                still.setdefault(pin.axes, []).append(pin.vertices + n * k)
            else:
                out.append(replace(pin, vertices=pin.vertices + n * k))
    return out + [Pin(np.concatenate(vertices), axes=axes) for axes, vertices in still.items()]


def _same(a: Any, b: Any) -> bool:
    return bool(np.array_equal(a, b)) if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) else bool(a == b)


def _refusal(what: str) -> SceneError:
    remedy = "sweep over materials and densities of soft bodies, or without --batch"
    return SceneError(f"{what}: such scenes are not stepped together", where="batch", remedy=remedy)

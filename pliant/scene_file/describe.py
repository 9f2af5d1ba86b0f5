"""From a scene to the document that makes it again, bit for bit; what only Python can say is named."""

import io
from dataclasses import MISSING, fields
from typing import Any

import numpy as np

from pliant.bodies import Membrane, Solid, SpringNet
from pliant.materials.base import summands
from pliant.mesh import Mesh
from pliant.scene import Scene
from pliant.scene_file.choices import NotDescribable, describe_choice
from pliant.scene_file.cuts import describe_cut


def describe(scene: Any) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The document of a scene and the files (meshes) that lie beside it; raises `NotDescribable`."""
    if type(scene) is not Scene:
        raise NotDescribable(f"{type(scene).__name__} is made in Python")
    document: dict[str, Any] = {"name": scene.name, "h": scene.h, "duration": scene.duration}
    document["gravity"] = [float(g) for g in scene.gravity]
    document["on_failure"], document["on_energy_gain"] = scene.on_failure, scene.on_energy_gain
    document["integrator"] = describe_choice(scene.integrator)
    if scene.contact is not None:
        document["contact"] = describe_choice(scene.contact)
    if scene.obstacles:
        document["obstacles"] = [describe_choice(obstacle) for obstacle in scene.obstacles]
    if scene.events:
        document["cuts"] = [describe_cut(event) for event in scene.events]
    _nothing_else(scene, {*document, "contact", "obstacles", "bodies", "events"})
    files = {}
    document["bodies"] = []
    for i, body in enumerate(scene.bodies):
        name = f"body-{i}.npz"
        document["bodies"].append(_body(body, name))  # refuses what has no mesh
        files[name] = _mesh_bytes(body.mesh)
    return document, files


def _body(body: Any, file: str) -> dict[str, Any]:
    kinds: dict[type, tuple[str, tuple[str, ...]]] = {
        Solid: ("solid", ("density", "lumped", "plane")),
        Membrane: ("membrane", ("density", "thickness")),
        SpringNet: ("springs", ("k", "mass")),
    }
    if type(body) not in kinds:
        raise NotDescribable(f"{type(body).__name__} is made in Python")
    kind, own = kinds[type(body)]
    table: dict[str, Any] = {"kind": kind, "name": body.name, "mesh": {"file": file}}
    if body.mesh.dim == 2:
        table["mesh"]["planar"] = True
    table |= {name: _plain(getattr(body, name)) for name in own if getattr(body, name) is not None}
    table["velocity"] = [float(v) for v in body.velocity]
    _nothing_else(body, {*table, "material", "pins", "damping"})
    if kind != "springs":
        table["material"] = [describe_choice(part) for part in summands(body.material)]
    if body.damping is not None:
        table["damping"] = describe_choice(body.damping)
    table["pins"] = [_pin(pin) for pin in body.pins]
    return table


def _pin(pin: Any) -> dict[str, Any]:
    table: dict[str, Any] = {"vertices": np.asarray(pin.vertices).ravel().tolist()}
    if tuple(pin.axes) != (0, 1, 2):
        table["axes"] = ["xyz"[axis] for axis in pin.axes]
    if pin.motion is not None:
        table["motion"] = describe_choice(pin.motion)
    return table


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return float(value) if isinstance(value, np.floating) else value


def _nothing_else(thing: Any, said: set[str]) -> None:
    """Refuse when a field that the document has no word for is not at its default."""
    for f in fields(thing):
        default: Any = f.default_factory() if f.default_factory is not MISSING else f.default
        value = getattr(thing, f.name)
        if f.name not in said and value is not default and not np.array_equal(value, default):
            raise NotDescribable(f"{type(thing).__name__}.{f.name} has no word in scene files")


def _mesh_bytes(mesh: Mesh) -> bytes:
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {"X": mesh.X, "T": mesh.T}
    if mesh.region is not None:
        arrays["region"] = mesh.region
    np.savez(buffer, **arrays)
    return buffer.getvalue()

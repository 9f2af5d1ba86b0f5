"""From a checked document to a scene: the same constructors a Python user calls, with the place of every error."""

import math
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np

from pliant import mesh as meshes
from pliant.bodies import Membrane, Solid, SpringNet
from pliant.errors import PliantError, SceneError
from pliant.maps.motions import rotation
from pliant.maps.pins import Pin
from pliant.mesh import Mesh
from pliant.mesh.lengths import LENGTHS
from pliant.scene import Scene
from pliant.scene_file.choices import construct, make, nearest
from pliant.scene_file.cuts import cut
from pliant.scene_file.document import BodyTable, PinTable, RunTable, SceneTable, Transform
from pliant.scene_file.where import select
from pliant.units import quantity

GENERATORS: tuple[Callable[..., Mesh], ...] = (
    meshes.bar, meshes.ball, meshes.chain, meshes.cylinder, meshes.duck, meshes.figure, meshes.honeycomb,
    meshes.l_shape, meshes.long_eared, meshes.moebius, meshes.paper_bar, meshes.rectangle, meshes.rope, meshes.serpent,
    meshes.sheet, meshes.spring_net,
)  # fmt: skip
LARGEST = 2e7  # cells of a generated mesh


def build(table: SceneTable, folder: Path, where: str) -> Scene:
    """The scene a document describes; files are looked up beside it."""
    bodies = [body(b, folder, f"{where}: bodies.{i}") for i, b in enumerate(table.bodies)]
    values: dict[str, Any] = {"bodies": bodies, **run_values(table, where)}
    if table.gravity is not None:
        values["gravity"] = vector(table.gravity, "m/s^2", f"{where}: gravity")
    if table.contact is not None:
        values["contact"] = make("contact", table.contact, f"{where}: contact")
    values["obstacles"] = [make("obstacle", o, f"{where}: obstacles.{i}") for i, o in enumerate(table.obstacles)]
    values["events"] = [cut(c, bodies, f"{where}: cuts.{i}") for i, c in enumerate(table.cuts)]
    return located(where, Scene, **values)


def run_values(table: RunTable, where: str) -> dict[str, Any]:
    """The fields of a scene that say how time passes, as far as the document gives them."""
    values = {name: getattr(table, name) for name in ("name", "h", "duration", "on_failure", "on_energy_gain")}
    values = {name: value for name, value in values.items() if value is not None}
    for name in ("h", "duration"):
        if name in values:
            values[name] = quantity(values[name], "s", f"{where}: {name}")
    if table.integrator is not None:
        values["integrator"] = make("integrator", table.integrator, f"{where}: integrator")
    return values


def adjusted(scene: Any, values: dict[str, Any], where: str) -> Any:
    """A scene made by a function, with some of its fields replaced."""
    if not values:
        return scene
    if not is_dataclass(scene) or isinstance(scene, type):
        raise SceneError(f"{type(scene).__name__} has no fields to set", where=where, remedy="set its parameters")
    known = [f.name for f in fields(scene)]
    for name in values:
        if name not in known:
            raise SceneError(f"this scene has no {name!r}", where=where, remedy=nearest(name, known))
    return located(where, replace, scene, **values)


def body(table: BodyTable, folder: Path, where: str) -> Any:
    shape = placed(mesh(table.mesh, folder, f"{where}.mesh"), table.transform, where)
    common: dict[str, Any] = {
        "pins": [pin(p, shape, f"{where}.pins.{i}") for i, p in enumerate(table.pins)],
        "velocity": vector(table.velocity, "m/s", f"{where}.velocity"),
    }
    if table.damping is not None:
        common["damping"] = make("damping", table.damping, f"{where}.damping")
    if table.name is not None:
        common["name"] = table.name
    if table.kind == "springs":
        _only(table, ("k", "mass"), where)
        return located(where, SpringNet, shape, _required(table, "k", where), _required(table, "mass", where), **common)
    common |= {"density": density(table, shape, where)}
    if table.kind == "membrane":
        _only(table, ("material", "density", "mass", "thickness"), where)
        return located(where, Membrane, shape, material(table, where), _required(table, "thickness", where), **common)
    _only(table, ("material", "density", "mass", "plane", "lumped"), where)
    if table.plane is not None:
        common["plane"] = table.plane
    return located(where, Solid, shape, material(table, where), lumped=table.lumped, **common)


def mesh(table: dict[str, Any], folder: Path, where: str) -> Mesh:
    """A generated or read mesh; lengths among the generator's parameters may carry units."""
    if "file" in table:
        options = {k: v for k, v in table.items() if k != "file"}
        for name in options:
            if name not in ("planar", "repair"):
                raise SceneError(
                    f"unknown key {name!r}", where=where, remedy=nearest(name, ("file", "planar", "repair"))
                )
        return located(where, meshes.read, folder / str(table["file"]), **options)
    if "generator" not in table:
        raise SceneError("no generator and no file", where=where, remedy='like { generator = "bar" }')
    options = {generator.__name__: generator for generator in GENERATORS}
    name = str(table["generator"]).replace("-", "_")
    if name not in options:
        raise SceneError(f"unknown generator {name!r}", where=f"{where}.generator", remedy=nearest(name, options))
    parameters = {k: v for k, v in table.items() if k != "generator"}
    for key in parameters:
        if key in LENGTHS:
            value = quantity(parameters[key], "m", f"{where}.{key}")
            parameters[key] = value if isinstance(value, float) else tuple(value.tolist())
    _limit(parameters, where)
    return construct(options[name], parameters, where)


def placed(shape: Mesh, table: Transform | None, where: str) -> Mesh:
    if table is None:
        return shape
    turn = rotation(np.asarray(vector(table.rotate, "rad", f"{where}.transform.rotate")))[: shape.dim, : shape.dim]
    move = np.asarray(vector(table.translate, "m", f"{where}.transform.translate"))[: shape.dim]
    return located(f"{where}.transform", shape.transformed, scale=table.scale, rotate=turn, translate=move)


def pin(table: PinTable, shape: Mesh, where: str) -> Pin:
    if (table.where is None) == (table.vertices is None):
        raise SceneError("a pin needs either where or vertices", where=where, remedy='like where = "x < 1 cm"')
    if table.where is not None:
        chosen = np.flatnonzero(select(table.where, shape.X, where=f"{where}.where"))
        if not len(chosen):
            raise SceneError(f"no vertex has {table.where!r}", where=f"{where}.where", remedy=_extent(shape))
    else:
        chosen = np.asarray(table.vertices, dtype=np.int64)
    motion = None if table.motion is None else make("motion", table.motion, f"{where}.motion")
    return Pin(chosen, motion, table.axes)


def material(table: BodyTable, where: str) -> Any:
    given = _required(table, "material", where)
    parts = given if isinstance(given, list) else [given]
    if not parts:
        raise SceneError("an empty list of materials", where=f"{where}.material", remedy="name at least one")
    return reduce(add, [make("material", part, f"{where}.material") for part in parts])


def density(table: BodyTable, shape: Mesh, where: str) -> Any:
    """Density [kg/m^3], given or from the total mass."""
    if (table.density is None) == (table.mass is None):
        if table.density is None:
            return 1000.0
        raise SceneError("both density and mass are given", where=where, remedy="give one of them")
    if table.density is not None:
        return table.density
    total = float(quantity(table.mass, "kg", f"{where}.mass"))
    thickness = 1.0 if table.thickness is None else float(quantity(table.thickness, "m", f"{where}.thickness"))
    return total / (thickness * float(shape.measures().sum()))


def vector(values: list[Any], unit: str, where: str) -> tuple[float, ...]:
    if len(values) not in (2, 3):
        raise SceneError(f"{values} has {len(values)} components", where=where, remedy=f"give three in {unit}")
    x = quantity(values, unit, where)
    if not np.isfinite(x).all():
        raise SceneError(f"{values} is not finite", where=where, remedy=f"give finite numbers in {unit}")
    return tuple(float(value) for value in x)


def located(where: str, call: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call a constructor; its complaint gets the place in the document."""
    try:
        return call(*args, **options)
    except PliantError as error:
        place = f"{where} ({error.where})" if error.where and error.where not in where else where
        raise type(error)(error.what, where=place, remedy=error.remedy) from error
    except (TypeError, ValueError, OverflowError, IndexError) as error:
        raise SceneError(" ".join(str(error).split()), where=where, remedy="check the values here") from error


def _required(table: BodyTable, name: str, where: str) -> Any:
    value = getattr(table, name)
    if value is None:
        raise SceneError(f"{name!r} is missing", where=where, remedy=f"a {table.kind} needs {name}")
    return value


def _only(table: BodyTable, allowed: tuple[str, ...], where: str) -> None:
    special = ("material", "density", "mass", "thickness", "k", "plane")
    for name in special:
        if name not in allowed and getattr(table, name) is not None:
            remedy = f"{table.kind} takes {', '.join(allowed)}"
            raise SceneError(f"{name!r} means nothing for {table.kind}", where=f"{where}.{name}", remedy=remedy)


def _limit(parameters: dict[str, Any], where: str) -> None:
    """Refuse meshes that cannot fit into memory before making them."""
    counts = [v for key, value in parameters.items() if key not in LENGTHS for v in _flat(value)]
    product = math.prod(max(abs(float(count)), 1.0) for count in counts if isinstance(count, int | float))
    if product > LARGEST:
        raise SceneError(f"about {product:.3g} cells", where=where, remedy=f"use at most {LARGEST:g}")


def _flat(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _extent(shape: Mesh) -> str:
    low, high = shape.bounds
    spans = [f"{axis} from {a:g} to {b:g} m" for axis, a, b in zip("xyz", low, high, strict=False)]
    return "the mesh has " + ", ".join(spans)

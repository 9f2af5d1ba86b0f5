"""Bodies in documents: the fields of their classes, and a few more keys (mass, transform, urdf, mjcf)."""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np

from pliant.articulated.bodies import Body
from pliant.articulated.body import Articulated, Rigid, from_mjcf, from_urdf
from pliant.articulated.joints import Fixed
from pliant.articulated.se3 import frame as make_frame
from pliant.articulated.tree import Link
from pliant.bodies import Membrane, Solid
from pliant.cloth.fabrics import fabric as find_fabric
from pliant.cloth.hands import Handle
from pliant.cloth.material import ClothMaterial, from_fabric
from pliant.deformable import Damping
from pliant.dg import DiscontinuousSolid
from pliant.errors import SceneError
from pliant.fitting import Fitting
from pliant.maps.motions import rotation
from pliant.maps.pins import Pin
from pliant.materials.base import Material
from pliant.materials.presets import look_up
from pliant.mesh import Mesh
from pliant.scene_file.choices import Choice, families, find, kind_of, parameter_types, required
from pliant.scene_file.meshes import inside, placed, region, vector
from pliant.scene_file.read import BY_NAME, Reader, in_si, known_keys, located, reads
from pliant.scene_file.shapes import welded
from pliant.units import quantity

HIDDEN = ("positions",)  # fields that no document says
ROBOTS: dict[str, tuple[Any, tuple[str, ...]]] = {  # files with a robot: how they are read, and their own keys
    "urdf": (from_urdf, ("floating", "geometry")),
    "mjcf": (from_mjcf, ("skip", "geometry")),
}
ROBOT = tuple(dict.fromkeys(key for kind, (_, own) in ROBOTS.items() for key in (kind, *own)))
MORE: dict[type, tuple[str, ...]] = {  # keys beyond the fields of the class
    Solid: ("mass", "transform"),
    Membrane: ("mass", "transform"),
    DiscontinuousSolid: ("mass", "transform"),
    Rigid: ("mass", "transform"),
    Articulated: ROBOT,
}
PIN = ("where", "vertices", "motion", "axes")
LINK = ("name", "parent", "joint", "shape", "density", "frame", "armature")
FIT = ("mesh", "material", "density", "pins", "s", "alpha", "beta", "frozen", "on_mismatch")
FABRIC = ("modulus", "nu", "density", "thickness")  # of a homogeneous sheet


BY_NAME |= {"damping": Damping | None, "pins": Sequence[Pin]}


class FrameTable:
    """A frame in a document: { translate, rotate }, or its matrix (4, 4)."""


def keys(choice: Choice) -> list[str]:
    """The keys of a body's table, but for ``kind``."""
    more = MORE.get(choice, ("transform",)) if isinstance(choice, type) else ()
    own = ["mesh" if name == "continuous" else name for name in parameter_types(choice) if name not in HIDDEN]
    return [*own, *(key for key in more if key not in own)]


def body(reader: Reader, table: Any, where: str) -> Any:
    """The body that a table describes."""
    kind = table.get("kind", "solid") if isinstance(table, dict) else "solid"
    if not isinstance(kind, str):
        raise SceneError(f"{kind!r} is not a kind of body", where=f"{where}.kind", remedy='like "solid"')
    choice = find("body", kind, f"{where}.kind")
    _only(table, choice, where)
    given = {k: v for k, v in table.items() if k != "kind"}
    if choice is Articulated:
        return _articulated(reader, given, where)
    if "mesh" not in keys(choice):  # a body of a user's own
        return reader.construct(choice, given, where)
    for name in ("mesh" if key == "continuous" else key for key in required(choice)):
        if name not in given:
            raise SceneError(f"{name!r} is missing", where=where, remedy=f"a {kind} needs {name}")
    shape = reader.value("mesh", Mesh, given["mesh"], f"{where}.mesh")
    shape = placed(shape, given.pop("transform", None), f"{where}.transform")
    if "mass" in given and "mass" in MORE.get(choice, ()):  # type: ignore[call-overload]
        given["density"] = _density(choice, shape, given, where)
        del given["mass"]
    if isinstance(given.get("material"), dict) and "preset" in given["material"] and "density" in keys(choice):
        found = located(f"{where}.material.preset", look_up, given["material"]["preset"])
        given = {"density": found.density} | given  # its own, unless another one is given
    if isinstance(given.get("fabric"), dict) and "modulus" in given["fabric"]:
        given["fabric"] = {"thickness": given.get("thickness", 1e-3)} | given["fabric"]
    given["mesh"] = shape
    if choice is DiscontinuousSolid:
        given["continuous"] = given.pop("mesh")
    fit = given.pop("fit", None)
    made = replace(reader, mesh=shape).construct(choice, given, where)
    return made if fit is None else _fitted(reader, made, fit, table, where)


def _only(table: Any, choice: Choice, where: str) -> None:
    """Refuse keys that other bodies have, but this one has not, and unknown ones."""
    known = ["kind", *keys(choice)]
    elsewhere = dict.fromkeys(key for other in families()["body"] for key in keys(other))
    known_keys(table, [*known, *elsewhere], where)
    for name in table:
        if name not in known:
            what = f"{name!r} does not apply to {kind_of(choice)}"
            raise SceneError(what, where=f"{where}.{name}", remedy=f"it takes {', '.join(known[1:])}")


def _density(choice: Choice, shape: Mesh, given: dict[str, Any], where: str) -> float:
    """Density [kg/m^3] from the total mass."""
    if "density" in given:
        raise SceneError("both density and mass are given", where=where, remedy="give one of them")
    total = float(quantity(given["mass"], "kg", f"{where}.mass"))
    if choice is Rigid:
        return total / float(located(where, Rigid, shape, 1.0).body().mass)
    thickness = float(quantity(given["thickness"], "m", f"{where}.thickness")) if "thickness" in given else 1.0
    return total / (thickness * float(shape.measures().sum()))


@reads(Material, "material")
def read_material(reader: Reader, given: Any, where: str) -> Any:
    """One material, or a list of them that are added."""
    parts = given if isinstance(given, list) else [given]
    if not parts:
        raise SceneError("an empty list of materials", where=where, remedy="name at least one")
    return reduce(add, [_one_material(reader, part, where) for part in parts])


def _one_material(reader: Reader, given: Any, where: str) -> Any:
    """A material by its kind and parameters, or { preset = "ecoflex-00-30" }."""
    if not isinstance(given, dict) or "preset" not in given:
        return reader.make("material", given, where)
    known_keys(given, ("preset",), where)
    return located(f"{where}.preset", look_up, given["preset"]).material


@reads(ClothMaterial)
def read_fabric(reader: Reader, table: Any, where: str) -> ClothMaterial:
    """{ E, nu, beta, rho } per area, { modulus, nu, density, thickness } of a homogeneous sheet, or { preset }."""
    if isinstance(table, dict) and "preset" in table:
        known_keys(table, ("preset",), where)
        named: ClothMaterial = located(f"{where}.preset", find_fabric, table["preset"])
        return named
    if not isinstance(table, dict) or "modulus" not in table:
        known_keys(table, parameter_types(ClothMaterial), where)
        fabric: ClothMaterial = reader.construct(ClothMaterial, table, where)
        return fabric
    known_keys(table, FABRIC, where)
    made: ClothMaterial = located(where, from_fabric, **{"nu": 0.3, **table})
    return made


@reads(Pin)
def read_pin(reader: Reader, table: Any, where: str) -> Any:
    """Vertices that are held or moved: ``where`` a condition says, or ``vertices``; ``motion``; ``axes``.

    With material points ``X`` it is a handle of Eulerian cloth.
    """
    if isinstance(table, dict) and "X" in table:
        return reader.construct(Handle, table, where)
    known_keys(table, PIN, where)
    if reader.mesh is None:
        raise SceneError("a pin without a mesh", where=where, remedy="give the body a mesh")
    chosen = region(table, reader.mesh.X, where)
    motion = reader.make("motion", table["motion"], f"{where}.motion") if "motion" in table else None
    return located(where, Pin, chosen, motion, table.get("axes", (0, 1, 2)))


def _fitted(reader: Reader, coarse: Any, fit: Any, table: dict[str, Any], where: str) -> Any:
    """The body with the frequencies of itself on a finer mesh, held where the same conditions say."""
    place = f"{where}.fit"
    known_keys(fit, FIT, place)
    fine = reader.value("mesh", Mesh, fit.get("mesh"), f"{place}.mesh")
    fine = placed(fine, table.get("transform"), place)
    there = replace(reader, mesh=fine)
    pins = fit.get("pins", table.get("pins", []))
    if "pins" not in fit and any("vertices" in pin for pin in pins):
        remedy = "choose them with where, or give fit.pins"
        raise SceneError("vertices of the coarse mesh do not exist on the fine one", where=place, remedy=remedy)
    held = [read_pin(there, pin, f"{place}.pins.{i}") for i, pin in enumerate(pins)]
    changed: dict[str, Any] = {"mesh": fine, "pins": held}
    if "material" in fit:
        changed["material"] = read_material(there, fit["material"], f"{place}.material")
    if "density" in fit:
        changed["density"] = in_si(fit["density"], "kg/m^3", f"{place}.density")
    options = {k: v for k, v in fit.items() if k not in ("mesh", "material", "density", "pins")}
    fitting = reader.construct(Fitting, {"fine": located(place, replace, coarse, **changed), **options}, place)
    return located(where, replace, coarse, fit=fitting)


# --------------------------------------------------------------------------------------------------- trees of links


def _articulated(reader: Reader, given: dict[str, Any], where: str) -> Articulated:
    """Links listed in the document, or the robot of a URDF or MJCF file with more forces and constraints."""
    sources = [key for key in ("links", *ROBOTS) if key in given]
    if len(sources) != 1:
        raise SceneError("an articulated body needs links, urdf or mjcf", where=where, remedy="give one of them")
    if "links" in given:
        known_keys(given, [key for key in keys(Articulated) if key not in ROBOT], where)
        made: Articulated = reader.construct(Articulated, given, where)
    else:
        kind = sources[0]
        read_robot, own = ROBOTS[kind]
        path = inside(reader.folder, given.pop(kind), f"{where}.{kind}")
        options = {k: v for k, v in given.items() if k not in (*own, "name")}
        read = reader.construct(Articulated, {"links": [_NOTHING], **options}, where)  # for the types of its fields
        more = {name: getattr(read, name) for name in options}
        robot = {key: given[key] for key in own if key in given}
        made = located(where, read_robot, path, name=given.get("name"), **robot, **more)
    system = located(where, made.system)  # names of links, inertia, the length of q: refused with the place
    if made.v is not None and np.shape(made.v) != system.rest.shape:
        what, remedy = f"v has {np.size(made.v)} entries", f"give {system.tree.dof} rates"
        raise SceneError(what, where=f"{where}.v", remedy=remedy)
    return made


@reads(Link)
def read_link(reader: Reader, table: Any, where: str) -> Link:
    """A body on a joint; see `LINK` for its keys."""
    known_keys(table, LINK, where)
    if "shape" not in table:
        raise SceneError("'shape' is missing", where=where, remedy='like { kind = "box", sides = [0.1, 0.1, 0.3] }')
    shapes = table["shape"] if isinstance(table["shape"], list) else [table["shape"]]
    density = {} if "density" not in table else {"density": table["density"]}
    parts = [_shape(reader, s, density, f"{where}.shape") for s in shapes]
    if not parts:
        raise SceneError("no shape", where=f"{where}.shape", remedy="give at least one")
    values: dict[str, Any] = {k: table[k] for k in ("name", "parent", "joint", "frame", "armature") if k in table}
    values["body"] = located(f"{where}.shape", welded, parts)
    made: Link = reader.construct(Link, {"joint": "fixed"} | values, where)
    return made


def _shape(reader: Reader, given: Any, density: dict[str, Any], where: str) -> Body:
    if not isinstance(given, dict) or not isinstance(given.get("kind"), str):
        raise SceneError(f"{given!r} is not a shape", where=where, remedy='like { kind = "sphere", radius = 0.1 }')
    takes = parameter_types(find("shape", given["kind"], where))
    made: Body = reader.make("shape", (density if "density" in takes else {}) | given, where)
    return made


@reads(Path)
def read_path(reader: Reader, name: Any, where: str) -> Path:
    """A file beside the document."""
    return inside(reader.folder, name, where)


@reads(FrameTable, "frame")
def read_frame(reader: Reader, table: Any, where: str) -> Any:
    """A frame (4, 4): its matrix, or where it is and how it is turned (axis times angle)."""
    if isinstance(table, list):
        return located(where, np.array, table, dtype=np.float64)
    known_keys(table, ("translate", "rotate"), where)
    turn = rotation(np.asarray(vector(table.get("rotate", [0, 0, 0]), "rad", f"{where}.rotate")))
    return make_frame(turn, np.asarray(vector(table.get("translate", [0, 0, 0]), "m", f"{where}.translate")))


_NOTHING = Link(Fixed(), Body(np.zeros(6)))

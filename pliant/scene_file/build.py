"""From a checked document to a scene: the same constructors a Python user calls, with the place of every error."""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.articulated.body import Articulated, Rigid
from pliant.attachments import Attachment
from pliant.errors import SceneError
from pliant.scene import Scene
from pliant.scene_file.bodies import body
from pliant.scene_file.choices import Choice, find, nearest, parameter_types, required
from pliant.scene_file.document import RunTable, SceneTable
from pliant.scene_file.meshes import region, vector
from pliant.scene_file.read import Reader, known_keys, located
from pliant.units import quantity

RUN = (
    "name",
    "h",
    "duration",
    "on_failure",
    "on_energy_gain",
    "units",
    "device",
    "isolated",
    "budget",
)  # how time passes
CHOSEN = ("vertices", "elements")  # parameters that ``where`` can choose


def build(table: SceneTable, folder: Path, where: str) -> Scene:
    """The scene a document describes; files are looked up beside it."""
    reader = Reader(folder)
    bodies = [body(reader, b, f"{where}: bodies.{i}") for i, b in enumerate(table.bodies)]
    values: dict[str, Any] = {"bodies": bodies, **run_values(table, where)}
    if table.gravity is not None:
        values["gravity"] = vector(table.gravity, "m/s^2", f"{where}: gravity", (2, 3))
    if table.contact is not None:
        values["contact"] = reader.make("contact", table.contact, f"{where}: contact")
    values["obstacles"] = [reader.make("obstacle", o, f"{where}: obstacles.{i}") for i, o in enumerate(table.obstacles)]
    for family, key, tables in (("load", "forces", table.forces), ("event", "events", table.events)):
        values[key] = [acting(reader, family, t, bodies, f"{where}: {key}.{i}") for i, t in enumerate(tables)]
    ties = [_attachment(reader, t, bodies, f"{where}: attachments.{i}") for i, t in enumerate(table.attachments)]
    _each_once(ties, bodies, where)
    scene: Scene = located(where, Scene, attachments=ties, **values)
    return scene


def run_values(table: RunTable, where: str) -> dict[str, Any]:
    """The fields of a scene that say how time passes, as far as the document gives them."""
    values = {name: getattr(table, name) for name in RUN}
    values = {name: value for name, value in values.items() if value is not None}
    for name in ("h", "duration", "budget"):
        if name in values:
            values[name] = quantity(values[name], "s", f"{where}: {name}")
    if table.integrator is not None:
        values["integrator"] = Reader().make("integrator", table.integrator, f"{where}: integrator")
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


def acting(reader: Reader, family: str, table: Any, bodies: Sequence[Any], where: str) -> Any:
    """A load or an event: its body by name or number, what it acts on by ``where`` or by numbers."""
    if not isinstance(table, dict) or not isinstance(table.get("kind"), str):
        raise SceneError(f"'kind' is missing in {table!r:.60}", where=where, remedy='like kind = "wind"')
    choice = find(family, table["kind"], f"{where}.kind")
    given = {k: v for k, v in table.items() if k != "kind"}
    return _on_a_body(reader, choice, given, bodies, where)


def _on_a_body(reader: Reader, choice: Choice, given: dict[str, Any], bodies: Sequence[Any], where: str) -> Any:
    types = parameter_types(choice)
    chosen = next((name for name in CHOSEN if name in types), None)
    known_keys(given, [*types, *(("where",) if chosen else ())], where)
    if "body" in types:
        target = bodies[_number(given.get("body", 0), bodies, f"{where}.body")]
        if chosen is not None and (chosen in required(choice) or {"where", chosen} & {*given}):
            numbers = region(given, _points(target, chosen, where), where, chosen)
            given = {k: v for k, v in given.items() if k != "where"} | {chosen: numbers}
    return reader.construct(choice, given, where)


def _points(body: Any, chosen: str, where: str) -> Array:
    """The points of a body among which a condition chooses: its vertices, or the centers of its elements."""
    if isinstance(body, Articulated):
        system = body.system()
        return system.positions(system.rest)
    mesh = body.mesh
    points: Array = mesh.X if chosen == "vertices" else mesh.X[mesh.T].mean(axis=1)
    return points


def _number(which: Any, bodies: Sequence[Any], where: str) -> int:
    """The place of a body given by its name or number."""
    names = [b.name for b in bodies]
    if isinstance(which, str):
        if names.count(which) != 1:
            what = f"{names.count(which)} bodies are called {which!r}" if which in names else f"no body {which!r}"
            hint = "use its number" if which in names else nearest(which, names)
            raise SceneError(what, where=where, remedy=hint)
        return names.index(which)
    if type(which) is not int or not 0 <= which < len(bodies):
        raise SceneError(f"body {which!r} of {len(bodies)}", where=where, remedy="count bodies from 0, or use a name")
    return which


def _attachment(reader: Reader, table: Any, bodies: Sequence[Any], where: str) -> Attachment:
    """Vertices of one body tied to another: refused where a body, link or vertex does not exist."""
    known_keys(table, [*parameter_types(Attachment), "where"], where)
    for name in ("body", "to"):
        if name not in table:
            raise SceneError(f"{name!r} is missing", where=where, remedy="name a body")
    made: Attachment = _on_a_body(reader, Attachment, table, bodies, where)
    mine, other = (_number(table[name], bodies, f"{where}.{name}") for name in ("body", "to"))
    if mine == other and made.others is None:
        raise SceneError("a body is attached to itself", where=f"{where}.to", remedy="name another body")
    count = len(_points(bodies[mine], "vertices", where))
    bad = made.vertices[(made.vertices < 0) | (made.vertices >= count)]
    if len(bad):
        what = f"vertex {bad[0]} of body {bodies[mine].name!r} does not exist"
        raise SceneError(what, where=f"{where}.vertices", remedy=f"use 0..{count - 1}")
    _require_link(made.link, bodies[other], f"{where}.link")
    return made


def _require_link(link: Any, body: Any, where: str) -> None:
    names = None
    if isinstance(body, Articulated):
        names = [each.name or f"link{i}" for i, each in enumerate(body.links)]
    elif isinstance(body, Rigid):
        names = [body.name]
    if names is None and link is not None:
        raise SceneError(f"body {body.name!r} has no links", where=where, remedy="leave it out")
    if names is None or (link is None and len(names) == 1) or link in names:
        return
    if type(link) is not int or not 0 <= link < len(names):
        what = "no link is named" if link is None else f"body {body.name!r} has no link {link!r}"
        raise SceneError(what, where=where, remedy=nearest(str(link), names))


def _each_once(ties: Sequence[Attachment], bodies: Sequence[Any], where: str) -> None:
    """Refuse a vertex that two attachments hold, seams of springs excepted."""
    held: dict[tuple[int, int], int] = {}
    for i, tie in enumerate(ties):
        if tie.sewn_by_springs:
            continue
        k = _number(tie.body, bodies, where)
        for vertex in np.asarray(tie.vertices).tolist():
            if (k, vertex) in held:
                what = f"vertex {vertex} of body {bodies[k].name!r} is in attachments {held[k, vertex]} and {i}"
                raise SceneError(what, where=f"{where}: attachments.{i}", remedy="attach every vertex once")
            held[k, vertex] = i

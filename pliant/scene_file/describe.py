"""From a scene to the document that makes it again, bit for bit; what only Python can say is named."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any

import numpy as np

from pliant.bodies import Solid
from pliant.contact.pose import pose_at
from pliant.dg import DiscontinuousSolid
from pliant.fitting import Fitting
from pliant.maps.motions import Track
from pliant.scene import Scene
from pliant.scene_file.bodies import HIDDEN, keys
from pliant.scene_file.choices import NotDescribable, families, kind_of
from pliant.scene_file.write import Writer, default_of

ALWAYS = ("name", "h", "duration", "gravity", "on_failure", "on_energy_gain", "units", "integrator")  # at default, too


def describe(scene: Any) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The document of a scene and the files (meshes) that lie beside it; raises `NotDescribable`."""
    if type(scene) is not Scene:
        raise NotDescribable(f"{type(scene).__name__} is built in Python")
    writer = Writer()
    document = {name: writer.plain(getattr(scene, name), f"Scene.{name}") for name in ALWAYS}
    if scene.budget is not None:
        document["budget"] = scene.budget
    for name in ("contact", "obstacles", "attachments", "forces", "events"):
        value = getattr(scene, name)
        if name == "attachments":
            document[name] = [writer.fields(tie) for tie in value]
        elif value is not None:
            part = replace(writer, stem=name)
            document[name] = part.choice(value) if name == "contact" else [part.choice(v) for v in value]
    if scene.isolated:
        document["isolated"] = True
    document["bodies"] = [_body(replace(writer, stem=f"body-{i}"), b) for i, b in enumerate(scene.bodies)]
    _nothing_else(scene, {*ALWAYS, *document, "contact", "budget"})
    document["extensions"] = writer.extensions
    return {name: value for name, value in document.items() if value != []}, writer.files


def describe_obstacles(scene: Any) -> tuple[list[dict[str, Any]], dict[str, bytes]]:
    """What pictures need of a scene that has no document: its obstacles, and their files.

    A motion that only Python can say is written as a track through all steps; obstacles of the user's own are left out.
    """
    tables: list[dict[str, Any]] = []
    files: dict[str, bytes] = {}
    obstacles: Sequence[Any] = scene.obstacles if type(scene) is Scene else ()
    for k, obstacle in enumerate(obstacles):
        writer = Writer(stem=f"obstacle-{k}")
        with suppress(NotDescribable):
            try:
                table = writer.choice(obstacle)
            except NotDescribable:
                table = writer.choice(replace(obstacle, motion=_track(obstacle.motion, scene)))
            if not writer.extensions:
                tables.append(table)
                files |= writer.files
    return tables, files


def _track(motion: Any, scene: Scene) -> Track:
    times = float(scene.h) * np.arange(scene.steps + 1, dtype=np.float64)
    corners = np.vstack([np.zeros(3), np.eye(3)])
    frames = np.tile(np.eye(4), (len(times), 1, 1))
    for k, t in enumerate(times.tolist()):
        x = pose_at(motion, t).world(corners)
        frames[k, :3, :3], frames[k, :3, 3] = (x[1:] - x[0]).T, x[0]
    return Track(times, frames)


def _body(writer: Writer, body: Any) -> dict[str, Any]:
    kind = type(body)
    if kind not in families()["body"]:
        raise NotDescribable(f"{kind.__name__} is built in Python")
    writer.keep_extension(kind)
    _nothing_else(body, {f.name for f in fields(body)} - set(HIDDEN))
    table: dict[str, Any] = {"kind": kind_of(kind), "name": body.name}
    table |= writer.fields(body, skip=("name", "fit", "pins", "continuous", *HIDDEN))
    if "pins" in keys(kind) and body.pins:
        table["pins"] = [writer.plain(pin, "pins") for pin in body.pins]
    if isinstance(body, DiscontinuousSolid):
        table["mesh"] = writer.plain(body.continuous, "mesh")
    if isinstance(body, Solid) and body.fit is not None:
        table["fit"] = _fit(replace(writer, stem=f"{writer.stem}-fine"), body, body.fit)
    return table


def _fit(writer: Writer, coarse: Solid, fit: Fitting) -> dict[str, Any]:
    """What is different about the fine body: its mesh, its pins, its material and density if they differ."""
    fine: Any = fit.fine
    if type(fine) is not Solid:
        raise NotDescribable(f"Fitting.fine is a {type(fine).__name__}, built in Python")
    for f in fields(fine):
        same = f.name in ("mesh", "material", "density", "pins", "name", "fit")
        if not same and not np.array_equal(getattr(fine, f.name), getattr(coarse, f.name)):
            raise NotDescribable(f"Fitting.fine.{f.name} differs from that of the coarse body")
    table = {"mesh": writer.plain(fine.mesh, "fit.mesh"), **writer.fields(fit, skip=("fine",))}
    pins: Any = fine.pins  # a tuple once it is made
    table["pins"] = [writer.plain(pin, "fit.pins") for pin in pins]
    for name in ("material", "density"):
        table[name] = writer.plain(getattr(fine, name), f"fit.{name}")
    return table


def _nothing_else(thing: Any, said: set[str]) -> None:
    """Refuse when a field that the document has no word for is not at its default."""
    for f in fields(thing):
        value = getattr(thing, f.name)
        default = default_of(f)
        if f.init and f.name not in said and value is not default and not np.array_equal(value, default):
            raise NotDescribable(f"{type(thing).__name__}.{f.name} cannot be written in scene files")

"""Measured motions in CSV files: a column of times, and up to three columns for every marker.

    t [s], tip.x [mm], tip.y [mm], tip.z [mm], bar.57.z

A marker is a vertex of a body (``bar.57``), or has a name and a condition that selects its vertices by their rest
positions (``tip`` with "x == max and y == max"), and is then at their mean. Columns without a unit are in metres and
seconds; empty fields and missing columns are unknown.
"""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant.adjoint.observations import Observations
from pliant.arrays import Array, IntArray
from pliant.errors import SceneError
from pliant.parts import Place
from pliant.scene import Scene
from pliant.scene_file.where import select
from pliant.units import quantity

_HEAD = re.compile(r"^\s*(?P<name>[^\[\]]+?)\s*(?:\[(?P<unit>[^\[\]]+)\])?\s*$")
AXES = "xyz"


def read_recording(path: str | Path, scene: Scene, markers: Mapping[str, str] | None = None) -> Observations:
    """The observations in a file; ``markers`` are conditions by name, ``"x == max"`` or ``"bar: x == max"``."""
    head, values = _table(Path(path))
    columns = [_column(name, str(path)) for name in head]
    at = [k for k, (name, _, _) in enumerate(columns) if name == "t"]
    if len(at) != 1:
        raise SceneError(f"{len(at)} columns t", where=str(path), remedy="give one column t [s] with the times")
    names = list(dict.fromkeys(name for name, axis, _ in columns if axis is not None))
    if not names or len({(name, axis) for name, axis, _ in columns}) < len(columns):
        remedy = "give every marker once, in columns like tip.x, tip.y, tip.z"
        raise SceneError("no marker, or a column twice", where=str(path), remedy=remedy)
    bodies = points_of(scene)
    chosen = [_marker(name, dict(markers or {}), scene, bodies, str(path)) for name in names]
    places = np.full((len(values), len(names), 3), np.nan)
    for k, (name, axis, factor) in enumerate(columns):
        if axis is not None:
            places[:, names.index(name), axis] = factor * values[:, k]
    times = columns[at[0]][2] * values[:, at[0]]
    order = np.argsort(times, kind="stable")
    return Observations(chosen, times[order], places[order], names)


def points_of(scene: Scene) -> list[Place]:
    """Where the points of every body are among those of the scene."""
    made = scene.parts()
    starts = np.cumsum([0, *(len(m.part.positions(m.part.rest)) for m in made)])
    places = {
        id(body): replace(place, first=place.first + int(start))
        for m, start in zip(made, starts, strict=False)
        for body, place in m.places
    }
    return [places[id(body)] for body in scene.bodies]


def _table(path: Path) -> tuple[list[str], Array]:
    """The header and the numbers of a file; empty fields are NaN."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SceneError(f"cannot be read: {error}", where=str(path), remedy="give a CSV file") from None
    if len(rows) < 2:
        raise SceneError("no data", where=str(path), remedy="give a line of names and lines of numbers")
    out = np.full((len(rows) - 1, len(rows[0])), np.nan)
    for i, row in enumerate(rows[1:]):
        if len(row) != len(rows[0]):
            what = f"line {i + 2} has {len(row)} fields of {len(rows[0])}"
            raise SceneError(what, where=str(path), remedy="give as many in each, empty where nothing was seen")
        for k, cell in enumerate(row):
            try:
                out[i, k] = float(cell) if cell.strip() else np.nan
            except ValueError:
                what = f"line {i + 2}, {rows[0][k].strip()!r} is {cell.strip()!r}"
                raise SceneError(what, where=str(path), remedy="give a number, or nothing") from None
    return rows[0], out


def _column(text: str, where: str) -> tuple[str, int | None, float]:
    """The marker of a column (or "t"), its axis, and the factor to SI."""
    found = _HEAD.match(text)
    name = found["name"] if found else ""
    marker, _, axis = name.rpartition(".")
    if name != "t" and (not marker or axis not in AXES or len(axis) != 1):
        raise SceneError(f"column {text.strip()!r}", where=where, remedy="name columns t, tip.x, tip.y [mm], bar.57.z")
    base, unit = "s" if name == "t" else "m", found["unit"] if found else None
    factor = float(quantity(f"1 {unit}", base, f"{where}: {name}")) if unit else 1.0
    return (name, None, factor) if name == "t" else (marker, AXES.index(axis), factor)


def _marker(name: str, markers: dict[str, str], scene: Scene, places: Sequence[Place], where: str) -> IntArray:
    """The points of a marker among those of the scene."""
    if name in markers:
        return _chosen(name, markers[name], scene, places)
    body, _, vertex = name.rpartition(".")
    if not body or not vertex.isdigit():
        remedy = f'say where it is, --marker {name}="x == max", or name a vertex: bar.57'
        raise SceneError(f"the position is unknown of the marker {name!r}", where=where, remedy=remedy)
    place = places[scene.number(int(body) if body.isdigit() else body, where)]
    if int(vertex) >= len(place.x):
        remedy = f"use 0 to {len(place.x) - 1}"
        raise SceneError(f"vertex {vertex} of {place.name!r} with {len(place.x)}", where=where, remedy=remedy)
    return np.array([place.first + int(vertex)])


def _chosen(name: str, condition: str, scene: Scene, places: Sequence[Place]) -> IntArray:
    """The points that a condition chooses, of the body before the colon, or of the only one."""
    where, (body, colon, rest) = f"--marker {name}", condition.rpartition(":")
    if not colon and len(scene.bodies) > 1:
        names = ", ".join(b.name for b in scene.bodies)
        remedy = f'write {name}="BODY: {rest.strip()}" with one of {names}'
        raise SceneError("there are several bodies", where=where, remedy=remedy)
    k = scene.number(int(body) if body.strip().isdigit() else body.strip(), where) if colon else 0
    mine: Any = scene.bodies[k]
    X = mine.mesh.X if mine in scene.deformables() else places[k].x
    found = np.flatnonzero(select(rest.strip(), X, where=where))
    if not len(found):
        raise SceneError(f"no vertex has {rest.strip()!r}", where=where, remedy="choose at least one")
    return places[k].first + found

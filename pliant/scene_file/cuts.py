"""Cuts in scene files: ``[[cuts]]`` tables to the events of a scene, and back."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.errors import SceneError
from pliant.events import ElementCut, Event, PlaneCut
from pliant.scene_file.choices import NotDescribable
from pliant.scene_file.document import CutTable
from pliant.scene_file.where import select
from pliant.units import quantity


def cut(table: CutTable, bodies: Sequence[Any], where: str) -> Event:
    """One cut: along a plane (``point`` and ``normal``), or around elements (listed, or by their centres)."""
    time = float(quantity(table.time, "s", f"{where}.time"))
    plane = table.point is not None or table.normal is not None
    if plane + (table.elements is not None) + (table.where is not None) != 1:
        raise SceneError("a cut needs a plane, or elements, or where", where=where, remedy="give one of them")
    if not 0 <= table.body < len(bodies):
        raise SceneError(f"body {table.body} of {len(bodies)}", where=where, remedy="count bodies from 0")
    mesh = bodies[table.body].mesh
    if plane:
        if table.point is None or table.normal is None:
            raise SceneError("a plane needs point and normal", where=where, remedy="like normal = [1, 0, 0]")
        point = quantity(table.point, "m", f"{where}.point")
        return PlaneCut(time, _vector(point, mesh.dim, where), _vector(table.normal, mesh.dim, where), table.body)
    if table.where is not None:
        elements = np.flatnonzero(select(table.where, mesh.X[mesh.T].mean(axis=1), where=f"{where}.where"))
    else:
        elements = np.asarray(table.elements, dtype=np.int64)
    if not len(elements) or elements.min() < 0 or elements.max() >= len(mesh.T):
        what = "no element is chosen" if not len(elements) else f"elements {elements.min()} to {elements.max()}"
        raise SceneError(what, where=where, remedy=f"the body has elements 0 to {len(mesh.T) - 1}")
    return ElementCut(time, elements, table.body)


def describe_cut(c: Event) -> dict[str, Any]:
    """The table from which `cut` makes an equal cut."""
    if not isinstance(c, PlaneCut | ElementCut):
        raise NotDescribable(f"{type(c).__name__} has no word in scene files")
    table: dict[str, Any] = {"time": float(c.time), "body": c.body}
    if isinstance(c, PlaneCut):
        return table | {"point": [float(x) for x in c.point], "normal": [float(x) for x in c.normal]}
    return table | {"elements": np.asarray(c.elements).tolist()}


def _vector(values: Any, dim: int, where: str) -> tuple[float, ...]:
    x = np.asarray(values, dtype=np.float64)
    if x.shape not in ((dim,), (3,)) or not np.isfinite(x).all():
        raise SceneError(f"{list(values)} is no vector", where=where, remedy=f"give {dim} finite numbers")
    return tuple(float(value) for value in x[:dim])

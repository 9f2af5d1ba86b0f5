"""Obstacles in pictures: the zero level of their distance, within the box that is seen."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.contact.pose import pose_at
from pliant.errors import PliantError
from pliant.record import Run

CELLS = 48  # along the longest side of the box


def obstacles_of(run: Run) -> Sequence[Any]:
    """The obstacles of a run's scene; none when the scene was made in Python, or its obstacles have no distance."""
    from pliant.scene_file import load_scene

    try:
        scene = load_scene(run.folder).scene
    except PliantError:
        return ()
    return [one for one in getattr(scene, "obstacles", ()) if hasattr(one, "distance")]


def drawn(pv: Any, obstacle: Any, low: Array, high: Array) -> Callable[[float], Any]:
    """A function of time that gives the obstacle's surface within the box [m]; it is computed anew only if it moves."""
    margin = 0.15 * float(np.linalg.norm(high - low))
    extent = high - low + 2 * margin
    counts = np.ceil(CELLS * extent / extent.max()).astype(int) + 1
    grid = pv.ImageData(dimensions=counts.tolist(), spacing=(extent / (counts - 1)).tolist(), origin=low - margin)

    def at(t: float) -> Any:
        grid["distance"] = obstacle.distance(pose_at(obstacle.motion, t).local(np.asarray(grid.points)))[0]
        return grid.contour([0.0], scalars="distance")

    if obstacle.motion is not None:
        return at
    still = at(0.0)
    return lambda t: still

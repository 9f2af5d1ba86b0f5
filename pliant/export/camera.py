"""Where the camera stands: far enough that a box is in the picture, around it, or behind what moves."""

from dataclasses import dataclass

import numpy as np

from pliant.arrays import Array
from pliant.export.clip import Clip
from pliant.export.look import Look

ANGLE, MARGIN = 24.0, 1.06  # upright field of view [degrees], and what is left around the box in it
STILL = 0.02  # of the size of everything: vertices that move less do not count as moving


@dataclass(frozen=True, eq=False)
class Shot:
    """Position, focus and up direction (3,) of a camera [m]."""

    position: Array
    focus: Array
    up: Array


@dataclass(frozen=True, eq=False)
class Bounds:
    """From ``low`` to ``high`` (3,) [m]."""

    low: Array
    high: Array

    @property
    def middle(self) -> Array:
        return 0.5 * (self.low + self.high)

    @property
    def size(self) -> float:
        """Length of the diagonal [m]."""
        return float(np.linalg.norm(self.high - self.low)) or 1.0


def shot(box: Bounds, look: Look, share: float = 0.0, focus: Array | None = None) -> Shot:
    """The camera of a picture that is ``share`` (0 to 1) through a film, on the box or with another focus (3,)."""
    away = look.away / np.linalg.norm(look.away)
    turn = np.radians(look.orbit * share)
    c, s = np.cos(turn), np.sin(turn)
    away = np.array([c * away[0] - s * away[1], s * away[0] + c * away[1], away[2]])
    right, up = frame_of(away)
    distance = _distance(0.5 * (box.high - box.low), away, look.size[0] / look.size[1]) / look.zoom
    middle = box.middle if focus is None else focus
    return Shot(middle + distance * away, middle, up)


def frame_of(away: Array) -> tuple[Array, Array]:
    """The directions (3,) to the right and upwards of a camera that stands along ``away``; z is up in the picture."""
    upright = np.array([0.0, 0.0, 1.0])
    if np.linalg.norm(np.cross(upright, away)) < 1e-6:
        upright = np.array([0.0, 1.0, 0.0])
    right = np.cross(upright, away)
    right /= np.linalg.norm(right)
    return right, np.cross(away, right)


def _distance(half: Array, away: Array, aspect: float) -> float:
    """How far a camera stands from a box of half size ``half (3,)`` [m] so that ANGLE, its upright view, holds it."""
    right, up = frame_of(away)
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    reach = np.maximum(np.abs(corners @ up), np.abs(corners @ right) / aspect) / np.tan(np.radians(ANGLE / 2))
    return max(float((corners @ away + MARGIN * reach).max()), 1e-6)


def moving_box(clip: Clip, everything: Bounds) -> Bounds:
    """The box of the vertices that move in the course of a clip; everything where the mesh changes or nothing moves."""
    if not clip.fixed:
        return everything
    pictures = iter(clip)
    low = high = next(pictures).points
    for picture in pictures:
        low, high = np.minimum(low, picture.points), np.maximum(high, picture.points)
    moves = np.linalg.norm(high - low, axis=1) > STILL * everything.size
    return Bounds(low[moves].min(axis=0), high[moves].max(axis=0)) if moves.any() else everything

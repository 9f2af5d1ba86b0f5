"""Pins and scripts: coordinates whose positions are prescribed functions of time, exact at the end of every step."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray, indices, require_among
from pliant.errors import SceneError, require_part
from pliant.maps.motions import Motion

AXES = {"x": 0, "y": 1, "z": 2}


@dataclass(frozen=True, eq=False)
class Pin:
    """Hold ``vertices`` at rest, or move them by ``motion``; ``axes`` limits this to components, (0, 2) or "xz"."""

    vertices: IntArray
    motion: Motion | None = None
    axes: Any = (0, 1, 2)
    mask: int | None = field(default=None, init=False, repr=False)  # length of the mask that chose the vertices

    def __post_init__(self) -> None:
        vertices, mask = indices(self.vertices, "Pin.vertices")
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "mask", mask)
        if self.motion is not None:
            require_part(self.motion, "positions", "Pin.motion", "give Keyframes(...), Shake(...), or one like them")
        given = self.axes if isinstance(self.axes, Sequence) else ()
        axes = tuple(AXES.get(a, a) if isinstance(a, str) else a for a in given)
        if not axes or len(set(axes)) != len(axes) or not all(type(a) is int and 0 <= a <= 2 for a in axes):
            raise SceneError(f"axes are {self.axes!r}", where="Pin.axes", remedy='use some of 0, 1, 2, or of "xyz"')
        object.__setattr__(self, "axes", axes)

    def require_fit(self, n: int, where: str) -> None:
        """Refuse to hold vertices that a body of ``n`` does not have, and to hold none."""
        require_among(self.vertices, self.mask, n, where)
        if not len(self.vertices) and self is not NO_PIN:
            raise SceneError("a pin of no vertices", where=where, remedy="choose some, or leave the pin out")

    def renumbered(self, vertices: IntArray) -> "Pin":
        """The same pin where its vertices have other numbers."""
        return self if self is NO_PIN else Pin(vertices, self.motion, self.axes)


NO_PIN = Pin(np.zeros(0, dtype=np.int64))  # in the place of one that has let go: numbers of pins never change


class Pins:
    """The map from free to all coordinates: q_free -> q with the prescribed ones at their place of time t."""

    def __init__(self, X: Array, pins: Sequence[Pin] = ()) -> None:
        n, d = X.shape
        self.size = n * d
        self._parts: list[tuple[IntArray, Array, Motion | None, list[int]]] = []
        prescribed = np.zeros(n * d, dtype=bool)
        for k, pin in enumerate(pins):
            vertices = pin.vertices
            pin.require_fit(n, f"pins[{k}].vertices")
            axes = [a for a in pin.axes if a < d]
            dofs = (d * vertices[:, None] + np.asarray(axes, dtype=np.int64)).ravel()
            if prescribed[dofs].any():
                twice = dofs[prescribed[dofs]][0] // d
                raise SceneError(f"vertex {twice} is pinned twice", where=f"pins[{k}]", remedy="give it one pin")
            prescribed[dofs] = True
            if pin.motion is not None:
                _require_fit(pin.motion, X[vertices], f"pins[{k}].motion")
            self._parts.append((dofs, X[vertices], pin.motion, axes))
        self.free = np.flatnonzero(~prescribed)
        self.prescribed = np.flatnonzero(prescribed)
        self.moving = any(motion is not None for _, _, motion, _ in self._parts)

    def lift(self, q: Array, t: float) -> Array:
        """q with the prescribed coordinates at time t."""
        if not self._parts:
            return q
        q = q.copy()
        for dofs, X, motion, axes in self._parts:
            x = X if motion is None else motion.positions(X, t)
            q[dofs] = x[:, axes].ravel()
        return q

    def jacobian(self, q: Array) -> sp.csr_matrix:
        """The selection of free coordinates (N, n_free)."""
        m = len(self.free)
        return sp.csr_matrix((np.ones(m), (self.free, np.arange(m))), shape=(self.size, m))

    def bias(self, q: Array, v: Array) -> Array:
        """Velocities of the prescribed coordinates, zero elsewhere."""
        out = np.zeros_like(v)
        out[self.prescribed] = v[self.prescribed]
        return out


MAPS = (Pins,)


def _require_fit(motion: Motion, X: Array, where: str) -> None:
    """Refuse a motion that does not fit the dimension of the vertices, before the first step does."""
    try:
        shape = np.shape(motion.positions(X, 0.0))
    except (ValueError, IndexError) as error:
        what = f"a motion that does not move {X.shape[1]}-d vertices ({error})"
        raise SceneError(what, where=where, remedy=f"give {X.shape[1]} components") from error
    if shape != X.shape:
        raise SceneError(f"positions {shape} for vertices {X.shape}", where=where, remedy="return one row per vertex")

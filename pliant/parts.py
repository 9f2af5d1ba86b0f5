"""What bodies become in a scene: parts, where they start, what can be touched of them and tied to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.contact.setting import Shape
from pliant.contact.sharp import Sharp
from pliant.errors import SceneError
from pliant.state import State
from pliant.systems.shown import Shown, Watching


@dataclass(frozen=True, eq=False)
class Made:
    """A part, its state at the start, its shapes in the order of its points, and the place of every body in it.

    ``solids`` are its convex rigid bodies by number, which crease cloth.
    """

    part: Any
    start: State
    shapes: list[Shape]
    places: list[tuple[Any, "Place"]]
    solids: Sequence[tuple[int, Sharp]] = ()


@runtime_checkable
class Separate(Protocol):
    """A body that may move in coordinates of its own, on joints or through its mesh, if ``separate`` says so."""

    @property
    def name(self) -> str: ...

    @property
    def separate(self) -> bool: ...

    @property
    def kind(self) -> type:
        """The class of the part."""
        ...

    @property
    def together(self) -> bool:
        """Whether all bodies of this class make one part."""
        ...

    @classmethod
    def gathered(cls, bodies: Sequence[Any], scene: Any) -> list[Made]:
        """The parts that all bodies of this class make."""
        ...


def apart(body: Any) -> bool:
    """Whether a body has coordinates of its own, not the positions of vertices among those of soft bodies."""
    return isinstance(body, Separate) and body.separate


@dataclass(frozen=True, eq=False)
class Place:
    """Where a body's points start: ``x (n, 3)`` [m], their first number in the scene, elements ``T (m, k)``.

    ``links`` are the ranges of points of an articulated body's links, by name.
    """

    name: str
    first: int
    x: Array
    T: IntArray
    links: dict[str, tuple[int, int]] | None = None

    def holding(self, p: Array, link: int | str | None) -> tuple[IntArray, Array]:
        """For each of the points p (m, 3) the points of this body that carry it (m, r) and their weights."""
        if self.links is not None:
            return self._in_link(p, link)
        if link is not None:
            raise SceneError(f"body {self.name!r} has no links", where="Attachment.link", remedy="leave it out")
        from scipy.spatial import cKDTree

        nearest = cKDTree(self.x[self.T].mean(axis=1)).query(p)[1]
        nodes = self.T[nearest]
        return nodes + self.first, np.array([_weights(self.x[n], y) for n, y in zip(nodes, p, strict=True)])

    def _in_link(self, p: Array, link: int | str | None) -> tuple[IntArray, Array]:
        """Weights of four points of the link: the same combination of them is the same place of the link for ever."""
        name = self.link_name(link)
        assert self.links is not None
        a, b = self.links[name]
        corners = _spanning(self.x[a:b])
        if corners is None:
            what = f"link {name!r} of {self.name!r} has no four points that span space"
            raise SceneError(what, where="Attachment.link", remedy="give its body a solid shape")
        nodes = np.tile(corners + a + self.first, (len(p), 1))
        return nodes, np.array([_weights(self.x[a:b][corners], y) for y in p])

    def link_name(self, link: int | str | None) -> str:
        """The name of a link that is given by its name or number; the only one need not be given."""
        names = list(self.links or ())
        if link is None and len(names) == 1:
            link = 0
        if isinstance(link, int) and not isinstance(link, bool) and 0 <= link < len(names):
            link = names[link]
        if link not in names:
            what = "no link is named" if link is None else f"no link is called {link!r}"
            raise SceneError(
                f"body {self.name!r}: {what}", where="Attachment.link", remedy=f"use one of {', '.join(names[:8])}"
            )
        return str(link)


def introduced(made: Sequence[Made]) -> tuple[list[Any], Shown]:
    """The parts, with the rigid bodies of all of them shown to those that watch."""
    solids = [((k, body, solid.name), solid) for k, m in enumerate(made) for body, solid in m.solids]
    parts, watchers = [m.part for m in made], {}
    for k, part in enumerate(parts):
        if solids and isinstance(part, Watching):
            parts[k] = part.shown([solid for _, solid in solids])
            watchers[k] = made[k].places[0][0].name
    return parts, Shown(tuple(who for who, _ in solids), watchers) if watchers else Shown()


def _weights(corners: Array, p: Array) -> Array:
    """Affine weights of p over its corners (r, 3): exact for tetrahedra, the nearest point for triangles and edges."""
    E = (corners[1:] - corners[0]).T
    w = np.linalg.lstsq(E, p - corners[0], rcond=None)[0]
    return np.concatenate([[1.0 - w.sum()], w])


def _spanning(x: Array) -> IntArray | None:
    """Four of the points x (n, 3) that are far from lying in a plane; None if there are none."""
    chosen = [int(np.argmax(np.linalg.norm(x - x.mean(axis=0), axis=1)))] if len(x) >= 4 else []
    if not chosen:
        return None
    basis = np.zeros((0, 3))
    size = float(np.linalg.norm(np.ptp(x, axis=0)))
    for _ in range(3):
        d = x - x[chosen[0]]
        d = d - (d @ basis.T) @ basis
        k = int(np.argmax(np.linalg.norm(d, axis=1)))
        length = float(np.linalg.norm(d[k]))
        if length <= 1e-9 * size:
            return None
        chosen.append(k)
        basis = np.vstack([basis, d[k] / length])
    return np.array(chosen, dtype=np.int64)

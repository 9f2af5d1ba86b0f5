"""A tree of links: coordinates in, world frames, twists, Jacobian products out, all in O(n) [Weidner2022, sec. 3.2]."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.articulated import _kernels as kernels
from pliant.articulated._kinematics_kernels import joined, kinematics
from pliant.articulated.bodies import Body, require_frame
from pliant.articulated.joints.base import Joint
from pliant.articulated.joints.stacking import batches
from pliant.articulated.kinds import covered
from pliant.articulated.se3 import inverse, reparameterise
from pliant.errors import SceneError
from pliant.kernels.bind import entry

WORLD = -1

_apply, _joined = entry(kernels.apply), entry(joined)


@dataclass(frozen=True)
class Link:
    """A body on a joint: E_wj = E_w(parent joint) ``frame`` Q(q), E_wi = E_wj body.frame.

    ``parent`` is the name or the number of another link in the list, None for the world. ``armature`` is the inertia of
    the rotor that drives the joint, as the joint feels it through the gears [kg m^2, of sliders kg]: the rotor's own
    times the square of the gear ratio. It has the kinetic energy armature/2 |qdot|^2 and no momentum of its own.
    """

    joint: Joint
    body: Body
    parent: int | str | None = None
    frame: Array = field(default_factory=lambda: np.eye(4))
    name: str = ""
    armature: float = 0.0

    def __post_init__(self) -> None:
        require_frame(self.frame, f"Link {self.name!r}")
        if not (np.isfinite(self.armature) and self.armature >= 0.0):
            what, remedy = f"armature = {self.armature!r}", "give an inertia [kg m^2, of sliders kg] of at least 0"
            raise SceneError(what, where=f"Link {self.name!r}", remedy=remedy)
        if self.armature and self.joint.exponential:
            what = (
                f"a {type(self.joint).__name__} joint has an armature, but turns by a rotation vector, as no motor does"
            )
            raise SceneError(what, where=f"Link {self.name!r}", remedy="put it on hinges or sliders")


@dataclass(frozen=True)
class Kinematics:
    """Everything about a tree at (q, v): frames, twists and the products with J and Jdot, each in O(n)."""

    tree: "Tree"
    q: Array
    v: Array
    joint_frames: Array  # (n, 4, 4) world
    frames: Array  # (n, 4, 4) world, of the bodies
    R: Array  # (n, 3, 3), with p: the parent body seen from the body
    p: Array  # (n, 3)
    B: Array  # (nr, 6) own columns of J
    Bdot: Array  # (nr, 6)
    twists: Array  # (n, 6) phi = J v
    bias: Array  # (n, 6) Jdot v

    def apply(self, x: Array) -> Array:
        """J x (n, 6) for joint rates x (nr,)."""
        t = self.tree
        return _apply(t.parent, t.ptr, self.R, self.p, self.B, x)

    def apply_transpose(self, y: Array) -> Array:
        """J^T y (nr,) for wrenches y (n, 6)."""
        t = self.tree
        return kernels.apply_transpose(t.parent, t.ptr, self.R, self.p, self.B, y)

    def project_rows(self, G: Array) -> Array:
        """G J (k, nr) for rows G (k, 6n)."""
        G = np.ascontiguousarray(G, dtype=self.frames.dtype)
        rows = [self.apply_transpose(g.reshape(-1, 6)) for g in G]
        return np.array(rows).reshape(len(G), self.tree.dof)

    def jacobian(self) -> Array:
        """J as a dense matrix (6n, nr)."""
        t = self.tree
        return kernels.jacobian_columns(t.parent, t.ptr, self.R, self.p, self.B, t.dof)

    def frame(self, body: int) -> Array:
        """World frame of a body; the identity for `WORLD`."""
        return np.eye(4, dtype=self.frames.dtype) if body == WORLD else self.frames[body]

    def point(self, body: int, x: Array) -> Array:
        """World position of the body point x (3,)."""
        E = self.frame(body)
        return E[:3, :3] @ x + E[:3, 3]


class Tree:
    """Links with parents before children, joints batched by kind. Coordinates are laid out in this order."""

    def __init__(self, links: Sequence[Link]) -> None:
        if not links:
            raise SceneError("no links", where="Tree", remedy="give at least one Link")
        names = [link.name or f"link{i}" for i, link in enumerate(links)]
        if len(set(names)) < len(names):
            twice = next(n for n in names if names.count(n) > 1)
            raise SceneError(f"two links are called '{twice}'", where="Tree", remedy="give every link its own name")
        parents = [_parent(link.parent, i, names) for i, link in enumerate(links)]
        self.order = _topological(parents, names)
        rank = {old: new for new, old in enumerate(self.order)}
        self.links = tuple(links[i] for i in self.order)
        self.names = tuple(names[i] for i in self.order)
        self.index = {name: i for i, name in enumerate(self.names)}
        self.parent = np.array([rank[parents[i]] if parents[i] >= 0 else WORLD for i in self.order])
        dofs = [link.joint.dof for link in self.links]
        self.ptr = np.concatenate([[0], np.cumsum(dofs)]).astype(np.int64)
        self.dof = int(self.ptr[-1])
        self.link = np.repeat(np.arange(len(links)), dofs)
        self.inertia = np.array([link.body.inertia for link in self.links])
        self.armature = np.repeat([float(link.armature) for link in self.links], dofs)  # (nr,)
        self.E0 = np.array([link.frame for link in self.links], dtype=float)
        self.Eb = np.array([link.body.frame for link in self.links], dtype=float)
        self.Eij = inverse(self.Eb)
        self._batches = [
            (joint, members, self.ptr[members][:, None] + np.arange(joint.dof))
            for joint, members in batches([link.joint for link in self.links])
        ]
        self.covered = covered([link.joint for link in self.links], self.parent, self.ptr)

    def __len__(self) -> int:
        return len(self.links)

    def moved(self, link: int | str | None, where: str, coordinates: int | None = None) -> int:
        """Position of a link, of whose joint something is asked; with a number of ``coordinates``, if need be."""
        i = self.body(link, where)
        dof = 0 if i == WORLD else self.links[i].joint.dof
        if i == WORLD or (coordinates is not None and dof != coordinates):
            what = "the world is on no joint" if i == WORLD else f"its joint has {dof} coordinates"
            fits = lambda dof: dof > 0 if coordinates is None else dof == coordinates
            known = [n for n, one in zip(self.names, self.links, strict=True) if fits(one.joint.dof)]
            number = "" if coordinates is None else f" whose joint has {coordinates}"
            raise SceneError(what, where=where, remedy=f"name a link{number}, such as {', '.join(known[:8])}")
        return i

    def body(self, link: int | str | None, where: str = "Tree") -> int:
        """Position of a link in the tree, by name or position; None is the world."""
        if link is None:
            return WORLD
        if isinstance(link, str):
            if link not in self.index:
                raise SceneError(f"unknown link '{link}'", where=where, remedy=f"known are {', '.join(self.names[:8])}")
            return self.index[link]
        if not WORLD <= link < len(self):
            raise SceneError(f"link number {link} of {len(self)}", where=where, remedy="count from 0, -1 is the world")
        return int(link)

    def slice(self, link: int | str) -> slice:
        """Where the coordinates of a link's joint are in q."""
        i = self.body(link)
        return slice(int(self.ptr[i]), int(self.ptr[i + 1]))

    def kinematics(self, q: Array, v: Array) -> Kinematics:
        """Frames, twists and Jacobian at (q, v); complex where q or v are."""
        if self.covered is None:
            return self.batched_kinematics(q, v)
        dtype = np.result_type(q, v)
        q, v = q.astype(dtype), v.astype(dtype)
        return Kinematics(self, q, v, *kinematics(*self.covered, self.E0, self.Eb, self.Eij, self.link, q, v))

    def batched_kinematics(self, q: Array, v: Array) -> Kinematics:
        """The same for joints of any kind, all of one kind at once."""
        n, dtype = len(self), np.result_type(q, v)
        Q = np.empty((n, 4, 4), dtype=dtype)
        S, Sdot = np.zeros((self.dof, 6), dtype=dtype), np.zeros((self.dof, 6), dtype=dtype)
        q, v = q.astype(dtype), v.astype(dtype)
        for joint, members, columns in self._batches:
            qs, vs = q[columns], v[columns]
            Q[members] = joint.transform(qs)
            if joint.dof:
                S[columns] = np.swapaxes(joint.subspace(qs), -1, -2)
                Sdot[columns] = np.swapaxes(joint.subspace_rate(qs, vs), -1, -2)
        found = _joined(self.parent, self.ptr, self.link, self.E0, self.Eb, self.Eij, Q, S, Sdot, v)
        return Kinematics(self, q, v, *found)

    def subspace_slopes(self, q: Array) -> list[tuple[IntArray, IntArray, Array]]:
        """dS_k/dq_j in the joint frames: (links (m,), coordinates (m, dof), slopes (dof, m, dof, 6) at [j, joint, k]).

        Only of kinds of joints that have some; the second index of a slope is the place among ``links``.
        """
        found = []
        for joint, members, columns in self._batches:
            if not joint.dof:
                continue
            along = np.broadcast_to(np.eye(joint.dof)[:, None, :], (joint.dof, *columns.shape))
            slopes = joint.subspace_rate(np.broadcast_to(q[columns], along.shape), along)
            if slopes.any():
                found.append((members, columns, np.swapaxes(slopes, -1, -2)))
        return found

    def reparameterise(self, q: Array, v: Array) -> tuple[Array, Array]:
        """(q, v) with exponential coordinates moved away from their singularity; the motion is unchanged."""
        q, v = q.copy(), v.copy()
        for joint, _, columns in self._batches:
            for first in joint.exponential:
                c = columns[:, first : first + 3]
                q[c], v[c] = reparameterise(q[c], v[c])
        return q, v


def _parent(parent: int | str | None, i: int, names: list[str]) -> int:
    if parent is None:
        return WORLD
    remedy = "name another link of the list, or None for the world"
    if isinstance(parent, str):
        if parent not in names:
            raise SceneError(f"unknown parent '{parent}'", where=f"link '{names[i]}'", remedy=remedy)
        return names.index(parent)
    if not 0 <= parent < len(names):
        raise SceneError(f"unknown parent {parent}", where=f"link '{names[i]}'", remedy=remedy)
    return parent


def _topological(parents: list[int], names: list[str]) -> list[int]:
    """The links with parents first, in the given order as far as possible."""
    order: list[int] = []
    placed: set[int] = set()
    for i in range(len(parents)):
        path: list[int] = []
        while i != WORLD and i not in placed:
            if i in path:
                cycle = " -> ".join(names[k] for k in [*path[path.index(i) :], i])
                raise SceneError(
                    f"the links form a cycle: {cycle}", where="Tree", remedy="close loops with LoopClosure instead"
                )
            path.append(i)
            i = parents[i]
        order += reversed(path)
        placed.update(path)
    return order

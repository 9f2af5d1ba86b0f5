"""How cloth scenes are discretised: meshes of the unit square, the six variants of Table 2.1, sheets prepared for them.

[Weidner2022, Table 2.1]
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np
from scipy.spatial import Delaunay

from pliant.arrays import Array, IntArray
from pliant.cloth.body import Cloth
from pliant.cloth.collide import mesh_edges
from pliant.cloth.conform import Conformer, insert_on_edge
from pliant.cloth.constraints import Averaged, Cone, EdgeRule
from pliant.cloth.eulerian import Eulerian
from pliant.cloth.hands import Handle
from pliant.cloth.material import ClothMaterial
from pliant.cloth.remesh import Remesher, closed, opened
from pliant.cloth.sheet import Sheet, rectangle, sheet
from pliant.cloth.surroundings import Surroundings
from pliant.contact.obstacles import Box, Obstacle
from pliant.contact.sharp import Sharp
from pliant.errors import SceneError
from pliant.integrators import LinearlyImplicit
from pliant.maps.motions import Vector
from pliant.scene import Scene
from pliant.systems.row_contact import RowContact

LEFT, RIGHT, NEAR, FAR = 0.0, 1.0, 0.0, 1.0
FAR_CORNERS = np.array([[LEFT, FAR], [RIGHT, FAR]])
TABLE = Box((0.52, 1.01, -0.51), (2.0, 1.0, 1.0), name="table")
GRAVITY, RELEASED, THICKNESS = (0.0, 0.0, -9.8), ClothMaterial(), 5e-3  # those of the released code
RIGHT_CORNERS = np.array([[RIGHT, NEAR], [RIGHT, FAR]])


@dataclass(frozen=True)
class Variant:
    """How a scene is discretised: mesh, remeshing, conformity and the rule at sharp edges."""

    name: str
    eulerian: bool = False
    conformal: bool = False
    adaptive: bool = False
    scattered: bool = False
    rule: EdgeRule = Averaged()


REGULAR = Variant("regular")
IRREGULAR = Variant("irregular", scattered=True)
NONCONFORMAL = Variant("non-conformal", adaptive=True)
CONFORMAL = Variant("conformal", conformal=True, adaptive=True)
CONE = Variant("conformal cone", conformal=True, adaptive=True, rule=Cone())
EOL = Variant("EOL", eulerian=True, conformal=True, adaptive=True, rule=Cone())
VARIANTS = (REGULAR, IRREGULAR, NONCONFORMAL, CONFORMAL, CONE, EOL)
NAIVE = Variant("naive conformal", conformal=True, rule=Cone())  # its mesh meets the feature once and for all: it halts
NAMES = {v.name: v for v in (*VARIANTS, NAIVE)}


def by_name(build: Callable[..., Scene]) -> Callable[..., Scene]:
    """A scene whose ``variant`` may be given by its name, as on the command line: "regular", "EOL", ..."""

    @wraps(build)
    def built(*args: Any, **options: Any) -> Scene:
        given = signature(build).bind(*args, **options)
        name = given.arguments.get("variant")
        if isinstance(name, str):
            if name not in NAMES:
                remedy = f"use {', '.join(NAMES)}"
                raise SceneError(f"variant is {name!r}", where=f"{build.__name__}.variant", remedy=remedy)
            given.arguments["variant"] = NAMES[name]
        return build(*given.args, **given.kwargs)

    return built


def scattered(n: int, seed: int = 3) -> tuple[Array, IntArray]:
    """An unstructured triangulation of the unit square with about 2 n^2 faces."""
    rng = np.random.default_rng(seed)
    t = np.arange(n + 1) / n
    ring = np.concatenate([np.stack([t, 0 * t], 1), np.stack([t, 0 * t + 1], 1)])
    ring = np.concatenate([ring, ring[:, ::-1]])
    inner = (np.stack(np.meshgrid(t[1:-1], t[1:-1]), axis=-1).reshape(-1, 2)) + rng.uniform(
        -0.35, 0.35, ((n - 1) ** 2, 2)
    ) / n
    X = np.unique(np.concatenate([ring, inner]), axis=0)
    T = Delaunay(X).simplices.astype(np.int64)
    e1, e2 = X[T[:, 1]] - X[T[:, 0]], X[T[:, 2]] - X[T[:, 0]]
    turn = e1[:, 0] * e2[:, 1] - e1[:, 1] * e2[:, 0]
    T[turn < 0] = T[turn < 0][:, ::-1]
    return X, T[np.abs(turn) > 1e-12]


def square(variant: Variant, cells: int) -> Sheet:
    """The unit square in the plane z = 0 with about 4 cells^2 faces."""
    return sheet(*(scattered(round(1.41 * cells)) if variant.scattered else rectangle((1.0, 1.0), (cells, cells))))


def hanging(variant: Variant, cells: int) -> Sheet:
    """The unit square upright below z = 0."""
    flat = square(variant, cells)
    return replace(flat, x=np.stack([flat.X[:, 0], 0 * flat.X[:, 0], flat.X[:, 1] - 1.0], axis=1))


def method(variant: Variant, cells: int, spread: tuple[float, float] = (0.55, 1.15)) -> Eulerian:
    """The choices of a variant; the remesher may use edges of ``spread`` times the cell size."""
    sizes = (spread[0] / cells, spread[1] / cells)
    return Eulerian(
        remesher=Remesher(*sizes) if variant.adaptive else None,
        conformer=Conformer() if variant.conformal else None,
        rule=variant.rule,
        slides=variant.eulerian,
    )


def scene(
    name: str,
    variant: Variant,
    cells: int,
    duration: float,
    obstacles: Sequence[Obstacle],
    handles: Sequence[Handle] = (),
    *,
    start: Sheet | None = None,
    mu: float = 0.0,
    fabric: ClothMaterial = RELEASED,
    gravity: Vector = GRAVITY,
    velocity: Vector = (0.0, 0.0, 0.0),
) -> Scene:
    """A scene of Table 2.1, by default with the material of the released code."""
    cloth = Cloth(
        start or square(variant, cells), fabric, pins=handles, velocity=velocity, eulerian=method(variant, cells)
    )
    return Scene(
        [cloth],
        LinearlyImplicit(),
        h=4e-3,
        duration=duration,
        gravity=gravity,
        contact=RowContact(mu=mu, thickness=THICKNESS),
        obstacles=obstacles,
        on_failure="substep",
        name=f"{name} ({variant.name})",
    )


def edge_feature(obstacles: Sequence[Sharp], near: Vector) -> int:
    """The edge feature whose middle is closest to a point."""
    scenery = Surroundings(tuple(obstacles)).at(0.0)
    return int(np.argmin(np.linalg.norm(0.5 * (scenery.edge_a + scenery.edge_b) - near, axis=1)))


def cut(flat: Sheet, Y: float, feature: int) -> Sheet:
    """The sheet with a line of vertices on the feature along the material line y = Y."""
    flat = replace(flat, feature=np.where(np.abs(flat.X[:, 1] - Y) < 1e-9, feature, flat.feature))
    ends = mesh_edges(flat.faces)
    a, b = flat.X[ends[:, 0], 1] - Y, flat.X[ends[:, 1], 1] - Y
    crossing = np.flatnonzero((a * b < 0) & (np.minimum(np.abs(a), np.abs(b)) > 1e-9))
    s = a[crossing] / (a[crossing] - b[crossing])
    points = (1 - s)[:, None] * flat.x[ends[crossing, 0]] + s[:, None] * flat.x[ends[crossing, 1]]
    tri = opened(flat, np.ones((len(flat.X), 3)))
    for (p, q), t, x in zip(ends[crossing], s, points, strict=True):
        insert_on_edge(tri, (int(p), int(q)), float(t), x, feature)
    return closed(tri, flat, len(crossing)).sheet


def folded(X: Array, Y: float, radius: float) -> Array:
    """World positions of a cloth that lies on TABLE beyond the material line y = Y and hangs from its edge before it.

    With a radius it goes around the edge in a quarter circle outside of the box.
    """
    s = X[:, 1] - Y
    bend = 0.5 * np.pi * radius
    angle = np.clip((0.5 * bend - s) / max(radius, 1e-300), 0.0, 0.5 * np.pi)
    y = 0.51 + np.maximum(s - 0.5 * bend, 0.0) - radius * np.sin(angle)
    z = -0.01 + radius * np.cos(angle) + np.minimum(s + 0.5 * bend, 0.0)
    return np.column_stack([X[:, 0], y, z])


def hung(X: Array, Y: float, material: ClothMaterial, g: float = 9.8) -> Array:
    """Material positions X stretched by the weight of the part before the line y = Y, which hangs: E eps = rho g y."""
    y, c = X[:, 1], material.rho * g / material.E
    return np.column_stack([X[:, 0], y + c * np.where(y < Y, 0.5 * (y * y - Y * Y), Y * (y - Y))])


def with_hem(flat: Sheet, axis: int, at: float) -> tuple[Sheet, Array]:
    """The sheet with all vertices of one hem kept for a handle, and their material positions."""
    hem = flat.X[:, axis] == at
    return replace(flat, fixed=flat.fixed | hem), flat.X[hem]

"""Cloth over sharp features: the scenes of [Weidner2022, Table 2.1], the strand on a table and the tablecloth."""

from dataclasses import replace

import numpy as np

from pliant.cloth.body import Cloth
from pliant.cloth.eulerian import Eulerian
from pliant.cloth.hands import Handle
from pliant.cloth.material import ClothMaterial
from pliant.cloth.remesh import Remesher
from pliant.cloth.sheet import rectangle, sheet
from pliant.contact.obstacles import Box
from pliant.contact.sharp import Points, Wire
from pliant.integrators import LinearlyImplicit
from pliant.maps.motions import Phase, Phases
from pliant.scene import Scene
from pliant.scenes.eol.variants import (
    EOL,
    FAR,
    FAR_CORNERS,
    NEAR,
    RIGHT,
    RIGHT_CORNERS,
    TABLE,
    THICKNESS,
    Variant,
    by_name,
    cut,
    edge_feature,
    folded,
    hanging,
    hung,
    method,
    scene,
    square,
    with_hem,
)
from pliant.systems.row_contact import RowContact


@by_name
def edge(variant: Variant = EOL, cells: int = 23, speed: float = 0.5, pull: float = 0.3, mu: float = 0.0) -> Scene:
    """A cloth lies half on a box, drapes over its edge, and is pulled back onto it by two corners."""
    start = 0.35
    hands = Handle(FAR_CORNERS, (0.0, speed, 0.0), start=start, stop=start + pull / speed)
    return scene("EDGE", variant, cells, start + pull / speed + 0.1, [TABLE], [hands], mu=mu)


@by_name
def draped_edge(
    variant: Variant = EOL, cells: int = 16, speed: float = 0.5, pull: float = 0.3, beta: float = 1e-5
) -> Scene:
    """EDGE from rest: the cloth hangs over the edge already, stretched by its weight, and its whole far hem is pulled.

    The hands come a hundredth closer to their speed in each step, as those of the released code. With the bending
    ``beta`` [N m] of that code the cloth is stiff for this mesh: it bulges over the edge by its bending length
    sqrt(1.5 beta / tension) = 8 mm, and does so anew for each row of vertices. With beta = 0 what lifts or shakes is
    the contact.
    """
    start = 0.1
    flat, hem = with_hem(square(variant, cells), 1, FAR)
    hands = Handle(hem, (0.0, speed, 0.0), start=start, lag=100 * 4e-3)
    fabric = ClothMaterial(beta=beta)
    begin = cut(flat, 0.51, edge_feature([TABLE], (0.52, 0.51, -0.01))) if variant.conformal else flat
    radius = 0.0 if variant.conformal or not variant.scattered and not variant.adaptive else 0.5 / cells
    begin = replace(begin, x=folded(hung(begin.X, 0.51, fabric), 0.51, radius))
    duration = start + hands.lag + pull / speed
    return scene("EDGE draped", variant, cells, duration, [TABLE], [hands], start=begin, fabric=fabric)


@by_name
def wire(variant: Variant = EOL, cells: int = 22, speed: float = 0.3, pull: float = 0.2) -> Scene:
    """A wire rises under a cloth, whose far hem is led down beside it; then the cloth slides over the wire.

    It folds over the wire almost flat against itself before its hem is pulled down.
    """
    rise, settled = 0.4, 0.6
    line = Wire((-0.48, 0.51, -0.01), (1.52, 0.51, -0.01), motion=Phases((Phase(0.0, rise, (0.0, 0.0, 1.0)),)))
    flat, hem = with_hem(square(variant, cells), 1, FAR)
    lead = Handle(hem, (0.0, -1.0, 0.0), stop=rise, lag=0.02, let_go=settled)
    hands = Handle(hem, (0.0, 0.0, -speed), start=settled, stop=settled + pull / speed, grip=settled)
    return scene("WIRE", variant, cells, settled + pull / speed, [line], [lead, hands], start=flat)


@by_name
def draped_wire(variant: Variant = EOL, cells: int = 16, speed: float = 0.3, pull: float = 0.2) -> Scene:
    """WIRE from rest: the cloth hangs over a still wire, most of it freely, and its far hem is pulled down."""
    top, fold, start = 0.8, 0.75, 0.1
    flat, hem = with_hem(square(variant, cells), 1, FAR)
    hands = Handle(hem, (0.0, 0.0, -speed), start=start, stop=start + pull / speed)
    line = Wire((-0.5, 0.0, top), (1.5, 0.0, top))
    sharp = variant.conformal
    radius = 0.0 if sharp else 0.5 / cells  # other meshes begin around the wire in half a circle
    begin = cut(flat, fold, 0) if sharp else flat
    s = begin.X[:, 1] - fold
    angle = np.clip(0.5 * np.pi + s / max(radius, 1e-300), 0.0, np.pi)
    z = top + radius * np.sin(angle) - np.maximum(np.abs(s) - 0.5 * np.pi * radius, 0.0)
    begin = replace(begin, x=np.column_stack([begin.X[:, 0], -radius * np.cos(angle), z]))
    return scene("WIRE draped", variant, cells, start + pull / speed, [line], [hands], start=begin)


@by_name
def nails(variant: Variant = EOL, cells: int = 22, speed: float = 0.3, pull: float = 0.1) -> Scene:
    """A cloth falls on a bed of sixteen nails and is pulled over them by two corners.

    The cloth reaches 0.15 m beyond the last nails, so a longer pull draws it off them.
    """
    at = np.linspace(0.15, 0.85, 4)
    tips = np.array([[a, b, -0.001] for a in at for b in at])
    bed = Points(tips, np.tile([0.0, 0.0, 1.0], (16, 1)), name="nails")
    start = 0.3
    hands = Handle(RIGHT_CORNERS, (speed, 0.0, 0.0), start=start, stop=start + pull / speed)
    return scene("NAILS", variant, cells, start + pull / speed, [bed], [hands])


@by_name
def jaws(variant: Variant = EOL, cells: int = 28, speed: float = 0.5, pull: float = 0.2, gravity: float = 9.8) -> Scene:
    """Five points close on a cloth from above and below by a tenth of a metre, then it is pulled through them."""
    close, start = 0.1, 0.1
    up, down = (Phases((Phase(0.0, close, (0.0, 0.0, s * 0.5)),)) for s in (1.0, -1.0))
    lower = Points(
        np.array([[0.71, 0.51, -0.01], [0.31, 0.31, -0.01], [0.31, 0.71, -0.01]]), np.tile([0.0, 0, 1], (3, 1)), up
    )
    upper = Points(np.array([[0.51, 0.41, 0.01], [0.51, 0.61, 0.01]]), np.tile([0.0, 0, -1], (2, 1)), down)
    flat, hem = with_hem(square(variant, cells), 0, RIGHT)
    hands = Handle(hem, (speed, 0.0, 0.0), start=start, stop=start + pull / speed)
    weight = (0.0, 0.0, -gravity)
    return scene("JAWS", variant, cells, start + pull / speed, [lower, upper], [hands], start=flat, gravity=weight)


@by_name
def push(variant: Variant = EOL, cells: int = 21, speed: float = 1.0, reach: float = 0.3) -> Scene:
    """A box pushes into a cloth that hangs by two corners, and leaves."""
    gap, time = 0.05, (0.05 + reach) / speed
    motion = Phases((Phase(0.0, time, (0.0, speed, 0.0)), Phase(time, 2.5 * time, (0.0, -speed, 0.0))))
    body = Box((0.5, -0.225 - gap, -0.6), (0.45, 0.45, 0.5), motion)
    return scene("PUSH", variant, cells, 2.5 * time, [body], [Handle(FAR_CORNERS)], start=hanging(variant, cells))


@by_name
def throw(variant: Variant = EOL, cells: int = 20, speed: float = 2.0, spin: float = 3.0) -> Scene:
    """A cloth is thrown over a turning box."""
    middle = (0.5, 0.5, -0.31)
    body = Box(middle, (0.45, 0.45, 0.5), Phases((Phase(0.0, 10.0, spin=(0.0, 0.0, spin)),), middle))
    flat = square(variant, cells)
    begin = replace(flat, x=flat.x + [-0.4, 0.0, 0.0])
    return scene("THROW", variant, cells, 0.6, [body], start=begin, velocity=(speed, 0.0, 0.0))


@by_name
def lo_res(variant: Variant = EOL) -> Scene:
    """EDGE with sixteen times fewer triangles: a coarse preview that keeps its crease."""
    if variant.adaptive:
        made = edge(variant, cells=4)
        coarse = replace(made.bodies[0], eulerian=method(variant, 4, (0.6, 1.6)))
        return replace(made, bodies=[coarse], name="LO-RES (EOL)")
    return replace(edge(variant, cells=8), name=f"LO-RES ({variant.name})")


@by_name
def friction(
    variant: Variant = EOL, cells: int = 25, mu: float = 0.6, duration: float = 1.0, overlap: float = 0.21
) -> Scene:
    """A cloth is dropped on the inner corners of four boxes; friction decides whether it stays.

    Each box lies under ``overlap`` [m] of the cloth in both directions.
    """
    near, far = overlap - 0.5, 1.5 - overlap
    turn = (0.0, 0.0, np.deg2rad(5.0))
    centers = [(far, far, -0.51), (near, far, -0.51), (far, near, -0.51), (near, near, -0.51)]
    boxes = [Box(c, (1.0, 1.0, 1.0), turn=turn) for c in centers]
    return scene("FRICTION", variant, cells, duration, boxes, mu=mu)


@by_name
def fold(variant: Variant = EOL, cells: int = 16, speed: float = 1.5, duration: float = 0.9) -> Scene:
    """A cloth on a table, held by its far hem, is folded in half: the near hem is led over to the far one and let go.

    Where it meets itself it stays on itself.
    """
    lift, over = 0.12, 0.75
    flat, near = with_hem(square(variant, cells), 1, NEAR)
    flat, far = with_hem(flat, 1, FAR)
    up, across = lift / speed, (lift + over) / speed
    hands = [
        Handle(far),
        Handle(near, (0.0, 0.3 * speed, speed), stop=up, lag=0.02, let_go=up),
        Handle(near, (0.0, speed, 0.0), start=up, stop=across, lag=0.02, grip=up, let_go=across),
    ]
    table = Box((0.5, 0.5, -0.501), (2.0, 3.0, 1.0), name="table")
    made = scene("FOLD", variant, cells, duration, [table], hands, start=flat)
    return replace(made, contact=RowContact(mu=0.0, thickness=THICKNESS, self_contact=True))


@by_name
def tablecloth(variant: Variant = EOL, cells: int = 16, mu: float = 0.3, duration: float = 1.0) -> Scene:
    """A square cloth drapes over a square table with four edges and four corners."""
    table = Box((0.5, 0.5, -0.26), (0.6, 0.6, 0.5), name="table")
    return scene("TABLECLOTH", variant, cells, duration, [table], mu=mu)


def strand(
    hanging: float = 0.25, qvv: bool = False, h: float = 2e-3, mu: float = 0.0, pull: float | None = None
) -> Scene:
    """A narrow strip, one metre and one kilogram, slides off a table: its hanging part is x0 cosh(t sqrt(g / L)).

    With ``pull`` [m/s] its far end is drawn back onto the table instead.
    """
    cells = 24
    width, L, g = 0.05, 1.0, 9.81
    X, faces = rectangle((width, L), (1, cells))
    s = X[:, 1] - hanging
    folded = sheet(X, faces, np.column_stack([X[:, 0], np.maximum(s, 0.0), np.minimum(s, 0.0)]))
    hands = () if pull is None else (Handle(np.array([[0.0, L], [width, L]]), (0.0, pull, 0.0)),)
    table = Box((width / 2, 1.5, -0.5), (1.0, 3.0, 1.0), name="table")
    crease = edge_feature([table], (width / 2, 0.0, 0.0))
    cloth = Cloth(
        replace(folded, feature=np.where(np.abs(s) < 1e-9, crease, -1)),
        ClothMaterial(E=2e3 / width, nu=0.0, beta=1e-6, rho=1.0 / (L * width)),
        pins=hands,
        eulerian=Eulerian(Remesher(0.7 / cells, 1.1 / cells, angle=10.0, velocity=1e3, compression=10.0), qvv=qvv),
    )
    return Scene(
        [cloth],
        LinearlyImplicit(),
        h=h,
        duration=0.5,
        gravity=(0.0, 0.0, -g),
        contact=RowContact(mu=mu, thickness=THICKNESS),
        obstacles=[table],
        on_failure="substep",
        name="STRAND",
    )

"""Every scene of cloth, at three sizes and two steps: it is stretched as it should be, and no energy appears."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pliant.bench.eol.books import GAIN, JUMP, Books, expected_stretch, smallest_cell
from pliant.bench.eol.march import march
from pliant.bench.table import Claim, Plot, Table
from pliant.bench.workers import spread
from pliant.scene import Scene
from pliant.scenes import eol

WEIGHT = 0.49  # N, of one square metre of the cloth
PINNED = np.sqrt(0.5) * WEIGHT  # at each of two corners: sqrt(2) times the force strains its faces, by a cell
THR = 5.0  # mm


@dataclass(frozen=True)
class LoadCase:
    """A scene, the largest ``force`` [N] on one point of its cloth, and the ``speed`` [m/s] it may be stopped at."""

    name: str
    build: Callable[[int], Scene]
    force: float
    speed: float
    reason: str


def _cells(build: Callable[..., Scene], **options: float) -> Callable[[int], Scene]:
    return lambda cells: build(cells=cells, **options)


SCENES = (
    LoadCase("EDGE", _cells(eol.edge), PINNED, 3.1, "all of it at two corners; the hem falls by 0.5 m"),
    LoadCase("EDGE draped", _cells(eol.draped_edge, pull=0.1), 0.0, 0.5, "hem held all along; pulled at 0.5 m/s"),
    LoadCase("WIRE", _cells(eol.wire), 0.0, 3.8, "hem held all along; falls by 0.4 m, wire at 1 m/s"),
    LoadCase("WIRE draped", _cells(eol.draped_wire), 0.0, 0.6, "hem held all along; both sides at 0.3 m/s"),
    LoadCase("NAILS", _cells(eol.nails), PINNED, 1.7, "all of it at two corners; the border falls by 0.15 m"),
    LoadCase("JAWS", _cells(eol.jaws), WEIGHT / 5, 2.2, "all of it at five points; falls by 0.2 m, points at 0.5 m/s"),
    LoadCase("PUSH", _cells(eol.push), PINNED, 2.0, "all of it at two corners; box and cloth at 1 m/s"),
    LoadCase("THROW", _cells(eol.throw), WEIGHT, 3.7, "all of it at a box corner; thrown at 2 m/s, falls by 0.5 m"),
    LoadCase("FRICTION", _cells(eol.friction, duration=0.6), WEIGHT / 4, 2.4, "all at four corners; falls by 0.3 m"),
    LoadCase(
        "TABLECLOTH", _cells(eol.tablecloth), WEIGHT / 4, 2.0, "all of it at four corners; the hem falls by 0.2 m"
    ),
)


def measure(run: tuple[int, int, float]) -> dict[str, object]:
    """One run: number of the scene, cells, h [s]."""
    number, cells, h = run
    case = SCENES[number]
    scene = replace(case.build(cells), h=h)
    books = Books()
    for moment in march(scene):
        books.look(moment)
    bound = expected_stretch(case.force, case.speed, smallest_cell(scene, cells), scene.bodies[0].fabric)
    return {"scene": case.name, "cells": cells, "h_ms": 1e3 * h, "bound": bound, **books.columns()}


def _worst(rows: list[dict[str, object]], of: Callable[[dict[str, object]], float]) -> dict[str, object]:
    return max(rows, key=of)


def _ratio(name: str, r: dict[str, object]) -> float:
    """A column against the largest kinetic energy."""
    return float(r[name]) / float(r["kinetic_J"])  # type: ignore[arg-type]


def run(*, quick: bool = False) -> Table:
    sizes, steps = ((4, 6), (4e-3,)) if quick else ((6, 9, 12), (4e-3, 2e-3))
    runs = [(k, cells, h) for k in range(len(SCENES)) for cells in sizes for h in steps]
    longest = sorted(runs, key=lambda run: run[2] / run[1] ** 2)  # first, so that none is left over in the end
    done = dict(zip(longest, spread(measure, longest), strict=True))
    rows, claims = [done[run] for run in runs], []
    for case in SCENES:
        mine = [r for r in rows if r["scene"] == case.name]
        r = _worst(mine, lambda r: (float(r["stretch"]) - 1) / (float(r["bound"]) - 1))  # type: ignore[arg-type]
        said = f"{r['stretch']:.3f} of {r['bound']:.3f} ({r['cells']} cells, {r['h_ms']:g} ms)"
        claims.append(Claim(f"{case.name}: stretch ({case.reason})", "<= bound", said, r["stretch"] <= r["bound"]))  # type: ignore[operator]
        for name, share, what in (("created_J", GAIN, "in a run"), ("jump_J", JUMP, "in a step")):
            r = _worst(mine, partial(_ratio, name))
            most = f"<= {100 * share:g} % of the kinetic energy"
            said = f"{r[name]:.1e} of {r['kinetic_J']:.1e} J ({r['cells']} cells, {r['h_ms']:g} ms)"
            claims.append(Claim(f"{case.name}: energy from nowhere {what}", most, said, _ratio(name, r) <= share))
    deep = _worst(rows, lambda r: float(r["depth_mm"]))  # type: ignore[arg-type]
    said = f"{deep['depth_mm']:.2f} mm ({deep['scene']}, {deep['cells']} cells, {deep['h_ms']:g} ms)"
    failed = sum(int(r["unconverged"]) for r in rows)  # type: ignore[call-overload]
    claims += [
        Claim("depth in bodies, of all points of faces", f"<= thr = {THR:g} mm", said, deep["depth_mm"] <= THR),  # type: ignore[operator]
        Claim("every step converged", "yes", f"{failed} have not", failed == 0),
    ]
    notes = [
        "stretch: largest principal stretch, of F^T F averaged over the faces at a vertex. bound: 1 + 2 (P / (E cell) "
        "+ v sqrt(rho / E)): a force P at a point spreads over a cell of the smallest size, a stop from v strains by "
        "v / c, and a sudden load counts twice; P and v stand by the claims",
        "created: largest total energy minus that of the first step minus all work; jump: the same for one step. A new "
        "mesh is another discretisation of the same cloth, and may store a little more",
    ]
    plot = Plot("scene", "stretch", "cells")
    return Table("eol/strain", "Stretch and energy of every scene of cloth", rows, claims, notes, plot=plot)

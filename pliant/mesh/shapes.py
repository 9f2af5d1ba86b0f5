"""Round bodies from implicit surfaces: ball, duck, four-limbed figure, long-eared figure, serpent.

Stand-ins, free to publish, for the scanned models of the papers. ``cells`` is the number of lattice cells along the
named length; the defaults come close to the published vertex counts. Up is +z, all but the ball look along +x.
"""

import numpy as np

from pliant.errors import MeshError
from pliant.mesh.implicit import Implicit, fill
from pliant.mesh.lengths import metric
from pliant.mesh.mesh import Mesh
from pliant.mesh.solids import ellipsoid, joined, tube


@metric
def ball(radius: float = 0.1, cells: float = 10) -> Mesh:
    """A ball around the origin; ``cells`` along its diameter."""
    return _shaped("ball", ellipsoid((0, 0, 0), (0.5, 0.5, 0.5)), [[-0.5] * 3, [0.5] * 3], 2 * radius, cells)


@metric
def duck(length: float = 0.0445, cells: float = 5.4) -> Mesh:
    """A bath duck from bill to tail (DUCKS of [QLB2021]: 128 vertices, 368 tets, 13.1 g)."""
    body = ellipsoid((-0.05, 0, 0.24), (0.43, 0.29, 0.24))
    tail = tube([(-0.3, 0, 0.3), (-0.46, 0, 0.44)], [0.14, 0.05])
    head = ellipsoid((0.2, 0, 0.58), (0.2, 0.19, 0.2))
    bill = tube([(0.3, 0, 0.55), (0.44, 0, 0.53)], [0.1, 0.06])
    return _shaped(
        "duck", joined([body, tail, head, bill], 0.1), [[-0.55, -0.35, -0.05], [0.55, 0.35, 0.85]], length, cells
    )


@metric
def figure(height: float = 0.29, cells: float = 31) -> Mesh:
    """A standing animal with two arms, two legs, a tail, a snout and ears of 5.2k vertices (ARMADILLO of [ConJac2020]).

    56 cells give the 25k vertices of ARMA in [QLB2021]; 1.37 kg at 1000 kg/m^3, as there.
    """
    torso = [ellipsoid((0, 0, 0.5), (0.14, 0.16, 0.2)), ellipsoid((0.04, 0, 0.79), (0.12, 0.1, 0.11))]
    snout = tube([(0.1, 0, 0.78), (0.24, 0, 0.74)], [0.065, 0.04])
    tail = tube([(-0.08, 0, 0.38), (-0.24, 0, 0.26), (-0.38, 0, 0.28)], [0.09, 0.06, 0.025])
    limbs = []
    for side in (-1, 1):
        arm = [(0, 0.1 * side, 0.62), (0.05, 0.27 * side, 0.6), (0.2, 0.34 * side, 0.7)]
        leg = [(0, 0.09 * side, 0.4), (0.05, 0.15 * side, 0.2), (0, 0.15 * side, 0.05), (0.11, 0.16 * side, 0.045)]
        ear = [(0.02, 0.06 * side, 0.86), (0, 0.11 * side, 0.96)]
        limbs += [tube(arm, [0.075, 0.06, 0.05]), tube(leg, [0.1, 0.075, 0.055, 0.045]), tube(ear, [0.045, 0.03])]
    return _shaped(
        "figure",
        joined([*torso, snout, tail, *limbs], 0.05),
        [[-0.45, -0.45, -0.05], [0.35, 0.45, 1.05]],
        height,
        cells,
    )


@metric
def long_eared(height: float = 0.247, cells: float = 21) -> Mesh:
    """A crouching animal with long ears (BUNNY of [QLB2021]: 3,907 vertices, 2.25 kg)."""
    body = ellipsoid((-0.08, 0, 0.27), (0.34, 0.25, 0.26))
    chest = ellipsoid((0.16, 0, 0.26), (0.19, 0.19, 0.22))
    head = ellipsoid((0.27, 0, 0.56), (0.19, 0.14, 0.14))
    tail = ellipsoid((-0.43, 0, 0.2), (0.09, 0.09, 0.09))
    pairs = []
    for side in (-1, 1):
        ear = [(0.2, 0.06 * side, 0.66), (0.12, 0.1 * side, 0.82), (0.03, 0.13 * side, 0.93)]
        pairs += [tube(ear, [0.06, 0.065, 0.045]), ellipsoid((0.24, 0.12 * side, 0.06), (0.14, 0.07, 0.06))]
        pairs += [ellipsoid((-0.06, 0.2 * side, 0.1), (0.2, 0.09, 0.1))]
    return _shaped(
        "long_eared",
        joined([body, chest, head, tail, *pairs], 0.06),
        [[-0.6, -0.4, -0.05], [0.55, 0.4, 1.05]],
        height,
        cells,
    )


@metric
def serpent(length: float = 0.6, cells: float = 83) -> Mesh:
    """A winding body with an open jaw, four short legs and a thin tail (DRAGON of [ConJac2020]: 10,456 vertices)."""
    s = np.linspace(0, 1, 25)
    spine = np.stack(
        (0.88 * s - 0.49, 0.09 * np.sin(3 * np.pi * s), 0.113 + 0.3 * np.clip(s - 0.6, 0, 1) ** 1.2), axis=1
    )
    girth = 0.012 + 0.036 * np.sin(np.pi * s**0.8)
    neck = spine[-1]
    head = ellipsoid(neck + (0.0, 0, 0.015), (0.06, 0.045, 0.045))
    jaws = [tube([neck, neck + (0.11, 0, 0.05)], [0.032, 0.017]), tube([neck, neck + (0.1, 0, -0.04)], [0.028, 0.014])]
    legs = []
    for at in (8, 16):
        for side in (-1, 1):
            hip = spine[at]
            legs.append(
                tube([hip, hip + (0.03, 0.085 * side, -0.03), hip + (0.04, 0.09 * side, -0.095)], [0.035, 0.024, 0.018])
            )
    return _shaped(
        "serpent",
        joined([tube(spine, girth), head, *jaws, *legs], 0.02),
        [[-0.7, -0.3, -0.05], [0.55, 0.3, 0.35]],
        length,
        cells,
    )


def _shaped(where: str, phi: Implicit, bounds: list[list[float]], length: float, cells: float) -> Mesh:
    """The body phi, drawn at length 1, filled with cells of 1/cells and scaled to ``length`` [m]."""
    if not (np.isfinite(length) and length > 0):
        raise MeshError(f"its length is {length}", where=where, remedy="use a positive length in metres")
    if not 2 <= cells <= 400:
        raise MeshError(f"cells is {cells}", where=where, remedy="use 2 to 400 cells along the body")
    unit = fill(phi, np.asarray(bounds, dtype=np.float64), 1 / cells)
    return Mesh(X=unit.X * length, T=unit.T)

"""What a step of cloth may not do: store energy that nothing paid for."""

from dataclasses import replace
from itertools import islice

import numpy as np

from pliant.bench.eol.books import Books
from pliant.bench.eol.hulls import random_hull
from pliant.bench.eol.march import march
from pliant.cloth.body import Cloth
from pliant.cloth.sheet import rectangle, sheet
from pliant.integrators import LinearlyImplicit
from pliant.scene import Scene


def test_cloth_that_meets_a_hull_gains_nothing() -> None:
    """Where it first meets edges and corners, some of which it is past already when they get their vertices."""
    books = Books()
    for moment in islice(march(random_hull(9, cells=5)), 15):
        books.look(moment)
    assert books.kinetic > 5e-3
    assert books.jump <= 0.01 * books.kinetic and books.created <= 1e-3 * books.kinetic


def test_a_spinning_cloth_gains_little_in_a_step_that_is_too_long() -> None:
    """Vertices that go straight for half a radian stretch the cloth by 12 %, which its linearised step does not see."""
    spin, h = 60.0, 8e-3
    X, faces = rectangle((1.0, 1.0), (4, 4))
    flat = sheet(X, faces, np.column_stack([X, np.zeros(len(X))]))
    r = flat.x - flat.x.mean(axis=0)
    turning = replace(flat, v=spin * np.column_stack([-r[:, 1], r[:, 0], 0 * r[:, 0]]))
    scene = Scene([Cloth(turning, eulerian=True)], LinearlyImplicit(), h=h, duration=5 * h, gravity=(0.0, 0.0, 0.0))
    cloth = scene.system()
    start = cloth.initial()
    energy = sum(cloth.energies(start.q, start.v, 0.0).values())
    for moment in march(scene):
        assert moment.energy <= 1.01 * energy
        energy = moment.energy

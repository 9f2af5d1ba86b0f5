"""What friction takes from sliding cloth is booked as its work, and what a moving box brings as that of its script."""

from dataclasses import replace

import numpy as np
import pytest

from pliant.articulated.body import Rigid
from pliant.cloth.body import Cloth
from pliant.cloth.sheet import rectangle, sheet
from pliant.contact.obstacles import Box
from pliant.integrators import LinearlyImplicit
from pliant.maps.motions import Phase, Phases
from pliant.mesh import bar
from pliant.scene import Scene
from pliant.scenes.eol import strand
from pliant.simulate import simulate
from pliant.systems.row_contact import RowContact


def books(mu, duration=0.2):
    return [step.ledger for step in simulate(replace(strand(mu=mu), duration=duration))]


def test_friction_of_the_strand_is_in_the_ledger():
    rows = books(0.1)
    taken = sum(row.work["friction"] for row in rows)
    lost = rows[-1].total - rows[0].total
    assert all(row.work["friction"] < 0.0 for row in rows[1:])
    assert taken == pytest.approx(lost, rel=0.1) and abs(sum(row.numerical for row in rows)) < 0.1 * abs(taken)
    assert all(row.work["friction"] == 0.0 for row in books(0.0, duration=0.02))


@pytest.mark.parametrize("coupled", [False, True])
def test_a_cloth_is_carried_along_by_the_box_under_it(coupled):
    """Until it moves with the box, at v: the script of the box does m v^2 of work, half of which friction takes.

    A body that floats far away makes the scene one of several parts.
    """
    v, mu, g = 0.2, 0.5, 10.0
    away = Rigid(bar((0.1, 0.1, 0.1), (1, 1, 1)).transformed(translate=(5.0, 0.0, 5.0)), density=1e-6)
    X, faces = rectangle((0.4, 0.4), (4, 4))
    flat = sheet(X, faces, np.column_stack([X, np.zeros(len(X))]))
    belt = Box((0.2, 0.2, -0.5), (4.0, 4.0, 1.0), Phases((Phase(0.0, 1.0, (v, 0.0, 0.0)),)))
    scene = Scene(
        [Cloth(flat, eulerian=True), *([away] if coupled else [])],
        LinearlyImplicit(),
        h=1e-3,
        duration=1.5 * v / (mu * g),
        gravity=(0.0, 0.0, -g),
        contact=RowContact(mu=mu),
        obstacles=[belt],
    )
    m = replace(scene, bodies=scene.bodies[:1]).system().total_mass
    rows = [step.ledger for step in simulate(scene)]
    assert rows[-1].energies["kinetic"] == pytest.approx(0.5 * m * v**2, rel=1e-3)
    scripts, friction = (sum(row.work[name] for row in rows) for name in ("scripts", "friction"))
    assert scripts == pytest.approx(m * v**2, rel=0.05)
    assert friction == pytest.approx(-0.5 * m * v**2, rel=0.05)
    assert abs(sum(row.numerical for row in rows)) < 0.05 * m * v**2

"""The books of cloth: what hands and moving obstacles do is booked as the work of scripts, and balances."""

from dataclasses import replace

import numpy as np
import pytest

from pliant.cloth.body import Cloth
from pliant.cloth.hands import Handle
from pliant.cloth.sheet import rectangle, sheet
from pliant.contact.obstacles import Box, Plane
from pliant.integrators import LinearlyImplicit
from pliant.maps.motions import Keyframes, Phase, Phases
from pliant.maps.pins import Pin
from pliant.scene import Scene
from pliant.scenes import eol
from pliant.simulate import simulate
from pliant.systems.row_contact import RowContact

CONTACT = RowContact(mu=0.0, thickness=5e-3)


def scene_of(bodies, **more) -> Scene:
    """A scene of cloth alone."""
    return Scene(bodies, LinearlyImplicit(), **{"h": 4e-3, "contact": CONTACT, "on_failure": "substep"} | more)


def books(scene):
    """Energy gained, work of scripts and of friction, numerical dissipation [J] over all steps but the first."""
    rows = [step.ledger for step in simulate(scene)]
    summed = [sum(row.work[name] for row in rows[1:]) for name in ("scripts", "friction")]
    return rows[-1].total - rows[0].total, *summed, sum(row.numerical for row in rows[1:])


@pytest.mark.parametrize("mu", [0.0, 0.2])
def test_hands_that_pull_cloth_over_an_edge_pay_for_its_rise_and_for_friction(mu: float) -> None:
    """Work of hands + work of friction = change of energy + what the step takes, which is first order in h.

    With friction that has more terms, of which some give: they fall faster than h here.
    """
    errors = []
    for h in (4e-3, 2e-3):
        scene = replace(eol.draped_edge(cells=4, beta=0.0, pull=0.05), h=h, contact=RowContact(mu=mu))
        gained, hands, rubbed, numerical = books(scene)
        assert hands > 0.02 and (rubbed < -0.3 * hands if mu else rubbed == 0.0)
        assert hands + rubbed == pytest.approx(gained + numerical, abs=1e-12)
        errors.append(numerical / hands)
    assert abs(errors[0]) < 0.003
    assert errors[1] < 0.6 * errors[0] if mu else errors[1] / errors[0] == pytest.approx(0.5, abs=0.1)


def test_a_table_that_rises_does_the_work_of_lifting() -> None:
    """m g v t, and nothing is lost."""
    flat = sheet(*rectangle((1.0, 1.0), (4, 4)))
    table = Box((0.5, 0.5, -0.5), (2.0, 2.0, 1.0), Phases((Phase(0.0, 9.0, (0.0, 0.0, 0.1)),)))
    scene = scene_of([Cloth(flat, eulerian=True)], h=4e-3, duration=0.2, obstacles=[table])
    gained, work, _, numerical = books(scene)
    assert work == pytest.approx(0.05 * 9.81 * 0.1 * (0.2 - 4e-3), rel=1e-6)
    assert gained == pytest.approx(work, rel=1e-6) and abs(numerical) < 1e-9


def test_a_pin_follows_its_motion_exactly_and_lifts_the_cloth() -> None:
    """A cloth held by all of its border goes where a script brings it."""
    X, faces = rectangle((1.0, 1.0), (4, 4))
    border = np.flatnonzero((np.abs(X - 0.5).max(axis=1)) > 0.49)
    motion = Keyframes((0.0, 0.1, 0.3), ((0.0, 0.0, 0.0), (0.0, 0.0, 0.02), (0.1, 0.0, 0.02)))
    cloth = Cloth(sheet(X, faces), pins=Pin(border, motion), eulerian=True)
    scene = scene_of([cloth], h=5e-3, duration=0.3, gravity=(0.0, 0.0, 0.0))
    for step in simulate(scene):
        x = step.system.positions(step.state.q)[border]
        assert np.allclose(x, motion.positions(np.column_stack([X, 0 * X[:, 0]])[border], step.state.t), atol=1e-9)


def test_the_certificate_counts_what_touches() -> None:
    """Flat on a floor all vertices touch and nothing is inside; let go above it, nothing touches."""
    flat = sheet(*rectangle((1.0, 1.0), (3, 3)))
    rest = scene_of([Cloth(flat, eulerian=True)], duration=0.02, obstacles=[Plane()])
    *_, last = simulate(rest)
    assert last.report.contacts == len(flat.X) and last.report.penetration < 1e-12
    assert last.report.min_det == pytest.approx(1.0, abs=1e-6)
    high = Cloth(replace(flat, x=flat.x + [0.0, 0.0, 0.3]), eulerian=True)
    *_, last = simulate(replace(rest, bodies=[high]))
    assert last.report.contacts == 0
    deep = Cloth(replace(flat, x=flat.x - [0.0, 0.0, 0.003]), eulerian=True)
    part = deep.part((0.0, 0.0, 0.0), [Plane()], rest.contact)
    start = part.initial()
    assert np.allclose(part.contacts(start.q, start.v, 0.0).gaps, -0.003)


def test_a_stretched_cloth_says_by_how_much() -> None:
    flat = sheet(*rectangle((1.0, 1.0), (3, 3)))
    cloth = Cloth(replace(flat, x=flat.x * [0.5, 1.2, 1.0]), pins=Handle(np.zeros((1, 2))), eulerian=True)
    part = cloth.part((0.0, 0.0, 0.0), [], CONTACT)
    assert np.allclose(part.det(part.initial().q), 0.6)


def test_wire_gains_no_energy_from_nowhere() -> None:
    """A wire that rises under the cloth and hands that lead it do work: without it the books would gain 0.1 J."""
    gained, work, _, numerical = books(replace(eol.wire(cells=6), duration=0.4))
    assert work > gained > 0.1 and numerical > 0.0

"""What friction takes from a sliding strand is booked as its work."""

from dataclasses import replace

import pytest

from pliant.scenes.eol import strand
from pliant.simulate import simulate


def books(mu, duration=0.2):
    return [step.ledger for step in simulate(replace(strand(mu=mu), duration=duration))]


def test_friction_of_the_strand_is_in_the_ledger():
    rows = books(0.1)
    taken = sum(row.work["friction"] for row in rows)
    lost = rows[-1].total - rows[0].total
    assert all(row.work["friction"] < 0.0 for row in rows[1:])
    assert taken == pytest.approx(lost, rel=0.1) and abs(sum(row.numerical for row in rows)) < 0.1 * abs(taken)
    assert all(row.work["friction"] == 0.0 for row in books(0.0, duration=0.02))

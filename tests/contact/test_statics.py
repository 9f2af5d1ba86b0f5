"""The least friction of frames of blocks, by linear programmes, against closed forms."""

from math import radians, tan

import pytest

from pliant.bench.contact import arch, cards
from pliant.bench.contact.statics import GROUND, Bearing, Carried, least_friction


def test_two_leaning_cards_need_what_the_closed_form_says():
    blocks = [cards._block(cards._card(side)) for _, side in cards.SIDES]
    X = [cards._card(side).X for _, side in cards.SIDES]
    joints = [Bearing(k, GROUND, cards._point(x, x[:, 2].argmin()), cards.UP) for k, x in enumerate(X)]
    joints.append(Bearing(0, 1, cards._point(X[0], X[0][:, 0].argmax()), (-1.0, 0.0)))
    assert least_friction(blocks, joints) == pytest.approx(cards.needed(), abs=2e-3)  # half a gap beside it


def test_a_block_on_a_slope_needs_the_tangent():
    """Two feet on a slope of 20 degrees, the weight between them."""
    s, c = 0.3420201433256687, 0.9396926207859084
    feet = [Bearing(0, GROUND, (x * c, x * s), (-s, c)) for x in (0.0, 1.0)]
    assert least_friction([Carried(10.0, (0.5 * c, 0.5 * s))], feet) == pytest.approx(tan(radians(20.0)), abs=1e-6)
    assert least_friction([Carried(10.0, (2.0, 0.5 * s))], feet) == float("inf")  # it tips over, whatever mu is


def test_thin_arches_cannot_stand(monkeypatch):
    """A semicircle needs a thickness of about a tenth of its radius, one of seven stones not much less."""
    assert arch.needed() < 0.4
    monkeypatch.setattr(arch, "THICK", 0.05 * arch.RADIUS)
    assert arch.needed() == float("inf")

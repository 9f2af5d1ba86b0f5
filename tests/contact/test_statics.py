"""The least friction of frames of blocks, by linear programmes, against closed forms."""

from math import cos, pi, radians, sin, tan

import numpy as np
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


def test_arches_stand_down_to_the_thickness_of_milankovitch(monkeypatch):
    """A semicircle of many stones stands if it is thicker than 0.1075 of its mean radius, whatever friction is."""
    monkeypatch.setattr(arch, "STONES", 61)
    monkeypatch.setattr(arch, "GAP", 0.0)
    for part, stands in ((0.109, True), (0.106, False)):
        monkeypatch.setattr(arch, "THICK", part * arch.RADIUS)
        assert (arch.needed() < float("inf")) == stands


def test_the_arch_needs_what_its_lines_of_thrust_need():
    """Every balance of a symmetric arch is a line of thrust: a thrust H, and where it meets the first joint."""
    middles, weights = [], []
    for k in range(arch.STONES):
        mesh, volume = arch._stone(k), arch._stone(k).measures()
        middles.append(volume @ mesh.X[mesh.T].mean(axis=1) / volume.sum())
        weights.append(arch.G * arch.DENSITY * volume.sum())
    W, x = np.array(weights), np.array(middles)[:, 0]
    V = 0.5 * W.sum() - np.concatenate([[0.0], np.cumsum(W)])  # up across joint k, from the left
    turn = np.concatenate([[0.0], np.cumsum(W * x)])
    angle = [pi - k * pi / arch.STONES for k in range(arch.STONES + 1)]
    low, high = arch.RADIUS - 0.5 * arch.THICK, arch.RADIUS + 0.5 * arch.THICK
    best = float("inf")
    for H in np.linspace(0.01, 2.0, 4000) * W.sum():
        N = np.array([sin(a) * H - cos(a) * v for a, v in zip(angle, V, strict=True)])
        T = np.array([cos(a) * H + sin(a) * v for a, v in zip(angle, V, strict=True)])
        # the moment about the middle is -r_k N_k: what remains of r_0 N_0 after the stones up to k
        first = [((r * N - turn) / N[0]) for r in (low, high)]
        if N.min() > 0.0 and max(first[0]) <= min(first[1]):
            best = min(best, float(np.abs(T / N).max()))
    assert arch.needed() == pytest.approx(best, rel=2e-3)

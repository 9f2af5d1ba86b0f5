"""Every kind of scene can be played: three steps, pictures, channels, marks, and a hand where one can pull."""

import numpy as np
import pytest

from pliant.systems.observed import Jointed
from pliant.view.marks import marks_of
from pliant.view.player import Player

KINDS = {
    "solid": ("cantilever", ["parameters.cells=1"]),
    "contact": ("contact/bouncing-ball", []),
    "cut": ("conjac/barcut", ["h=0.2"]),  # the first cut comes after half a second
    "fitted": ("chen/twisted-block", ["parameters.s=4"]),
    "tugged": ("conjac/dragon", []),
    "muscle": ("muscle/muscle", []),
    "articulated": ("redmax/2", []),
    "walking": ("redmax/31", []),
    "cloth": ("eol/lo-res", []),
    "springs": ("chen/shaken-cloth", []),
    "discontinuous": ("chen/strip", []),
}


@pytest.mark.parametrize("kind", KINDS)
def test_three_steps_of_every_kind(kind):
    source, settings = KINDS[kind]
    player = Player(source, settings)
    t, x = player.state.t, player.points
    for k in range(3):
        if player.holdable and k == 1:
            vertex = int(player.skin.vertices[0, 0])
            player.pull((player.hold(vertex), player.points[vertex] + [0.0, 0.0, 1e-3], player.grip))
            assert player.hand.shape == (2, 3)
        player.take()
        assert player.last.report.verdict != "failed" and np.isfinite(player.points).all()
    assert player.state.t > t and (len(player.points) != len(x) or np.abs(player.points - x).max() > 0.0)
    assert len(player.channels()) == len(set(player.channels()))  # a list to choose from has nothing twice
    for channel in player.channels():
        picture = player.picture((channel,))
        assert np.isfinite(picture.values[channel]).any() and len(picture.values[channel]) == len(picture.points)
    marks = marks_of(player.system, player.points, player.state.t)
    assert len(marks.joints) > 0 if isinstance(player.system, Jointed) else len(marks.joints) == 0
    player.pull(None)
    player.take()
    player.reset()
    assert player.state.t == t and np.array_equal(player.points, x)


def test_a_cut_shakes_off_the_hand():
    player = Player("conjac/barcut", ["h=0.3"])
    before = len(player.points)
    player.pull((0, player.points[0], 1.0))
    while len(player.points) == before:
        assert player.hand is not None
        player.take()
    assert player.hand is None and len(player.points) > before

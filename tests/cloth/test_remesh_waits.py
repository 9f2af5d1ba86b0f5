"""New vertices on features wait where they would leave a face without area, but not where the cloth would be lost."""

from dataclasses import replace

import numpy as np
import pytest

from pliant.bench.eol.march import march
from pliant.cloth import adapt
from pliant.cloth.collide import NO_TIP_HITS, EdgeHits
from pliant.cloth.remesh import Edited
from pliant.cloth.sheet import signed_areas
from pliant.scenes import eol


@pytest.mark.parametrize("always", [False, True], ids=["with the new vertices", "by remeshing alone"])
def test_no_face_loses_its_area(monkeypatch, always):
    """A row of collinear vertices used to end the run with a face of 1e-19 m^2 (WIRE, conformal, 18 cells)."""
    cloth = eol.wire(cells=4).system()
    sheet = cloth.sheet
    one = np.zeros((1, 3))
    hit = EdgeHits(np.array([[0, 1]]), np.zeros(1, int), np.full(1, 0.5), one, np.zeros(1), one)
    asked = []

    def edit(cloth, sheet, scenery, hits, *, adaptive):
        asked.append(len(hits[0].feature))
        X = sheet.X.copy()
        if always or asked[-1]:
            a, b, c = sheet.faces[0]
            X[c] = 0.5 * (X[a] + X[b])
        return Edited(replace(sheet, X=X), np.arange(len(X)), 1)

    monkeypatch.setattr(adapt, "edit", edit)
    found = adapt.remeshed(cloth, sheet, cloth.around.at(0.0), (hit, NO_TIP_HITS))
    assert asked == [1, 0] and found.operations == (0 if always else 1)
    assert signed_areas(found.sheet.X, found.sheet.faces).min() > 0.0


def test_jaws_hold_the_cloth_with_large_steps():
    """The cloth gets past its tips by more than the threshold in a step; vertices that waited there lost it."""
    for moment in march(replace(eol.jaws(cells=6), h=8e-3)):
        assert moment.sheet.x[:, 2].mean() > -0.1, moment.state.t

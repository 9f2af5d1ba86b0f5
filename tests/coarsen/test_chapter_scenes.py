"""The scenes of chapter 3 on small meshes: they run, keep books, and hold their constraints."""

import numpy as np
import pytest

from pliant import mesh as meshes
from pliant.materials import ARAP
from pliant.scenes import built_in, chen_fitted, chen_meshes
from pliant.scenes.chen_coarse import pair
from pliant.simulate import simulate

SMALL = {
    "bar_coarse": lambda: meshes.bar((1.0, 0.25, 0.25), (20, 2, 2)),
    "bar_fine": lambda: meshes.bar((1.0, 0.25, 0.25), (40, 4, 4)),
    "armadillo_coarse": lambda: meshes.figure(cells=14),
    "armadillo_fine": lambda: meshes.figure(cells=20),
}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(chen_meshes, "_path", lambda name: None)
    for name, make in SMALL.items():
        monkeypatch.setitem(chen_meshes.STAND_INS, name, make)


def test_they_are_in_the_catalogue():
    assert {"chen/twisted-block", "chen/shaken-armadillo", "chen/mixed-arm"} <= set(built_in("chen"))


def test_the_twisted_block_keeps_its_books():
    """Midpoint and a linear material: what is not damped is kept, the correction's energy included."""
    scene = chen_fitted.twisted_block(s=5)
    object.__setattr__(scene, "duration", 0.1)
    rows = [step.ledger for step in simulate(scene)]
    assert len(rows) == 10
    for row in rows:
        assert abs(row.numerical) < 1e-8 * row.scale and "eigenfit" in row.energies and row.work["damping"] <= 0.0


def test_the_shaken_figure_follows_its_feet_and_can_let_go_of_one():
    scene = chen_fitted.shaken_armadillo(s=6)
    object.__setattr__(scene, "duration", 0.08)
    last = list(simulate(scene))[-1]
    assert last.report.converged and last.ledger.work["eigenfit"] != 0.0
    both = pair("armadillo", ARAP(E=1e6), shaken=True, beta=0.0)
    one = both.released()
    assert len(one.plain().pins.free) - len(both.plain().pins.free) > 0
    assert not np.allclose(both.eigenfit(4).fit.ratios, one.eigenfit(4).fit.ratios)


def test_both_meshes_of_a_pair_start_from_the_same_displacement():
    body = pair("bar", chen_fitted.Linear(E=1e5, nu=0.45))
    coarse, fine = body.plain(), body.truth()
    moved = [body.twisted(s.X, 0.1) - s.X for s in (coarse, fine)]
    free = body.fine.X[:, 0] > 0.3  # away from the support, which is held at rest
    assert np.abs(body.B @ moved[0] - moved[1])[free].max() < 0.05 * np.abs(moved[1]).max()

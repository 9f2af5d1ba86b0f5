"""The comparisons run in their quick form, keep one shape of rows, and draw their figures."""

from pathlib import Path

import pytest

from pliant.bench.ledwon import properties, speed, xpbd_vs_pd


def test_damping_study_has_the_published_number():
    """Converged implicit Euler loses 0.752 J on the chain; Projective Dynamics approaches it from above."""
    rows = xpbd_vs_pd.damping_study(quick=True)
    exact = xpbd_vs_pd.pick(rows, "damping", "chain", "Newton", "value")[0]
    losses = xpbd_vs_pd.pick(rows, "damping", "chain", "PD", "value")
    assert exact == pytest.approx(0.752, abs=0.001)
    assert losses[0] > losses[1] > losses[2] > exact


@pytest.mark.slow
def test_comparison(tmp_path):
    table = xpbd_vs_pd.run(quick=True, folder=tmp_path)
    assert len({tuple(r) for r in table.rows}) == 1
    assert all(Path(f).stat().st_size > 10_000 for f in table.figures) and len(table.figures) == 3
    assert all(c.holds for c in table.claims), [c for c in table.claims if not c.holds]


@pytest.mark.slow
def test_properties():
    table = properties.run(quick=True)
    assert all(c.holds for c in table.claims), [c for c in table.claims if not c.holds]


@pytest.mark.slow
def test_speed():
    table = speed.run(quick=True)
    assert len({tuple(r) for r in table.rows}) == 1 and len(table.claims) == 5

"""Newton's ball: the published set-up, stepped and differentiated here, against its formulas in a plain loop."""

import numpy as np

from pliant.bench.gradient import published


def test_two_iterations_of_the_descent():
    rows = published.descended(2)
    for row in rows:
        assert abs(row["loss [m^2]"] - row["the formulas alone [m^2]"]) < 1e-10
        assert row["gradient off"] < 1e-6 * row["|gradient|"]
    assert rows[0]["loss [m^2]"] < 10.0  # what its own test demands
    assert rows[1]["loss [m^2]"] < rows[0]["loss [m^2]"] - 1e-3


def test_the_particle_bounces_off_floor_and_wall():
    """Without either of the two it would be elsewhere by metres."""
    import pliant as pl

    x = np.array([step.state.q[:3] for step in pl.simulate(published.thrown())])
    assert 0.0 < x[:, 2].min() < published.RADIUS and 1.65 < x[:, 1].max() < 1.75
    assert x[-1, 2] > 0.5 and x[-1, 1] < 1.6

"""What friction in joints takes is booked as its work, not as numerical dissipation."""

from dataclasses import replace

import numpy as np
import pytest

from pliant.articulated import BISP, StaggeredProjections
from pliant.record import record
from pliant.scenes.redmax import chain_with_friction as chain
from pliant.simulate import simulate


def books(integrator, h):
    scene = replace(chain(), integrator=integrator(chain()), h=h, duration=0.4)
    return [step.ledger for step in simulate(scene)]


def own(scene):
    return scene.integrator


def staggered(scene):
    return StaggeredProjections(friction=scene.integrator.friction)


@pytest.mark.parametrize("method", [own, staggered])
def test_friction_only_takes_and_the_rest_vanishes_with_h(method):
    coarse, fine = books(method, 1e-2), books(method, 5e-3)
    for rows in (coarse, fine):
        assert all(row.work["friction"] < 0.0 for row in rows)
        assert rows[-1].total == pytest.approx(
            sum(r.work["friction"] - r.numerical for r in rows), rel=1e-9
        )  # from rest
    left = [abs(sum(row.numerical for row in rows)) for rows in (coarse, fine)]
    taken = -sum(row.work["friction"] for row in fine)
    assert left[1] < 0.02 * taken and left[1] < 0.6 * left[0]


def test_a_column_of_the_ledger(tmp_path):
    run = record(replace(chain(), duration=0.02), tmp_path)
    assert isinstance(chain().integrator, BISP)
    assert (run.ledger["work_friction"][1:] < 0.0).all() and run.ledger["work_friction"][0] == 0.0
    change = np.diff(run.ledger["total"])
    assert np.allclose(change, (run.ledger["work_friction"] - run.ledger["numerical"])[1:], rtol=1e-9)

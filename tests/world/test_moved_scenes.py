"""The same scene somewhere else, and turned: the laws have no directions and no places of their own."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant.solvers import Newton
from pliant.solvers.base import Tolerance

EXACT = Newton(tolerance=Tolerance(1e-10, 1e-14))
TURN = Rotation.from_rotvec([0.7, -0.5, 1.1]).as_matrix()
SOFT = pl.StableNeoHookean(3e4, 0.35)


def placed(mesh, turn, at):
    """The mesh turned about its middle, which comes to ``at``."""
    return replace(mesh, X=(mesh.X - mesh.X.mean(axis=0)) @ Rotation.from_rotvec(turn).as_matrix().T + at)


def thrown(contact, integrator, R, d):
    """A spinning die above a soft block that falls on a slope, all turned by R and moved by d."""
    soft = placed(pl.mesh.bar((0.1, 0.1, 0.1), (2, 2, 2)), [0.05, 0.03, 0.2], [0.0, 0.0, 0.0561])
    hard = placed(pl.mesh.bar((0.06, 0.06, 0.06), (1, 1, 1)), [0.1, -0.07, 0.5], [0.01, 0.005, 0.147])
    soft, hard = (replace(mesh, X=mesh.X @ R.T + d) for mesh in (soft, hard))
    block = pl.Solid(soft, SOFT, density=500.0, damping=pl.Rayleigh(1.0, 1e-3), velocity=tuple(R @ (0.1, 0.0, -0.2)))
    die = pl.Rigid(hard, density=700.0, velocity=tuple(R @ (0.0, 0.1, -0.3)), spin=tuple(R @ (1.0, 2.0, -3.0)))
    slope = pl.Plane(point=tuple(d), normal=tuple(R @ (0.02, 0.01, 1.0)))
    return pl.Scene(
        [block, die],
        obstacles=[slope],
        contact=contact,
        integrator=integrator,
        gravity=tuple(R @ (0.0, 0.0, -9.81)),
        h=4e-3,
        duration=0.064,
    )


@pytest.mark.parametrize(
    ("contact", "integrator"),
    [
        (pl.PenaltyContact(mu=0.3), pl.BDF1(solver=EXACT)),
        (pl.RowContact(mu=0.3), pl.LinearlyImplicit()),
    ],
    ids=["penalty", "rows"],
)
def test_turned_and_moved_scenes_go_the_same_way(contact, integrator):
    runs = []
    for R, d in ((np.eye(3), np.zeros(3)), (TURN, np.zeros(3)), (np.eye(3), np.array([10.0, -7.0, 3.0]))):
        steps = list(pl.simulate(thrown(contact, integrator, R, d)))
        runs.append([(step.system.positions(step.state.q) - d) @ R for step in steps])
    assert np.abs(np.subtract(runs[0][-1], runs[0][0])).max() > 0.01
    assert np.allclose(runs[1], runs[0], rtol=0.0, atol=1e-9)
    assert np.allclose(runs[2], runs[0], rtol=0.0, atol=1e-9)

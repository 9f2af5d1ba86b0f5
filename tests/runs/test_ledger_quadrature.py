"""The work of damping in the ledger is a sum of our own: at the end of the step for order 1, mean of both ends else."""

import numpy as np
import pytest

import pliant as pl
from pliant.mesh import Mesh
from pliant.simulate import simulate


@pytest.mark.parametrize("integrator, early", [(pl.BDF1(), 0.0), (pl.ImplicitMidpoint(), 0.5), (pl.SDIRK2(), 0.5)])
def test_work_of_damping(integrator, early):
    alpha, mass = 3.0, 2.0
    net = Mesh(np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0]]), np.array([[0, 1]]))
    body = pl.SpringNet(net, k=30.0, mass=mass, velocity=(0.3, 0.1, 0.0), damping=pl.Rayleigh(alpha=alpha))
    scene = pl.Scene([body], integrator=integrator, h=0.05, duration=0.15)
    before = scene.initial()
    for step in simulate(scene):
        dq = step.state.q - before.q
        f0, f1 = (-alpha * mass * state.v for state in (before, step.state))
        assert step.ledger.work["damping"] == pytest.approx(dq @ (early * f0 + (1.0 - early) * f1), rel=1e-9)
        before = step.state

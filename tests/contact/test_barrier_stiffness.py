"""The adaptive stiffness of barriers: a body comes to rest, and the force that is recorded is the one that acts."""

import numpy as np
import pytest

import pliant as pl
from pliant.bench.trust.barrier import play


@pytest.mark.parametrize("dhat", [1e-4, 1e-5, 2e-6])
def test_a_resting_cube_weighs_what_it_weighs(tmp_path, dhat):
    mesh = pl.mesh.bar(size=(0.1, 0.1, 0.1), cells=(1, 1, 1)).transformed(translate=(0, 0, 0.5 * dhat))
    body = pl.Solid(mesh, pl.StableNeoHookean(1e5, 0.3), damping=pl.Green(5e-3))
    contact, floor = pl.BarrierContact(dhat=dhat), [pl.Plane()]
    scene = pl.Scene([body], integrator=pl.BDF1(), contact=contact, obstacles=floor, h=0.01, duration=0.4)
    run = scene.run(tmp_path / "run", output=pl.Output(channels=["contact_force"]))
    recorded = [np.asarray(frame.point_values["contact_force"])[:, 2].sum() for frame in run.frames]
    assert np.allclose(recorded[-5:], 9.81, rtol=1e-3)
    assert abs(run.ledger["linear_z"][-1]) < 1e-5  # and the ledger can be read: no numbers spelled by NumPy
    assert "np." not in (tmp_path / "run" / "ledger.csv").read_text()


@pytest.mark.parametrize("seed", [10, 35])
def test_lumps_that_are_soft_and_heavy_for_their_step_are_stopped(seed):
    """Their elements alone could not: a barrier as stiff as these lets them come so near that no step is found."""
    assert play(seed)[:3] == ("finished", 25, 0)

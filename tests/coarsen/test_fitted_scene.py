"""A user's own coarse scene with fine frequencies: it rings like the fine one, and runs like any other."""

import numpy as np
import pytest

import pliant as pl
from pliant.linear.modes import lowest
from pliant.record import record, resume
from pliant.simulate import simulate


def held(cells, **options):
    mesh = pl.mesh.bar(size=(0.4, 0.1, 0.1), cells=cells)
    pin = pl.Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
    body = pl.Solid(mesh, pl.StableNeoHookean("200 kPa", 0.45), pins=pin, lumped=False)
    return pl.Scene([body], **{"h": 0.01, "duration": 0.1, **options})


def rest_frequencies(system, s):
    q = system.X.ravel()
    K = -system.restrict(system.stiffness(q, 0.0 * q, 0.0, psd=True))
    return lowest(K.tocsr(), system.restrict(system.mass(q)), s).lam


def test_it_has_the_frequencies_of_the_fine_scene():
    coarse, fine = held((4, 1, 1)), held((8, 2, 2))
    fitted = pl.FittedScene(coarse, fine, s=4)
    system = fitted.system()
    q = system.X.ravel()
    modes = fitted.fit.modes[:, :4]
    K = -system.restrict(system.stiffness(q, 0.0 * q, 0.0)) @ modes
    corrected = np.sort((modes * K).sum(axis=0))
    assert corrected == pytest.approx(rest_frequencies(fine.system(), 4), rel=1e-3)
    assert (rest_frequencies(coarse.system(), 4) > 1.2 * corrected).all()  # the coarse mesh alone is too stiff


def test_it_sags_more_than_the_coarse_scene_and_is_recorded_and_resumed(tmp_path):
    fitted = pl.FittedScene(held((4, 1, 1), integrator=pl.BDF1()), held((8, 2, 2)), s=5)
    tip = {
        name: list(simulate(scene))[-1].state.q.reshape(-1, 3)[:, 2].min()
        for name, scene in {"coarse": fitted.scene, "fitted": fitted, "fine": fitted.fine}.items()
    }
    assert tip["fitted"] < tip["coarse"] and abs(tip["fitted"] - tip["fine"]) < 0.3 * abs(tip["coarse"] - tip["fine"])
    whole = record(fitted, tmp_path / "whole")
    short = pl.FittedScene(held((4, 1, 1), integrator=pl.BDF1(), duration=0.05), fitted.fine, s=5)
    record(short, tmp_path / "half")
    half = resume(tmp_path / "half", fitted)
    assert np.array_equal(whole.frames[-1].points, half.frames[-1].points)


def test_scenes_of_different_bodies_are_refused():
    two = pl.Scene([held((4, 1, 1)).bodies[0]] * 2)
    with pytest.raises(pl.SceneError, match="1 coarse bodies and 2 fine ones"):
        pl.FittedScene(held((4, 1, 1)), two)

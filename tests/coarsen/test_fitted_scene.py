"""A user's own coarse scene with fine frequencies: it rings like the fine one, and runs like any other."""

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.coarsen import Following
from pliant.linear.modes import lowest
from pliant.record import record, resume
from pliant.simulate import simulate


def fitted_to(fine, s, cells=(4, 1, 1), **options):
    coarse = held(cells, **options)
    return replace(coarse, bodies=[replace(coarse.bodies[0], fit=pl.Fitting(fine.bodies[0], s))])


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
    system = fitted_to(fine, 4).system()
    q = system.X.ravel()
    modes = system.fit.modes[:, :4]
    K = -system.restrict(system.stiffness(q, 0.0 * q, 0.0)) @ modes
    corrected = np.sort((modes * K).sum(axis=0))
    assert corrected == pytest.approx(rest_frequencies(fine.system(), 4), rel=1e-3)
    assert (rest_frequencies(coarse.system(), 4) > 1.2 * corrected).all()  # the coarse mesh alone is too stiff


def test_it_sags_more_than_the_coarse_scene_and_is_recorded_and_resumed(tmp_path):
    scenes = {"coarse": held((4, 1, 1), integrator=pl.BDF1()), "fine": held((8, 2, 2))}
    fitted = scenes["fitted"] = fitted_to(scenes["fine"], 5, integrator=pl.BDF1())
    tip = {name: list(simulate(scene))[-1].state.q.reshape(-1, 3)[:, 2].min() for name, scene in scenes.items()}
    assert tip["fitted"] < tip["coarse"] and abs(tip["fitted"] - tip["fine"]) < 0.3 * abs(tip["coarse"] - tip["fine"])
    whole = record(fitted, tmp_path / "whole")
    record(replace(fitted, duration=0.05), tmp_path / "half")
    half = resume(tmp_path / "half", fitted)
    assert np.array_equal(whole.frames[-1].points, half.frames[-1].points)


def test_its_modes_are_followed_from_step_to_step():
    """What a run does is what `Following` does: the same motion as modes sought anew in every step, at less cost."""
    scene = fitted_to(held((8, 2, 2)), 5, integrator=pl.BDF1())
    run = [step.state.q for step in simulate(scene)]
    ends = []
    for integrator in (Following(scene.integrator), scene.integrator):
        system = scene.system()
        state, memory = scene.initial(system), None
        for _ in range(scene.steps):
            step = integrator.step(system, state, float(scene.h), memory)
            state, memory = step.state, step.memory
        ends.append(state.q)
    assert run[-1].tobytes() == ends[0].tobytes() != ends[1].tobytes()
    assert abs(ends[0] - ends[1]).max() < 1e-4 * abs(ends[1] - scene.initial(scene.system()).q).max()


def test_bodies_beside_a_fitted_one_keep_their_own_frequencies():
    one, fine = fitted_to(held((8, 2, 2)), 3), held((8, 2, 2))
    other = pl.Solid(pl.mesh.bar(size=(0.1, 0.1, 0.1), cells=(1, 1, 1)).transformed(translate=(0, 1, 0)),
                     pl.StableNeoHookean("200 kPa", 0.45), pins=pl.Pin([0, 1, 2, 3]), lumped=False)  # fmt: skip
    both = replace(one, bodies=[one.bodies[0], other]).system()
    assert len(both.fit.ratios) == 3 and both.fit.ratios.min() < 0.9
    assert rest_frequencies(fine.system(), 3) == pytest.approx(both.fit.ratios * both.fit.coarse, rel=1e-2)

"""Fitting scenes to measured motions."""

import numpy as np
import pytest

import pliant as pl
from pliant import adjoint
from pliant.adjoint.observations import interpolation
from pliant.errors import SceneError

MESH = pl.mesh.bar((0.3, 0.1, 0.1), (3, 1, 1))
LEFT = np.flatnonzero(MESH.X[:, 0] < 1e-9)
TIP = np.flatnonzero(MESH.X[:, 0] > 0.299)
TRUE = np.array([1e5, 0.4, 4e-3])
WRT = ["bodies.bar.material.E", "bodies.bar.material.nu", "bodies.bar.damping.beta"]


def shaken(E, nu, beta, steps=40):
    path = pl.Keyframes((0.0, 0.1, 0.2, 0.4), ((0, 0, 0), (0.03, 0, 0), (0, 0.02, 0), (0, 0, 0)))
    damping = pl.Rayleigh(beta=beta)
    bar = pl.Solid(MESH, pl.StableNeoHookean(E, nu), pins=pl.Pin(LEFT, path), damping=damping, name="bar")
    return pl.Scene([bar], pl.BDF2(), h=0.01, duration=0.01 * steps)


def recorded(scene, points):
    return np.array([step.system.positions(step.state.q)[points] for step in pl.simulate(scene)])


def test_three_parameters_from_a_noisy_tip():
    """Modulus, Poisson's ratio and damping to 1 %, and the truth within a little more than the intervals."""
    noise = 1e-4
    seen = recorded(shaken(*TRUE), TIP)
    seen += noise * np.random.default_rng(0).normal(size=seen.shape)
    seen[3, 1] = np.nan  # a marker that was lost for a moment
    observed = adjoint.Observations(TIP[:, None], 0.01 * np.arange(1, 41), seen)
    found = adjoint.fit(shaken(5e4, 0.3, 1e-3), observed, WRT)
    assert found.converged and found.runs <= 15
    np.testing.assert_allclose(found.values, TRUE, rtol=0.01)
    assert abs(found.noise / noise - 1.0) < 0.15
    low, high = found.interval.T
    assert (low < found.values).all() and (found.values < high).all()
    assert (np.abs(found.values - TRUE) < high - low).all()
    assert (high - low < 0.02 * TRUE).all()
    assert adjoint.read(found.scene, WRT[0]) == found.values[0]


def test_the_interval_is_that_of_repeated_measurements():
    """The spread of fits to several measurements of one motion is the spread that a single fit predicts."""
    clean, random = recorded(shaken(*TRUE, steps=15), TIP), np.random.default_rng(1)
    fits = []
    for _ in range(12):
        seen = adjoint.Observations(
            TIP[:, None], 0.01 * np.arange(1, 16), clean + 1e-4 * random.normal(size=clean.shape)
        )
        fits.append(adjoint.fit(shaken(*TRUE, steps=15), seen, WRT[:1]))
    logs = np.log([f.values[0] for f in fits])
    width = np.mean([np.log(f.interval[0, 1] / f.interval[0, 0]) / (2 * 1.97) for f in fits])
    assert 0.6 < logs.std(ddof=1) / width < 1.6  # 12 samples: 95 % of such ratios are between 0.6 and 1.5


def test_parameters_that_only_their_ratio_tells_are_fitted_up_to_it():
    """Motions know E/density alone; that neither has an interval used to pass for convergence, at the start."""
    seen = adjoint.Observations(TIP[:, None], 0.01 * np.arange(1, 16), recorded(shaken(*TRUE, steps=15), TIP))
    found = adjoint.fit(shaken(5e4, 0.4, 4e-3, steps=15), seen, [WRT[0], "bodies.bar.density"])
    assert found.converged and found.values[0] / found.values[1] == pytest.approx(
        TRUE[0] / 1000.0, rel=3e-4
    )  # 1e-4 of each
    assert found.history[-1].rms < 1e-3 * found.history[0].rms


def test_regions_have_a_modulus_each():
    labels = np.minimum((MESH.X[MESH.T].mean(axis=1)[:, 0] / 0.1).astype(int), 2)
    true = np.array([5e4, 2e5, 1e5])
    scene = shaken(true[labels], 0.4, 1e-3, steps=15)
    seen = adjoint.Observations(np.arange(16)[:, None], 0.01 * np.arange(1, 16), recorded(scene, np.arange(16)))
    found = adjoint.fit(shaken(1e5, 0.4, 1e-3, steps=15), seen, [adjoint.Regions(WRT[0], labels)])
    np.testing.assert_allclose(found.values, true, rtol=1e-5)


def test_the_gradient_by_regions_sums_that_by_elements():
    labels = np.arange(len(MESH.T)) % 4
    scene, loss = shaken(np.full(len(MESH.T), 1e5), 0.4, 1e-3, steps=5), adjoint.EndShape(np.zeros((16, 3)), 5)
    each = adjoint.gradient(scene, loss, WRT[:1]).flat
    few = adjoint.gradient(scene, loss, [adjoint.Regions(WRT[0], labels)], check=True)
    np.testing.assert_allclose(few.flat, np.bincount(labels, weights=each), rtol=1e-9)
    assert few.check.error < 1e-6


def test_what_the_data_do_not_show_has_no_interval():
    """Without gravity and motion nothing depends on the modulus."""
    rest = pl.Scene(
        [pl.Solid(MESH, pl.StableNeoHookean(1e5, 0.4), name="bar")], h=0.01, duration=0.05, gravity=(0, 0, 0)
    )
    seen = adjoint.Observations([[5]], 0.01 * np.arange(1, 6), np.tile(MESH.X[5], (5, 1, 1)) + 1e-3)
    found = adjoint.fit(rest, seen, WRT[:1])
    assert found.interval is None and abs(found.values[0] - 1e5) < 1e-6


def test_times_between_steps_are_interpolated_by_cubics():
    times, steps = np.array([0.0, 0.013, 0.05, 0.0777, 0.1]), np.arange(11) * 0.01
    W = interpolation(times, 0.01, 10)
    for power in range(4):
        np.testing.assert_allclose(W @ steps**power, times**power, atol=1e-15)
    assert W[2].nnz == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([[99]], [0.01], np.zeros((1, 1, 3))), "point 99 of 16"),
        (([[5]], [9.0], np.zeros((1, 1, 3))), "seen from 9"),
        (([[5]], [0.02, 0.01], np.zeros((2, 1, 3))), "do not increase"),
        (([[5]], [0.01], np.zeros((1, 2, 3))), "places of shape"),
        (([[5]], [0.01], np.full((1, 1, 3), np.nan)), "nothing was seen"),
        (([], [0.01], np.zeros((1, 0, 3))), "markers are"),
    ],
)
def test_data_that_do_not_fit_are_refused(given, message):
    with pytest.raises(SceneError, match=message):
        adjoint.fit(shaken(*TRUE, steps=5), adjoint.Observations(*given), WRT)


@pytest.mark.parametrize(
    ("labels", "message"),
    [(np.zeros(3, int), "3 labels"), (np.full(18, 0.5), "labels are"), (np.arange(18) * 2, "labels are")],
)
def test_labels_that_do_not_fit_are_refused(labels, message):
    scene, loss = shaken(np.full(len(MESH.T), 1e5), 0.4, 1e-3, steps=2), adjoint.EndShape(np.zeros((16, 3)), 2)
    with pytest.raises(SceneError, match=message):
        adjoint.gradient(scene, loss, [adjoint.Regions(WRT[0], labels)])

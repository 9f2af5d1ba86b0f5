"""Runs as functions of NumPy, PyTorch and JAX: derivatives against those of `gradient`, and against differences."""

import numpy as np
import pytest

import pliant as pl
from pliant import adjoint
from pliant.errors import SceneError

MESH = pl.mesh.bar((0.3, 0.1, 0.1), (3, 1, 1))
WRT = ["bodies.bar.material.E", "bodies.bar.damping.beta"]
TIP = np.array([15, 12])


@pytest.fixture(scope="module")
def scene():
    held = pl.Pin(np.flatnonzero(MESH.X[:, 0] < 1e-9))
    bar = pl.Solid(MESH, pl.StableNeoHookean(1e5, 0.4), pins=held, damping=pl.Rayleigh(beta=2e-3), name="bar")
    return pl.Scene([bar], pl.BDF2(), h=0.01, duration=0.08)


@pytest.fixture(scope="module")
def expected(scene):
    """1/2 sum |x|^2 of two points, and its derivatives."""
    found = adjoint.gradient(scene, adjoint.PointTrajectory(TIP, np.zeros((9, 2, 3))), WRT)
    return found.value, found.flat


def test_the_pullback_of_the_places_is_their_loss(scene, expected):
    motion = adjoint.Trajectory(scene, WRT, TIP)
    x = motion(motion.values)
    assert x.shape == motion.shape == (9, 2, 3)
    assert abs(0.5 * (x**2).sum() - expected[0]) < 1e-14
    for _ in range(2):  # the steps that were kept are not used up
        np.testing.assert_allclose(motion.pullback(motion.values, x), expected[1], rtol=1e-12)
    assert not np.array_equal(motion(motion.values * 1.1), x)


def test_points_that_are_not_there_are_refused(scene):
    with pytest.raises(SceneError, match="Trajectory.points"):
        adjoint.Trajectory(scene, WRT, np.array([16]))


def test_torch(scene, expected):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    motion = adjoint.Trajectory(scene, WRT, TIP)
    run, p = adjoint.torch_motion(motion), torch.tensor(motion.values, requires_grad=True)
    value = 0.5 * (run(p) ** 2).sum()
    value.backward()
    assert abs(value.item() - expected[0]) < 1e-14
    np.testing.assert_allclose(p.grad.numpy(), expected[1], rtol=1e-10)
    scaled = torch.ones(2, dtype=torch.float64, requires_grad=True)
    size = torch.tensor(motion.values)
    assert torch.autograd.gradcheck(lambda s: run(s * size)[-1], scaled, eps=1e-5, atol=1e-7, rtol=1e-4)


def test_jax(scene, expected):
    jax = pytest.importorskip("jax", reason="jax is not installed")
    with jax.enable_x64(True):
        motion = adjoint.Trajectory(scene, WRT, TIP)
        run = adjoint.jax_motion(motion)
        loss = lambda p: 0.5 * (run(p) ** 2).sum()
        for f in (jax.value_and_grad(loss), jax.jit(jax.value_and_grad(loss))):
            value, slope = f(jax.numpy.asarray(motion.values))
            assert abs(float(value) - expected[0]) < 1e-14
            np.testing.assert_allclose(np.asarray(slope), expected[1], rtol=1e-10)

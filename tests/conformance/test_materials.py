"""Every exported material against what is independent of its code: differences, eigenvalues, linear elasticity."""

from pathlib import Path

import numpy as np
import pytest

import pliant.materials
from pliant.bench.core.materials import (
    AXIS,
    E,
    make,
    projection_error,
    rest_errors,
    rotation_error,
    samples,
    stress_error,
    stretched,
    tangent_error,
)
from pliant.materials import MATERIALS, AnisotropicStVK, Linear, NeoHookean, StableNeoHookean


@pytest.fixture(params=MATERIALS, ids=lambda cls: cls.__name__)
def material(request):
    return make(request.param)


def test_every_file_is_exported():
    files = {path.stem for path in Path(pliant.materials.__file__).parent.glob("*.py")} - {"__init__", "base"}
    assert files == {cls.__module__.rsplit(".", 1)[1] for cls in MATERIALS}


def test_stress_is_the_derivative_of_the_density(material):
    assert stress_error(material, samples(material)) <= 1e-7


def test_tangent_is_the_derivative_of_the_stress(material):
    F = samples(material)
    assert tangent_error(material, F) <= 1e-7
    H = material.tangent(F)
    assert np.abs(H - H.swapaxes(1, 2)).max() <= 1e-13 * np.abs(H).max()


def test_projection_is_the_nearest_semidefinite_tangent(material):
    error, least = projection_error(material, samples(material))
    assert error <= 1e-8
    assert least >= -1e-12


def test_rest_is_stress_free_and_linear_elastic(material):
    stress, tangent = rest_errors(material)
    assert abs(material.psi(np.eye(3)[None])[0]) <= 1e-12 * E
    assert stress <= 1e-11
    assert tangent <= 1e-8


def test_rotation_invariance_is_as_declared(material):
    assert (rotation_error(material, samples(material)) <= 1e-11) == material.rotation_invariant


def test_degenerate_deformations_stay_finite(material):
    rng = np.random.default_rng(11)
    s = [[1, 1, 1], [2, 2, 2], [1.5, 1, 1], [1, 1, 0.5], [1e-3, 1e-3, 1e-3]]
    if material.allows_inversion:
        s += [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, -1], [-1, -1, -1], [1, 1e-9, -1e-9], [1e-8, 1e-8, 1e-8]]
    F = np.concatenate([np.array([np.diag(row) for row in s], dtype=float), stretched(rng, np.array(s, dtype=float))])
    for value in (material.psi(F), material.piola(F), material.tangent(F), material.tangent(F, psd=True)):
        assert np.isfinite(value).all()


def test_linear_is_the_only_one_that_sees_rotations():
    assert [cls for cls in MATERIALS if not cls.rotation_invariant] == [Linear]


def test_neo_hookean_is_infinite_when_inverted():
    F = np.stack([np.diag([1.0, 1.0, -1.0]), np.diag([1.0, 1.0, 0.0]), np.eye(3)])
    assert np.isposinf(NeoHookean().psi(F)[:2]).all()
    assert NeoHookean().psi(F)[2] == 0.0


def test_sum_of_materials_adds_everything():
    body, fibre = StableNeoHookean(E), AnisotropicStVK(AXIS, E)
    both = body + fibre
    F = samples(both)
    for name in ("psi", "piola", "tangent"):
        expected = getattr(body, name)(F) + getattr(fibre, name)(F)
        assert np.allclose(getattr(both, name)(F), expected, rtol=1e-14, atol=1e-8)
    assert len((both + fibre).materials) == 3

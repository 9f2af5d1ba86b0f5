"""Every exported material against what is independent of its code: differences, eigenvalues, linear elasticity."""

from pathlib import Path

import numpy as np
import pytest

import pliant.materials
from pliant.bench.core.materials import AXIS, E, make, rest_errors
from pliant.materials import MATERIALS, AnisotropicStVK, Linear, NeoHookean, StableNeoHookean
from pliant.testing import check_material
from pliant.testing.materials import samples


@pytest.fixture(params=MATERIALS, ids=lambda cls: cls.__name__)
def material(request):
    return make(request.param)


def test_every_file_is_exported():
    files = {path.stem for path in Path(pliant.materials.__file__).parent.glob("*.py")} - {
        "__init__",
        "base",
        "presets",
    }
    assert files == {cls.__module__.rsplit(".", 1)[1] for cls in MATERIALS}


def test_everything_independent_of_its_code(material):
    """Differences, eigenvalues, rest, rotations, degenerate deformations."""
    check_material(material)


def test_rest_is_linear_elastic(material):
    stress, tangent = rest_errors(material)
    assert stress <= 1e-11 and tangent <= 1e-8


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

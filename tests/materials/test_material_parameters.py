"""Parameters: units, ranges, per-element values, errors by name."""

import numpy as np
import pytest

from pliant.errors import MaterialError
from pliant.materials import AnisotropicFung, AnisotropicStVK, StableNeoHookean, StVK


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: StableNeoHookean(E=0.0), "E = 0"),
        (lambda: StableNeoHookean(E=float("nan")), "E = nan"),
        (lambda: StableNeoHookean(nu=0.5), "nu = 0.5"),
        (lambda: StVK(nu=-1.0), "nu = -1"),
        (lambda: StVK(E=[1e5, -2.0]), "element 1: E = -2"),
        (lambda: AnisotropicStVK((0.0, 0.0, 0.0)), "|direction| = 0"),
        (lambda: AnisotropicStVK((1.0, 0.0)), "(2,)"),
        (lambda: AnisotropicFung((1, 0, 0), activation=-1.0), "activation"),
        (lambda: StVK(E=[1e5, 2e5], nu=[0.3, 0.3, 0.4]), "{'E': 2, 'nu': 3}"),
    ],
)
def test_nonsense_is_refused_by_name(make, says):
    with pytest.raises(MaterialError) as error:
        make()
    assert says in str(error.value)


def test_per_element_length_is_checked_with_both_numbers():
    with pytest.raises(MaterialError, match="3 elements, the mesh has 2"):
        StVK(E=[1e5, 2e5, 3e5]).psi(np.stack([np.eye(3)] * 2))


def test_strings_carry_units():
    assert StableNeoHookean(E="100 kPa").E == 1e5


def test_directions_are_normalised():
    assert np.allclose(np.linalg.norm(AnisotropicStVK([[3, 0, 0], [1, 1, 0]]).direction, axis=1), 1.0)


def test_per_element_parameters_act_on_their_element():
    F = np.eye(3) + 0.1 * np.random.default_rng(0).normal(size=(40, 3, 3))
    E = np.linspace(1e4, 1e5, 40)
    expected = StableNeoHookean(1.0, 0.3).psi(F) * E
    assert np.allclose(StableNeoHookean(E, 0.3).psi(F), expected, rtol=1e-13)


def test_fung_continues_smoothly_beyond_its_cap():
    muscle = AnisotropicFung((1, 0, 0), k=4.0)
    cap = np.sqrt(1 + 30 / 4.0)
    F = np.stack([np.diag([s, 1.0, 1.0]) for s in (cap * (1 - 1e-9), cap * (1 + 1e-9), 10 * cap)])
    psi, P = muscle.psi(F), muscle.piola(F)[:, 0, 0]
    assert np.isfinite(psi).all()
    assert psi[1] / psi[0] - 1 < 1e-6
    assert P[1] / P[0] - 1 < 1e-6


def test_activation_is_a_line_tension():
    F = np.eye(3) + 0.1 * np.random.default_rng(1).normal(size=(5, 3, 3))
    a = np.array([0.0, 0.6, 0.8])
    active = AnisotropicFung(a, activation=0.5, tension=2e4).piola(F) - AnisotropicFung(a).piola(F)
    assert np.allclose(active, 1e4 * np.einsum("mij,j,k->mik", F, a, a), atol=1e-9)

"""Materials from a formula: against those that are written by hand, and what is refused."""

import numpy as np
import pytest

from pliant.errors import PliantError
from pliant.materials import AnisotropicStVK, FromEnergy, NeoHookean, StableNeoHookean, StVK
from pliant.testing import check_material
from pliant.testing.materials import linear_tangent, samples

E, NU = 1e5, 0.4
LAME = "mu = E/(2*(1 + nu)); lam = E*nu/((1 + nu)*(1 - 2*nu)); "
SAME = {
    "neo-Hookean in invariants": (LAME + "mu/2*(I1 - 3) - mu*log(J) + lam/2*log(J)**2", NeoHookean(E, NU)),
    "stable neo-Hookean": (LAME + "k = lam + mu\nmu/2*(I1 - 3) + k/2*(J - 1 - mu/k)**2", StableNeoHookean(E, NU)),
    "St. Venant-Kirchhoff": (LAME + "lam/8*(I1 - 3)**2 + mu/4*(I1**2 - 2*I1 - 2*I2 + 3)", StVK(E, NU)),
    "neo-Hookean in stretches": (
        LAME + "a = log(s0*s1*s2); mu/2*(s0**2 + s1**2 + s2**2 - 3) - mu*a + lam/2*a**2",
        NeoHookean(E, NU),
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_the_same_as_by_hand(name):
    formula, by_hand = SAME[name]
    derived = FromEnergy(formula, {"E": E, "nu": NU})
    assert derived.young() == pytest.approx(E, rel=1e-12)
    assert derived.allows_inversion == by_hand.allows_inversion
    F = samples(by_hand, 10)
    close = 1e-6 if "stretches" in name else 1e-9  # quotients of nearly equal stretches
    assert np.abs(derived.psi(F) - by_hand.psi(F)).max() <= 1e-9 * E
    assert np.abs(derived.piola(F) - by_hand.piola(F)).max() <= 1e-8 * E
    for psd in (False, True):
        expected = by_hand.tangent(F, psd)
        assert np.abs(derived.tangent(F, psd) - expected).max() <= close * np.abs(expected).max()


def test_fibres_are_the_same_as_by_hand():
    axis = (0.0, 3.0, 4.0)
    derived, by_hand = FromEnergy("E/8*(I4 - 1)**2", {"E": E}, axis), AnisotropicStVK(axis, E)
    assert derived.young() == pytest.approx(E)
    F = samples(by_hand, 10)
    for name in ("psi", "piola", "tangent"):
        assert np.allclose(getattr(derived, name)(F), getattr(by_hand, name)(F), rtol=1e-12, atol=1e-9 * E)


def test_a_law_that_nobody_wrote_by_hand():
    """Mooney-Rivlin with one modulus per element and a unit: everything independent of its code."""
    formula = "c1*(J**(-2/3)*I1 - 3) + c2*(I2*J**(-4/3) - 3) + k/2*(J - 1)**2"
    material = FromEnergy(formula, {"c1": "20 kPa", "c2": 5e3, "k": "1 MPa"})
    check_material(material)
    mu, lam = 2 * 25e3, 1e6 - 2 / 3 * 2 * 25e3
    nu = lam / (2 * (lam + mu))
    assert np.abs(material.tangent(np.eye(3)[None])[0] - linear_tangent(2 * mu * (1 + nu), nu)).max() <= 1e-8 * mu
    F = samples(material, 2)
    each = FromEnergy(formula, {"c1": np.full(len(F), 2e4), "c2": 5e3, "k": 1e6})
    assert np.array_equal(each.piola(F), material.piola(F))


@pytest.mark.parametrize(
    "formula, parameters, why",
    [
        ("mu/2*(I1 - 3)", {"mu": 1e4}, "undeformed body has a stress of 1e"),
        ("-mu/2*(I1 - 3 - 2*log(J))", {"mu": 1e4}, "both must be positive"),
        ("mu*(I1 - 3)*(I4 - 1)", {"mu": 1e4}, "it is in I1, I4"),
        ("mu*(I1 - 3) - 2*nu*log(J)", {"mu": 1e4}, "unknown name 'nu'; did you mean 'mu'"),
        ("__import__('os').system('true')", {}, "is not allowed"),
        ("I1.real", {}, "is not allowed"),
        ("mu*(I1 - 3", {"mu": 1.0}, "cannot read"),
        ("mu*(I1 - 3 - 2*log(J))", {"mu": 1e4, "spare": 1.0}, "'spare' is not in the formula"),
        ("J*(J - 1)**2", {"J": 1.0}, "'J' cannot be a parameter"),
        ("mu/2*(I4 - 1)**2", {"mu": 1.0}, "needs the direction of its fibres"),
        ("log(0)*mu*I1", {"mu": 1.0}, "FromEnergy.formula"),
    ],
)
def test_what_is_refused(formula, parameters, why):
    with pytest.raises(PliantError, match=why):
        FromEnergy(formula, parameters)

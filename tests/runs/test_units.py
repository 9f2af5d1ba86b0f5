"""Quantities with units: values against hand conversions, refusals by field name."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.errors import UnitError
from pliant.units import PREFIXED, quantity


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("100 kPa", "Pa", 1e5),
        ("2.5 cm", "m", 0.025),
        ("5ms", "s", 0.005),
        ("1 g/cm^3", "kg/m^3", 1000.0),
        ("30 deg", "rad", math.pi / 6),
        ("1e-3 N*s/m", "kg/s", 1e-3),
        ("60 rpm", "1/s", 2 * math.pi),
        ("3 kg m^-3", "kg/m^3", 3.0),
        ("0.45", "1", 0.45),
        ("45 %", "1", 0.45),
        ("-9.81 m/s**2", "m/s^2", -9.81),
        ("2 N/mm", "N/m", 2000.0),
        ("7 cm", "cm", 7.0),
    ],
)
def test_strings_are_converted_to_the_asked_unit(text, unit, expected):
    assert quantity(text, unit, "x") == pytest.approx(expected, rel=1e-14)


@given(st.floats(-1e6, 1e6), st.sampled_from(sorted(PREFIXED)), st.sampled_from(["", "k", "m", "M"]))
def test_a_prefix_is_a_power_of_ten(number, symbol, prefix):
    factor = {"": 1.0, "k": 1e3, "m": 1e-3, "M": 1e6}[prefix]
    assert quantity(f"{number!r} {prefix}{symbol}", symbol, "x") == pytest.approx(number * factor, rel=1e-12)


def test_numbers_and_arrays_are_si_already():
    assert quantity(3, "Pa", "E") == 3.0
    np.testing.assert_array_equal(quantity(["1 cm", 2.0], "m", "size"), [0.01, 2.0])
    np.testing.assert_array_equal(quantity(np.arange(3), "m", "size"), [0.0, 1.0, 2.0])


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("100 kg", ("E", "100 kg", "Pa")),
        ("100 kPaa", ("E", "kPaa", "kPa")),
        ("stiff", ("E", "stiff")),
        ("100", ("E", "without a unit", "Pa")),
        ("1 kg/", ("E",)),
        ("1 N//m^2", ("E",)),
        (True, ("E", "True")),
        (None, ("E", "None")),
        ({"a": 1}, ("E",)),
        (["1 Pa", "1 m"], ("E[1]", "1 m")),
    ],
)
def test_nonsense_is_refused_by_name(value, words):
    with pytest.raises(UnitError) as error:
        quantity(value, "Pa", "E")
    assert all(word in str(error.value) for word in words)
    assert "\n" not in str(error.value)


def test_units_of_the_clinic():
    assert quantity("120 mmHg", "Pa", "p") == pytest.approx(120 * 133.322387415)
    assert quantity("1.05 g/ml", "kg/m^3", "density") == pytest.approx(1050.0)


def test_all_that_a_unit_may_mean_is_named():
    """MPA used to be taken for mPa alone, off by a factor of 1e9."""
    with pytest.raises(UnitError, match="'mPa' or 'MPa'"):
        quantity("1 MPA", "Pa", "E")

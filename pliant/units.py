"""Physical quantities: plain numbers are SI, strings carry their unit ("100 kPa", "2.5 cm", "1 g/cm^3", "30 deg").

A unit is a product of powers of symbols, ``kg*m/s^2``; a dimension is the triple of exponents of (kg, m, s), and angles
have none. A string of the wrong dimension or with an unknown symbol is refused by name.
"""

import difflib
import math
import re
from dataclasses import Field, dataclass
from fractions import Fraction
from types import NoneType, UnionType
from typing import Any, Protocol, get_args, runtime_checkable

import numpy as np

from pliant.abilities import able
from pliant.errors import SceneError, UnitError

Dimension = tuple[int, int, int]
ENERGY = {"SI": "J", "CGS": "erg"}  # of a scene whose numbers are in m, kg, s, or in cm, g, s


@runtime_checkable
class InUnits(Protocol):
    """A scene that says in which units its numbers are."""

    @property
    def units(self) -> str: ...


def energy_unit(scene: object) -> str:
    """The unit of the energies of a scene."""
    return ENERGY[scene.units] if able(scene, InUnits) else ENERGY["SI"]


@dataclass(frozen=True)
class Unit:
    """A factor to SI, exact so that "2 g/cm^3" is 2000, and the exponents of (kg, m, s)."""

    factor: Fraction
    dimension: Dimension

    def times(self, other: "Unit", power: int) -> "Unit":
        a, b, c = (x + power * y for x, y in zip(self.dimension, other.dimension, strict=True))
        return Unit(self.factor * other.factor**power, (a, b, c))


def _unit(factor: str, dimension: Dimension) -> Unit:
    return Unit(Fraction(factor), dimension)


POWERS = {"n": -9, "u": -6, "µ": -6, "m": -3, "c": -2, "d": -1, "h": 2, "k": 3, "M": 6, "G": 9}
PREFIXES = {prefix: Fraction(10) ** power for prefix, power in POWERS.items()}
PREFIXED = {  # symbols that take a prefix
    "m": _unit("1.0", (0, 1, 0)),
    "g": _unit("1e-3", (1, 0, 0)),
    "s": _unit("1.0", (0, 0, 1)),
    "N": _unit("1.0", (1, 1, -2)),
    "Pa": _unit("1.0", (1, -1, -2)),
    "J": _unit("1.0", (1, 2, -2)),
    "W": _unit("1.0", (1, 2, -3)),
    "Hz": _unit("1.0", (0, 0, -1)),
    "rad": _unit("1.0", (0, 0, 0)),
    "L": _unit("1e-3", (0, 3, 0)),
    "l": _unit("1e-3", (0, 3, 0)),
    "bar": _unit("1e5", (1, -1, -2)),
}
WHOLE = {  # symbols that do not
    "1": _unit("1.0", (0, 0, 0)),
    "%": _unit("0.01", (0, 0, 0)),
    "deg": Unit(Fraction(math.pi / 180.0), (0, 0, 0)),
    "min": _unit("60.0", (0, 0, 1)),
    "t": _unit("1e3", (1, 0, 0)),
    "in": _unit("0.0254", (0, 1, 0)),
    "ft": _unit("0.3048", (0, 1, 0)),
    "lb": _unit("0.45359237", (1, 0, 0)),
    "psi": _unit("6894.757293168", (1, -1, -2)),
    "mmHg": _unit("133.322387415", (1, -1, -2)),
    "rpm": Unit(Fraction(2.0 * math.pi / 60.0), (0, 0, -1)),
}
SYMBOLS = {p + s: Unit(f * u.factor, u.dimension) for s, u in PREFIXED.items() for p, f in PREFIXES.items()}
SYMBOLS |= PREFIXED | WHOLE

_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?)\s*")
_TERM = re.compile(r"([A-Za-zµ%]+|1)(?:(?:\^|\*\*)(-?\d))?")


def unit(text: str) -> Unit:
    """The unit a string such as ``"kg/m^3"`` stands for; raises `UnitError` on an unknown symbol."""
    result, power, rest = Unit(Fraction(1), (0, 0, 0)), 1, text.strip()
    while rest:
        found = _TERM.match(rest)
        if found is None:
            raise UnitError(f"cannot read {rest!r} in the unit {text!r}", remedy='write units like "kg/m^3" or "N*s/m"')
        symbol, exponent = found.groups()
        if symbol not in SYMBOLS:
            near = [known for known in SYMBOLS if known.lower() == symbol.lower()]  # MPa and mPa: both are named
            near = near or difflib.get_close_matches(symbol, SYMBOLS, n=1)
            guess = f"did you mean {' or '.join(map(repr, near))}?"
            raise UnitError(f"unknown unit {symbol!r}", remedy=guess if near else "use SI units")
        result = result.times(SYMBOLS[symbol], power * int(exponent or 1))
        rest = rest[found.end() :].lstrip()
        power = -1 if rest.startswith("/") else 1
        if rest.startswith(("/", "*", "·")):
            rest = rest[1:].lstrip() or "?"  # an operator must be followed by a term
    return result


def quantity(value: Any, unit: str, name: str) -> Any:
    """``value`` in SI: numbers and arrays are taken as they are [unit], strings are parsed and their dimension checked.

    Lists may mix numbers and strings and give a float64 array. ``name`` is the field named in error messages.
    """
    if isinstance(value, str):
        return _parsed(value, unit, name)
    if isinstance(value, bool | np.bool_) or value is None:
        raise UnitError(f"{name} is {value!r}", where=name, remedy=f"give a number or a string with a unit [{unit}]")
    if isinstance(value, int | float | np.integer | np.floating):
        return _number(value, unit, name)
    if isinstance(value, list | tuple):
        items = [quantity(item, unit, f"{name}[{i}]") for i, item in enumerate(value)]
        if len({np.shape(item) for item in items}) > 1:
            raise UnitError(f"{name} has rows of different lengths", where=name, remedy="give as many in each")
        return np.array(items, dtype=np.float64)
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        remedy = f"give a number or a string with a unit [{unit}]"
        raise UnitError(f"{name} is {value!r}", where=name, remedy=remedy) from None


def in_any_unit(value: Any, name: str) -> Any:
    """A string with any unit as a number in SI; anything else is taken as it is."""
    number = _NUMBER.match(value) if isinstance(value, str) else None
    return value if number is None else quantity(value, spelled_unit(unit(value[number.end() :]).dimension), name)


def spelled_unit(dimension: Dimension) -> str:
    """A dimension as a unit of SI that `unit` reads."""
    return "*".join(f"{s}^{p}" for s, p in zip(("kg", "m", "s"), dimension, strict=True) if p) or "1"


def _number(value: Any, unit: str, name: str) -> float:
    try:
        return float(value)
    except OverflowError:
        remedy = f"give a finite quantity [{unit}]"
        raise UnitError(f"{name} is {str(value):.20}...: too large", where=name, remedy=remedy) from None


def components(value: Any, unit: str, name: str) -> tuple[float, ...]:
    """The components of a vector in SI, each a number or a string."""
    return tuple(np.ravel(quantity(value, unit, name)).tolist())


def read_fields(choice: Any) -> None:
    """The fields of a frozen dataclass that its ``units`` name, as finite numbers in SI or tuples of them; None stays.

    They may be given as strings with a unit, here and in scene files.
    """
    for name, unit in choice.units.items():
        declared, given = type(choice).__dataclass_fields__[name], getattr(choice, name)
        if given is None and NoneType in _alternatives(declared.type):
            continue
        where = f"{type(choice).__name__}.{name}"
        value = quantity(given, unit, where)
        if not np.isfinite(value).all():
            raise SceneError(f"{name} is {given}", where=where, remedy=f"give finite numbers [{unit}]")
        shape = _shape(declared)
        if shape is not None and np.shape(value) != shape:
            remedy = f"give {shape[0]} numbers [{unit}]" if shape else f"give one number [{unit}]"
            raise SceneError(f"{name} is {given}", where=where, remedy=remedy)
        object.__setattr__(choice, name, _tuples(value.tolist()) if isinstance(value, np.ndarray) else value)


def _alternatives(declared: Any) -> tuple[Any, ...]:
    return get_args(declared) if isinstance(declared, UnionType) else (declared,)


def _shape(declared: Field[Any]) -> tuple[int, ...] | None:
    """The shape that the numbers of a field must have; None where its declaration leaves that open."""
    if {float} <= {*_alternatives(declared.type)} <= {float, str, NoneType}:
        return ()
    usual = declared.default
    return np.shape(usual) if isinstance(usual, float | tuple) and usual != () else None


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def _parsed(text: str, expected: str, name: str) -> float:
    number = _NUMBER.match(text)
    example = f"1 {expected}" if expected != "1" else "0.5"
    if number is None:
        raise UnitError(f"{name} is {text!r}, not a quantity", where=name, remedy=f"write it like {example!r}")
    symbols = text[number.end() :]
    try:
        given = unit(symbols)
    except UnitError as error:
        raise UnitError(f"{name} is {text!r}: {error.what}", where=name, remedy=error.remedy) from None
    want = unit(expected)
    if not symbols and want.dimension != (0, 0, 0):
        raise UnitError(f"{name} is {text!r} without a unit", where=name, remedy=f"write {text.strip()} {expected}")
    if given.dimension != want.dimension:
        what = f"{name} is {text!r}, which is in {spelled(given.dimension)}"
        raise UnitError(what, where=name, remedy=f"expected {expected} ({spelled(want.dimension)})")
    try:
        return float(Fraction(number.group(1)) * given.factor / want.factor)
    except OverflowError:
        raise UnitError(
            f"{name} is {text!r}: too large", where=name, remedy=f"give a finite quantity [{expected}]"
        ) from None


def spelled(dimension: Dimension) -> str:
    """A dimension in base units, ``kg m^-1 s^-2``."""
    parts = [f"{s}^{p}" if p != 1 else s for s, p in zip(("kg", "m", "s"), dimension, strict=True) if p]
    return " ".join(parts) or "no unit"

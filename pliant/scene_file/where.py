"""Choosing vertices by a condition: ``x < 1 cm and (y == max or z >= 0.5)``. Parsed here, never evaluated as code.

choice  := all of `terms` joined by "or";  terms joined by "and";  a term is "(" choice ")", "not" term, "all",
or  axis op value  with axis x | y | z, op < <= > >= ==, value a number, a quantity in quotes-free form ("1 cm"),
min or max (of that coordinate). == holds within 1e-9 of the size of the mesh.
"""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.arrays import Array
from pliant.errors import SceneError
from pliant.units import quantity

Mask = NDArray[np.bool_]
_TOKEN = re.compile(
    r"\s*(?:(?P<sign>[()])|(?P<op><=|>=|==|<|>)|(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<word>[A-Za-zµ]+))"
)


def select(condition: str, X: Array, *, where: str = "where") -> Mask:
    """The vertices (n,) of rest positions X (n, d) [m] for which the condition holds."""
    parser = _Parser(_tokens(condition, where), X, condition, where)
    mask = parser.choice()
    parser.end()
    return mask


def _tokens(condition: str, where: str) -> list[tuple[str, str]]:
    tokens, rest = [], condition.rstrip()
    while rest:
        found = _TOKEN.match(rest)
        if found is None:
            raise SceneError(
                f"cannot read {rest.strip()!r:.60} in {condition!r:.60}", where=where, remedy='like "x < 1 cm"'
            )
        tokens.append((str(found.lastgroup), found.group(str(found.lastgroup))))
        rest = rest[found.end() :]
    return tokens


class _Parser:
    """Recursive descent over the tokens; every method returns the mask of what it read."""

    def __init__(self, tokens: list[tuple[str, str]], X: Array, condition: str, where: str) -> None:
        self._tokens, self._X, self._condition, self._where = tokens, X, condition, where
        self._at = 0
        self._depth = 0
        self._tolerance = 1e-9 * float(np.linalg.norm(np.ptp(X, axis=0)))

    def choice(self) -> Mask:
        mask = self._both()
        while self._accept("word", "or"):
            mask = mask | self._both()
        return mask

    def end(self) -> None:
        if self._at < len(self._tokens):
            self._fail(f"does not end before {self._tokens[self._at][1]!r}")

    def _both(self) -> Mask:
        mask = self._term()
        while self._accept("word", "and"):
            mask = mask & self._term()
        return mask

    def _term(self) -> Mask:
        self._depth += 1
        if self._depth > 50:
            self._fail("is nested too deeply")
        try:
            if self._accept("word", "not"):
                return ~self._term()
            if self._accept("word", "all"):
                return np.ones(len(self._X), dtype=bool)
            if self._accept("sign", "("):
                mask = self.choice()
                if not self._accept("sign", ")"):
                    self._fail("has no closing parenthesis")
                return mask
            return self._comparison()
        finally:
            self._depth -= 1

    def _comparison(self) -> Mask:
        axis = self._take("word")
        if axis not in ("x", "y", "z")[: self._X.shape[1]]:
            self._fail(f"has {axis!r} where a coordinate is expected")
        x = self._X[:, "xyz".index(axis)]
        op, value = self._take("op"), self._value(x)
        return {
            "<": x < value,
            "<=": x <= value,
            ">": x > value,
            ">=": x >= value,
            "==": abs(x - value) <= self._tolerance,
        }[op]

    def _value(self, x: Array) -> float:
        if self._accept("word", "min"):
            return float(x.min())
        if self._accept("word", "max"):
            return float(x.max())
        number = self._take("number")
        nextkind, nextword = self._tokens[self._at] if self._at < len(self._tokens) else ("", "")
        if nextkind == "word" and nextword not in ("and", "or"):
            self._at += 1
            return float(quantity(f"{number} {nextword}", "m", self._where))
        return float(number)

    def _accept(self, kind: str, text: str) -> bool:
        if self._at < len(self._tokens) and self._tokens[self._at] == (kind, text):
            self._at += 1
            return True
        return False

    def _take(self, kind: str) -> str:
        if self._at >= len(self._tokens):
            self._fail("ends too early")
        found, text = self._tokens[self._at]
        if found != kind:
            expected = {"op": "one of < <= > >= ==", "word": "x, y or z", "number": "a number, min or max"}[kind]
            self._fail(f"has {text!r} where {expected} is expected")
        self._at += 1
        return text

    def _fail(self, what: str) -> Any:
        raise SceneError(
            f"{self._condition!r:.60} {what}", where=self._where, remedy='write it like "x < 1 cm and y == max"'
        )

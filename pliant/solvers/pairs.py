"""Secant pairs (s, y) around a factor: what an old matrix does not know of the way since. [QLB2021, Alg. 2]"""

from collections import deque
from collections.abc import Callable
from math import sqrt

from pliant.arrays import Array


class Pairs:
    """The last m secant pairs and the two-loop recursion with a given initial inverse. [QLB2021, Alg. 2]"""

    def __init__(self, m: int, scaled: bool = False) -> None:
        self._pairs: deque[tuple[Array, Array, float]] = deque(maxlen=m) if m else deque(maxlen=0)
        self._scaled = scaled

    def __len__(self) -> int:
        return len(self._pairs)

    def clear(self) -> None:
        self._pairs.clear()

    def update(self, s: Array, y: Array) -> None:
        """Append the pair unless its curvature is not safely positive; one bad pair makes the inverse indefinite."""
        sy = float(s @ y)
        if sy > 1e-10 * sqrt(float(s @ s)) * sqrt(float(y @ y)):
            self._pairs.append((s, y, 1.0 / sy))

    def apply(self, b: Array, solve: Callable[[Array], Array]) -> Array:
        """The inverse quasi-Newton matrix times b."""
        b = b.copy()
        alphas = []
        for s, y, rho in reversed(self._pairs):
            alpha = rho * float(s @ b)
            b -= alpha * y
            alphas.append(alpha)
        z = solve(b)
        if self._scaled and self._pairs:
            s, y, _ = self._pairs[-1]
            z *= float(s @ y) / float(y @ solve(y))
        for (s, y, rho), alpha in zip(self._pairs, reversed(alphas), strict=True):
            z += (alpha - rho * float(y @ z)) * s
        return z

"""A force of your own, as a load on a body of a scene.

    [[forces]]
    kind = "my-drag"
    c = 0.1
    wind = [3.0, 0.0, 0.0]

in a scene file that names this file under extensions = ["my_drag.py"]. ``python my_drag.py`` checks it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

import pliant as pl


class DragForce:
    """f = -c (v - w) at every vertex; K = df/dx = 0, D = df/dv = -c I."""

    name = "my drag"

    def __init__(self, n: int, c: float, wind: Any) -> None:
        self._c, self._w = c, np.tile(wind, n)
        self._D = sp.csr_matrix(-c * sp.identity(3 * n))

    def force(self, x: Any, v: Any, t: float) -> Any:
        return -self._c * (v - self._w)

    def stiffness(self, x: Any, v: Any, t: float) -> sp.csr_matrix:
        return 0.0 * self._D

    def damping(self, x: Any, v: Any, t: float) -> sp.csr_matrix:
        return self._D


@pl.register("load")
@dataclass(frozen=True)
class MyDrag:
    """Drag c [N s/m] of every vertex against a wind [m/s]."""

    c: float = 0.1
    wind: tuple[float, ...] = (0.0, 0.0, 0.0)
    body: int | str = 0

    def force(self, placed: Any) -> DragForce:
        return DragForce(len(placed.X), self.c, self.wind)


if __name__ == "__main__":
    from pliant.testing import check_force

    x = np.random.default_rng(0).normal(size=12)
    check_force(DragForce(4, 0.1, (1.0, 0.0, 0.0)), x, 0.1 * x, dissipates=False)  # wind may push

"""Spring networks on the device, with the CPU's own functions."""

from functools import cache
from typing import Any, ClassVar

import numpy as np

from pliant.cuda import _spring_kernels as kernels
from pliant.cuda.device import arrays, launch, to_device
from pliant.cuda.elements import Passes
from pliant.cuda.matrix import BlockRows
from pliant.cuda.sums import Sums
from pliant.cuda.translate import kernel
from pliant.energies.springs import Springs
from pliant.kernels import springs as functions


@cache
def passes() -> Passes:
    """The passes translated from the CPU's functions; each compiles on its first launch in a process."""
    return Passes(
        kernel(kernels.energy_pass, stored=functions.stored),
        kernel(kernels.force_pass, tension=functions.tension),
        kernel(kernels.block_pass, across=functions.across),
    )


class DeviceSprings:
    """`Springs` on the device: an energy of flat device positions x (3n,)."""

    internal: ClassVar[bool] = True

    def __init__(self, energy: Springs, rows: BlockRows) -> None:
        self.name, self.host, self.m = energy.name, energy, len(energy.edges)
        edges = np.sort(energy.edges, axis=1)
        ends = np.ascontiguousarray((3 * edges).astype(np.uint32).T)
        self._tables = to_device(ends), to_device(energy.rest), to_device(energy.k)
        self._sums = Sums(edges, rows.n, rows)

    def value(self, x: Any) -> float:
        """Total energy [J]."""
        out = arrays().empty(self.m)
        launch(passes().energy, self.m, (x, *self._tables, out))
        return float(out.sum())

    def gradient(self, x: Any) -> Any:
        """dW/dx (3n,) [N]."""
        parts = arrays().empty((6, self.m))
        launch(passes().force, self.m, (x, *self._tables, parts))
        return self._sums.at_nodes(parts)

    def add_hessian(self, x: Any, weight: float, psd: bool, values: Any) -> None:
        """values += weight d2W/dx2, in the places of the `BlockRows`."""
        parts = arrays().empty((27, self.m))
        launch(passes().block, self.m, (x, *self._tables, psd, parts))
        self._sums.at_blocks(parts, weight, values)

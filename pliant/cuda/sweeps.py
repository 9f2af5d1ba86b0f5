"""Gauss-Seidel sweeps over constraints on the device, in the same order as on the CPU.

Constraints come in patches, and patches in colours (see `pliant.integrators.xpbd.patches`). The patches of a colour are
one launch, a block of threads each; where every patch is a single constraint, a thread each. No two threads that run at
the same time touch the same vertex: the results are those of the sequential sweep.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, Protocol

from pliant.cuda import _sweep_kernels as kernels
from pliant.cuda.device import SIMULATED, Recorded, arrays, launch, to_device
from pliant.cuda.translate import kernel

WIDTH = 4 if SIMULATED else 32  # threads per patch: a round has about ten constraints


class Constraints(Protocol):
    """Constraints of one kind, a `Batch` of XPBD."""

    @property
    def projection(self) -> Any: ...

    @property
    def plan(self) -> Any: ...

    @property
    def nodes(self) -> Any: ...

    @property
    def table(self) -> Any: ...

    @property
    def multipliers(self) -> tuple[int, int]: ...


@cache
def _kernels(projection: Any) -> tuple[Any, Any]:
    """The two kernels of a kind of constraint; each compiles on its first launch in a process."""
    by_patch, by_constraint = kernels.patches_of_a_colour, kernels.constraints_of_a_colour
    return kernel(by_patch, project=projection), kernel(by_constraint, project=projection)


class Sweep:
    """One kind of constraints on the device, with their multipliers."""

    def __init__(self, constraints: Constraints) -> None:
        plan = constraints.plan
        self._by_patch, self._by_constraint = _kernels(constraints.projection)
        self._single = len(plan.patches) - 1 == len(constraints.nodes)
        self._colours = [int(c) for c in plan.colours]
        self._order = to_device(plan.rounds), to_device(plan.first)
        self._tables = to_device(constraints.nodes), to_device(constraints.table)
        self.lam = arrays().zeros(constraints.multipliers)

    def run(self, x: Any, x0: Any, W: Any, g: float, scale: float, stream: Any) -> None:
        """Move x (n, 3) and the multipliers in place."""
        common = (x, x0, W, self.lam, g, scale, *self._tables)
        for begin, end in zip(self._colours[:-1], self._colours[1:], strict=True):
            if self._single:
                launch(self._by_constraint, end - begin, (begin, end, *common), stream)
            else:
                self._by_patch[end - begin, WIDTH, stream](begin, *self._order, *common)


class Sweeps:
    """Constraints of all kinds, swept one kind after the other; ``W (n, 3)`` are inverse masses."""

    def __init__(self, constraints: Sequence[Constraints], W: Any) -> None:
        self._sweeps, self._W = [Sweep(c) for c in constraints if len(c.nodes)], W
        self._x, self._x0 = arrays().zeros_like(W), arrays().zeros_like(W)
        self._recorded: dict[tuple[float, float, int], Recorded] = {}

    def project(self, predicted: Any, start: Any, g: float, scale: float, times: int) -> Any:
        """Flat positions after ``times`` sweeps from ``predicted``, the multipliers starting from zero."""
        self._x[...], self._x0[...] = predicted.reshape(self._x.shape), start.reshape(self._x.shape)
        for sweep in self._sweeps:
            sweep.lam[...] = 0.0
        key = g, scale, times
        if key not in self._recorded:
            self._recorded = {key: Recorded(lambda stream: self._run(*key, stream))}
        self._recorded[key]()
        return self._x.ravel().copy()

    def _run(self, g: float, scale: float, times: int, stream: Any) -> None:
        for _ in range(times):
            for sweep in self._sweeps:
                sweep.run(self._x, self._x0, self._W, g, scale, stream)

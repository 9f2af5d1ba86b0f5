"""The levels of smoothed aggregation: grids known from the pattern, their matrices known from the values.

    P = (I - omega D^-1 A) T,    A_coarse = P^T A P        [Vanek1996]

T gives every aggregate the six motions of a rigid body, from where its nodes are now: those cost an elastic body
nothing, and they are exactly in the range of T. Aggregates and patterns are made once (`Coarsening`), values for every
matrix (`Level`).
"""

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg as sl

from pliant.arrays import Array, IntArray, Work
from pliant.kernels import aggregation as graphs
from pliant.kernels import multigrid as templates
from pliant.kernels.bind import bind
from pliant.kernels.device import device
from pliant.kernels.specialise import compiled

COARSEST = 100  # bodies (600 unknowns) that a dense factor takes
JUMP = 10.0  # rows whose diagonal blocks differ by more are not in one aggregate
FEWER = 0.7  # part of the rows that the next level may have: where nothing is connected there is nothing to gain
PARALLEL_FROM = 200_000  # values from which on loops use all threads
OMEGA = 4.0 / 3.0  # over the largest eigenvalue of D^-1 A
POWERS = 10  # iterations of the power method that estimates it
SAFETY = 1.15  # by which the estimate may be too low
RANGE = 0.15  # part of the spectrum, from below, that the smoother leaves to coarser levels
NOTHING = 1e-12  # relative shift of the coarsest matrix: motions that no row takes part in have no stiffness


class Loops(NamedTuple):
    """The compiled loops of `pliant.kernels.multigrid` for one size of block."""

    product: Any
    residual: Any
    first_step: Any
    step: Any
    restrict: Any
    prolong: Any
    inverse_diagonal: Any
    prolongator: Any
    image: Any
    galerkin: Any
    mirrored: Any
    filled: Any


@cache
def loops(block: int, parallel: bool) -> Loops:
    """The loops for blocks of that size, on one thread or on all."""
    tag = f"{block}-{'parallel' if parallel else 'serial'}"
    row = device(bind(templates.row3 if block == 3 else templates.row6, tag))
    names = {"B": block, "row": row, "place": device(templates.place), "factored": device(templates.factored)}
    return Loops(*(compiled(vars(templates)[name], tag, parallel, **names) for name in Loops._fields))


@dataclass(frozen=True, eq=False)
class Coarsening:
    """What one level knows from its pattern (``ptr``, ``col``): aggregates, and the patterns of P, A P and P^T A P."""

    block: int
    ptr: IntArray
    col: Array
    strong: tuple[Any, ...]  # the pattern without pairs of very different stiffness
    owner: Array  # the aggregate of every row
    members: IntArray  # how many rows each has
    near: tuple[Any, ...]  # which aggregates have neighbours in each other: the next level is aggregated along these
    P: tuple[Any, ...]  # pointers, columns
    PT: tuple[Any, ...]  # pointers, rows, places
    AP: tuple[Any, ...]
    coarse: tuple[Any, ...]
    mirror: tuple[Any, ...]

    @staticmethod
    def of(block: int, ptr: IntArray, col: Array, strong: tuple[Any, ...]) -> "Coarsening":
        """The aggregates of ``strong``, a part of the symmetric block pattern (ptr, col), and what follows."""
        aggregation: Any = graphs
        owner, count = aggregation.aggregates(*strong)
        n = len(ptr) - 1
        T = (np.arange(n + 1), owner)
        P = aggregation.mapped_pattern(ptr, col, *T, count)
        PT = aggregation.transposed(*P, count)
        AP = aggregation.mapped_pattern(ptr, col, *P, count)
        coarse = aggregation.mapped_pattern(PT[0], PT[1], *AP, count)
        mirror = aggregation.transposed(*coarse, count)
        members = np.bincount(owner, minlength=count)
        near = aggregation.mapped_pattern(*aggregation.transposed(*T, count)[:2], *P, count)
        return Coarsening(block, ptr, col, strong, owner, members, near, P, PT, AP, coarse, mirror)

    @cached_property
    def work(self) -> Work:
        """For the values of A P."""
        return Work(6 * self.block * len(self.AP[1]))

    def fits(self, strong: tuple[Any, ...]) -> bool:
        """Whether the aggregates are those of this part of the pattern."""
        return all(np.array_equal(a, b) for a, b in zip(self.strong, strong, strict=True))


class Motions(NamedTuple):
    """Where the rows of a level are (n, 3), and their radii (n,), 0 for nodes."""

    x: Array
    radius: Array

    def gathered(self, grid: Coarsening) -> tuple["Motions", Array, Array]:
        """Centers and radii of aggregates; of every row the offset and the radius, over the radius of its aggregate."""
        owner, count = grid.owner, len(grid.members)
        center = np.stack([np.bincount(owner, self.x[:, k], count) for k in range(3)], axis=1) / grid.members[:, None]
        away = self.x - center[owner]
        square = np.bincount(owner, (away**2).sum(axis=1) + self.radius**2, count) / grid.members
        radius = np.sqrt(square)
        scale = np.where(radius > 0.0, radius, 1.0)[owner]
        return Motions(center, radius), away / scale[:, None], self.radius / scale


class Level:
    """The values of one level, A (val) and D^-1, in the order of its pattern; and one pass of the smoother over it."""

    def __init__(self, block: int, ptr: IntArray, col: Array, val: Array) -> None:
        self.pattern, self.val, n = (ptr, col), val, len(ptr) - 1
        self.loops, self.size = loops(block, len(val) > PARALLEL_FROM), block * n
        self.inverse, bad = np.empty(block * block * n), np.zeros(n, dtype=np.int8)
        self.loops.inverse_diagonal(ptr, col, val, self.inverse, bad)
        self.bad = int(np.argmax(bad)) if bad.any() else -1
        self.largest = 0.0

    def measure(self) -> None:
        """Estimate the largest eigenvalue of D^-1 A, by the power method from a fixed vector."""
        x = np.random.default_rng(0).normal(size=self.size)
        zero, y, d = np.zeros(self.size), np.empty(self.size), np.empty(self.size)
        for _ in range(POWERS):
            d[:] = 0.0
            self.loops.step(*self.pattern, self.val, self.inverse, zero, x, d, 0.0, -1.0, y)
            before, x = float(np.linalg.norm(x)), d / max(float(np.linalg.norm(d)), 1e-300)
            self.largest = float(np.linalg.norm(d)) / max(before, 1e-300)

    def sizes(self) -> Array:
        """The traces of the diagonal blocks, of bodies over their velocities."""
        ptr, col = self.pattern
        block = self.size // (len(ptr) - 1)
        diagonal = self.val.reshape(-1, block * block)[np.repeat(np.arange(len(ptr) - 1), np.diff(ptr)) == col]
        return diagonal[:, [0, block + 1, 2 * block + 2]].sum(axis=1)

    def smooth(self, b: Array, x: Array | None, degree: int) -> Array:
        """x after Chebyshev's iteration of that degree for A x = b, from x or from 0; symmetric in b."""
        top = SAFETY * self.largest
        center, half = 0.5 * (1.0 + RANGE) * top, 0.5 * (1.0 - RANGE) * top
        d, y = np.empty_like(b), np.empty_like(b)
        rate = half / center  # rho of the recursion, times 1
        for k in range(degree):
            alpha, beta = 0.0, 1.0 / center
            if k:
                following = 1.0 / (2.0 * center / half - rate)
                alpha, beta, rate = following * rate, 2.0 * following / half, following
            if x is None:
                self.loops.first_step(self.inverse, b, d, beta, y)
                x, y = y, np.empty_like(b)
                continue
            if k == 0:
                d[:] = 0.0
            self.loops.step(*self.pattern, self.val, self.inverse, b, x, d, alpha, beta, y)
            x, y = y, x if k else np.empty_like(b)
        assert x is not None
        return x

    def residual(self, b: Array, x: Array) -> Array:
        """b - A x."""
        r = np.empty_like(b)
        self.loops.residual(*self.pattern, self.val, b, x, r)
        return r


class Coarsest(Level):
    """The last level: a dense factor, or Chebyshev's iteration where it is too large for one."""

    def __init__(self, block: int, ptr: IntArray, col: Array, val: Array) -> None:
        super().__init__(block, ptr, col, val)
        self.dense: Any = None
        if self.size <= 6 * COARSEST and self.bad < 0:
            A = dense(block, ptr, col, val)
            A[np.diag_indices_from(A)] += NOTHING * A.diagonal() + (A.diagonal() == 0.0)
            try:
                self.dense = sl.cho_factor(A, lower=True)
            except (np.linalg.LinAlgError, ValueError):
                self.bad = 0
        elif self.bad < 0:
            self.measure()

    def solve(self, b: Array, degree: int) -> Array:
        """An approximate or exact solution."""
        if self.dense is None:
            return self.smooth(b, None, degree)
        return np.asarray(sl.cho_solve(self.dense, b))


def dense(block: int, ptr: IntArray, col: Array, val: Array) -> Array:
    """The matrix of a level as an array."""
    n = len(ptr) - 1
    A = np.zeros((n, block, n, block))
    rows = np.repeat(np.arange(n), np.diff(ptr))
    A[rows, :, col, :] = val.reshape(-1, block, block).transpose(0, 2, 1)
    return A.reshape(block * n, block * n)


class Hierarchy:
    """All levels for one matrix: `cycle` is a symmetric positive definite approximation of its inverse."""

    def __init__(self, kept: list[Coarsening], ptr: IntArray, col: Array, val: Array, x: Array) -> None:
        self.grids: list[Coarsening] = []
        self.levels: list[Level] = []
        self.P: list[Array] = []
        self.analysed = False
        motions, block = Motions(x, np.zeros(len(x))), 3
        while len(ptr) - 1 > (COARSEST if block == 6 else 2 * COARSEST):
            level = Level(block, ptr, col, val)
            if level.bad >= 0:
                self.levels.append(level)
                return
            grid = self._coarsening(kept, level, block)
            if len(grid.members) > FEWER * (len(ptr) - 1):
                break
            level.measure()
            motions, offset, radius = motions.gathered(grid)
            P, val = coarsened(grid, level, offset, radius)
            self.grids.append(grid)
            self.levels.append(level)
            self.P.append(P)
            (ptr, col), block = grid.coarse, 6
        self.levels.append(Coarsest(block, ptr, col, val))

    def _coarsening(self, kept: list[Coarsening], level: Level, block: int) -> Coarsening:
        """The aggregates of the next level: those of an earlier matrix where they are the same, else new ones.

        They depend on this matrix alone, so that a run that goes on from a checkpoint has the same ones.
        """
        k = len(self.grids)
        aggregation: Any = graphs
        strong = aggregation.strong(*(self.grids[-1].near if k else level.pattern), level.sizes(), JUMP)
        if not self.analysed and k < len(kept) and kept[k].fits(strong):
            return kept[k]
        self.analysed = True
        return Coarsening.of(block, *level.pattern, strong)

    @property
    def bad(self) -> tuple[int, int] | None:
        """The level and the row whose diagonal block is indefinite; None where all is well."""
        return (len(self.levels) - 1, self.levels[-1].bad) if self.levels[-1].bad >= 0 else None

    @property
    def memory(self) -> int:
        """Bytes of the values."""
        return sum(a.nbytes for level in self.levels for a in (level.val, level.inverse)) + sum(
            P.nbytes for P in self.P
        )

    def cycle(self, b: Array, degree: int) -> Array:
        """One V-cycle for A x = b from x = 0."""
        down: list[tuple[Array, Array]] = []
        for grid, level, P in zip(self.grids, self.levels, self.P, strict=False):
            x = level.smooth(b, None, degree)
            down.append((b, x))
            r, b = level.residual(b, x), np.empty(6 * len(grid.members))
            level.loops.restrict(*grid.PT, P, r, b)
        last = self.levels[-1]
        assert isinstance(last, Coarsest)
        x = last.solve(b, 4 * degree)
        for grid, level, P, (b, fine) in zip(
            self.grids[::-1], self.levels[-2::-1], self.P[::-1], down[::-1], strict=True
        ):
            level.loops.prolong(*grid.P, P, x, fine)
            x = level.smooth(b, fine, degree)
        return x


def coarsened(grid: Coarsening, level: Level, offset: Array, radius: Array) -> tuple[Array, Array]:
    """P and the values of P^T A P."""
    ptr, col = level.pattern
    B, use = grid.block, level.loops
    P = np.empty(6 * B * len(grid.P[1]))
    omega = OMEGA / max(level.largest, 1e-300)
    use.prolongator(ptr, col, level.val, level.inverse, grid.owner, offset, radius, *grid.P, omega, P)
    val = np.empty(36 * len(grid.coarse[1]))
    with grid.work.lent() as AP:
        use.image(ptr, col, level.val, *grid.P, P, *grid.AP, len(grid.members), AP)
        use.galerkin(*grid.PT, P, *grid.AP, AP, *grid.coarse, val)
    use.mirrored(*grid.mirror, val)
    return P, val

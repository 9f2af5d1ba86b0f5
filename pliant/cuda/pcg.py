"""Conjugate gradients on the device, with nothing coming back between iterations.

    alpha = r.z / p.Ap,   x += alpha p,   r -= alpha A p,   z = B r,   p = z + (r.z)/(r.z)_old p

Scalars stay on the device; an iteration whose tolerance is met, or whose curvature is not positive, sets a mark that
makes the following ones do nothing, so that they can be launched ahead, on a GPU as one graph of CHECK iterations.
The preconditioner B is block Jacobi; where that takes more than ``patience`` iterations, the iteration goes on with a
correction by rigid motions of groups of vertices besides (`pliant.cuda.coarse`), which costs as much as some hundred
iterations to build. Sums are taken block by block and then in order.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.cuda import _pcg_kernels as kernels
from pliant.cuda._pcg_kernels import ALPHA, BB, COUNT, CURVED, MARK, RR, RZ
from pliant.cuda.coarse import Coarse, CoarseSpace
from pliant.cuda.device import SIMULATED, THREADS, Recorded, arrays, launch
from pliant.cuda.matrix import Coupling, Matrix, empty_coupling, uncoupled
from pliant.errors import NotPositiveDefinite, PliantError
from pliant.state import Transient

CHECK = 2 if SIMULATED else 20  # iterations between two looks at the marks
PATIENCE = 4 if SIMULATED else 300  # iterations with block Jacobi alone


class Workspace:
    """Vectors and launches for matrices of one pattern; matrices are copied into it, so that graphs see one place."""

    def __init__(self, A: Matrix, space: CoarseSpace | None, tolerance: float, single: bool) -> None:
        xp = arrays()
        n, N = A.rows.n, len(A.mask)
        self.A = Matrix(A.rows, A.values.astype(np.float32 if single else np.float64), A.mask, A.free)
        self._pairs = uncoupled()
        self.inverse, self.partial = xp.empty((9, n)), xp.zeros((2, -(-n // THREADS)))
        self.x, self.r, self.z, self.p, self.Ap = (xp.zeros(N) for _ in range(5))
        self.scalars, self.bad = xp.zeros(7), xp.zeros(1)
        self.coarse = None if space is None else Coarse(space, self.A)
        self.tolerance = tolerance
        self.loaded = A
        self._corrects = False  # whether a coarse space is in use
        self._record()

    def _record(self) -> None:
        self._run = {corrects: Recorded(self._iterations) for corrects in (False, True)}

    def load(self, A: Matrix, early: bool = False) -> None:
        """Take a new matrix; raises `NotPositiveDefinite` where a diagonal block is not.

        ``early``: a coarse space that was made for an earlier matrix stays in use.
        """
        self.A.values[...] = A.values
        self._couple(A.coupling)
        self.loaded, self._corrects = A, self._corrects and early
        self.bad[...] = 0.0
        rows = self.A.rows
        launch(kernels.inverse_diagonal, rows.n, (rows.diagonal, self.A.values, self.A.mask, self.inverse, self.bad))
        if float(self.bad[0]):
            remedy = "project the Hessian (psd=True) or add a multiple of the mass matrix"
            raise NotPositiveDefinite("a diagonal block is not positive definite", where="DevicePCG", remedy=remedy)

    def _couple(self, pairs: Coupling | None) -> None:
        """Copy the blocks of pairs, to a larger place where need be: the launches are then recorded anew."""
        if pairs is None:
            self._pairs.ptr[...] = 0
            return
        count = pairs.nodes.shape[1]
        if len(self._pairs.ptr) == 1 or count > self._pairs.nodes.shape[1]:
            self._pairs = empty_coupling(self.A.rows.n, 2 * count)
            self._record()
        self._pairs.ptr[...], self._pairs.off[: 4 * count] = pairs.ptr, pairs.off
        self._pairs.nodes[:, :count], self._pairs.blocks[:, :count] = pairs.nodes, pairs.blocks

    def solve(self, b: Any, most: int, patience: int) -> tuple[Any, int]:
        """x (N,) and the number of products, for b (N,) that is zero where coordinates are not free."""
        self.x[...], self.r[...], self.p[...], self.Ap[...] = 0.0, b, 0.0, 0.0
        self.scalars[...] = 0.0
        self.scalars[BB] = -1.0
        self._precondition(0)
        if not float(self.scalars[RR]) > 0.0:
            return self.x.copy(), 0
        done = 0
        while done < most and not float(self.scalars[MARK]):
            if done >= patience and self.coarse is not None and not self._corrects:
                self._correct(self.coarse)
            self._run[self._corrects]()
            done += CHECK
        mark, count = (float(self.scalars[k]) for k in (MARK, COUNT))
        if mark == CURVED and count == 0.0:
            return self.p.copy(), 1
        return self.x.copy(), int(count)

    def _correct(self, coarse: Coarse) -> None:
        """Go on from here with the coarse space, if its matrix is definite."""
        self._corrects = coarse.load()
        if self._corrects:
            self.scalars[ALPHA], self.scalars[RZ] = 0.0, 0.0  # the first direction is z
            self._precondition(0)

    def _precondition(self, stream: Any) -> None:
        """z = B r after x and r have moved by alpha, the products and beta, the next p."""
        n, N = self.A.rows.n, len(self.p)
        launch(kernels.advance, n, (self.scalars, self.inverse, self.p, self.Ap, self.x, self.r, self.z), stream)
        if self._corrects and self.coarse is not None:
            self.coarse.add(self.r, self.z, stream)
        launch(kernels.partial_products, n, (self.r, self.z, self.partial), stream)
        kernels.set_beta[1, THREADS, stream](self.partial, self.tolerance, self.scalars)
        launch(kernels.turn, N, (self.scalars, self.z, self.p), stream)

    def _iterations(self, stream: Any) -> None:
        """CHECK iterations with the preconditioner in use."""
        A = self.A
        for _ in range(CHECK):
            matrix = (A.rows.start, A.rows.columns, A.values, *self._pairs, A.mask)
            arguments = (*matrix, self.scalars, self.p, self.Ap, self.partial)
            launch(kernels.product_and_curvature, A.rows.n, arguments, stream)
            kernels.set_alpha[1, THREADS, stream](self.partial, self.scalars)
            self._precondition(stream)


class DeviceFactor:
    """A matrix in its workspace; every `solve` iterates, ``inner`` counts the products so far."""

    backend = "cuda-pcg"

    def __init__(self, A: Matrix, space: Workspace, settings: "DevicePCG", analysed: bool) -> None:
        self.memory, self.analysed, self.inner = Transient(space), analysed, 0
        self._A, self._space, self._settings = A, space, settings

    def solve(self, b: Any) -> Any:
        """x with ||b - A x|| <= tolerance ||b||."""
        if self._space.loaded is not self._A:  # another factor has used the workspace since
            self._space.load(self._A)
        x, count = self._space.solve(self._A.whole(b), self._settings.max_iterations, self._settings.patience)
        self.inner += count
        return x[self._A.free]


@dataclass(frozen=True)
class DevicePCG:
    """Conjugate gradients on the device as a linear solver.

    ``coarse`` is for systems that take more than ``patience`` iterations. ``early``: it stays that of an earlier matrix
    where there is one. ``single`` keeps the numbers of the matrix in single precision: products read half as much. All
    vectors and sums are double; what Newton's method is judged by, its residual, does not know of it.
    """

    tolerance: float = 1e-2
    max_iterations: int = 2000
    coarse: CoarseSpace | None = None
    patience: int = PATIENCE
    early: bool = False
    single: bool = False

    def __post_init__(self) -> None:
        if not 0.0 < self.tolerance < 1.0:
            raise PliantError(f"tolerance {self.tolerance} is outside (0, 1)", where="DevicePCG")

    def factor(self, A: Matrix, memory: Any = None) -> DeviceFactor:
        """Prepare the preconditioner in the workspace of A's pattern."""
        old = memory.value if isinstance(memory, Transient) else None
        known = old if isinstance(old, Workspace) and old.A.rows is A.rows else None
        space = known or Workspace(A, self.coarse, self.tolerance, self.single)
        space.load(A, self.early)
        return DeviceFactor(A, space, self, known is None)

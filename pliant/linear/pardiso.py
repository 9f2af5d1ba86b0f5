"""MKL PARDISO driven phase by phase: symmetric positive definite, upper triangle by rows, no pivoting, no refinement.

The library is the one the `pypardiso` wheel brings. The analysis phase runs once per pattern, the numeric phase refills
the same buffers, and all right-hand sides go through one blocked call. The thread count is set locally around every
call and never changes between the phases of one handle, so results are the same bytes run to run.
"""

import ctypes
import weakref
from functools import cache
from importlib.util import find_spec

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.errors import MissingDependency, PliantError

REAL_SPD = 2
ANALYSE, FACTOR, SOLVE, RELEASE = 11, 22, 33, -1
BAD_PIVOT = -4
MEANING = {
    -1: "inconsistent input",
    -2: "not enough memory",
    -3: "reordering failed",
    -7: "diagonal matrix failed",
    -8: "32-bit integer overflow",
}


class Pardiso:
    """One PARDISO handle: the analysis of one pattern and the buffers of one numeric factor."""

    name = "pardiso"

    def __init__(self, indptr: np.ndarray, indices: np.ndarray, threads: int = 1) -> None:
        self.library = _library()
        self.N, self.threads = len(indptr) - 1, threads
        if indptr[-1] > np.iinfo(np.int32).max:
            raise PliantError(f"{indptr[-1]} nonzeros exceed PARDISO's 32-bit index", remedy="use backend='supernodal'")
        self.pattern = (indptr, indices)
        numbered = sp.csr_matrix((np.arange(len(indices)), indices, indptr), shape=(self.N, self.N))
        upper = sp.triu(numbered, format="csr")
        self.upper = upper.data.astype(np.intp)
        self.ia, self.ja = upper.indptr.astype(np.int32), upper.indices.astype(np.int32)
        self.handle = np.zeros(64, dtype=np.int64)
        self.iparm = _parameters()
        self.permutation = np.zeros(self.N, dtype=np.int32)
        self._call(ANALYSE, np.ones(len(self.ja)))
        weakref.finalize(self, _release, self.library, self.handle, self.N)

    def twin(self) -> "Pardiso":
        """Another handle for the same pattern with buffers of its own."""
        return Pardiso(*self.pattern, threads=self.threads)

    def gather(self, data: Array) -> Array:
        """The values of the upper triangle by rows, out of the values of the full CSR matrix."""
        return data[self.upper]

    def refactor(self, values: Array) -> int:
        """Numeric factorization of gathered ``values`` into this handle's buffers; the row of a bad pivot, or -1."""
        return self._call(FACTOR, values)

    def solve(self, values: Array, b: Array) -> Array:
        """x (N, k) for b (N, k): forward and backward substitution in one blocked call."""
        rhs = np.asfortranarray(b, dtype=np.float64)
        x = np.empty_like(rhs)
        self._call(SOLVE, values, rhs, x)
        return x

    @property
    def nnz(self) -> int:
        """Entries of L as PARDISO stores it."""
        return int(self.iparm[17])

    @property
    def megaflops(self) -> int:
        """Millions of floating point operations of one numeric factorization."""
        return int(self.iparm[18])

    def _call(self, phase: int, values: Array, b: Array | None = None, x: Array | None = None) -> int:
        columns = 1 if b is None else b.shape[1]
        matrix: list[np.ndarray | None] = [values, self.ia, self.ja, self.permutation]
        outside = self.library.MKL_Set_Num_Threads_Local(self.threads)
        error = _pardiso(self.library, (self.handle, self.iparm), phase, (self.N, columns), [*matrix, b, x])
        self.library.MKL_Set_Num_Threads_Local(outside)
        if error not in (0, BAD_PIVOT):
            raise PliantError(
                f"PARDISO error {error} ({MEANING.get(error, 'internal')}) in phase {phase}", where="Pardiso"
            )
        return int(self.iparm[29]) - 1 if error == BAD_PIVOT else -1


def available() -> bool:
    """Whether the package that brings the library is installed (loading it takes half a second)."""
    return find_spec("pypardiso") is not None


@cache
def _library() -> ctypes.CDLL:
    try:
        from pypardiso.scipy_aliases import pypardiso_solver
    except (ImportError, OSError) as error:
        raise MissingDependency("MKL PARDISO is not installed", remedy="pip install pypardiso") from error
    return ctypes.CDLL(pypardiso_solver.libmkl._name)  # a view of our own: pypardiso declares argument types on its own


def _parameters() -> np.ndarray:
    """The iparm array: everything that could differ between runs is fixed here."""
    iparm = np.zeros(64, dtype=np.int32)
    iparm[0] = 1  # no defaults
    iparm[1] = 2  # nested dissection, sequential
    iparm[7] = 0  # no iterative refinement beyond what a failed pivot would trigger; SPD factors have none
    iparm[17] = iparm[18] = -1  # report the entries of L and the work of the factorization
    iparm[26] = 0  # trust the pattern
    iparm[34] = 1  # zero-based
    return iparm


def _pointer(a: np.ndarray | None) -> ctypes.c_void_p:
    return ctypes.c_void_p(None if a is None else a.ctypes.data)


def _int(value: int) -> "ctypes._CArgObject":
    return ctypes.byref(ctypes.c_int32(value))


def _pardiso(
    library: ctypes.CDLL,
    state: tuple[np.ndarray, np.ndarray],
    phase: int,
    shape: tuple[int, int],
    arrays: list[np.ndarray | None],
) -> int:
    """One call of the library: ``arrays`` are values, ia, ja, permutation, b, x; returns PARDISO's error number."""
    handle, iparm = state
    N, columns = shape
    values, ia, ja, permutation, b, x = (_pointer(a) for a in arrays)
    error = ctypes.c_int32(0)
    library.pardiso(
        *(_pointer(handle), _int(1), _int(1), _int(REAL_SPD), _int(phase), _int(N), values, ia, ja, permutation),
        *(_int(columns), _pointer(iparm), _int(0), b, x, ctypes.byref(error)),
    )
    return error.value


def _release(library: ctypes.CDLL, handle: np.ndarray, N: int) -> None:
    """Give the memory of a handle back when its owner is collected."""
    _pardiso(library, (handle, _parameters()), RELEASE, (N, 1), [None] * 6)

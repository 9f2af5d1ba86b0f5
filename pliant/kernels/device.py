"""Scalar device functions: tuples in, tuples out, no arrays, no calls into NumPy.

They are inlined into the lane loops of `passes` (where LLVM turns 16 elements into vector registers) and compile
unchanged for CUDA. 3x3 tensors are 9-tuples in row-major order, symmetric ones 6-tuples (00 01 02 11 12 22).
"""

import hashlib
from pathlib import Path
from types import FunctionType

from numba import njit

W = 16
"""Lanes: elements that travel together through every phase. A constant trip count is what lets LLVM vectorise."""

PARAMETERS = 8
"""Rows of the lane-blocked parameter table; a density reads the ones it declares, the others are never touched."""

# Fused multiply-add only: reassociation would change sums and slow the gathers, full fastmath would hide NaNs.
FASTMATH = {"contract"}

Floats = tuple[float, ...]

_device = njit(forceinline=True, fastmath=FASTMATH, error_model="numpy")
_lanes = njit(fastmath=FASTMATH, error_model="numpy")


def device(function):
    """A compiled scalar function that is inlined where it is called."""
    return _device(at_home(function))


def lanes(function):
    """A compiled loop over lanes."""
    return _lanes(at_home(function))


def at_home(function):
    """The function; a copy that says it is from here if its own module may have no name, or another one, next time.

    Cached machine code names the modules of the functions in it, and cannot be loaded where one of them is not found: a
    script, a file that was run, a cell of a notebook. Its name gets letters that change with its file, see `bind`.
    """
    if function.__module__ is not None and function.__module__.startswith("pliant."):
        return function
    code = function.__code__
    told = f"{code.co_filename} {code.co_firstlineno} {code.co_consts} {code.co_names}".encode() + code.co_code
    source = Path(code.co_filename)
    letters = hashlib.sha256(told + (source.read_bytes() if source.is_file() else b"")).hexdigest()[:12]
    parts = function.__globals__, function.__name__, function.__defaults__, function.__closure__
    copy = FunctionType(code, *parts)
    copy.__module__, copy.__doc__ = __name__, function.__doc__
    copy.__qualname__ = f"{function.__qualname__}-{letters}"
    return copy


@device
def load8(A, l):
    return A[l], A[l + W], A[l + 2 * W], A[l + 3 * W], A[l + 4 * W], A[l + 5 * W], A[l + 6 * W], A[l + 7 * W]


@device
def load9(A, l):
    return (
        A[l], A[l + W], A[l + 2 * W],
        A[l + 3 * W], A[l + 4 * W], A[l + 5 * W],
        A[l + 6 * W], A[l + 7 * W], A[l + 8 * W],
    )  # fmt: skip


@device
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@device
def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@device
def select(condition, a, b):
    """a where the condition holds, else b, without a branch."""
    return (a[0] if condition else b[0]), (a[1] if condition else b[1]), (a[2] if condition else b[2])


@device
def det(F):
    return F[0] * (F[4] * F[8] - F[5] * F[7]) - F[1] * (F[3] * F[8] - F[5] * F[6]) + F[2] * (F[3] * F[7] - F[4] * F[6])


@device
def cofactor(F):
    """cof F = d det F / dF"""
    return (
        F[4] * F[8] - F[5] * F[7], F[5] * F[6] - F[3] * F[8], F[3] * F[7] - F[4] * F[6],
        F[2] * F[7] - F[1] * F[8], F[0] * F[8] - F[2] * F[6], F[1] * F[6] - F[0] * F[7],
        F[1] * F[5] - F[2] * F[4], F[2] * F[3] - F[0] * F[5], F[0] * F[4] - F[1] * F[3],
    )  # fmt: skip


@device
def norm2(F):
    """||F||_F^2 = tr F^T F"""
    return dot(F[:3], F[:3]) + dot(F[3:6], F[3:6]) + dot(F[6:], F[6:])


@device
def transpose(F):
    return F[0], F[3], F[6], F[1], F[4], F[7], F[2], F[5], F[8]


@device
def combine(a, F, b, G):
    """a F + b G"""
    return (
        a * F[0] + b * G[0], a * F[1] + b * G[1], a * F[2] + b * G[2],
        a * F[3] + b * G[3], a * F[4] + b * G[4], a * F[5] + b * G[5],
        a * F[6] + b * G[6], a * F[7] + b * G[7], a * F[8] + b * G[8],
    )  # fmt: skip


@device
def times_transpose(A, B):
    """A B^T"""
    a, b, c = A[:3], A[3:6], A[6:]
    p, q, r = B[:3], B[3:6], B[6:]
    return dot(a, p), dot(a, q), dot(a, r), dot(b, p), dot(b, q), dot(b, r), dot(c, p), dot(c, q), dot(c, r)


@device
def times(A, B):
    """A B"""
    return times_transpose(A, transpose(B))


@device
def outer(a, b):
    """a b^T"""
    return (
        a[0] * b[0], a[0] * b[1], a[0] * b[2],
        a[1] * b[0], a[1] * b[1], a[1] * b[2],
        a[2] * b[0], a[2] * b[1], a[2] * b[2],
    )  # fmt: skip


@device
def apply(F, a):
    """F a"""
    return dot(F[:3], a), dot(F[3:6], a), dot(F[6:], a)

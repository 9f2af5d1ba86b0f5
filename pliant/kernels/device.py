"""Scalar device functions: tuples in, tuples out, no arrays, no calls into NumPy.

They are inlined into the lane loops of `passes` (where LLVM turns 16 elements into vector registers) and compile
unchanged for CUDA. 3x3 tensors are 9-tuples in row-major order, symmetric ones 6-tuples (00 01 02 11 12 22).
"""

from numba import njit

W = 16
"""Lanes: elements that travel together through every phase. A constant trip count is what lets LLVM vectorise."""

PARAMETERS = 8
"""Rows of the lane-blocked parameter table; a density reads the ones it declares, the others are never touched."""

# Fused multiply-add only: reassociation would change sums and slow the gathers, full fastmath would hide NaNs.
FASTMATH = {"contract"}

Floats = tuple[float, ...]

device = njit(forceinline=True, fastmath=FASTMATH, error_model="numpy")
lanes = njit(fastmath=FASTMATH, error_model="numpy")


@device
def load8(A, l):
    return (A[l], A[l + W], A[l + 2 * W], A[l + 3 * W], A[l + 4 * W], A[l + 5 * W], A[l + 6 * W], A[l + 7 * W])


@device
def load9(A, l):
    return (A[l], A[l + W], A[l + 2 * W], A[l + 3 * W], A[l + 4 * W], A[l + 5 * W], A[l + 6 * W], A[l + 7 * W], A[l + 8 * W])


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
    return F[0] * F[0] + F[1] * F[1] + F[2] * F[2] + F[3] * F[3] + F[4] * F[4] + F[5] * F[5] + F[6] * F[6] + F[7] * F[7] + F[8] * F[8]


@device
def combine(a, F, b, G):
    """a F + b G"""
    return (
        a * F[0] + b * G[0], a * F[1] + b * G[1], a * F[2] + b * G[2],
        a * F[3] + b * G[3], a * F[4] + b * G[4], a * F[5] + b * G[5],
        a * F[6] + b * G[6], a * F[7] + b * G[7], a * F[8] + b * G[8],
    )  # fmt: skip


@device
def times(A, B):
    """A B"""
    return (
        A[0] * B[0] + A[1] * B[3] + A[2] * B[6], A[0] * B[1] + A[1] * B[4] + A[2] * B[7], A[0] * B[2] + A[1] * B[5] + A[2] * B[8],
        A[3] * B[0] + A[4] * B[3] + A[5] * B[6], A[3] * B[1] + A[4] * B[4] + A[5] * B[7], A[3] * B[2] + A[4] * B[5] + A[5] * B[8],
        A[6] * B[0] + A[7] * B[3] + A[8] * B[6], A[6] * B[1] + A[7] * B[4] + A[8] * B[7], A[6] * B[2] + A[7] * B[5] + A[8] * B[8],
    )  # fmt: skip


@device
def times_transpose(A, B):
    """A B^T"""
    return (
        A[0] * B[0] + A[1] * B[1] + A[2] * B[2], A[0] * B[3] + A[1] * B[4] + A[2] * B[5], A[0] * B[6] + A[1] * B[7] + A[2] * B[8],
        A[3] * B[0] + A[4] * B[1] + A[5] * B[2], A[3] * B[3] + A[4] * B[4] + A[5] * B[5], A[3] * B[6] + A[4] * B[7] + A[5] * B[8],
        A[6] * B[0] + A[7] * B[1] + A[8] * B[2], A[6] * B[3] + A[7] * B[4] + A[8] * B[5], A[6] * B[6] + A[7] * B[7] + A[8] * B[8],
    )  # fmt: skip


@device
def apply(F, a0, a1, a2):
    """F a"""
    return F[0] * a0 + F[1] * a1 + F[2] * a2, F[3] * a0 + F[4] * a1 + F[5] * a2, F[6] * a0 + F[7] * a1 + F[8] * a2

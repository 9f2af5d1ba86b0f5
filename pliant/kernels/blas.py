"""SciPy's BLAS and LAPACK for compiled kernels.

A kernel gets the addresses of the routines as integers, so that it can be cached, and calls them by `fortran`.
Characters are passed as uint8, integers as int32, reals as float64 or float32, arrays by their address as uint64.
"""

from functools import cache

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import get_cython_function_address, intrinsic

from pliant.arrays import IntArray

# compiled kernels are cached with these numbers: append, never reorder
GEMM, SYRK, SYR2K, TRSM, TRMM, GEMV, TRSV, POTRF, SYGST = range(9)

NO, YES = np.uint8(ord("N")), np.uint8(ord("T"))  # transposed?
LOWER = np.uint8(ord("L"))
LEFT, RIGHT = np.uint8(ord("L")), np.uint8(ord("R"))


@cache
def routines(precision: str = "d") -> IntArray:
    """The addresses of the routines named above, in that order; "d" for float64, "s" for float32."""
    blas = ["gemm", "syrk", "syr2k", "trsm", "trmm", "gemv", "trsv"]
    lapack = ["potrf", "sygst"]
    addresses = [get_cython_function_address("scipy.linalg.cython_blas", precision + name) for name in blas]
    addresses += [get_cython_function_address("scipy.linalg.cython_lapack", precision + name) for name in lapack]
    return np.array(addresses, dtype=np.int64)


@intrinsic
def fortran(typingctx, address, arguments):
    """Call the Fortran routine at ``address`` with a tuple of arguments, each passed by reference."""

    for kind in arguments:
        if kind not in (types.uint8, types.int32, types.float32, types.float64, types.uint64):
            raise TypeError(f"a Fortran routine cannot take an argument of type {kind}")

    def codegen(context, builder, signature, values):
        pointers = []
        for k, kind in enumerate(signature.args[1]):
            value = builder.extract_value(values[1], k)
            if kind == types.uint64:
                pointers.append(builder.inttoptr(value, ir.IntType(8).as_pointer()))
            else:
                slot = cgutils.alloca_once(builder, value.type)
                builder.store(value, slot)
                pointers.append(builder.bitcast(slot, ir.IntType(8).as_pointer()))
        function = ir.FunctionType(ir.VoidType(), [p.type for p in pointers])
        builder.call(builder.inttoptr(values[0], function.as_pointer()), pointers)
        return context.get_dummy_value()

    return types.void(types.int64, arguments), codegen


@njit(cache=True, inline="always")
def at(a, k):
    """The address of entry k of the flat array a of reals."""
    return np.uint64(a.ctypes.data) + np.uint64(a.itemsize * k)


@njit(cache=True, inline="always")
def numbers(a):
    """1, -1 and 0 in the precision of the array a."""
    real = a.dtype.type
    return real(1.0), real(-1.0), real(0.0)

"""CUDA device functions from the very source that the CPU compiles.

Element functions (`pliant.kernels`) are scalar code: tuples in, tuples out. What loops over the W lanes of a block is
the same scalar code where W = 1. So a function is translated by compiling its Python source once more, with W = 1 and
every compiled function it names translated likewise.
"""

from functools import cache
from typing import Any

from numba import cuda
from numba.core.dispatcher import Dispatcher

from pliant.kernels.bind import bind


@cache
def translated(function: Any) -> Any:
    """The CUDA device function with the source of a compiled CPU function."""
    return cuda.jit(device=True)(bind(function.py_func, "cuda", **one_lane(function.py_func)))


def one_lane(source: Any) -> dict[str, Any]:
    """What the names in a function's source mean on the device."""
    meant = {name: source.__globals__[name] for name in source.__code__.co_names if name in source.__globals__}
    names: dict[str, Any] = {name: translated(value) for name, value in meant.items() if isinstance(value, Dispatcher)}
    return {**names, "W": 1} if "W" in meant else names


def kernel(template: Any, **names: Any) -> Any:
    """A CUDA kernel from a template whose ``names`` are compiled CPU functions or numbers."""
    meant = {name: translated(value) if isinstance(value, Dispatcher) else value for name, value in names.items()}
    return cuda.jit(bind(template, "cuda", **meant))

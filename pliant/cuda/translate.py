"""CUDA device functions from the same source that the CPU compiles, or evaluates on arrays.

Element functions (`pliant.kernels`) are scalar code: tuples in, tuples out. What loops over the W lanes of a block is
the same scalar code where W = 1. So a function is translated by compiling its Python source once more, with W = 1 and
every compiled function it names translated likewise. Formulas (`pliant.contact.vectors`) are plain functions that
NumPy evaluates on arrays; on the device the few functions of NumPy that they name mean those of single numbers.
"""

import math
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np
from numba import cuda
from numba.core.registry import CPUDispatcher

from pliant.kernels.bind import bind


@cuda.jit(device=True)
def chosen(condition, a, b):  # type: ignore[no-untyped-def]
    return a if condition else b


@cuda.jit(device=True)
def larger(a, b):  # type: ignore[no-untyped-def]
    return a if a > b else b


@cuda.jit(device=True)
def smaller(a, b):  # type: ignore[no-untyped-def]
    return a if a < b else b


MEANING: dict[Any, Any] = {np.where: chosen, np.sqrt: math.sqrt, np.maximum: larger, np.minimum: smaller}


@cache
def translated(function: Any) -> Any:
    """The CUDA device function with the source of a CPU function."""
    source = function.py_func if isinstance(function, CPUDispatcher) else function
    return cuda.jit(device=True)(bind(source, "cuda", **one_lane(source)))


def one_lane(source: Any) -> dict[str, Any]:
    """What the names in a function's source mean on the device."""
    meant = {name: source.__globals__[name] for name in source.__code__.co_names if name in source.__globals__}
    names = {name: _meaning(value) for name, value in meant.items() if _has_meaning(value)}
    return {**names, "W": 1} if "W" in meant else names


def kernel(template: Any, **names: Any) -> Any:
    """A CUDA kernel from a template: what it names, and ``names``, are CPU functions, formulas or numbers."""
    meant = {name: _meaning(value) if _has_meaning(value) else value for name, value in names.items()}
    return cuda.jit(bind(template, "cuda", **{**one_lane(template), **meant}))


def _has_meaning(value: Any) -> bool:
    """Whether it is a CPU function, a formula, or a function of NumPy that formulas use."""
    return isinstance(value, FunctionType | CPUDispatcher) or (callable(value) and value in MEANING)


def _meaning(value: Any) -> Any:
    return MEANING[value] if callable(value) and value in MEANING else translated(value)

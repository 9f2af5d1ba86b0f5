"""Templates: functions that name what they need as globals, and copies of them in which those names are bound.

Numba does not cache functions that close over other jitted functions or receive them as arguments, but it happily caches
one that finds them under a global name. `bind` makes such a function from a template's code object.
"""

from functools import cache
from types import FunctionType
from typing import Any, NamedTuple

from numba import njit

from pliant.kernels.device import device


class Functions(NamedTuple):
    """What the passes need from a density on a given element."""

    psi: Any  # device: psi(F, p)
    piola: Any  # device: piola(F, p)
    blocks: Any  # lanes: blocks(F, G, params, psd, S, H), see `isotropic.blocks`


def bind(template: Any, label: str, **names: Any) -> FunctionType:
    """A copy of the template in whose globals ``names`` are bound.

    The label makes its qualified name unique. Numba files cached kernels under that name, and links them by it: two
    copies with one name, loaded from two cache files, would silently run each other's machine code.
    """
    function = FunctionType(template.__code__, {**template.__globals__, **names}, template.__name__)
    function.__module__ = template.__module__
    function.__doc__ = template.__doc__
    function.__qualname__ = f"{template.__name__}-{label}"
    return function


@cache
def entry(kernel: Any) -> Any:
    """A copy of a kernel that other kernels contain, to be called from Python.

    Their machine code has the kernel's environment in it, under the same name. Where theirs is read from the disk cache
    first, Numba fills in that one, and a call of the kernel itself finds none: "'descr' is NULL".
    """
    options = {name: value for name, value in kernel.targetoptions.items() if name in ("error_model", "fastmath")}
    return njit(cache=True, **options)(bind(kernel.py_func, "entry"))


def template_device(function: Any, label: str, **names: Any) -> Any:
    """A device function: compiled already, or a template that is bound and compiled now."""
    return device(bind(function, label, **names)) if isinstance(function, FunctionType) else function

"""One compiled, disk-cached kernel per (pass, density, element), from templates written once.

Numba does not cache functions that close over other jitted functions or receive them as arguments. A template (see
`passes`) names what it needs as globals instead; `bind` makes a function from the template's code object with those
names bound, and gives it its own qualified name, under which Numba files it on disk. That name ends with a digest of
all kernel and material sources, because Numba itself would not notice an edit in an imported device function.
"""

import hashlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

from numba import njit

from pliant.kernels import passes
from pliant.kernels.device import FASTMATH, device, lanes
from pliant.kernels.elements import Element


class Density(NamedTuple):
    """Device functions of an energy density: psi(F, p), piola(F, p), and its family's maker of Hessian blocks.

    ``blocks(density, element)`` returns the lanes function `blocks(F, G, params, psd, S, H)` (see `isotropic`).
    Functions that depend on the element's SVD are given as templates, that is, not yet compiled.
    """

    name: str
    psi: Any
    piola: Any
    blocks: Callable[["Density", Element], Any]
    law: Any = None  # what the family's templates build on: `spectral`, or the fibre law


class Kernels(NamedTuple):
    energy: Any
    gradient: Any
    hessian: Any
    march: Any


def bind(template: Any, name: str = "", **names: Any) -> FunctionType:
    """A copy of the template in whose globals ``names`` are bound."""
    function = FunctionType(template.__code__, {**template.__globals__, **names}, template.__name__)
    function.__module__ = template.__module__
    function.__doc__ = template.__doc__
    function.__qualname__ = f"{template.__name__}-{name}-{digest()}" if name else template.__qualname__
    return function


@lru_cache(maxsize=1)
def digest() -> str:
    """Ten letters that change with any source under kernels/ or materials/."""
    package = Path(__file__).parent.parent
    sources = sorted([*(package / "kernels").glob("*.py"), *(package / "materials").glob("*.py")])
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:10]


def bound(function: Any, **names: Any) -> Any:
    """A device function: compiled as it is, or bound and compiled when it is a template."""
    return device(bind(function, **names)) if isinstance(function, FunctionType) else function


@lru_cache(maxsize=None)
def kernels(density: Density, element: Element) -> Kernels:
    """The passes over elements for one density; each compiles on its first call, or comes from the disk cache."""
    counts = {"NODES": element.nodes, "DIM": element.dim}
    psi = bound(density.psi, svd=element.svd)
    piola = bound(density.piola, svd=element.svd)
    common = {
        "gather": element.gather,
        "forces": lanes(bind(passes.lane_forces, piola=piola, **counts)),
        "scatter": lanes(bind(passes.lane_scatter, **counts)),
        **counts,
    }

    def compiled(template: Any, parallel: bool = True, **names: Any) -> Any:
        function = bind(template, f"{density.name}-{element.name}", **common, **names)
        return njit(parallel=parallel, cache=True, fastmath=FASTMATH, error_model="numpy")(function)

    return Kernels(
        energy=compiled(passes.energy, lane_energy=lanes(bind(passes.lane_energy, psi=psi))),
        gradient=compiled(passes.gradient),
        hessian=compiled(
            passes.hessian,
            blocks=density.blocks(density, element),
            first_rows=lanes(bind(passes.node_zero, **counts)),
            scatter_blocks=lanes(bind(passes.block_scatter, **counts)),
        ),
        march=compiled(passes.march, parallel=False),
    )

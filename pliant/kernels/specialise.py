"""One compiled, disk-cached kernel per (pass, density, element), from the templates in `passes`."""

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from numba import njit

from pliant.kernels import passes
from pliant.kernels.bind import Functions, bind
from pliant.kernels.device import FASTMATH, lanes
from pliant.kernels.elements import Element

SOURCES = ("bind", "device", "svd", "elements", "isotropic", "fibre", "direct", "passes", "specialise")


class Density(NamedTuple):
    """An energy density: its name, the file it is written in, and its device functions on a given element."""

    name: str
    source: str
    functions: Callable[[Element], Functions]


class Kernels(NamedTuple):
    """The passes over elements of one density; each compiles on its first call, or comes from the disk cache."""

    energy: Any
    stress: Any
    gradient: Any
    hessian: Any
    march: Any


def digest(source: str) -> str:
    """Ten letters that change with the density's file or any file of SOURCES.

    Numba looks only at the file of the cached function itself: without this an edit in a device function would silently
    run the old machine code.
    """
    files = [Path(__file__).with_name(f"{name}.py") for name in SOURCES] + [Path(source)]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:10]


def compile_pass(template: Any, label: str, *, parallel: bool = True, **names: Any) -> Any:
    """A pass with its names bound, under a label of its own in the disk cache."""
    function = bind(template, label, **names)
    return njit(parallel=parallel, cache=True, fastmath=FASTMATH, error_model="numpy")(function)


@cache
def kernels(density: Density, element: Element) -> Kernels:
    """The compiled passes of a density on an element."""
    psi, piola, blocks = density.functions(element)
    label = f"{density.name}-{element.name}-{digest(density.source)}"
    counts = {"NODES": element.nodes, "DIM": element.dim}
    moving = {
        "gather": element.gather,
        "forces": lanes(bind(passes.lane_forces, piola=piola, **counts)),
        "scatter": lanes(bind(passes.lane_scatter, **counts)),
    }
    return Kernels(
        energy=compile_pass(
            passes.energy, label, gather=element.gather, energies=lanes(bind(passes.lane_energy, psi=psi))
        ),
        stress=compile_pass(
            passes.stress, label, gather=element.gather, stresses=lanes(bind(passes.lane_stress, piola=piola))
        ),
        gradient=compile_pass(passes.gradient, label, **moving),
        hessian=hessian_pass(element, blocks, label),
        march=compile_pass(passes.march, label, parallel=False, **moving),
    )


def hessian_pass(element: Element, blocks: Any, label: str) -> Any:
    """The pass that sums node-pair blocks, for any maker of blocks."""
    counts = {"NODES": element.nodes, "DIM": element.dim}
    return compile_pass(
        passes.hessian,
        label,
        gather=element.gather,
        blocks=blocks,
        first_rows=lanes(bind(passes.node_zero, **counts)),
        scatter=lanes(bind(passes.block_scatter, **counts)),
        **counts,
    )

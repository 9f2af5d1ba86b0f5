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
    """An energy density: its name, the file it is written in, and the maker of its device functions on an element."""

    name: str
    source: str
    functions: Callable[[Element, str], Functions]


class Kernels(NamedTuple):
    """The passes over elements of one density; each compiles on its first call, or comes from the disk cache."""

    energy: Any
    stress: Any
    gradient: Any
    hessian: Any
    march: Any


def label(name: str, element: Element, source: str) -> str:
    """Name, element, and ten letters that change with the density's file or any file of SOURCES.

    Numba looks only at the file of the cached function itself: without the letters an edit in a device function would
    silently run the old machine code.
    """
    files = [Path(__file__).with_name(f"{module}.py") for module in SOURCES] + [Path(source)]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:10]
    return f"{name}-{element.name}-{digest}"


@cache
def kernels(density: Density, element: Element) -> Kernels:
    """The compiled passes of a density on an element."""
    tag = label(density.name, element, density.source)
    psi, piola, blocks = density.functions(element, tag)
    gather = element.gather
    forces, scatter = force_lanes(element, piola, tag)
    return Kernels(
        energy=compiled(passes.energy, tag, gather=gather, energies=lanes(bind(passes.lane_energy, tag, psi=psi))),
        stress=compiled(passes.stress, tag, gather=gather, stresses=lanes(bind(passes.lane_stress, tag, piola=piola))),
        gradient=compiled(passes.gradient, tag, gather=gather, forces=forces, scatter=scatter),
        hessian=hessian_pass(element, blocks, tag),
        march=compiled(passes.march, tag, parallel=False, gather=gather, forces=forces, scatter=scatter),
    )


def compiled(template: Any, tag: str, *, parallel: bool = True, **names: Any) -> Any:
    """A pass with its names bound, filed under its own name in the disk cache."""
    function = bind(template, tag, **names)
    return njit(parallel=parallel, cache=True, fastmath=FASTMATH, error_model="numpy")(function)


def force_lanes(element: Element, piola: Any, tag: str) -> tuple[Any, Any]:
    """The lane loops that make nodal forces of P and add them up."""
    counts = {"NODES": element.nodes, "DIM": element.dim}
    return (
        lanes(bind(passes.lane_forces, tag, piola=piola, **counts)),
        lanes(bind(passes.lane_scatter, tag, **counts)),
    )


def hessian_pass(element: Element, blocks: Any, tag: str) -> Any:
    """The pass that sums node-pair blocks, for any maker of blocks."""
    counts = {"NODES": element.nodes, "DIM": element.dim}
    return compiled(
        passes.hessian,
        tag,
        gather=element.gather,
        blocks=blocks,
        first_rows=lanes(bind(passes.node_zero, tag, **counts)),
        scatter=lanes(bind(passes.block_scatter, tag, **counts)),
        **counts,
    )

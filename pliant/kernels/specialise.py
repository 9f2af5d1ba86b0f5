"""One compiled, disk-cached kernel per (pass, density, element), from the templates in `passes`."""

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from numba import njit

from pliant.kernels import merge, passes
from pliant.kernels.bind import Functions, bind
from pliant.kernels.device import FASTMATH, lanes
from pliant.kernels.elements import Element

SOURCES = ("bind", "device", "svd", "elements", "isotropic", "fibre", "direct", "derived", "passes", "specialise")


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


class Merges(NamedTuple):
    """The passes that sum patches, see `merge`."""

    nodes: Any
    blocks2: Any
    blocks3: Any


class Choice(NamedTuple):
    """What a kernel is specialised for besides its density: the element, and whether its loop runs on many threads."""

    element: Element
    parallel: bool


def label(name: str, choice: Choice, source: str) -> str:
    """Name, choice, and ten letters that change with the density's file or any file of SOURCES.

    Numba looks only at the file of the cached function itself: without the letters an edit in a device function would
    silently run the old machine code.
    """
    files = [Path(__file__).with_name(f"{module}.py") for module in SOURCES] + [Path(source)]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:10]
    return f"{name}-{choice.element.name}-{'parallel' if choice.parallel else 'serial'}-{digest}"


@cache
def kernels(density: Density, choice: Choice) -> Kernels:
    """The compiled passes of a density."""
    element, parallel = choice
    tag = label(density.name, choice, density.source)
    psi, piola, blocks = density.functions(element, tag)
    move = {"gather": element.gather, **force_lanes(element, piola, tag)}
    energies = lanes(bind(passes.lane_energy, tag, psi=psi))
    stresses = lanes(bind(passes.lane_stress, tag, piola=piola))
    return Kernels(
        energy=compiled(passes.energy, tag, parallel, gather=element.gather, energies=energies),
        stress=compiled(passes.stress, tag, parallel, gather=element.gather, stresses=stresses),
        gradient=compiled(passes.gradient, tag, parallel, **move),
        hessian=hessian_pass(choice, blocks, tag),
        march=compiled(passes.march, tag, False, **move),
    )


def compiled(template: Any, tag: str, parallel: bool, **names: Any) -> Any:
    """A pass with its names bound, filed under its own name in the disk cache."""
    function = bind(template, tag, **names)
    return njit(parallel=parallel, cache=True, fastmath=FASTMATH, error_model="numpy")(function)


def force_lanes(element: Element, piola: Any, tag: str) -> dict[str, Any]:
    """The lane loops that make nodal forces of P and add them up."""
    counts = {"NODES": element.nodes, "DIM": element.dim}
    return {
        "forces": lanes(bind(passes.lane_forces, tag, piola=piola, **counts)),
        "scatter": lanes(bind(passes.lane_scatter, tag, **counts)),
    }


def hessian_pass(choice: Choice, blocks: Any, tag: str) -> Any:
    """The pass that sums node-pair blocks, for any maker of blocks."""
    element, parallel = choice
    counts = {"NODES": element.nodes, "DIM": element.dim}
    return compiled(
        passes.hessian,
        tag,
        parallel,
        gather=element.gather,
        blocks=blocks,
        first_rows=lanes(bind(passes.node_zero, tag, **counts)),
        scatter=lanes(bind(passes.block_scatter, tag, **counts)),
        **counts,
    )


@cache
def merges(parallel: bool) -> Merges:
    """The compiled merge passes."""
    tag = "parallel" if parallel else "serial"
    return Merges(*(compiled(template, tag, parallel) for template in (merge.nodes, merge.blocks2, merge.blocks3)))

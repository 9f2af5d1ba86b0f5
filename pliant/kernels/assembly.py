"""Sums over elements from the compiled passes: energies, gradients, Hessian values. No policy, plain arrays."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pliant.arrays import Array
from pliant.kernels.device import W
from pliant.kernels.layout import BlockPattern, Layout
from pliant.kernels.specialise import Kernels, merges


class Term(NamedTuple):
    """One density of a sum: its kernels, its lane-blocked parameter table and that table's stride."""

    kernels: Kernels
    table: Array
    stride: int


def energy_table(place: Layout, terms: Sequence[Term], x: Array) -> Array:
    """Energies of all lanes (blocks, W) [J]."""
    out = np.zeros((len(place.T), W))
    for term in terms:
        term.kernels.energy(x, place.T, place.G, term.table, term.stride, out)
    return out


def energy(place: Layout, terms: Sequence[Term], x: Array) -> float:
    """Total energy [J], summed in an order that depends on the mesh only."""
    return float(energy_table(place, terms, x).ravel()[: place.m].sum())


def element_energies(place: Layout, terms: Sequence[Term], x: Array) -> Array:
    """Energy of each element (m,) [J], in the caller's order."""
    return place.per_element(energy_table(place, terms, x))


def element_stresses(place: Layout, terms: Sequence[Term], x: Array) -> Array:
    """P of each element (m, 3, 3) [Pa], in the caller's order."""
    out = np.zeros((len(place.T), 9 * W))
    for term in terms:
        term.kernels.stress(x, place.T, place.G, term.table, term.stride, out)
    return place.per_element(out).reshape(-1, 3, 3)


def gradient(place: Layout, terms: Sequence[Term], x: Array) -> Array:
    """Gradient of the total energy (N,) [N]."""
    local = np.zeros(place.sums.size)
    for term in terms:
        term.kernels.gradient(x, place.T, place.G, term.table, term.stride, place.L, place.m, local)
    return sum_nodes(place, local)


def sum_nodes(place: Layout, local: Array) -> Array:
    """Nodal vector (N,) from the patch-local sums."""
    out = np.empty(place.dim * place.n)
    merges(place.parallel).nodes(local, place.sums.ptr, place.sums.off, place.dim, out)
    return out


def hessian(place: Layout, pattern: BlockPattern, terms: Sequence[Term], x: Array, psd: bool) -> Array:
    """Values of the Hessian in the CSR structure of ``pattern``."""
    with pattern.work.lent() as local:
        local[:] = 0.0
        for term in terms:
            term.kernels.hessian(x, place.T, place.G, term.table, term.stride, psd, pattern.E, place.m, local)
        return sum_blocks(place, pattern, local)


def sum_blocks(place: Layout, pattern: BlockPattern, local: Array) -> Array:
    """CSR values from the patch-local blocks."""
    data = np.empty(pattern.indices.size)
    compiled = merges(place.parallel)
    merge = compiled.blocks3 if place.dim == 3 else compiled.blocks2
    b = pattern.blocks
    merge(local, pattern.row, b.ptr, b.off, pattern.upper, pattern.lower, pattern.width, data)
    return data

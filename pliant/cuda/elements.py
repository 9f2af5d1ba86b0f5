"""Elastic energies on the device: one thread per element, then sums over elements in a fixed order (`sums`)."""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from pliant.arrays import Array
from pliant.cuda import _element_kernels as kernels
from pliant.cuda.device import Recorded, arrays, launch, to_device, to_host
from pliant.cuda.matrix import BlockRows
from pliant.cuda.sums import Sums
from pliant.cuda.translate import kernel
from pliant.energies.elastic import Elastic
from pliant.kernels import passes
from pliant.kernels.bind import bind
from pliant.kernels.device import PARAMETERS, det, lanes
from pliant.kernels.elements import Element
from pliant.kernels.specialise import Density, force_lanes


class Passes(NamedTuple):
    """The kernels of one density on one element, or of springs."""

    energy: Any
    force: Any
    block: Any


@cache
def passes_of(density: Density, element: Element) -> Passes:
    """The passes translated from the CPU's functions; each compiles on its first launch in a process."""
    tag, gather, counts = f"{density.name}-{element.name}-one", element.gather, {"NODES": element.nodes}
    psi, piola, blocks = density.functions(element, tag)
    energies = lanes(bind(passes.lane_energy, tag, psi=psi))
    forces = force_lanes(element, piola, tag)["forces"]
    first_rows = lanes(bind(passes.node_zero, tag, DIM=element.dim, **counts))
    return Passes(
        energy=kernel(kernels.energy_pass, gather=gather, energies=energies),
        force=kernel(kernels.force_pass, gather=gather, forces=forces, **counts),
        block=kernel(kernels.block_pass, gather=gather, blocks=blocks, first_rows=first_rows, **counts),
    )


@cache
def det_of(element: Element) -> Any:
    """The pass over the volume ratios of an element."""
    return kernel(kernels.det_pass, gather=element.gather, volume_ratio=det)


class DeviceElastic:
    """`Elastic` energies on the device, those of all bodies that are `alike` together.

    A `Deforming` energy of flat device positions x (3n,). ``hosts`` are the energies it is made of.
    """

    internal: ClassVar[bool] = True

    def __init__(self, hosts: Sequence[Elastic], rows: BlockRows) -> None:
        self.hosts, energy = tuple(hosts), hosts[0]
        self.name, self.material, self.elements = energy.name, energy.material, energy.elements
        kind, places = energy.elements.kind, [e.elements.place for e in hosts]
        self.ends = np.cumsum([0, *(place.m for place in places)])
        self.m, self.n = int(self.ends[-1]), places[0].n
        nodes = np.concatenate([place.nodes for place in places])
        G = np.concatenate([_shapes(e)[place.order] for e, place in zip(hosts, places, strict=True)])
        self._tables = to_device(np.ascontiguousarray((3 * nodes).astype(np.uint32).T)), to_device(G.T.copy())
        self._terms = []
        for k, density in enumerate(_densities(energy)):
            values = [_parameters(e, k) for e in hosts]
            single = len(hosts) == 1 and len(values[0]) == 1
            rows_of = values if single else [_in_order(v, p) for v, p in zip(values, places, strict=True)]
            table = np.ascontiguousarray(np.concatenate(rows_of).T)
            self._terms.append((passes_of(density, kind), to_device(table), int(not single)))
        self._det = det_of(kind)
        self._marching: March | None = None
        self._sums = Sums(nodes, self.n, rows)

    def value(self, x: Any) -> float:
        """Total energy [J]."""
        return float(self._element_energies(x).sum())

    def values(self, x: Any) -> list[float]:
        """The energy [J] of every one of ``hosts``."""
        stored = self._element_energies(x)
        sizes = np.diff(self.ends)
        if (sizes == sizes[0]).all():
            return [float(w) for w in to_host(stored.reshape(len(sizes), -1).sum(axis=1))]
        return [float(stored[a:b].sum()) for a, b in pairwise(self.ends.tolist())]

    def _element_energies(self, x: Any) -> Any:
        out = arrays().empty(self.m)
        for k, (pass_, table, stride) in enumerate(self._terms):
            launch(pass_.energy, self.m, (x, *self._tables, table, stride, k == 0, out))
        return out

    def gradient(self, x: Any) -> Any:
        """dW/dx (3n,) [N]."""
        parts = arrays().empty((3 * len(self._tables[0]), self.m))
        for k, (pass_, table, stride) in enumerate(self._terms):
            launch(pass_.force, self.m, (x, *self._tables, table, stride, k == 0, parts))
        return self._sums.at_nodes(parts)

    def march(self, q: Any, v: Any, inverse_mass: Any, load: Any, dt: float, steps: int) -> tuple[Any, Any]:
        """Where ``steps`` steps of symplectic Euler lead, with this energy and a constant load, in one launch."""
        key = (id(inverse_mass), dt, steps)
        if self._marching is None or self._marching.key != key:
            self._marching = March(self, key, inverse_mass, dt, steps)
        return self._marching(q, v, load)

    def add_hessian(self, x: Any, weight: float, psd: bool, values: Any) -> None:
        """values += weight d2W/dx2, in the places of the `BlockRows`."""
        parts = arrays().empty((9 * self._sums.pairs, self.m))
        for k, (pass_, table, stride) in enumerate(self._terms):
            launch(pass_.block, self.m, (x, *self._tables, table, stride, k == 0, psd, parts))
        self._sums.at_blocks(parts, weight, values)

    def det(self, x: Any) -> Any:
        """det F (m,) of every element, along the device's order."""
        out = arrays().empty(self.m)
        launch(self._det, self.m, (x, *self._tables, out))
        return out

    def deformation(self, x: Any) -> Array:
        """F of every element, on the host."""
        return np.concatenate([energy.deformation(to_host(x)) for energy in self.hosts])


class March:
    """Steps of symplectic Euler on arrays of their own, recorded once and replayed."""

    def __init__(self, energy: DeviceElastic, key: Any, inverse_mass: Any, dt: float, steps: int) -> None:
        xp, N = arrays(), 3 * energy.n
        self.key, self._energy, self._inverse_mass, self._dt, self._steps = key, energy, inverse_mass, dt, steps
        self._q, self._v, self._load = (xp.zeros(N) for _ in range(3))
        self._parts = xp.empty((3 * len(energy._tables[0]), energy.m))
        self._run = Recorded(self._launched)

    def __call__(self, q: Any, v: Any, load: Any) -> tuple[Any, Any]:
        self._q[...], self._v[...], self._load[...] = q, v, load
        self._run()
        return self._q.copy(), self._v.copy()

    def _launched(self, stream: Any) -> None:
        e, parts = self._energy, self._parts
        for _ in range(self._steps):
            for k, (pass_, table, stride) in enumerate(e._terms):
                launch(pass_.force, e.m, (self._q, *e._tables, table, stride, k == 0, parts), stream)
            arguments = (parts, *e._sums.nodes, self._load, self._inverse_mass, self._dt, self._q, self._v)
            launch(kernels.kick_and_drift, e.n, arguments, stream)


def grouped(energies: Sequence[Any]) -> tuple[tuple[Any, ...], ...]:
    """Elastic energies that one kernel can evaluate together; the others by themselves."""
    groups: dict[Any, list[Any]] = {}
    for energy in energies:
        groups.setdefault(alike(energy) if isinstance(energy, Elastic) else id(energy), []).append(energy)
    return tuple(tuple(group) for group in groups.values())


def alike(energy: Elastic) -> Any:
    """Equal for energies that the same kernels serve."""
    return energy.elements.kind, _densities(energy), energy.material.allows_inversion


def _densities(energy: Elastic) -> tuple[Density, ...]:
    return tuple(density for density, _ in energy.seen.terms())


def _parameters(energy: Elastic, k: int) -> Array:
    """The parameters (1 or m, PARAMETERS) of the k-th density."""
    _, values = energy.seen.terms()[k]
    table = np.zeros((len(values), PARAMETERS))
    table[:, : values.shape[1]] = values
    return table


def _in_order(values: Array, place: Any) -> Array:
    """One row per element, in the device's order."""
    return np.tile(values, (place.m, 1)) if len(values) == 1 else values[place.order]


def _shapes(energy: Elastic) -> Array:
    """Shape gradients and volume (m, 10) of the elements."""
    elements = energy.elements
    return np.concatenate([elements.gradients.reshape(-1, 9), elements.volumes[:, None]], axis=1)

"""Contact of vertices with triangles on the device: one thread per pair, then sums over the pairs of every node."""

from functools import cache
from typing import Any

from pliant.cuda import _pair_kernels as kernels
from pliant.cuda._pair_kernels import LOAD
from pliant.cuda.detect import DeviceDetector, DevicePairs
from pliant.cuda.device import arrays, launch, to_device
from pliant.cuda.matrix import BlockRows, Coupling
from pliant.cuda.translate import kernel
from pliant.systems.penalty_contact import PenaltyModel


@cache
def _kernel(name: str) -> Any:
    """A kernel by its name; each compiles on its first launch in a process."""
    return kernel(vars(kernels)[name])


class PairLaws:
    """What all pairs of a scene have in common: stiffness, damping, friction per vertex, the places of blocks."""

    def __init__(self, model: PenaltyModel, rows: BlockRows) -> None:
        self.n, self.diagonal = model.setting.n, rows.diagonal
        self.smoothing, self.creep = model.smoothing, model.law.creep
        per_vertex = (model.k, model.sides, model.law.k_t, model.k_d, 0.5 * model.smoothing * model.k)
        self.k, self.sides, self.stick, self.k_d, self.full = (to_device(a) for a in per_vertex)
        self.mu, self.body = to_device(model.mu.table), to_device(model.setting.body)


class TouchingPairs:
    """The pairs of a stage; forces and blocks at positions x (3n,) with velocities v."""

    def __init__(self, laws: PairLaws, pairs: DevicePairs, detector: DeviceDetector) -> None:
        xp, nodes = arrays(), pairs.nodes
        self.pairs, self.count, self._laws = pairs, len(pairs), laws
        self._sides = detector.apart(pairs, laws.sides[nodes[0]] + laws.sides[nodes[1]])
        self._mu = laws.mu[laws.body[nodes[0]], pairs.body]
        flat = nodes.T.ravel()
        self._off = xp.argsort(flat, kind="stable")
        self._ptr = xp.searchsorted(flat[self._off], xp.arange(laws.n + 1))
        self._where = (nodes, pairs.side, self._sides)
        self._springs = (*self._where, laws.k, laws.smoothing)

    def _launch(self, name: str, *arguments: Any) -> None:
        launch(_kernel(name), self.count, arguments)

    def gaps(self, x: Any) -> Any:
        """Gaps (c,) [m] beyond the thickness."""
        out = arrays().empty(self.count)
        self._launch("gap_pass", x, *self._where, out)
        return out

    def penalty(self, x: Any) -> tuple[Any, Any]:
        """Energy (c,) and push (12, c)."""
        energy, parts = self._empty()
        self._launch("penalty_pass", x, *self._springs, energy, parts)
        return energy, parts

    def penalty_blocks(self, x: Any, psd: bool, weight: float, blocks: Any) -> None:
        """blocks = weight times the Hessian."""
        self._launch("penalty_blocks", x, *self._springs, psd, weight, blocks)

    def loads(self, x: Any) -> tuple[Any, Any]:
        """The load (LOAD, c) of friction and the normal forces (c,) [N]."""
        load, normal = arrays().empty((LOAD, self.count)), arrays().empty(self.count)
        self._launch("load_pass", x, *self._springs, self._mu, load, normal)
        return load, normal

    def friction(self, x: Any, v: Any, load: Any, duration: float) -> tuple[Any, Any]:
        """Dissipation (c,) and force (12, c)."""
        energy, parts = self._empty()
        laws = (self._laws.stick, self._laws.creep, duration)
        self._launch("friction_pass", x, v, self.pairs.nodes, load, *laws, energy, parts)
        return energy, parts

    def friction_blocks(self, x: Any, v: Any, load: Any, duration: float, weight: float, blocks: Any) -> None:
        """blocks += weight times -df/dv."""
        laws = (self._laws.stick, self._laws.creep, duration)
        self._launch("friction_blocks", x, v, self.pairs.nodes, load, *laws, weight, blocks)

    def friction_turning(self, x: Any, v: Any, load: Any, duration: float, weight: float, blocks: Any) -> None:
        """blocks += weight times the part of df/dx that comes from directions that turn."""
        laws = (self._laws.stick, self._laws.creep, duration)
        self._launch("friction_turning", x, v, self.pairs.nodes, load, *laws, weight, blocks)

    def damping(self, x: Any, v: Any) -> Any:
        """Force (12, c) of the dampers."""
        parts = self._empty()[1]
        self._launch("damping_pass", x, v, *self._springs, self._laws.k_d, self._laws.full, parts)
        return parts

    def damping_blocks(self, x: Any, v: Any, weights: tuple[float, float], blocks: Any) -> None:
        """blocks += -df/dv and, from the changing load, -df/dx, times their weights."""
        self._launch("damping_blocks", x, v, *self._springs, self._laws.k_d, self._laws.full, *weights, blocks)

    def summed(self, parts: Any) -> Any:
        """Parts (12, c) on all vertices, flat (3n,)."""
        out = arrays().empty(3 * self._laws.n)
        launch(kernels.sum_parts, self._laws.n, (self._ptr, self._off, parts, out))
        return out

    def coupled(self, blocks: Any, values: Any) -> Coupling:
        """The blocks between nodes; those of single nodes are added to ``values``."""
        arguments = (self._ptr, self._off, blocks, self._laws.diagonal, values)
        launch(kernels.add_own_blocks, self._laws.n, arguments)
        return Coupling(self._ptr, self._off, self.pairs.nodes, blocks)

    def _empty(self) -> tuple[Any, Any]:
        return arrays().empty(self.count), arrays().empty((12, self.count))

"""ConJac with nodes that fall asleep: a region that has stopped stretching follows quasistatically.

[Weidner2022, sec. 4.6]. The liveliness of a representative node is the volume-weighted mean |Sdot| over the tetrahedra
nearest to it, averaged over a window of steps. Velocities are taken as (x - x_previous)/h: with every node asleep
v = J v_d is zero, and a metric of v could never wake anything.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.energies.elastic import Elastic
from pliant.errors import SceneError
from pliant.integrators.conjac import ConJac
from pliant.kernels.liveliness import stretch_rates
from pliant.linear.threads import one_thread
from pliant.state import State, Step, Transient
from pliant.systems.condensed_plan import Plan
from pliant.systems.elastodynamics import Elastodynamics


@dataclass(frozen=True, eq=False)
class Awake:
    """Which nodes are dynamic, the last metrics, and the positions before this step."""

    active: Array  # (nodes,) bool
    metrics: Array  # (window, nodes) [1/s], newest last
    previous: Array  # (N,)
    plan: Any = None
    regions: Any = None
    analysis: Any = None


@dataclass(frozen=True, eq=False)
class AdaptiveConJac:
    """ConJac whose nodes are dynamic only while the material around them deforms. [Weidner2022, sec. 4.6]

    ``conjac.nodes`` are representatives; each is dynamic while its averaged liveliness exceeds ``threshold`` [1/s], and
    becomes quasistatic again below 0.8 threshold. ``invariant`` measures |Sdot|_F / 3 instead of the mean of the nine
    entries, which depends on the orientation of the material axes (the paper's choice, and the default).
    """

    conjac: ConJac
    threshold: float = 0.02
    window: int = 10
    invariant: bool = False
    order: ClassVar[int] = 1
    made_for: ClassVar[type] = Elastodynamics

    def __post_init__(self) -> None:
        if not self.threshold >= 0.0 or self.window < 1:
            raise SceneError(f"threshold {self.threshold}, window {self.window}", where="AdaptiveConJac")

    @one_thread()
    def step(self, system: Elastodynamics, state: State, h: float, memory: Awake | None = None) -> Step:
        awake = self._recall(system, state, memory)
        speed = (state.q - awake.previous) / h
        latest = self.metric(system, state.q, speed, awake.regions.value, len(awake.active))
        metrics = np.vstack([awake.metrics, latest])[-self.window :]
        mean = metrics.mean(axis=0)
        plan = awake.plan
        active = np.where(awake.active, mean > 0.8 * self.threshold, mean > self.threshold)
        active |= ~plan.pieces.held[plan.pieces.piece[plan.nodes]]  # a piece that nothing holds is never at rest
        dynamic = plan.nodes[active]
        after, report, analysis = self.conjac.advance(system, state, h, plan, dynamic, awake.analysis)
        return Step(after, Awake(active, metrics, state.q, plan, awake.regions, analysis), (report,))

    def leading(self, system: Elastodynamics, memory: Awake | None) -> IntArray:
        """The vertices that are awake, with the patches they stand for."""
        if memory is None or memory.plan is None:
            return np.zeros(0, dtype=np.int64)
        return memory.plan.around(memory.plan.nodes[memory.active], system)

    def _recall(self, system: Elastodynamics, state: State, memory: Awake | None) -> Awake:
        """The memory with plan and regions in place; everything starts asleep."""
        fits = memory is not None and len(memory.previous) == len(state.q)
        plan = memory.plan if fits and memory is not None and memory.plan is not None else self.conjac.plan(system)
        if fits and memory is not None:
            regions = memory.regions if memory.regions is not None else Transient(regions_of(system, plan))
            return Awake(memory.active, memory.metrics, memory.previous, plan, regions, memory.analysis)
        count = len(plan.nodes)
        nothing = np.zeros((0, count))
        return Awake(np.zeros(count, dtype=bool), nothing, state.q, plan, Transient(regions_of(system, plan)))

    def metric(self, system: Elastodynamics, q: Array, velocity: Array, regions: IntArray, count: int) -> Array:
        """Liveliness of every representative [1/s]: sum V |Sdot| / sum V over its region."""
        elastic = elastic_of(system)
        rates = stretch_rates(elastic.deformation(q), elastic.deformation(velocity))
        size = np.linalg.norm(rates, axis=(1, 2)) / 3.0 if self.invariant else abs(rates).mean(axis=(1, 2))
        volume = np.bincount(regions, elastic.volumes, count)
        return np.bincount(regions, elastic.volumes * size, count) / np.maximum(volume, 1e-300)


def elastic_of(system: Elastodynamics) -> Elastic:
    """The elastic energy of the tetrahedra that the metric watches."""
    found = [e for e in system.energy_terms if isinstance(e, Elastic) and e.elements.nodes.shape[1] == 4]
    if len(found) != 1:
        raise SceneError(
            f"{len(found)} elastic solids", where="AdaptiveConJac", remedy="it needs one body of tetrahedra"
        )
    return found[0]


def regions_of(system: Elastodynamics, plan: Plan) -> IntArray:
    """For every tetrahedron the nearest representative in the rest shape."""
    from scipy.spatial import cKDTree

    T = elastic_of(system).elements.nodes
    return cKDTree(system.X[plan.nodes]).query(system.X[T].mean(axis=1))[1].astype(np.int64)

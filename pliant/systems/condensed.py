"""Soft bodies condensed onto a few dynamic vertices, as a part of any velocity step. [ConJac2020]

The unknowns u are the velocities of the chosen vertices and of those that attachments hold. All others follow so that
the net force on them stays zero, and every point of the body moves with J u: attachments, contacts and other couplings
work as for full bodies.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from pliant.arrays import IntArray, indices, require_among
from pliant.errors import SceneError, require_count
from pliant.linear.base import LinearSolver
from pliant.linear.cholesky import Cholesky
from pliant.state import State
from pliant.systems.condensed_plan import CondensedMoment, plan_of
from pliant.systems.condensed_step import CondensedStep, Followers
from pliant.systems.elastodynamics import Elastodynamics
from pliant.systems.placement import spread
from pliant.units import read_fields
from pliant.velocity_step import Linearisation, Prepared


@dataclass(frozen=True, eq=False)
class Condensation:
    """Condenses a body onto the dynamic ``nodes`` (vertex numbers), or onto ``count`` nodes spread over it.

    ``gamma`` is the fraction of the residual force on the other vertices that each step removes, ``cap`` limits the
    relative change of an edge length by this. In an unsupported piece, as much of its inertia is subtracted from that
    force as lowers its energy; with ``inertial`` all of it, everywhere. With a ``radius`` [m] a node represents the
    mean over the vertices within it, so that a load on it does not dent the body at a point.
    """

    nodes: IntArray | None = None
    count: int = 4
    radius: float = 0.0
    gamma: float = 1.0 / 3.0
    cap: float = 0.25
    inertial: bool = False
    linear: LinearSolver = field(default_factory=Cholesky)
    units: ClassVar[dict[str, str]] = {"radius": "m"}

    def __post_init__(self) -> None:
        read_fields(self)
        require_count(self.count, 0, "Condensation.count")
        for name, most in (("gamma", 1.0), ("cap", np.inf), ("radius", np.inf)):
            if not 0.0 <= getattr(self, name) <= most:
                what = f"{name} is {getattr(self, name)}"
                raise SceneError(what, where=f"Condensation.{name}", remedy=f"use a number from 0 to {most:g}")

    @property
    def following(self) -> Followers:
        return Followers(self.gamma, self.cap, self.inertial, self.linear)

    def nodes_in(self, system: Elastodynamics, mine: IntArray, attached: IntArray) -> IntArray:
        """The dynamic vertices of a body whose vertices are ``mine (n,)`` in the system; ``attached`` ones lead too."""
        if self.nodes is None:
            return spread(system, self.count, among=mine, held=attached)
        nodes, mask = indices(self.nodes, "Condensation.nodes")
        require_among(nodes, mask, len(mine), "Condensation.nodes")
        return mine[nodes]


Chosen = tuple[IntArray, Condensation]  # the vertices of a body in the system, and how it is condensed
NOBODY: IntArray = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Condensing:
    """The reduction of a whole part: ``nodes`` and ``attached`` vertices lead, those of ``bodies`` follow."""

    bodies: Sequence[Chosen]
    nodes: IntArray
    attached: IntArray

    @property
    def following(self) -> Followers:
        return self.bodies[0][1].following

    def prepare(self, system: Elastodynamics, state: State, h: float, memory: Any, how: Linearisation) -> Prepared:
        plan, analysis = memory if memory is not None else (None, None)
        if plan is None or plan.vertices != len(system.X):
            inside = np.sort(np.concatenate([mine for mine, _ in self.bodies]))
            every, where = len(inside) == len(system.X), "Condensation.nodes"
            condensed = None if every else inside
            radius = self.bodies[0][1].radius
            plan = plan_of(system, self.nodes, attached=self.attached, condensed=condensed, radius=radius, where=where)
            analysis = None
        leading = np.union1d(plan.nodes, plan.attached)
        now = CondensedMoment(system.at(state, state.t + h), state, h, plan, leading)
        return CondensedStep(now, self.following, how, analysis)


def condensed(system: Elastodynamics, bodies: Sequence[Chosen], attached: IntArray = NOBODY) -> Elastodynamics:
    """The system with bodies condensed: the vertices of each, and how; something else holds those ``attached``."""
    first = bodies[0][1].following
    if any((how.following, how.radius) != (first, bodies[0][1].radius) for _, how in bodies):
        remedy = "give all condensed bodies of a scene the same radius, gamma, cap, inertial and linear solver"
        raise SceneError("condensations differ", where="Condensation", remedy=remedy)
    nodes = np.concatenate([how.nodes_in(system, mine, attached) for mine, how in bodies])
    other = copy(system)
    other.reduction = Condensing(bodies, nodes, attached)
    return other


def led(system: Elastodynamics, vertices: IntArray) -> Elastodynamics:
    """The system with some vertices leading too, because something else holds them or pulls at them."""
    if not isinstance(system.reduction, Condensing):
        return system
    return condensed(system, system.reduction.bodies, np.unique(vertices))

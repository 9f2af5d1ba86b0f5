"""Contact after the step: integrators that wrap another one and correct the state it arrives at.

`BridsonFriction` adds friction to contact that only pushes [ConJac2020, sec. 4.6, after Bridson 2002]; `Projected`
moves particles out of obstacles and stops them there [Chen2019, sec. 4.5].
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.contact.obstacles import Obstacle
from pliant.contact.pose import passage
from pliant.errors import SceneError
from pliant.linear.threads import one_thread
from pliant.state import State, Step


@dataclass(frozen=True)
class BridsonFriction:
    """v_t <- max(1 - mu dv_n/|v_t|, 0) v_t at contacts with obstacles, dv_n = h f_n/m the normal velocity change.

    f_n is the contact force at the end of the step of ``integrator``; the scene's contact should have mu = 0.
    """

    integrator: Any
    mu: float = 0.3

    def __post_init__(self) -> None:
        _require_friction(self.mu, "BridsonFriction.mu")

    @property
    def order(self) -> int:
        return int(self.integrator.order)

    @one_thread()
    def step(self, system: Any, state: State, h: float, memory: Any = None) -> Step:
        step = self.integrator.step(system, state, h, memory)
        after = step.state
        touch = system.contacts(after.q, after.v, after.t)
        if touch is None:
            return step
        upon = touch.bodies[:, 1] < 0
        vertices, n = touch.vertex[upon], touch.normals[upon]
        kick = h * touch.normal_force[upon] / system.nodal_mass[3 * vertices]
        v = _rubbed(after.v.reshape(-1, 3), vertices, n, np.zeros_like(n), self.mu * kick)
        return replace(step, state=State(after.q, v.ravel(), after.t))


@dataclass(frozen=True)
class Projected:
    """Particles inside an ``obstacle`` (with ``margin`` [m]) go to its surface and lose their approaching velocity.

    Friction reduces the tangential velocity by mu times the normal one that was lost. Momentum is not conserved, and no
    energy is stored: this is for particles and cloth under integrators that know no contact. Scripted ones stay.
    """

    integrator: Any
    obstacles: Sequence[Obstacle]
    mu: float = 0.0
    margin: float = 0.0
    order: ClassVar[int] = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "obstacles", tuple(self.obstacles))
        _require_friction(self.mu, "Projected.mu")

    @one_thread()
    def step(self, system: Any, state: State, h: float, memory: Any = None) -> Step:
        step = self.integrator.step(system, state, h, memory)
        x, v = step.state.q.reshape(-1, 3).copy(), step.state.v.reshape(-1, 3).copy()
        movable = np.unique(system.free // 3)
        for obstacle in self.obstacles:
            way = passage(obstacle.motion, state.t, step.state.t)
            g, n = obstacle.distance(way.pose.local(x[movable]))
            inside = np.flatnonzero(g < self.margin)
            vertices, n = movable[inside], way.pose.turn(n[inside])
            x[vertices] += (self.margin - g[inside])[:, None] * n
            drift = way.velocity(x[vertices])
            speed = ((v[vertices] - drift) * n).sum(axis=1)
            lost = np.maximum(-speed, 0.0)
            v[vertices] += lost[:, None] * n
            v = _rubbed(v, vertices, n, drift, self.mu * lost)
        return replace(step, state=State(system.prescribe(x.ravel(), step.state.t), v.ravel(), step.state.t))


def _rubbed(v: Array, vertices: IntArray, n: Array, drift: Array, loss: Array) -> Array:
    """Velocities with the tangential part (relative to ``drift``) of ``vertices`` shortened by ``loss`` [m/s]."""
    out = v.copy()
    for i, p in enumerate(vertices):  # a vertex may touch two obstacles: one after the other
        u = out[p] - drift[i]
        tangent = u - (u @ n[i]) * n[i]
        size = float(np.linalg.norm(tangent))
        if size > 0.0:
            out[p] -= min(loss[i] / size, 1.0) * tangent
    return out


def _require_friction(mu: float, where: str) -> None:
    if not (np.isfinite(mu) and mu >= 0.0):
        raise SceneError(f"mu is {mu}", where=where, remedy="give a friction coefficient >= 0")

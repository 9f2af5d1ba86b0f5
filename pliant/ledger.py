"""The ledger: where the energy of every step went, and what became of the momentum.

For a step from (q0, v0, t0) to (q1, v1, t1), h = t1 - t0, dq = q1 - q0, dv = v1 - v0:

    total energy     E = T + sum_i W_i,   T = 1/2 v^T M v, every potential under its own name
    work of a force  A_j = dq . f_j       damping, friction, ...: what has no potential; friction that an integrator
                     finds itself (joints), as it books it
    work of scripts  A_s = sum over prescribed coordinates of dq (M dv / h - f): the force the script had to apply,
                     plus, where obstacles move, what they push with times the way they go
    numerical        D = E0 - E1 + sum_j A_j + A_s: what the integrator took (D < 0: gave)

The forces f are those at the end of the step for methods of order 1, which is where such methods balance them, and the
mean of both ends for methods of higher order: the quadrature has the order of the method. For backward Euler D has a
closed form that needs no energy difference of the kinetic kind (`backward_euler_dissipation`), so that the books of a
converged step can be audited: they fail to balance exactly by the work of the unsolved residual.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.state import State
from pliant.systems.base import Constrained

Vector = tuple[float, float, float]
NO_VECTOR: Vector = (float("nan"),) * 3


@dataclass(frozen=True)
class Row:
    """One line of the ledger: energies [J] after the step, work and dissipation [J] during it, momenta after it.

    ``energies`` has ``kinetic`` and every potential by name; ``work`` has ``scripts`` and every force by name.
    ``linear`` [kg m/s] and ``angular`` [kg m^2/s] (about the origin) are NaN where a system does not define them.
    """

    step: int
    t: float
    energies: dict[str, float]
    work: dict[str, float] = field(default_factory=dict)
    numerical: float = 0.0
    linear: Vector = NO_VECTOR
    angular: Vector = NO_VECTOR

    @property
    def total(self) -> float:
        """Kinetic plus all potential energy [J]."""
        return sum(self.energies.values())

    @property
    def scale(self) -> float:
        """The size of the numbers in the books [J]: what round-off and gains are compared with."""
        return sum(abs(value) for value in self.energies.values()) + sum(abs(value) for value in self.work.values())

    def flat(self) -> dict[str, float]:
        """The columns of ``ledger.csv``."""
        return {
            "step": self.step,
            "t": self.t,
            "total": self.total,
            **self.energies,
            **{f"work_{name}": value for name, value in self.work.items()},
            "numerical": self.numerical,
            **{f"linear_{axis}": value for axis, value in zip("xyz", self.linear, strict=True)},
            **{f"angular_{axis}": value for axis, value in zip("xyz", self.angular, strict=True)},
        }


def opening(step: int, system: Any, state: State, integrator: Any = None) -> Row:
    """The books before the first step: energies and momenta, nothing done yet; ``integrator`` if it books ``works``."""
    linear, angular = momenta(system, state)
    names = [f.name for f in getattr(system, "force_terms", ())]
    names += [*getattr(system, "works", ()), *getattr(integrator, "works", ())]
    names += ["motors"] if isinstance(system, Constrained) else []
    work = dict.fromkeys(["scripts", *names], 0.0)
    energies = {name: float(value) for name, value in system.energies(state.q, state.v, state.t).items()}
    return Row(step, state.t, energies, work, 0.0, linear, angular)


def entry(
    previous: Row, system: Any, before: State, after: State, order: int, booked: Mapping[str, float] | None = None
) -> Row:
    """The line for the step ``before`` -> ``after`` made by an integrator of the given order, which ``booked`` work."""
    row = opening(previous.step + 1, system, after)
    weights = ((after, 1.0),) if order <= 1 else ((before, 0.5), (after, 0.5))
    dq = after.q - before.q if after.q.shape == before.q.shape else None
    work = dict(row.work) if dq is None else _work(system, before, after, dq, weights)
    if dq is not None:
        work["scripts"] += _moved_obstacles(system, before, after, weights)
        work |= _powers(system, before, after, weights)
    work = {**dict.fromkeys(previous.work, 0.0), **work}
    for name, done in (booked or {}).items():
        work[name] = work.get(name, 0.0) + float(done)
    numerical = previous.total - row.total + sum(work.values())
    return Row(row.step, row.t, row.energies, work, numerical, row.linear, row.angular)


def combined(rows: Sequence[Row]) -> Row:
    """One line for several substeps: energies at their end, work and dissipation of all of them."""
    last = rows[-1]
    work = {name: sum(row.work.get(name, 0.0) for row in rows) for name in last.work}
    numerical = sum(row.numerical for row in rows)
    return replace(last, step=rows[0].step, work=work, numerical=numerical)


def _work(
    system: Any, before: State, after: State, dq: Array, weights: tuple[tuple[State, float], ...]
) -> dict[str, float]:
    work = {"scripts": 0.0}
    for force in getattr(system, "force_terms", ()):
        done = sum(w * float(dq @ force.force(s.q, s.v, s.t)) for s, w in weights)
        work[force.name] = work.get(force.name, 0.0) + done
    held = prescribed(system, len(dq))
    moved = held[dq[held] != 0.0]
    if len(moved):
        push = system.mass(after.q) @ (after.v - before.v) / (after.t - before.t)
        for s, w in weights:
            push = push - w * system.force(s.q, s.v, s.t)
        work["scripts"] = float(dq[moved] @ push[moved])
    return work


def _powers(system: Any, before: State, after: State, weights: tuple[tuple[State, float], ...]) -> dict[str, float]:
    """The work of the forces of an articulated system, which tells its power; the "drives" include muscles."""
    if not hasattr(system, "power"):
        return {}
    dt = after.t - before.t
    powers = [(w, system.power(s.q, s.v, s.t)) for s, w in weights]
    work = {name: dt * sum(w * power[name] for w, power in powers) for name in system.works}
    work["drives"] += sum(w * system.switched(s.q, s.v, (before.t, after.t)) for s, w in weights)
    return work


def _moved_obstacles(system: Any, before: State, after: State, weights: tuple[tuple[State, float], ...]) -> float:
    """Contact forces times the ways of the obstacles they act at, between the two states."""
    model = getattr(system, "contact", None)
    if model is None or all(obstacle.motion is None for obstacle in model.setting.obstacles):
        return 0.0
    done, passages = 0.0, model.setting.passages(before.t, after.t)
    for s, w in weights:
        for energy in model.at(s, s.t).energies:
            contacts, f_n = energy.loads(s.q)
            points = contacts.relative(s.q.reshape(-1, 3))
            for k, passage in enumerate(passages):
                met = contacts.other == -1 - k
                along = (contacts.normals[met] * passage.velocity(points[met])).sum(axis=1)
                done += w * (after.t - before.t) * float(f_n[met] @ along)
    return done


def prescribed(system: Any, N: int) -> IntArray:
    """Coordinates that are not solved for: pins and scripts."""
    free = getattr(system, "free", None)
    if free is None:
        return np.empty(0, dtype=np.int64)
    held = np.ones(N, dtype=bool)
    held[free] = False
    return np.flatnonzero(held)


def momenta(system: Any, state: State) -> tuple[Vector, Vector]:
    """Linear and angular momentum; a system whose coordinates are not positions may say them by ``momenta(q, v)``."""
    if hasattr(system, "momenta"):
        linear, angular = system.momenta(state.q, state.v)
        return _vector(linear), _vector(angular)
    x = system.positions(state.q)
    n = len(x)
    if not hasattr(system, "mass") or n == 0 or state.v.shape != state.q.shape or len(state.q) not in (2 * n, 3 * n):
        return NO_VECTOR, NO_VECTOR
    p = (system.mass(state.q) @ state.v).reshape(n, -1)
    p = p if p.shape[1] == 3 else np.column_stack([p, np.zeros(n)])
    return _vector(p.sum(axis=0)), _vector(np.cross(x, p).sum(axis=0))


def _vector(values: Any) -> Vector:
    x, y, z = (float(value) for value in values)
    return x, y, z


def backward_euler_dissipation(system: Any, before: State, after: State) -> float:
    """What a backward Euler step dissipates: D = 1/2 dv^T M dv + W(q0) - W(q1) + grad W(q1) . dq.

    The first term is never negative, the others are the Bregman distance of W, never negative where W is convex.
    """
    dq, dv = after.q - before.q, after.v - before.v
    bregman = sum(e.value(before.q) - e.value(after.q) + float(e.gradient(after.q) @ dq) for e in system.energy_terms)
    return 0.5 * float(dv @ (system.mass(after.q) @ dv)) + bregman

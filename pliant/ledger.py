"""The ledger: the energy and momentum balance of every step.

For a step from (q0, v0, t0) to (q1, v1, t1), h = t1 - t0, dq = q1 - q0, dv = v1 - v0:

    total energy     E = T + sum_i W_i,   T = 1/2 v^T M v, every potential under its own name
    work of a force  A_j = dq . f_j       damping, friction, ...: what has no potential; friction that an integrator
                     finds itself (joints), as it reports it
    exchange         A_ab = f_ab . dq_b: the work of part a on part b; A_ab + A_ba is minus what their contact stored
                     and dissipated: exchanges move energy within the system and are not part of D
    work of scripts  A_s = sum over prescribed coordinates of dq (M dv / h - f): the force that the script applied,
                     plus obstacle work: the contact forces on moving obstacles times their displacement
    numerical        D = E0 - E1 + sum_j A_j + A_s: the numerical dissipation (D < 0: energy is added)

The forces f are those at the end of the step for methods of order 1, which is where such methods balance them, contacts
and lagged friction as they were in the solve, and the mean of both ends for methods of higher order: the quadrature has
the order of the method. Equilibria (order 0) have no velocities, whatever was displaced per step: T = 0, inertia,
damping and friction do no work, and the forces are the mean of both ends, so that D vanishes with finer steps.
For backward Euler D has a closed form that needs no energy difference of the kinetic kind
(`backward_euler_dissipation`), so that the balance of a converged step can be audited: it is off by exactly the work of
the unsolved residual.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from pliant.abilities import able
from pliant.arrays import Array, IntArray
from pliant.certificate import Certificate
from pliant.closed_stage import motor_power
from pliant.forces.base import Force
from pliant.integrators.base import Booking
from pliant.state import State
from pliant.systems.base import Composed, Parted, Quadrature, System, distinct, parts_of
from pliant.systems.closures import Constrained
from pliant.systems.elastodynamics import Elastodynamics
from pliant.systems.observed import Exchanging, Pushing, Working
from pliant.systems.stepped import Contacting

Pair = tuple[str, str]
Vector = tuple[float, float, float]
NO_VECTOR: Vector = (float("nan"),) * 3
MOST_PAIRS = 132  # twelve parts: with more of them the columns of the ledger do not tell who worked on whom
CERTIFIED = (  # columns of the ledger that come from the certificate
    "converged", "residual", "iterations", "factorizations", "min_det", "contacts", "penetration", "distance",
    "substeps", "inner_h", "estimate", "accepted", "rejected", "seconds",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One row of the ledger: energies [J] after a step, work and dissipation [J] during it, momenta after it.

    ``energies`` has ``kinetic`` and every potential by name; ``work`` has ``scripts`` and every force by name (forces
    with the same name are summed); ``exchange`` has the work [J] done by one part on another, by their names.
    ``linear`` [kg m/s] and ``angular`` [kg m^2/s] (about the origin) are NaN for systems without a defined momentum.
    """

    step: int
    t: float
    energies: dict[str, float]
    work: dict[str, float] = field(default_factory=dict)
    numerical: float = 0.0
    linear: Vector = NO_VECTOR
    angular: Vector = NO_VECTOR
    exchange: dict[Pair, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """Kinetic plus all potential energy [J]."""
        return sum(self.energies.values())

    @property
    def scale(self) -> float:
        """The magnitude of the energies in the ledger [J], to which round-off and energy gains are compared."""
        return sum(abs(value) for value in self.energies.values()) + sum(abs(value) for value in self.work.values())

    def flat(self) -> dict[str, float]:
        """The columns of ``ledger.csv``."""
        names = columns(tuple(self.energies), tuple(self.work), tuple(self.exchange))
        ours = (self.numerical, *self.linear, *self.angular)
        values = (*self.energies.values(), *self.work.values(), *ours, *self.exchange.values())
        return dict(zip(names, (self.step, self.t, self.total, *values), strict=True))


def certified(c: Certificate) -> dict[str, float | None]:
    """The columns of the ledger that come from the certificate; what is unknown stays empty."""
    values = (c.residual, c.iterations, c.counts.factorizations, c.min_det, c.contacts, c.penetration, c.distance)
    converged = None if c.converged is None else int(c.converged)
    control = (c.inner_h, c.estimate, c.accepted, c.rejected)
    return dict(zip(CERTIFIED, (converged, *values, c.substeps, *control, c.seconds["step"]), strict=True))


@lru_cache(maxsize=64)
def columns(energies: tuple[str, ...], work: tuple[str, ...], exchange: tuple[Pair, ...]) -> tuple[str, ...]:
    """The names of the columns of a row: those that a body shares with another column are numbered."""
    ours = ["numerical", *(f"{momentum}_{axis}" for momentum in ("linear", "angular") for axis in "xyz")]
    fixed = ["step", "t", "total", *ours, *CERTIFIED, "work_scripts"]
    works = [f"work_{name}" for name in work if name != "scripts"]
    given = [*works, *energies, *(f"work_{a}_on_{b}" for a, b in exchange)]
    names = iter(distinct([*fixed, *given])[len(fixed) :])
    works = [next(names) if name != "scripts" else "work_scripts" for name in work]
    return ("step", "t", "total", *(next(names) for _ in energies), *works, *ours, *names)


def opening(step: int, system: System, state: State, integrator: Any = None) -> Row:
    """The row before the first step: energies and momenta, no work yet; ``integrator`` if it records ``works``."""
    state = _seen(state, integrator.order) if integrator is not None else state
    linear, angular = momenta(system, state)
    names = [_force_name(f) for f, _ in _forces(system)]
    names += system.works if able(system, Working) else ()
    names += integrator.works if able(integrator, Booking) else ()
    names += ["motors"] if able(system, Constrained) else []
    work = dict.fromkeys(["scripts", *names], 0.0)
    energies = {name: float(value) for name, value in system.energies(state.q, state.v, state.t).items()}
    pairs = system.pairs() if able(system, Exchanging) else ()
    exchange = dict.fromkeys(pairs if len(pairs) <= MOST_PAIRS else (), 0.0)
    return Row(step, state.t, energies, work, 0.0, linear, angular, exchange)


def entry(
    previous: Row,
    system: System,
    before: State,
    after: State,
    order: int,
    booked: Mapping[str, float] | None = None,
    exchanged: Mapping[Pair, float] | None = None,
    during: Any = None,
) -> Row:
    """The row for the step ``before`` -> ``after`` of an integrator of the given order.

    ``booked`` is the work that the integrator reports itself, ``exchanged`` the work between parts that it found;
    ``during`` is the system of its last stage, where the integrator returns it.
    """
    before, after = _seen(before, order), _seen(after, order)
    row = opening(previous.step + 1, system, after)
    end: Quadrature = ((after, 1.0),)
    weights = end if order == 1 else ((before, 0.5), (after, 0.5))
    dq = after.q - before.q if after.q.shape == before.q.shape else None
    last = system if during is None else during
    acting = last if order == 1 else system
    work = dict(row.work)
    if dq is not None:
        work |= _static_work(system, dq, weights) if order == 0 else _work(acting, before, after, dq, weights)
        work["scripts"] += acting.pushed(before, after, weights) if able(acting, Pushing) else 0.0
        _add(work, _powers(system, before, after, weights))
        if able(system, Constrained) and order > 0 and "motors" not in (booked or {}):  # explicit methods
            power = sum(w * motor_power(system, s.q, s.v, s.t) for s, w in weights)
            work["motors"] = (after.t - before.t) * power
    work = {**dict.fromkeys(previous.work, 0.0), **work}
    _add(work, booked or {})
    numerical = previous.total - row.total + sum(work.values())
    exchange = dict(row.exchange)
    if order == 0:
        acting, weights = last, end  # where nothing rubs
    if dq is not None and able(acting, Exchanging):
        exchange |= acting.exchanges(before, after, weights)
    for pair, done in (exchanged or {}).items():
        exchange[pair] = exchange.get(pair, 0.0) + float(done)
    return replace(row, work=work, numerical=numerical, exchange=exchange)


def combined(rows: Sequence[Row]) -> Row:
    """One row for several substeps: energies at their end, work and dissipation of all of them."""
    last = rows[-1]
    if len(rows) == 1:
        return last
    work = {name: sum(row.work.get(name, 0.0) for row in rows) for name in last.work}
    numerical = sum(row.numerical for row in rows)
    pairs = dict.fromkeys(pair for row in rows for pair in row.exchange)
    exchange = {pair: sum(row.exchange.get(pair, 0.0) for row in rows) for pair in pairs}
    return replace(last, step=rows[0].step, work=work, numerical=numerical, exchange=exchange)


def _work(system: System, before: State, after: State, dq: Array, weights: Quadrature) -> dict[str, float]:
    work = {"scripts": 0.0}
    for force, own in _forces(system):
        done = sum(w * float(dq[own] @ force.force(s.q[own], s.v[own], s.t)) for s, w in weights)
        _add(work, {_force_name(force): done})
    held = prescribed(system, len(dq))
    moved = held[dq[held] != 0.0]
    if len(moved):
        push = system.mass(after.q) @ (after.v - before.v) / (after.t - before.t)
        for s, w in weights:
            push = push - w * system.force(s.q, s.v, s.t)
        work["scripts"] = float(dq[moved] @ push[moved])
    return work


def _static_work(system: System, dq: Array, weights: Quadrature) -> dict[str, float]:
    """The same between equilibria, where nothing rubs or damps at contacts, nor has inertia."""
    work = {"scripts": 0.0}
    held = prescribed(system, len(dq))
    for s, w in weights:
        here = system.at(s, s.t, np.inf) if able(system, Contacting) else system
        for force, own in _forces(here):
            _add(work, {_force_name(force): w * float(dq[own] @ force.force(s.q[own], s.v[own], s.t))})
        if dq[held].any():
            work["scripts"] -= w * float(dq[held] @ here.force(s.q, s.v, s.t)[held])
    return work


def _add(work: dict[str, float], done: Mapping[str, float]) -> None:
    """Equal names are of one kind: the damping of vertices and that of joints."""
    for name, value in done.items():
        work[name] = work.get(name, 0.0) + float(value)


def _seen(state: State, order: int) -> State:
    """The state as the ledger sees it: an equilibrium (order 0) has no velocities."""
    return State(state.q, np.zeros_like(state.v), state.t) if order == 0 else state


def _forces(system: System) -> list[tuple[Force, slice]]:
    """The forces without a potential, of the parts and between them, with the coordinates they act on."""
    found = [(f, own) for part, own in parts_of(system) if able(part, Composed) for f in part.force_terms]
    return [*found, *((f, slice(None)) for f in system.between)] if able(system, Parted) else found


def _force_name(force: Force) -> str:
    """The name of a force in the ledger; "scripts" means something else there."""
    return distinct(("scripts", force.name))[1]


def _powers(system: System, before: State, after: State, weights: Quadrature) -> dict[str, float]:
    """The work of the forces of an articulated system, from their power; "drives" include muscles."""
    if not able(system, Working):
        return {}
    dt = after.t - before.t
    powers = [(w, system.power(s.q, s.v, s.t)) for s, w in weights]
    work = {name: dt * sum(w * power[name] for w, power in powers) for name in system.works}
    work["drives"] = work.get("drives", 0.0) + sum(
        w * system.switched(s.q, s.v, (before.t, after.t)) for s, w in weights
    )
    return work


def prescribed(system: System, N: int) -> IntArray:
    """Coordinates that are not solved for: pins and scripts."""
    held = np.ones_like(system.free, shape=N, dtype=bool)  # on the device where they are
    held[system.free] = False
    return np.flatnonzero(held)


def momenta(system: System, state: State) -> tuple[Vector, Vector]:
    """Linear and angular momentum about the origin."""
    linear, angular = system.momenta(state.q, state.v)
    return _vector(linear), _vector(angular)


def _vector(values: Any) -> Vector:
    x, y, z = (float(value) for value in values)
    return x, y, z


def backward_euler_dissipation(system: Elastodynamics, before: State, after: State) -> float:
    """What a backward Euler step dissipates: D = 1/2 dv^T M dv + W(q0) - W(q1) + grad W(q1) . dq.

    The first term is never negative, the others are the Bregman distance of W, never negative where W is convex.
    """
    dq, dv = after.q - before.q, after.v - before.v
    bregman = sum(e.value(before.q) - e.value(after.q) + float(e.gradient(after.q) @ dq) for e in system.energy_terms)
    return 0.5 * float(dv @ (system.mass(after.q) @ dv)) + bregman

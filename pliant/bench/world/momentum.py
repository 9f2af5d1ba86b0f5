"""world/momentum: a chain, a soft ball and a cloth collide with nothing around them: what becomes of their momentum.

What the coupling adds and what the methods do are told apart. Coupling: contact and friction forces between the parts
sum to zero and have no torque, measured on the forces that acted, at the points where they did. The
methods: in joint coordinates p = M(q) v is not what a step conserves, and backward Euler keeps no angular momentum even
of a single body. That falls with h, for the mixture as for its parts alone. Isolated scenes keep both.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.bench.table import Claim, Table
from pliant.bench.world.mixtures import TIGHT, collision, rigid_collision
from pliant.integrators import BDF1, BDF2, TRBDF2, ImplicitMidpoint, LinearlyImplicit
from pliant.ledger import momenta
from pliant.scene import Scene
from pliant.simulate import TimeStep, simulate
from pliant.state import State
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.penalty_contact import PenaltyContact
from pliant.systems.row_contact import RowContact

THICKNESS, DURATION = 1e-3, 0.024
NOTES = [
    "Parts of the momentum at the start, of that times the size of the scene for torques and angular momentum. Parts "
    "alone: what they do to their own momenta by themselves from where the collision has left them.",
    "sum, normal torque, friction torque: what the coupling adds. drift: all of it, the methods' own included, which "
    "the parts alone have too. Normals turn with the surfaces, slip is measured along directions that turn with the "
    "touched side, and the couple of friction over the gap lies on three vertices of it.",
    "isolated: the same scene with isolated=True, which puts the momenta back after every step by a rigid motion of "
    "everything; apart: how far that leads, part of the size of the scene.",
]


def _rows(mu: float) -> Any:
    return RowContact(mu=mu, thickness=THICKNESS)


def _penalty(mu: float) -> Any:
    return PenaltyContact(mu=mu, thickness=THICKNESS)


def _barrier(mu: float) -> Any:
    return BarrierContact(dhat=THICKNESS, mu=mu)


METHODS: dict[str, tuple[Callable[[float], Any], Any, float]] = {  # contact, integrator, order
    "velocity step, rows": (_rows, LinearlyImplicit(), 1.0),
    "velocity step, penalty": (_penalty, LinearlyImplicit(), 1.0),
    "BDF1, penalty": (_penalty, BDF1(TIGHT), 1.0),
    "BDF1, barrier": (_barrier, BDF1(TIGHT), 1.0),
    "BDF2, penalty": (_penalty, BDF2(TIGHT), 2.0),
    "TR-BDF2, penalty": (_penalty, TRBDF2(TIGHT), 2.0),
    "midpoint, penalty": (_penalty, ImplicitMidpoint(TIGHT), 2.0),
}


def run(*, quick: bool = False) -> Table:
    names = ["velocity step, rows", "BDF1, barrier", "BDF2, penalty"] if quick else list(METHODS)
    duration = 0.012 if quick else DURATION
    rows = [
        _row(name, mixture, mu, 1e-3, duration)
        for name in names
        for mixture in ("bar", "chain")
        for mu in ((0.3,) if quick else (0.0, 0.3))
    ]
    steps = (1e-3, 5e-4) if quick else (2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4)
    series = {name: [_row(name, "chain", 0.3, h, duration) for h in steps if h != 1e-3] for name in names}
    orders: list[tuple[str, Array, Array, Array]] = []
    for name, more in series.items():
        rows += more
        line = [r for r in rows if (r["method"], r["mixture"], r["mu"]) == (name, "chain", 0.3)]
        line.sort(key=lambda r: -r["h [ms]"])
        p, L, apart = (-np.diff(np.log2([r[key] for r in line])) for key in ("drift p", "drift L", "apart"))
        orders.append((name, p, L, apart))
    title = "Isolated mixtures: what becomes of their momentum"
    return Table("world/momentum", title, rows, _claims(rows, orders), NOTES)


def _converging(what: str, orders: tuple[Array, ...], expected: float) -> Claim:
    """Orders from one halving of h to the next.

    They rise to that of the method: where a tenth of the momentum drifts, as at the largest h, terms of all orders
    count, and one order fitted to all h is below that of the method, whatever the method.
    """
    told = "; ".join(", ".join(f"{x:.2f}" for x in each) for each in orders)
    good = all(each[-1] >= expected - 0.3 for each in orders)
    return Claim(what, f"{expected:.0f}, from the last halving", told, good)


def _claims(rows: list[dict[str, Any]], orders: list[tuple[str, Array, Array, Array]]) -> list[Claim]:
    worst = lambda key, chosen=lambda r: True: max(r[key] for r in rows if chosen(r))
    bar = worst("drift p", lambda r: r["mixture"] == "bar")
    met = min(r["pushed"] for r in rows)
    kept = max(worst("isolated: p"), worst("isolated: L"))
    claims = [
        Claim(
            "isolated scenes keep both momenta (all methods, with and without friction)",
            "1e-9",
            f"{kept:.1e}",
            kept <= 1e-9,
        ),
        Claim("they do collide (impulse of all contacts, part of the momentum)", "> 0.05", f"{met:.2g}", met > 0.05),
        Claim("coupling: contact and friction forces sum to zero", "1e-9", f"{worst('sum'):.1e}", worst("sum") <= 1e-9),
        Claim("without joint coordinates linear momentum stays (all methods)", "1e-9", f"{bar:.1e}", bar <= 1e-9),
    ]
    for kind in ("rows", "barrier", "penalty"):
        chosen = [r for r in rows if kind in r["method"]]
        for what in ("normal torque", "friction torque"):
            if chosen:
                most = max(r[what] for r in chosen)
                claims.append(Claim(f"coupling by {kind}: no {what}", "1e-9", f"{most:.1e}", most <= 1e-9))
    for name, linear, angular, apart in orders:
        expected = METHODS[name][2]
        what = f"joint coordinates, {name}: momenta converge (orders of p; of L)"
        claims.append(_converging(what, (linear, angular), expected))
        what = f"{name}: isolated or not, positions come together (orders)"
        claims.append(_converging(what, (apart,), expected))
    return claims


def _row(name: str, mixture: str, mu: float, h: float, duration: float) -> dict[str, Any]:
    contact, integrator, _ = METHODS[name]
    make = rigid_collision if mixture == "bar" else collision
    scene = make(contact(mu), integrator, h=h, duration=duration)
    system = scene.system()
    start = scene.initial(system)
    size = float(np.linalg.norm(np.ptp(system.positions(start.q), axis=0)))
    scale = float(np.linalg.norm(momenta(system, start)[0]))
    sums: dict[str, Array] = {"sum": np.zeros(3), "normal torque": np.zeros(3), "friction torque": np.zeros(3)}
    pushed = 0.0
    steps = list(simulate(scene))
    for acted in (step.acted for step in steps if step.acted is not None):  # None: nothing touches yet
        torques = acted.torques()
        for kind, f, torque in (
            ("normal torque", acted.contact, torques[0]),
            ("friction torque", acted.friction, torques[1]),
        ):
            sums["sum"] += h * f.sum(axis=0)
            sums[kind] += h * torque
            pushed += 0.5 * h * float(np.linalg.norm(f, axis=1).sum())
    kept = list(simulate(replace(scene, isolated=True)))
    (drift_p, drift_L), (kept_p, kept_L) = (_drift(momenta(system, start), run) for run in (steps, kept))
    before, beside = steps[-1].state, kept[-1].state
    apart = float(np.abs(system.positions(before.q) - system.positions(beside.q)).max())
    alone_p, alone_L = _alone(scene, system, before)
    return {
        "method": name,
        "mixture": mixture,
        "mu": mu,
        "h [ms]": 1e3 * h,
        "pushed": pushed / scale,
        "sum": float(np.linalg.norm(sums["sum"])) / scale,
        "normal torque": float(np.linalg.norm(sums["normal torque"])) / (scale * size),
        "friction torque": float(np.linalg.norm(sums["friction torque"])) / (scale * size),
        "drift p": drift_p / scale,
        "drift L": drift_L / (scale * size),
        "isolated: p": kept_p / scale,
        "isolated: L": kept_L / (scale * size),
        "apart": apart / size,
        "parts alone: p": alone_p / scale,
        "parts alone: L": alone_L / (scale * size),
    }


def _drift(start: Any, steps: list[TimeStep]) -> tuple[float, float]:
    """The largest changes of linear and angular momentum since the start."""
    changes = [np.subtract((step.ledger.linear, step.ledger.angular), start) for step in steps]
    p, L = np.linalg.norm(changes, axis=2).max(axis=0)
    return float(p), float(L)


def _alone(scene: Scene, system: Any, state: State) -> tuple[float, float]:
    """What the parts do to their own momenta in as many steps by themselves, from where the collision has left them."""
    drift_p, drift_L, method = np.zeros(3), np.zeros(3), scene.integrator
    for part, own in zip(system.parts, system.slices, strict=True):
        here = State(state.q[own], state.v[own], state.t)
        first, memory = part.momenta(here.q, here.v), None
        for _ in range(scene.steps):
            step = method.step(part, here, float(scene.h), memory)
            here, memory = step.state, step.memory
        last = part.momenta(here.q, here.v)
        drift_p, drift_L = drift_p + last[0] - first[0], drift_L + last[1] - first[1]
    return float(np.linalg.norm(drift_p)), float(np.linalg.norm(drift_L))

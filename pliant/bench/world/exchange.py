"""world/exchange: the work of bodies on each other in mixed scenes, and whether their energy balance closes.

A contact between a and b does work on both. Added up, that is its force times the relative way of the two sides: what
the contact has not stored and rubbing has not taken is exchanged, what a loses b gains. The sum is compared with forces
that come from the gradients of the contact energies, over the points and through the joints of the whole system.
"""

from typing import Any

import numpy as np

from pliant.bench.table import Claim, Table
from pliant.bench.world.mixtures import TIGHT, collision, rigid_collision
from pliant.integrators import BDF1, BDF2, LinearlyImplicit
from pliant.simulate import simulate
from pliant.state import State
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.penalty_contact import PenaltyContact
from pliant.systems.row_contact import RowContact
from pliant.velocity_step import Linearisation, solve_block

CONTACTS: dict[str, Any] = {
    "penalty": PenaltyContact(mu=0.0, thickness=1e-3),
    "penalty, friction": PenaltyContact(mu=0.3, thickness=1e-3),
    "penalty, friction, damping": PenaltyContact(mu=0.3, damping=0.2, thickness=1e-3),
    "barrier, friction": BarrierContact(dhat=1e-3, mu=0.3),
    "rows, friction": RowContact(mu=0.3, thickness=1e-3),
}

NOTES = [
    "sum apart: |W_ab + W_ba - f . dx| of all pairs, largest of all steps, part of the work |f||dx| of the step. Both "
    "use the contacts and the friction of the stage, as the ledger does; those of the ends of steps for BDF2. Rows: "
    "against the impulses times the rates of the rows over the velocities of joints.",
    "Orders 1 and 2 come late. An ideal impact is a jump of velocities: its modes "
    "have energies in proportion to 1/w^2 (assumed, not measured here). In a time T, BDF1 takes "
    "1 - exp(-w^2 h T) of a mode, BDF2 1 - exp(-w^4 h^3 T / 2); of all modes together that is a part in proportion to "
    "h^(1/2) and h^(3/4), until h resolves the fastest mode that mesh and contact have: then h and h^3. So orders rise "
    "with every halving, from 1/2 and 3/4 on.",
]


def run(*, quick: bool = False) -> Table:
    duration = 0.012 if quick else 0.024
    rows = []
    for mixture in ("chain",) if quick else ("bar", "chain"):
        for name in ("penalty, friction", "barrier, friction", "rows, friction") if quick else CONTACTS:
            integrator = LinearlyImplicit() if "rows" in name else BDF1(TIGHT)
            rows.append(_row(mixture, name, integrator, 1e-3, duration))
    steps = (1e-3, 5e-4) if quick else tuple(1e-3 / 2**k for k in range(7))
    series = {
        (mixture, method.order): [_row(mixture, "penalty", method, h, duration) for h in steps]
        for mixture in (("chain",) if quick else ("bar", "chain"))
        for method in (BDF1(TIGHT), BDF2(TIGHT))
    }
    rows += [row for more in series.values() for row in more]
    apart, least = max(r["sum apart"] for r in rows), min(r["exchanged"] for r in rows)
    claims = [
        Claim("they do exchange energy (part of all)", "> 0.01", f"{least:.2g}", least > 0.01),
        Claim("works of both sides against forces times relative displacements", "1e-8", f"{apart:.1e}", apart <= 1e-8),
    ]
    claims += [_falling(mixture, order, [r["numerical"] for r in more]) for (mixture, order), more in series.items()]
    return Table("world/exchange", "Work between the parts of mixtures", rows, claims, NOTES)


def _falling(mixture: str, order: int, losses: list[float]) -> Claim:
    """How what the integrator took falls with every halving of h; one that changes its sign has no order."""
    what = f"{mixture}, order {order}: numerical dissipation falls with h (orders from halving to halving)"
    expected = f">= {order} - 0.3 in the last"
    if min(losses) <= 0.0:
        return Claim(what, expected, f"none: it changes sign ({losses[-1]:.1e} at the smallest h)", False)
    orders = np.log2(np.array(losses[:-1]) / np.array(losses[1:]))
    return Claim(what, expected, ", ".join(f"{x:.2f}" for x in orders), float(orders[-1]) > order - 0.3)


def _row(mixture: str, contact: str, integrator: Any, h: float, duration: float) -> dict[str, Any]:
    make = rigid_collision if mixture == "bar" else collision
    scene = make(CONTACTS[contact], integrator, h=h, duration=duration)
    system = scene.system()
    before, memory = scene.initial(system), None
    apart = exchanged = lost = 0.0
    weights = 1.0 if integrator.order <= 1 else 0.5  # of the end of a step in the books
    scale = float(sum(system.energies(before.q, before.v, 0.0).values()))
    for step in simulate(scene):
        after = step.state
        x, y = (system.touchable.lift(s.q) for s in (before, after))
        done = size = 0.0
        for s, weight in ((after, weights), (before, 1.0 - weights)):
            if weight == 0.0 or isinstance(scene.contact, RowContact):
                continue
            placed = step.acted.during if integrator.order == 1 else system.at(s, s.t)
            at = placed.touched(s)
            pushes = [-e.energy.gradient(at.q) for e in placed.energy_terms]
            f = sum(pushes, np.zeros_like(x)) + sum(t.inner.force(at.q, at.v, s.t) for t in placed.force_terms)
            done, size = done + weight * float(f @ (y - x)), size + weight * float(np.abs(f * (y - x)).sum())
        if isinstance(scene.contact, RowContact):
            done, size = _by_rows(system, before, h, memory)
        booked = step.ledger.exchange
        apart = max(apart, abs(sum(booked.values()) - done) / max(size, 1e-6 * scale))
        exchanged += sum(max(value, 0.0) for value in booked.values())
        lost += step.ledger.numerical
        before, memory = after, step.memory
    return {
        "mixture": mixture,
        "contact": contact,
        "method": type(integrator).__name__,
        "h [ms]": 1e3 * h,
        "exchanged": exchanged / scale,
        "sum apart": apart,
        "numerical": lost / scale,
    }


def _by_rows(system: Any, before: State, h: float, memory: Any) -> tuple[float, float]:
    """Impulses of contact times the rates of their rows, over the velocities of all parts; and its size [J]."""
    part, solver = (None, None) if memory is None else (memory.part, memory.solver)
    prepared = system.prepare(before, h, part, Linearisation())
    found, block, count = solve_block(prepared.block, memory=solver), prepared.block, len(prepared.touches.contacts)
    each = found.inequality[-count:] * (block.inequality[0] @ found.u)[-count:] if count else np.zeros(0)
    rubbed = found.friction * (block.slip.T @ found.u) if len(found.friction) else np.zeros(0)
    return float(each.sum() + rubbed.sum()), float(np.abs(each).sum() + np.abs(rubbed).sum())

"""runs/ledger: where the energy of a swinging bar goes, per integrator; the columns add up, and two are audited."""

from dataclasses import replace
from typing import Any

from pliant.bench.table import Claim, Table
from pliant.integrators import BDF1, BDF2, SDIRK2, ImplicitMidpoint, LinearlyImplicit
from pliant.ledger import backward_euler_dissipation, opening
from pliant.scenes.basic import swinging_bar
from pliant.simulate import simulate
from pliant.solvers import Newton, Tolerance

TIGHT = Newton(tolerance=Tolerance(1e-11, 1e-13))
METHODS: tuple[Any, ...] = (BDF1(TIGHT), BDF2(TIGHT), SDIRK2(TIGHT), ImplicitMidpoint(TIGHT), LinearlyImplicit())


def run(*, quick: bool = False) -> Table:
    rows, audits = [], []
    for damping in (0.0, 2e-3):
        for method in METHODS:
            row, audit = account(method, damping, 0.2 if quick else 1.0)
            rows.append(row)
            if isinstance(audit, float):
                audits.append(audit)
    balance = max(abs(row["balance"]) for row in rows)
    free = {row["integrator"]: row["numerical"] for row in rows if row["beta"] == 0.0}
    claims = [
        Claim("columns add up, relative", "<= 1e-9", f"{balance:.1e}", balance <= 1e-9),
        Claim(
            "BDF1: remainder = closed form, relative, worst step", "<= 1e-9", f"{max(audits):.1e}", max(audits) <= 1e-9
        ),
        Claim(
            "numerical dissipation of the undamped bar [J]",
            "|midpoint|, |SDIRK2| < BDF2 < BDF1",
            " / ".join(f"{free[name]:.2g}" for name in ("ImplicitMidpoint", "SDIRK2", "BDF2", "BDF1")),
            max(abs(free["ImplicitMidpoint"]), abs(free["SDIRK2"])) < free["BDF2"] < free["BDF1"],
        ),
    ]
    notes = ["energies in J at the end; work and numerical dissipation in J over the run; start is the rest state"]
    return Table("runs/ledger", "a bar swings for one second, h = 10 ms", rows, claims, notes)


def account(method: Any, damping: float, duration: float) -> tuple[dict[str, Any], float | None]:
    """One line of the table, and for BDF1 the worst relative difference between remainder and closed form."""
    scene = replace(swinging_bar(damping=damping), integrator=method, duration=duration)
    system = scene.system()
    before = scene.initial(system)
    start = opening(0, system, before)
    work, numerical, audit = 0.0, 0.0, 0.0
    for step in simulate(scene):
        closed = backward_euler_dissipation(system, before, step.state)
        audit = max(audit, abs(closed - step.ledger.numerical) / step.ledger.scale)
        work += step.ledger.work.get("damping", 0.0)
        numerical += step.ledger.numerical
        before, end = step.state, step.ledger
    changes = {name: end.energies[name] - start.energies[name] for name in end.energies}
    row = {
        "integrator": type(method).__name__,
        "beta": damping,
        **{f"d {name}": value for name, value in changes.items()},
        "damping": work,
        "numerical": numerical,
        "balance": (sum(changes.values()) - work + numerical) / end.scale,
    }
    return row, audit if type(method) is BDF1 else None

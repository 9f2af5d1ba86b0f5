"""trust/soak: a hundred thousand steps with contact: the energy balance closes, memory does not grow.

A soft block bounces and slides on a floor that shakes for a hundred thousand steps. The energies, momenta and works of
the ledger are added up with arithmetic of our own: what came in by the floor and by gravity must be what is there or
was taken, step by step and over all of them, and the resident memory must not grow once everything is loaded.
"""

from collections.abc import Iterator
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np

import pliant as pl
from pliant.bench.table import Claim, Plot, Table
from pliant.mesh import Mesh, bar
from pliant.simulate import TimeStep, simulate
from pliant.testing.audit import Audit

STEPS, ROWS, AUDITED = 100_000, 20, 50
GROWTH = 2.0  # MiB: the garbage of the interpreter comes and goes


def run(*, quick: bool = False) -> Table:
    steps = 400 if quick else STEPS
    scene = shaken(steps)
    audit = Audit(scene)
    rows: list[dict[str, Any]] = []
    numerical, works = np.full((2, steps + 1), 0.0)  # all of it now: lists would grow with the steps
    worst, failed, gained, first, last, touched = 0.0, 0, 0.0, None, None, 0
    size = apart = 0.0
    for step in simulate(scene):
        row = step.ledger
        total = fsum(row.energies.values())
        first = (total, row) if first is None else first
        if last is not None:
            done = fsum(row.work.values())
            size = max(size, fsum(abs(v) for v in (*row.energies.values(), *row.work.values())))
            worst = max(worst, abs(last - total + done - row.numerical) / size)
            numerical[step.index], works[step.index] = row.numerical, done
            gained = max(gained, -row.numerical / size)
        last = total
        failed += step.report.converged is not True
        touched += bool(step.report.contacts)
        if step.index % AUDITED == 0:
            apart = max(apart, audited(audit, step) / size)
        if step.index % (steps // ROWS) == 0:
            rows.append(measured(step, total, fsum(numerical)))
    assert first is not None and last is not None
    balance = abs(first[0] - last + fsum(works) - fsum(numerical)) / size
    grown = max(row["memory [MiB]"] for row in rows[ROWS // 4 :]) - rows[ROWS // 4]["memory [MiB]"]
    least = min(row["height [m]"] for row in rows)
    claims = [
        Claim("steps", "100,000", f"{steps:,}", steps >= STEPS or quick),
        Claim("steps that are not certified", "0", str(failed), failed == 0),
        Claim("steps with contact", "> 10 %", f"{touched / steps:.0%}", touched > 0.1 * steps),
        Claim("every row of the ledger balances (relative)", "<= 1e-12", f"{worst:.1e}", worst <= 1e-12),
        Claim("all of them together balance (of their size)", "<= 1e-9", f"{balance:.1e}", balance <= 1e-9),
        Claim("energies computed anew (of their size)", "<= 1e-9", f"{apart:.1e}", apart <= 1e-9),
        Claim("energy that a step creates (of their size)", "<= 5e-2", f"{gained:.1e}", gained <= 5e-2),
        Claim("memory grows by [MiB]", f"<= {GROWTH:g}", f"{grown:.1f}", grown <= GROWTH),
        Claim("it is still on the floor", "> -1 cm", f"{least:.2g} m", least > -0.01),
    ]
    plot = Plot("step", "memory [MiB]")
    return Table("trust/soak", "A hundred thousand steps with contact", rows, claims, plot=plot)


def audited(audit: Audit, step: TimeStep) -> float:
    """By how much the ledger's energies of the body [J] differ from those by arithmetic of our own."""
    x, v = step.state.q.reshape(-1, 3), step.state.v.reshape(-1, 3)
    said = step.ledger.energies
    return abs(audit.energy(x, v)[0] - fsum(said[name] for name in ("kinetic", "elastic", "gravity")))


def measured(step: TimeStep, total: float, taken: float) -> dict[str, Any]:
    x = step.state.q.reshape(-1, 3)
    return {
        "step": step.index,
        "t [s]": step.state.t,
        "energy [J]": total,
        "dissipated [J]": taken,
        "height [m]": float(np.min(x[:, 2])) - _floor(step.state.t),
        "contacts": step.report.contacts,
        "memory [MiB]": resident(),
    }


def shaken(steps: int) -> pl.Scene:
    """A block of six tetrahedra on a floor that goes up and down."""
    mesh = bar(size=(0.1, 0.1, 0.1), cells=(1, 1, 1))
    body = pl.Solid(
        Mesh(mesh.X + np.array([0.0, 0.0, 0.01]), mesh.T),
        pl.StableNeoHookean(E=2e4, nu=0.3),
        density=1000.0,
        velocity=(0.2, 0.1, 0.0),
        damping=pl.Rayleigh(alpha=0.5),
    )
    floor = pl.Plane(motion=pl.Shake((0.0, 0.0, 0.01), 4.0))
    return pl.Scene(
        bodies=[body],
        obstacles=[floor],
        contact=pl.PenaltyContact(mu=0.3),
        integrator=pl.LinearlyImplicit(),
        h=2e-3,
        duration=2e-3 * steps,
    )


def _floor(t: float) -> float:
    return 0.01 * float(np.sin(2.0 * np.pi * 4.0 * t))


def resident() -> float:
    """The memory of this process [MiB]."""
    for name, value in _status():
        if name == "VmRSS":
            return float(value.split()[0]) / 1024.0
    return float("nan")


def _status() -> Iterator[tuple[str, str]]:
    path = Path("/proc/self/status")
    for line in path.read_text(encoding="ascii").splitlines() if path.is_file() else ():
        name, _, value = line.partition(":")
        yield name, value

"""What penalty contact adds to steps on a GPU: a bar falls onto another, both onto a floor, with friction."""

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from pliant.bench.gpu.bars import H, seconds, told
from pliant.bench.table import Claim, Table
from pliant.bodies import Solid
from pliant.contact.obstacles import Plane
from pliant.cuda.contact import add_touching
from pliant.cuda.device import arrays, name, synchronized, to_device
from pliant.cuda.system import on_device
from pliant.integrators import BDF1
from pliant.materials import StableNeoHookean
from pliant.mesh import bar
from pliant.scene import Scene
from pliant.state import Counts, State
from pliant.systems.penalty_contact import PenaltyContact

SIZES = {"50k": (28, 14, 11), "1M": (74, 37, 30)}  # cells of each of the two bars
STEPS, TIMED = 8, 4


def stacked(cells: tuple[int, int, int]) -> Scene:
    """Bars of 0.5 x 0.25 x 0.25 m, E = 1 MPa, the upper one turned and shifted, 1 mm apart, that fall at 1 m/s."""
    low = bar(size=(0.5, 0.25, 0.25), cells=cells)
    x = low.X - low.X.mean(axis=0)
    turned = np.column_stack(
        [np.cos(0.3) * x[:, 0] - np.sin(0.3) * x[:, 1], np.sin(0.3) * x[:, 0] + np.cos(0.3) * x[:, 1]]
    )
    high = replace(low, X=np.column_stack([turned, x[:, 2] + 0.251]))
    bodies = [
        Solid(replace(low, X=x), StableNeoHookean(1e6, 0.4), name="lower", velocity=(0.0, 0.0, -1.0)),
        Solid(high, StableNeoHookean(1e6, 0.4), name="upper", velocity=(0.3, 0.0, -1.0)),
    ]
    floor = Plane((0.0, 0.0, float(x[:, 2].min()) - 1e-3))
    return Scene(bodies, contact=PenaltyContact(mu=0.3), obstacles=[floor], h=0.5 * H)


def parts(device: Any, state: State, h: float) -> dict[str, float]:
    """Wall time [ms] of finding contacts, of their energy, force and matrix blocks, of the matrix of the elements."""
    terms = device.contact.at(state, state.t + h, h)
    stage, t, weights = device.at(state, state.t + h, h), state.t + h, (1.0, h, h * h)
    touching, q, v = (*terms.energies, *terms.forces), state.q, state.v
    values = arrays().zeros(device._rows.size)
    pairs = terms.energies[0].meeting.pairs
    return {
        "pairs": 0 if pairs is None else pairs.count,
        "find_ms": 1e3 * seconds(lambda: device.contact.at(state, state.t + h, h)),
        "energy_ms": 1e3 * seconds(lambda: [terms.energies[0].value(q), *(f.dissipation(q, v) for f in terms.forces)]),
        "force_ms": 1e3 * seconds(lambda: [terms.energies[0].gradient(q), *(f.force(q, v, t) for f in terms.forces)]),
        "blocks_ms": 1e3 * seconds(lambda: add_touching(touching, q, v, weights, True, values)),
        "matrix_ms": 1e3 * seconds(lambda: stage.tangent(q, v, t, weights)),
    }


def measured(size: str) -> dict[str, Any]:
    """Steps into the impact; the parts of the last."""
    scene, h = stacked(SIZES[size]), 0.5 * H
    host = scene.system()
    device: Any = on_device(host)
    start, method = scene.initial(host), BDF1()
    state = before = State(to_device(start.q), to_device(start.v))
    memory, good, spent = None, True, 0.0
    counts, newton = Counts(), 0
    for k in range(STEPS):
        synchronized()
        begun = perf_counter()
        step = method.step(device, state, h, memory)
        synchronized()
        if k >= STEPS - TIMED:
            spent += (perf_counter() - begun) / TIMED
            newton += sum(report.iterations for report in step.reports)
            counts = sum((report.counts for report in step.reports), counts)
        before, state, memory = state, step.state, step.memory
        good &= all(report.converged for report in step.reports)
    touch = device.contacts(state.q, state.v, state.t)
    found = parts(device, before, h)
    often = counts.forces / TIMED * (found["force_ms"] + found["energy_ms"]) + counts.fills / TIMED * found["blocks_ms"]
    row = {"size": size, "tets": sum(map(len, host.cells())), "contacts": len(touch), **found}
    row |= {"newton": newton / TIMED, "pcg": counts.inner / TIMED, "step_s": spent}
    row |= {"share": 1e-3 * (found["find_ms"] + often) / spent, "good": good}
    return told({**row, "depth_mm": 1e3 * max(0.0, -float(np.min(touch.gaps, initial=0.0)))})


def run(*, quick: bool = False) -> Table:
    arrays()
    rows = [measured(size) for size in (["50k"] if quick else SIZES)]
    claims = []
    for row in rows:
        sound = row["good"] and row["contacts"] > 0 and row["pairs"] > 0
        what = f"{row['size']}: every step converged, with contacts of both kinds"
        claims.append(Claim(what, "yes", f"{row['contacts']} contacts, {row['pairs']} pairs", sound))
        share = row["share"]
        claims.append(
            Claim(f"{row['size']}: share of contact in a step", "<= 25 %", f"{100 * share:.0f} %", share <= 0.25)
        )
    notes = [
        f"Device: {name()}. Two bars of E = 1 MPa, BDF1, h = {0.5 * H:g} s, mu = 0.3; means of {TIMED} steps after the "
        "impact. find: grid, pairs, ways into the floor, normal forces of lagged friction. share: one search, "
        "energy and force as often as residuals, blocks as often as matrices are made, by the time of a step."
    ]
    return Table("gpu/contact", "Penalty contact in steps on a GPU", rows, claims, notes)

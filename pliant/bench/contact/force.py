"""contact/force: the reported contact forces of a step sum to m a - m g, and to zero for every pair.

Blocks fall onto each other and onto a floor from random places with random velocities. What every step tells
(`TimeStep.acted`) is compared with the change of every body's momentum, which knows nothing of contacts.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.articulated import Rigid
from pliant.attempt import StepFailed
from pliant.bench.table import Claim, Table
from pliant.bench.world.mixtures import TIGHT
from pliant.bodies import Solid
from pliant.contact.obstacles import Plane
from pliant.integrators import BDF1, BDF2, SDIRK2, TRBDF2, LinearlyImplicit
from pliant.materials import StableNeoHookean
from pliant.mesh import box
from pliant.scene import Scene
from pliant.simulate import TimeStep, simulate
from pliant.state import State
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.base import parts_of
from pliant.systems.penalty_contact import PenaltyContact
from pliant.systems.row_contact import RowContact

G, H = 9.81, 5e-3
METHODS: dict[str, tuple[Callable[[], Any], Any]] = {
    "penalty, BDF1": (lambda: PenaltyContact(mu=0.4, damping=0.2), BDF1(TIGHT)),
    "lagged penalty, BDF1": (lambda: PenaltyContact(mu=0.4, lagged=True), BDF1(TIGHT)),
    "barrier, BDF1": (lambda: BarrierContact(mu=0.4), BDF1(TIGHT)),
    "lagged penalty, BDF2": (lambda: PenaltyContact(mu=0.4), BDF2(TIGHT)),
    "lagged penalty, SDIRK2": (lambda: PenaltyContact(mu=0.4), SDIRK2(TIGHT)),
    "lagged penalty, TRBDF2": (lambda: PenaltyContact(mu=0.4), TRBDF2(TIGHT)),
    "barrier, BDF2": (lambda: BarrierContact(mu=0.4), BDF2(TIGHT)),
    "barrier, SDIRK2": (lambda: BarrierContact(mu=0.4), SDIRK2(TIGHT)),
    "barrier, TRBDF2": (lambda: BarrierContact(mu=0.4), TRBDF2(TIGHT)),
    "penalty, velocity step": (lambda: PenaltyContact(mu=0.4), LinearlyImplicit()),
    "rows, velocity step": (lambda: RowContact(mu=0.4), LinearlyImplicit()),
}
NOTES = [
    "error: largest difference between the reported forces and m (a - g), over all bodies and steps, relative to the "
    "sum of the sizes of all contact forces and weights of the step. a: change of velocity over h, of BDF2 by its "
    "formula; two-stage methods report the mean of their forces. detected anew: the same for contacts looked for where "
    "the step ends, as records used to. reaction: |f_ab + f_ba| of all pairs.",
]


def run(*, quick: bool = False) -> Table:
    seeds, steps = (1, 10) if quick else (5, 40)
    rows = []
    for name, (contact, method) in METHODS.items():
        for kind in ("soft", "soft and rigid"):
            rows.append(_row(name, kind, contact, method, seeds if kind == "soft" else max(seeds // 2, 1), steps))
    worst = max(r["error"] for r in rows)
    back = max(r["reaction"] for r in rows if r["reaction"] is not None)
    least = min(r["contacts"] for r in rows)
    count = sum(r["steps"] for r in rows)
    claims = [
        Claim("they do touch (contact force, part of the weight)", "> 0.1", f"{least:.2g}", least > 0.1),
        Claim(f"reported forces are m (a - g), {count} steps", "1e-6", f"{worst:.1e}", worst <= 1e-6),
        Claim("runs that stopped", "0", str(sum(r["failed"] for r in rows)), not any(r["failed"] for r in rows)),
        Claim("action is reaction", "1e-12", f"{back:.1e}", back <= 1e-12),
    ]
    return Table("contact/force", "Contact forces that a step tells against what they did", rows, claims, NOTES)


def scene(kind: str, contact: Any, method: Any, seed: int, steps: int) -> Scene:
    """Two blocks one above the other, another one beside them."""
    rng = np.random.default_rng(seed)
    bodies: list[Any] = []
    for k in range(3):
        side = rng.uniform(0.08, 0.12, 3)
        place = (0.14 * (k == 2) + rng.uniform(0.0, 0.02), rng.uniform(0.0, 0.04), 0.001 + 0.125 * (k == 1))
        v = (float(rng.uniform(-0.5, 0.5)), float(rng.uniform(-0.5, 0.5)), -1.0 if k == 1 else -0.2)
        if kind != "soft" and k == 1:
            mesh = box((float(side[0]), float(side[1]), float(side[2])), (1, 1, 1)).transformed(translate=place)
            bodies.append(Rigid(mesh, 600.0, velocity=v, name=f"body {k}"))
            continue
        mesh = box((float(side[0]), float(side[1]), float(side[2])), (2, 2, 2)).transformed(translate=place)
        bodies.append(Solid(mesh, StableNeoHookean(1e5, 0.4), density=600.0, velocity=v, name=f"body {k}"))
    floor = [Plane(name="floor")]
    return Scene(bodies, contact=contact, obstacles=floor, integrator=method, h=H, duration=steps * H)


def _row(name: str, kind: str, contact: Callable[[], Any], method: Any, seeds: int, steps: int) -> dict[str, Any]:
    error = anew = back = pushed = 0.0
    known, count, failed = True, 0, 0
    for seed in range(seeds):
        world = scene(kind, contact(), method, seed, steps)
        system = world.system()
        momenta = [_momenta(system, world.initial(system))]
        for step in _steps(world):
            if step is None:
                failed += 1
                break
            count += 1
            bodies = _bodies(system)
            acted = step.acted.contact + step.acted.friction
            momenta.append(_momenta(system, step.state))
            push = rate(method, momenta)
            weight = _masses(system)[:, None] * np.array([0.0, 0.0, -G])
            told = np.stack([acted[rows].sum(axis=0) for rows in bodies])
            size = float(np.abs(acted).sum() + np.abs(weight).sum())
            error = max(error, float(np.abs(told - (push - weight)).max()) / size)
            pushed = max(pushed, float(np.abs(acted).sum() / np.abs(weight).sum()))
            found = _detected(system, step.state)
            if found is not None:
                told = np.stack([found[rows].sum(axis=0) for rows in bodies])
                anew = max(anew, float(np.abs(told - (push - weight)).max()) / size)
            pairs = step.acted.pairs
            known = known and pairs is not None
            for (a, b), f in (pairs or {}).items():
                back = max(back, float(np.abs(f + pairs[b, a]).max()) / size)
    return {
        "contact": name,
        "bodies": kind,
        "steps": count,
        "failed": failed,
        "contacts": pushed,
        "error": error,
        "detected anew": anew if anew else None,
        "reaction": back if known else None,
    }


def rate(method: Any, values: list[Array]) -> Array:
    """How fast something changes at the end of the last of several steps, as the method has it.

    Of BDF2 by its own formula, once it has begun (with a step of SDIRK2); of others the mean over the step.
    """
    if isinstance(method, BDF2) and len(values) > 2:
        return (3.0 * values[-1] - 4.0 * values[-2] + values[-3]) / (2.0 * H)
    return (values[-1] - values[-2]) / H


def _steps(world: Scene) -> Iterator[TimeStep | None]:
    """The steps of a run, and None at its end if it stopped before."""
    try:
        yield from simulate(world)
    except StepFailed:
        yield None


def _bodies(system: Any) -> list[Array]:
    """The rows of the points of every deformable body, and of all rigid ones together, part by part."""
    counts: list[int] = []
    for part, _ in parts_of(system):
        sizes = [len(np.unique(cells)) for cells in part.cells()]
        counts += sizes if part.symmetric else [sum(sizes)]
    return np.split(np.arange(sum(counts)), np.cumsum(counts)[:-1])


def _masses(system: Any) -> Array:
    """Mass of every body [kg], in the order of their points."""
    found: list[float] = []
    for part, _ in parts_of(system):
        if part.symmetric:
            mass, first = part.nodal_mass[::3], 0
            for cells in part.cells():
                n = len(np.unique(cells))
                found.append(float(mass[first : first + n].sum()))
                first += n
        else:
            found.append(part.total_mass)
    return np.array(found)


def _momenta(system: Any, state: State) -> Array:
    """Linear momentum of every body (b, 3) [kg m/s]."""
    found: list[Array] = []
    for part, own in parts_of(system):
        if part.symmetric:
            p, first = (part.nodal_mass * state.v[own]).reshape(-1, 3), 0
            for cells in part.cells():
                n = len(np.unique(cells))
                found.append(p[first : first + n].sum(axis=0))
                first += n
        else:
            found.append(part.momenta(state.q[own], state.v[own])[0])
    return np.stack(found)


def _detected(system: Any, state: State) -> Array | None:
    """Forces (p, 3) of contacts that are looked for at a state."""
    acted = system.at(state, state.t).acting(state.q, state.v, state.t)
    return None if acted is None or not acted.contact.any() else acted.contact + acted.friction

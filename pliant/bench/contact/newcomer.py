"""contact/newcomer: simple scenes with nothing set that a default exists for; all finish, and stand as they should.

Every setup of `pliant.scenes.contact_newcomer` runs with both contact models, several integrators and step sizes. A
body that has come to rest is carried by its contacts: the forces that acted on it in the last fifth of the run, on
average, are its weight.
"""

from time import process_time
from typing import Any

import numpy as np

from pliant.articulated.body import Rigid
from pliant.bench.table import Claim, Table
from pliant.errors import PliantError
from pliant.integrators import BDF1, BDF2, TRBDF2
from pliant.scene import Scene
from pliant.scenes.contact_newcomer import SETUPS, newcomer
from pliant.simulate import simulate
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.observed import Barring, Grained
from pliant.systems.penalty_contact import PenaltyContact

G, DURATION, WATCHED = 9.81, 0.3, 0.1  # m/s^2, s, s
STILL = 2e-3  # of G times the time watched: as fast as what rests may move
MODELS: dict[str, Any] = {"penalty": PenaltyContact, "barrier": BarrierContact}
METHODS: tuple[tuple[Any, float], ...] = ((BDF1, 5e-3), (BDF2, 1e-2), (TRBDF2, 1e-2))
NOTES = [
    "depth: deepest penetration of the run over the mean edge of the finest mesh. crossings: edges through triangles "
    "and vertices outside containers, where the contact can tell, in every tenth step. force: the mean force of all "
    "contacts on a body over its weight in the last 0.1 s, of the body where that is farthest from 1; '-' where "
    "something still moves by more than 2 mm/s. alarms: in how many steps, of any kind. CPU: of the whole run.",
]


def run(*, quick: bool = False) -> Table:
    setups = ["ball on block", "rigid stack", "cloth on ball"] if quick else list(SETUPS)
    methods = METHODS[:1] if quick else METHODS
    rows = [
        _row(setup, model, method, h, 0.1 if quick else DURATION)
        for setup in setups
        for model in MODELS
        for method, h in methods
    ]
    return Table("contact/newcomer", "Simple scenes with default contact", rows, _claims(rows, quick), NOTES)


def _claims(rows: list[dict[str, Any]], quick: bool) -> list[Claim]:
    done = [r for r in rows if r["ends"] == "yes"]
    deep = max((r["depth"] for r in done if r["contact"] == "penalty"), default=np.nan)
    crossed = sum(r["crossings"] for r in done if r["contact"] == "barrier")
    rests = [r["force / weight"] for r in done if r["force / weight"] != "-"]
    off = max((abs(f - 1.0) for f in rests), default=np.nan)
    wanted = 6 if quick else 100
    return [
        Claim("scenes", f">= {wanted}", f"{len(rows)}", len(rows) >= wanted),
        Claim("every one finishes", f"{len(rows)}", f"{len(done)}", len(done) == len(rows)),
        Claim("barrier: crossings", "0", f"{crossed}", crossed == 0),
        Claim("penalty: penetration in parts of the edges", "<= 0.05", f"{deep:.3f}", deep <= 0.05),
        Claim(f"forces on what rests ({len(rests)} scenes) = weight within", "1 %", f"{100.0 * off:.2g} %", off < 0.01),
    ]


def _row(setup: str, model: str, method: Any, h: float, duration: float) -> dict[str, Any]:
    begun = process_time()
    row: dict[str, Any] = {"scene": setup, "contact": model, "method": method.__name__, "h [ms]": 1e3 * h}
    scene = newcomer(setup, contact=MODELS[model](), integrator=method(), h=h, duration=duration)
    watch = _Watch(scene)
    try:
        for step in simulate(scene):
            watch.see(step)
        ends = "yes"
    except PliantError as error:
        ends = f"step {watch.steps + 1}: {error.what}"
    row |= {"ends": ends, "iterations / step": round(watch.iterations / max(watch.steps, 1), 1)}
    row |= {"depth": watch.depth, "crossings": watch.crossings, "force / weight": watch.carried()}
    return row | {"alarms": watch.alarms, "CPU [s]": round(process_time() - begun, 1)}


class _Watch:
    """What is looked at in a run."""

    def __init__(self, scene: Scene) -> None:
        self.weight = {b.name: G * _mass(b) for b in scene.bodies if isinstance(b, Rigid) or not b.pins}
        self.pinned = len(self.weight) < len(scene.bodies)
        self.mass = sum(_mass(b) for b in scene.bodies)
        self.begin = float(scene.duration) - WATCHED
        self.steps = self.iterations = self.crossings = self.alarms = 0
        self.depth, self.fastest = 0.0, 0.0
        self.forces: list[dict[str, float]] = []

    def see(self, step: Any) -> None:
        report, system = step.report, step.system
        self.steps += 1
        self.iterations += report.iterations
        self.alarms += bool(report.alarms)
        grain = system.grain() if isinstance(system, Grained) else None
        self.depth = max(self.depth, (report.penetration or 0.0) / (grain or np.inf))
        if self.steps % 10 == 0 and isinstance(system, Barring):
            self.crossings += system.crossings(step.state.q, step.state.t) or 0
        if step.state.t > self.begin:
            self.fastest = max(self.fastest, float(np.sqrt(2.0 * step.ledger.energies["kinetic"] / self.mass)))
            on: dict[str, float] = dict.fromkeys(self.weight, 0.0)
            for (_, name), force in (step.acted.pairs or {}).items():
                if name in on:
                    on[name] += float(force[2])
            self.forces.append(on)

    def carried(self) -> float | str:
        """The mean force over the weight where that is farthest from 1."""
        if not self.forces or self.fastest > STILL * G * WATCHED:
            return "-"
        parts = [float(np.mean([f[name] for f in self.forces])) / W for name, W in self.weight.items()]
        return max(parts, key=lambda part: abs(part - 1.0))


def _mass(body: Any) -> float:
    """The mass of a body [kg]."""
    return float(body.body().mass) if isinstance(body, Rigid) else float(body.masses().sum())

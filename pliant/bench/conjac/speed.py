"""conjac/speed: VANILLA at 2 ms against ConJac with 6 nodes at 5 ms on DRAGON. [ConJac2020, sec. 4.1]

Both methods damp a mode of frequency omega alike, its energy falling by 1 + beta (h omega)^2 a step: 5 ms at beta 0.5
is worth 2 ms at beta 1.25. In large motions ConJac loses more: its nodes move straight for a step, what that stretches
between the dynamic nodes is taken away by the stabilisation. The rows with weak pulls are free of that.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from time import process_time
from typing import Any

from pliant.bench.conjac.beta import outcome
from pliant.bench.conjac.play import Moment, march
from pliant.bench.table import Claim, Table
from pliant.integrators import ConJac, LinearlyImplicit
from pliant.mesh import serpent
from pliant.scenes.conjac import DRAGON, dragon, dragon_nodes

BETAS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.5, 2.0, 3.0)
PAPER = 3.7  # the beta VANILLA needed in the paper, which names no other for 2 ms
RELEASE, SLOT = 0.25, 0.01  # the tugs end [s]; methods take turns of this simulated time [s]
WEAK = 0.01  # pulls so weak that nothing turns


@dataclass
class Runner:
    """One method under way: CPU seconds of its steps and energies [J] at release and now."""

    name: str
    h: float
    moments: Iterator[Moment]
    spent: float = 0.0
    steps: int = 0
    t: float = 0.0
    released: float = float("nan")
    energy: float = float("nan")

    def advance(self, until: float) -> None:
        while self.t < until - 1e-9:
            start = process_time()
            moment = next(self.moments)
            self.spent += process_time() - start
            self.t, self.energy, self.steps = moment.state.t, moment.energy, self.steps + 1
            if self.t <= RELEASE + 1e-9:
                self.released = self.energy

    def row(self) -> dict[str, Any]:
        counted = {"method": self.name, "h ms": 1e3 * self.h, "steps": self.steps, "CPU s": self.spent}
        return counted | {"energy left": self.energy / self.released}


def race(methods: dict[str, tuple[Any, float]], mesh: Any, duration: float, pull: float = 1.0) -> list[dict[str, Any]]:
    """All methods in turns, so that a busy machine slows them alike; a row for each."""
    scenes = {name: dragon(integrator, h=h, mesh=mesh, pull=pull) for name, (integrator, h) in methods.items()}
    runners = [Runner(name, s.h, march(s, round(duration / s.h))) for name, s in scenes.items()]
    for k in range(round(duration / SLOT)):
        for runner in runners:
            runner.advance((k + 1) * SLOT)
    return [runner.row() for runner in runners]


def run(*, quick: bool = False) -> Table:
    mesh = serpent(length=DRAGON, cells=40 if quick else 83)
    duration = 0.4 if quick else 1.0
    h, beta = 2e-3, BETAS[-1]
    for beta in BETAS:
        if outcome(lambda b: LinearlyImplicit(beta=b), beta, mesh, h, until=0.4).stable:
            break
    nodes = dragon_nodes(dragon(LinearlyImplicit(), mesh=mesh), 6)
    pair: dict[str, tuple[Any, float]] = {
        f"VANILLA, beta {beta}": (LinearlyImplicit(beta=beta), h),
        "ConJac, 6 nodes, beta 0.5": (ConJac(nodes, gamma=0.2), 5e-3),
    }
    others: dict[str, tuple[Any, float]] = {
        f"VANILLA, beta {PAPER}": (LinearlyImplicit(beta=PAPER), h),
        "ConJac, linearised twice": (ConJac(nodes, gamma=0.2, iterations=2), 5e-3),
    }
    rows = race(pair | others, mesh, duration)
    coarse = mesh if quick else serpent(length=DRAGON, cells=40)
    there = dragon_nodes(dragon(LinearlyImplicit(), mesh=coarse), 6)
    weak: dict[str, tuple[Any, float]] = {
        f"VANILLA, beta {beta}, weak pulls": (LinearlyImplicit(beta=beta), h),
        "ConJac, beta 0.5, weak pulls": (ConJac(there, gamma=0.2), 5e-3),
    }
    rows += race(weak, coarse, duration, WEAK)
    notes = [
        f"VANILLA with the first beta of {BETAS} that is stable until 0.4 s; weak: {WEAK} of the pulls, "
        f"{len(coarse.X)} vertices"
    ]
    return Table("conjac/speed", f"DRAGON, {len(mesh.X)} vertices, {duration} s", rows, claims(rows), notes)


def claims(rows: list[dict[str, Any]]) -> list[Claim]:
    ratio = rows[0]["CPU s"] / rows[1]["CPU s"]
    left = [row["energy left"] for row in rows]

    def livelier(name: str, ours: float, theirs: float) -> Claim:
        said = f"{100 * ours:.1f} % vs {100 * theirs:.1f} % of the energy at release"
        return Claim(name, "about equal", said, bool(ours > 0.8 * theirs))

    return [
        Claim("CJ-3 VANILLA at 2 ms / ConJac at 5 ms, CPU time", "> 2 x", f"{ratio:.2f} x", bool(ratio >= 2.0)),
        livelier("CJ-3 ConJac at 5 ms at least nearly as lively", left[1], left[0]),
        livelier(f"CJ-3 the same against VANILLA at the paper's beta {PAPER}", left[1], left[2]),
        livelier("CJ-3 the same with weak pulls, where nothing turns", left[5], left[4]),
    ]

"""conjac/speed: VANILLA at 2 ms against ConJac with 6 nodes at 5 ms on DRAGON. [ConJac2020, sec. 4.1]

Both methods damp a mode of frequency omega alike, its energy falling by 1 + beta (h omega)^2 a step: 5 ms at beta 0.5
is worth 2 ms at beta 1.25. In large motions ConJac loses more: its nodes move straight for a step, what that stretches
between the dynamic nodes is taken away by the stabilisation. The rows with weak pulls are free of that. Linearised half
a step ahead, and with corrections that go all the way, nodes stay closer to their equilibria and less is taken away.
BDF2 on the nodes (``second_order``) loses less of both; the full mesh with BDF2 at 5 ms shows what there is to keep.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from time import process_time
from typing import Any

from pliant.arrays import Array
from pliant.bench.conjac.beta import RELEASE, WEAK, outcome
from pliant.bench.conjac.play import ShownStep, march
from pliant.bench.race import no_inversion
from pliant.bench.table import Claim, Table
from pliant.integrators import BDF2, ConJac, LinearlyImplicit
from pliant.mesh import serpent
from pliant.scenes.conjac import DRAGON, dragon, dragon_nodes

BETAS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.5, 2.0, 3.0)
PAPER = 3.7  # the beta VANILLA needed in the paper, which names no other for 2 ms
SLOT = 0.01  # methods take turns of this simulated time [s]
SEARCHED: dict[str, Any] = {"gamma": None, "corrections": 2}
LIVELY: dict[str, Any] = {"ahead": True, **SEARCHED}
SECOND: dict[str, Any] = {"second_order": True, "gamma": 0.2}
BEST: dict[str, Any] = {"second_order": True, **SEARCHED}


@dataclass
class SpeedRunner:
    """One method under way: CPU seconds of its steps, energies [J] at release, now, and taken away by corrections."""

    name: str
    h: float
    moments: Iterator[ShownStep]
    q: Array
    spent: float = 0.0
    steps: int = 0
    t: float = 0.0
    released: float = float("nan")
    energy: float = float("nan")
    corrected: float = 0.0
    least: float = 1.0  # det F
    euler: bool = True

    def advance(self, until: float) -> None:
        while self.t < until - 1e-9:
            start = process_time()
            moment = next(self.moments)
            self.spent += process_time() - start
            self.t, self.energy, self.steps = moment.state.t, moment.energy, self.steps + 1
            if self.t <= RELEASE + 1e-9:
                self.released = self.energy
            else:
                moved = moment.system.prescribe(self.q + self.h * moment.state.v, self.t)
                self.corrected += potential(moment, moved) - potential(moment, moment.state.q)
            self.q, self.least = moment.state.q, min(self.least, moment.det)

    def row(self) -> dict[str, Any]:
        counted = {"method": self.name, "h ms": 1e3 * self.h, "steps": self.steps, "CPU s": self.spent}
        left, corrected = self.energy / self.released, self.corrected / self.released
        shares: dict[str, Any] = {"energy left": left, "by corrections": "", "by the rest": ""}
        if self.euler:  # x + h v is where the velocities alone lead
            shares |= {"by corrections": corrected, "by the rest": 1.0 - left - corrected}
        return counted | shares | {"min det F": self.least}


def euler(integrator: Any) -> bool:
    """Whether x + h v are the new positions before corrections."""
    return not isinstance(integrator, BDF2) and not (isinstance(integrator, ConJac) and integrator.second_order)


def potential(moment: ShownStep, q: Array) -> float:
    """Potential energy [J] at q."""
    return sum(moment.system.energies(q, 0.0 * q, moment.state.t).values())


def race(methods: dict[str, tuple[Any, float]], mesh: Any, duration: float, pull: float = 1.0) -> list[dict[str, Any]]:
    """All methods in turns, so that a busy machine slows them alike; a row for each."""
    scenes = {name: dragon(integrator, h=h, mesh=mesh, pull=pull) for name, (integrator, h) in methods.items()}
    runners = [
        SpeedRunner(name, float(s.h), march(s, round(duration / float(s.h))), mesh.X.ravel(), euler=euler(s.integrator))
        for name, s in scenes.items()
    ]
    for k in range(round(duration / SLOT)):
        for runner in runners:
            runner.advance((k + 1) * SLOT)
    return [runner.row() for runner in runners]


def run(*, quick: bool = False) -> Table:
    mesh, coarse = serpent(length=DRAGON, cells=40 if quick else 83), serpent(length=DRAGON, cells=40)
    duration = 0.4 if quick else 1.0
    h, large, beta = 2e-3, 5e-3, BETAS[-1]
    for beta in BETAS:
        if outcome(lambda b: LinearlyImplicit(beta=b), beta, mesh, h, until=0.4).stable:
            break
    nodes, few = (dragon_nodes(dragon(LinearlyImplicit(), mesh=m), 6) for m in (mesh, coarse))
    vanilla = (LinearlyImplicit(beta=beta), h)
    fine: dict[str, tuple[Any, float]] = {
        f"VANILLA, beta {beta}": vanilla,
        "ConJac, 6 nodes, beta 0.5": (ConJac(nodes, gamma=0.2), large),
        "ConJac ahead, searched": (ConJac(nodes, **LIVELY), large),
        "ConJac, second order": (ConJac(nodes, **SECOND), large),
        "ConJac, second order, searched": (ConJac(nodes, **BEST), large),
    }
    others: dict[str, tuple[Any, float]] = {
        f"coarse: VANILLA, beta {beta}": vanilla,
        f"coarse: VANILLA, beta {PAPER}": (LinearlyImplicit(beta=PAPER), h),
        "coarse: ConJac, beta 0.5": (ConJac(few, gamma=0.2), large),
        "coarse: ConJac ahead, searched": (ConJac(few, **LIVELY), large),
        "coarse: ConJac ahead, searched, twice": (ConJac(few, **LIVELY, iterations=2), large),
        "coarse: ConJac at 2 ms": (ConJac(few, gamma=0.2), h),
        "coarse: ConJac, second order": (ConJac(few, **SECOND), large),
        "coarse: ConJac, second order, searched": (ConJac(few, **BEST), large),
        "coarse: full mesh, BDF2": (BDF2(), large),
    }
    weak: dict[str, tuple[Any, float]] = {
        f"weak: VANILLA, beta {beta}": vanilla,
        "weak: ConJac, beta 0.5": (ConJac(few, gamma=0.2), large),
        "weak: ConJac, second order": (ConJac(few, **SECOND), large),
        "weak: full mesh, BDF2": (BDF2(), large),
    }
    rows = race(fine, mesh, duration) + race(others, coarse, duration) + race(weak, coarse, duration, WEAK)
    notes = [
        f"VANILLA with the first beta of {BETAS} that is stable until 0.4 s; coarse: {len(coarse.X)} vertices; "
        f"weak: also {WEAK} of the pulls",
        "energy left, and lost by corrections and by the rest of the step (velocities, and the way they lead), as parts"
        " of the energy at release (not told apart for BDF2)",
        "ahead: linearised where the old velocities lead to; searched: two corrections with gamma by line search",
        f"the paper's VANILLA needed beta {PAPER} at 5 ms, ours far less (conjac/beta): it is livelier",
        f"VANILLA takes {large / h:g} steps for one of ConJac, which costs {step_cost(rows):.2f} of one of VANILLA's",
    ]
    return Table("conjac/speed", f"DRAGON, {len(mesh.X)} vertices, {duration} s", rows, claims(rows), notes)


def step_cost(rows: list[dict[str, Any]]) -> float:
    """CPU time of a step of ConJac over that of a step of VANILLA, on the fine mesh."""
    vanilla, conjac = (row["CPU s"] / row["steps"] for row in rows[:2])
    return float(conjac / vanilla)


def claims(rows: list[dict[str, Any]]) -> list[Claim]:
    left = {row["method"]: row["energy left"] for row in rows}
    vanilla, paper, lively, second, best, _, damped, *_ = left
    weak = [name for name in left if name.startswith("weak")]
    cost = {row["method"]: row["CPU s"] for row in rows}

    def faster(name: str, method: str) -> Claim:
        ratio = cost[vanilla] / cost[method]
        return Claim(name, "> 2 x", f"{ratio:.2f} x", bool(ratio >= 2.0))

    def livelier(name: str, ours: str, theirs: str) -> Claim:
        said = f"{100 * left[ours]:.1f} % vs {100 * left[theirs]:.1f} % of the energy at release"
        return Claim(name, "about equal", said, bool(left[ours] > 0.8 * left[theirs]))

    return [
        faster("CJ-3 VANILLA at 2 ms / ConJac at 5 ms, CPU time", paper),
        livelier("CJ-3 ConJac at 5 ms at least nearly as lively", paper, vanilla),
        faster("CJ-3 the same, ahead and searched, CPU time", lively),
        livelier("CJ-3 the same, ahead and searched, nearly as lively", lively, vanilla),
        faster("CJ-3 the same, of second order, CPU time", second),
        livelier("CJ-3 the same, of second order and searched, nearly as lively", best, vanilla),
        livelier(f"CJ-3 ConJac as lively as VANILLA at the paper's beta {PAPER}", "coarse: ConJac, beta 0.5", damped),
        livelier("CJ-3 with weak pulls, where nothing turns", weak[1], weak[0]),
        livelier("with weak pulls, second order, as lively as BDF2 on the full mesh", weak[2], weak[3]),
        no_inversion({row["method"]: row["min det F"] for row in rows}),
    ]

"""ERE, SI, BE and IM on one scene: time, distance from a fine RK4 run, energy. [Chen2019, sec. 4.2.3]"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.bench.chen.play import Played, play
from pliant.bench.table import Claim
from pliant.integrators import BDF1, ERE, RK4, ImplicitMidpoint, LinearlyImplicit
from pliant.linear.modes import highest
from pliant.scene import Scene
from pliant.solvers import Newton
from pliant.state import State, Step
from pliant.systems.base import System


@dataclass(frozen=True)
class Halving:
    """Redoes a step that did not converge as two of half the size, and so on, as the source does. [sec. 4.2.3]"""

    integrator: Any
    depth: int = 6

    def step(self, system: System, state: State, h: float, memory: Any = None) -> Step:
        step = self.integrator.step(system, state, h, memory)
        if self.depth == 0 or all(r.converged for r in step.reports):
            return step
        half = Halving(self.integrator, self.depth - 1)
        first = half.step(system, state, 0.5 * h, memory)
        second = half.step(system, first.state, 0.5 * h, first.memory)
        wasted = tuple(replace(r, converged=True) for r in step.reports)  # redone, but its cost counts
        return replace(second, reports=wasted + first.reports + second.reports)


NEWTON = Newton(project="on_demand")
METHODS: dict[str, Any] = {
    "ERE": ERE(),
    "SI": LinearlyImplicit(),
    "BE": Halving(BDF1(NEWTON)),
    "IM": Halving(ImplicitMidpoint(NEWTON)),
}


def compete(scene: Scene, seconds: float, methods: dict[str, Any] = METHODS) -> dict[str, Played]:
    """All the methods at the scene's step size for ``seconds`` of simulated time."""
    system, h = scene.system(), float(scene.h)
    start = scene.initial(system)
    steps = round(seconds / h)
    watch = lambda state: state.q
    return {n: play(n, system, start, i, h, steps, watch=watch) for n, i in methods.items()}


def ground_truth(scene: Scene, seconds: float) -> Played:
    """Positions and energies at the ends of the scene's steps, by RK4 at half its stable step."""
    substeps = int(np.ceil(float(scene.h) / stable_rk4_step(scene, 0.5)))
    system, h = scene.system(), float(scene.h) / substeps
    steps = round(seconds / float(scene.h))
    run = play("RK4", system, scene.initial(system), RK4(), h, steps * substeps, watch=lambda s: s.q)
    ends = slice(substeps - 1, None, substeps)
    return Played("RK4", float(scene.h), run.energies[ends], path=run.path[ends])


def stable_rk4_step(scene: Scene, safety: float = 0.9) -> float:
    """The largest stable RK4 step [s] at rest: h omega <= 2.828 and h beta omega^2 <= 2.785."""
    system = scene.system()
    q = system.X.ravel()
    K = -system.restrict(system.stiffness(q, 0 * q, 0.0))
    lam = highest(K, system.restrict(system.mass(q)))
    D = system.damping(q, 0 * q, 0.0)
    d = highest(-system.restrict(D), system.restrict(system.mass(q))) if D.nnz else 0.0
    return safety * min(2.828 / np.sqrt(lam), 2.785 / max(d, 1e-300))


def error(run: Played, truth: list[Array]) -> float:
    """Largest distance of a vertex from the true path [m], over all steps both have."""
    n = min(len(run.path), len(truth))
    if n == 0:
        return float("nan")
    difference = (np.array(run.path[:n]) - np.array(truth[:n])).reshape(n, -1, 3)
    return float(np.linalg.norm(difference, axis=2).max())


def lost(run: Played) -> float:
    """Energy lost since the start [J], kinetic and potential; infinite when the run broke down."""
    total = run.total()
    return float(total[0] - total[-1]) if len(total) and not run.ended else float("inf")


def rows(runs: dict[str, Played]) -> list[dict[str, Any]]:
    mean = lambda run, what: round(float(np.mean([getattr(c, what) for c in run.counts])), 1)
    return [
        {
            "method": name,
            "CPU [s]": round(sum(run.seconds), 3),
            "ended": run.ended or "-",
            "energy lost [J]": f"{lost(run):.3g}",
            "fills/step": mean(run, "fills"),
            "products/step": mean(run, "inner"),
        }
        for name, run in runs.items()
    ]


def cost_claims(runs: dict[str, Played], paper: dict[str, str]) -> list[Claim]:
    """ERE close to SI in cost, BE and IM dearer: ratios as ``paper`` has them."""
    cost = {name: sum(run.seconds) for name, run in runs.items()}
    ratio = lambda a, b: cost[a] / cost[b]
    return [
        Claim("ERE/SI cost", paper["ERE/SI"], f"{ratio('ERE', 'SI'):.2f}", ratio("ERE", "SI") < 1.5),
        Claim("BE/ERE cost", paper["BE/ERE"], f"{ratio('BE', 'ERE'):.2f}", ratio("BE", "ERE") > 1.5),
        Claim("IM/BE cost", paper["IM/BE"], f"{ratio('IM', 'BE'):.2f}", ratio("IM", "BE") > 1.0),
    ]


def product_note(runs: dict[str, Played]) -> str:
    """Where the cost of ERE lies here: the source's assembles for so long that products with J cost it little."""
    si = 1e3 * runs["SI"].per_step()
    product = 1e3 * sum(runs["ERE"].seconds) / max(1, sum(c.inner for c in runs["ERE"].counts))
    equal = si / product
    return (
        f"an SI step (assembly, factorization, solve) takes {si:.2f} ms, as long as {equal:.0f} products with J; in the"
        " source assembly dominates, and products with J cost little beside it"
    )


def damping_claim(runs: dict[str, Played], where: str = "") -> Claim:
    """SI and BE lose far more energy than ERE and IM: twice what these lose or gain."""
    loss = {n: lost(r) for n, r in runs.items()}
    text = ", ".join(f"{n} {v:.3g}" for n, v in loss.items())
    worst = max(abs(loss["ERE"]), abs(loss["IM"]))
    holds = min(loss["SI"], loss["BE"]) > 2.0 * worst
    return Claim(f"{where}SI and BE lose far more energy than ERE and IM [J]", "SI, BE >> ERE ~ IM", text, holds)

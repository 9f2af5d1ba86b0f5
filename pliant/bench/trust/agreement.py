"""trust/agreement: methods that know nothing of each other lead the same scene to the same place as steps get shorter.

Mixtures of every kind of body, tied together, loaded and driven, some on a floor, are drawn at random
(`pliant.testing.mixtures`) and stepped by each method with a coarse and a fine step. The distance from where TR-BDF2
leads must fall with h, or be small beside the motion: a force, a tie or a motor that one method forgets leaves a
distance that stays. Where it does not fall yet, because something light swings faster than a coarse step resolves,
both steps are made finer once.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

import pliant as pl
from pliant.arrays import Array
from pliant.attempt import StepFailed
from pliant.bench.table import Claim, Table
from pliant.bench.workers import spread
from pliant.errors import PliantError
from pliant.testing.mixtures import mixture

SCENES = 300
STEPS = (16, 48)
FINER = 12  # times as many steps where these do not tell
METHODS: dict[str, Any] = {
    "BDF1": pl.BDF1(),
    "BDF1, QLB": pl.BDF1(solver=pl.QLB()),
    "BDF2": pl.BDF2(),
    "SDIRK2": pl.SDIRK2(),
    "ImplicitMidpoint": pl.ImplicitMidpoint(),
    "LinearlyImplicit": pl.LinearlyImplicit(),
    "RK4": pl.RK4(),
    "Verlet": pl.Verlet(),
    "SymplecticEuler": pl.SymplecticEuler(),
}
SMALL = 3e-3  # of the motion
FALLS = 0.75  # a distance of order h falls to a third


@dataclass(frozen=True)
class Compared:
    """How a method did on the scene of a seed; ``apart`` with coarse and fine steps, relative to the motion."""

    seed: int
    method: str
    end: str  # agrees, differs, refused or failed
    apart: tuple[float, ...] = ()
    note: str = ""
    touches: bool = False  # whether something has met the floor or another body


def run(*, quick: bool = False) -> Table:
    return table(sum(map(play, range(12)) if quick else spread(play, range(SCENES), chunk=10), []), quick)


def counted(played: list[Compared], methods: Iterable[str]) -> list[dict[str, Any]]:
    """A row for each method: how often it ended how, and how far apart it was."""
    rows = []
    for method in methods:
        mine = [p for p in played if p.method == method]
        told = Counter(p.end for p in mine)
        apart = [p.apart[-1] for p in mine if p.apart]
        far = {"median apart": float(np.median(apart)) if apart else float("nan"), "most": max(apart, default=0.0)}
        rows.append({"method": method} | {end: told[end] for end in ("agrees", "differs", "refused", "failed")} | far)
    return rows


def table(played: list[Compared], quick: bool = False) -> Table:
    differ = [p for p in played if p.end == "differs"]
    scenes = len({p.seed for p in played if p.apart})
    touching = len({p.seed for p in played if p.touches})
    bare = [p for p in played if p.end == "failed" and p.note]
    claims = [
        Claim("scenes that are compared", ">= 250", str(scenes), scenes >= 250 or quick),
        Claim("scenes in which something touches", ">= 30", str(touching), touching >= 30 or quick),
        Claim("methods that lead elsewhere", "0", str(len(differ)), not differ),
        Claim("tracebacks", "0", str(len(bare)), not bare),
    ]
    shown = [f"seed {p.seed}, {p.method}: {', '.join(f'{d:.2g}' for d in p.apart)} of the motion" for p in differ]
    notes = [
        f"apart: largest distance from TR-BDF2 with {STEPS[1]} steps ({FINER * STEPS[1]} where it did not fall before),"
        " relative to the largest motion."
    ]
    rows = counted(played, METHODS)
    return Table("trust/agreement", "Methods on the same mixtures", rows, claims, notes + shown[:20])


def play(seed: int) -> list[Compared]:
    """All methods on the scene of a seed; nothing where it is refused as a whole."""
    try:
        scene = mixture(seed)
        system = scene.system()
        x = system.positions(scene.initial(system).q)
        arrivals = Arrivals(scene, x)
        arrivals.goal(STEPS[0])
    except (PliantError, StepFailed):
        return []
    return [tried(seed, method, partial(compared, arrivals, seed, method)) for method in METHODS]


class Arrivals:
    """Where all points (n, 3) [m] of a scene are at its end, from those ``x`` at its start; kept for TR-BDF2."""

    def __init__(self, scene: pl.Scene, x: Array) -> None:
        self.scene, self.x = scene, x
        self.touches = False
        self._goals: dict[int, Array] = {}

    def of(self, integrator: Any, steps: int) -> Array:
        """By that many steps of a method."""
        for last in pl.simulate(replace(self.scene, integrator=integrator, h=float(self.scene.duration) / steps)):
            self.touches = self.touches or bool(last.report.contacts)
        found: Array = last.system.positions(last.state.q)
        return found

    def goal(self, steps: int) -> Array:
        """By TR-BDF2."""
        if steps not in self._goals:
            self._goals[steps] = self.of(self.scene.integrator, steps)
        return self._goals[steps]

    def apart(self, integrator: Any, steps: int) -> float:
        """The largest distance from where TR-BDF2 leads, relative to the largest motion."""
        goal = self.goal(steps)
        return float(np.abs(self.of(integrator, steps) - goal).max() / max(np.abs(goal - self.x).max(), 1e-9))


def tried(seed: int, method: str, compare: Callable[[], Compared]) -> Compared:
    """What a comparison finds, or how the method refuses or fails."""
    try:
        return compare()
    except StepFailed:
        return Compared(seed, method, "failed")
    except PliantError:
        return Compared(seed, method, "refused")
    except Exception as error:
        return Compared(seed, method, "failed", note=f"{type(error).__name__}: {error}")


def compared(arrivals: Arrivals, seed: int, method: str) -> Compared:
    apart = tuple(arrivals.apart(METHODS[method], n) for n in STEPS)
    if not near(apart):
        apart = tuple(arrivals.apart(METHODS[method], FINER * n) for n in STEPS)
    return Compared(seed, method, "agrees" if near(apart) else "differs", apart, touches=arrivals.touches)


def near(apart: tuple[float, ...]) -> bool:
    """Whether distances with coarse and fine steps are those of two methods for the same equations."""
    return apart[-1] <= max(SMALL, FALLS * apart[0])

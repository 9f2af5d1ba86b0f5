"""What the EigenFit tables share: the same motion on the fine mesh, the coarse mesh, with DAC and with EigenFit."""

from typing import Any

import numpy as np

from pliant.bench.chen.play import Run, play
from pliant.integrators.base import Integrator
from pliant.scenes.chen_coarse import H, Pair, distances
from pliant.scenes.chen_structures import twisted
from pliant.state import State

METHODS = ("coarse", "DAC", "EigenFit")


def systems(pair: Pair, s: int, frozen: bool, methods: tuple[str, ...] = METHODS) -> dict[str, Any]:
    """The fine system and those of the methods; ``frozen`` keeps the modes of the rest state (linear materials)."""
    make = {
        "coarse": pair.plain,
        "DAC": pair.dac,
        "EigenFit": lambda: pair.eigenfit(s, frozen=frozen, rematch=not frozen),
    }
    return {"fine": pair.truth(), **{m: make[m]() for m in methods}}


def rest(system: Any) -> State:
    return State(system.prescribe(system.X.ravel(), 0.0), np.zeros(system.X.size))


def simulate(built: dict[str, Any], integrator: Integrator, frames: int, *, turns: float = 0.0) -> dict[str, Run]:
    """Every system from rest, or from a twist about the x axis, for ``frames`` steps of 0.01 s."""
    out = {}
    for name, system in built.items():
        start = twisted(system, turns, axis=0) if turns else rest(system)
        out[name] = play(name, system, start, integrator, H, frames, watch=lambda state: state.q)
    return out


def error_rows(pair: Pair, runs: dict[str, Run], **labels: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """One row per method with its largest and mean distance from the fine mesh; and the distances by frame."""
    fine = runs["fine"].path
    errors = {n: distances(pair, r.path, fine) for n, r in runs.items() if n != "fine"}
    travelled = max(float(np.linalg.norm((q - fine[0]).reshape(-1, 3), axis=1).max()) for q in fine)
    rows = [
        {
            **labels,
            "method": n,
            "max error [m]": round(float(e.max(initial=0.0)), 5),
            "mean error [m]": round(float(e.mean()) if len(e) else float("nan"), 5),
            "of the motion": round(float(e.mean()) / max(travelled, 1e-300), 3),
            "ms/step": round(1e3 * runs[n].per_step(), 1),
            "ended": runs[n].ended or "-",
        }
        for n, e in errors.items()
    ]
    return rows, errors

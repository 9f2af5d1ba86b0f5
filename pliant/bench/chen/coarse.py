"""What the EigenFit tables share: the same motion on the fine mesh, the coarse mesh, with DAC and with EigenFit."""

from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.bench.chen.play import Played, play
from pliant.coarsen import Following
from pliant.integrators.base import Integrator
from pliant.scenes.chen_coarse import H, Pair, distances
from pliant.state import State

METHODS = ("coarse", "DAC", "EigenFit")


def systems(pair: Pair, s: int, frozen: bool, methods: tuple[str, ...] = METHODS) -> dict[str, Any]:
    """The fine system and those of the methods; ``frozen`` keeps the modes of the rest state (linear materials)."""
    make = {
        "coarse": pair.plain,
        "DAC": pair.dac,
        "EigenFit": lambda: pair.eigenfit(s, frozen=frozen, rematch=not frozen, on_mismatch="ignore"),
    }
    return {"fine": pair.truth(), **{m: make[m]() for m in methods}}


def rest(system: Any) -> State:
    return State(system.prescribe(system.X.ravel(), 0.0), np.zeros(system.X.size))


def both(state: State) -> Array:
    """Positions and velocities (2, N)."""
    return np.stack([state.q, state.v])


def simulate(
    pair: Pair, built: dict[str, Any], integrator: Integrator, frames: int, *, turns: float = 0.0
) -> dict[str, Played]:
    """Every system from rest, or from a twist about the x axis, for ``frames`` steps of 0.01 s; modes are followed."""
    out = {}
    for name, system in built.items():
        x = system.prescribe(pair.twisted(system.X, turns).ravel(), 0.0)
        start = State(x, np.zeros_like(x)) if turns else rest(system)
        chosen = Following(integrator) if name == "EigenFit" else integrator
        out[name] = play(name, system, start, chosen, H, frames, watch=both)
    return out


def error_rows(pair: Pair, runs: dict[str, Played], **labels: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """One row per method with its largest and mean distance from the fine mesh; and the distances by frame."""
    fine = [frame[0] for frame in runs["fine"].path]
    errors = {n: distances(pair, [f[0] for f in r.path], fine) for n, r in runs.items() if n != "fine"}
    travelled = max(float(np.linalg.norm((q - fine[0]).reshape(-1, 3), axis=1).max()) for q in fine)
    rows = [
        {
            **labels,
            "method": n,
            "max error [m]": round(float(e.max(initial=0.0)), 5),
            "mean error [m]": round(float(e.mean()) if len(e) else float("nan"), 5),
            "of the motion": round(float(e.mean()) / max(travelled, 1e-300), 3),
            "ms/step": round(1e3 * float(np.mean(runs[n].seconds[2:])), 1),
            "ended": runs[n].ended or "-",
        }
        for n, e in errors.items()
    ]
    return rows, errors


def velocity_errors(pair: Pair, runs: dict[str, Played]) -> dict[str, Array]:
    """The largest difference [m/s] of a fine vertex's velocity from what the coarse mesh carries it with."""
    out = {}
    for name, run in runs.items():
        if name != "fine":
            pairs = zip(run.path, runs["fine"].path, strict=False)
            apart = [pair.B @ c[1].reshape(-1, 3) - f[1].reshape(-1, 3) for c, f in pairs]
            out[name] = np.array([float(np.linalg.norm(d, axis=1).max()) for d in apart])
    return out

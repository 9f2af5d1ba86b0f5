"""chen/fig3_8: the shaken armadillo releases one leg at frame 30; ratios are computed anew. [Chen2019, Figure 3.8]"""

from dataclasses import replace
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.bench.chen.coarse import rest, systems
from pliant.bench.chen.play import play, plot
from pliant.bench.table import Claim, Table
from pliant.coarsen import Following
from pliant.materials import ARAP
from pliant.scenes.chen_coarse import FRAMES, H, distances, notes, pair
from pliant.state import State
from pliant.systems.eigenfit import EigenFit


def two_phases(before: Any, after: Any, switch: int, frames: int) -> list[Array]:
    """Positions per frame; the constraints change after ``switch`` frames."""
    watch = lambda state: state.q
    first = play("", before, rest(before), Following(), H, switch, watch=watch)
    state = first.state or rest(after)
    second = play("", after, State(state.q, state.v, state.t), Following(), H, frames - switch, watch=watch)
    return first.path + second.path


def run(*, quick: bool = False) -> Table:
    switch, frames = (6, 14) if quick else (FRAMES, 120)
    body = pair("armadillo", ARAP(E=1e6), shaken=True, beta=0.0)
    free = body.released()
    methods = ("coarse", "EigenFit")
    first, second = systems(body, 10, False, methods), systems(free, 10, False, methods)
    fine = two_phases(first["fine"], second["fine"], switch, frames)
    errors = {m: distances(body, two_phases(first[m], second[m], switch, frames), fine) for m in methods}
    errors["EigenFit, old ratios"] = distances(
        body, two_phases(first["EigenFit"], stale(first, second), switch, frames), fine
    )
    mean = {m: float(e[switch:].mean()) for m, e in errors.items()}
    rows = [{"method": m, "mean error after the release [m]": round(e, 5)} for m, e in mean.items()]
    old, new = first["EigenFit"].fit.ratios[:3], second["EigenFit"].fit.ratios[:3]
    ratios = f"{np.round(old, 3).tolist()} -> {np.round(new, 3).tolist()}"
    text = f"{mean['EigenFit']:.4f} vs {mean['coarse']:.4f} m"
    claims = [
        Claim("EigenFit reduces the error after the release", "significantly", text, mean["EigenFit"] < mean["coarse"]),
        Claim("ratios change with the constraints", "recalculated", ratios, bool(np.abs(old - new).max() > 1e-3)),
    ]
    t = H * np.arange(1.0, frames + 1.0)
    curves = {m: (t[: len(e)], e) for m, e in errors.items()}
    picture = plot("fig3_8", "Armadillo that releases a leg", curves, "largest distance [m]")
    return Table("chen/fig3_8", "Armadillo that releases a leg", rows, claims, notes("armadillo"), [picture])


def stale(first: dict[str, Any], second: dict[str, Any]) -> EigenFit:
    """The modes of the new constraints with the ratios of the old ones."""
    new = second["EigenFit"]
    fit = replace(new.fit, ratios=first["EigenFit"].fit.ratios)
    return EigenFit(new.inner, fit, beta=new.beta, rematch=True, on_mismatch="ignore")

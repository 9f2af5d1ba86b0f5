"""Energy without friction: conserved under error control, first order in h for the linearly implicit step [B4]."""

from dataclasses import replace
from typing import Any

import numpy as np

from pliant.articulated.rk45 import RK45
from pliant.bench.table import Claim, Table
from pliant.integrators import BDF1, BDF2, LinearlyImplicit
from pliant.scenes.redmax import NUMBERED, energy_change, smooth
from pliant.scenes.redmax import run as simulate
from pliant.scenes.redmax.scene import EXACT

CONSERVATIVE = (-1, 0, 1, 2, 3, 14, 16, 17, 18, 19, 23, 25, 26, 35)
INDEPENDENT = (51.8e3, 21.8e3, 10.1e3, 4.9e3, 2.4e3)  # scene 27 without friction, h = 10 ms / 2^k


def run(*, quick: bool = False) -> Table:
    rows: list[dict[str, Any]] = []
    for n in CONSERVATIVE[:4] if quick else CONSERVATIVE:
        scene = NUMBERED[n]()
        step = RK45().step(scene.system(), scene.initial(), float(scene.duration))
        kinetic = scene.system().energies(scene.initial().q, scene.initial().v, 0.0)["kinetic"]
        rows.append({"case": f"scene {n}, RK45", "drift": energy_change(scene, step.state) - kinetic})
    drift = max(abs(r["drift"]) for r in rows)
    errors: dict[str, list[float]] = {}
    methods: dict[str, Any] = {"linearly implicit": LinearlyImplicit(), "BDF1": BDF1(EXACT), "BDF2": BDF2(EXACT)}
    for name, method in methods.items():
        halvings = (3 if quick else 5) if name == "linearly implicit" else (2 if quick else 4)
        scene = NUMBERED[27]()
        scene = replace(smooth(scene), integrator=method)
        for k in range(halvings):
            fine = replace(scene, h=1e-2 / 2**k)
            errors.setdefault(name, []).append(energy_change(fine, simulate(fine)[-1].state))
            other = INDEPENDENT[k] if name == "linearly implicit" else None
            rows.append(
                {"case": f"scene 27, mu = 0, {name}, h = {fine.h:g}", "drift": errors[name][-1], "independent": other}
            )
    ratio = [np.abs(np.array(e[:-1]) / np.array(e[1:])) for e in (errors[n] for n in methods)]
    first = errors["linearly implicit"]
    off = max(abs(abs(e) / c - 1.0) for e, c in zip(first, INDEPENDENT, strict=False))
    claims = [
        Claim("error control conserves energy", "|H - T_start| <= 20", f"{drift:.2f}", drift <= 20.0),
        Claim(
            "linearly implicit error on halving h",
            "ratio in [1.7, 2.4]",
            f"{ratio[0].min():.2f} .. {ratio[0].max():.2f}",
            ratio[0][1 if len(first) > 2 else 0 :].min() >= 1.7 and ratio[0].max() <= 2.4,
        ),
        Claim(
            "the same errors as an independent code",
            "51.8k, 21.8k, 10.1k, ...",
            f"within {100 * off:.1f} %",
            off < 0.02,
        ),
        Claim(
            "BDF2 converges faster than BDF1",
            "order 2",
            f"last ratio {ratio[2][-1]:.2f} against {ratio[1][-1]:.2f}",
            bool(ratio[2][-1] > ratio[1][-1]),
        ),
    ]
    return Table("redmax/energy", "Energy of frictionless articulated systems", rows, claims)

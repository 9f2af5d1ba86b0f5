"""chen/cantilever: how much of an undamped oscillation SI, SIERE, ERE and BE leave. [Chen2019, sec. 6.2 and 6.3]

A beam of 0.8 x 0.1 x 0.1 m, 10 MPa, falls under its own weight for 2 s; what is left is (E - E_eq)/(E_0 - E_eq).
"""

from typing import Any

from pliant.bench.chen.energies import BE, SI
from pliant.bench.table import Claim, Table
from pliant.bodies import Solid
from pliant.integrators import ERE, SIERE, Quasistatic
from pliant.maps.pins import Pin
from pliant.materials import NeoHookean
from pliant.mesh import bar
from pliant.scene import Scene

H, STEPS = 0.01, 200


def beam(cells: tuple[int, int, int]) -> Scene:
    mesh = bar(size=(0.8, 0.1, 0.1), cells=cells)
    return Scene([Solid(mesh, NeoHookean(E=1e7, nu=0.45), pins=Pin(mesh.where(lambda X: X[:, 0] < 1e-9)))])


def retained(integrator: Any, scene: Scene, steps: int = STEPS) -> float:
    """(E - E_eq)/(E_0 - E_eq) after ``steps`` steps."""
    system = scene.system()
    state, memory = scene.initial(system), None
    energy = lambda q, v: sum(system.energies(q, v, 0.0).values())
    rest = Quasistatic().step(system, state, H).state
    start, low = energy(state.q, state.v), energy(rest.q, 0 * rest.v)
    for _ in range(steps):
        step = integrator.step(system, state, H, memory)
        state, memory = step.state, step.memory
    return float((energy(state.q, state.v) - low) / (start - low))


def run(*, quick: bool = False) -> Table:
    methods: dict[str, Any] = {"SI": SI, "BE": BE, **{f"SIERE s = {s}": SIERE(s=s) for s in (1, 2, 5)}, "ERE": ERE()}
    rows, claims = [], []
    for cells in (
        ((8, 1, 1),) if quick else ((8, 1, 1), (16, 2, 2))
    ):  # modes are exact on the first, followed on the other
        left = {name: retained(i, beam(cells)) for name, i in methods.items()}
        rows += [{"cells": "x".join(map(str, cells)), "method": n, "left": round(v, 4)} for n, v in left.items()]
        label, siere, ere = rows[-1]["cells"], left["SIERE s = 5"], left["ERE"]
        claims += [
            Claim(f"{label}: SI", "<= 0.01", f"{left['SI']:.4f}", left["SI"] <= 0.01),
            Claim(f"{label}: SIERE with five modes", ">= 0.9", f"{siere:.3f}", siere >= 0.9),
            Claim(f"{label}: SIERE - ERE", "within 0.05", f"{siere - ere:.3f}", abs(siere - ere) <= 0.05),
        ]
    notes = ["a stand-in for Figure 6.3; reference for 8x1x1: SI 0.000, s = 1 0.62, s = 2 0.94, s = 5 0.95, ERE 0.97"]
    return Table("chen/cantilever", "Energy left of an undamped oscillation", rows, claims, notes)

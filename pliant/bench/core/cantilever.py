"""core/cantilever: a slender linear bar against Euler-Bernoulli beam theory, under refinement.

Tip deflection under its own weight w = rho A g: delta = w L^4 / (8 E I); lowest bending frequency of a clamped-free
beam: f = 1.8751^2 / (2 pi L^2) sqrt(E I / (rho A)).
"""

import numpy as np

from pliant.bench.table import Claim, Table
from pliant.bodies import Solid
from pliant.integrators import Quasistatic
from pliant.linear.modes import lowest
from pliant.maps.pins import Pin
from pliant.materials import Linear
from pliant.mesh import bar
from pliant.scene import Scene

L, B = 1.0, 0.1  # length and side of the square section [m]
E, NU, RHO, G = 1e9, 0.3, 1000.0, 9.81  # stiff enough that the deflection is small (0.15 mm)
INERTIA, AREA = B**4 / 12.0, B * B
DEFLECTION = RHO * AREA * G * L**4 / (8.0 * E * INERTIA)
FREQUENCY = 1.875104**2 / (2.0 * np.pi * L**2) * np.sqrt(E * INERTIA / (RHO * AREA))


def beam(cells: tuple[int, int, int]) -> Scene:
    mesh = bar(size=(L, B, B), cells=cells)
    clamp = Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
    return Scene([Solid(mesh, Linear(E=E, nu=NU), density=RHO, pins=clamp, lumped=False)], gravity=(0, 0, -G))


def tip(scene: Scene) -> float:
    """Deflection of the free end's mean line at equilibrium [m]."""
    system = scene.system()
    start = scene.initial(system)
    after = Quasistatic().step(system, start, 1.0).state
    end = scene.bodies[0].mesh.X[:, 0] > L - 1e-9
    return -float((after.q - start.q).reshape(-1, 3)[end, 2].mean())


def frequency(scene: Scene) -> float:
    """Lowest natural frequency [Hz]."""
    system = scene.system()
    q = system.X.ravel()
    H = system.restrict(-system.stiffness(q, 0 * q, 0.0))
    M = system.mass(q)[system.free][:, system.free]
    return float(np.sqrt(lowest(H, M, 1).lam[0]) / (2.0 * np.pi))


def run(*, quick: bool = False) -> Table:
    grids = [(10, 1, 1), (20, 2, 2), (40, 4, 4)] + ([] if quick else [(80, 8, 8), (120, 12, 12)])
    rows = []
    for cells in grids:
        scene = beam(cells)
        d, f = tip(scene), frequency(scene)
        rows.append(
            {
                "cells": "x".join(map(str, cells)),
                "dofs": 3 * len(scene.bodies[0].mesh.X),
                "tip [mm]": round(1e3 * d, 5),
                "tip / closed form": round(d / DEFLECTION, 4),
                "f [Hz]": round(f, 4),
                "f / closed form": round(f / FREQUENCY, 4),
            }
        )
    errors = [(abs(r["tip / closed form"] - 1.0), abs(r["f / closed form"] - 1.0)) for r in rows]  # type: ignore[operator]
    falling = all(a[k] > b[k] for a, b in zip(errors, errors[1:], strict=False) for k in (0, 1))
    band = 0.12 if quick else 0.03
    claims = [
        Claim("tip deflection on the finest grid", f"within {band:.0%}", f"{errors[-1][0]:.2%}", errors[-1][0] <= band),
        Claim(
            "lowest frequency on the finest grid", f"within {band:.0%}", f"{errors[-1][1]:.2%}", errors[-1][1] <= band
        ),
        Claim("both errors fall with every refinement", "yes", str(falling), falling),
    ]
    return Table("core/cantilever", "Slender bar against Euler-Bernoulli", rows, claims)

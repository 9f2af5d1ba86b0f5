"""trust/certificate: the error that a certificate states, against a solve as tight as round-off allows.

A clamped bar whose free end moves, over nine decades of stiffness, five of size and of time steps: from steps that only
feel the inertia to steps whose residual is nothing but round-off. The error is the root mean square distance of the
positions to those of a tight solve of the same stage; the bound is what the certificate says.
"""

import itertools
from typing import Any

import numpy as np

import pliant as pl
from pliant.bench.table import Claim, Table
from pliant.mesh import bar
from pliant.solvers import QLB, HybridL1, Newton, Tolerance
from pliant.solvers.base import NonlinearSolver
from pliant.stage import Stage
from pliant.state import State

STEPS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)  # s
SIZES = (1e-3, 1e-1, 1.0, 100.0)  # m
MODULI = (10.0, 1e4, 1e7, 2e11)  # Pa
SOLVERS: dict[str, NonlinearSolver] = {"newton": Newton(), "qlb": QLB(), "hybrid-l1": HybridL1()}
TIGHT = Newton(tolerance=Tolerance(relative=1e-13, absolute=0.0), project="on_demand")
SPACING = 4.0 * float(np.finfo(np.float64).eps)  # of the size: what two solves differ by that agree


def run(*, quick: bool = False) -> Table:
    rows: list[dict[str, Any]] = []
    names = ("newton",) if quick else tuple(SOLVERS)
    steps = STEPS[::2] if quick else STEPS
    for name, h in itertools.product(names, steps):
        found = [compare(SOLVERS[name], size, E, h) for size, E in itertools.product(SIZES, MODULI)]
        sure = [f for f in found if f["converged"]]
        rows.append(
            {
                "solver": name,
                "h [s]": h,
                "stages": len(found),
                "certified": len(sure),
                "by round-off": sum(f["judged"] == "round-off" for f in sure),
                "by bound": sum(f["judged"] == "bound" for f in sure),
                "largest bound / size": max(f["bound"] for f in sure),
                "largest error / bound": max(f["error"] / (f["bound"] + SPACING) for f in sure),
                "missed force / pull": max(f["missed"] for f in sure),
            }
        )
    worst = max(row["largest error / bound"] for row in rows)
    failed = sum(row["stages"] - row["certified"] for row in rows)
    loose = max(row["largest bound / size"] for row in rows)
    missed = max(row["missed force / pull"] for row in rows)
    claims = [
        Claim("errors of certified steps stay below the stated bound", "<= 1", f"{worst:.2g}", worst <= 1.0),
        Claim("stated bounds are worth something (part of the size)", "<= 1e-6", f"{loose:.2g}", loose <= 1.1e-6),
        Claim("no force is ignored: error / what the forces do in the step", "< 1e-2", f"{missed:.1e}", missed < 1e-2),
        Claim("stages that are not certified", "0", str(failed), failed == 0),
    ]
    return Table("trust/certificate", "What a certified step is worth", rows, claims)


def compare(solver: NonlinearSolver, size: float, E: float, h: float) -> dict[str, Any]:
    """One backward Euler stage: what is said of it, and what is true; lengths as parts of the size."""
    mesh = bar(size=(size, size / 3, size / 3), cells=(4, 2, 2))
    pins = pl.Pin(mesh.where(lambda X: X[:, 0] < 1e-9 * size))
    body = pl.Solid(mesh, pl.StableNeoHookean(E=E, nu=0.4), density=1000.0, pins=pins)
    scene = pl.Scene(bodies=[body], h=h, duration=h)
    system = scene.system()
    q = scene.initial(system).q
    v = np.zeros_like(q)
    v[2::3] = 0.01 * system.X[:, 0] / size * min(1.0, size / h)  # m/s: the free end, never far in a step
    target = q + h * v
    stage = Stage(system, h, target, q, h, system.prescribe(target, h), State(q, v))
    guess = stage.frame[system.free]
    found, exact = solver.solve(stage, guess), TIGHT.solve(stage, guess)
    rms = lambda d: float(np.sqrt(d @ (stage.weights * d) / stage.mass))
    error, report = rms(found.z - exact.z), found.report
    felt = max(rms(exact.z - guess), SPACING * size)  # what the forces do in this step
    return {
        "converged": report.converged,
        "judged": report.judged,
        "bound": float("nan") if report.error is None else report.error / size,
        "error": error / size,
        "missed": 0.0 if error < 10.0 * SPACING * size else error / felt,
    }

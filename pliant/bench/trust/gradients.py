"""trust/gradients: derivatives of mixtures drawn at random agree with differences of whole runs.

The scenes are those of `trust/agreement`, with vertices that start away from their places at rest and without what
gradients refuse (events). Every method that has an adjoint takes a few steps; the derivative of the distance of all
points from random places, with respect to gravity, the initial state, moduli, densities and contact together, along a
random direction, is compared with central differences. These are taken with several widths, since wide ones reach
across kinks of contact and narrow ones are round-off; the nearest counts.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import pliant as pl
from pliant.adjoint import PointTrajectory
from pliant.adjoint.problem import Problem
from pliant.arrays import Array
from pliant.bench.table import Claim, Table
from pliant.bench.trust.agreement import Compared, counted, tried
from pliant.bench.workers import spread
from pliant.errors import PliantError
from pliant.solvers import Newton, Tolerance
from pliant.testing.mixtures import MATERIALS, mixture

SCENES, STEPS, H = 200, 6, 5e-4
CLOSE = Newton(tolerance=Tolerance(1e-11, 1e-13))  # what the round-off of contact allows
METHODS: dict[str, Any] = {
    "BDF1": pl.BDF1(CLOSE),
    "BDF2": pl.BDF2(CLOSE),
    "SDIRK2": pl.SDIRK2(CLOSE),
    "TRBDF2": pl.TRBDF2(CLOSE),
    "ImplicitMidpoint": pl.ImplicitMidpoint(CLOSE),
    "LinearlyImplicit": pl.LinearlyImplicit(psd=False),
    "Verlet": pl.Verlet(),
    "SymplecticEuler": pl.SymplecticEuler(),
    "ExplicitEuler": pl.ExplicitEuler(),
}
STRAYED = 2e-3  # m; where nothing is strained, Hessians that are projected have kinks
WIDTHS = (1e-5, 1e-6, 1e-7)  # of the size of each parameter
NEAR, SAME = 3e-6, 1e-10  # adjoint and differences, which feel where solvers stop; adjoint and tangent


def run(*, quick: bool = False) -> Table:
    return table(sum(map(play, range(6)) if quick else spread(play, range(SCENES), chunk=5), []), quick)


def table(played: list[Compared], quick: bool = False) -> Table:
    scenes = len({p.seed for p in played if p.apart})
    differ = [p for p in played if p.end == "differs"]
    bare = [p for p in played if p.end == "failed" and p.note]
    claims = [
        Claim("scenes with gradients", ">= 150", str(scenes), scenes >= 150 or quick),
        Claim("gradients that are not those of the run", "0", str(len(differ)), not differ),
        Claim("tracebacks", "0", str(len(bare)), not bare),
    ]
    notes = [
        f"apart: adjoint from differences of whole runs, relative; at most {NEAR:g}, and {SAME:g} from the tangent.",
        *(f"seed {p.seed}, {p.method}: tangent {p.apart[0]:.1e}, differences {p.apart[1]:.1e}" for p in differ[:20]),
    ]
    return Table("trust/gradients", "Gradients of mixtures", counted(played, METHODS), claims, notes)


def play(seed: int) -> list[Compared]:
    """The gradients of all methods on the scene of a seed; nothing where it is refused as a whole."""
    try:
        scene = replace(mixture(seed, strayed=STRAYED), events=(), h=H, duration=STEPS * H)
        system = scene.system()
        x = system.positions(scene.initial(system).q)
    except PliantError:
        return []
    seen = x + 0.01 * np.random.default_rng(seed).standard_normal((STEPS + 1, *x.shape))
    loss = PointTrajectory(np.arange(len(x)), seen)
    return [tried(seed, method, partial(compared, scene, loss, seed, method)) for method in METHODS]


def parameters(scene: pl.Scene) -> list[str]:
    """Paths of what a scene's gradient is taken of."""
    found = ["gravity", "initial.q", "initial.v"]
    for body in scene.bodies:
        simple = isinstance(body, pl.Solid | pl.Membrane) and isinstance(body.material, MATERIALS)
        found += [f"bodies.{body.name}.material.E"] * simple
        found += [f"bodies.{body.name}.density"] * isinstance(body, pl.Solid | pl.Membrane | pl.Rigid)
    if isinstance(scene.contact, pl.PenaltyContact):
        found += ["contact.k"] + ["contact.mu"] * (scene.contact.mu != 0.0)
    return found


def compared(scene: pl.Scene, loss: PointTrajectory, seed: int, method: str) -> Compared:
    problem = Problem(replace(scene, integrator=METHODS[method]), parameters(scene))
    _, slope, _ = problem.adjoint(loss, "all")
    d = _direction(problem, slope, seed)
    found = float(slope @ d)
    _, tangent = problem.tangent(loss, d)
    values = problem.parameters.values
    ends = [[problem.changed(values + e * d).value(loss) for e in (w, -w)] for w in WIDTHS]
    off = min(abs((a - b) / (2.0 * w) - found) for (a, b), w in zip(ends, WIDTHS, strict=True))
    apart = (abs(tangent - found) / abs(found), off / abs(found))
    return Compared(seed, method, "agrees" if apart[0] < SAME and apart[1] < NEAR else "differs", apart)


def _direction(problem: Problem, slope: Array, seed: int) -> Array:
    """Random, each parameter in its own size, and uphill in all of them, so that no two parts cancel."""
    sizes = [np.full(p.value.size, max(float(np.abs(p.value).max()), 1e-3)) for p in problem.parameters.parts]
    part: Array = np.random.default_rng(seed).uniform(0.1, 1.0, len(slope)) * np.concatenate(sizes)
    return np.copysign(part, slope)

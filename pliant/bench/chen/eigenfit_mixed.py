"""chen/eigenfit_mixed: EigenFit with what the thesis never tried: contact, SIERE, quasi-Newton solvers.

A neo-Hookean bar on a coarse mesh against the same bar on a fine one: let go onto a floor (BDF2 with QLB, penalty
contact), and plucked without damping (linearly implicit Euler and SIERE against the fine mesh with SIERE).
"""

from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.bench.chen.play import Played, play, plot
from pliant.bench.table import Claim, Table
from pliant.bodies import Solid
from pliant.coarsen import Following, dac_factor, fit, prolongation, softened
from pliant.contact.obstacles import Plane
from pliant.integrators import BDF2, SIERE, LinearlyImplicit
from pliant.maps.pins import Pin
from pliant.materials import NeoHookean
from pliant.mesh import Mesh, bar
from pliant.scene import Scene
from pliant.solvers import QLB
from pliant.state import State
from pliant.systems.eigenfit import EigenFit
from pliant.systems.penalty_contact import PenaltyContact

SIZE = (0.4, 0.06, 0.06)
COARSE, FINE = bar(SIZE, (8, 2, 1)), bar(SIZE, (32, 6, 4))
MATERIAL = NeoHookean(E=2e5, nu=0.45)
H = 0.005  # s
MODES = 10


def scene(mesh: Mesh, material: Any, *, floor: bool) -> Scene:
    """Clamped at one end; with a ``floor`` it falls under gravity onto it, without there is no gravity."""
    pins = Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
    body = Solid(mesh, material, density=1000.0, pins=pins, lumped=False)
    if not floor:
        return Scene([body], gravity=(0, 0, 0))
    return Scene([body], contact=PenaltyContact(mu=0.0), obstacles=[Plane(point=(0, 0, -0.04))])


def systems(floor: bool) -> dict[str, Any]:
    """Fine, coarse, DAC and EigenFit; the ratios come from the bodies without contact."""
    make = lambda mesh, material=MATERIAL: scene(mesh, material, floor=floor).system()
    still = [scene(mesh, MATERIAL, floor=False).system() for mesh in (COARSE, FINE)]
    found = fit(still[0], still[1], prolongation(COARSE, FINE), MODES)
    return {
        "fine": make(FINE),
        "coarse": make(COARSE),
        "DAC": make(COARSE, softened(MATERIAL, dac_factor(*still))),
        "EigenFit": EigenFit(make(COARSE), found, rematch=True, on_mismatch="ignore"),
    }


def plucked(system: Any) -> State:
    """Bent and twisted a little, at rest."""
    x: Array = system.X.copy()
    s = x[:, 0] / SIZE[0]
    x[:, 2] += 0.03 * s**2
    x[:, 1] -= 0.2 * s * (system.X[:, 2] - 0.03)
    return State(system.prescribe(x.ravel(), 0.0), np.zeros(x.size))


def at_rest(system: Any) -> State:
    return State(system.prescribe(system.X.ravel(), 0.0), np.zeros(system.X.size))


def apart(run: Played, truth: Played) -> Array:
    """Largest distance [m] of a fine vertex from where the coarse mesh carries it, frame by frame."""
    B = prolongation(COARSE, FINE)
    pairs = zip(run.path, truth.path, strict=False)
    moved = [B @ (c.reshape(-1, 3) - COARSE.X) + FINE.X - f.reshape(-1, 3) for c, f in pairs]
    return np.array([float(np.linalg.norm(d, axis=1).max()) for d in moved])


def row(scene: str, method: str, run: Played, truth: Played) -> dict[str, Any]:
    e = apart(run, truth)
    return {
        "scene": scene, "method": method, "mean error [m]": round(float(e.mean()), 5),
        "max error [m]": round(float(e.max()), 5), "ms/step": round(1e3 * float(np.mean(run.seconds[2:])), 1),
        "fine ms/step": round(1e3 * float(np.mean(truth.seconds[2:])), 1), "ended": run.ended or "-",
    }  # fmt: skip


def run(*, quick: bool = False) -> Table:
    frames = 20 if quick else 100
    watch = lambda state: state.q
    curves: dict[str, tuple[Array, Array]] = {}
    t = H * np.arange(1.0, frames + 1.0)
    rows, errors = [], {}
    built = systems(floor=True)
    runs = {n: play(n, s, at_rest(s), Following(BDF2(QLB())), H, frames, watch=watch) for n, s in built.items()}
    for n in ("coarse", "DAC", "EigenFit"):
        rows.append(row("floor, BDF2 + QLB", n, runs[n], runs["fine"]))
        errors[n] = rows[-1]["mean error [m]"]
        e = apart(runs[n], runs["fine"])
        curves[f"floor: {n}"] = (t[: len(e)], e)
    built = systems(floor=False)
    truth = play("fine", built["fine"], plucked(built["fine"]), SIERE(s=MODES), H, frames, watch=watch)
    for name, integrator in (("SI", LinearlyImplicit()), ("SIERE", SIERE(s=MODES))):
        for n in ("coarse", "EigenFit"):
            key = f"{n}, {name}"
            one = play(key, built[n], plucked(built[n]), Following(integrator), H, frames, watch=watch)
            rows.append(row("plucked, undamped", key, one, truth))
            errors[key] = rows[-1]["mean error [m]"]
            curves[f"plucked: {key}"] = (t[: len(one.path)], apart(one, truth))
    claims = [
        claim("contact: EigenFit below coarse [m]", errors, "EigenFit", "coarse"),
        claim("contact: EigenFit below DAC [m]", errors, "EigenFit", "DAC"),
        claim("SIERE: EigenFit below coarse [m]", errors, "EigenFit, SIERE", "coarse, SIERE"),
        claim("EigenFit: SIERE below SI [m]", errors, "EigenFit, SIERE", "EigenFit, SI"),
    ]
    picture = plot("eigenfit_mixed", "EigenFit with contact and SIERE", curves, "largest distance [m]")
    note = f"procedural bar, {len(COARSE.X)} and {len(FINE.X)} vertices, {MODES} modes, h = {H} s"
    why = "on the floor the bar has a second support that its ratios do not know; DAC softens every mode alike"
    return Table("chen/eigenfit_mixed", "EigenFit mixed with contact and SIERE", rows, claims, [note, why], [picture])


def claim(text: str, errors: dict[str, float], best: str, *others: str) -> Claim:
    measured = ", ".join(f"{n} {errors[n]:.4f}" for n in (best, *others))
    return Claim(text, "not in the thesis", measured, errors[best] < min(errors[n] for n in others))

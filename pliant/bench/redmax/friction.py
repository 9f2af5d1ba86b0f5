"""BISP against the plain step, against maximal staggered projections, and against the second law."""

from dataclasses import replace
from typing import Any

import numpy as np

from pliant.articulated.bisp import BISP
from pliant.articulated.friction import Friction
from pliant.articulated.maximal import energies
from pliant.articulated.staggered import StaggeredProjections
from pliant.bench.redmax.statics import mean_leg_torque
from pliant.bench.table import Claim, Table
from pliant.integrators.linearly_implicit import LinearlyImplicit
from pliant.scene import Scene
from pliant.scenes.redmax import NUMBERED, energy_change, single_leg, smooth
from pliant.scenes.redmax import run as simulate


def frictionless(scene: Scene, *, published: bool) -> float:
    """Largest difference of the joint rates between BISP with mu = 0 and the plain step."""
    plain = simulate(smooth(scene), integrator=LinearlyImplicit())[-1].state
    other = simulate(scene, integrator=BISP(Friction(0.0, 0.0), published=published))[-1].state
    return float(np.abs(other.v - plain.v).max() / np.abs(plain.v).max())


def maximal_energy(scene: Scene, mu: float) -> float:
    """H of the scene under staggered projections, from the maximal state."""
    steps = simulate(scene, integrator=StaggeredProjections(Friction(mu), unilateral=False))
    start = scene.system().energies(scene.initial().q, scene.initial().v, 0.0)
    return sum(energies(scene.system(), steps[-1].memory.bodies).values()) - start["gravity"]


def dissipation(number: int) -> dict[str, Any]:
    """Largest power of friction over a run, and whether impulses respect their limits."""
    scene = NUMBERED[number]()
    method: Any = replace(scene.integrator, published=False)  # type: ignore[type-var]
    steps = simulate(scene, integrator=method)[1:]
    system = scene.system()
    power, excess, iterations, reaction = -np.inf, 0.0, [], 0.0
    for before, after in zip([scene.initial(), *(s.state for s in steps)], steps, strict=False):
        kin = system.kinematics(before.q, before.v)
        m = after.memory
        power = max(power, float(np.sum(m.friction * kin.apply(after.state.v))) * float(scene.h))
        excess = max(excess, float(np.max(np.abs(m.beta) - m.limits, initial=0.0)))
        iterations.append(after.reports[0].iterations)
        size = float(np.abs(m.reaction).max())
        reaction = max(reaction, float(np.abs(kin.apply_transpose(m.reaction)).max()) / max(size, 1e-300))
    kinetic = max(system.energies(s.state.q, s.state.v, 0.0)["kinetic"] for s in steps)
    return {
        "case": f"scene {number}",
        "H": energy_change(scene, steps[-1].state),
        "friction_gain": power / kinetic,
        "limit_excess": excess,
        "mean_iterations": float(np.mean(iterations)),
        "max_iterations": max(iterations),
        "reaction_power": reaction,
    }


def closing(method: Any, name: str, steps: tuple[float, ...]) -> dict[str, Any]:
    """Work of friction [erg] over one turn of Klann's leg, two closures among its seven hinges, for several h.

    It tends to 2 pi times the mean torque of inverse dynamics.
    """
    work, good = [], True
    for h in steps:
        taken = simulate(single_leg(0.2, h=h), integrator=method)[2:]  # the first step starts the motion
        work.append(-sum(s.work["friction"] for s in taken))
        good = good and all(r.converged for s in taken for r in s.reports)
    expected = 2.0 * np.pi * mean_leg_torque(0.2, samples=180)
    return {
        "case": f"leg, mu 0.2: {name}",
        **{f"work_h{1e3 * h:g}ms": w for h, w in zip(steps, work, strict=True)},
        "expected": expected,
        "off": tuple(round(abs(w / expected - 1.0), 4) for w in work),
        "converged": good,
    }


def run(*, quick: bool = False) -> Table:
    two = NUMBERED[27]()
    equal, unequal = frictionless(two, published=False), frictionless(two, published=True)
    h = 2.5e-3 if quick else 0.625e-3
    fine = replace(two, h=h)
    H = energy_change(fine, simulate(fine, integrator=BISP(Friction(0.6)))[-1].state)
    H_max = maximal_energy(fine, 0.6)
    rows: list[dict[str, Any]] = [
        {"case": "mu = 0: corrected against plain step", "difference": equal},
        {"case": "mu = 0: as published against plain step", "difference": unequal},
        {
            "case": f"scene 27, h = {h:g}: BISP, maximal SP",
            "H": H,
            "H_maximal": H_max,
            "difference": abs(H / H_max - 1.0),
        },
    ]
    dissipative = [dissipation(n) for n in ((27,) if quick else (27, 28, 29))]
    rows += dissipative
    steps = (10e-3, 5e-3) if quick else (10e-3, 5e-3, 2.5e-3)
    mu = Friction(0.2)
    rubbing = [
        closing(StaggeredProjections(mu, unilateral=False), "SP, bilateral joints", steps),
        closing(StaggeredProjections(mu), "SP, unilateral joints", steps),
        closing(BISP(mu), "BISP", steps),
    ]
    rows += rubbing
    falls = all(r["converged"] and bool(np.all(np.diff(r["off"]) < 0.0)) for r in rubbing)
    left = "; ".join(f"{r['case'].split(': ')[1]} {100 * r['off'][-1]:.1f} %" for r in rubbing)
    gain, excess = max(r["friction_gain"] for r in dissipative), max(r["limit_excess"] for r in dissipative)
    most = max(r["max_iterations"] for r in dissipative)
    mean = max(r["mean_iterations"] for r in dissipative)
    power = max(r["reaction_power"] for r in dissipative)
    claims = [
        Claim("mu = 0: corrected BISP is the plain step", "1e-9", f"{equal:.1e}", equal < 1e-9),
        Claim("mu = 0: the published variant is not", "> 1e-6", f"{unequal:.1e}", unequal > 1e-6),
        Claim("BISP against maximal SP", "1e-4", f"{abs(H / H_max - 1.0):.1e}", abs(H / H_max - 1.0) < 1e-4),
        Claim("joint reactions do no work (J^T f_alpha)", "1e-8", f"{power:.1e}", power < 1e-8),
        Claim("friction never adds energy", "<= 0 every step", f"{gain:.1e} of T", gain < 1e-9),
        Claim("friction limits hold", "|beta| <= mu alpha", f"{excess:.1e}", excess < 1e-9),
        Claim("iterations", "mean ~2, max < 40", f"{mean:.1f}, {most}", most < 40 and mean < 4),
        Claim("work of friction with closures tends to that of inverse dynamics", "error falls with h", left, falls),
    ]
    notes = [
        "Energies and work in erg (cm, g, s). off: the error of the work of friction over a turn of the leg, relative "
        "to 2 pi times the mean torque of planar inverse dynamics, for the h of the columns before it."
    ]
    return Table("redmax/friction", "BISP: consistency of joint friction", rows, claims, notes)

"""conjac/bunny: a body dropped on a floor with friction, 24 unknowns. [ConJac2020, Fig. 8]

In the impact the inertia of the whole body acts on its dynamic nodes alone. A single vertex dents what is around it, by
about m a / (count E edge), the more the finer the mesh: as published, the elements at some nodes turn inside out. Nodes
that stand for the mean over a patch (`ConJac.radius`) do not. At 5 ms it takes beta > 1/2 besides, the edge of linear
stability, which a step that leads 4 mm into the floor oversteps.

What a large step does in an impact depends on how far from the floor the step before it ended: drops with large steps
are repeated from heights that differ by parts of the way of a step.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from pliant.bench.conjac.play import march
from pliant.bench.race import no_inversion
from pliant.bench.table import Claim, Table
from pliant.integrators import ConJac
from pliant.mesh import long_eared
from pliant.scenes.conjac import BUNNY, bunny
from pliant.state import State

ANGLES = (0.0, 0.7, 1.6)
SPAN, IMPACT = 0.2, 0.1  # how long a drop is watched, and until when the impact is [s]
FINE, MEDIUM, LARGE = 2.5e-4, 2e-3, 5e-3  # the paper's step elsewhere is the large one [s]
SPEED = 0.75  # at which it lands [m/s]
WIDE = 0.12 * BUNNY  # radius of the patches [m]


def drop(
    mesh: Any,
    angle: float = 0.0,
    mu: float = 0.3,
    *,
    alpha: float = 0.1,
    stiffness: float = 1.0,
    lift: float = 0.0,
    h: float = 1e-3,
    duration: float = SPAN,
    **options: Any,
) -> dict[str, Any]:
    """One drop, ``lift`` [m] higher: how deep, how far it bounces, its energy and its sideways speed."""
    method = ConJac(**{"count": 8, "friction": mu, "radius": WIDE} | options)
    made = bunny(method, angle=angle, anisotropy=alpha, stiffness=stiffness, h=h, mesh=mesh)
    scene = replace(made, duration=duration)
    low, energies, slides, rises, unknowns, least = [], [], [], [], 0, 1.0
    begun = made.initial()
    raised = State(begun.q + np.tile((0.0, 0.0, lift), len(begun.q) // 3), begun.v, begun.t)
    for moment in march(scene, start=raised):
        v, m = moment.state.v.reshape(-1, 3), moment.system.nodal_mass[::3]
        low.append(float(moment.state.q[2::3].min()))
        energies.append(moment.energy)
        least = min(least, moment.det)
        slides.append(float(m @ v[:, 0] / m.sum()))
        rises.append(float(m @ v[:, 2] / m.sum()))
        unknowns = 3 * len(moment.step.memory[0].nodes)
    height = np.array(low)
    landed = np.arange(len(low)) > int(np.argmax(height < 0.0))
    clear = np.array(energies)[landed & (height > 0.0)]
    return {
        "angle": angle,
        "lift mm": 1e3 * lift,
        "h ms": 1e3 * float(scene.h),
        "mu": mu,
        "alpha": alpha,
        "k / E edge": stiffness,
        "radius mm": 1e3 * method.radius,
        "beta": 1.0 if method.second_order else method.beta,
        "second order": "yes" if method.second_order else "",
        "unknowns": unknowns,
        "depth mm": -1e3 * float(height.min()),
        "bounce mm": 1e3 * float(height[landed].max()),
        "impact m/s": min(rises),
        "rebound m/s": float(np.array(rises)[landed].max(initial=-np.inf)),
        "energy in the air": float(clear.max(initial=0.0)) / energies[0],
        "most energy": max(energies) / energies[0],
        "slide m/s": slides[-1],
        "pushed m/s": rises[-1] - rises[0] + 9.81 * float(scene.h) * (len(rises) - 1),
        "fastest slide": float(np.abs(np.array(slides)[landed]).max()),
        "min det F": least,
        "steps": len(energies),
    }


def phases(mesh: Any, h: float, count: int, **options: Any) -> list[dict[str, Any]]:
    """Drops that meet the floor at different times after a step, spread over one."""
    lifts = SPEED * h * np.arange(count) / count
    return [drop(mesh, lift=round(float(lift), 6), h=h, duration=IMPACT + 0.02, **options) for lift in lifts]


def run(*, quick: bool = False) -> Table:
    mesh = long_eared(height=BUNNY, cells=12 if quick else 24.3)
    angles = ANGLES[:1] if quick else ANGLES
    short: dict[str, Any] = {"duration": 0.15}
    rows = [drop(mesh, angle) for angle in angles]
    rows += [drop(mesh, alpha=0.0, **short), drop(mesh, mu=0.0, alpha=0.0, **short)]
    large = [drop(mesh, angle, h=LARGE, beta=1.0) for angle in angles]
    fine = drop(mesh, h=FINE, duration=IMPACT)
    second = [drop(mesh, angle, second_order=True) for angle in angles]
    count = 2 if quick else 6
    lifted = {h: phases(mesh, h, count, beta=1.0) for h in (MEDIUM, LARGE)}
    lifted_second = {h: phases(mesh, h, count, second_order=True) for h in (MEDIUM, LARGE)}
    varied = {
        "single vertices": drop(mesh, radius=0.0, duration=IMPACT),
        f"single vertices, {1e3 * LARGE:g} ms": drop(mesh, radius=0.0, h=LARGE, beta=1.0, **short),
        f"beta = 1/2, {1e3 * LARGE:g} ms": drop(mesh, angles[len(angles) // 2], h=LARGE, **short),
        f"springs ten times stiffer, {1e3 * LARGE:g} ms": drop(mesh, stiffness=10.0, h=LARGE, beta=1.0, **short),
    }
    claims = [*judged(rows, large, fine), *gained(lifted, "beta = 1")]
    claims.append(sound("of second order: never more energy, nothing inside out, 1 ms", second))
    claims += [*gained(lifted_second, "second order"), *causes(varied)]
    notes = [
        f"{len(mesh.X)} vertices; contacts are those where the old velocities lead",
        "pushed: the floor's impulse upward over the mass",
        "elements turn inside out at dynamic nodes that are single vertices: they carry the inertia of the body",
    ]
    repeated = [row for drops in (lifted, lifted_second) for some in drops.values() for row in some]
    return Table("conjac/bunny", "BUNNY", [*rows, *large, fine, *second, *repeated, *varied.values()], claims, notes)


def judged(rows: list[dict[str, Any]], large: list[dict[str, Any]], fine: dict[str, Any]) -> list[Claim]:
    """CJ-9."""
    rubbed, slick = rows[-2:]
    size, steps = rows[0]["unknowns"], min(round(row["steps"] * row["h ms"]) for row in rows[:-2])
    bounce, rebound = (min(row[name] for row in rows) for name in ("bounce mm", "rebound m/s"))
    air, faster = max(row["energy in the air"] for row in rows), max(row["fastest slide"] for row in rows) / 0.5
    gains = {"1 ms": rows, f"{1e3 * LARGE:g} ms, beta = 1": large, f"{1e3 * FINE:g} ms, through the impact": [fine]}
    slower = slick["slide m/s"] - rubbed["slide m/s"]
    most = {name: max(row["most energy"] for row in drops) for name, drops in gains.items()}
    dets = {f"angle {row['angle']}, {row['h ms']:g} ms": row["min det F"] for row in [*rows, *large, fine]}
    return [
        Claim("CJ-9 size of the system", "24 x 24", f"{size} x {size}", size == 24),
        Claim("CJ-9 runs through", "yes", f"{steps} ms", steps == round(1e3 * SPAN)),
        Claim("CJ-9 bounces: its center rises again", "yes", f"at least {rebound:.2f} m/s", rebound > 0.1),
        Claim("CJ-9 bounces: it leaves the floor", "yes", f"at least {bounce:.1f} mm", bounce > 0.5),
        Claim("CJ-9 in the air again with less energy", "no gain", f"at most {100 * air:.0f} %", air <= 1.0),
        *(
            Claim(f"CJ-9 never more energy, contact included, {name}", "no gain", f"{100 * gain:.1f} %", gain <= 1.001)
            for name, gain in most.items()
        ),
        Claim("CJ-9 never faster sideways than at the start", "never", f"{faster:.2f} x", faster < 1.001),
        Claim(
            "CJ-9 friction slows the slide by no more than mu times the floor's push (alpha = 0)",
            f"<= {rubbed['mu'] * rubbed['pushed m/s']:.3f} m/s",
            f"{slower:.3f} m/s",
            bool(0.1 * rubbed["mu"] * rubbed["pushed m/s"] < slower <= rubbed["mu"] * rubbed["pushed m/s"]),
        ),
        Claim(
            "CJ-9 without friction nothing slows it",
            "0.5 m/s",
            f"{slick['slide m/s']:.4f} m/s",
            bool(abs(slick["slide m/s"] - 0.5) < 1e-3),
        ),
        no_inversion(dets),
    ]


def gained(lifted: dict[float, list[dict[str, Any]]], method: str) -> list[Claim]:
    """Whether drops from different heights are `sound`."""
    name = "never more energy, nothing inside out, {h:g} ms, {method}, from {count} heights"
    return [sound(name.format(h=1e3 * h, method=method, count=len(drops)), drops) for h, drops in lifted.items()]


def sound(name: str, drops: list[dict[str, Any]]) -> Claim:
    """Whether no drop won energy or turned an element inside out."""
    most, least = max(row["most energy"] for row in drops), min(row["min det F"] for row in drops)
    said = f"{100 * most:.1f} %, min det F {least:.2f}"
    return Claim(name, "no gain", said, bool(most <= 1.001 and least > 0.0))


def causes(varied: dict[str, dict[str, Any]]) -> list[Claim]:
    """What happens without the patches, and without the damping of a large step."""
    vertex, vertex_large, half, hard = varied.values()
    dents = [vertex["min det F"], vertex_large["min det F"]]
    shown = ", ".join(f"{det:.2f}" for det in dents)
    gained = max(half["most energy"], hard["most energy"])
    return [
        Claim("cause: single vertices as nodes turn elements inside out", "-", f"min det F {shown}", min(dents) < 0.0),
        Claim(
            "cause: at 5 ms beta = 1/2 or stiffer springs win energy",
            "-",
            f"{100 * half['most energy']:.0f} %, {100 * hard['most energy']:.0f} %",
            bool(gained > 1.001),
        ),
    ]

"""KLANN: driving torque of a walking linkage against joint friction; a walker that walks [Weidner2022, Fig. 3.3]."""

from typing import Any

import numpy as np

from pliant.articulated.constraints import LoopClosure, PrescribedJoint
from pliant.articulated.quirks import Quirks
from pliant.bench.redmax.statics import mean_leg_torque
from pliant.bench.table import Claim, Table
from pliant.scene import Scene
from pliant.scenes.redmax import run as simulate
from pliant.scenes.redmax import single_leg, walker
from pliant.scenes.redmax.klann import SCALE, pose
from pliant.state import Step

FEET = ((0.0, 0.0), (0.5338, 0.4352), (1.0001, 0.0), (0.4967, 0.0046))
DRIVE = 2  # position of the driven crank among the constraints of the single leg
INDEPENDENT = {0.0: 270.0, 0.2: 4980.0, 0.4: 9280.0, 0.8: 18.0e3}  # mean torque of the leg by another code, h = 5 ms


def loop_error(scene: Scene, step: Step) -> float:
    """Largest gap of the closures, in units of the linkage."""
    kin = scene.system().kinematics(step.state.q, step.state.v)
    loops = [c for c in scene.system().constraints if isinstance(c, LoopClosure)]
    return max(float(np.abs(c.rows(kin, step.state.t, Quirks()).g).max()) for c in loops) / SCALE


def torque_row(mu: float) -> dict[str, Any]:
    scene = single_leg(mu)
    steps = simulate(scene)[1:]
    torque = -np.array([s.memory.impulses.force(DRIVE)[0] for s in steps])[1:]  # the first step starts the motion
    return {
        "case": f"leg, mu {mu}",
        "mean_torque": float(torque.mean()),
        "independent": INDEPENDENT.get(mu),
        "inverse_dynamics": mean_leg_torque(mu, samples=360),
        "least": float(torque.min()),
        "largest": float(torque.max()),
        "loop_error": max(loop_error(scene, s) for s in steps[::20]),
        "max_iterations": max(s.reports[0].iterations for s in steps),
    }


def walk(mu: float, duration: float) -> dict[str, Any]:
    scene = walker(mu, duration=duration)
    steps = simulate(scene)
    drives = [i for i, c in enumerate(scene.system().constraints) if isinstance(c, PrescribedJoint)]
    torque = -np.array([[float(s.memory.impulses.force(i)[0]) for i in drives] for s in steps[2:]])
    frames = np.array([scene.system().kinematics(s.state.q, s.state.v).frames[0] for s in steps[::20]])
    length = float(np.ptp(scene.system().tree.links[0].body.points[:, 0]))
    kin = scene.system().kinematics(scene.initial().q, scene.initial().v)
    equalities = sum(len(r.g) for r in scene.system().rows(kin, 0.0, inequality=False))
    return {
        "case": f"walker, mu {mu}",
        "mean_torque": float(torque.mean()),
        "least": float(torque.min()),
        "largest": float(torque.max()),
        "joints": scene.system().tree.dof - 6,
        "closure_rows": equalities - 2,
        "driven": 2,
        "body_lengths": float(abs(frames[-1][0, 3] - frames[0][0, 3]) / length),
        "least_up": float(frames[:, 2, 2].min()),
        "least_height": float(frames[:, 2, 3].min() / frames[0][2, 3]),
        "seconds": duration,
        "loop_error": loop_error(scene, steps[-1]),
        "converged": all(r.converged for s in steps for r in s.reports),
    }


def run(*, quick: bool = False) -> Table:
    rows = [torque_row(mu) for mu in ((0.0, 0.4) if quick else (0.0, 0.2, 0.4, 0.6, 0.8))]
    walks = [walk(0.0, 1.0)] if quick else [walk(mu, 5.0) for mu in (0.0, 0.2, 0.4, 0.6, 0.8)]
    w = walks[0]
    feet = np.array([pose(np.pi / 2 * k).foot for k in range(4)])
    off = float(np.abs(feet - FEET).max())
    means, carried = [r["mean_torque"] for r in rows], [r["mean_torque"] for r in walks]
    worst = max(r["loop_error"] for r in (*rows, *walks))
    needed = 1.0 if not quick else 0.2
    claims = [
        Claim(
            "joints / closure rows / driven",
            "26 / 24 / 2",
            f"{w['joints']} / {w['closure_rows']} / {w['driven']}",
            (w["joints"], w["closure_rows"]) == (26, 24),
        ),
        Claim("foot path", "as the patent's example, 1 %", f"{100 * off:.2f} %", off < 0.01),
        Claim(
            "the leg's torque rises with mu",
            "monotone",
            ", ".join(f"{m:.0f}" for m in means),
            bool(np.all(np.diff(means) > 0)),
        ),
        Claim(
            "the walker's torque rises with mu (Fig. 3.3b)",
            "monotone",
            ", ".join(f"{1e-3 * m:.0f}k" for m in carried),
            bool(np.all(np.diff(carried) > 0)),
        ),
        Claim(
            "the motor brakes at mu = 0",
            "negative work",
            f"{rows[0]['least']:.0f} .. {rows[0]['largest']:.0f} dyn cm",
            rows[0]["least"] < 0 < rows[0]["largest"],
        ),
        Claim("closures stay closed", "< 1e-3 lengths", f"{worst:.1e}", worst < 1e-3),
        *(
            Claim(
                f"the {r['case']}, walks (in {r['seconds']:g} s)",
                ">= 1 body length in 5 s without falling",
                f"{r['body_lengths']:.1f} body lengths, upright >= {r['least_up']:.2f}",
                r["body_lengths"] >= needed and r["least_up"] > 0.7 and r["least_height"] > 0.5 and r["converged"],
            )
            for r in walks
        ),
    ]
    notes = [
        "Torques in dyn cm, mean over one turn of a leg on a fixed frame and, for the walker, over the run and both "
        "cranks. independent: another implementation at the same h = 5 ms; inverse_dynamics: the planar equations of "
        "each bar, h -> 0 (redmax/reactions). At mu = 0.8 the leg nearly locks itself and h = 5 ms cuts the peaks."
    ]
    title = "KLANN: torque against joint friction, and a six-legged walker"
    return Table("redmax/klann", title, rows + walks, claims, notes)

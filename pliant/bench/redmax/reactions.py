"""Joint reactions of closed structures against statics, and the torque of Klann's leg against inverse dynamics."""

from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.articulated.bisp import BISP
from pliant.articulated.bodies import at, cuboid
from pliant.articulated.constraints import LoopClosure, PrescribedJoint
from pliant.articulated.friction import Friction, joint_wrenches
from pliant.articulated.joints import Revolute
from pliant.articulated.se3 import frame, rotation
from pliant.articulated.system import ArticulatedSystem
from pliant.articulated.tree import Link
from pliant.bench.redmax.statics import GROUND, Bar, GroundPin, mean_leg_torque, pin_forces
from pliant.bench.table import Claim, Table
from pliant.scenes.redmax import NUMBERED, single_leg
from pliant.scenes.redmax import run as simulate
from pliant.scenes.redmax.scene import Y
from pliant.state import State, Step

DRIVE = 2  # position of the driven crank among the constraints of the single leg
G, THIN, DENSITY = 9.81, 0.1, 1000.0
LEG_STEPS = (5e-3, 2.5e-3, 1.25e-3)

Closing = tuple[int, int, Array]  # bars a and b (or `GROUND`) meet at a point (2,)


def structure(points: Array, closing: list[Closing], *, motor: bool = False) -> ArticulatedSystem:
    """A polygon of bars from point to point (n + 1, 2), the first hinged to the ground, with further hinges."""
    links: list[Link] = []
    for k, (a, b) in enumerate(zip(points, points[1:], strict=False)):
        d = b - a
        turned = frame(rotation(Y, -np.arctan2(d[1], d[0])), np.array([0.5 * d[0], 0.0, 0.5 * d[1]]))
        body = cuboid((float(np.linalg.norm(d)), THIN, THIN), DENSITY, turned)
        place = a if k == 0 else a - points[k - 1]
        links.append(Link(Revolute(Y), body, k - 1 if k else None, at(place[0], 0.0, place[1])))
    kin = ArticulatedSystem(links).kinematics(np.zeros(len(links)), np.zeros(len(links)))
    loops = []
    for first, second, x in closing:
        world = np.array([x[0], 0.0, x[1]])
        x1, x2 = ((kin.frame(b)[:3, :3].T @ (world - kin.frame(b)[:3, 3])) for b in (first, second))
        loops.append(LoopClosure(first, x1, None if second == GROUND else second, x2, Y))
    drives = [PrescribedJoint(0, lambda t: 0.0, maximal=True)] if motor else []
    return ArticulatedSystem(links, (), [*loops, *drives], gravity=(0.0, 0.0, -G))


def expected(points: Array, closing: list[Closing], *, motor: bool = False) -> tuple[Array, Array, float]:
    """Statics of the same structure."""
    bars, rest = [], np.zeros(2)
    for a, b in zip(points, points[1:], strict=False):
        length = float(np.linalg.norm(b - a))
        mass = DENSITY * length * THIN**2
        bars.append(Bar(mass, mass * (length**2 + THIN**2) / 12.0, 0.5 * (a + b), rest, 0.0))
    tree = [GroundPin(k, k - 1 if k else GROUND, points[k]) for k in range(len(bars))]
    pins = [GroundPin(a, b, x) for a, b, x in closing]
    return pin_forces(bars, tree, pins, gravity=G, motor=0 if motor else None)


def found(system: ArticulatedSystem, step: Step) -> tuple[Array, Array, float]:
    """Forces (k, 2) on the children in the joints, on the first link in the closures, and |J^T f_alpha| / |f_alpha|."""
    kin = system.kinematics(system.rest, np.zeros(system.tree.dof))
    f = step.memory.reaction
    wrenches = joint_wrenches(kin, f, system.tree.parent)
    held = np.einsum("nij,nj->ni", kin.frames[:, :3, :3], wrenches[:, 3:])[:, [0, 2]]
    closed = []
    for i, c in enumerate(system.constraints):
        if isinstance(c, LoopClosure):
            rows = c.rows(kin, 0.0, system.quirks).G
            w = (rows.T @ step.memory.impulses.force(i)).reshape(-1, 6)[int(c.first)]
            closed.append((kin.frame(int(c.first))[:3, :3] @ w[3:])[[0, 2]])
    idle = np.abs(kin.apply_transpose(f)).max() / np.abs(f).max()
    return held, np.array(closed), float(idle)


def _arc(n: int) -> Array:
    angle = np.pi * (1.0 - np.arange(n + 1) / n)
    return 2.0 * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def structures() -> dict[str, tuple[Array, list[Closing], bool]]:
    """Points of the bars, closing hinges, and whether a motor holds the first bar."""
    bar = np.array([[0.0, 0.0], [1.0, 0.0]])
    four = np.array([[0.0, 0.0], [0.4, 0.9], [1.7, 1.2], [1.5, 0.0]])
    arch, redundant = _arc(2), _arc(5)
    hangers: list[Closing] = [(k, GROUND, redundant[k + 1]) for k in range(1, 5)]
    return {
        "bar on hinge and pin": (bar, [(0, GROUND, bar[1])], False),
        "four-bar held by its crank": (four, [(2, GROUND, four[3])], True),
        "arch of two bars": (arch, [(1, GROUND, arch[2])], False),
        "arch of five bars, redundant closures": (redundant, [*hangers, hangers[-1]], False),
    }


def static_row(name: str, points: Array, closing: list[Closing], motor: bool) -> dict[str, Any]:
    system = structure(points, closing, motor=motor)
    step = BISP(Friction(0.0)).step(system, State(system.rest, np.zeros(system.tree.dof)), 1e-2)
    held, closed, idle = found(system, step)
    should = expected(points, closing, motor=motor)
    size = float(np.abs(should[0]).max())
    return {
        "case": name,
        "hinge_N": float(np.linalg.norm(held[0])),
        "statics_N": float(np.linalg.norm(should[0][0])),
        "off_joints": float(np.abs(held - should[0]).max()) / size,
        "off_closures": float(np.abs(closed - should[1]).max()) / size,
        "idle": idle,
    }


def leg_row(mu: float, steps: tuple[float, ...]) -> dict[str, Any]:
    """Mean driving torque over one turn for several h, its limit by extrapolation, and by inverse dynamics."""
    torques = []
    for h in steps:
        taken = simulate(single_leg(mu, h=h))[2:]  # the first step starts the motion
        torques.append(-float(np.mean([s.memory.impulses.force(DRIVE)[0] for s in taken])))
    return {
        "case": f"Klann's leg, mu {mu:g}",
        **{f"torque_h{1e3 * h:g}ms": m for h, m in zip(steps, torques, strict=True)},
        "extrapolated": 2.0 * torques[-1] - torques[-2],
        "inverse_dynamics": mean_leg_torque(mu),
    }


def moving_row() -> dict[str, Any]:
    """J^T f_alpha over a fall of a four-bar with friction in its hinges: reactions of joints do no work."""
    falling = NUMBERED[30]()
    taken = simulate(falling, integrator=BISP(Friction(0.3)), steps=100)
    idle = 0.0
    for before, after in zip(taken, taken[1:], strict=False):
        kin = falling.system().kinematics(before.state.q, before.state.v)
        f = after.memory.reaction
        idle = max(idle, float(np.abs(kin.apply_transpose(f)).max() / np.abs(f).max()))
    return {"case": "falling four-bar with friction", "idle": idle}


def run(*, quick: bool = False) -> Table:
    rows = [static_row(name, *what) for name, what in structures().items()]
    legs = [leg_row(mu, LEG_STEPS[:2] if quick else LEG_STEPS) for mu in ((0.2,) if quick else (0.1, 0.2, 0.4))]
    moving = moving_row()
    off = max(max(r["off_joints"], r["off_closures"]) for r in rows)
    idle = max(r["idle"] for r in (*rows, moving))
    leg = next(r for r in legs if r["case"].endswith("0.2"))
    ratio = leg["extrapolated"] / leg["inverse_dynamics"]
    claims = [
        Claim("bar on hinge and pin", "W / 2 = 49.05 N", f"{rows[0]['hinge_N']:.4f} N", rows[0]["off_joints"] < 1e-10),
        Claim("all forces of closed structures against statics", "1e-9", f"{off:.1e}", off < 1e-9),
        Claim("joint reactions do no work: |J^T f_alpha| / |f_alpha|", "1e-10", f"{idle:.1e}", idle < 1e-10),
        Claim(
            "driving torque of Klann's leg, mu = 0.2, h -> 0, against planar inverse dynamics",
            "5 %" if quick else "2 %",
            f"{leg['extrapolated']:.0f}, {leg['inverse_dynamics']:.0f} dyn cm",
            abs(ratio - 1.0) < (0.05 if quick else 0.02),
        ),
    ]
    notes = [
        "Structures in m, kg, s, one step from rest without friction; where closures are redundant their forces have "
        "the smallest norm. The leg in cm, g, s."
    ]
    return Table("redmax/reactions", "Reactions in joints and closures", [*rows, moving, *legs], claims, notes)

"""world/gripper: a hand with motors of limited torque carries a soft block, or drops it, as statics says.

What the motors do is read from their own law at the end; what the block does to the fingers from the contacts. The two
know nothing of each other.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.articulated.bodies import at, cuboid
from pliant.articulated.body import Articulated
from pliant.articulated.constraints import PrescribedJoint
from pliant.articulated.forces import Servo
from pliant.articulated.obstacles import moving_obstacles
from pliant.articulated.system import ArticulatedSystem
from pliant.bench.table import Claim, Table
from pliant.bodies import Solid
from pliant.contact.obstacles import Plane
from pliant.integrators import BDF1
from pliant.scene import Scene
from pliant.scenes.redmax.gripper import FINGER, SIDE
from pliant.scenes.redmax.gripper import gripper as one_way
from pliant.scenes.redmax.gripper import hand as prescribed
from pliant.scenes.world import gripper
from pliant.simulate import TimeStep, simulate
from pliant.solvers import Newton
from pliant.solvers.base import Tolerance
from pliant.state import State
from pliant.systems.penalty_contact import PenaltyContact

G, LIFT, MU = 9.81, 0.08, 0.8


def run(*, quick: bool = False) -> Table:
    cells, h = (2, 1e-2) if quick else (3, 5e-3)
    strong, last = _lifted(0.8, cells, h)
    need = _need(last)
    rows = [strong]
    rows += [_lifted(part * need, cells, h)[0] for part in ((0.7, 1.4) if quick else (0.5, 0.7, 0.9, 1.1, 1.4))]
    for row in rows:
        row["of the need"] = row["torque [N m]"] / need
    held = [r for r in rows if r["of the need"] > 1.3]
    weak = [r for r in rows if r["of the need"] < 0.75]
    carried = max(abs(r["carried / weight"] - 1.0) for r in held)
    balance = max(r["virtual work"] for r in held)
    slip = max(r["slipped [m]"] for r in held)
    left = min(r["slipped [m]"] for r in weak)
    claims = [
        Claim("motors carry the block's weight", "within 1 %", f"{100 * carried:.2g} %", carried < 0.01),
        Claim("torque = virtual work of the contacts", "within 1 %", f"{100 * balance:.2g} %", balance < 0.01),
        Claim("held above the needed torque", "slips < 5 mm", f"{1e3 * slip:.2g} mm", slip < 5e-3),
        Claim("slips below it", "left on the floor", f"{1e3 * left:.3g} of {1e3 * LIFT:g} mm", left > 0.5 * LIFT),
        *_as_prescribed(3, 1e-2, 1e-5),
        *([] if quick else _as_prescribed(5, 2.5e-3, 1e-4)),
    ]
    notes = [
        f"Coulomb: {need:.3g} N m are needed, from the weight, the friction coefficient and where the fingers touch."
    ]
    return Table("world/gripper", f"A hand lifts a soft block, mu = {MU}", rows, claims, notes)


def _lifted(torque: float, cells: int, h: float) -> tuple[dict[str, Any], TimeStep]:
    """A run with motors of ``torque`` [N m], and what its end says."""
    last = list(simulate(gripper(torque, LIFT, mu=MU, cells=cells, h=h, duration=1.4)))[-1]
    part, own = last.system.parts[1], last.system.slices[1]
    q, v = last.state.q[own], last.state.v[own]
    motors = {part.tree.names[f.link]: f for f in part.forces if isinstance(f, Servo)}
    pull = motors["palm"].torque(q[part.tree.slice("palm").start], last.state.t)
    weight = G * last.system.parts[0].total_mass
    carried = pull - G * part.total_mass
    errors = [abs(_moment(last, s) + _torque(motors[s], q, v, part, last.state.t)) / torque for s in ("left", "right")]
    n = len(last.scene.bodies[0].mesh.X)
    risen = float(last.system.positions(last.state.q)[:n, 2].mean() - last.scene.bodies[0].mesh.X[:, 2].mean())
    row = {
        "torque [N m]": torque,
        "of the need": 0.0,
        "slipped [m]": float(q[0]) - risen,
        "lifted [m]": risen,
        "carried / weight": carried / weight,
        "virtual work": max(errors),
    }
    return row, last


def _torque(motor: Servo, q: Array, v: Array, part: Any, t: float) -> float:
    """Motor and damper of a finger [N m]."""
    k = part.tree.slice(motor.link).start
    damper = sum(f.damping for f in part.forces if not isinstance(f, Servo) and f.link == motor.link)
    return motor.torque(q[k], t) - damper * float(v[k])


def _loads(last: TimeStep, side: str) -> tuple[Array, Array, Array, Array]:
    """Contact points (c, 3) and forces (c, 3) on a finger, the place of its hinge and its axis."""
    part, own = last.system.parts[1], last.system.slices[1]
    i = part.tree.index[side]
    touch = last.system.contacts(last.state.q, last.state.v, last.state.t)
    names = last.system.contact.setting.names
    number = names.index(f"hand/{side}")
    force = touch.normal_force[:, None] * touch.normals + touch.friction_force
    first, second = (touch.bodies[:, 0] == number), (touch.bodies[:, 1] == number)
    p, f = touch.points[first | second], (force * np.where(first, 1.0, -1.0)[:, None])[first | second]
    frame = part.kinematics(last.state.q[own], np.zeros_like(last.state.q[own])).joint_frames[i]
    return p, f, frame[:3, 3], frame[:3, :3] @ part.tree.links[i].joint.axis


def _moment(last: TimeStep, side: str) -> float:
    """Of the contacts and of its own weight about the hinge of a finger [N m]."""
    part, own = last.system.parts[1], last.system.slices[1]
    i = part.tree.index[side]
    p, f, hinge, axis = _loads(last, side)
    center = part.kinematics(last.state.q[own], np.zeros_like(last.state.q[own])).frames[i, :3, 3]
    weight = np.array([0.0, 0.0, -G * part.tree.links[i].body.mass])
    return float(axis @ (np.cross(p - hinge, f).sum(axis=0) + np.cross(center - hinge, weight)))


def _need(last: TimeStep) -> float:
    """The torque at which the friction of two fingers just carries the block, pressing where they do now."""
    weight = G * last.system.parts[0].total_mass
    needs = []
    for side in ("left", "right"):
        p, f, hinge, axis = _loads(last, side)
        middle = np.average(p, axis=0, weights=np.linalg.norm(f, axis=1))
        out = np.array([np.sign(f[:, 0].sum()), 0.0, 0.0])  # the block pushes the finger away
        load = 0.5 * weight * (out / MU - np.array([0.0, 0.0, 1.0]))
        needs.append(-float(axis @ np.cross(middle - hinge, load)))
    return float(np.mean(needs))


def _as_prescribed(cells: int, h: float, bound: float) -> list[Claim]:
    """A hand on rails takes the block: its fingers as obstacles that feel nothing, and as links that motors drive.

    Springs and friction are the same in both: one stiffness, and normal forces of friction that are found until they
    agree with the step; found once per step, forces differ by 1 %. The fingers are wider than the block, so that it is
    the block's vertices that touch in both. On finer meshes more of them stick and slip, hence the ``bound``. h must be
    small enough for a step to have one root: with 5^3 cells and 10 ms the step that lifts the squeezed block has
    several, and a sideways speed of 1e-5 m/s at the start changes the force of a finger by 8 %, of obstacles alone.
    """
    scenes, block = _on_rails(cells, h)
    heights, pushed, driven = [], [], 0.0
    for scene in scenes:
        *_, last = simulate(scene)
        x, n = last.system.positions(last.state.q), len(block.mesh.X)
        heights.append(float((x[:n] - block.mesh.X)[:, 2].mean()))
        touch = last.system.contacts(last.state.q, last.state.v, last.state.t)
        force = (touch.normal_force[:, None] * touch.normals + touch.friction_force)[touch.points[:, 0] < 0.0]
        pushed.append(float(np.linalg.norm(force.sum(axis=0))))
        if last.reactions is not None:
            driven = abs(float(last.reactions.force(0)[0]) / force[:, 0].sum())
    rise, push = (abs(b - a) / abs(a) for a, b in (heights, pushed))
    show = lambda pair, unit, part: " and ".join(f"{x:.6g} {unit}" for x in pair) + f" ({part:.1e} apart)"
    within = f"within {bound:g}"
    lifted = show([1e3 * z for z in heights], "mm", rise)
    return [
        Claim(f"hand on rails, {cells}^3 cells, obstacles and links: lifted", within, lifted, rise < bound),
        Claim("the same: force of a finger on the block", within, show(pushed, "N", push), push < bound),
        Claim("motor force / force of its finger", "1 within 1e-5", f"{driven:.8f}", abs(driven - 1.0) < 1e-5),
    ]


def _on_rails(cells: int, h: float) -> tuple[list[Scene], Solid]:
    """The two scenes, and their block."""
    block, duration = one_way(cells=cells, h=0.1).bodies[0], 0.9
    wide = cuboid((FINGER, 1.4 * SIDE, 1.5 * SIDE), 1000.0, at(0.0, 0.0, -0.75 * SIDE - 0.6 * FINGER))
    rails = prescribed(0.012, LIFT)
    links = [link if link.name == "palm" else replace(link, body=wide) for link in rails.tree.links]
    motors = [c for c in rails.constraints if isinstance(c, PrescribedJoint)]
    robot = ArticulatedSystem(links)
    ways: dict[int, Any] = {robot.tree.slice(robot.tree.body(m.link)).start: m.position for m in motors}
    times = h * np.arange(round(duration / h) + 1)
    track = [State(np.array([ways[k](t) for k in sorted(ways)]), np.zeros(3), float(t)) for t in times]
    common: Any = {
        "contact": PenaltyContact(k=2e4, mu=0.9, creep=1e-3, friction_solves=20),
        "integrator": BDF1(Newton(tolerance=Tolerance(1e-8, 1e-11))),
        "h": h,
        "duration": duration,
    }
    hand = Articulated(links, constraints=motors, name="hand")
    return [
        Scene([block], obstacles=[Plane(), *moving_obstacles(robot, track)], **common),
        Scene([block, hand], obstacles=[Plane()], **common),
    ], block

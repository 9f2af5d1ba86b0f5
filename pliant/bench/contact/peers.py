"""contact/peers: a stack of cubes, a slope and a grip beside MuJoCo and Newton: penetration, drift, CPU time.

The same rigid cubes, masses, friction and steps in all of them. MuJoCo has its own defaults but for elliptic cones,
which are Coulomb's, and ten times the impedance of friction against normal forces (its manual's advice against slip).
The solvers and settings of Newton are those of `pliant.bench.contact.cubes_newton`.
"""

from time import process_time
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.bench.contact.cubes import PAD, PAD_MASS, PUSH, SIDES, Cubes, H, grip, slope, stack
from pliant.bench.contact.cubes_newton import WAYS, motion
from pliant.bench.newton import peer, said
from pliant.bench.table import Claim, Table
from pliant.errors import MissingDependency
from pliant.simulate import simulate
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.penalty_contact import PenaltyContact

CREEP = 1e-4  # m/s
OURS: dict[str, Any] = {"penalty": PenaltyContact, "barrier": BarrierContact}
NOTES = [
    "depth: deepest penetration in the second half of the run; drift: the fastest that any cube then moves on average. "
    "slope: 0.05 rad below the friction angle. grip: two pads of 5 kg on slides, pushed with 60 N. CPU: of a step of "
    "5 ms, the mean over the run, start excluded. What drifts in our stack is its sway after landing, which falls "
    "tenfold every 0.4 s, down to what the solver's tolerance leaves, about 1e-4 mm/s.",
    "Newton XPBD: 10 iterations, 5 steps in one of 5 ms. Newton VBD: 40 iterations, compliant augmented Lagrangian, "
    "contact stiffness 1e6 N/m. Both in single precision, which is the only one there is, and on the CPU, for which "
    "Newton is not made: it starts every kernel from Python, as on a GPU for thousands of such scenes at once.",
]


def run(*, quick: bool = False) -> Table:
    duration, newton = 0.2 if quick else 3.0, peer() is not None
    rows = []
    for cubes in (stack(), slope(), grip()):
        rows += [_ours(cubes, kind, duration) for kind in OURS]
        rows.append(_mujoco(cubes, duration))
        for way in WAYS if newton else ():
            rows.append(_row(cubes.name, way.name, *motion(cubes, way, duration)))
    by = {name: [row for row in rows if row["by"] == name] for name in dict.fromkeys(row["by"] for row in rows)}
    barrier, deepest = by["barrier"], {name: max(row["depth [mm]"] for row in by[name]) for name in by}
    claims = [
        Claim(
            "barrier: nothing penetrates [mm]",
            "0",
            f"{deepest['barrier']:g} ({', '.join(f'{k} {d:.2g}' for k, d in deepest.items() if k not in OURS)})",
            deepest["barrier"] == 0.0,
        )
    ]
    for name in (name for name in by if name not in OURS):
        slower = [a["drift [mm/s]"] <= b["drift [mm/s]"] for a, b in zip(barrier, by[name], strict=True)]
        claims.append(
            Claim(f"barrier: scenes that drift no more than those of {name}", "3", f"{sum(slower)}", all(slower))
        )
    for name in (name for name in by if name not in OURS):
        cost = max(a["CPU [ms]"] / b["CPU [ms]"] for a, b in zip(barrier, by[name], strict=True))
        claims.append(Claim(f"barrier: times {name}'s CPU time of a step, at most", "10", f"{cost:.3g}", cost <= 10.0))
    return Table("contact/peers", "Stack, slope and grip beside MuJoCo and Newton", rows, claims, [*NOTES, said()])


def _ours(cubes: Cubes, kind: str, duration: float) -> dict[str, Any]:
    depth, begun, count = 0.0, process_time(), len(cubes.cubes)
    places: list[Array] = []
    for step in simulate(cubes.scene(OURS[kind](mu=cubes.mu, creep=CREEP), duration)):
        if len(places) == 0:
            begun = process_time()
        corners = step.system.positions(step.state.q).reshape(-1, 8, 3)[:count]
        places.append(corners.mean(axis=1))
        if step.state.t > 0.5 * duration:
            depth = max(depth, step.report.penetration or 0.0)
    return _row(cubes.name, kind, np.array(places), depth, process_time() - begun)


def _row(name: str, by: str, places: Array, depth: float, seconds: float) -> dict[str, Any]:
    """``places (k, m, 3)`` of the cubes after every step [m], and the CPU time of all steps but the first."""
    half = len(places) // 2
    drift = np.linalg.norm(places[-1] - places[half], axis=-1).max() / ((len(places) - 1 - half) * H)
    return {
        "scene": name,
        "by": by,
        "depth [mm]": 1e3 * depth,
        "drift [mm/s]": 1e3 * float(drift),
        "CPU [ms]": 1e3 * seconds / (len(places) - 1),
    }


def _mujoco(cubes: Cubes, duration: float) -> dict[str, Any]:
    try:
        import mujoco
    except ImportError as error:
        raise MissingDependency("the peer is not installed", remedy="pip install mujoco") from error
    model = mujoco.MjModel.from_xml_string(_mjcf(cubes))
    data = mujoco.MjData(model)
    data.ctrl[:] = PUSH
    depth, begun = 0.0, process_time()
    places: list[Array] = []
    while data.time < duration - 0.5 * H:
        mujoco.mj_step(model, data)
        if len(places) == 0:
            begun = process_time()
        places.append(data.xpos[1 : 1 + len(cubes.cubes)].copy())
        if data.time > 0.5 * duration:
            depth = max(depth, -float(data.contact.dist.min(initial=0.0)))
    return _row(cubes.name, "MuJoCo", np.array(places), depth, process_time() - begun)


def _mjcf(cubes: Cubes) -> str:
    """The scene as MuJoCo reads it."""
    world, motors = "" if cubes.pads else '<geom type="plane" size="5 5 1"/>', ""
    words = lambda numbers: " ".join(f"{x}" for x in numbers)
    for z, edge in cubes.cubes:
        half = words([0.5 * edge] * 3)
        world += f'<body pos="0 0 {z}"><freejoint/><geom type="box" size="{half}" density="{cubes.density}"/></body>'
    for name, side in SIDES.items() if cubes.pads else ():
        world += (
            f'<body pos="{words(cubes.pad_at(side))}"><joint name="{name}" type="slide" axis="{-side} 0 0"/>'
            f'<geom type="box" size="{words(0.5 * x for x in PAD)}" mass="{PAD_MASS}"/></body>'
        )
        motors += f'<motor joint="{name}"/>'
    return (
        f'<mujoco><option timestep="{H}" cone="elliptic" impratio="10" gravity="{words(cubes.gravity)}"/>'
        f'<default><geom friction="{cubes.mu} 0 0"/></default>'
        f"<worldbody>{world}</worldbody><actuator>{motors}</actuator></mujoco>"
    )

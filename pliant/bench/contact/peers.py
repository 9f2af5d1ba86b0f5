"""contact/peers: a stack of boxes, a slope and a grip beside MuJoCo, in one run: penetration, drift, CPU time.

The same boxes, masses, friction and steps in both. MuJoCo has its own defaults but for elliptic cones, which are
Coulomb's, and ten times the impedance of friction against normal forces (its manual's advice against slip). Its pads
are rigid, of 5 kg, and pushed by constant forces; ours are soft and driven. Newton (Warp) is not beside them: it needs
packages that are not among ours.
"""

from dataclasses import replace
from math import atan, cos, sin
from time import process_time
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.articulated.body import Rigid
from pliant.bench.contact.grip import MASS, SIDE, pads
from pliant.bench.table import Claim, Table
from pliant.contact.obstacles import Plane
from pliant.errors import MissingDependency
from pliant.integrators import BDF1
from pliant.mesh import box
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.penalty_contact import PenaltyContact

G, H, EDGE, COUNT, MU, CREEP = 9.81, 5e-3, 0.1, 5, 0.5, 1e-4
PUSH, SQUEEZED = 60.0, 0.9  # N, mu of the grip
OURS: dict[str, Any] = {"penalty": PenaltyContact, "barrier": BarrierContact}
NOTES = [
    "depth: deepest penetration in the second half of the run; drift: the fastest that any body then moves on average. "
    "slope: 0.05 rad below the friction angle. CPU: of a step, the mean over the run, start excluded.",
]


def run(*, quick: bool = False) -> Table:
    duration = 0.2 if quick else 3.0
    scenes = {"stack": _stack(), "slope": _slope(), "grip": None}
    rows = []
    for name, bodies in scenes.items():
        rows += [_ours(name, bodies, kind, duration) for kind in OURS]
        rows.append(_mujoco(name, duration))
    barrier, theirs = ([r for r in rows if r["by"] == by] for by in ("barrier", "MuJoCo"))
    slower = [a["drift [mm/s]"] <= b["drift [mm/s]"] for a, b in zip(barrier, theirs, strict=True)]
    cost = max(a["CPU [ms]"] / b["CPU [ms]"] for a, b in zip(barrier, theirs, strict=True))
    claims = [
        Claim(
            "barrier: nothing penetrates [mm]",
            "0",
            f"{max(r['depth [mm]'] for r in barrier):g} (MuJoCo {max(r['depth [mm]'] for r in theirs):.2g})",
            all(r["depth [mm]"] == 0.0 for r in barrier),
        ),
        Claim("barrier: scenes that drift no more than MuJoCo's", "3", f"{sum(slower)}", all(slower)),
        Claim("times MuJoCo's CPU time of a step, at most", "10", f"{cost:.0f}", cost <= 10.0),
    ]
    return Table("contact/peers", "Stack, slope and grip beside MuJoCo", rows, claims, NOTES)


def _cube(z: float, edge: float = EDGE) -> Any:
    return box((edge, edge, edge), (1, 1, 1)).transformed(translate=(-0.5 * edge, -0.5 * edge, z))


def _stack() -> tuple[list[Rigid], float]:
    """Boxes that become smaller upwards, and the angle by which gravity is tilted."""
    edges = [EDGE - 2e-3 * k for k in range(COUNT)]
    z = np.cumsum([2e-4, *(e + 2e-4 for e in edges[:-1])])
    return [Rigid(_cube(float(at), e), name=f"box {k}") for k, (at, e) in enumerate(zip(z, edges, strict=True))], 0.0


def _slope() -> tuple[list[Rigid], float]:
    return [Rigid(_cube(2e-4), name="box")], atan(MU) - 0.05


def _ours(name: str, what: Any, kind: str, duration: float) -> dict[str, Any]:
    if what is None:
        scene = pads(OURS[kind](mu=SQUEEZED, creep=CREEP), PUSH, duration=duration)
    else:
        bodies, tilt = what
        contact, gravity = OURS[kind](mu=MU, creep=CREEP), (G * sin(tilt), 0.0, -G * cos(tilt))
        scene = Scene(
            bodies, contact=contact, obstacles=[Plane()], gravity=gravity, integrator=BDF1(), h=H, duration=duration
        )
    depth, begun = 0.0, process_time()
    places: list[Array] = []
    for step in simulate(replace(scene, on_failure="substep")):
        if len(places) == 0:
            begun = process_time()
        points = step.system.positions(step.state.q).reshape(-1, 3)
        n = len(scene.bodies[0].mesh.X) if what is None else 8  # the block, or the corners of every box
        places.append(points[:n].mean(axis=0)[None] if what is None else points.reshape(-1, n, 3).mean(axis=1))
        if step.state.t > 0.5 * duration:
            depth = max(depth, step.report.penetration or 0.0)
    return _row(name, kind, depth, np.array(places), process_time() - begun, duration)


def _row(name: str, by: str, depth: float, places: Any, seconds: float, duration: float) -> dict[str, Any]:
    half = len(places) // 2
    drift = np.linalg.norm(places[-1] - places[half], axis=-1).max() / ((len(places) - 1 - half) * H)
    return {
        "scene": name,
        "by": by,
        "depth [mm]": 1e3 * depth,
        "drift [mm/s]": 1e3 * float(drift),
        "CPU [ms]": 1e3 * seconds / (len(places) - 1),
    }


def _mujoco(name: str, duration: float) -> dict[str, Any]:
    try:
        import mujoco
    except ImportError as error:
        raise MissingDependency("the peer is not installed", remedy="pip install mujoco") from error
    model = mujoco.MjModel.from_xml_string(_mjcf(name))
    data = mujoco.MjData(model)
    data.ctrl[:] = PUSH
    depth, begun = 0.0, process_time()
    places: list[Array] = []
    bodies = [k for k in range(1, model.nbody) if "pad" not in model.body(k).name]
    while data.time < duration - 0.5 * H:
        mujoco.mj_step(model, data)
        places.append(data.xpos[bodies].copy())
        if data.time > 0.5 * duration:
            depth = max(depth, -float(data.contact.dist.min(initial=0.0)))
    return _row(name, "MuJoCo", depth, np.array(places), process_time() - begun, duration)


def _mjcf(name: str) -> str:
    """The scene as MuJoCo reads it."""
    tilt, mu = (_slope()[1], MU) if name == "slope" else (0.0, SQUEEZED if name == "grip" else MU)
    free = lambda k, z, half, density: (
        f'<body name="b{k}" pos="0 0 {z}"><freejoint/>'
        f'<geom type="box" size="{half} {half} {half}" density="{density}"/></body>'
    )
    floor, motors = '<geom type="plane" size="5 5 1"/>', ""
    if name == "grip":
        floor = ""
        world = free("lock", 0.5 * SIDE, 0.5 * SIDE, MASS / SIDE**3)
        for side, sign in (("left", -1), ("right", 1)):
            world += (
                f'<body name="pad {side}" pos="{sign * (0.5 * SIDE + 0.0102)} 0 {0.5 * SIDE}">'
                f'<joint name="{side}" type="slide" axis="{-sign} 0 0" armature="5"/>'
                f'<geom type="box" size="0.01 0.02 0.02" density="1000"/></body>'
            )
            motors += f'<motor joint="{side}"/>'
    else:
        boxes, _ = _stack() if name == "stack" else _slope()
        world = ""
        for k, rigid in enumerate(boxes):
            low, high = rigid.mesh.bounds
            world += free(k, 0.5 * (low[2] + high[2]), 0.5 * (high[2] - low[2]), 1000)
    return (
        f'<mujoco><option timestep="{H}" cone="elliptic" impratio="10" gravity="{G * sin(tilt)} 0 {-G * cos(tilt)}"/>'
        f'<default><geom friction="{mu} 0 0"/></default>'
        f"<worldbody>{floor}{world}</worldbody><actuator>{motors}</actuator></mujoco>"
    )

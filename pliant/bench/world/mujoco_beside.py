"""A chain and a pile of boxes in MuJoCo and here, in one run; without MuJoCo only ours."""

from importlib import import_module
from time import process_time
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.articulated import Articulated, Link, Rigid, at, cuboid
from pliant.articulated.joints import Revolute
from pliant.bench.world.mixtures import TIGHT
from pliant.contact.obstacles import Plane
from pliant.integrators import BDF2, LinearlyImplicit
from pliant.mesh import box
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.systems.row_contact import RowContact

G, SIDE, LENGTH, THICK = 9.81, 0.1, 0.2, 0.04
AXIS = np.array([0.0, 1.0, 0.0])


def compare(*, quick: bool = False) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows of the table, and a note on what stood beside us."""
    links, boxes, T = (3, 2, 0.2) if quick else (8, 5, 0.5)
    tip, ours = _chain(links, T)
    rows = [{"case": f"chain of {links}", "method": "BDF2", "h [ms]": 1.0, "ms per step": ours}]
    pile = _pile(boxes, T)
    rows.append({"case": f"pile of {boxes}", "method": "velocity step, rows", "h [ms]": 2.0, **pile})
    try:
        mujoco = import_module("mujoco")
    except ImportError:
        return rows, ["MuJoCo: not installed"]
    other, theirs = _their_chain(mujoco, links, T)
    apart = float(np.linalg.norm(tip - other)) / (links * LENGTH)
    rows.append(
        {
            "case": f"chain of {links}",
            "method": "MuJoCo, RK4",
            "h [ms]": 1.0,
            "ms per step": theirs,
            "tips apart": apart,
        }
    )
    rows.append(
        {"case": f"pile of {boxes}", "method": "MuJoCo, implicit", "h [ms]": 2.0, **_their_pile(mujoco, boxes, T)}
    )
    told = f"MuJoCo {mujoco.__version__}; its contacts are springs, so its boxes sink in a little, ours do not"
    return rows, [told]


def _chain(links: int, T: float) -> tuple[Array, float]:
    """A chain of bars along x, hinged about y at its end, let go: its tip at T, and CPU time per step [ms]."""
    bar = cuboid((LENGTH, THICK, THICK), 1000.0, at(0.5 * LENGTH, 0.0, 0.0))
    parts = [Link(Revolute(AXIS), bar, name="0")]
    for k in range(1, links):
        parts.append(Link(Revolute(AXIS), bar, parent=k - 1, frame=at(LENGTH, 0.0, 0.0), name=str(k)))
    scene = Scene([Articulated(parts)], integrator=BDF2(TIGHT), gravity=(0.0, 0.0, -G), h=1e-3, duration=T)
    next(simulate(scene))  # may compile
    begun = process_time()
    *_, last = simulate(scene)
    spent = (process_time() - begun) / scene.steps
    frame = last.system.kinematics(last.state.q, last.state.v).joint_frames[-1]
    return frame[:3, :3] @ [LENGTH, 0.0, 0.0] + frame[:3, 3], 1e3 * spent


def _pile(boxes: int, T: float) -> dict[str, float]:
    """Boxes let go 1 mm above each other: how far from their places they end, the load on the floor, CPU time."""
    mesh = box((SIDE,) * 3, (1, 1, 1)).transformed(translate=(-SIDE / 2,) * 3)
    bodies = [
        Rigid(mesh.transformed(translate=(0.004 * k, 0.003 * k, z)), 1000.0, name=f"box {k}")
        for k, z in enumerate(_heights(boxes))
    ]
    contact = RowContact(mu=0.5, thickness=1e-5, edges=True)
    scene = Scene(bodies, contact=contact, obstacles=[Plane()], integrator=LinearlyImplicit(), h=2e-3, duration=T)
    next(simulate(scene))
    begun = process_time()
    *_, last = simulate(scene)
    spent = (process_time() - begun) / scene.steps
    z = last.system.positions(last.state.q).reshape(boxes, -1, 3)[:, :, 2].mean(axis=1)
    memory: Any = last.memory
    weight = boxes * 1000.0 * SIDE**3 * G
    floor = sum(k + 1 for k in range(boxes)) / boxes * weight  # every box carries those above it
    return {
        "ms per step": 1e3 * spent,
        "off [mm]": _off(z),
        "load": float(memory.part.pressed.sum()) / float(scene.h) / floor,
    }


def _heights(boxes: int) -> list[float]:
    return [0.5 * SIDE + k * SIDE + 1e-3 * (k + 1) for k in range(boxes)]


def _off(z: Array) -> float:
    """Largest distance from where boxes on top of each other are [mm]."""
    return 1e3 * float(np.abs(z - SIDE * (0.5 + np.arange(len(z)))).max())


def _their_chain(mujoco: Any, links: int, T: float) -> tuple[Array, float]:
    text, half = "", 0.5 * LENGTH
    for k in reversed(range(links)):
        place = f'pos="{LENGTH if k else 0} 0 0"'
        geom = f'<geom type="box" size="{half} {THICK / 2} {THICK / 2}" pos="{half} 0 0" density="1000"/>'
        text = f'<body {place}><joint type="hinge" axis="0 1 0"/>{geom}{text}</body>'
    head = f'<option timestep="0.001" integrator="RK4" gravity="0 0 -{G}"><flag contact="disable"/></option>'
    model = mujoco.MjModel.from_xml_string(f"<mujoco>{head}<worldbody>{text}</worldbody></mujoco>")
    data, spent = _stepped(mujoco, model, T)
    mujoco.mj_forward(model, data)
    return data.xpos[-1] + data.xmat[-1].reshape(3, 3) @ [LENGTH, 0.0, 0.0], spent


def _stepped(mujoco: Any, model: Any, T: float) -> tuple[Any, float]:
    """The state after the time T, and the CPU time of a step [ms]."""
    data, steps = mujoco.MjData(model), round(T / model.opt.timestep)
    begun = process_time()
    for _ in range(steps):
        mujoco.mj_step(model, data)
    return data, 1e3 * (process_time() - begun) / steps


def _their_pile(mujoco: Any, boxes: int, T: float) -> dict[str, float]:
    size = f"{SIDE / 2} {SIDE / 2} {SIDE / 2}"
    geom = f'<geom type="box" size="{size}" density="1000" friction="0.5"/>'
    text = "".join(
        f'<body pos="{0.004 * k} {0.003 * k} {z}"><freejoint/>{geom}</body>' for k, z in enumerate(_heights(boxes))
    )
    head = f'<option timestep="0.002" integrator="implicitfast" gravity="0 0 -{G}"/>'
    floor = '<geom type="plane" size="1 1 0.1" friction="0.5"/>'
    model = mujoco.MjModel.from_xml_string(f"<mujoco>{head}<worldbody>{floor}{text}</worldbody></mujoco>")
    data, spent = _stepped(mujoco, model, T)
    f, load = np.zeros(6), 0.0
    for k in range(data.ncon):
        mujoco.mj_contactForce(model, data, k, f)
        load += f[0]
    weight = boxes * 1000.0 * SIDE**3 * G
    carried = sum(k + 1 for k in range(boxes)) / boxes * weight
    return {"ms per step": spent, "off [mm]": _off(data.xpos[1:, 2]), "load": load / carried}

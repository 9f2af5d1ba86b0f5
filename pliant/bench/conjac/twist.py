"""conjac/twist: torsional waves need nodes off the axis. [ConJac2020, Fig. 4]"""

from dataclasses import replace
from typing import Any

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.bench.conjac.play import march
from pliant.bench.race import no_inversion
from pliant.bench.table import Claim, Table
from pliant.integrators import ConJac
from pliant.maps.motions import Keyframes
from pliant.maps.pins import Pin
from pliant.mesh import Mesh, bar, paper_bar
from pliant.scene import Scene
from pliant.scenes.conjac import twist, twist_nodes

TURN = 0.1  # the driven end turns by 90 degrees in this time [s], and stops


def quick_turn(mesh: Mesh, count: int) -> Scene:
    """TWIST without weight, its end turned fast and stopped."""
    scene = twist(mesh=mesh, integrator=ConJac(twist_nodes(mesh, count), beta=0.5))
    body: Any = scene.bodies[0]
    script = body.pins[1].motion
    turn = Keyframes((0.0, TURN), (), ((0, 0, 0), (np.pi / 2, 0, 0)), script.pivot)
    pins = [body.pins[0], Pin(body.pins[1].vertices, turn)]
    return replace(scene, bodies=[replace(body, pins=pins)], gravity=(0.0, 0.0, 0.0), h=2.5e-3, duration=0.6)


def angle(X: Array, x: Array, slice_: IntArray) -> float:
    """Mean turn [deg] of a slice about the axis of the bar."""
    A, a = X[slice_, 1:] - X[slice_, 1:].mean(axis=0), x[slice_, 1:] - x[slice_, 1:].mean(axis=0)
    return float(np.degrees(np.arctan2((A[:, 0] * a[:, 1] - A[:, 1] * a[:, 0]).sum(), (A * a).sum())))


def wave(mesh: Mesh, count: int) -> dict[str, Any]:
    """Kinetic energy left in the twist and the swing of the middle slice after the end has stopped."""
    scene = quick_turn(mesh, count)
    x = mesh.X[:, 0]
    middle = np.flatnonzero(abs(x - 0.5 * (x.min() + x.max())) < 1e-6)
    angles, least = [], 1.0
    for moment in march(scene):
        least = min(least, moment.det)
        if moment.state.t > TURN + float(scene.h):
            angles.append(angle(mesh.X, moment.state.q.reshape(-1, 3), middle))
    final = 45.0
    overshoot = np.array(angles) - final
    turns = int(np.count_nonzero(np.diff(np.sign(overshoot[abs(overshoot) > 0.02]))))
    swing = float(overshoot.max() - overshoot.min()) if len(angles) else float("nan")
    found = {"nodes": count, "swing deg": swing, "overshoot deg": float(overshoot.max()), "crossings": turns}
    return found | {"min det F": least}


def run(*, quick: bool = False) -> Table:
    mesh = bar((0.15, 0.045, 0.045), (18, 4, 4)) if quick else paper_bar("TWIST")
    counts = (1, 2, 4, 8, 16, 32)
    rows = [wave(mesh, count) for count in counts]
    axis = max(row["overshoot deg"] for row in rows if row["nodes"] < 8)
    slices = min(row["overshoot deg"] for row in rows if row["nodes"] >= 8)
    claims = [
        Claim("CJ-5 nodes on the axis: no torsional wave", "none", f"overshoot {axis:.3f} deg", axis < 0.1),
        Claim("CJ-5 nodes on slices: torsional wave", "yes", f"overshoot at least {slices:.2f} deg", slices > 1.0),
        no_inversion({f"{row['nodes']} nodes": row["min det F"] for row in rows}),
    ]
    notes = ["turned by 90 degrees in 0.1 s and stopped; the middle slice should come to 45 degrees"]
    return Table("conjac/twist", "Torsional waves in TWIST", rows, claims, notes)

"""The cubes in Newton (Warp), on the CPU, by the two of its solvers that have Coulomb's friction of their own.

XPBD has the iterations of Newton's own friction tests, and as many steps in one of ours as its example of shapes in one
of its frames. VBD has the augmented Lagrangian that its manual recommends, with the iterations and contact stiffness of
Newton's friction tests, in steps as long as ours. Both find contacts before every step of theirs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.bench.contact.cubes import PAD, PAD_MASS, PUSH, SIDES, Cubes, H
from pliant.bench.newton import peer


@dataclass(frozen=True)
class Way:
    """A solver of Newton with its settings: ``make(newton, model)``, steps in one of ours, contact stiffness [N/m]."""

    name: str
    make: Callable[[Any, Any], Any]
    substeps: int
    ke: float


WAYS = (
    Way("Newton XPBD", lambda newton, model: newton.solvers.SolverXPBD(model, iterations=10), 5, 1e5),
    Way(
        "Newton VBD",
        lambda newton, model: newton.solvers.SolverVBD(model, iterations=40, rigid_compliant_alm=True),
        1,
        1e6,
    ),
)


def motion(cubes: Cubes, way: Way, duration: float) -> tuple[Array, float, float]:
    """Where the cubes are after every step (k, m, 3) [m], the deepest penetration in the second half [m], CPU time [s].

    The time is that of all steps but the first, which may compile.
    """
    found = peer()
    assert found is not None
    newton, wp = found
    with wp.ScopedDevice("cpu"):
        model = _model(newton, wp, cubes, way.ke)
        solver, control = way.make(newton, model), model.control()
        states, finder = [model.state(), model.state()], newton.CollisionPipeline(model)
        contacts, places, depth, seconds = finder.contacts(), [], 0.0, 0.0
        if cubes.pads:
            push = np.zeros(model.joint_dof_count, dtype=np.float32)
            push[-len(SIDES) :] = [-PUSH * side for side in SIDES.values()]
            control.joint_f.assign(push)
        steps = round(duration / H)
        for k in range(steps):
            begun = process_time()
            for _ in range(way.substeps):
                states[0].clear_forces()
                finder.collide(states[0], contacts)
                solver.step(states[0], states[1], control, contacts, H / way.substeps)
                states.reverse()
            seconds += process_time() - begun if k else 0.0
            places.append(states[0].body_q.numpy()[: len(cubes.cubes), :3].astype(np.float64))
            if 2 * (k + 1) > steps:
                finder.collide(states[0], contacts)
                depth = max(depth, _depth(contacts, states[0].body_q.numpy(), model.shape_body.numpy()))
    return np.array(places), depth, seconds


def _model(newton: Any, wp: Any, cubes: Cubes, ke: float) -> Any:
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z, gravity=cubes.gravity)
    common = builder.default_shape_cfg
    common.mu, common.mu_torsional, common.mu_rolling, common.ke, common.kd = cubes.mu, 0.0, 0.0, ke, 0.0
    there = lambda *p: wp.transform(wp.vec3(*p), wp.quat_identity())

    def block(body: int, sides: tuple[float, ...], density: float) -> None:
        shape = common.copy()
        shape.density = density
        builder.add_shape_box(body, hx=0.5 * sides[0], hy=0.5 * sides[1], hz=0.5 * sides[2], cfg=shape)

    for z, edge in cubes.cubes:
        block(builder.add_body(xform=there(0.0, 0.0, z)), (edge,) * 3, cubes.density)
    if not cubes.pads:
        builder.add_ground_plane()
    for side in SIDES.values() if cubes.pads else ():
        place = there(*cubes.pad_at(side))
        pad = builder.add_link(xform=place)
        block(pad, PAD, PAD_MASS / (PAD[0] * PAD[1] * PAD[2]))
        slide = builder.add_joint_prismatic(-1, pad, parent_xform=place, axis=newton.Axis.X)
        builder.add_articulation([slide])
    builder.color()
    return builder.finalize()


def _depth(contacts: Any, poses: Array, body_of: Array) -> float:
    """The deepest contact that Newton has found [m]; ``poses (b, 7)`` are positions and quaternions (x, y, z, w)."""
    count = int(contacts.rigid_contact_count.numpy()[0])
    ends = []
    for shape, point in (
        (contacts.rigid_contact_shape0, contacts.rigid_contact_point0),
        (contacts.rigid_contact_shape1, contacts.rigid_contact_point1),
    ):
        body, x = body_of[shape.numpy()[:count]], point.numpy()[:count].astype(np.float64)
        pose = np.where(body[:, None] >= 0, poses[body], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
        axis, w = pose[:, 3:6], pose[:, 6:]
        ends.append(x + 2.0 * np.cross(axis, np.cross(axis, x) + w * x) + pose[:, :3])
    gaps = ((ends[1] - ends[0]) * contacts.rigid_contact_normal.numpy()[:count]).sum(axis=1)
    gaps -= contacts.rigid_contact_margin0.numpy()[:count] + contacts.rigid_contact_margin1.numpy()[:count]
    return max(0.0, -float(gaps.min(initial=0.0)))

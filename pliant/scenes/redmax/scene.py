"""What the RedMax scenes share. The numbered scenes are in cm, g, s."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.articulated.bodies import Body, at, cuboid
from pliant.articulated.joints import Fixed, Joint, Revolute
from pliant.articulated.scene import ArticulatedScene
from pliant.articulated.system import ArticulatedSystem
from pliant.articulated.tree import Link
from pliant.integrators.linearly_implicit import LinearlyImplicit
from pliant.solvers import Newton, Tolerance
from pliant.state import State, Step

GRAVITY = (0.0, 0.0, -980.0)  # cm/s^2
X, Y, Z = np.eye(3)
EXACT = Newton(tolerance=Tolerance(relative=1e-12, absolute=1e-10))  # for energies that are compared to many digits


def scene(
    links: Sequence[Link],
    *,
    q: Sequence[float] | Array | None = None,
    v: Sequence[float] | Array | None = None,
    h: float = 1e-2,
    duration: float = 2.0,
    integrator: Any = None,
    **system: Any,
) -> ArticulatedScene:
    """A scene from links and initial coordinates; keywords of `ArticulatedSystem` pass through."""
    dof = sum(link.joint.dof for link in links)
    q0 = np.zeros(dof) if q is None else np.array(q, dtype=float)
    v0 = np.zeros(dof) if v is None else np.array(v, dtype=float)
    made = ArticulatedSystem(links, q=q0, **{"gravity": GRAVITY, **system})
    return ArticulatedScene(made, State(q0, v0), h, duration, integrator or LinearlyImplicit())


def run(scene: ArticulatedScene, *, integrator: Any = None, steps: int | None = None) -> list[Step]:
    """All steps of a scene, the first entry being the start."""
    method, state, memory = integrator or scene.integrator, scene.start, None
    out = [Step(state, None)]
    for _ in range(scene.steps if steps is None else steps):
        step = method.step(scene.model, scene.model.rechart(state), scene.h, memory)
        state, memory = step.state, step.memory
        out.append(step)
    return out


def energy_change(scene: ArticulatedScene, end: State) -> float:
    """H = T_end + V_end - V_start, the number the regression tables hold."""
    first = scene.model.energies(scene.start.q, scene.start.v, scene.start.t)
    return sum(scene.model.energies(end.q, end.v, end.t).values()) - first["gravity"] - first["elastic"]


def before(t: float, end: float) -> bool:
    """Whether a script's phase still lasts; rounding in accumulated times must not move the switch by a step."""
    return t < end - 1e-9


def bar(
    joint: Joint,
    sides: Sequence[float],
    centre: Sequence[float] = (0, 0, 0),
    parent: int | None = None,
    frame: Sequence[float] = (0, 0, 0),
) -> Link:
    """A cuboid of density 1: ``centre`` of the body in the joint frame, ``frame`` the joint's origin in its parent."""
    return Link(joint, cuboid(sides, 1.0, at(*centre)), parent, at(*frame))


def hinge(
    axis: Array,
    sides: Sequence[float],
    centre: Sequence[float] = (0, 0, 0),
    parent: int | None = None,
    frame: Sequence[float] = (0, 0, 0),
) -> Link:
    """`bar` on a revolute joint."""
    return bar(Revolute(axis), sides, centre, parent, frame)


def welded(body: Body, parent: int, frame: Array) -> Link:
    """A further body fixed to the joint frame of ``parent``."""
    return Link(Fixed(), body, parent, frame)


def chain(n: int, axis: Array = Y) -> list[Link]:
    """n bars 10 x 1 x 1, hinged end to end along x."""
    return [hinge(axis, (10, 1, 1), (5, 0, 0), i - 1 if i else None, (10 if i else 0, 0, 0)) for i in range(n)]

"""What the RedMax scenes share. The numbered scenes are in cm, g, s."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.articulated.bodies import Body, at, cuboid
from pliant.articulated.body import Articulated
from pliant.articulated.constraints.rows import without_friction
from pliant.articulated.joints import Fixed, Joint, Revolute
from pliant.articulated.tree import Link
from pliant.integrators.linearly_implicit import LinearlyImplicit
from pliant.scene import Scene
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
) -> Scene:
    """A scene from links and initial coordinates; keywords of `Articulated` pass through."""
    gravity = system.pop("gravity", GRAVITY)
    body = Articulated(links, q=q, v=v, **system)
    how = integrator or LinearlyImplicit()
    return Scene([body], how, h, duration, gravity, name="articulated", units="CGS")


def starting(scene: Scene, state: State) -> Scene:
    """The scene from other joint coordinates and rates."""
    return replace(scene, bodies=[replace(scene.bodies[0], q=state.q, v=state.v)])


def smooth(scene: Scene) -> Scene:
    """The scene without any friction."""
    body = scene.bodies[0]
    smoothed = without_friction(body.constraints)
    return replace(scene, bodies=[replace(body, contacts=(), dry_friction=(), constraints=smoothed)])


def run(scene: Scene, *, integrator: Any = None, steps: int | None = None) -> list[Step]:
    """All steps of a scene, the first entry being the start."""
    system = scene.system()
    method, state, memory = integrator or scene.integrator, scene.initial(), None
    out = [Step(state, None)]
    for _ in range(scene.steps if steps is None else steps):
        step = method.step(system, system.rechart(state), float(scene.h), memory)
        state, memory = step.state, step.memory
        out.append(step)
    return out


def energy_change(scene: Scene, end: State) -> float:
    """H = T_end + V_end - V_start, the number the regression tables hold."""
    system, start = scene.system(), scene.initial()
    first = system.energies(start.q, start.v, start.t)
    return sum(system.energies(end.q, end.v, end.t).values()) - first["gravity"] - first["elastic"]


def before(t: float, end: float) -> bool:
    """Whether a script's phase still lasts; rounding in accumulated times must not move the switch by a step."""
    return t < end - 1e-9


def bar(
    joint: Joint,
    sides: Sequence[float],
    center: Sequence[float] = (0, 0, 0),
    parent: int | None = None,
    frame: Sequence[float] = (0, 0, 0),
) -> Link:
    """A cuboid of density 1: ``center`` of the body in the joint frame, ``frame`` the joint's origin in its parent."""
    return Link(joint, cuboid(sides, 1.0, at(*center)), parent, at(*frame))


def hinge(
    axis: Array,
    sides: Sequence[float],
    center: Sequence[float] = (0, 0, 0),
    parent: int | None = None,
    frame: Sequence[float] = (0, 0, 0),
) -> Link:
    """`bar` on a revolute joint."""
    return bar(Revolute(axis), sides, center, parent, frame)


def welded(body: Body, parent: int, frame: Array) -> Link:
    """A further body fixed to the joint frame of ``parent``."""
    return Link(Fixed(), body, parent, frame)


def serial(joints: Sequence[Joint], start: Array | None = None) -> list[Link]:
    """Bars 10 x 1 x 1 end to end along x on these joints, the first one at the frame ``start``."""
    body, first = cuboid((10, 1, 1), 1.0, at(5, 0, 0)), np.eye(4) if start is None else start
    return [Link(joint, body, i - 1 if i else None, at(10, 0, 0) if i else first) for i, joint in enumerate(joints)]


def chain(n: int) -> list[Link]:
    """n bars hinged end to end."""
    return serial(n * [Revolute(Y)])

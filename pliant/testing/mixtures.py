"""Mixtures drawn at random: bodies of every kind, tied together, loaded and driven, some on a floor.

Unlike in `pliant.testing.invented`, everything is of everyday size and resolved by steps of a quarter millisecond, so
that methods which are right must agree.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import pliant as pl
from pliant.arrays import Array
from pliant.articulated import Link, at, cuboid, joints
from pliant.articulated.constraints import BallClosure, Constraint, CoupledJoints, PrescribedJoint
from pliant.articulated.forces import (
    BodyDamping,
    Cable,
    JointSpring,
    JointStop,
    JointTorque,
    PointSprings,
    Servo,
    SpringDamper,
    WorldForce,
)
from pliant.mesh import Mesh, bar, sheet
from pliant.mesh.topology import edges
from pliant.testing.invented import Dice

MATERIALS = (pl.StableNeoHookean, pl.StableNeoHookeanLog, pl.StVK, pl.Corotational, pl.NeoHookean)
FIBRES = (pl.AnisotropicStVK, pl.AnisotropicARAP)
DAMPINGS = (pl.Rayleigh(alpha=2.0), pl.Rayleigh(beta=1e-3), pl.Rayleigh(beta=1e-3, current=True), pl.Green(1e-3))
EDGE = 0.1  # m


def mixture(seed: int, *, strayed: float = 0.0) -> pl.Scene:
    """The scene of a seed, for 8 ms; raises a `PliantError` where it does not fit together.

    Vertices start ``strayed`` [m] from their places at rest.
    """
    dice = Dice.honest(seed)
    kinds = [dice.one(KINDS) for _ in range(dice.one((1, 2, 2, 3)))]
    bodies = [
        make(dice, f"b{k}", np.array([1.2 * EDGE * k, 0.0, 0.0]) + dice.vector(0.01)) for k, make in enumerate(kinds)
    ]
    if strayed:
        bodies = [_strayed(dice, body, strayed) for body in bodies]
    soft = [body for body in bodies if not isinstance(body, pl.Articulated | pl.Rigid)]
    scene = pl.Scene(
        bodies,
        pl.TRBDF2(),
        h=2.5e-4,
        duration=8e-3,
        gravity=dice.one(((0.0, 0.0, -9.81), (0.0, 0.0, 0.0))),
        attachments=[tie for pair in zip(bodies, bodies[1:]) for tie in _tied(dice, *pair)],
        forces=[load for body in soft for load in _loads(dice, body)],
        events=[pl.Release(4e-3, body.name) for body in soft if body.pins and dice.happens(0.15)],
    )
    return _touching(dice, scene) if dice.happens(0.3) else scene


def _strayed(dice: Dice, body: Any, far: float) -> Any:
    if isinstance(body, pl.Articulated | pl.Rigid):
        return body
    return replace(body, positions=body.mesh.X + far * dice.rng.standard_normal(body.mesh.X.shape))


def _touching(dice: Dice, scene: pl.Scene) -> pl.Scene:
    """On a floor, which may rise, close below; with springs that steps of a quarter millisecond resolve."""
    system = scene.system()
    x = system.positions(scene.initial(system).q)
    rises = dice.one((None, pl.Shake((0.0, 0.0, 0.01), 6.0)))
    ground = pl.Plane((0.0, 0.0, float(x[:, 2].min()) - dice.one((0.0, 5e-4))), motion=rises)
    among = dice.happens(0.4)
    contact = pl.PenaltyContact(k=dice.power(2.0, 3.0), mu=dice.one((0.0, 0.3)), bodies=among, self_contact=False)
    return replace(scene, contact=contact, obstacles=[ground])


def _tied(dice: Dice, a: Any, b: Any) -> list[pl.Attachment]:
    """Some vertices of one of two neighbours tied to the other, by springs or exactly where no gap has to close."""
    mine, other = (a, b) if dice.happens(0.5) and not isinstance(a, pl.Articulated | pl.Rigid) else (b, a)
    if isinstance(mine, pl.Articulated | pl.Rigid) or dice.happens(0.2):
        return []
    held = [v for pin in mine.pins for v in pin.vertices]
    free = np.setdiff1d(np.arange(len(mine.mesh.X)), held)
    chosen = dice.rng.choice(free, size=min(len(free), dice.one((1, 2, 3))), replace=False)
    exact = isinstance(other, pl.Solid | pl.Articulated | pl.Rigid) and dice.happens(0.5)
    link = int(dice.rng.integers(len(other.links))) if isinstance(other, pl.Articulated) else None
    return [pl.Attachment(mine.name, chosen, other.name, link, None if exact else 10.0 * dice.power(0.3, 1.3))]


def _loads(dice: Dice, body: Any) -> list[Any]:
    found: list[Any] = []
    if dice.happens(0.15):
        found.append(pl.Wind(dice.vector(2.0), dice.vector(2.0), 0.1, body=body.name))
    if dice.happens(0.15):
        found.append(pl.Push(np.arange(2), (0.0, 0.05), (dice.vector(0.2), dice.vector(0.2)), body=body.name))
    if isinstance(body, pl.SpringNet):
        return found
    if dice.happens(0.15):
        found.append(pl.Pressure(float(dice.rng.uniform(-30.0, 30.0)), body=body.name))
    if dice.happens(0.15):
        found.append(pl.Airflow(dice.vector(2.0), body=body.name))
    if isinstance(body, pl.Solid) and dice.happens(0.15):
        found.append(pl.Activation(dice.vector(1.0), 3e3, ((0.0, 0.0), (0.02, 1.0)), body=body.name))
    return found


def _common(dice: Dice, mesh: Mesh, name: str) -> dict[str, Any]:
    """Name, velocity, pins that may move, damping."""
    options: dict[str, Any] = {"name": name, "velocity": dice.vector(0.3)}
    if dice.happens(0.4):
        held = dice.rng.choice(len(mesh.X), size=dice.one((1, 2, 3)), replace=False)
        options["pins"] = pl.Pin(held, pl.Shake(dice.vector(0.01), 3.0) if dice.happens(0.4) else None)
    if dice.happens(0.35):
        options["damping"] = dice.one(DAMPINGS)
    return options


def _turned(dice: Dice, mesh: Mesh, by: Array) -> Mesh:
    Q = np.linalg.qr(dice.rng.normal(size=(3, 3)))[0]
    Q[:, 0] *= np.sign(np.linalg.det(Q))
    return Mesh((mesh.X - mesh.X.mean(axis=0)) @ Q.T + by, mesh.T)


def _solid(dice: Dice, name: str, by: Array) -> Any:
    mesh = _turned(dice, bar((EDGE, EDGE, EDGE), (dice.one((1, 2)), 1, 1)), by)
    material = dice.one(MATERIALS)(E=dice.power(4.0, 5.0), nu=dice.one((0.1, 0.3, 0.45)))
    if dice.happens(0.15):
        material = material + dice.one(FIBRES)(dice.vector(1.0), dice.power(4.0, 5.0))
    lumped = not dice.happens(0.15)
    return pl.Solid(mesh, material, density=dice.power(2.5, 3.3), lumped=lumped, **_common(dice, mesh, name))


def _springs(dice: Dice, name: str, by: Array) -> Any:
    block = bar((EDGE, EDGE, EDGE), (1, 1, 1))
    net = _turned(dice, Mesh(block.X, edges(block.T)), by)
    options = {key: value for key, value in _common(dice, net, name).items() if not isinstance(value, pl.Green)}
    return pl.SpringNet(net, k=dice.power(2.0, 3.0), mass=dice.power(-0.5, 0.3), **options)


def _membrane(dice: Dice, name: str, by: Array) -> Any:
    mesh = _turned(dice, sheet((1.5 * EDGE, 1.5 * EDGE), (2, 2)), by)
    material = dice.one(MATERIALS)(E=dice.power(4.0, 5.0), nu=0.3)
    return pl.Membrane(mesh, material, 2e-3, **_common(dice, mesh, name))


def _cloth(dice: Dice, name: str, by: Array) -> Any:
    mesh = _turned(dice, sheet((1.5 * EDGE, 1.5 * EDGE), (2, 2)), by)
    fabric = pl.ClothMaterial(E=dice.power(1.7, 2.5), nu=0.2, beta=1e-4, rho=0.3)
    options = {key: value for key, value in _common(dice, mesh, name).items() if not isinstance(value, pl.Green)}
    return pl.Cloth(mesh, fabric, **options)


def _rigid(dice: Dice, name: str, by: Array) -> Any:
    mesh = _turned(dice, bar((EDGE, 0.6 * EDGE, 0.4 * EDGE), (1, 1, 1)), by)
    return pl.Rigid(mesh, density=dice.power(2.5, 3.3), velocity=dice.vector(0.3), spin=dice.vector(2.0), name=name)


def _arm(dice: Dice, name: str, by: Array) -> Any:
    """Up to three links on joints of any kind, perhaps on a floating base, with springs, motors, cables."""
    links: list[Link] = []
    forces: list[Any] = []
    floating = dice.happens(0.25)
    for k in range(dice.one((1, 2, 3))):
        joint = joints.Free3D() if k == 0 and floating else dice.one(JOINTS)(dice)
        rotor = 0.005 if dice.happens(0.15) and not joint.exponential else 0.0
        body = cuboid((EDGE, 0.3 * EDGE, 0.3 * EDGE), dice.power(2.7, 3.3), at(0.5 * EDGE, 0.0, 0.0))
        frame = at(*(by if k == 0 else (EDGE, 0.0, 0.0)))
        links.append(Link(joint, body, f"l{k - 1}" if k else None, frame, f"l{k}", rotor))
        if isinstance(joint, joints.Free3D):
            continue
        if dice.happens(0.4):
            forces.append(JointSpring(f"l{k}", stiffness=dice.power(-2.0, 0.0), damping=dice.power(-4.0, -1.7)))
        if dice.happens(0.15):
            forces.append(JointTorque(f"l{k}", dice.power(-3.0, -1.3)))
        if dice.happens(0.15) and joint.dof == 1:
            forces.append(Servo(f"l{k}", position=0.3, stiffness=0.5, limit=0.1))
    last = links[-1].name
    near = lambda: by + dice.vector(EDGE)
    spot = lambda: np.array(dice.vector(0.02))
    pulls = (
        lambda: BodyDamping(0.01, last),
        lambda: WorldForce(last, np.array(dice.vector(0.03)), np.array(dice.vector(0.3))),
        lambda: PointSprings([last], spot()[None], [None], near()[None], dice.power(0.0, 1.3)),
        lambda: Cable([(None, near()), (last, spot())], dice.power(-1.0, 0.0), 0.01, slack=False),
        lambda: SpringDamper((None, near()), (last, spot()), dice.power(-1.0, 0.0), 0.01),
    )
    forces += [pull() for pull in pulls if dice.happens(0.2)]
    dof = sum(link.joint.dof for link in links)
    q = None if floating else 0.2 * dice.rng.normal(size=dof)
    arm = pl.Articulated(links, forces, q=q, v=0.5 * dice.rng.normal(size=dof), name=name)
    return arm if floating else _bound(dice, arm)


def _bound(dice: Dice, arm: pl.Articulated) -> pl.Articulated:
    """The arm with a motor, a gear, a stop that is met soon or a closed loop, all in place at the start."""
    tree, q = arm.system().tree, np.asarray(arm.q)
    turns = {str(link.name): float(q[tree.slice(link.name)][0]) for link in arm.links if link.joint.dof == 1}
    rows: list[Constraint] = []
    stops: list[Any] = []
    if turns and dice.happens(0.3):
        first = dice.one(list(turns))
        start, rate = turns.pop(first), dice.one((0.5, -1.0))
        follows = dice.one((None, lambda t: start + rate * t))
        rows.append(PrescribedJoint(first, rate, follows))
    if len(turns) > 1 and dice.happens(0.4):
        (first, a), (second, b) = [(link, turns.pop(link)) for link in list(turns)[:2]]
        rows.append(CoupledJoints(first, second, 0.5, 0.5 * a - b))
    if turns and dice.happens(0.3):
        link, angle = dice.one(list(turns.items()))
        stops.append(JointStop(link, angle - 1e-3, angle + 1e-3, dice.power(0.0, 1.0)))
    if not rows and len(q) > 3 and dice.happens(0.3):
        last, x = len(arm.links) - 1, np.array(dice.vector(0.02))
        frame = tree.kinematics(q, np.zeros(len(q))).frame(last)
        rows.append(BallClosure(last, x, None, frame[:3, :3] @ x + frame[:3, 3]))
    return replace(arm, forces=[*arm.forces, *stops], constraints=rows)


JOINTS: tuple[Callable[[Dice], Any], ...] = (
    lambda dice: joints.Revolute(np.array(dice.vector(1.0))),
    lambda dice: joints.Revolute(np.array(dice.vector(1.0))),
    lambda dice: joints.Prismatic(np.array(dice.vector(1.0))),
    lambda dice: joints.Spherical(),
    lambda dice: joints.Universal(),
    lambda dice: joints.Planar(),
    lambda dice: joints.Translational(),
)
KINDS: tuple[Callable[[Dice, str, Array], Any], ...] = (_solid, _solid, _springs, _membrane, _cloth, _rigid, _arm, _arm)

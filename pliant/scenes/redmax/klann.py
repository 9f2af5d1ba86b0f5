"""Klann's walking linkage: one leg on a fixed frame, and a walker with six legs [Weidner2022, Fig. 3.3].

Coordinates of the patent's example, in units of 10 cm: x forward, z up, foot at the origin, hinges along y. Each limb
has a rod, a leg and two rockers on a crank that three limbs of a side share: 6 x 4 + 2 = 26 joints, 12 closures with
two rows each leave the 2 cranks. Units cm, g, s.
"""

from dataclasses import dataclass

import numpy as np

from pliant.arrays import Array
from pliant.articulated.bisp import BISP
from pliant.articulated.bodies import Body, at, composite, cuboid
from pliant.articulated.constraints import FloorContact, LoopClosure, PrescribedJoint
from pliant.articulated.friction import Friction
from pliant.articulated.joint_contacts import ClosureContact, CylinderContact, JointContact
from pliant.articulated.joints import Fixed, Free3D, Revolute
from pliant.articulated.se3 import frame, inverse, rotation
from pliant.articulated.tree import Link
from pliant.scene import Scene
from pliant.scenes.redmax.scene import Y, scene

SCALE, THICK = 10.0, 0.5  # cm
UPPER, LOWER, CENTRE = np.array([1.366, 1.366]), np.array([1.009, 0.574]), np.array([1.599, 0.750])
PIN, ELBOW, KNEE = np.array([1.331, 0.750]), np.array([0.741, 0.750]), np.array([0.232, 0.866])
HIP, FOOT = np.array([0.866, 1.500]), np.array([0.0, 0.0])


@dataclass(frozen=True)
class LegPose:
    """Positions (2,) of the moving points for one crank angle, in the units of the patent."""

    pin: Array
    elbow: Array
    knee: Array
    hip: Array
    foot: Array


def pose(turn: float) -> LegPose:
    """The limb with its crank turned by ``turn`` [rad], counter-clockwise, from the example's position."""
    c, s = np.cos(turn), np.sin(turn)
    pin = CENTRE + np.array([[c, -s], [s, c]]) @ (PIN - CENTRE)
    elbow = _meet(pin, LOWER, PIN, LOWER, ELBOW)
    knee = _carried(PIN, ELBOW, KNEE, pin, elbow)
    hip = _meet(knee, UPPER, KNEE, UPPER, HIP)
    return LegPose(pin, elbow, knee, hip, _carried(KNEE, HIP, FOOT, knee, hip))


def _meet(a: Array, b: Array, a0: Array, b0: Array, c0: Array) -> Array:
    """The point as far from a and b as c0 is from a0 and b0, on the same side."""
    ra, rb, d = np.linalg.norm(c0 - a0), np.linalg.norm(c0 - b0), b - a
    length = np.linalg.norm(d)
    along = (ra**2 - rb**2 + length**2) / (2.0 * length)
    e, d0, w0 = d / length, b0 - a0, c0 - a0
    side = np.sign(d0[0] * w0[1] - d0[1] * w0[0])
    return a + along * e + side * np.sqrt(ra**2 - along**2) * np.array([-e[1], e[0]])


def _carried(a0: Array, b0: Array, c0: Array, a: Array, b: Array) -> Array:
    """Where the rigid triangle a0 b0 c0 puts c0 when a0, b0 are at a, b."""
    d0, d = complex(*(b0 - a0)), complex(*(b - a))
    w = complex(*(c0 - a0)) * d / d0
    return a + np.array([w.real, w.imag])


@dataclass(frozen=True)
class Limb:
    """A limb on the link ``crank`` of the link ``base``, at depth ``y``; mirrored ones walk behind the axle."""

    name: str
    base: str
    crank: str
    axle: Array  # (3,) of the crank axis in the base frame
    turn: float
    y: float
    mirrored: bool = False

    def pose(self) -> LegPose:
        """Where its points are at the start, as those of a limb that is not mirrored."""
        return pose(np.pi - self.turn if self.mirrored else self.turn)

    def place(self, x: Array) -> Array:
        """A point of the patent (2,) in space (3,) [cm], from the crank axis."""
        side = -1.0 if self.mirrored else 1.0
        return np.array([side * SCALE * (x[0] - CENTRE[0]), self.y, SCALE * (x[1] - CENTRE[1])])


def limb_parts(limb: Limb) -> tuple[list[Link], list[LoopClosure], Array]:
    """Links and closures of a limb, and the foot in the leg's body frame."""
    p, place = limb.pose(), limb.place
    names = {part: f"{limb.name}.{part}" for part in ("rod", "leg", "lower", "upper")}
    rod, leg = _bar(place(p.pin), place(p.pin), place(p.knee)), _bar(place(p.knee), place(p.hip), place(p.foot))
    lower = _bar(place(LOWER), place(LOWER), place(p.elbow))
    upper = _bar(place(UPPER), place(UPPER), place(p.hip))
    on_base = lambda x: at(*(limb.axle + place(x)))
    links = [
        Link(Revolute(Y), rod, limb.crank, at(*place(p.pin)), names["rod"]),
        Link(Revolute(Y), leg, names["rod"], at(*(place(p.knee) - place(p.pin))), names["leg"]),
        Link(Revolute(Y), lower, limb.base, on_base(LOWER), names["lower"]),
        Link(Revolute(Y), upper, limb.base, on_base(UPPER), names["upper"]),
    ]
    local = lambda body, pin, x: (inverse(body.frame) @ np.append(place(x) - place(pin), 1.0))[:3]
    loops = [
        LoopClosure(names["rod"], local(rod, p.pin, p.elbow), names["lower"], local(lower, LOWER, p.elbow), Y),
        LoopClosure(names["leg"], local(leg, p.knee, p.hip), names["upper"], local(upper, UPPER, p.hip), Y),
    ]
    return links, loops, local(leg, p.knee, p.foot)


def _bar(pin: Array, a: Array, b: Array) -> Body:
    """A straight bar from a to b, seen from its pin."""
    d = b - a
    turned = frame(rotation(Y, -np.arctan2(d[2], d[0])), 0.5 * (a + b) - pin)
    return cuboid((float(np.linalg.norm(d)), THICK, THICK), 1.0, turned)


def single_leg(mu: float = 0.4, *, rate: float = 2.0 * np.pi, duration: float = 1.0, h: float = 5e-3) -> Scene:
    """One leg on a fixed frame, its crank driven at ``rate`` [rad/s] counter-clockwise."""
    limb = Limb("limb", "frame", "crank", np.zeros(3), 0.0, 0.0)
    crank = _bar(np.zeros(3), np.zeros(3), limb.place(PIN))
    links = [
        Link(Fixed(), cuboid((4.0, 4.0, 4.0), 1.0), None, np.eye(4), "frame"),
        Link(Revolute(Y), crank, "frame", np.eye(4), "crank"),
    ]
    parts, loops, _ = limb_parts(limb)
    links += parts
    drive = PrescribedJoint("crank", lambda t: -rate, maximal=True)
    return scene(
        links,
        constraints=[*loops, drive],
        contacts=_cylinders(links, loops),
        h=h,
        duration=duration,
        baumgarte=0.5 / h,
        integrator=BISP(Friction(mu, 0.8)),
    )


def walker(
    mu: float = 0.2, *, rate: float = 2.0 * np.pi, duration: float = 5.0, h: float = 5e-3, body: Array | None = None
) -> Scene:
    """Six legs on a box: three per axle at phases 0, 120, 240 degrees, the right side 60 degrees later."""
    sides = np.array([16.0, 8.0, 3.0]) if body is None else np.asarray(body, dtype=float)
    foot_radius = THICK
    height = SCALE * CENTRE[1] + foot_radius + 0.3
    links = [Link(Free3D(), cuboid(tuple(sides), 1.0), None, at(0, 0, height), "body")]
    limbs, loops, floors = [], [], []
    for side, sign in (("left", 1.0), ("right", -1.0)):
        depths = sign * (0.5 * sides[1] + 1.0 + 1.5 * np.arange(3))
        turns = 2.0 * np.pi / 3.0 * np.arange(3) + (np.pi / 3.0 if sign < 0 else 0.0)
        limbs += [
            Limb(f"{side}{k}", "body", side, np.zeros(3), turns[k], depths[k], mirrored=(k % 2 == 1) == (sign > 0))
            for k in range(3)
        ]
        links.append(Link(Revolute(Y), _crank([m for m in limbs if m.crank == side]), "body", np.eye(4), side))
    for limb in limbs:
        parts, closures, foot = limb_parts(limb)
        links += parts
        loops += closures
        floors.append(FloorContact(f"{limb.name}.leg", points=foot, radius=foot_radius))
    drives = [PrescribedJoint(side, lambda t: -rate, maximal=True) for side in ("left", "right")]
    return scene(
        links,
        constraints=[*loops, *drives, *floors],
        contacts=_cylinders(links, loops) if mu > 0.0 else (),
        h=h,
        duration=duration,
        baumgarte=0.5 / h,
        integrator=BISP(Friction(mu, 0.8)),
    )


def _cylinders(links: list[Link], loops: list[LoopClosure]) -> list[JointContact]:
    """Of all hinges, those that close loops included."""
    hinges = [CylinderContact(link.name, THICK, THICK) for link in links[1:]]
    return [*hinges, *(ClosureContact(i, THICK, THICK) for i in range(len(loops)))]


def _crank(limbs: list[Limb]) -> Body:
    """One axle with a crank bar per limb."""
    return composite([_bar(np.zeros(3), np.array([0.0, m.y, 0.0]), m.place(m.pose().pin)) for m in limbs])

"""Numbered RedMax scenes with joint friction, run with the algorithm as published (units cm, g, s)."""

import numpy as np

from pliant.articulated.bisp import BISP
from pliant.articulated.bodies import at, cylinder, sphere
from pliant.articulated.constraints import FloorContact, PrescribedJoint
from pliant.articulated.friction import Friction
from pliant.articulated.joint_contacts import BallContact, BoxJointContact, ClosureContact, CylinderContact
from pliant.articulated.joints import Fixed, FreeST, Prismatic, Revolute, Spherical
from pliant.articulated.quirks import Quirks
from pliant.articulated.se3 import frame, rotation
from pliant.articulated.tree import Link
from pliant.scene import Scene
from pliant.scenes.redmax.linkages import four_bar
from pliant.scenes.redmax.scene import X, Y, Z, chain, scene, serial, welded

PI = np.pi


def published(joints: float, external: float = 0.6) -> BISP:
    return BISP(Friction(joints, external), published=True)


def tilted_chain(n: int, radius: float = 0.5, height: float = 1.0) -> tuple[list[Link], list[CylinderContact]]:
    """n bars hinged about z in a frame leaning by 45 degrees, with cylindrical joints."""
    links = serial(n * [Revolute(Z)], frame(rotation(X, PI / 4)))
    return links, [CylinderContact(i, radius, height) for i in range(n)]


def scene_27() -> Scene:
    """Two hinged bars."""
    links, contacts = tilted_chain(2)
    return scene(links, contacts=contacts, duration=1.0, integrator=published(0.6))


def scene_28() -> Scene:
    """Two ball joints with strong friction."""
    links = serial(2 * [Spherical()])
    return scene(links, contacts=[BallContact(i, 1.0) for i in range(2)], duration=1.0, integrator=published(5.0))


def scene_29() -> Scene:
    """Two sliders on a slope."""
    links = serial(2 * [Prismatic(X)], frame(rotation(Y, PI / 3)))
    contacts = [BoxJointContact(i, np.array([5.0, 0.5, 5.0])) for i in range(2)]
    return scene(links, contacts=contacts, duration=1.0, integrator=published(0.8))


def scene_30() -> Scene:
    """A four-bar linkage falling against friction in all hinges, the closing one included."""
    links, loop = four_bar(Fixed(), np.eye(4))
    h = 5e-3
    contacts = [*(CylinderContact(i, 0.5, 0.5) for i in (1, 2, 3)), ClosureContact(0, 0.5, 0.5)]
    return scene(
        links, constraints=[loop], contacts=contacts, h=h, duration=1.0, baumgarte=1.0 / h, integrator=published(0.3)
    )


def scene_31() -> Scene:
    """A double pendulum whose tip slides on a floor."""
    links = chain(2)
    links.append(welded(sphere(1.0, 1.0), 1, at(10, 0, 0)))
    floor = FloorContact(2, frame=at(0, 0, -15))
    contacts = [CylinderContact(i, 1.0, 1.0) for i in range(2)]
    return scene(
        links,
        q=(PI / 4, -PI / 4),
        constraints=[floor],
        contacts=contacts,
        baumgarte=10.0,
        integrator=published(0.1, 0.2),
    )


def scene_33() -> Scene:
    """A four-bar walker on a floor; needs the reference's misdirected reactions in creation order."""
    links, loop = four_bar(FreeST(), at(0, 0, 1))
    h = 5e-3
    axle = frame(rotation(X, PI / 2))
    links += [welded(sphere(1.0, 1.0), 0, at(-5, 0, 0)), welded(sphere(1.0, 1.0), 0, at(5, 0, 0))]
    links.append(welded(cylinder(0.5, 5.0, 1.0, axle), 2, np.eye(4)))
    # On the axle, y = +2.5 first: with the misdirected reactions the order and the parent matter, and only this
    # reading of the scene gives the published energy.
    links += [welded(sphere(1.0, 1.0), 6, at(0, y, 0)) for y in (2.5, -2.5)]
    drive = PrescribedJoint(1, lambda t: -4 * PI, maximal=True)
    floors = [FloorContact(i) for i in (4, 5, 7, 8)]
    contacts = [*(CylinderContact(i, 0.5, 0.5) for i in (1, 2, 3)), ClosureContact(0, 0.5, 0.5)]
    return scene(
        links,
        constraints=[loop, drive, *floors],
        contacts=contacts,
        h=h,
        duration=1.0,
        baumgarte=0.1 / h,
        integrator=published(0.8, 0.8),
        quirks=Quirks(reaction_to_previous=True),
    )


def chain_with_friction(radius: float = 0.5, n: int = 5, *, mu: float = 0.3, h: float = 5e-3) -> Scene:
    """CHAIN (R): n tilted bars fall and stop, with joint cylinders of the given radius [Weidner2022, Fig. 3.2a]."""
    links, contacts = tilted_chain(n, radius, 1.0)
    return scene(links, contacts=contacts, h=h, duration=2.5, integrator=BISP(Friction(mu)))


def chain_with_thick_joints() -> Scene:
    """CHAIN (2R): the same with joints of twice the radius, which stop it earlier [Weidner2022, Fig. 3.2b]."""
    return chain_with_friction(1.0)

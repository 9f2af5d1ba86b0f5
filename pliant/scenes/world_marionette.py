"""A puppet on strings with soft flesh draws a cloth over the edge of a table: links, flesh and cloth in one step.

The cloth is Eulerian on Lagrangian: its vertices on the edge stay there while the fabric slides over it.
"""

import numpy as np

from pliant.arrays import Array
from pliant.articulated import Articulated, bodies
from pliant.articulated.forces import Cable, JointSpring
from pliant.articulated.joints import Free3D, Revolute
from pliant.articulated.tree import Link
from pliant.attachments import Attachment
from pliant.bodies import Rayleigh, Solid
from pliant.cloth.body import Cloth
from pliant.cloth.material import ClothMaterial
from pliant.contact.obstacles import Box
from pliant.integrators import LinearlyImplicit
from pliant.materials import StableNeoHookean
from pliant.mesh import bar, sheet
from pliant.scene import Scene
from pliant.systems.condensed import Condensation
from pliant.systems.row_contact import RowContact

Y = np.array([0.0, 1.0, 0.0])
SHOULDER, ELBOW, HAND = (np.array(p) for p in ([0.2, 0.08, 0.12], [0.12, 0.08, 0.02], [0.02, 0.08, 0.014]))
HIP, FOOT = np.array([0.2, 0.035, 0.02]), np.array([0.2, 0.035, -0.14])
TORSO, SIDES = np.array([0.2, 0.0, 0.08]), (0.05, 0.12, 0.12)
CROSS = 0.18  # how far behind the puppet the crossbar is that its strings hang from [m]


def limb(start: Array, end: Array, width: float, density: float = 600.0) -> bodies.Body:
    """A box from one point to another, seen from the first."""
    along = end - start
    length = float(np.linalg.norm(along))
    x = along / length
    frame = np.eye(4)
    frame[:3, :3] = np.column_stack([x, Y, np.cross(x, Y)])
    frame[:3, 3] = 0.5 * along
    return bodies.cuboid((length, width, width), density, frame)


def puppet() -> Articulated:
    """Torso, head, arms and legs; strings from shoulders and back to the crossbar, elastic and damped joints."""
    links = [Link(Free3D(), bodies.cuboid(SIDES, 600.0), frame=bodies.at(TORSO), name="torso")]
    neck = np.array([0.0, 0.0, 0.06])
    head = bodies.sphere(0.035, 600.0, bodies.at(0.0, 0.0, 0.045))
    links.append(Link(Revolute(Y), head, parent="torso", frame=bodies.at(neck), name="head"))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        mirror = np.array([1.0, sign, 1.0])
        shoulder, elbow, hand, hip, foot = (mirror * p for p in (SHOULDER, ELBOW, HAND, HIP, FOOT))
        upper, fore, leg = limb(shoulder, elbow, 0.02), limb(elbow, hand, 0.016), limb(hip, foot, 0.022)
        arm = f"{side} arm"
        links.append(Link(Revolute(Y), upper, parent="torso", frame=bodies.at(shoulder - TORSO), name=arm))
        links.append(Link(Revolute(Y), fore, parent=arm, frame=bodies.at(elbow - shoulder), name=f"{side} hand"))
        links.append(Link(Revolute(Y), leg, parent="torso", frame=bodies.at(hip - TORSO), name=f"{side} leg"))
    ends = (np.array([0.0, 0.05, 0.06]), np.array([0.0, -0.05, 0.06]), np.array([0.025, 0.0, 0.0]))
    up = np.array([CROSS, 0.0, 0.4])
    strings = [Cable((("torso", p), (None, TORSO + p + up)), 60.0, damping=0.5) for p in ends]
    joints = [JointSpring(link.name, stiffness=0.3, damping=0.01) for link in links[1:]]
    return Articulated(links, [*strings, *joints], name="puppet")


def belly(nodes: int) -> Solid:
    """Soft flesh in front of the torso, condensed."""
    mesh = bar((0.04, 0.1, 0.1), (3, 5, 5)).transformed(translate=TORSO + (-0.026 - 0.04, -0.05, -0.05))
    return Solid(
        mesh,
        StableNeoHookean(2e4, 0.45),
        damping=Rayleigh(beta=5e-3, current=True),
        reduction=Condensation(count=nodes),
        name="belly",
    )


def calf(side: str, sign: float) -> Solid:
    """Soft flesh behind a leg, every vertex of which moves by itself."""
    middle = np.array([1.0, sign, 1.0]) * (0.6 * HIP + 0.4 * FOOT)
    mesh = bar((0.02, 0.022, 0.06), (2, 2, 4)).transformed(translate=middle + (0.012, -0.011, -0.03))
    return Solid(mesh, StableNeoHookean(4e4, 0.4), damping=Rayleigh(beta=2e-3, current=True), name=f"{side} calf")


def marionette(nodes: int = 4, cells: int = 8, *, h: float = 5e-3, duration: float = 0.8, mu: float = 0.2) -> Scene:
    """The puppet swings back on its strings and draws the cloth that it holds over the table's edge."""
    size, lift = (0.4, 0.24), 1e-3
    mesh = sheet(size, (cells, 5 * cells // 8)).transformed(translate=(HAND[0] - size[0], -0.5 * size[1], lift + 1e-4))
    fabric = ClothMaterial(E=100.0, nu=0.1, beta=1e-4, rho=0.15)
    cloth = Cloth(mesh, fabric, thickness=lift, eulerian=True, name="cloth")
    flesh, calves = belly(nodes), {side: calf(side, sign) for side, sign in (("left", 1.0), ("right", -1.0))}
    front = np.flatnonzero(flesh.mesh.X[:, 0] > flesh.mesh.X[:, 0].max() - 1e-9)
    attachments = [Attachment("belly", front, "puppet", "torso")]
    for side, sign in (("left", 1.0), ("right", -1.0)):
        X = calves[side].mesh.X
        attachments.append(
            Attachment(f"{side} calf", np.flatnonzero(X[:, 0] < X[:, 0].min() + 1e-9), "puppet", f"{side} leg")
        )
        grip = np.argsort(np.linalg.norm(mesh.X - HAND * (1.0, sign, 1.0), axis=1))[:2]
        attachments.append(Attachment("cloth", grip, "puppet", f"{side} hand"))
    table = Box(center=(-0.3, 0.0, -0.1), size=(0.6, 0.6, 0.2), name="table")
    return Scene(
        [flesh, *calves.values(), cloth, puppet()],
        attachments=attachments,
        obstacles=[table],
        contact=RowContact(mu=mu, thickness=lift, bodies=False),
        integrator=LinearlyImplicit(),
        h=h,
        duration=duration,
        name="marionette",
    )

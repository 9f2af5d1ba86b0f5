"""An arm of two bones with a round muscle grown to both: MUSCLE in space. [ConJac2020, Fig. 1d]"""

from collections.abc import Callable

import numpy as np

from pliant.arrays import Array
from pliant.articulated import Articulated, bodies
from pliant.articulated.forces import JointSpring
from pliant.articulated.joints.revolute import Revolute
from pliant.articulated.tree import Link
from pliant.attachments import Attachment
from pliant.bodies import Rayleigh, Solid
from pliant.integrators import LinearlyImplicit
from pliant.integrators.base import Integrator
from pliant.loads import Activation
from pliant.materials import AnisotropicFung, StableNeoHookean
from pliant.mesh import Mesh, cylinder
from pliant.scene import Scene
from pliant.systems.condensed import Condensation
from pliant.systems.contact import ContactChoice
from pliant.systems.row_contact import RowContact

UPPER, FORE, BONE = 0.28, 0.25, 0.02  # lengths of the bones and their thickness [m]
TOP, BOTTOM = np.array([0.02, 0.0, -0.04]), np.array([0.06, 0.0, -UPPER + 0.02])  # ends of the muscle
Y = np.array([0.0, 1.0, 0.0])
GLIDING = RowContact(mu=0.0)


def spindle(rings: int = 2, layers: int = 12) -> tuple[Mesh, Array]:
    """The muscle, and for every vertex how far it is along it (0 to 1)."""
    round_bar = cylinder(1.0, 1.0, rings, layers)
    s = round_bar.X[:, 2]
    along = BOTTOM - TOP
    e = along / np.linalg.norm(along)
    radius = 0.008 + 0.014 * np.sin(np.pi * s) ** 2
    across = np.outer(round_bar.X[:, 0], np.cross(Y, e)) + np.outer(round_bar.X[:, 1], Y)
    return Mesh(TOP + np.outer(s, along) + radius[:, None] * across, round_bar.T), s


def skeleton() -> Articulated:
    """Shoulder and elbow about y, the upper arm hanging down, the forearm forward; joints damp a little."""
    down = bodies.cuboid((BONE, BONE, UPPER), 1200.0, bodies.at(0.0, 0.0, -0.5 * UPPER))
    forward = bodies.cuboid((FORE, BONE, BONE), 1200.0, bodies.at(0.5 * FORE, 0.0, 0.0))
    links = [
        Link(Revolute(Y), down, name="upper arm"),
        Link(Revolute(Y), forward, parent="upper arm", frame=bodies.at(0.0, 0.0, -UPPER), name="forearm"),
    ]
    return Articulated(links, [JointSpring(link, damping=0.02) for link in ("upper arm", "forearm")], name="arm")


def muscle(
    nodes: int | None = 3,
    *,
    signal: Callable[[float], float] | tuple[tuple[float, float], ...] = ((0.1, 0.0), (0.4, 1.0)),
    integrator: Integrator | None = None,
    stiffness: float | None = None,
    contact: ContactChoice | None = GLIDING,
    h: float = 5e-3,
    duration: float = 1.0,
    layers: int = 12,
) -> Scene:
    """A muscle contracts and lifts the forearm; it glides along the bones that it lies against.

    It is condensed onto ``nodes`` (None: every vertex moves by itself), and grown to the bones, or tied to them by
    springs of ``stiffness`` [N/m].
    """
    mesh, s = spindle(layers=layers)
    middle = s[mesh.T].mean(axis=1)
    fibre = (BOTTOM - TOP) / np.linalg.norm(BOTTOM - TOP)
    flesh = Solid(
        mesh,
        StableNeoHookean(np.where((middle < 0.12) | (middle > 0.88), 2e5, 2e4), 0.45) + AnisotropicFung(fibre, 1e4),
        damping=Rayleigh(beta=5e-3, current=True),
        reduction=None if nodes is None else Condensation(count=nodes),
        name="flesh",
    )
    ends = ((s < 1e-9, "upper arm"), (s > 1 - 1e-9, "forearm"))
    return Scene(
        [flesh, skeleton()],
        attachments=[Attachment("flesh", np.flatnonzero(end), "arm", link, stiffness) for end, link in ends],
        contact=contact,
        forces=[Activation(fibre, 6e4, signal, body="flesh")],
        integrator=LinearlyImplicit(beta=0.5 if nodes is not None else 1.0) if integrator is None else integrator,
        h=h,
        duration=duration,
        name="muscle",
    )

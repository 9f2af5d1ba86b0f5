"""A small example of every exported class, with a state in which it acts."""

import numpy as np
import scipy.sparse as sp

from pliant.articulated.constraints import (
    BallClosure,
    BoxContact,
    CoupledJoints,
    FloorContact,
    JointLimit,
    LoopClosure,
    ObstacleContact,
    PrescribedBody,
    PrescribedJoint,
)
from pliant.articulated.forces import (
    BodyDamping,
    Cable,
    Explicit,
    JointSpring,
    JointStop,
    JointTorque,
    PointSprings,
    Reduced,
    Servo,
    WorldForce,
)
from pliant.articulated.se3 import frame
from pliant.bodies import Solid
from pliant.contact.obstacles import Bowl, Box, Cylinder, Plane, Sphere
from pliant.contact.sharp import Hull, Points, Wire
from pliant.contact.triangles import TriangleObstacle
from pliant.energies.attachment import AttachmentEnergy
from pliant.energies.bending import QuadraticBending
from pliant.energies.dg import BZ, IP
from pliant.energies.elastic import Elastic
from pliant.energies.gravity import DeadLoad, Gravity
from pliant.energies.membrane import MembraneEnergy
from pliant.energies.projective import HingeBending, PlaneCollision
from pliant.energies.shifted import Shifted
from pliant.energies.springs import Springs
from pliant.forces.green import GreenDamping
from pliant.forces.rayleigh import RayleighForce
from pliant.forces.surface_load import AirDrag, SurfacePressure
from pliant.forces.tension import FibreTension
from pliant.maps.motions import Keyframes, Phase, Phases, Shake, Track
from pliant.maps.points import ForceOnPoints, OnPoints, TieSprings
from pliant.materials import StableNeoHookean
from pliant.mesh import ball, bar, box, rectangle, sheet, spring_net
from pliant.scene import Scene
from pliant.state import State
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.penalty_contact import PenaltyContact
from pliant.systems.points import PartPoints as AllPoints

SOFT = StableNeoHookean(E=2e4, nu=0.4)
BAR, PLATE, SHEET = bar((0.2, 0.1, 0.1), (2, 1, 1)), rectangle((0.2, 0.1), (2, 1)), sheet((0.2, 0.1), (2, 1))
NET = spring_net(2, 2)
FIBRES = np.tile([0.6, 0.8, 0.0], (len(BAR.T), 1)), np.full(len(BAR.T), 1e3)


def rough(X, size=0.01, seed=0):
    """Positions near rest."""
    return (X + size * np.random.default_rng(seed).normal(size=X.shape)).ravel()


def touching(contact, gap, noise=1e-3, speed=1.0):
    """Terms of contact of two boxes and a floor, with the state they were found in."""
    lower = box(size=(0.2, 0.2, 0.1), cells=(1, 1, 1))
    upper = box(size=(0.1, 0.1, 0.1), cells=(1, 1, 1)).transformed(translate=(0.043, 0.057, 0.1 + gap))
    floor = Plane((0, 0, -gap), (0.01, 0.02, 1.0))
    scene = Scene([Solid(lower, SOFT), Solid(upper, SOFT)], contact=contact, obstacles=[floor])
    system = scene.system()
    rng = np.random.default_rng(3)
    q = system.X.ravel() + noise * rng.normal(size=system.X.size)
    v = speed * rng.normal(size=len(q))
    return system.contact.at(State(q, v), 0.0), q, v


def contact_energies():
    penalty, q, _ = touching(PenaltyContact(smoothing=5e-3, thickness=0.0), -0.004)
    anchored, p, _ = touching(PenaltyContact(mu=0.5, anisotropy=0.1), -0.004)
    barrier, y, _ = touching(BarrierContact(dhat=5e-3, stiffness=1e6), 0.002, noise=2e-4)
    found = [(e, q) for e in penalty.energies] + [(e, p) for e in anchored.energies]
    return [*found, *((e, y) for e in barrier.energies)]


def energies():
    """Energy, coordinates, dimension, whether the pattern changes."""
    n = len(BAR.X)
    explode = lambda mesh: mesh.X[mesh.T].reshape(-1, 2)
    ties = np.array([[0, 1, 2, 3]]), np.array([[1.0, -0.2, -0.3, -0.5]])
    fixed = [
        (Elastic(BAR.X, BAR.T, SOFT), rough(BAR.X), 3),
        (Elastic(PLATE.X, PLATE.T, SOFT), rough(PLATE.X), 2),
        (Elastic(SHEET.X, SHEET.T, SOFT, thickness=1e-3), rough(SHEET.X), 3),
        (Springs(NET.X, NET.T, 40.0), rough(NET.X, 0.1), NET.X.shape[1]),
        (Shifted(Springs(NET.X, NET.T, 40.0), np.full(NET.X.size, 0.01)), rough(NET.X, 0.1), NET.X.shape[1]),
        (MembraneEnergy(SHEET.X, SHEET.T, E=300.0, nu=0.3), rough(SHEET.X), 3),
        (QuadraticBending(SHEET.X, SHEET.T, beta=1e-3), rough(SHEET.X), 3),
        (HingeBending(SHEET.X, SHEET.T, beta=1e-3), rough(SHEET.X), 3),
        (BZ(PLATE, 1e5), rough(explode(PLATE)), 2),
        (IP(PLATE, SOFT, 1e5), rough(explode(PLATE)), 2),
        (DeadLoad(np.random.default_rng(5).normal(size=3 * n)), rough(BAR.X), 3),
        (Gravity(np.arange(1.0, n + 1.0), np.array([0.0, 0.0, -9.81])), rough(BAR.X), 3),
        (AttachmentEnergy(n, np.array([0, 3]), BAR.X[[0, 3]] + 0.1, 30.0), rough(BAR.X), 3),
        (PlaneCollision(n, np.arange(n), (0, 0, 0.05), (0.1, 0.0, 1.0), 50.0), rough(BAR.X), 3),
        (TieSprings(n, *ties, np.array([70.0])), rough(BAR.X), 3),
    ]
    varies = lambda e: isinstance(e, IP)  # its index arrays are new at every call
    return [(e, x, d, varies(e)) for e, x, d in fixed] + [(e, x, 3, True) for e, x in contact_energies()]


def forces():
    """Force, positions, velocities, whether its K is exact."""
    rng = np.random.default_rng(2)
    x = rough(BAR.X)
    v = rng.normal(size=len(x))
    mass = sp.identity(len(x), format="csr")
    elastic = [Elastic(BAR.X, BAR.T, SOFT)]
    found = [
        (RayleighForce(BAR.X, mass, elastic, 0.5, 1e-3), x, v, True),
        (RayleighForce(BAR.X, mass, elastic, 0.5, 1e-3, current=True), x, v, False),
        (GreenDamping(BAR.X, BAR.T, 20.0), x, v, False),
        (FibreTension(BAR.X, BAR.T, *FIBRES, lambda t: 0.5 + t), x, v, True),
        (AirDrag(len(BAR.X), BAR.surface(), 1.2, lambda t: np.zeros(3)), x, v, False),
    ]
    blown = SurfacePressure(len(BAR.X), BAR.surface(), lambda t: 200.0)
    found.append((blown, x, -blown.force(x, v, 0.0), True))  # exact on closed surfaces; against the motion
    for contact, gap in (
        (PenaltyContact(mu=0.5, damping=0.5, smoothing=5e-3), -0.004),
        (BarrierContact(dhat=5e-3, stiffness=1e6, mu=0.5, creep=0.1), 0.002),
    ):
        terms, q, u = touching(contact, gap, noise=2e-4, speed=0.05)
        found += [(f, q, u, False) for f in terms.forces]  # directions of slip turn with x
    return found


def on_points(system, q, v):
    """An energy and a force of points of a system whose points turn."""
    points = AllPoints([system], [slice(0, len(q))])
    n = len(system.positions(q))
    tie = TieSprings(n, np.array([[0, n - 1]]), np.array([[1.0, -1.0]]), np.array([70.0]))
    drag = RayleighForce(system.positions(q), sp.identity(3 * n, format="csr"), [], 0.5, 0.0)
    return points, OnPoints(tie, points), ForceOnPoints(drag, points)


TURNS = (Phase(0.0, 0.3, (1.0, 0.0, 0.5), (0.0, 2.0, 0.0)), Phase(0.1, 0.5, (0.0, 0.3, 0.0), (1.0, 0.0, 0.0)))
TRACK = np.stack([frame(None, (0.0, 0.0, 0.0)), frame(None, (0.1, 0.2, 0.0)), frame(None, (0.3, 0.1, 0.1))])
MOTIONS = [
    Shake((0.1, 0.2, 0.3), 2.0),
    Keyframes((0.0, 0.5), ((0.0, 0.0, 0.0), (0.1, 0.2, 0.3)), ((0.0, 0.0, 0.0), (0.5, 1.0, -0.5)), (0.1, 0.0, 0.0)),
    Phases(TURNS, pivot=(0.1, 0.2, 0.3)),
    Track(np.array([0.0, 0.3, 0.6]), TRACK),
]
OBSTACLES = [
    Plane((0.1, 0.2, 0.3), (1.0, 2.0, 3.0)),
    Sphere((0.1, -0.2, 0.3), 0.8),
    Box((0.1, -0.2, 0.3), (1.0, 0.7, 1.3)),
    Cylinder((0.1, -0.2, 0.3), (1.0, 1.0, 0.2), 0.6, 1.1),
    Bowl((0.1, -0.2, 0.3), 1.2),
    TriangleObstacle(ball(radius=0.7, cells=3)),
    Hull(np.random.default_rng(3).normal(scale=0.6, size=(20, 3))),
    Points(np.array([[0.1, 0.2, 0.3], [-0.4, 0.1, 0.0]]), np.tile([0.0, 0.0, 1.0], (2, 1))),
    Wire((-0.5, 0.1, 0.0), (0.6, 0.2, 0.3)),
]

A, B, C = np.array([0.3, 0.1, -0.2]), np.array([-0.4, 0.5, 0.2]), np.array([0.1, 0.0, 0.4])
# force on the tree of all joints, whether it has a potential at rest
TREE_FORCES = [
    (PointSprings((2, 5), np.stack([A, B]), (7, None), np.stack([B, C]), np.array([3.0, 7.0])), True),
    (Cable(((2, A), (5, B), (8, C)), 4.0, 0.3, rest=0.5), True),
    (JointSpring(5, 2.0, 0.3, rest=0.1), True),
    (JointSpring(11, 2.0, rest=0.2, maximal=True), True),
    (JointStop(1, 0.5, 0.9, 3.0), True),
    (JointTorque(5, lambda t: np.array([1.0, 2.0])), False),
    (Servo(1, np.sin, 2.0, 0.7), False),
    (WorldForce(7, A, B), False),
    (BodyDamping(0.5), False),
    (Reduced(PointSprings((2,), A, (7,), B, 3.0)), True),
]
EXPLICIT = Explicit(JointSpring(5, 2.0))  # has no derivatives, and says so
TREE_CONSTRAINTS = [
    JointLimit(1, -0.01, 0.01),
    CoupledJoints(1, 2, 0.7),
    PrescribedJoint(1, np.cos, np.sin),
    PrescribedBody(3, (0, 4), lambda t, E, phi: (np.ones(6), np.zeros(6))),
    BallClosure(3, A, 8, B),
    LoopClosure(3, A, 8, B, np.array([0.0, 1.0, 0.0])),
    FloorContact(5, np.stack([A, B]), 0.0, frame(None, (0.0, 0.0, 50.0))),
    BoxContact(5, np.full(3, 100.0), np.eye(4), A, 0.1),
    ObstacleContact(5, Sphere(radius=200.0), np.stack([A, B]), 0.1),
]

"""Parts side by side, as a system that the velocity step can advance."""

import numpy as np

from pliant.articulated import ArticulatedSystem, Link, cuboid
from pliant.articulated.joints import Free3D
from pliant.bodies import Solid
from pliant.contact.setting import Setting, Shape
from pliant.materials import StableNeoHookean
from pliant.mesh import Mesh, box
from pliant.scene import Scene
from pliant.state import State
from pliant.systems.coupled_step import CoupledStep, prepared_parts
from pliant.systems.row_contact import RowContact


def points_of(parts):
    """Positions and old velocities (p, 3) of the points of all parts, one after the other."""
    blocks = [p.block for p in parts]
    velocities = [b.J @ b.guess + (0.0 if b.w is None else b.w) for b in blocks]
    return np.concatenate([b.x for b in blocks]), np.concatenate([w.reshape(-1, 3) for w in velocities])


class Sided:
    """Parts with attachments, and contact where there is a model over the points of all of them."""

    def __init__(self, parts, contact=None, ties=None):
        self.parts, self.contact, self.ties = parts, contact, ties

    def split(self, x):
        sizes = [p.tree.dof if isinstance(p, ArticulatedSystem) else p.X.size for p in self.parts]
        return np.split(x, np.cumsum(sizes)[:-1])

    def states(self, state):
        return [State(q, v, state.t) for q, v in zip(self.split(state.q), self.split(state.v), strict=True)]

    def prepare(self, state, h, memory, how):
        states = self.states(state)
        parts = prepared_parts(self.parts, states, h, memory, how)
        touches = None if self.contact is None else self.contact.touches(*points_of(parts), state.t, h)
        ties = None if self.ties is None else self.ties(np.concatenate([p.block.x for p in parts]))
        return CoupledStep(parts, states, h, ties=ties, touches=touches, closing=how.closing(h))

    def momentum(self, state):
        pairs = zip(self.parts, self.states(state), strict=True)
        return sum(p.momenta(s.q, s.v)[0] for p, s in pairs)


def stacked(*states):
    return State(np.concatenate([s.q for s in states]), np.concatenate([s.v for s in states]), states[0].t)


def soft_cube(at=(0, 0, 0), side=0.2, n=2, E=1e5, velocity=(0, 0, 0), gravity=(0, 0, 0), **options):
    """A soft cube with its corner at ``at``: system, state, mesh."""
    mesh = box((side, side, side), (n, n, n))
    mesh = type(mesh)(mesh.X + np.asarray(at, float), mesh.T)
    body = Solid(mesh, StableNeoHookean(E, 0.3), density=1000.0, velocity=velocity, **options)
    scene = Scene([body], gravity=gravity)
    system = scene.system()
    return system, scene.initial(system), mesh


def rigid_block(at=(0, 0, 0), sides=(0.2, 0.2, 0.2), velocity=(0, 0, 0), gravity=(0, 0, 0), density=1000.0):
    """A free block with its center at ``at``: system, state, mesh."""
    body = cuboid(sides, density)
    system = ArticulatedSystem([Link(Free3D(), body, name="block")], gravity=gravity)
    q, v = np.zeros(6), np.zeros(6)
    q[:3], v[:3] = at, velocity
    return system, State(q, v), filled(body)


def filled(body):
    """The inside of a convex body as tetrahedra: a fan from the first vertex of its surface."""
    X, F = body.points, body.faces
    volume = np.linalg.det(X[F] - X[0])
    return Mesh(X, np.insert(F[volume > 1e-9 * volume.max()], 0, 0, axis=1))


def contact(meshes, obstacles=(), gravity=9.81, thickness=0.0, **options):
    """Rows between meshes and obstacles."""
    shapes = [Shape(m, np.ones(len(m.X)), f"body{k}") for k, m in enumerate(meshes)]
    setting = Setting(shapes, obstacles, gravity)
    return RowContact(thickness=thickness, **options).model(setting)

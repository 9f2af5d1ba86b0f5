"""Short steps undo penetrations no faster than the long ones that left them: contacts, limits, cloth."""

from dataclasses import replace

import numpy as np
import pytest
from coupled_samples import Sided, contact, rigid_block, soft_cube, stacked

from pliant.articulated import ArticulatedSystem, Link, cuboid
from pliant.articulated.constraints import FloorContact, JointLimit
from pliant.articulated.joints import Free3D, Prismatic
from pliant.cloth.body import Cloth
from pliant.cloth.sheet import rectangle, sheet
from pliant.contact.obstacles import Box, Plane
from pliant.integrators import LinearlyImplicit
from pliant.scene import Scene
from pliant.state import State
from pliant.systems.row_contact import RowContact

H, DEPTH = 5e-3, 1e-3
FLOOR = Plane((0, 0, 0), (0, 0, 1))
METHOD = LinearlyImplicit()


def rigid_in_floor():
    block, state, hull = rigid_block((0, 0, 0.1 - DEPTH))
    return Sided([block], contact([hull], [FLOOR])), state, lambda q: -(q[2] - 0.1)


def soft_in_floor():
    cube, state, mesh = soft_cube((0, 0, -DEPTH))
    return Sided([cube], contact([mesh], [FLOOR])), state, lambda q: -q.reshape(-1, 3)[:, 2].min()


def rigid_in_rigid():
    (a, p, low), (b, q, high) = rigid_block((0, 0, 0.1)), rigid_block((0, 0, 0.3 - DEPTH))
    return Sided([a, b], contact([low, high], thickness=1e-4)), stacked(p, q), lambda q: 0.2 + 1e-4 - (q[8] - q[2])


def rigid_in_soft():
    (a, p, low), (b, q, high) = soft_cube((-0.1, -0.1, 0)), rigid_block((0, 0, 0.3 - DEPTH), (0.1, 0.1, 0.2))
    top = low.X[:, 2] > 0.2 - 1e-9
    depth = lambda q: q[: low.X.size].reshape(-1, 3)[top, 2].max() + 1e-4 - (q[low.X.size + 2] - 0.1)
    return Sided([a, b], contact([low, high], thickness=1e-4)), stacked(p, q), depth


def beyond_a_limit():
    slider = Link(Prismatic((0, 0, 1)), cuboid((0.2, 0.2, 0.2), 1000.0), name="slider")
    system = ArticulatedSystem([slider], constraints=[JointLimit("slider", lower=0.0)])
    return system, State(np.array([-DEPTH]), np.zeros(1)), lambda q: -q[0]


def links_in_floor():
    box = cuboid((0.2, 0.2, 0.2), 1000.0)
    system = ArticulatedSystem([Link(Free3D(), box)], constraints=[FloorContact(0, box.points, 0.0)])
    return system, State(np.array([0, 0, 0.1 - DEPTH, 0, 0, 0.0]), np.zeros(6)), lambda q: -(q[2] - 0.1)


def cloth_in_box():
    flat = sheet(*rectangle((1.0, 1.0), (3, 3)))
    flat = replace(flat, x=flat.x - [0.0, 0.0, DEPTH])
    table = Box((0.5, 0.5, -0.5), (3.0, 3.0, 1.0))
    contact = RowContact(thickness=2e-3, mu=0.0)
    scene = Scene([Cloth(flat, eulerian=True)], METHOD, obstacles=[table], contact=contact, gravity=(0, 0, 0))
    system = scene.system()
    return system, scene.initial(system), lambda q: -system.positions(q)[:, 2].min()


MADE = [
    *(rigid_in_floor, soft_in_floor, rigid_in_rigid, rigid_in_soft),
    *(beyond_a_limit, links_in_floor, cloth_in_box),
]


def kinetic(system, state):
    pairs = zip(system.parts, system.states(state), strict=True) if isinstance(system, Sided) else [(system, state)]
    return sum(part.energies(s.q, s.v, s.t)["kinetic"] for part, s in pairs)


def stepped(system, state, pieces, memory=None):
    """The kinetic energies after steps of these lengths, the last state and memory."""
    moving = []
    for h in pieces:
        step = METHOD.step(system, state, h, memory)
        assert step.reports[0].converged and step.system is None
        state, memory = step.state, step.memory
        moving.append(kinetic(system, state))
    return moving, state, memory


@pytest.mark.parametrize("share", [0.3, 1e-3])
@pytest.mark.parametrize("make", MADE)
def test_a_short_step_throws_nothing_apart(make, share):
    """At 0.2 depth / h a thousandth of a step would give a million times the energy of a whole one."""
    system, start, depth = make()
    _, state, memory = stepped(system, start, [H])
    state = State(start.q, np.zeros_like(start.v), state.t)  # as deep as before, at rest, after a step of H
    (whole,), long, _ = stepped(system, state, [H], memory)
    moving, cut, _ = stepped(system, state, [share * H, (1 - share) * H], memory)
    assert max(moving) <= 1.1 * whole
    assert 0.0 < depth(long.q) < depth(state.q) and depth(cut.q) == pytest.approx(depth(long.q), rel=0.05)


@pytest.mark.parametrize("make", [rigid_in_floor, rigid_in_rigid, cloth_in_box])
def test_many_short_steps_part_bodies_as_fast_as_long_ones(make):
    """The longest step is forgotten slowly: penetrations go, and none speeds up on the way."""
    system, start, depth = make()
    _, state, memory = stepped(system, start, [H])
    state = State(start.q, np.zeros_like(start.v), state.t)
    (whole,), _, _ = stepped(system, state, [H], memory)
    moving, state, memory = stepped(system, state, np.full(250, H / 20), memory)
    assert max(moving) <= 1.001 * whole
    assert depth(state.q) < 0.15 * DEPTH
    assert memory.span == H / 20


class Fragile:
    """A part that can only go a thousandth of its first step of H."""

    def __init__(self, inner):
        self.inner = inner

    def prepare(self, state, h, memory, how):
        return Broken(self.inner.prepare(state, h, memory, how))


class Broken:
    def __init__(self, inner):
        self.inner, self.block, self.finish = inner, inner.block, inner.finish

    def reach(self, u, h):
        return h if h < H else 1e-3 * h


def test_the_first_step_may_be_cut_short_too():
    """The pieces of a step correct positions in the time of the whole one."""
    system, start, depth = rigid_in_floor()
    whole, cut = (METHOD.step(s, start, H) for s in (system, Fragile(system)))
    assert len(cut.reports) == 2
    assert kinetic(system, cut.state) == pytest.approx(kinetic(system, whole.state))

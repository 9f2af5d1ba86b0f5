"""The part of a step that a body belongs to, and its own state."""

import numpy as np
import pytest

import pliant as pl
from pliant.articulated import ArticulatedSystem, Link, at, cuboid
from pliant.articulated.joints import Prismatic, Revolute
from pliant.errors import SceneError
from pliant.systems.elastodynamics import Elastodynamics

BAR = cuboid((0.3, 0.04, 0.04), 800.0, at(0.15, 0, 0))
BOX = pl.mesh.bar((0.1, 0.1, 0.1), (1, 1, 1))
ARM = pl.Articulated([Link(Revolute((0, 1, 0)), BAR, name="rod")], q=[0.3], name="arm")
LIFT = pl.Articulated([Link(Prismatic((0, 0, 1)), BAR, name="car", frame=at(0, 0, 2.0))], q=[0.7], name="lift")
DICE = [pl.Rigid(BOX.transformed(translate=(2.0 + k, 0, 0)), name=f"die {k}") for k in range(2)]
SOFT = pl.Solid(BOX.transformed(translate=(-2, 0, 0)), pl.StableNeoHookean("50 kPa", 0.4), name="soft")
BODIES = {"lift": LIFT, "die 0": DICE[0], "soft": SOFT, "arm": ARM, "die 1": DICE[1]}


def first(bodies):
    scene = pl.Scene(bodies, integrator=pl.LinearlyImplicit(), h=1e-3, duration=1e-3, gravity=(0, 0, 0))
    return next(iter(pl.simulate(scene)))


@pytest.mark.parametrize("names", [["arm"], ["lift", "arm"], ["arm", "lift"], [*BODIES], [*BODIES][::-1]])
def test_joints_are_found_whatever_else_is_in_the_scene(names):
    step = first([BODIES[name] for name in names])
    for name, q, link in (("arm", 0.3, "rod"), ("lift", 0.7, "car")):
        if name in names:
            part, state = step.part(name)
            assert isinstance(part, ArticulatedSystem) and part.tree.names == (link,)
            assert state.q == pytest.approx([q]) and state.v == pytest.approx([0.0]) and state.t == step.state.t


def test_bodies_that_share_a_part_share_its_state():
    step = first([*BODIES.values()])
    rigid, state = step.part("die 1")
    assert rigid is step.part(1)[0] and len(state.q) == 12
    soft, state = step.part("soft")
    assert isinstance(soft, Elastodynamics) and np.allclose(soft.positions(state.q), SOFT.mesh.X)
    with pytest.raises(SceneError, match="no body is called 'legs'"):
        step.part("legs")

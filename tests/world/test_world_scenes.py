"""Scenes with several kinds of bodies: they run, and do what statics and conservation laws say."""

import numpy as np
import pytest

from pliant.articulated import Articulated, Link, at, cuboid
from pliant.articulated.forces import Servo
from pliant.articulated.joints import Revolute
from pliant.articulated.system import ArticulatedSystem
from pliant.errors import SceneError
from pliant.scenes import built_in, world
from pliant.scenes.world_pile import mixed_pile
from pliant.simulate import simulate

Y = np.array([0.0, 1.0, 0.0])


def run(scene):
    return list(simulate(scene))


def soft(step):
    n = len(step.scene.deformables()[0].mesh.X)
    return step.system.positions(step.state.q)[:n]


def test_the_scenes_are_built_in():
    assert {f"world/{name}" for name in ("gripper", "die", "bead-chain", "walker", "mixed-pile")} <= set(
        built_in("world")
    )


@pytest.mark.parametrize("torque, lifted", [(0.8, True), (0.1, False)])
def test_a_hand_lifts_if_its_motors_are_strong_enough(torque, lifted):
    last = run(world.gripper(torque, cells=2, duration=1.2))[-1]
    palm = float(last.state.q[last.system.slices[1]][0])
    assert palm > 0.075  # its own motor is strong enough in any case
    assert (soft(last)[:, 2].min() > 0.06) == lifted


def test_a_die_comes_to_rest_on_the_bed():
    """The contacts of a die at rest carry its weight, and nothing else."""
    last = run(world.die(cells=3, duration=0.8))[-1]
    assert np.abs(last.state.v).max() < 1e-2
    touch = last.system.contacts(last.state.q, last.state.v, last.state.t)
    normal, friction = touch.between(1, 0)
    weight = 9.81 * last.system.parts[1].total_mass
    assert np.allclose(normal + friction, (0.0, 0.0, weight), atol=0.01 * weight)


def test_beads_push_a_cube_along():
    steps = run(world.bead_chain(duration=0.4))
    assert soft(steps[-1])[:, 0].mean() - soft(steps[0])[:, 0].mean() > 0.02


def test_a_walker_walks_on_soft_ground():
    steps = run(world.walker(h=1e-2, duration=0.6))
    trunk = [s.state.q[s.system.slices[1]][:3] for s in steps]
    assert trunk[-1][0] - trunk[0][0] > 0.05
    assert min(x[1] for x in trunk) > -0.04  # nor does it sink


def test_piles_are_seeded():
    one, same, other = (mixed_pile(5, seed=s).initial().q for s in (1, 1, 2))
    assert np.array_equal(one, same) and not np.allclose(one, other)


def test_a_servo_is_a_spring_near_its_goal_and_pulls_with_its_limit_far_away():
    servo = Servo("arm", lambda t: 0.0, 50.0, 2.0)
    assert servo.torque(-1e-4, 0.0) == pytest.approx(5e-3, rel=1e-5)
    assert servo.torque(3.0, 0.0) == pytest.approx(-2.0, rel=1e-12)
    arm = cuboid((0.3, 0.05, 0.05), 1000.0, at(0.15, 0, 0))
    system = ArticulatedSystem([Link(Revolute(Y), arm, name="arm")], [servo], gravity=(0, 0, 0))
    q, e, zero = np.array([0.03]), 1e-6, np.zeros(1)
    slope = (system.force(q + e, zero, 0.0) - system.force(q - e, zero, 0.0)) / (2 * e)
    assert system.stiffness(q, zero, 0.0).toarray()[0, 0] == pytest.approx(float(slope[0]), rel=1e-6)


@pytest.mark.parametrize("options, what", [({"limit": 0.0}, "limit 0"), ({"stiffness": -1.0}, "stiffness -1")])
def test_a_servo_needs_strength(options, what):
    servo = Servo("arm", lambda t: 0.0, **{"stiffness": 1.0, "limit": 1.0, **options})
    links = [Link(Revolute(Y), cuboid((0.1, 0.1, 0.1), 1000.0), name="arm")]
    with pytest.raises(SceneError, match=what):
        Articulated(links, [servo]).system()

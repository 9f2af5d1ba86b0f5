"""A block on an inclined floor sticks below the friction angle and slides as Coulomb says above it."""

import numpy as np
import pytest

from pliant.articulated import BISP, RK45, Link, StaggeredProjections, at, cuboid
from pliant.articulated.constraints import FloorContact
from pliant.articulated.joints import Free3D
from pliant.errors import SceneError
from pliant.integrators import LinearlyImplicit
from pliant.scenes.redmax.scene import scene
from pliant.simulate import simulate

G, MU = 9.81, 0.3


def block(integrator, slope, sides=(0.2, 0.2, 0.2), speed=0.0, h=0.01, duration=0.3, mu=MU):
    angle, body = np.arctan(slope), cuboid(sides, 1000.0)
    q, v = np.zeros(6), np.zeros(6)
    q[2], v[0] = 0.5 * sides[2] - 1e-6, speed
    return scene(
        [Link(Free3D(), body, name="block")],
        q=q,
        v=v,
        h=h,
        duration=duration,
        integrator=integrator,
        gravity=(G * np.sin(angle), 0.0, -G * np.cos(angle)),
        constraints=[FloorContact("block", points=body.points, radius=0.0, mu=mu)],
    )


@pytest.mark.parametrize("integrator", [BISP(), StaggeredProjections(), LinearlyImplicit()])
@pytest.mark.parametrize(
    ("slope", "sides"), [(0.25, (0.2, 0.2, 0.2)), (0.25, (0.2, 0.2, 0.4)), (0.6, (0.2, 0.2, 0.02))]
)
def test_a_block_sticks_or_slides(integrator, slope, sides):
    *_, last = simulate(block(integrator, slope, sides))
    angle = np.arctan(slope)
    expected = 0.3 * max(0.0, G * (np.sin(angle) - MU * np.cos(angle)))
    assert last.state.v[0] == pytest.approx(expected, abs=1e-4)


def test_friction_is_limited_by_the_normal_impulses_of_the_same_step():
    """Friction tips a sliding block: its front edge is pressed harder, which only the rows of the floor know."""
    scene = block(BISP(), 0.6, (0.2, 0.2, 0.3), speed=0.5)
    system = scene.system()
    step = scene.integrator.step(system, scene.initial(system), 0.01)
    normal = step.memory.impulses.values
    assert normal.max() > 2.0 * normal.min() > 0.0
    assert np.allclose(step.memory.limits.reshape(-1, 2), MU * normal[:, None], rtol=1e-6)


@pytest.mark.parametrize("integrator", [BISP(), StaggeredProjections(), LinearlyImplicit()])
def test_a_block_comes_to_rest(integrator):
    """After v^2 / (2 mu g), within a step's way."""
    *_, last = simulate(block(integrator, 0.0, speed=0.1, h=0.0025, duration=0.25))
    assert abs(last.state.v[0]) < 1e-9
    assert last.state.q[0] == pytest.approx(0.1**2 / (2 * MU * G), abs=0.1 * 0.0025)


def test_what_cannot_be_seen_is_refused():
    with pytest.raises(SceneError, match="RK45 with .*friction mu = 0.3, which would have no effect"):
        next(simulate(block(RK45(), 0.2)))
    with pytest.raises(SceneError, match="one-sided"):
        next(simulate(block(RK45(), 0.2, mu=0.0)))
    *_, last = simulate(block(LinearlyImplicit(), 0.2, mu=0.0))
    assert last.state.v[0] == pytest.approx(0.3 * G * np.sin(np.arctan(0.2)), rel=1e-9)


@pytest.mark.parametrize("wrong", [np.eye(3), np.zeros(3), 2.0 * np.eye(4)])
def test_what_is_no_frame_is_refused(wrong):
    with pytest.raises(SceneError, match="frame is"):
        cuboid((0.1, 0.1, 0.1), 1000.0, wrong)
    with pytest.raises(SceneError, match="Link 'block'"):
        Link(Free3D(), cuboid((0.1, 0.1, 0.1), 1000.0), None, wrong, "block")
    assert np.array_equal(at((0, 0, -0.5)), at(0, 0, -0.5))

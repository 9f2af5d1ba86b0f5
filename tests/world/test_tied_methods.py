"""Methods of every sort on points that are tied: they stay together, and all methods agree."""

import numpy as np
import pytest

from pliant.articulated import Articulated, Link, at, cuboid
from pliant.articulated.joints import Revolute
from pliant.attachments import Attachment
from pliant.bodies import Solid
from pliant.integrators import BDF1, BDF2, RK4, TRBDF2, LinearlyImplicit
from pliant.materials import StableNeoHookean
from pliant.mesh import box
from pliant.scene import Scene
from pliant.simulate import simulate


def swung(integrator, h, duration=0.1):
    """Angle and rate of an arm with a soft block grown to its end, and how far the two are apart."""
    bar = cuboid((0.3, 0.04, 0.04), 500.0, at(0.15, 0.0, 0.0))
    arm = Articulated([Link(Revolute((0, 1, 0)), bar, name="arm")], name="robot")
    mesh = box((0.1, 0.1, 0.1), (1, 1, 1)).transformed(translate=(0.3, -0.05, -0.05))
    block = Solid(mesh, StableNeoHookean(2e4, 0.3), density=300.0, name="block")
    grown = np.flatnonzero(mesh.X[:, 0] < 0.3 + 1e-9)
    ties = [Attachment("block", grown, to="robot", link="arm")]
    scene = Scene([block, arm], attachments=ties, integrator=integrator, h=h, duration=duration)
    last = list(simulate(scene))[-1]
    gap = last.system.ties @ last.system.points.lift(last.state.q)
    return np.array([last.state.q[-1], last.state.v[-1]]), float(np.abs(gap).max())


@pytest.mark.parametrize(
    "integrator, h, error",
    [
        (BDF1(), 5e-4, 0.02),
        (BDF2(), 1e-3, 0.01),
        (TRBDF2(), 1e-3, 0.01),
        (LinearlyImplicit(), 5e-4, 0.02),
    ],
)
def test_all_methods_agree_on_an_arm_with_a_block_grown_to_it(integrator, h, error):
    exact, gap = swung(RK4(), 1e-4)
    assert gap < 1e-6
    found, apart = swung(integrator, h)
    assert apart < 1e-4
    assert np.allclose(found, exact, rtol=error)

"""Two robots in a plane tied to each other: rows across the plane move nothing, and must ask for nothing."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from pliant.articulated import Articulated, Link, at, cuboid, mesh_body
from pliant.articulated.joints import Revolute
from pliant.attachments import Attachment
from pliant.integrators import BDF1, BDF2, RK4, TRBDF2, LinearlyImplicit
from pliant.mesh import bar
from pliant.scene import Scene
from pliant.simulate import simulate

SIDE, LENGTH, WIDTH, DENSITY = 0.03, 0.3, 0.2, 800.0


def swung(integrator, q, points, steps):
    """The joint angles of a parallel four-bar: an arm whose cross bar is tied to the tip of another arm."""
    rod = cuboid((SIDE, SIDE, LENGTH), DENSITY, at(0.0, 0.0, -LENGTH / 2))
    mesh = bar((WIDTH, SIDE, SIDE), (1, 1, 2)).transformed(translate=(0.0, -SIDE / 2, -SIDE / 2))
    cross = mesh_body(mesh.X, mesh.surface(), DENSITY)
    hinge = Revolute((0.0, 1.0, 0.0))
    links = [Link(hinge, rod, name="rod"), Link(hinge, cross, "rod", at(0.0, 0.0, -LENGTH), name="cross")]
    first = Articulated(links, q=[q, -q], name="first")
    second = Articulated([Link(hinge, rod, frame=at(WIDTH, 0.0, 0.0), name="rod")], q=[q], name="second")
    pin = np.flatnonzero((mesh.X[:, 0] > WIDTH - 1e-9) & (np.abs(mesh.X[:, 2]) < 1e-9))  # on the axis of the hinge
    ties = [Attachment("first", len(rod.points) + pin[:points], "second", link="rod")]
    scene = Scene([first, second], attachments=ties, integrator=integrator, h=0.002, duration=0.002 * steps)
    return list(simulate(scene))[-1].state.q


def pendulum(q, t):
    """The same angle from the equation of a pendulum: the cross bar moves without turning."""
    m, c = DENSITY * SIDE * SIDE * LENGTH, DENSITY * SIDE * SIDE * WIDTH
    I = 2.0 * (m / 12.0 * (LENGTH**2 + SIDE**2) + m * LENGTH**2 / 4.0) + c * LENGTH**2
    pull = 9.81 * (m * LENGTH + c * LENGTH)
    return solve_ivp(lambda _, y: [y[1], -pull / I * np.sin(y[0])], (0, t), [q, 0.0], rtol=1e-10, atol=1e-12).y[0, -1]


@pytest.mark.parametrize("points", [1, 2])  # two points say everything twice
@pytest.mark.parametrize(
    "integrator, error",
    [(BDF1(), 2e-3), (BDF2(), 2e-5), (TRBDF2(), 2e-5), (LinearlyImplicit(), 2e-3), (RK4(), 1e-8)],
)
def test_tied_arms_swing_as_one_pendulum_and_hang_still(integrator, error, points):
    q = swung(integrator, 0.3, points, 50)
    assert np.allclose(q, pendulum(0.3, 0.1) * np.array([1.0, -1.0, 1.0]), atol=error)
    assert np.abs(swung(integrator, 0.0, points, 3)).max() < 1e-15

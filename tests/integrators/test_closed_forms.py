"""Methods on one mass and one spring, step by step against their own formulas: y' = A y in two by two matrices.

A wrong constant of a method moves its numbers in the first digits here, without any order to be measured.
"""

import numpy as np
import pytest

import pliant as pl
from pliant.mesh import Mesh
from pliant.simulate import simulate

K, MASS, REST = 30.0, 2.0, 0.5
H = 0.1
A = np.array([[0.0, 1.0], [-K / MASS, 0.0]])
I = np.eye(2)
START = np.array([0.05, 0.2])  # stretch [m], its rate [m/s]


def solve(c, y):
    return np.linalg.solve(I - c * A, y)


def sdirk2(y, h=H):
    a = 1.0 - 1.0 / np.sqrt(2.0)
    return solve(a * h, y + (1.0 - a) * h * A @ solve(a * h, y))


def trbdf2(y):
    g = 2.0 - np.sqrt(2.0)
    middle = solve(0.5 * g * H, y + 0.5 * g * H * A @ y)
    w = 1.0 / (g * (2.0 - g))
    return solve(0.5 * g * H, w * middle - w * (1.0 - g) ** 2 * y)


def taylor(y, terms):
    total, power = y, y
    for k in range(1, terms + 1):
        power = H / k * A @ power
        total = total + power
    return total


def symplectic(y):
    v = y[1] - H * K / MASS * y[0]
    return np.array([y[0] + H * v, v])


def verlet(y):
    a = -K / MASS * y[0]
    q = y[0] + H * y[1] + 0.5 * H * H * a
    return np.array([q, y[1] + 0.5 * H * (a - K / MASS * q)])


ONE_STEP = {
    pl.BDF1(): lambda y: solve(H, y),
    pl.SDIRK2(): sdirk2,
    pl.TRBDF2(): trbdf2,
    pl.ImplicitMidpoint(): lambda y: solve(0.5 * H, y + 0.5 * H * A @ y),
    pl.LinearlyImplicit(): lambda y: solve(H, y),
    pl.LinearlyImplicit(variant="B"): lambda y: solve(H, y),
    pl.LinearlyImplicit(beta=2.0): lambda y: with_beta(y, 2.0),
    pl.RK4(): lambda y: taylor(y, 4),
    pl.ExplicitEuler(): lambda y: taylor(y, 1),
    pl.SymplecticEuler(): symplectic,
    pl.Verlet(): verlet,
    pl.ERE(): lambda y: taylor(y, 40),
    pl.EXPRB32(): lambda y: taylor(y, 40),
}


def with_beta(y, beta):
    """(m + beta h^2 k) (v1 - v0) = h (f - beta h k v0), q1 = q0 + h v1."""
    f = -K * y[0]
    v = y[1] + H * (f - beta * H * K * y[1]) / (MASS + beta * H * H * K)
    return np.array([y[0] + H * v, v])


def path(integrator, steps):
    """Stretch and rate of a mass on a spring along x that is held at its other end."""
    net = Mesh(np.array([[0.0, 0.0, 0.0], [REST, 0.0, 0.0]]), np.array([[0, 1]]))
    positions = net.X + np.array([[0.0, 0.0, 0.0], [START[0], 0.0, 0.0]])
    body = pl.SpringNet(net, k=K, mass=MASS, pins=pl.Pin([0]), positions=positions, velocity=(START[1], 0.0, 0.0))
    scene = pl.Scene([body], integrator=integrator, h=H, duration=steps * H, gravity=(0.0, 0.0, 0.0))
    return [np.array([step.state.q[3] - REST, step.state.v[3]]) for step in simulate(scene)]


@pytest.mark.parametrize("integrator", ONE_STEP, ids=lambda i: type(i).__name__)
def test_one_step_methods_follow_their_formulas(integrator):
    y = START
    for found in path(integrator, 3):
        y = ONE_STEP[integrator](y)
        np.testing.assert_allclose(found, y, rtol=1e-5, atol=1e-7)


def test_bdf2_follows_its_formula_after_a_step_of_sdirk2():
    before, now = START, sdirk2(START)
    found = path(pl.BDF2(), 4)
    np.testing.assert_allclose(found[0], now, rtol=1e-5, atol=1e-7)
    for state in found[1:]:
        before, now = now, solve(2.0 / 3.0 * H, (4.0 * now - before) / 3.0)
        np.testing.assert_allclose(state, now, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("h", [1e-3, 3e-6])
@pytest.mark.parametrize("integrator", [*ONE_STEP, pl.BDF2(), pl.XPBD()], ids=lambda i: type(i).__name__)
def test_a_free_body_falls_with_g(integrator, h):
    """Forces inside a body do not change how its center falls: v = g t, whatever the method and the step.

    In the shorter steps gravity moves it by less than a billionth of its size, and must be felt all the same.
    """
    net = Mesh(np.array([[0.0, 0.0, 0.0], [REST, 0.0, 0.0]]), np.array([[0, 1]]))
    positions = net.X + np.array([[0.0, 0.0, 0.0], [START[0], 0.0, 0.0]])
    body = pl.SpringNet(net, k=K, mass=MASS, positions=positions)
    scene = pl.Scene([body], integrator=integrator, h=h, duration=3 * h, gravity=(0.0, 0.0, -9.81))
    last = list(simulate(scene))[-1].state
    np.testing.assert_allclose(last.v.reshape(2, 3).mean(axis=0), [0.0, 0.0, -9.81 * last.t], rtol=1e-4, atol=1e-8)

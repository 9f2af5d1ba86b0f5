"""Rayleigh damping acts once on a body, however many energies it is made of."""

from dataclasses import replace

import numpy as np
import pytest

from pliant.bodies import Green, Membrane, Rayleigh, Solid, SpringNet
from pliant.cloth.body import Cloth
from pliant.dg import DiscontinuousSolid
from pliant.integrators import ERE, RK4
from pliant.materials import StableNeoHookean
from pliant.mesh import bar, rectangle, sheet, spring_net
from pliant.scene import Scene
from pliant.scenes.released import Released
from pliant.simulate import simulate
from pliant.state import State

ALPHA = 3.0
RUBBER = StableNeoHookean(1e3, 0.3)


def cloth(**options):
    return Cloth(sheet((0.1, 0.1), (2, 2)), **options)


BODIES = {
    "solid": lambda **o: Solid(bar((0.2, 0.1, 0.1), (1, 1, 1)), RUBBER, **o),
    "planar solid": lambda **o: Solid(rectangle((0.2, 0.1), (2, 1)), RUBBER, **o),
    "membrane": lambda **o: Membrane(sheet((0.1, 0.1), (2, 2)), RUBBER, thickness=1e-3, **o),
    "springs": lambda **o: SpringNet(spring_net(2, 2), k=10.0, mass=0.1, **o),
    "cloth": cloth,
    "discontinuous": lambda **o: DiscontinuousSolid(rectangle((0.2, 0.1), (2, 1)), RUBBER, eta=1e4, **o),
    "released": lambda **o: Released(BODIES["solid"](**o), 1.0 * BODIES["solid"]().mesh.X),
}


@pytest.mark.parametrize("kind", BODIES)
def test_a_rigid_translation_decays_at_the_rate_alpha(kind):
    """M vdot = -(alpha M + beta H) v and H v = 0 for a translation: v = v0 exp(-alpha t) whatever the body is made of.

    RK4 makes (1 - z + z^2/2 - z^3/6 + z^4/24)^n of it, z = alpha h, which is 1e-9 away from the exponential here.
    """
    body = BODIES[kind](damping=Rayleigh(ALPHA, 1e-4, current=True), velocity=(0.3, -0.2, 0.1))
    scene = Scene([body], integrator=RK4(), gravity=(0, 0, 0), h=1e-3, duration=0.05)
    *_, last = simulate(scene)
    v0 = scene.initial(scene.system()).v
    assert np.allclose(last.state.v, np.exp(-ALPHA * 0.05) * v0, rtol=1e-8, atol=1e-10)


def test_beta_damps_with_the_sum_of_the_energies():
    """f = -beta H v with H the Hessian of membrane and bending together."""
    scene = Scene([cloth(damping=Rayleigh(beta=0.2))], gravity=(0, 0, 0))
    system = scene.system()
    (damping,) = system.force_terms
    x, v = system.X.ravel(), np.random.default_rng(0).normal(size=system.X.size)
    H = sum(energy.hessian(x, psd=True).toarray() for energy in system.energy_terms)
    assert np.allclose(damping.force(x, v, 0.0), -0.2 * H @ v, rtol=1e-12)


SOLID = Solid(bar((0.2, 0.1, 0.1), (2, 1, 1)), RUBBER)


@pytest.mark.parametrize("damping", [Rayleigh(0.5, 0.02, current=True), Green(0.05)], ids=["Rayleigh", "Green"])
def test_the_exact_stiffness_has_what_damping_changes_with_the_shape(damping):
    """By differences of the force, at a strain of 10 % and a rate of 1/s, where the part is a tenth of K."""
    system = Scene([replace(SOLID, damping=damping)], gravity=(0, 0, 0)).system()
    rng = np.random.default_rng(3)
    x, v = (system.X + 0.004 * rng.normal(size=system.X.shape)).ravel(), 0.1 * rng.normal(size=system.X.size)
    eps = 1e-6
    slope = [(system.force(x + e, v, 0.0) - system.force(x - e, v, 0.0)) / (2 * eps) for e in eps * np.eye(len(x))]
    K = system.exact_stiffness(x, v, 0.0).toarray()
    assert np.abs(K - np.array(slope).T).max() < 1e-7 * np.abs(K).max()
    assert np.abs(K - system.stiffness(x, v, 0.0).toarray()).max() > 0.02 * np.abs(K).max()


@pytest.mark.parametrize("strain", [4e-6, -4e-6])
def test_the_exact_stiffness_is_one_sided_near_the_rest_shape(strain):
    """The Hessian of cloth is projected where it is compressed and not where it is stretched: differences that reach
    from one to the other are wrong by a half.
    """
    system = Scene([cloth(damping=Rayleigh(beta=0.02, current=True))], gravity=(0, 0, 0)).system()
    (damping,) = system.force_terms
    x, v = (1.0 + strain) * system.X.ravel(), np.random.default_rng(1).normal(size=system.X.size)
    eps = 3e-9
    slope = [(damping.force(x + e, v, 0.0) - damping.force(x - e, v, 0.0)) / (2 * eps) for e in eps * np.eye(len(x))]
    K = damping.exact_stiffness(x, v, 0.0).toarray()
    assert np.abs(K - np.array(slope).T).max() < 1e-5 * np.abs(K).max()


@pytest.mark.parametrize("damping", [Rayleigh(0.5, 0.02, current=True), Green(0.05)], ids=["Rayleigh", "Green"])
def test_exponential_steps_keep_their_order_where_damping_depends_on_the_shape(damping):
    system = Scene([replace(SOLID, damping=damping)], gravity=(0, 0, 0)).system()
    x = system.X * np.array([1.1, 0.97, 0.97]) + 0.05 * system.X[:, [1, 2, 0]]
    start = State(x.ravel(), (0.3 * system.X[:, [2, 0, 1]]).ravel())
    truth = marched(system, start, RK4(), 1000)
    errors = [np.abs(marched(system, start, ERE(tolerance=1e-10), n) - truth).max() for n in (8, 16, 32)]
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert orders.min() > 1.85, (orders, errors)


def marched(system, state, integrator, steps):
    """Positions after 0.04 s."""
    memory = None
    for _ in range(steps):
        step = integrator.step(system, state, 0.04 / steps, memory)
        state, memory = step.state, step.memory
    return state.q

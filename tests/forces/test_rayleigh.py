"""Rayleigh damping acts once on a body, however many energies it is made of."""

import numpy as np
import pytest

from pliant.bodies import Membrane, Rayleigh, Solid, SpringNet
from pliant.cloth.body import Cloth
from pliant.dg import DiscontinuousSolid
from pliant.integrators import RK4
from pliant.materials import StableNeoHookean
from pliant.mesh import bar, rectangle, sheet, spring_net
from pliant.scene import Scene
from pliant.scenes.released import Released
from pliant.simulate import simulate

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

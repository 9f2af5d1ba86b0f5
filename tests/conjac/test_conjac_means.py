"""Dynamic nodes that stand for the mean over a patch: the same equations, without a dent at every node."""

import numpy as np
import pytest

from pliant.bench.conjac.play import equilibrium, march
from pliant.bodies import Solid
from pliant.errors import SceneError
from pliant.integrators import ConJac
from pliant.linear import Cholesky
from pliant.maps.condensation import follow
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar, long_eared
from pliant.scene import Scene
from pliant.scenes.conjac import BUNNY, bunny
from pliant.systems.condensed import Condensation
from pliant.systems.condensed_plan import dofs_of, plan_of
from pliant.systems.placement import spread

RADIUS = 0.03


def body(**options):
    mesh = bar(size=(0.15, 0.05, 0.05), cells=(6, 2, 2))
    pins = Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
    return Scene([Solid(mesh, StableNeoHookean(3e4, 0.4), pins=pins)], **options)


def test_followers_minimise_the_energy_for_given_means():
    """J against a dense constrained minimum: K v + W_d^T lambda = 0, W_d v = u; corrections move no mean."""
    system = body().system()
    rng = np.random.default_rng(0)
    q = system.X.ravel() + 1e-3 * rng.normal(size=system.X.size)
    K = system.restrict(system.stiffness(q, 0 * q, 0.0, psd=True))
    plan = plan_of(system, spread(system, 3), radius=RADIUS)
    d, n, f = dofs_of(plan.nodes, system), K.shape[0], rng.normal(size=K.shape[0])
    C = plan.means.W[d].toarray()
    assert np.allclose(C.sum(axis=1), 1.0) and ((C > 0.0).sum(axis=1) > 3).all()
    saddle = np.block([[K.toarray(), C.T], [C, np.zeros((len(d), len(d)))]])
    condensed = follow(K, d, Cholesky(), means=plan.means).condensed(f[:, None])
    expected = np.linalg.solve(saddle, np.vstack([np.zeros((n, len(d))), np.eye(len(d))]))[:n]
    assert np.allclose(condensed.J, expected, rtol=0, atol=1e-9)
    moved = np.linalg.solve(saddle, np.concatenate([-f, np.zeros(len(d))]))[:n]
    for dx in (condensed.others[:, 0], condensed.correction(f)):
        assert np.allclose(dx, moved, rtol=0, atol=1e-9 * abs(moved).max())


def test_at_rest_the_shape_is_that_of_the_full_mesh():
    """[CJ-4] whatever the patches are."""
    scene = body(integrator=ConJac(count=3, radius=RADIUS, beta=3.0, corrections=3), h=0.05, duration=5.0)
    *_, last = march(scene)
    static = equilibrium(last.system, scene.initial(last.system))
    sag = abs(static - last.system.X.ravel()).max()
    assert abs(last.state.q - static).max() < 1e-8 * sag


def test_no_node_is_dented_inside_out_in_an_impact():
    """Single vertices, which carry the inertia of the body, turn their elements inside out; patches hardly strain them,
    and the landing wins no energy.
    """
    mesh = long_eared(height=BUNNY, cells=12)
    least, most = {}, {}
    for radius in (0.0, 0.012):
        made = bunny(ConJac(count=8, friction=0.3, radius=radius), mesh=mesh, h=5e-3)
        moments = [(m.det, m.energy) for m in march(made, 22)]
        least[radius], energies = min(d for d, _ in moments), [e for _, e in moments]
        most[radius] = max(energies) / energies[0]
    assert least[0.0] < 0.0 and least[0.012] > 0.5
    assert most[0.012] <= 1.001


def test_a_radius_has_a_unit_and_is_not_negative():
    assert ConJac(radius="12 mm").radius == pytest.approx(0.012)
    assert Condensation(radius="12 mm").radius == pytest.approx(0.012)
    with pytest.raises(SceneError, match="radius"):
        ConJac(radius=-1.0)

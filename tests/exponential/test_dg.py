"""Discontinuous triangles: fluxes against finite differences, spectra against the continuous mesh, DGSI."""

import numpy as np
import pytest
from scipy.linalg import eigh

from pliant.bodies import Solid
from pliant.dg import DiscontinuousSolid
from pliant.energies.dg import BZ, IP, coercive_eta, explode
from pliant.energies.elastic import Elastic
from pliant.errors import MeshError, SceneError
from pliant.integrators import DGSI, LinearlyImplicit, SymplecticEuler
from pliant.maps.pins import Pin
from pliant.materials import Linear, NeoHookean
from pliant.mesh import Mesh, bar, consistent_mass, rectangle
from pliant.scene import Scene
from pliant.state import State

SQUARE = Mesh(X=np.array([[0.0, 0.0], [1, 0], [1, 1], [0, 1]]), T=np.array([[0, 1, 2], [0, 2, 3]]))
MU, LAM = 1e4 / 2.6, 1e4 * 0.3 / (1.3 * 0.4)


def glued(flux, mesh, material, eta):
    return BZ(mesh, eta) if flux == "BZ" else IP(mesh, material, eta)


@pytest.mark.parametrize("flux", ["BZ", "IP"])
@pytest.mark.parametrize("material", [Linear(E=1e4, nu=0.3), NeoHookean(E=1e4, nu=0.3)], ids=["linear", "neo-Hookean"])
def test_gradient_and_hessian_match_finite_differences_with_jumps(flux, material):
    mesh = rectangle(size=(1.0, 0.6), cells=(2, 2))
    energy = glued(flux, mesh, material, 5e4)
    rng = np.random.default_rng(0)
    x = explode(mesh).X.ravel() + 0.03 * rng.normal(size=6 * len(mesh.T))
    d = rng.normal(size=len(x))
    eps = 1e-6
    slope = (energy.value(x + eps * d) - energy.value(x - eps * d)) / (2 * eps)
    assert energy.gradient(x) @ d == pytest.approx(slope, rel=1e-7)
    change = (energy.gradient(x + eps * d) - energy.gradient(x - eps * d)) / (2 * eps)
    assert np.allclose(energy.hessian(x) @ d, change, rtol=1e-6, atol=1e-6 * np.abs(change).max())


def spectrum(mesh, energies):
    """Eigenvalues of the rest Hessian against the consistent mass."""
    x = mesh.X.ravel()
    H = sum(e.hessian(x).toarray() for e in energies)
    return eigh(H, np.kron(consistent_mass(mesh, 1.0).toarray(), np.eye(2)), eigvals_only=True)


@pytest.mark.parametrize("mesh", [SQUARE, rectangle(size=(1.0, 1.0), cells=(3, 3))], ids=["two triangles", "3x3"])
def test_bz_is_softer_than_the_continuous_mesh_and_tends_to_it(mesh):
    material = Linear(E=1e4, nu=0.3)
    loose = explode(mesh)
    elastic = Elastic(loose.X, loose.T, material)
    continuous = spectrum(mesh, [Elastic(mesh.X, mesh.T, material)])
    n = len(continuous)
    before = np.zeros(n)
    for eta in (1e2, 1e3, 1e4, 1e6, 1e4 * (2 * MU + LAM)):
        lam = spectrum(loose, [elastic, BZ(mesh, eta)])[:n]
        assert (lam <= continuous * (1 + 1e-9) + 1e-4).all()
        assert (lam >= before - 1e-4).all()
        before = lam
    assert np.abs(lam[3:] / continuous[3:] - 1).max() <= 5e-3
    if mesh is SQUARE:
        assert abs(lam[3] / continuous[3] - 1) <= 1e-4


def test_lowest_frequency_of_the_square_is_the_published_one():
    """Unit square of two triangles, E = 1e4, nu = 0.3: 92307.7 continuous; 564 ... 92302.7 for eta = 1e2 ... 1e8."""
    material = Linear(E=1e4, nu=0.3)
    loose = explode(SQUARE)
    elastic = Elastic(loose.X, loose.T, material)
    assert spectrum(SQUARE, [Elastic(SQUARE.X, SQUARE.T, material)])[3] == pytest.approx(92307.7, rel=1e-6)
    published = {1e2: 564, 1e3: 5496, 1e4: 41880, 1e5: 86857, 1e6: 91801, 1e8: 92302.7}
    for eta, value in published.items():
        assert spectrum(loose, [elastic, BZ(SQUARE, eta)])[3] == pytest.approx(value, rel=1e-3)
    for value in spectrum(loose, [elastic, IP(SQUARE, material, 1e5)])[3:5]:
        assert value == pytest.approx(92307.7, rel=1e-6)


@pytest.mark.parametrize("mesh", [SQUARE, rectangle(size=(1.0, 1.0), cells=(3, 3))], ids=["two triangles", "3x3"])
def test_ip_is_positive_above_its_threshold_and_not_far_below(mesh):
    material = Linear(E=1e4, nu=0.3)
    loose = explode(mesh)
    elastic = Elastic(loose.X, loose.T, material)
    eta = coercive_eta(mesh, MU, LAM)
    high = spectrum(loose, [elastic, IP(mesh, material, eta)])
    assert high[0] > -1e-6 * high[-1]
    assert spectrum(loose, [elastic, IP(mesh, material, 0.1 * eta)])[0] < -1e-6 * high[-1]


def test_a_jump_free_state_has_no_glue_force():
    mesh = rectangle(size=(1.0, 0.5), cells=(4, 2))
    x = (mesh.X + 0.1 * np.sin(3 * mesh.X[:, ::-1]))[mesh.T].ravel()
    energy = BZ(mesh, 1e4)
    assert abs(energy.value(x)) < 1e-11 and np.abs(energy.gradient(x)).max() < 1e-10


def strip(flux="BZ", cells=(8, 2), eta=2e2, E=1e5):
    """1 m x 0.25 m, 1 kg, clamped on the left."""
    mesh = rectangle(size=(1.0, 0.25), cells=cells)
    pins = Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
    body = DiscontinuousSolid(mesh, NeoHookean(E=E, nu=0.3), eta, flux, density=4.0, pins=pins)
    return Scene([body], gravity=(0, 0)), mesh


def test_dgsi_equals_symplectic_glue_plus_implicit_blocks():
    """The assembled solve equals one 6x6 solve per triangle."""
    scene, mesh = strip()
    system = scene.system()
    rng = np.random.default_rng(1)
    q = system.prescribe(system.X.ravel() + 1e-3 * rng.normal(size=system.X.size), 0.0)
    v = np.zeros(q.size)
    v[system.free] = rng.normal(size=len(system.free))
    h = 0.01
    after = DGSI().step(system, State(q, v), h).state
    K = system.energy_terms[0].hessian(q, psd=True).toarray()
    m, f = system.nodal_mass, system.force(q, v, 0.0)
    free = np.isin(np.arange(q.size), system.free)
    for e in range(len(mesh.T)):
        dofs = np.arange(6 * e, 6 * e + 6)
        dofs = dofs[free[dofs]]
        A = np.diag(m[dofs]) + h * h * K[np.ix_(dofs, dofs)]
        dv = np.linalg.solve(A, h * (f[dofs] - h * K[dofs] @ v))
        assert np.allclose(after.v[dofs], v[dofs] + dv, rtol=1e-9, atol=1e-12)


def test_free_triangles_without_glue_fly_apart_freely():
    scene, _ = strip(eta=1e-12)
    system = scene.system()
    v = np.zeros(system.X.size)
    v[6 * 5 : 6 * 6] = np.tile([1.0, 0.5], 3)
    after = DGSI().step(system, State(system.X.ravel(), v), 0.01).state
    assert np.allclose(after.v, v, atol=1e-12)


def bent(system):
    x = system.X.copy()
    x[:, 1] += 0.15 * system.X[:, 0] ** 2
    return State(system.prescribe(x.ravel(), 0.0), np.zeros(x.size))


def test_dgsi_keeps_the_bending_motion_that_the_continuous_mesh_loses():
    def left(scene, integrator, frames=(50, 400)):
        system = scene.system()
        state, memory, out = bent(system), None, []
        for n in range(1, frames[1] + 1):
            step = integrator.step(system, state, 0.01, memory)
            state, memory = step.state, step.memory
            if n in frames:
                out.append(sum(system.energies(state.q, state.v, 0.0).values()))
        return out[1] / out[0]

    scene, mesh = strip()
    pins = Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
    continuous = Scene([Solid(mesh, NeoHookean(E=1e5, nu=0.3), density=4.0, pins=pins)], gravity=(0, 0))
    assert left(scene, DGSI()) > 0.1
    assert left(continuous, LinearlyImplicit()) < 1e-3


def test_additive_without_hessians_is_symplectic_euler():
    from pliant.integrators.additive import Additive, nothing

    scene, _ = strip()
    system = scene.system()
    start = bent(system)
    a = Additive(split=nothing).step(system, start, 1e-3).state
    b = SymplecticEuler().step(system, start, 1e-3).state
    assert np.allclose(a.q, b.q, rtol=1e-12) and np.allclose(a.v, b.v, rtol=1e-10, atol=1e-14)


def test_bad_input_is_refused():
    with pytest.raises(SceneError, match="eta is -1"):
        BZ(SQUARE, -1.0)
    with pytest.raises(MeshError):
        explode(bar(cells=(1, 1, 1)))

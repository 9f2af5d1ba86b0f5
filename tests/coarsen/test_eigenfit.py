"""EigenFit and DAC: spectra replaced exactly, plain FEM when R = I, any integrator, mode tests, bad input."""

import numpy as np
import pytest
import scipy.sparse as sp
from fitted_bars import COARSE, FINE, FIT, SIZE, B, body, rough
from scipy.linalg import eigh

from pliant.coarsen import Following, coarsen, dac_factor, fit, prolongation, softened
from pliant.coarsen.ratios import shared
from pliant.coarsen.stiffening import eigenvalues, string
from pliant.energies.elastic import Elastic
from pliant.errors import MeshError, MissingDependency, SceneError
from pliant.integrators import BDF1, BDF2, ERE, SIERE, ImplicitMidpoint, LinearlyImplicit
from pliant.linear.cholesky import Cholesky
from pliant.linear.lowrank import corrected
from pliant.maps.pins import Pin
from pliant.materials import Linear, NeoHookean
from pliant.mesh import bar, consistent_mass
from pliant.solvers import QLB, Newton, Tolerance
from pliant.state import State
from pliant.systems.eigenfit import EigenFit, Fit
from pliant.systems.elastodynamics import Elastodynamics
from pliant.systems.free_step import FreeStep


def dense_tangent(system, q, weights):
    A = system.restrict(system.tangent(q, 0 * q, 0.0, weights))
    return A @ np.eye(A.shape[0])


def test_coarse_meshes_are_too_stiff_and_their_spectrum_is_replaced_exactly():
    assert ((FIT.ratios > 0.3) & (FIT.ratios < 1.0)).all()
    system = EigenFit(body(COARSE), FIT)
    q = system.X.ravel()
    M = system.restrict(system.mass(q)).toarray()
    lam = eigh(dense_tangent(system, q, (0.0, 0.0, 1.0)), M, eigvals_only=True)
    plain = eigh(dense_tangent(body(COARSE), q, (0.0, 0.0, 1.0)), M, eigvals_only=True)
    expected = np.sort(np.concatenate([FIT.fine, plain[8:]]))
    assert np.allclose(lam, expected, rtol=1e-8)


def test_corrected_force_is_minus_corrected_stiffness_times_displacement():
    system = EigenFit(body(COARSE), FIT, frozen=True)
    state = rough(system)
    u = state.q - system.X.ravel()
    f = system.force(state.q, 0 * u, 0.0)
    K = system.stiffness(state.q, state.v, 0.0)
    assert np.allclose(f[system.free], (K @ u)[system.free], rtol=1e-9, atol=1e-9 * np.abs(f).max())


@pytest.mark.parametrize("weights", [(1.0, 0.0, 1e-4), (1.0, 0.01, 1e-4), (1.0, 0.005, 2.5e-5)])
def test_solving_in_closed_form_equals_the_dense_solve(weights):
    """Step matrices of SI, SI with damping, and the midpoint rule: A^-1 M U = U / (c_m + c_k lam) needs no solves."""
    system = EigenFit(body(COARSE), FIT, alpha=0.3, beta=0.01)
    q = rough(system).q
    A = system.restrict(system.tangent(q, 0 * q, 0.0, weights))
    assert A.X is not None
    b = np.random.default_rng(0).normal(size=A.shape[0])
    dense = A @ np.eye(len(b))
    assert np.allclose(Cholesky().factor(A).solve(b), np.linalg.solve(dense, b), rtol=1e-6)
    general = corrected(A.sparse(), A.W, A.c)
    assert np.allclose(Cholesky().factor(general).solve(b), np.linalg.solve(dense, b), rtol=1e-9)


def test_unit_ratios_are_plain_finite_elements_bit_for_bit():
    ones = Fit(np.ones(8), FIT.coarse, FIT.coarse, FIT.modes, np.eye(8))
    plain = body(COARSE, gravity=True)
    wrapped = EigenFit(body(COARSE, gravity=True), ones)
    state = rough(plain)
    for integrator in (LinearlyImplicit(), BDF1(), ImplicitMidpoint(), BDF2(QLB()), SIERE(s=3), Following(BDF1())):
        a = integrator.step(plain, state, 0.01).state
        b = integrator.step(wrapped, state, 0.01).state
        assert a.q.tobytes() == b.q.tobytes() and a.v.tobytes() == b.v.tobytes(), integrator


def test_fitting_a_mesh_to_itself_gives_unit_ratios():
    same = fit(body(FINE), body(FINE), prolongation(FINE, FINE), 5)
    assert np.allclose(same.ratios, 1.0, atol=1e-9) and same.matched == 5


TIGHT = Newton(tolerance=Tolerance(relative=1e-12, absolute=1e-14))


@pytest.mark.parametrize("integrator", [LinearlyImplicit(), BDF1(TIGHT), ImplicitMidpoint(TIGHT), BDF2(TIGHT)], ids=str)
def test_any_integrator_steps_the_corrected_linear_system(integrator):
    """Against the same integrator on a dense oracle of the corrected stiffness."""
    system = EigenFit(body(COARSE, gravity=True), FIT, beta=0.002, frozen=True)
    state, memory = rough(system), None
    oracle, omem = state, None
    dense = DenseLinear(system)
    for _ in range(3):
        step = integrator.step(system, state, 0.01, memory)
        assert step.reports[0].converged
        state, memory = step.state, step.memory
        other = integrator.step(dense, oracle, 0.01, omem)
        oracle, omem = other.state, other.memory
    assert np.allclose(state.q, oracle.q, atol=1e-8)
    assert np.allclose(state.v, oracle.v, atol=1e-6)


class DenseLinear:
    """The same linear physics with explicit (dense, stored sparse) matrices."""

    symmetric = True

    def __init__(self, system):
        self.inner, self.free, self.scale, self.free_mass = system, system.free, system.scale, system.free_mass
        q = system.X.ravel()
        N = len(q)
        self.X = system.X
        self.K = sp.csr_matrix(system.stiffness(q, 0 * q, 0.0) @ np.eye(N))
        self.D = sp.csr_matrix(system.damping(q, 0 * q, 0.0) @ np.eye(N))
        self.f0 = system.force(q, 0 * q, 0.0)
        self.M = system.mass(q)

    def mass(self, q):
        return self.M

    def inertia(self, q, a):
        return self.M @ a

    def weights(self, q):
        return self.inner.weights(q)

    def force(self, q, v, t):
        return self.f0 + self.K @ (q - self.X.ravel()) + self.D @ v

    def stiffness(self, q, v, t, *, psd=False):
        return self.K

    def damping(self, q, v, t):
        return self.D

    def tangent(self, q, v, t, weights, *, psd=True, a=None):
        A = (weights[0] * self.M - weights[1] * self.D - weights[2] * self.K).tocsr()
        A.sort_indices()
        return A

    def prepare(self, state, h, memory, how):
        return FreeStep(self, state, h, how)

    def restrict(self, A):
        return A[self.free][:, self.free]

    def prescribe(self, q, t):
        return self.inner.prescribe(q, t)

    def limit(self, q, dq):
        return np.inf

    def potential(self, q, t):
        return None


@pytest.mark.parametrize("integrator", [ERE(), SIERE(s=3)], ids=str)
def test_exponential_integrators_see_the_corrected_frequency(integrator):
    """Released in the first mode, the body returns after one fine period."""
    system = EigenFit(body(COARSE), FIT, frozen=True)
    U = np.zeros(system.X.size)
    U[system.free] = 1e-3 * FIT.modes[:, 0]
    start = State(system.X.ravel() + U, 0 * U)
    period = 2 * np.pi / np.sqrt(FIT.fine[0])
    state, memory = start, None
    for _ in range(16):
        step = integrator.step(system, state, period / 16, memory)
        state, memory = step.state, step.memory
    assert np.abs(state.q - start.q).max() <= 1e-4 * np.abs(U).max()


def test_tracked_corner_is_closer_to_the_fine_mesh_than_coarse_and_dac():
    """A bar twisted and released: mean distance of a corner from where the fine mesh has it."""

    def twisted(system):
        x = system.X.copy()
        angle = 0.5 * x[:, 0] / SIZE[0]
        y, z = x[:, 1] - 0.05, x[:, 2] - 0.05
        x[:, 1] = 0.05 + np.cos(angle) * y - np.sin(angle) * z + 0.1 * x[:, 0] ** 2
        x[:, 2] = 0.05 + np.sin(angle) * y + np.cos(angle) * z
        return State(system.prescribe(x.ravel(), 0.0), np.zeros(x.size))

    def corner(system, steps=80):
        c = int(np.argmax(system.X.sum(axis=1)))
        state, memory, path = twisted(system), None, []
        for _ in range(steps):
            step = ImplicitMidpoint().step(system, state, 0.005, memory)
            state, memory = step.state, step.memory
            path.append(state.q.reshape(-1, 3)[c])
        return np.array(path)

    material = Linear(E=1e5, nu=0.45)
    beta = 0.01
    truth = corner(body(FINE, beta=beta))
    error = lambda system: np.linalg.norm(corner(system) - truth, axis=1).mean()
    dac = body(COARSE, softened(material, dac_factor(body(COARSE), body(FINE))), beta=beta)
    plain, scaled = error(body(COARSE, beta=beta)), error(dac)
    fitted = error(EigenFit(body(COARSE), FIT, beta=beta, frozen=True))
    assert fitted < 0.6 * scaled < plain, (fitted, scaled, plain)


def test_nonlinear_material_follows_its_modes_and_rematches():
    nonlinear = NeoHookean(E=1e5, nu=0.45)
    system = EigenFit(body(COARSE, nonlinear, gravity=True), FIT, rematch=True)
    state, memory = State(system.X.ravel(), np.zeros(system.X.size)), None
    for _ in range(10):
        step = LinearlyImplicit().step(system, state, 0.01, memory)
        state, memory = step.state, step.memory
        assert step.reports[0].converged
    assert system.spectrum(state.q).overlap.max(axis=1).min() > 0.3
    again = EigenFit(body(COARSE, nonlinear, gravity=True), FIT, rematch=True)
    assert np.array_equal(system.force(state.q, state.v, 0.0), again.force(state.q, state.v, 0.0))


def test_modes_that_no_longer_resemble_those_at_rest_are_reported_once_or_refused():
    soft = NeoHookean(E=1e5, nu=0.45)
    x = COARSE.X.copy()
    x[:, [0, 1]] = x[:, [1, 0]] * [-1, 1]  # a quarter turn: no mode points where it did
    q = x.ravel()
    with pytest.raises(SceneError, match=r"only \d of 8 modes still resemble those at rest"):
        EigenFit(body(COARSE, soft), FIT, on_mismatch="raise").force(q, 0 * q, 0.0)
    system = EigenFit(body(COARSE, soft), FIT)
    with pytest.warns(UserWarning, match=r"only \d of 8 modes .* use rematch=True") as caught:
        for shift in (0.0, 1e-4, 2e-4):
            system.near(None).force(q + shift, 0 * q, 0.0)
    assert len(caught) == 1


def test_where_modes_are_lost_the_coarse_mesh_moves_as_it_is():
    """A correction of modes that are no longer there would push anywhere."""
    soft = NeoHookean(E=1e5, nu=0.45)
    plain, system = body(COARSE, soft), EigenFit(body(COARSE, soft), FIT, on_mismatch="coarse")
    bent, turned = COARSE.X.copy(), COARSE.X.copy()
    bent[:, 2] += 0.05 * bent[:, 0] ** 2
    turned[:, [0, 1]] = turned[:, [1, 0]] * [-1, 1]
    turned[:, 2] *= 1.05
    difference = lambda x: np.abs(
        system.force(x.ravel(), 0 * x.ravel(), 0.0) - plain.force(x.ravel(), 0 * x.ravel(), 0.0)
    )
    assert difference(bent).max() > 0.0
    with pytest.warns(UserWarning, match="the coarse mesh moves as it is"):
        assert difference(turned).max() == 0.0


def test_rigid_modes_keep_the_ratio_one_and_clusters_share_theirs():
    found = fit(body(COARSE, pinned=False), body(FINE, pinned=False), B, 12)
    assert np.allclose(found.ratios[:6], 1.0) and (found.ratios[6:] < 1.0).all()
    nothing = fit(body(COARSE, pinned=False), body(FINE, pinned=False), B, 4, on_mismatch="ignore")
    assert (nothing.ratios == 1.0).all()  # all of them rigid
    assert np.allclose(shared(np.array([1.0, 1.0005, 3.0]), np.array([0.4, 0.6, 0.9])), [0.5, 0.5, 0.9])


def test_changed_constraints_need_a_new_fit():
    mesh = COARSE
    both = Elastodynamics(
        mesh.X,
        consistent_mass(mesh, 1000.0),
        [Elastic(mesh.X, mesh.T, Linear())],
        pins=[Pin(mesh.where(lambda X: (X[:, 0] < 1e-9) | (X[:, 0] > 0.4 - 1e-9)))],
    )
    with pytest.raises(SceneError, match="the constraints have changed"):
        EigenFit(both, FIT)


def test_dac_makes_the_first_eigenvalue_right_and_only_that():
    factor = dac_factor(body(COARSE), body(FINE))
    assert factor * FIT.coarse[0] == pytest.approx(FIT.fine[0], rel=1e-9)
    assert np.abs(factor * FIT.coarse / FIT.fine - 1)[2:].max() > 0.05


def test_string_eigenvalues_are_the_closed_form_and_converge_from_above():
    first = []
    for N in (2, 4, 8, 16, 128):
        for lumped in (False, True):
            K, M = string(N, lumped=lumped)
            lam = eigh(K.toarray(), M.toarray(), eigvals_only=True)
            assert np.allclose(lam, eigenvalues(N, lumped=lumped), rtol=1e-10)
        first.append(eigenvalues(N)[0])
        assert eigenvalues(N, lumped=True)[0] < np.pi**2
    assert first == pytest.approx([12.0, 10.387, 9.997, 9.9014, 9.8701], abs=1e-3)
    assert first == sorted(first, reverse=True) and first[-1] > np.pi**2


def test_meshes_of_different_bodies_are_refused():
    with pytest.raises(MeshError, match="away from the coarse mesh"):
        prolongation(COARSE, FINE.transformed(translate=(3.0, 0.0, 0.0)))
    with pytest.raises(MeshError, match="fine vertex .* away from the coarse mesh"):
        prolongation(bar((0.2, 0.1, 0.1), (2, 1, 1)), bar((0.4, 0.09, 0.09), (8, 2, 2)))  # covers half of it
    with pytest.raises(MeshError, match="1e-09 times the volume"):
        prolongation(COARSE, FINE.transformed(scale=1e-3))  # millimetres
    with pytest.raises(SceneError, match="6 of 8 modes of the coarse body are rigid, 0 of the fine one"):
        fit(body(COARSE, pinned=False), body(FINE), B, 8)
    with pytest.raises(SceneError, match="s = 500 modes"):
        fit(body(COARSE), body(FINE), B, 500)
    # a bar turned about its axis by 90 degrees fits into the same place, but a slab does not vibrate like a bar
    slab = bar((0.4, 0.1, 0.1), (1, 4, 4))
    with pytest.raises(SceneError, match="coarse modes resemble a fine one"):
        fit(body(slab), body(FINE), prolongation(slab, FINE), 12)


@pytest.mark.slow
def test_coarsening_reports_frequencies_before_and_after():
    fine = bar((0.4, 0.1, 0.1), (16, 4, 4))
    result = coarsen(fine, 120, modes=6)
    assert 60 <= len(result.mesh.X) <= 200
    assert abs(result.mesh.measures().sum() / fine.measures().sum() - 1.0) < 0.05
    # not all are too high: the meshes are not nested, and the lattice of the fine one is stiff in its own directions
    assert np.abs(result.plain).max() > 0.05 > np.abs(result.eigenfit).max()
    with pytest.raises(MeshError, match="target is 3"):
        coarsen(COARSE, 3)


def test_coarsening_without_tetwild_uses_the_lattice(monkeypatch):
    def missing(*args, **options):
        raise MissingDependency("not installed", where="test")

    monkeypatch.setattr("pliant.coarsen.decimate.tetrahedralise", missing)
    fine = bar((0.4, 0.1, 0.1), (12, 3, 3))
    result = coarsen(fine, 60, modes=4)
    assert len(result.mesh.X) < len(fine.X)
    assert np.abs(result.mesh.bounds - fine.bounds).max() < 0.05
    assert np.abs(result.eigenfit).max() < 1e-6 < np.abs(result.plain).max() and result.matched >= 3


def test_what_cannot_be_coarsened_is_named():
    for target, modes, what in ((3, 4, "target is 3"), (10**6, 4, "target is 1000000"), (20, 0, "modes is 0")):
        with pytest.raises(MeshError, match=what):
            coarsen(FINE, target, modes=modes)


def test_mass_damping_takes_energy_at_its_rate():
    """f = -alpha M v: power -alpha v^T M v, whatever the velocity, and D = df/dv says the same."""
    system = EigenFit(body(COARSE), FIT, alpha=0.7)
    plain = EigenFit(body(COARSE), FIT)
    state = rough(system)
    v = np.zeros_like(state.q)
    v[system.free] = np.random.default_rng(6).normal(size=len(system.free))
    drag = system.force(state.q, v, 0.0) - plain.force(state.q, v, 0.0)
    assert v @ drag == pytest.approx(-0.7 * v @ (system.mass(state.q) @ v), rel=1e-9)
    assert np.allclose(system.damping(state.q, v, 0.0) @ v, -0.7 * system.mass(state.q) @ v)

"""Newton's method past a saddle where projected blocks are far stiffer together than what they sum up to."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from pliant.integrators import Quasistatic
from pliant.linear.cholesky import Cholesky
from pliant.mesh import bar as bar_mesh
from pliant.scenes.qlb import bar
from pliant.solvers import Newton
from pliant.solvers.base import Tolerance
from pliant.solvers.shifts import FADE, between, stiffened


class Balanced(SimpleNamespace):
    """Phi = (K - N)/2 |z|^2 + |z|^4/4, a spring K and a push -N that nearly balance; projected, N does not count."""

    K, N = 5.0, 5.002
    weights, scale, c, dt, pull, mass = np.ones(3), 1.0, 1.0, 1.0, 1.0, 3.0
    inertial = symmetric = definite = True

    def merit(self, z):
        return 0.5 * (self.K - self.N) * z @ z + 0.25 * (z @ z) ** 2

    def residual(self, z):
        return (self.K - self.N) * z + (z @ z) * z

    def jacobian(self, z, *, psd=True, coupled=True):
        A = (self.K + (self.N if psd else -self.N)) * np.eye(3) + (z @ z) * np.eye(3) + 2.0 * np.outer(z, z)
        return sp.csr_matrix(A)

    def norm(self, r):
        return float(np.linalg.norm(r))

    def limit(self, z, dz):
        return np.inf


@pytest.mark.parametrize("start", [1e-3, 1e-5])
def test_the_minimum_beyond_a_saddle_is_reached_in_few_steps(start):
    """On the minimum |z|^2 = N - K; steps of |A|^-1 r would leave the saddle by a part in five thousand each."""
    stage = Balanced()
    z = start * np.array([1.0, 0.5, -0.2])
    solution = Newton(Cholesky(), tolerance=Tolerance(1e-12, 1e-10)).solve(stage, z)
    assert solution.report.converged and solution.report.iterations < 40
    assert solution.z @ solution.z == pytest.approx(stage.N - stage.K, rel=1e-6)


def test_the_matrices_of_a_step_grow_stiffer_until_one_is_definite():
    """Of A = K - N and A_psd = K + N (Balanced at z = 0): in between they are definite from s = (N - K) / 2 N on."""
    stage = Balanced()
    made = []

    def filled(psd):
        made.append(psd)
        return stage.jacobian(np.zeros(3), psd=psd)

    for start in (0.0, FADE**8, FADE, 1.0):
        tried = list(stiffened(filled, start, 0.0, stage.weights))
        parts, shifts = [m.part for m in tried], [m.shift for m in tried]
        climbed = [start * FADE**-k for k in range(9) if start * FADE**-k < 1.0] if start else [0.0]
        assert parts == [*(climbed if start < 1.0 else []), *[1.0] * 6]
        assert [m.plain for m in tried] == [(m.part in (0.0, 1.0)) and m.shift == 0.0 for m in tried]
        assert shifts[: len(shifts) - 5] == [0.0] * (len(shifts) - 5) and min(np.diff(shifts[-6:])) > 0.0
        for m in tried:
            expected = (stage.K - stage.N) + 2.0 * m.part * stage.N + m.shift
            assert m.A.diagonal() == pytest.approx(np.full(3, expected), rel=1e-12)
    assert made.count(True) == 4 and made.count(False) == 3


def test_in_between_the_pattern_of_the_matrix_stays():
    """So that it is analysed once; also where the projected one has another."""
    A = sp.csr_matrix(np.array([[2.0, -1.0, 0.0], [-1.0, -3.0, 0.5], [0.0, 0.5, 1.0]]))
    P = A.copy()
    P.data = abs(P.data)
    B = between(A, P, 0.25)
    assert B.indices is A.indices and B.indptr is A.indptr
    assert np.array_equal(B.toarray(), 0.75 * A.toarray() + 0.25 * P.toarray())
    assert A.data[0] == 2.0 and A.data[1] == -1.0
    other = sp.identity(3, format="csr")
    assert np.allclose(between(A, other, 0.25).toarray(), 0.75 * A.toarray() + 0.25 * np.eye(3))


def test_a_bar_with_fibres_that_buckles_in_quasistatics():
    """Its fibres make the projected blocks far stiffer together than the bar, which buckles: with these alone whole
    steps were a few per cent of the way, and one of the solves took 113 iterations and 221 factorizations.
    """
    mesh = bar_mesh(size=(0.3, 0.1, 0.1), cells=(12, 4, 4))
    scene = bar(integrator=Quasistatic(Newton(chords=0, max_iterations=200)), damping=0.0, mesh=mesh, fibre=2e5)
    system, memory = scene.system(), None
    state, reports = scene.initial(system), []
    for _ in range(70):
        step = scene.integrator.step(system, state, float(scene.h), memory)
        state, memory = step.state, step.memory
        reports += step.reports
    assert all(report.converged for report in reports)
    assert max(report.iterations for report in reports) <= 30
    assert max(report.counts.factorizations for report in reports) <= 50

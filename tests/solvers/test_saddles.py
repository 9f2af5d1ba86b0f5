"""Newton's method past a saddle where projected blocks are far stiffer together than what they sum up to."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from pliant.linear.cholesky import Cholesky
from pliant.solvers import Newton
from pliant.solvers.base import Tolerance
from pliant.solvers.newton import LIFTS
from pliant.solvers.shifts import least_shifted


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


@pytest.mark.parametrize("low", [-0.5, 0.0, 5e-4, 1e-3, 0.02, 0.3, 0.9, 1.0, 2.0])
def test_the_least_shift_is_found_without_trying_all_of_them(low):
    """A = diag(1, -low) is definite from a shift of more than low on; one that no shift helps costs two factors."""
    shifts, tried = (0.0, *LIFTS), []

    class Counted:
        def factor(self, A, memory=None):
            tried.append(float(A.diagonal().min()) + low)
            return Cholesky().factor(A, memory)

    A = sp.csr_matrix(([1.0, -low], [0, 1], [0, 1, 2]), shape=(2, 2))  # its pattern has the zero, too
    factor, others = least_shifted(Counted(), A, None, shifts, np.ones(2))
    enough = [shift for shift in shifts if shift > low]
    assert others == len(tried) - (factor is not None) and len(tried) <= (5 if enough else 2)
    if not enough:
        assert factor is None
        return
    b = np.array([3.0, 4.0])
    assert factor.solve(b) == pytest.approx(b / np.array([1.0 + enough[0], enough[0] - low]), rel=1e-9)

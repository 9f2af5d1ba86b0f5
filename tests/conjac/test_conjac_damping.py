"""What a ConJac step takes from the motion: its update map on a linear body, eigenvalue by eigenvalue."""

import numpy as np
import pytest
from scipy.linalg import eigh

from pliant.bodies import Solid
from pliant.integrators import ConJac
from pliant.maps.pins import Pin
from pliant.materials import Linear
from pliant.mesh import bar
from pliant.scene import Scene
from pliant.state import State
from pliant.systems.condensed_plan import dofs_of
from pliant.systems.placement import spread


class Body:
    """A linear cantilever, f = K (x - X): dense matrices over the free coordinates, and which of them are dynamic."""

    def __init__(self, count=2):
        mesh = bar(size=(0.15, 0.05, 0.05), cells=(4, 1, 1))
        pins = Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
        scene = Scene([Solid(mesh, Linear(2e4, 0.3), pins=pins)], gravity=(0, 0, 0))
        self.system = scene.system()
        q = self.system.X.ravel()
        self.K = self.system.restrict(self.system.stiffness(q, 0 * q, 0.0)).toarray()
        self.M = np.diag(self.system.nodal_mass[self.system.free])
        self.nodes = spread(self.system, count)
        self.d = dofs_of(self.nodes, self.system)
        self.q = np.setdiff1d(np.arange(len(self.K)), self.d)
        self.J = np.zeros((len(self.K), len(self.d)))
        self.J[self.d] = np.eye(len(self.d))
        self.J[self.q] = -np.linalg.solve(self.K[np.ix_(self.q, self.q)], self.K[np.ix_(self.q, self.d)])

    def update(self, h, beta, gamma):
        """The step as a matrix on (displacement, velocity)."""
        K, M, J, n = self.K, self.M, self.J, len(self.K)
        small = J.T @ (M - beta * h * h * K) @ J
        velocity = J @ np.linalg.solve(small, J.T @ np.hstack([h * K, M]))
        pull = np.zeros((n, 2 * n))
        pull[self.q, :n] = -gamma * np.linalg.solve(K[np.ix_(self.q, self.q)], K[self.q])
        return np.vstack([np.hstack([np.eye(n), np.zeros((n, n))]) + h * velocity + pull, velocity])

    def frequencies(self):
        """Of the condensed body [rad/s]."""
        return np.sqrt(eigh(-self.J.T @ self.K @ self.J, self.J.T @ self.M @ self.J, eigvals_only=True))


@pytest.mark.parametrize("gamma", [0.2, 1.0])
def test_the_step_is_the_projected_map(gamma):
    body = Body()
    free, X = body.system.free, body.system.X.ravel()
    rng = np.random.default_rng(0)
    x, v = 1e-3 * rng.normal(size=len(free)), rng.normal(size=len(free))
    q0, v0 = X.copy(), np.zeros_like(X)
    q0[free] += x
    v0[free] = v
    step = ConJac(body.nodes, gamma=gamma, cap=1e9).step(body.system, State(q0, v0), 5e-3).state
    expected = body.update(5e-3, 0.5, gamma) @ np.concatenate([x, v])
    got = np.concatenate([(step.q - X)[free], step.v[free]])
    assert abs(got - expected).max() < 1e-10 * abs(expected).max()


def test_condensed_modes_are_damped_as_beta_says_and_nothing_else_is():
    """A mode of the condensed body shrinks by (1 + beta (h omega)^2)^(-1/2) a step, exactly as the full method damps a
    mode of that frequency; what the dynamic nodes cannot follow decays by 1 - gamma, and takes no part in the motion.
    """
    h, beta, gamma = 5e-3, 0.5, 0.2
    body = Body()
    found = np.linalg.eigvals(body.update(h, beta, gamma))
    omega = body.frequencies()
    z = h * omega
    amplitude = (1.0 + beta * z * z) ** -0.5
    assert z.max() < 4.0  # below it the two eigenvalues of a mode are a complex pair at beta = 1/2
    n_q = len(body.q)
    drift = np.isclose(found, 1.0 - gamma, atol=1e-7)
    nothing = abs(found) < 1e-5
    assert drift.sum() >= n_q and nothing.sum() >= n_q
    for size in amplitude:
        assert (abs(abs(found) - size) < 1e-7).sum() >= 2

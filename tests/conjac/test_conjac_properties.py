"""Properties of the condensation: rigid motions, constant pattern, one blocked solve, the two formulas of Sdot."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from pliant.bodies import Rayleigh, Solid
from pliant.clock import Clock
from pliant.integrators import ConJac
from pliant.kernels.liveliness import stretch_rates
from pliant.linear.cholesky import Cholesky
from pliant.maps.condensation import adjusted, follow
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar
from pliant.scene import Scene
from pliant.state import State
from pliant.systems.condensed_plan import CondensedMoment, Guess, dofs_of, plan_of
from pliant.systems.condensed_step import Followers, linearised
from pliant.systems.placement import spread


def body(*, pinned=False, gravity=(0, 0, 0)):
    mesh = bar(size=(0.15, 0.05, 0.05), cells=(6, 2, 2))
    pins = Pin(mesh.where(lambda X: X[:, 0] < 1e-9)) if pinned else ()
    scene = Scene([Solid(mesh, StableNeoHookean(3e4, 0.4), pins=pins)], gravity=gravity)
    return scene, scene.system()


def jacobian(system, q, nodes):
    K = system.restrict(system.stiffness(q, 0 * q, 0.0, psd=True))
    return follow(K, dofs_of(nodes, system), Cholesky()).condensed(np.zeros((K.shape[0], 0))).J


def test_translations_are_followed_exactly_rotations_only_at_rest():
    """[PT-J5] J moves a free body rigidly with its nodes; stretched by a tenth it no longer turns as one."""
    _, system = body()
    nodes = spread(system, 4)
    x = system.X
    stretched = (x * (1.1, 1.0, 1.0)).ravel()
    spin = np.cross([0.3, -0.2, 1.0], x).ravel()
    turned = np.cross([0.3, -0.2, 1.0], stretched.reshape(-1, 3)).ravel()
    d = (3 * nodes[:, None] + np.arange(3)).ravel()
    for q in (x.ravel(), stretched):
        for a in range(3):
            move = np.tile(np.eye(3)[a], len(x))
            assert abs(jacobian(system, q, nodes) @ move[d] - move).max() < 1e-10
    assert abs(jacobian(system, x.ravel(), nodes) @ spin[d] - spin).max() < 1e-10 * abs(spin).max()
    assert abs(jacobian(system, stretched, nodes) @ turned[d] - turned).max() > 1e-2 * abs(turned).max()


def test_adjusted_matrices_keep_the_pattern_and_give_the_same_map():
    """[PT-J6] against dense blocks, for any set of active nodes; explicit zeros keep their places."""
    _, system = body(pinned=True)
    rng = np.random.default_rng(0)
    q = system.X.ravel() + 1e-3 * rng.normal(size=system.X.size)
    K = system.restrict(system.stiffness(q, 0 * q, 0.0, psd=True))
    dense, f = K.toarray(), rng.normal(size=K.shape[0])
    for nodes in ([], [30], [20, 45, 62]):
        d = dofs_of(np.array(nodes, dtype=np.int64), system)
        A, _ = adjusted(K, d)
        assert np.array_equal(A.indptr, K.indptr) and np.array_equal(A.indices, K.indices)
        rest = np.setdiff1d(np.arange(len(f)), d)
        condensed = follow(K, d, Cholesky()).condensed(f[:, None])
        Kqq = dense[np.ix_(rest, rest)]
        J = -np.linalg.solve(Kqq, dense[np.ix_(rest, d)])
        b = -np.linalg.solve(Kqq, f[rest])
        assert abs(condensed.J[rest] - J).max(initial=0.0) < 1e-10
        assert abs(condensed.others[rest, 0] - b).max() < 1e-10 * abs(b).max()
        assert np.allclose(condensed.J[d], np.eye(len(d)), rtol=0, atol=1e-14) and not condensed.others[d].any()


@pytest.mark.parametrize("radius", [0.0, 0.02])
@pytest.mark.parametrize("case", ["pinned", "free", "damped", "driven"])
def test_the_matrix_of_the_nodes_is_that_of_the_full_mesh_between_j(case, radius):
    """J^T A J and J^T (b - A w) from the followers' balance, against the products with all of A; `free` is anchored."""
    mesh = bar(size=(0.15, 0.05, 0.05), cells=(6, 2, 2))
    motion = Driven() if case == "driven" else None
    pins = () if case == "free" else Pin(mesh.where(lambda X: X[:, 0] < 1e-9), motion)
    damping = Rayleigh(alpha=0.5, beta=1e-2) if case == "damped" else None
    system = Scene([Solid(mesh, StableNeoHookean(3e4, 0.4), pins=pins, damping=damping)]).system()
    rng = np.random.default_rng(3)
    q = system.prescribe(system.X.ravel() + 1e-3 * rng.normal(size=system.X.size), 0.0)
    v = rng.normal(size=system.X.size)
    nodes = spread(system, 3)
    plan = plan_of(system, nodes, radius=radius)
    now = CondensedMoment(system, State(q, v, 0.0), 1e-2, plan, plan.nodes)
    guess = Guess(v, now.unhindered(), 0.0 * q)
    local = linearised(now, guess, 0.7, Followers(0.3, 0.25, False, Cholesky()), None, Clock(), psd=True)
    b, J, A = rng.normal(size=len(q)), local.J, local.A.toarray()
    whole = J.T @ A[np.ix_(system.free, system.free)] @ J
    ours, pull = local.projected(b)
    assert abs(ours - whole).max() < 1e-10 * abs(whole).max() and np.array_equal(ours, ours.T)
    K = local.K.toarray()[np.ix_(system.free, system.free)]
    assert abs(J.T @ K @ J - local.condensed.stiffness).max() < 1e-10 * abs(J.T @ abs(K) @ J).max()
    expected = J.T @ (b - A @ local.w)[system.free]
    assert abs(pull - expected).max() < 1e-10 * abs(expected).max()
    assert bool(local.w.any()) == (case == "driven") and bool(local.D.nnz) == (case == "damped")
    assert np.allclose(local.times(v), A @ v, rtol=1e-12, atol=1e-12 * abs(A @ v).max())


class Driven:
    def positions(self, X, t):
        return X + np.array([0.0, 0.3 * t, 0.0])


@dataclass
class Watched:
    """A linear solver that notes how many right-hand sides each call has."""

    linear: Cholesky = field(default_factory=Cholesky)
    widths: list = field(default_factory=list)

    def factor(self, A, memory=None):
        factor, widths = self.linear.factor(A, memory), self.widths

        class Noted:
            memory, analysed, inner = factor.memory, factor.analysed, factor.inner

            @staticmethod
            def solve(b):
                widths.append(b.shape[1] if b.ndim == 2 else 1)
                return factor.solve(b)

        return Noted()


def test_one_blocked_solve_per_step():
    """3 n_d + 1 right-hand sides in one call; a piece that nothing holds needs one more for its inertia."""
    for pinned, widths in ((True, [13]), (False, [13, 1])):
        scene, system = body(pinned=pinned, gravity=(0, 0, -9.81))
        watched = Watched()
        step = ConJac(spread(system, 4), linear=watched).step(system, scene.initial(system), 5e-3)
        assert watched.widths == widths
        assert step.reports[0].counts.solves == sum(widths)
        assert step.reports[0].counts.analyses == step.reports[0].counts.factorizations == 1


def test_linear_momentum_to_round_off():
    """[PT-I4] a free body with random velocities that its nodes can make; 100 steps."""
    scene, system = body()
    nodes = spread(system, 4)
    rng = np.random.default_rng(1)
    u = 0.2 * rng.normal(size=12)
    state, memory = State(system.X.ravel().copy(), jacobian(system, system.X.ravel(), nodes) @ u), None
    p0 = (system.mass(state.q) @ state.v).reshape(-1, 3).sum(axis=0)
    for _ in range(100):
        step = ConJac(nodes).step(system, state, 5e-3, memory)
        state, memory = step.state, step.memory
    p = (system.mass(state.q) @ state.v).reshape(-1, 3).sum(axis=0)
    assert abs(p - p0).max() < 1e-12 * float(system.nodal_mass.sum() / 3) * abs(u).max()


def test_the_short_formula_of_the_stretch_rate_is_the_long_one():
    """[PT-A1] Sdot = R^T (Fdot - Rdot S), Rdot from the three twist modes of dR/dF; symmetric."""
    rng = np.random.default_rng(2)
    F = np.eye(3) + 0.3 * rng.normal(size=(30, 3, 3))
    F = F[np.linalg.det(F) > 0.1]
    Fdot = rng.normal(size=F.shape)
    short = stretch_rates(F, Fdot)
    assert abs(short - short.transpose(0, 2, 1)).max() < 1e-12 * abs(short).max()
    for k in range(len(F)):
        U, s, Vt = np.linalg.svd(F[k])
        sign = np.linalg.det(U) * np.linalg.det(Vt)
        U[:, 2] *= np.linalg.det(U) if sign < 0 else 1.0
        R, S = U @ Vt, Vt.T @ np.diag(s) @ Vt
        B = U.T @ Fdot[k] @ Vt.T
        twist = np.zeros((3, 3))
        for i, j in ((0, 1), (0, 2), (1, 2)):
            twist[i, j] = (B[i, j] - B[j, i]) / (s[i] + s[j])
            twist[j, i] = -twist[i, j]
        Rdot = U @ twist @ Vt
        assert abs(short[k] - R.T @ (Fdot[k] - Rdot @ S)).max() < 1e-12 * max(1.0, abs(short[k]).max())

"""ConJac: identities, limits, statics, momentum, pieces; numbers in brackets name the property tested."""

import numpy as np
import pytest
from scipy.sparse.linalg import spsolve

from pliant.bodies import Solid
from pliant.errors import SceneError
from pliant.integrators import LinearlyImplicit, Quasistatic
from pliant.integrators.adaptive_conjac import AdaptiveConJac
from pliant.integrators.conjac import ConJac
from pliant.kernels.liveliness import stretch_rates
from pliant.linear.cholesky import Cholesky
from pliant.maps.condensation import follow
from pliant.maps.motions import Keyframes
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar, merged
from pliant.scene import Scene
from pliant.solvers import Newton, Tolerance
from pliant.state import State
from pliant.systems.condensed_plan import dofs_of, plan_of
from pliant.systems.placement import checked, spread

NONE = np.zeros(0, dtype=np.int64)


def cantilever(E=3e4, nu=0.4, motion=None, free=False, cells=(6, 2, 2)):
    mesh = bar(size=(0.15, 0.05, 0.05), cells=cells)
    pins = () if free else Pin(mesh.where(lambda X: X[:, 0] < 1e-9), motion)
    scene = Scene([Solid(mesh, StableNeoHookean(E=E, nu=nu), pins=pins)])
    return scene, scene.system()


def advance(integrator, system, state, h, steps, memory=None):
    for _ in range(steps):
        step = integrator.step(system, state, h, memory)
        assert all(r.converged for r in step.reports), step.reports[0].message
        state, memory = step.state, step.memory
    return state, step, memory


def shaken(system, scene, seed=0):
    rng = np.random.default_rng(seed)
    state = scene.initial(system)
    q, v = state.q.copy(), state.v.copy()
    q[system.free] += 1e-3 * rng.normal(size=len(system.free))
    v[system.free] = 0.1 * rng.normal(size=len(system.free))
    return State(q, v)


@pytest.mark.parametrize("motion", [None, Keyframes((0.0, 1.0), ((0, 0, 0), (0.1, 0.05, 0.0)))])
def test_all_nodes_dynamic_is_the_linearly_implicit_step(motion):
    """[PT-J1] also with kinematic nodes."""
    scene, system = cantilever(motion=motion)
    state = shaken(system, scene)
    nodes = np.unique(system.free // 3)
    a = ConJac(nodes).step(system, state, 5e-3).state
    b = LinearlyImplicit(beta=0.5).step(system, state, 5e-3).state
    assert abs(a.v - b.v).max() < 1e-12 * abs(b.v).max()
    assert abs(a.q - b.q).max() < 1e-12


def test_condensation_identities():
    """[PT-J2] (K J)_q = 0, J^T K J is the Schur complement, J^T f is condensed."""
    scene, system = cantilever()
    state = shaken(system, scene)
    K = system.restrict(system.stiffness(state.q, state.v, 0.0, psd=True))
    dynamic = dofs_of(np.array([30, 50]), system)
    rest = np.setdiff1d(np.arange(K.shape[0]), dynamic)
    condensed = follow(K, dynamic, Cholesky()).condensed(np.zeros((K.shape[0], 0)))
    J = condensed.J
    assert np.allclose(J[dynamic], np.eye(6), atol=1e-14)
    assert abs((K @ J)[rest]).max() < 1e-10 * abs(K).max()
    dense = K.toarray()
    Kqq, Kqd, Kdd = dense[np.ix_(rest, rest)], dense[np.ix_(rest, dynamic)], dense[np.ix_(dynamic, dynamic)]
    schur = Kdd - Kqd.T @ np.linalg.solve(Kqq, Kqd)
    assert np.allclose(J.T @ (K @ J), schur, rtol=1e-9, atol=1e-10 * abs(schur).max())
    f = np.random.default_rng(0).normal(size=K.shape[0])
    assert np.allclose(J.T @ f, f[dynamic] - Kqd.T @ np.linalg.solve(Kqq, f[rest]))
    assert np.allclose(condensed.correction(f)[rest], -np.linalg.solve(Kqq, f[rest]))


@pytest.mark.parametrize("count", [0, 1, 4])
@pytest.mark.parametrize("gamma", [1.0 / 3.0, 1.0])
def test_static_state_is_the_newton_equilibrium(count, gamma):
    """[PT-J3]"""
    scene, system = cantilever()
    firm = Newton(tolerance=Tolerance(1e-12, 1e-14))
    exact = Quasistatic(firm).step(system, scene.initial(system), 1.0).state.q
    sag = abs(exact - system.X.ravel()).max()
    integrator = ConJac(spread(system, count), beta=3.0, gamma=gamma)
    state, _, _ = advance(integrator, system, scene.initial(system), 2e-2, 400)
    assert abs(state.q - exact).max() < 1e-8 * sag


def test_without_nodes_a_step_is_a_damped_newton_step():
    """[PT-J4]"""
    scene, system = cantilever()
    state = scene.initial(system)
    after = ConJac(NONE, gamma=0.2, cap=1e9).step(system, state, 5e-3).state
    K = system.restrict(system.stiffness(state.q, state.v, 0.0, psd=True))
    f = system.force(state.q, state.v, 0.0)[system.free]
    expected = state.q[system.free] - 0.2 * spsolve(K.tocsc(), f)
    assert abs(after.q[system.free] - expected).max() < 1e-12
    assert not after.v.any()


def test_linear_momentum_of_a_free_body():
    scene, system = cantilever(free=True)
    scene = Scene(scene.bodies, gravity=(0, 0, 0))
    system = scene.system()
    state = shaken(system, scene)
    nodes = spread(system, 4)
    state = ConJac(nodes).step(system, state, 5e-3).state  # on the reduced velocities from here on
    momentum = (system.mass(state.q) @ state.v).reshape(-1, 3)
    start, size = momentum.sum(axis=0), abs(momentum).sum()
    state, _, _ = advance(ConJac(nodes), system, state, 5e-3, 50)
    end = (system.mass(state.q) @ state.v).reshape(-1, 3).sum(axis=0)
    assert abs(end - start).max() < 1e-11 * size


@pytest.mark.parametrize("count", [1, 2, 4])
def test_free_fall_neither_turns_nor_sags(count):
    """A loose piece with one, two or four dynamic nodes falls like a stone."""
    scene, system = cantilever(free=True)
    state, _, _ = advance(ConJac(spread(system, count)), system, scene.initial(system), 5e-3, 40)
    moved = (state.q - system.X.ravel()).reshape(-1, 3)
    # rotation about one or two nodes is resisted only by tau = 1e-6 of the mass: round-off turns the body a little
    assert abs(moved - moved.mean(axis=0)).max() < 1e-3 * system.scale
    v = state.v.reshape(-1, 3)
    assert np.allclose(v, [0, 0, -9.81 * 0.2], rtol=1e-3, atol=1e-3)


def test_a_piece_that_nothing_holds_gets_a_node():
    a = bar(size=(0.1, 0.05, 0.05), cells=(2, 1, 1))
    b = a.transformed(translate=(0.3, 0.0, 0.0))
    mesh = merged([a, b])
    scene = Scene([Solid(mesh, StableNeoHookean(E=3e4, nu=0.4), pins=Pin(mesh.where(lambda X: X[:, 0] < 1e-9)))])
    plan = plan_of(scene.system(), NONE)
    assert len(plan.nodes) == 1
    assert plan.nodes[0] >= len(a.X)


def test_pattern_is_analysed_once_whatever_is_active():
    """[PT-J6]"""
    scene, system = cantilever()
    plan = plan_of(system, spread(system, 4))
    state, analysis, analyses = scene.initial(system), None, 0
    for active in ([0], [0, 1, 2], [], [3]):
        state, report, analysis = ConJac(plan.nodes).advance(system, state, 5e-3, plan, plan.nodes[active], analysis)
        analyses += report.counts.analyses
        assert report.counts.solves == 3 * len(active) + 1
    assert analyses == 1


def test_stretch_rate_against_finite_differences():
    """[PT-A1] Sdot is the derivative of the stretch of the polar decomposition, and zero for rigid motion."""
    from scipy.linalg import polar

    rng = np.random.default_rng(1)
    F = np.eye(3) + 0.3 * rng.normal(size=(20, 3, 3))
    F = F[np.linalg.det(F) > 0.1]
    Fdot = rng.normal(size=F.shape)
    e = 1e-6
    got = stretch_rates(F, Fdot)
    for k in range(len(F)):
        numeric = (polar(F[k] + e * Fdot[k])[1] - polar(F[k] - e * Fdot[k])[1]) / (2 * e)
        assert abs(got[k] - numeric).max() < 1e-7 * max(1.0, abs(numeric).max())
    W = np.array([[0.0, -3, 1], [3, 0, -2], [-1, 2, 0]])
    assert abs(stretch_rates(F, W @ F)).max() < 1e-7


def test_nodes_wake_and_fall_asleep():
    scene, system = cantilever(E=1e5)
    integrator = AdaptiveConJac(ConJac(spread(system, 3), beta=2.0), threshold=0.1, window=4)
    state, memory, awake = scene.initial(system), None, []
    for _ in range(200):
        step = integrator.step(system, state, 5e-3, memory)
        state, memory = step.state, step.memory
        awake.append(int(memory.active.sum()))
    assert awake[0] == 0  # everything starts asleep,
    assert max(awake) >= 1  # gravity wakes it,
    assert awake[-1] == 0  # and it settles
    firm = Newton(tolerance=Tolerance(1e-12, 1e-14))
    exact = Quasistatic(firm).step(system, scene.initial(system), 1.0).state.q
    assert abs(state.q - exact).max() < 1e-3 * abs(exact - system.X.ravel()).max()


def test_placement():
    _, system = cantilever(cells=(8, 4, 4))
    pinned = np.setdiff1d(np.arange(system.X.size), system.free)
    assert not np.isin(3 * spread(system, 4), pinned).any()
    with pytest.raises(SceneError, match="m apart"):
        checked(system, np.array([50, 51]))
    with pytest.raises(SceneError, match="is pinned"):
        plan_of(system, np.array([0]))
    with pytest.raises(SceneError, match="does not exist"):
        plan_of(system, np.array([100000]))


def test_vertices_that_pins_hold_along_an_axis_are_not_called_free():
    mesh = bar((0.2, 0.1, 0.1), (2, 1, 1))
    flat = Solid(mesh, StableNeoHookean(E=3e4, nu=0.4), pins=Pin(range(len(mesh.X)), axes="y"))
    with pytest.raises(SceneError, match="4 dynamic nodes of 0 vertices that are free in all.*pins with axes"):
        spread(Scene([flat]).system(), 4)


@pytest.mark.parametrize("pinned", [True, False])
@pytest.mark.parametrize("cells", [(3, 1, 1), (6, 2, 2), (4, 4, 4)])
def test_nodes_of_a_symmetric_mesh_do_not_depend_on_where_it_is(cells, pinned):
    """Many vertices of a bar are equally far from the others; round-off must not choose among them."""
    mesh = bar((0.3, 0.1, 0.1), cells)
    pins = Pin(mesh.where(lambda X: X[:, 0] < 1e-9)) if pinned else ()
    found = set()
    for place in ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.1, 7.3, -2.2), (100.1, 0.0, 3.3)):
        moved = Solid(mesh.transformed(translate=place), StableNeoHookean(E=3e4, nu=0.4), pins=pins)
        found.add(tuple(spread(Scene([moved]).system(), 5)))
    assert len(found) == 1, found

"""XPBD: exact on one constraint, order 1, the stiffness it was given, momentum, determinism, refusals."""

import numba
import numpy as np
import pytest
from projection_stages import beam, net

from pliant.bodies import Green, Membrane, Rayleigh, Solid, SpringNet
from pliant.cloth.body import Cloth
from pliant.cloth.material import ClothMaterial
from pliant.constraints import Angles, Distances, Penalty, PlaneDistances, Volumes
from pliant.energies.attachment import AttachmentEnergy
from pliant.energies.bending import hinges
from pliant.energies.gravity import Gravity
from pliant.energies.membrane import MembraneEnergy as Corotated
from pliant.energies.projective import HingeBending, PlaneCollision, StrainLimit
from pliant.energies.springs import Springs
from pliant.errors import SceneError
from pliant.integrators import BDF1, BDF2
from pliant.integrators.xpbd import XPBD, element_kernels
from pliant.integrators.xpbd.constraints import constraints
from pliant.integrators.xpbd.model import compile_model
from pliant.integrators.xpbd.patches import plan
from pliant.maps.motions import Shake
from pliant.maps.pins import Pin
from pliant.maps.points import TieSprings
from pliant.materials import ARAP, Corotational, NeoHookean, StableNeoHookean, StVK
from pliant.mesh import bar, chain, rectangle, sheet, spring_net
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.solvers import Newton, Tolerance
from pliant.stage import Stage
from pliant.state import State
from pliant.systems.elastodynamics import Elastodynamics

EXACT = BDF1(Newton(tolerance=Tolerance(1e-12, 1e-16), project="on_demand"))


def run(integrator, system, state, h, steps):
    memory = None
    for _ in range(steps):
        step = integrator.step(system, state, h, memory)
        state, memory = step.state, step.memory
        assert step.reports[0].converged
    return state


def disturbed(system, size=0.01, seed=0):
    rng = np.random.default_rng(seed)
    q = system.prescribe(system.X.ravel() + size * rng.normal(size=system.X.size), 0.0)
    v = np.zeros_like(q)
    v[system.free] = 0.1 * rng.normal(size=len(system.free))
    return State(q, v, 0.0)


# ------------------------------------------------------------------------------------------------ the physics


@pytest.mark.parametrize("damping", [0.0, 0.02])
def test_one_linear_constraint_is_implicit_euler(damping):
    """A spring along x that only stretches: one projection solves the step, damped or not."""
    mesh = chain(1)
    m, k, h = np.array([0.3, 0.7]), 50.0, 0.05
    system = Elastodynamics(mesh.X, m, [Springs(mesh.X, mesh.T, k)])
    q, v = np.array([0.0, 0, 0, 1.2, 0, 0]), np.array([0.1, 0, 0, -0.4, 0, 0])
    after = XPBD(1, 1, damping=damping).step(system, State(q, v), h).state
    M, K = np.diag(m), k * np.array([[1, -1], [-1, 1]])
    x, u = q[::3], v[::3]
    force = -K @ (x - [0.0, 1.0])
    new = np.linalg.solve(M + h * damping * K + h * h * K, M @ u + h * force)
    assert np.allclose(after.v[::3], new, rtol=1e-12, atol=1e-14)


def test_converged_multipliers_carry_the_compliance():
    """C + alpha lam/h^2 = 0 at convergence, for every constraint."""
    scene = net(k=500.0)
    system = scene.system()
    model = compile_model(system)
    batch = model.batches[0]
    x0 = disturbed(system).q.reshape(-1, 3)
    x, lam, h = x0.copy(), np.zeros(batch.multipliers), 0.01
    for _ in range(2000):
        batch.sweep(x, x0, model.W, lam, h, 0.0)
    nodes, (rest, alpha) = batch.nodes, batch.table.T
    C = np.linalg.norm(x[nodes[:, 0]] - x[nodes[:, 1]], axis=1) - rest
    assert abs(C + alpha / h**2 * lam[:, 0]).max() < 1e-13


def test_bias_against_implicit_euler_vanishes_with_the_step():
    """The converged fixed point drops geometric stiffness: first order in h, in the limit implicit Euler."""
    system = net(k=200.0).system()
    start = disturbed(system, 0.03)
    gaps = []
    for h in (0.02, 0.01, 0.005):
        exact, ours = EXACT.step(system, start, h).state.q, XPBD(1, 2000).step(system, start, h).state.q
        predicted = system.prescribe(start.q + h * start.v, h)
        gaps.append(np.linalg.norm(ours - exact) / np.linalg.norm(exact - predicted))
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 0.02


MATERIALS = [StableNeoHookean(2e4, 0.4), NeoHookean(2e4, 0.4), StVK(2e4, 0.4), Corotational(2e4, 0.4), ARAP(2e4)]


@pytest.mark.parametrize("material", MATERIALS, ids=lambda m: type(m).__name__)
def test_order_one_for_every_material(material):
    """Against implicit Euler at a fine step: the error halves with the step."""
    scene = beam(material)
    system = scene.system()
    start = scene.initial(system)
    exact = run(EXACT, system, start, 1 / 3200, 320).q
    travelled = abs(exact - start.q).max()
    errors = [abs(run(XPBD(s), system, start, 0.01, 10).q - exact).max() / travelled for s in (4, 8)]
    assert errors[1] < 0.05
    assert errors[0] / errors[1] > 1.6


@pytest.mark.parametrize("law, material", list(zip(element_kernels.LAWS, MATERIALS, strict=False)))
def test_pairs_of_constraints_are_the_energy(law, material):
    """lam/2 C_V^2 + mu/2 C_S^2 = psi, and the derivatives are those of the pair."""
    rng = np.random.default_rng(3)
    mu, lam = 2e4 / 2.8, 2e4 * 0.4 / (1.4 * 0.2)
    for F in np.eye(3) + 0.25 * rng.normal(size=(20, 3, 3)):
        if np.linalg.det(F) < 0.1:
            continue
        CV, CS, dV, dS = law(tuple(F.ravel()))
        psi = material.psi(F[None])[0]
        assert 0.5 * (lam * CV**2 + mu * CS**2) == pytest.approx(psi, rel=1e-9, abs=1e-8)
        P = lam * CV * np.reshape(dV, (3, 3)) + mu * CS * np.reshape(dS, (3, 3))
        assert np.allclose(P, material.piola(F[None])[0], rtol=1e-7, atol=1e-6)


@pytest.mark.parametrize("material", MATERIALS, ids=lambda m: type(m).__name__)
def test_rest_is_at_rest(material):
    system = beam(material, free=True).system()
    after = run(XPBD(5), system, State(system.X.ravel().copy(), np.zeros(system.X.size)), 0.02, 3)
    assert abs(after.q - system.X.ravel()).max() < 1e-14


def test_stiffness_does_not_depend_on_step_or_iterations():
    """Static stretch of a hanging chain: m g/k per spring, within 5 % for any converged setting; PBD fails."""
    links, k, m = 5, 200.0, 0.1
    mesh = chain(links)
    X = np.column_stack([0 * mesh.X[:, 0], 0 * mesh.X[:, 0], -mesh.X[:, 0]])
    masses = np.full(links + 1, m)
    pins = [Pin(np.array([0]))]
    energies = [Springs(X, mesh.T, k), Gravity(masses, (0, 0, -9.81))]
    system = Elastodynamics(X, masses, energies, pins=pins)
    expected = m * 9.81 / k * np.arange(links, 0, -1).sum()
    stretches = []
    for h, settings in ((1 / 60, (1, 50)), (1 / 60, (1, 100)), (1 / 120, (1, 50)), (1 / 60, (10, 5))):
        state = run(XPBD(*settings, damping=0.05), system, State(X.ravel().copy(), 0 * X.ravel()), h, round(6 / h))
        stretches.append(-1.0 - state.q[-1])
    assert np.allclose(stretches, expected, rtol=0.05)
    soft = [plain_pbd_stretch(X, mesh.T, masses, iterations) for iterations in (5, 50)]
    assert soft[0] > 2 * soft[1]


def plain_pbd_stretch(X, edges, masses, iterations, stiffness=0.2, h=1 / 60):
    """Position-based dynamics as it was before compliance: each projection moves a fixed part of the way."""
    x, v = X.copy(), np.zeros_like(X)
    w = 1 / masses
    w[0] = 0.0
    rest = np.linalg.norm(X[edges[:, 0]] - X[edges[:, 1]], axis=1)
    for _ in range(400):
        y = x + h * 0.97 * v + h * h * np.array([0, 0, -9.81]) * (w > 0)[:, None]
        for _ in range(iterations):
            for (i, j), length in zip(edges, rest, strict=True):
                s = y[i] - y[j]
                L = np.linalg.norm(s)
                d = stiffness * (L - length) / (w[i] + w[j]) * s / L
                y[i] -= w[i] * d
                y[j] += w[j] * d
        x, v = y, (y - x) / h
    return -1.0 - x[-1, 2]


def test_substeps_beat_iterations_on_a_stiff_chain():
    """Equal work, 10 springs, k = 1e5, H = 1/60, 2 s: 20 x 1 stretches less and loses less energy than 1 x 20."""
    mesh = chain(10)
    scene = Scene([SpringNet(mesh, 1e5, 0.05, pins=Pin(np.array([0])))])
    system = scene.system()
    start = scene.initial(system)

    def ends(settings):
        stretch, state, memory = [], start, None
        for _ in range(120):
            step = XPBD(*settings).step(system, state, 1 / 60, memory)
            state, memory = step.state, step.memory
            x = state.q.reshape(-1, 3)
            stretch.append(abs(np.linalg.norm(np.diff(x, axis=0), axis=1) - 0.1).mean() / 0.1)
        return np.mean(stretch), sum(system.energies(state.q, state.v, state.t).values())

    (iterated, low), (stepped, high) = ends((1, 20)), ends((20, 1))
    assert stepped < 0.5 * iterated
    assert high > low


@pytest.mark.parametrize("settings", [(1, 1), (1, 7), (5, 2)])
def test_momentum_of_free_bodies_is_kept(settings):
    for scene in (net(free=True), beam(free=True)):
        system = scene.system()
        start = disturbed(system)
        m = system.nodal_mass[::3]
        after = run(XPBD(*settings), system, start, 0.01, 5)
        assert abs(m @ (after.v - start.v).reshape(-1, 3)).max() < 1e-10


def test_angular_momentum_drifts_at_first_order_only():
    """Like implicit Euler, XPBD loses a little spin per step; half the step, half the loss."""
    system = beam(free=True).system()
    start = disturbed(system, 0.003)
    m = system.nodal_mass[::3, None]

    def spin(state):
        return (m * np.cross(state.q.reshape(-1, 3), state.v.reshape(-1, 3))).sum(axis=0)

    lost = [np.linalg.norm(spin(run(XPBD(s), system, start, 0.01, 5)) - spin(start)) for s in (10, 20, 40)]
    assert lost[1] < 0.65 * lost[0] and lost[2] < 0.65 * lost[1]


def test_damping_removes_oscillation():
    system = net(k=500.0, free=True).system()
    start = disturbed(system)
    energy = [
        sum(system.energies(s.q, s.v, s.t).values())
        for s in (run(XPBD(10, damping=b), system, start, 0.01, 20) for b in (0.0, 0.02))
    ]
    assert energy[1] < 0.5 * energy[0]


# ------------------------------------------------------------------------------------------------ constraint kinds


def mixed_system():
    """Everything XPBD knows at once, on one curved and one flat sheet of triangles."""
    mesh = sheet(size=(1.0, 1.0), cells=(3, 3))
    n = len(mesh.X)
    m = np.full(n, 0.05)
    X = mesh.X
    curved = np.column_stack([X[:, 0], X[:, 1], 0.2 * X[:, 0] ** 2])
    energies = [
        Gravity(m, (0, 0, -9.81)),
        Springs(X, mesh.edges(), 50.0),
        HingeBending(X, mesh.T, beta=0.05),
        HingeBending(curved, mesh.T, beta=0.02, name="curl"),
        AttachmentEnergy(n, np.array([0, 3, 3]), X[[0, 3, 3]] + [[0, 0, 0], [0, 0, 0.2], [0, 0, 0.1]], 30.0),
        PlaneCollision(n, np.arange(n), (0, 0, -0.02), (0, 0.1, 1), 40.0),
        Corotated(X, mesh.T, E=40.0, nu=0.3),
        Penalty(Distances(X, mesh.edges()[:5]), 10.0, n),
        Penalty(PlaneDistances(np.arange(4), (0, 0, -0.01), (0, 0, 1)), 10.0, n),
    ]
    return Elastodynamics(X, m, energies)


def boxes():
    mesh = bar(size=(0.2, 0.1, 0.1), cells=(2, 1, 1))
    n = len(mesh.X)
    material = StableNeoHookean(1e4, 0.3)
    scene = Scene([Solid(mesh, material, pins=Pin(mesh.where(lambda X: X[:, 0] < 1e-9)))])
    system = scene.system()
    volume = Penalty(Volumes(mesh.X, mesh.T), 1e7, n)
    pins = [Pin(mesh.where(lambda X: X[:, 0] < 1e-9), Shake((0.0, 0.0, 0.02), 5.0))]
    return Elastodynamics(mesh.X, system.nodal_mass[::3], [*system.energy_terms, volume], pins=pins)


def flat_body():
    mesh = rectangle(size=(0.2, 0.1), cells=(3, 2))
    pins = Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
    return Scene([Solid(mesh, StableNeoHookean(2e4, 0.4), pins=pins)], gravity=(0, -9.81)).system()


def membrane():
    mesh = sheet(size=(0.2, 0.1), cells=(4, 2))
    pins = Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
    return Scene([Membrane(mesh, StVK(2e4, 0.3), thickness=0.01, pins=pins)]).system()


@pytest.mark.parametrize("build", [mixed_system, boxes, flat_body, membrane])
def test_every_kind_follows_the_same_physics(build):
    """Towards implicit Euler of the same energies as the substeps grow: the constraints are these energies."""
    system = build()
    start = State(system.prescribe(system.X.ravel(), 0.0), np.zeros(system.X.size))
    exact = run(EXACT, system, start, 1 / 4000, 400).q
    travelled = abs(exact - start.q).max()
    errors = [abs(run(XPBD(s), system, start, 0.01, 10).q - exact).max() / travelled for s in (5, 10, 20)]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 0.03


def test_pinned_axes_stay():
    mesh = spring_net(3, 3)
    body = SpringNet(mesh, 40.0, 0.05, pins=[Pin(np.array([0])), Pin(np.array([3]), axes="z")])
    scene = Scene([body])
    system = scene.system()
    x = run(XPBD(), system, scene.initial(system), 0.01, 20).q.reshape(-1, 3)
    assert np.array_equal(x[0], mesh.X[0])
    assert x[3, 2] == mesh.X[3, 2] and x[3, 0] != mesh.X[3, 0]


# ------------------------------------------------------------------------------------------------ order of the sweep


def test_patches_of_one_colour_share_no_vertex():
    mesh = bar(size=(1.0, 1.0, 1.0), cells=(7, 7, 7))
    made = plan(mesh.T, mesh.X, size=32)
    assert np.array_equal(np.sort(made.order), np.arange(len(mesh.T)))
    assert made.patches[-1] == len(mesh.T) and made.colours[-1] == len(made.patches) - 1
    T = mesh.T[made.order]
    for first, last in zip(made.colours[:-1], made.colours[1:], strict=True):
        sets = [np.unique(T[made.patches[p] : made.patches[p + 1]]) for p in range(first, last)]
        together = np.concatenate(sets)
        assert len(np.unique(together)) == len(together)


def test_rounds_of_a_patch_share_no_vertex():
    """What a GPU projects at once is independent, and in the order of the sweep."""
    mesh = bar(size=(1.0, 1.0, 1.0), cells=(7, 7, 7))
    made = plan(mesh.T, mesh.X, size=32)
    T = mesh.T[made.order]
    assert np.array_equal(made.rounds[made.first], made.patches)
    assert made.rounds[-1] == len(T) and (np.diff(made.rounds) > 0).all()
    assert np.diff(made.rounds).max() > 1
    for begin, end in zip(made.rounds[:-1], made.rounds[1:], strict=True):
        assert len(np.unique(T[begin:end])) == T[begin:end].size


def test_no_constraints_are_a_plan_too():
    made = plan(np.zeros((0, 2), dtype=np.int64), np.zeros((3, 3)))
    assert len(made.order) == 0 and made.patches.tolist() == [0] and made.colours.tolist() == [0]


def test_many_constraints_at_one_vertex_get_colours_of_their_own():
    n = 200
    nodes = np.column_stack([np.zeros(n, dtype=np.int64), np.arange(1, n + 1)])
    made = plan(nodes, np.random.default_rng(0).normal(size=(n + 1, 3)), size=1)
    assert len(made.colours) - 1 == n


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="one thread configured: nothing to compare")
def test_any_number_of_threads_gives_the_same_bytes():
    mesh = bar(size=(0.3, 0.1, 0.1), cells=(12, 4, 4))
    system = Scene([Solid(mesh, StableNeoHookean(1e4, 0.4))]).system()
    start = disturbed(system, 0.001)
    found = []
    for threads in (1, 2):
        numba.set_num_threads(threads)
        found.append(run(XPBD(3, 2), system, start, 0.01, 2).q.tobytes())
    numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
    assert found[0] == found[1]


# ------------------------------------------------------------------------------------------------ honesty, refusals


def test_report_says_what_was_given_up():
    scene = net(k=1e4)
    system = scene.system()
    start = disturbed(system, 0.001)
    report = XPBD(1, 3).step(system, start, 0.01).reports[0]
    assert report.converged and not report.certified and report.message == "fixed iterations"
    after = XPBD(1, 3).step(system, start, 0.01).state
    target = start.q + 0.01 * start.v
    stage = Stage(system, 0.01, target, start.q, 0.01, system.prescribe(target, 0.01), start)
    assert report.residual == pytest.approx(stage.norm(stage.residual(after.q[system.free])), rel=1e-12)
    settled = XPBD(1, 3000).step(system, start, 0.01).reports[0]
    assert settled.residual < 0.1 * report.residual


@pytest.mark.parametrize("beta", [0.0, 1e-2])
def test_cloth_is_stepped_as_by_implicit_euler(beta):
    """A cloth that swings down from one edge; its bending moves it by several millimetres."""
    mesh = sheet(size=(0.5, 0.5), cells=(4, 4))
    held = Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
    cloth = Cloth(mesh, ClothMaterial(E=200.0, nu=0.2, beta=beta, rho=0.2), pins=held)
    *_, exact = simulate(Scene([cloth], integrator=EXACT, h=0.001, duration=0.1))
    *_, swept = simulate(Scene([cloth], integrator=XPBD(substeps=10, iterations=20), h=0.01, duration=0.1))
    assert abs(exact.state.q - mesh.X.ravel()).max() > 0.04
    assert abs(swept.state.q - exact.state.q).max() < 3e-4


def test_the_unknown_is_refused_by_name():
    mesh = sheet(size=(1.0, 1.0), cells=(2, 2))
    n = len(mesh.X)
    with pytest.raises(SceneError, match="TieSprings"):
        constraints(TieSprings(n, np.array([[0, 1]]), np.array([[1.0, -1.0]]), np.ones(1)), mesh.X)
    with pytest.raises(SceneError, match="Angles"):
        constraints(Penalty(Angles(mesh.X, hinges(mesh.T)), 1.0, n), mesh.X)
    with pytest.raises(SceneError, match="StrainLimit"):
        compile_model(beam(StrainLimit()).system())
    with pytest.raises(SceneError, match="lumped"):
        compile_model(beam(lumped=False).system())
    for bad in ({"substeps": 0}, {"iterations": 0}, {"damping": -1.0}):
        with pytest.raises(SceneError):
            XPBD(**bad)


@pytest.mark.parametrize("damping", [Rayleigh(beta=0.05, current=True), Green(0.05)])
def test_damping_of_bodies_is_implicit(damping):
    """Strongly damped, far beyond what an explicit damper bears, XPBD goes where BDF2 goes."""
    mesh = bar(size=(0.3, 0.1, 0.1), cells=(4, 1, 1))
    pin = Pin(np.flatnonzero(mesh.X[:, 0] < 1e-9))
    tips = []
    for integrator in (BDF2(), XPBD()):
        body = Solid(mesh, StableNeoHookean(5e4, 0.4), damping=damping, pins=pin)
        *_, last = simulate(Scene([body], integrator=integrator, h=0.005, duration=0.3))
        tips.append(last.state.q.reshape(-1, 3)[mesh.X[:, 0] > 0.299, 2].mean())
    assert tips[1] == pytest.approx(tips[0], abs=2e-3)

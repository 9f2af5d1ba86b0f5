"""Constraint toolbox: derivatives, equivalences between the five ways, conditioning, drift, named errors."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from pliant.bodies import Solid
from pliant.constraints import (
    Angles,
    ConstrainedEuler,
    ConstraintError,
    Directions,
    Distances,
    FilteredEuler,
    KeptVolumes,
    Penalty,
    PlaneDistances,
    Shears,
    Volumes,
    constrained_velocities,
    curvature,
    filtered_pcg,
    filtered_step,
    jacobian,
)
from pliant.constraints.functions import phi
from pliant.energies.bending import hinges
from pliant.energies.gravity import Gravity
from pliant.energies.springs import Springs
from pliant.errors import SceneError
from pliant.integrators import LinearlyImplicit
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar, chain, sheet
from pliant.scene import Scene
from pliant.scene_file.load import load_scene
from pliant.simulate import simulate
from pliant.state import State
from pliant.systems.elastodynamics import Elastodynamics

RNG = np.random.default_rng


def numeric(function, x, eps=1e-6):
    flat = x.ravel()
    rows = []
    for k in range(len(flat)):
        e = np.zeros_like(flat)
        e[k] = eps
        rows.append((function((flat + e).reshape(x.shape)) - function((flat - e).reshape(x.shape))) / (2 * eps))
    return np.array(rows)


def functions():
    flat, box = sheet(size=(1.0, 1.0), cells=(2, 2)), bar(size=(0.2, 0.1, 0.1), cells=(1, 1, 1))
    return {
        "distances": (Distances(flat.X, flat.edges()), flat.X, 0.1),
        "volumes": (Volumes(box.X, box.T), box.X, 0.01),
        "angles": (Angles(flat.X, hinges(flat.T)), flat.X, 0.1),
        "shears": (Shears(flat.X, flat.T), flat.X, 0.1),
        "planes": (PlaneDistances(np.arange(6), (0, 0, 0.02), (0.3, 0, 1)), flat.X, 0.1),
    }


@pytest.mark.parametrize("name", functions())
def test_derivatives_of_displacements(name):
    function, X, size = functions()[name]
    x = X + size * RNG(0).normal(size=X.shape)
    J = jacobian(function, x).toarray()
    assert abs(J.T - numeric(lambda y: phi(function, y), x)).max() < 1e-8
    if not function.unilateral:
        assert abs(phi(function, X)).max() < 1e-15
        w = RNG(1).normal(size=len(function.nodes))
        H = curvature(function, x, w).toarray()
        expected = numeric(lambda y: jacobian(function, y).T @ w, x)
        assert abs(H - expected).max() < 1e-6 * max(abs(expected).max(), 1.0)


@pytest.mark.parametrize("name", functions())
def test_penalty_is_an_energy(name):
    function, X, size = functions()[name]
    energy = Penalty(function, 3.0, len(X))
    x = (X + size * RNG(2).normal(size=X.shape)).ravel()
    g, H = energy.gradient(x), energy.hessian(x).toarray()
    assert abs(g - numeric(energy.value, x)).max() < 1e-7 * max(abs(g).max(), 1.0)
    assert abs(H - numeric(energy.gradient, x)).max() < 1e-6 * max(abs(H).max(), 1.0)
    P = energy.hessian(x, psd=True).toarray()
    assert np.linalg.eigvalsh(P).min() > -1e-12 * max(abs(P).max(), 1.0)
    assert P is not H and energy.hessian(x).indices is energy.hessian(x + 1).indices


def test_penalty_distances_are_springs():
    mesh = sheet(size=(1.0, 1.0), cells=(2, 2))
    x = (mesh.X + 0.1 * RNG(3).normal(size=mesh.X.shape)).ravel()
    springs, penalty = Springs(mesh.X, mesh.edges(), 5.0), Penalty(Distances(mesh.X, mesh.edges()), 5.0, len(mesh.X))
    assert springs.value(x) == pytest.approx(penalty.value(x), rel=1e-13)
    assert abs(springs.gradient(x) - penalty.gradient(x)).max() < 1e-12
    assert abs((springs.hessian(x) - penalty.hessian(x)).toarray()).max() < 1e-11


def test_doubling_the_stiffness_halves_the_static_violation():
    """One particle on a plane under its weight: phi = -m g/k."""
    violations = []
    for k in (1e3, 2e3):
        n = 1
        system = Elastodynamics(
            np.zeros((n, 3)),
            np.ones(n),
            [Gravity(np.ones(n), (0, 0, -9.81)), Penalty(PlaneDistances(np.arange(n), (0, 0, 0), (0, 0, 1)), k, n)],
        )
        state, memory = State(np.zeros(3), np.zeros(3)), None
        for _ in range(2000):
            step = LinearlyImplicit().step(system, state, 0.01, memory)
            state, memory = step.state, step.memory
        violations.append(state.q[2])
    assert violations[0] == pytest.approx(-9.81e-3, rel=0.02)
    assert violations[1] / violations[0] == pytest.approx(0.5, rel=0.05)


# ------------------------------------------------------------------------------------------------ rows


def rods(n=6, m=0.5, seed=0):
    """A chain of n particles with random velocities, its distances, loads."""
    rng = RNG(seed)
    mesh = chain(n - 1)
    x = mesh.X + 0.05 * rng.normal(size=mesh.X.shape)
    function = Distances(mesh.X, mesh.T)
    M = sp.csr_matrix(sp.diags_array(np.full(3 * n, m)))
    return function, x, M, rng.normal(size=3 * n), rng.normal(size=3 * n)


@pytest.mark.parametrize("alpha", [0.0, 1e-4])
def test_schur_equals_kkt_equals_dense(alpha):
    function, x, M, v, f = rods()
    h = 0.03
    J = jacobian(function, x)
    c, E = -phi(function, x) / h, np.full(5, alpha / h**2)
    b = M @ v + h * f
    dense = np.linalg.solve(np.block([[M.toarray(), -J.T.toarray()], [J.toarray(), np.diag(E)]]), np.r_[b, c])
    for scheme in ("schur", "kkt"):
        u, mu = constrained_velocities(M, b, J, c, E, scheme=scheme)
        assert np.allclose(np.r_[u, mu], dense, rtol=1e-12, atol=1e-12)
        assert abs(J @ u + E * mu - c).max() < 1e-12
    full = sp.csr_matrix(M + 0.1 * sp.csr_matrix(J.T @ J))
    for scheme in ("schur", "kkt"):
        u, mu = constrained_velocities(full, b, J, c, E, scheme=scheme)
        assert abs(full @ u - J.T @ mu - b).max() < 1e-12


def test_compliant_rows_are_linearly_implicit_springs_and_become_hard():
    """Eliminating mu gives (M + h^2 k J^T J) v = M v_n + h (f - k J^T phi); alpha -> 0 is hard, at rate alpha."""
    function, x, M, v, f = rods()
    h = 0.03
    J, found = jacobian(function, x), phi(function, x)
    b = M @ v + h * f
    hard, _ = constrained_velocities(M, b, J, -found / h, np.zeros(5))
    assert abs(J @ hard + found / h).max() < 1e-10
    distance = []
    for k in (1e2, 1e6, 1e8, 1e10):
        u, _ = constrained_velocities(M, b, J, -found / h, np.full(5, 1 / k / h**2))
        A = (M + h * h * k * (J.T @ J)).toarray()
        if k < 1e8:
            springs = np.linalg.solve(A, b - h * k * (J.T @ found))
            assert np.allclose(u, springs, rtol=1e-9, atol=1e-11)
        distance.append(abs(u - hard).max())
    assert np.all(np.diff(distance) < 0)
    assert distance[3] / distance[1] == pytest.approx(1e-4, rel=0.05)


def test_conditioning_of_springs_and_of_compliant_rows():
    """cond(M + h^2 K) grows like k, the symmetric quasi-definite form stays near 10."""
    function, x, M, _, _ = rods()
    h = 0.03
    J = jacobian(function, x).toarray()
    stiff, quasi = [], []
    for k in (1e2, 1e6, 1e10, 1e14):
        stiff.append(np.linalg.cond(M.toarray() + h * h * k * J.T @ J))
        quasi.append(np.linalg.cond(np.block([[M.toarray(), J.T], [J, -np.eye(5) / (k * h * h)]])))
    assert stiff[2] / stiff[1] == pytest.approx(1e4, rel=0.1)
    assert stiff[3] > 1e10
    assert max(quasi[1:]) < 30 and max(quasi) < 10 * min(quasi)


def test_redundant_and_contradictory_rows_are_named():
    function, x, M, v, f = rods()
    J = jacobian(function, x)
    twice = sp.csr_matrix(sp.vstack([J, J[2]]))
    c = np.r_[np.zeros(5), 0.0]
    with pytest.raises(ConstraintError, match=r"row (2|5) repeats .*row (2|5)"):
        constrained_velocities(M, M @ v, twice, c, np.zeros(6))
    c[5] = 1.0
    with pytest.raises(ConstraintError, match=r"row (2|5) contradicts row (2|5)"):
        constrained_velocities(M, M @ v, twice, c, np.zeros(6))
    u, mu = constrained_velocities(M, M @ v, twice, c, np.full(6, 1e-9))  # a compliance makes any rows solvable
    assert np.isfinite(u).all() and np.isfinite(mu).all()
    empty = sp.csr_matrix(sp.vstack([J, sp.csr_matrix((1, J.shape[1]))]))
    with pytest.raises(ConstraintError, match="row 5 acts on no free"):
        constrained_velocities(M, M @ v, empty, np.zeros(6), np.zeros(6))


# ------------------------------------------------------------------------------------------------ the integrator


def pendulum(links=5):
    mesh = chain(links)
    n = links + 1
    masses = np.full(n, 0.1)
    system = Elastodynamics(mesh.X, masses, [Gravity(masses, (0, 0, -9.81))], pins=[Pin(np.array([0]))])
    return system, Distances(mesh.X, mesh.T)


def run(system, integrator, steps, h=0.005):
    state, memory = State(system.X.ravel().copy(), np.zeros(system.X.size)), None
    drift = []
    for _ in range(steps):
        step = integrator.step(system, state, h, memory)
        state, memory = step.state, step.memory
        drift.append(step.reports[0].residual)
    return state, np.array(drift), memory


def test_hard_constraints_do_not_drift_when_stabilised():
    system, rods = pendulum()
    _, loose, _ = run(system, ConstrainedEuler(rods, gamma=0.0), 150)
    _, held, _ = run(system, ConstrainedEuler(rods), 150)
    _, exact, _ = run(system, ConstrainedEuler(rods, project=True, geometric=True), 150)
    assert loose[-1] > 10 * held[-1]
    assert exact.max() < 1e-8


def test_constraint_forces_carry_the_weight():
    """At rest, hanging: the tension of link i is the weight below it."""
    links = 4
    mesh = chain(links)
    X = np.column_stack([np.zeros(links + 1), np.zeros(links + 1), -mesh.X[:, 0]])
    masses = np.full(links + 1, 0.1)
    system = Elastodynamics(X, masses, [Gravity(masses, (0, 0, -9.81))], pins=[Pin(np.array([0]))])
    _, _, lam = run(system, ConstrainedEuler(Distances(X, mesh.T)), 3)
    assert np.allclose(-lam, 0.1 * 9.81 * np.arange(links, 0, -1), rtol=1e-10)


def test_compliant_integrator_tends_to_the_hard_one():
    system, rods = pendulum()
    hard, _, _ = run(system, ConstrainedEuler(rods), 40)
    gaps = [abs(run(system, ConstrainedEuler(rods, compliance=a), 40)[0].q - hard.q).max() for a in (1e-4, 1e-6, 1e-8)]
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 1e-5


def test_damped_compliant_row_is_the_damped_spring():
    """f = -J^T (k phi + beta dphi/dt), implicit: one row, checked by elimination."""
    mesh = chain(1)
    system = Elastodynamics(mesh.X, np.array([0.3, 0.7]), [])
    x, v = mesh.X + [[0, 0, 0], [0.2, 0.1, 0]], RNG(4).normal(size=6)
    function, k, beta, h = Distances(mesh.X, mesh.T), 30.0, 0.8, 0.02
    step = ConstrainedEuler(function, compliance=1 / k, damping=beta).step(system, State(x.ravel(), v), h)
    J, found = jacobian(function, x).toarray(), phi(function, x)
    M = np.diag(np.repeat([0.3, 0.7], 3))
    expected = np.linalg.solve(M + (h * h * k + h * beta) * J.T @ J, M @ v - h * k * J.T @ found)
    assert np.allclose(step.state.v, expected, rtol=1e-12, atol=1e-13)


def test_unilateral_functions_are_refused_as_equalities():
    with pytest.raises(SceneError, match="push"):
        ConstrainedEuler(PlaneDistances(np.arange(2), (0, 0, 0), (0, 0, 1)))


# ------------------------------------------------------------------------------------------------ filtered steps


def filter_case():
    mesh = sheet(size=(1.0, 1.0), cells=(2, 2))
    masses = RNG(5).uniform(0.1, 0.3, len(mesh.X))
    system = Elastodynamics(
        mesh.X, masses, [Springs(mesh.X, mesh.edges(), 50.0), Gravity(masses, np.array([0, 0, -9.81]))]
    )
    p = np.array([1.0, 2.0, 2.0]) / 3.0
    axes = np.zeros((3, 3, 3))
    axes[0] = np.eye(3)
    axes[1, 0] = p
    axes[2, :2] = [[0, 1, 0], [0, 0, 1]]
    change = np.array([[0.1, 0.0, -0.2], [0.3, 0.3, 0.3], [0.0, 0.0, 0.0]])
    return system, mesh, Directions(np.array([0, 3, 7]), axes, change)


def test_filtered_pcg_equals_elimination():
    system, mesh, keep = filter_case()
    N = mesh.X.size
    q = (mesh.X + 0.05 * RNG(6).normal(size=mesh.X.shape)).ravel()
    A = system.tangent(q, 0 * q, 0.0, (1.0, 0.02, 4e-4))
    b = RNG(7).normal(size=N)
    found = filtered_pcg(A, b, keep, tolerance=1e-12)
    S = np.array([keep.keep(e) for e in np.eye(N)]).T
    z = keep.prescribed(N)
    w, Q = np.linalg.eigh(S)
    B = Q[:, w > 0.5]
    exact = z + B @ np.linalg.solve(B.T @ A @ B, B.T @ (b - A @ z))
    assert abs(found.dv - exact).max() < 1e-10
    assert abs((found.dv - keep.keep(found.dv)) - z).max() < 1e-15
    assert abs(keep.keep(found.reaction)).max() < 1e-9
    assert found.iterations < N


def test_filtered_step_moves_particles_to_their_targets():
    system, mesh, _ = filter_case()
    hold = Directions(np.array([0, 2]), np.tile(np.eye(3), (2, 1, 1)))
    start = State(mesh.X.ravel().copy(), np.zeros(mesh.X.size))
    shift = np.zeros_like(start.q)
    shift[6:9] = [0.01, 0.0, 0.02]
    state, _ = filtered_step(system, start, 0.01, hold, shift=shift, tolerance=1e-12)
    moved = (state.q - start.q).reshape(-1, 3)
    assert np.allclose(moved[0], 0, atol=1e-15) and np.allclose(moved[2], [0.01, 0.0, 0.02], atol=1e-15)
    plain = LinearlyImplicit()
    pinned = Elastodynamics(system.X, system.nodal_mass[::3], system.energy_terms, pins=[Pin(np.array([0, 2]))])
    without, _ = filtered_step(system, start, 0.01, hold, tolerance=1e-13)
    assert abs(plain.step(pinned, start, 0.01).state.q - without.q).max() < 1e-12


def test_directions_must_be_orthonormal():
    with pytest.raises(SceneError, match="vertex 4"):
        Directions(np.array([4]), np.array([[[1.0, 1.0, 0.0]]]))


def test_filtered_conjugate_gradients_from_a_scene_file_take_the_linearly_implicit_step(tmp_path):
    """A bar with a driven end; then its underside slides on z = 0, where the floor pushes and pulls."""
    text = """
    duration = 0.1
    h = 0.01
    [integrator]
    kind = "filtered-euler"
    tolerance = 1e-10
    SLIDING
    [[bodies]]
    mesh = { generator = "bar", size = [0.3, 0.1, 0.1], cells = [3, 1, 1] }
    material = { kind = "stable-neo-hookean", E = 1e4, nu = 0.3 }
    pins = [{ where = "x < 0.01", motion = { kind = "shake", amplitude = [0.0, 0.02, 0.0], frequency = 2.0 } }]
    """
    path = tmp_path / "filtered.toml"
    path.write_text(text.replace("SLIDING", ""))
    scene = load_scene(path).scene
    *_, filtered = simulate(scene)
    *_, direct = simulate(replace(scene, integrator=LinearlyImplicit()))
    assert np.allclose(filtered.state.q, direct.state.q, atol=1e-8)
    X = scene.system().X
    low = np.flatnonzero((X[:, 2] < 0.01) & (X[:, 0] > 0.01))
    path.write_text(text.replace("SLIDING", f"sliding = {low.tolist()}"))
    *_, last = simulate(load_scene(path).scene)
    x = last.state.q.reshape(-1, 3)
    assert np.abs(x[low, 2] - X[low, 2]).max() < 1e-12
    assert np.abs(x[low, 1] - X[low, 1]).max() > 5e-3  # they slide


def test_what_cannot_slide_is_refused():
    mesh = bar((0.3, 0.1, 0.1), (3, 1, 1))
    body = Solid(mesh, StableNeoHookean(1e4, 0.3), pins=Pin([0]))
    scene = Scene([body])
    system = scene.system()
    for sliding, what in ((0, "vertex 0 is pinned"), (99, "vertex 99 does not exist")):
        with pytest.raises(SceneError, match=what):
            FilteredEuler(np.array([sliding])).step(system, scene.initial(system), 0.01)


def test_a_scene_file_can_ask_for_hard_lengths_and_limited_strain(tmp_path):
    """A rope whose springs are soft but whose links are hard; a rubber block that may stretch by 5 % at most."""
    rope = """
    duration = 0.3
    h = 0.01
    [integrator]
    kind = "constrained-euler"
    function = { kind = "kept-lengths" }
    project = true
    [[bodies]]
    kind = "springs"
    k = 1.0
    mass = "0.1 kg"
    mesh = { generator = "chain", n = 6 }
    pins = [{ vertices = [0] }]
    """
    (tmp_path / "rope.toml").write_text(rope)
    scene = load_scene(tmp_path / "rope.toml").scene
    system = scene.system()
    E = scene.bodies[0].mesh.T
    length = lambda q: np.linalg.norm(np.diff(q.reshape(-1, 3)[E], axis=1)[:, 0], axis=1)
    *_, last = simulate(scene)
    assert np.allclose(length(last.state.q), length(system.X.ravel()), rtol=1e-9)
    assert last.state.q.reshape(-1, 3)[-1, 2] < -0.2

    block = """
    duration = 0.05
    h = 0.01
    [[bodies]]
    mesh = { generator = "bar", size = [0.3, 0.1, 0.1], cells = [3, 1, 1] }
    material = [{ kind = "stable-neo-hookean", E = 1e3, nu = 0.3 }, { kind = "strain-limit", k = 1e6 }]
    pins = [{ where = "x < 0.01" }]
    """
    (tmp_path / "block.toml").write_text(block)
    scene = load_scene(tmp_path / "block.toml").scene
    *_, last = simulate(scene)
    stretch = np.linalg.svd(scene.system().energy_terms[0].deformation(last.state.q), compute_uv=False)
    assert stretch.max() < 1.06 and len(scene.bodies[0].material.materials) == 2


def test_volumes_that_are_kept_stay():
    mesh = bar((0.3, 0.1, 0.1), (3, 1, 1))
    body = Solid(mesh, StableNeoHookean(1e4, 0.0), pins=Pin(mesh.where(lambda X: X[:, 0] < 1e-9)))
    volumes = lambda scene: [*simulate(scene)][-1].report.min_det
    free = Scene([body], integrator=LinearlyImplicit(), duration=0.2)
    assert volumes(free) < 0.97
    soft = replace(free, integrator=ConstrainedEuler(KeptVolumes(), compliance=1e-12))
    assert volumes(soft) > 0.995

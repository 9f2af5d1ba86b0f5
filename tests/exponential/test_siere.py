"""SIERE: its limits, the dense split equation as oracle, damping variants, negative and rigid modes, energy."""

import numpy as np
import pytest
from scipy.linalg import eigh, expm

from pliant.bodies import Rayleigh, Solid, SpringNet
from pliant.errors import SceneError
from pliant.integrators import ERE, SIERE, Additive, LinearlyImplicit
from pliant.integrators.modal import damped, undamped
from pliant.maps.motions import Shake
from pliant.maps.pins import Pin
from pliant.materials import Linear, NeoHookean
from pliant.mesh import bar, spring_net
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.state import State


def solid_scene(cells=(3, 1, 1), material=NeoHookean, E=2e4, **options):
    mesh = bar(size=(0.1 * cells[0], 0.1, 0.1), cells=cells)
    motion = options.pop("motion", None)
    pins = Pin(mesh.where(lambda X: X[:, 0] < 1e-9), motion) if options.pop("pinned", True) else ()
    return Scene([Solid(mesh, material(E=E, nu=0.4), pins=pins, **options)])


def net(**options):
    return Scene([SpringNet(spring_net(3, 3), k=40.0, mass=0.05, pins=Pin(np.array([0, 3])), **options)])


def rough(scene, size=0.01, squeeze=1.0, seed=0):
    system = scene.system()
    rng = np.random.default_rng(seed)
    q = system.X.copy()
    q[:, 0] *= squeeze
    q = system.prescribe(q.ravel() + size * rng.normal(size=q.size), 0.0)
    v = np.zeros(q.size)
    v[system.free] = rng.normal(size=len(system.free))
    return system, State(q, v)


def dense_split(system, state, h, s, *, psd):
    """(I - h J_H) du = h H + h phi1(h J_G) G, built and solved in 2n dimensions [Chen2019, Eq. 6.1]."""
    free = system.free
    n = len(free)
    q, v, t = state.q, state.v, state.t + h
    M = system.restrict(system.mass(q)).toarray()
    K = -system.restrict(system.stiffness(q, v, t, psd=psd)).toarray()
    D = -system.damping(q, v, t).toarray()[np.ix_(free, free)]
    f = system.force(q, v, t)[free]
    lam, U = eigh(K, M)
    U, lam = U[:, :s], lam[:s]
    P, zero = U @ U.T @ M, np.zeros((n, n))
    J = np.block([[zero, np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    Dr = U.T @ D @ U
    JG = np.block([[zero, P], [-U @ np.diag(lam) @ U.T @ M, -U @ Dr @ U.T @ M]])
    G = np.concatenate([P @ v[free], U @ (U.T @ f)])
    F = np.concatenate([v[free], np.linalg.solve(M, f)])
    border = np.zeros((2 * n + 1, 2 * n + 1))
    border[: 2 * n, : 2 * n], border[: 2 * n, -1] = JG, G
    exponential = expm(h * border)[: 2 * n, -1]
    du = np.linalg.solve(np.eye(2 * n) - h * (J - JG), h * (F - G) + exponential)
    return q[free] + du[:n], v[free] + du[n:]


def assert_close(a, b, tolerance):
    assert np.abs(a - b).max() <= tolerance * max(np.abs(b).max(), 1e-12)


CASES = {
    "springs": net(),
    "neo-Hookean": solid_scene(),
    "consistent mass": solid_scene(lumped=False),
    "damping at rest": solid_scene(damping=Rayleigh(alpha=0.5, beta=2e-3)),
    "damping here": solid_scene(damping=Rayleigh(alpha=0.5, beta=2e-3, current=True)),
    "mass damping": net(damping=Rayleigh(alpha=2.0)),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("s", [1, 3, 5, "all"])
@pytest.mark.parametrize("psd", [True, False])
def test_equals_the_dense_split_equation(name, s, psd):
    system, state = rough(CASES[name])
    s = len(system.free) if s == "all" else s
    after = SIERE(s=s, project="always" if psd else "never").step(system, state, 0.01).state
    q, v = dense_split(system, state, 0.01, s, psd=psd)
    assert_close(after.q[system.free] - state.q[system.free], q - state.q[system.free], 1e-9)
    assert_close(after.v[system.free] - state.v[system.free], v - state.v[system.free], 1e-9)


@pytest.mark.parametrize("name", CASES)
def test_no_modes_is_linearly_implicit_euler_and_so_is_the_additive_method(name):
    system, state = rough(CASES[name])
    si = LinearlyImplicit().step(system, state, 0.01).state
    for other in (SIERE(s=0, project="always"), Additive()):
        after = other.step(system, state, 0.01).state
        assert_close(after.v, si.v, 1e-12)
        assert_close(after.q, si.q, 1e-12)


@pytest.mark.parametrize("name", [n for n in CASES if n != "damping here"])  # of that ERE has a K without symmetry
def test_all_modes_is_exponential_rosenbrock_euler(name):
    system, state = rough(CASES[name])
    ere = ERE(tolerance=1e-13).step(system, state, 0.01).state
    after = SIERE(s=len(system.free)).step(system, state, 0.01).state
    assert_close(after.q - state.q, ere.q - state.q, 1e-10)
    assert_close(after.v - state.v, ere.v - state.v, 1e-9)


@pytest.mark.parametrize("shift", [-0.99, -1 + 1e-8, -1.3])
def test_negative_captured_modes_make_the_step_matrix_singular_and_the_step_not(shift):
    """A squeezed bar has negative modes; h is chosen so that h^2 lam_min = shift."""
    system, state = rough(solid_scene(E=2e4), size=0.0, squeeze=0.6)
    K = -system.restrict(system.stiffness(state.q, state.v, 0.0)).toarray()
    M = system.restrict(system.mass(state.q)).toarray()
    lam = eigh(K, M, eigvals_only=True)
    s = int(np.count_nonzero(lam < 0)) + 1
    assert lam[0] < 0
    h = float(np.sqrt(shift / lam[0]))
    after = SIERE(s=s, project="never").step(system, state, h).state
    q, v = dense_split(system, state, h, s, psd=False)
    assert_close(after.v[system.free], v, 1e-7)
    assert_close(after.q[system.free] - state.q[system.free], q - state.q[system.free], 1e-7)


def test_scripted_pins_equal_linearly_implicit_euler_without_modes():
    system, state = rough(solid_scene(motion=Shake((0.0, 0.02, 0.0), 2.0), damping=Rayleigh(beta=1e-3)))
    si = LinearlyImplicit(psd=False).step(system, state, 0.01).state
    after = SIERE(s=0).step(system, state, 0.01).state
    assert_close(after.q, si.q, 1e-12)
    free = system.free
    assert_close(after.v[free], si.v[free], 1e-12)


def test_a_free_body_flies_freely_and_captures_its_rigid_modes_on_top():
    scene = solid_scene(cells=(6, 2, 2), pinned=False, material=Linear)
    system = scene.system()
    v = np.tile([1.0, 2.0, 3.0], len(system.X))
    step = SIERE(s=5).step(system, State(system.X.ravel(), v), 0.1)
    assert step.memory.captured == 11
    fall = np.array([0, 0, -9.81])
    moved = (step.state.q - system.X.ravel()).reshape(-1, 3)
    assert np.allclose(moved, 0.1 * v[:3] + 0.005 * fall, atol=1e-8)


def test_captured_modes_of_a_linear_body_move_exactly_for_any_step():
    scene = solid_scene(cells=(8, 2, 2), material=Linear, E=1e5)
    system = scene.system()
    state, memory = scene.initial(system), None
    M, K = system.restrict(system.mass(state.q)), -system.restrict(system.stiffness(state.q, state.v, 0.0))
    lam, U = eigh(K.toarray(), M.toarray(), subset_by_index=(0, 4))
    load = U.T @ system.force(state.q, state.v, 0.0)[system.free]
    for n in range(1, 21):
        step = SIERE(s=5).step(system, state, 0.05, memory)
        state, memory = step.state, step.memory
        y = U.T @ (M @ (state.q - system.X.ravel())[system.free])
        w = np.sqrt(lam)
        assert_close(y, load / lam * (1 - np.cos(w * 0.05 * n)), 1e-4)


def test_modes_are_followed_through_a_large_swing():
    """One block per step keeps the captured space within a small angle of the exact one."""
    scene = solid_scene(cells=(8, 2, 2), E=3e4)
    system = scene.system()
    state, memory = scene.initial(system), None
    M = system.restrict(system.mass(state.q))
    for _ in range(25):
        step = SIERE(s=4).step(system, state, 0.01, memory)
        K = -system.restrict(system.stiffness(state.q, state.v, 0.0))
        _, exact = eigh(K.toarray(), M.toarray(), subset_by_index=(0, 5))
        state, memory = step.state, step.memory
        overlap = np.linalg.svd(exact.T @ (M @ memory.U[:, :4]), compute_uv=False)
        assert np.sqrt(max(0.0, 1 - overlap.min() ** 2)) < 0.1
        assert step.reports[0].counts.solves <= 35 or step.reports[0].iterations == 0
    assert np.abs(state.q - system.X.ravel()).max() > 0.2


def test_rotation_inside_the_captured_space_changes_nothing():
    scene = solid_scene(cells=(8, 2, 2))
    system = scene.system()
    first = SIERE(s=5).step(system, scene.initial(system), 0.01)
    rng = np.random.default_rng(3)
    Q = np.linalg.qr(rng.normal(size=(7, 7)))[0]
    from dataclasses import replace

    turned = replace(first.memory, U=first.memory.U @ Q)
    a = SIERE(s=5).step(system, first.state, 0.01, first.memory).state
    b = SIERE(s=5).step(system, first.state, 0.01, turned).state
    assert_close(a.q, b.q, 1e-9)


def test_closed_forms_of_modal_motion_against_expm():
    lam = np.array([-2e4, -1.0, -1e-9, 0.0, 1e-12, 1e-3, 3.0, 1e4, 1e8])
    a, c, h = np.linspace(1, 2, len(lam)), np.linspace(-3, 4, len(lam)), 0.01
    for k, l in enumerate(lam):
        exact = expm(h * np.array([[0, 1, a[k]], [-l, 0, c[k]], [0, 0, 0]]))[:2, 2]
        yq, yv = undamped(lam[k : k + 1], a[k : k + 1], c[k : k + 1], h)
        assert np.allclose([yq[0], yv[0]], exact, rtol=1e-9, atol=1e-12)
        yq, yv = damped(lam[k : k + 1], np.zeros((1, 1)), a[k : k + 1], c[k : k + 1], h)
        assert np.allclose([yq[0], yv[0]], exact, rtol=1e-9, atol=1e-12)


def retained(integrator, scene, steps=200, h=0.01):
    """(E - E_eq)/(E_0 - E_eq) after ``steps``: the part of the oscillation's energy that is left."""
    from pliant.integrators import Quasistatic

    system = scene.system()
    state, memory = scene.initial(system), None
    energy = lambda q, v: sum(system.energies(q, v, 0.0).values())
    rest = Quasistatic().step(system, state, h).state
    start, low = energy(state.q, state.v), energy(rest.q, 0 * rest.v)
    for _ in range(steps):
        step = integrator.step(system, state, h, memory)
        state, memory = step.state, step.memory
    return (energy(state.q, state.v) - low) / (start - low)


def test_energy_of_the_undamped_cantilever():
    """Acceptance 1 of the thesis's scheme: SI loses everything, SIERE with five modes keeps what ERE keeps."""
    mesh = bar(size=(0.8, 0.1, 0.1), cells=(8, 1, 1))
    solid = Solid(mesh, NeoHookean(E=1e7, nu=0.45), pins=Pin(mesh.where(lambda X: X[:, 0] < 1e-9)))
    scene = Scene([solid])
    si, siere, ere = (retained(i, scene) for i in (LinearlyImplicit(), SIERE(s=5), ERE()))
    assert si <= 0.01
    assert siere >= 0.9
    assert abs(siere - ere) <= 0.05


def test_more_modes_than_coordinates_are_refused():
    system, state = rough(solid_scene())
    with pytest.raises(SceneError, match="s = 99 modes of 36 free coordinates"):
        SIERE(s=99).step(system, state, 0.01)
    with pytest.raises(SceneError, match="s is -1"):
        SIERE(s=-1)


@pytest.mark.parametrize("cells", [1, 2])  # modes computed densely, and followed
def test_free_bodies_fall_without_tilting(cells):
    """Each has six rigid motions; with some of them integrated otherwise than the rest, they would turn."""
    cube = bar(size=(0.1, 0.1, 0.1), cells=(cells,) * 3)
    places = [cube.transformed(translate=(0.3 * k, 0.0, 0.0)) for k in range(3)]
    scene = Scene([Solid(m, Linear(1e5, 0.4)) for m in places], integrator=SIERE(), h=5e-3, duration=0.1)
    *_, last = simulate(scene)
    fallen = last.state.q - np.concatenate([m.X for m in places]).ravel()
    assert np.allclose(fallen.reshape(-1, 3), (0.0, 0.0, -0.5 * 9.81 * 0.1**2), atol=1e-8)


def test_moving_supports_pull_the_modes_by_their_mean():
    """With all modes captured it is ERE: their difference in a step with a moving support is of order h^3, not h^2."""
    apart = []
    for h in (2e-3, 1e-3):
        scene = solid_scene(motion=Shake((0.0, 0.0, 0.05), 3.0), material=Linear)
        system = scene.system()
        state = scene.initial(system)
        found = [m.step(system, state, h).state.v for m in (SIERE(s=len(system.free)), ERE(tolerance=1e-12))]
        apart.append(np.abs(found[0] - found[1])[system.free].max())
    assert np.log2(apart[0] / apart[1]) > 2.7


def test_a_matrix_that_is_singular_in_a_captured_mode_costs_no_digits():
    """h^2 lam = -1 up to 1e-13: A^-1 f has 1e13 times the mode in it, and the rest of the step must not feel that."""
    system, state = rough(net(), size=1e-3, squeeze=0.4)
    lam = eigh(
        -system.restrict(system.stiffness(state.q, state.v, 0.0)).toarray(), np.diag(system.nodal_mass[system.free])
    )[0]
    h = np.sqrt(-(1.0 + 1e-13) / lam[0])
    s = 1 + int(np.count_nonzero(lam < 0.0))
    step = SIERE(s=s, project="never").step(system, state, h)
    _, v = dense_split(system, state, h, s, psd=False)
    assert_close(step.state.v[system.free], v, 1e-7)


@pytest.mark.parametrize("cells", [(3, 1, 1), (8, 2, 2)], ids=["dense", "sparse"])
def test_as_many_modes_are_chosen_as_the_load_asks_for(cells):
    """95 % of what the weight puts into the bar in a step, by the dense spectrum; one mode less holds less."""
    scene, h = solid_scene(cells), 0.01
    system = scene.system()
    state = scene.initial(system)
    captured = SIERE(s=None).step(system, state, h).memory.captured
    q, free = state.q, system.free
    K = -system.restrict(system.stiffness(q, 0 * q, h)).toarray()
    M, f = system.restrict(system.mass(q)).toarray(), system.force(q, 0 * q, h)[free]
    lam, U = eigh(K, M)
    share = np.cumsum((U.T @ f) ** 2 / (1 + h * h * lam)) / (f @ np.linalg.solve(M + h * h * K, f))
    assert share[captured - 1] >= 0.95 > (share[captured - 2] if captured > 1 else 0.0)


def test_what_moves_at_the_start_is_captured():
    """A bar without weight that swings in its seventh mode."""
    scene, h = solid_scene((8, 2, 2)), 0.01
    system = Scene(scene.bodies, gravity=(0, 0, 0)).system()
    q = system.X.ravel()
    lam, U = eigh(-system.restrict(system.stiffness(q, 0 * q, h)).toarray(), system.restrict(system.mass(q)).toarray())
    v = np.zeros_like(q)
    v[system.free] = U[:, 6]
    assert SIERE(s=None).step(system, State(q, v), h).memory.captured == 7
    assert lam[6] < lam[7] * (1 - 1e-3)

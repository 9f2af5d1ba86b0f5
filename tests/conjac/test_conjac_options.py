"""ConJac beyond the plain step: searched corrections, settled start, several linearisations, friction, placement."""

import numpy as np
import pytest

from pliant.bodies import Solid
from pliant.contact.obstacles import Plane
from pliant.errors import SceneError
from pliant.integrators import BDF1, ConJac, LinearlyImplicit, Quasistatic
from pliant.integrators.conjac_friction import filtered
from pliant.maps.pieces import fixed, loose, movable, pieces_of, promoted
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar, rectangle
from pliant.scene import Scene
from pliant.scenes.conjac import FIBRES, aniso, limbs, twist_nodes
from pliant.simulate import simulate
from pliant.solvers import Newton, Tolerance
from pliant.state import State
from pliant.systems.condensed_plan import CondensedMoment
from pliant.systems.penalty_contact import PenaltyContact
from pliant.systems.placement import spread

NONE = np.zeros(0, dtype=np.int64)


def cantilever(E=2e4, **options):
    mesh = bar(size=(0.15, 0.05, 0.05), cells=(6, 2, 2))
    pins = Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
    scene = Scene([Solid(mesh, StableNeoHookean(E, 0.4), pins=pins)], **options)
    return scene, scene.system()


def run(integrator, system, state, h, steps):
    memory = None
    for _ in range(steps):
        step = integrator.step(system, state, h, memory)
        assert step.reports[0].converged, step.reports[0].message
        state, memory = step.state, step.memory
    return state


def test_nodes_are_placed_when_none_are_given():
    scene, system = cantilever()
    plan = ConJac(count=3).plan(system)
    assert len(plan.nodes) == 3
    with pytest.raises(SceneError, match="count is -1"):
        ConJac(count=-1)
    with pytest.raises(SceneError, match="beta is 0"):
        ConJac(beta=0.0)


def test_settled_start_leaves_no_force_on_the_followers():
    scene, system = cantilever()
    conjac = ConJac(count=2, settle=True)
    plan = conjac.plan(system)
    start = scene.initial(system)
    state = conjac.settled(CondensedMoment(system, start, 5e-3, plan, plan.nodes))
    d = (3 * plan.nodes[:, None] + np.arange(3)).ravel()
    assert np.array_equal(state.q[d], start.q[d])
    f = system.force(state.q, state.v, 0.0)
    followers = np.setdiff1d(system.free, d)
    assert abs(f[followers]).max() < 1e-8 * abs(system.force(start.q, start.v, 0.0)[followers]).max()
    exact = Quasistatic(Newton(tolerance=Tolerance(1e-12, 1e-14))).step(system, start, 1.0).state.q
    alone = ConJac(NONE).settled(CondensedMoment(system, start, 5e-3, ConJac(NONE).plan(system), NONE)).q
    assert abs(alone - exact).max() < 1e-9


OPTIONS = [
    {"gamma": None},
    {"gamma": None, "corrections": 3},
    {"iterations": 3},
    {"ahead": True, "gamma": None, "corrections": 2, "project": "on_demand"},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_static_state_is_the_equilibrium_with_any_option(options):
    scene, system = cantilever()
    exact = Quasistatic(Newton(tolerance=Tolerance(1e-12, 1e-14))).step(system, scene.initial(system), 1.0).state.q
    state = run(ConJac(count=2, beta=3.0, **options), system, scene.initial(system), 2e-2, 300)
    assert abs(state.q - exact).max() < 1e-8 * abs(exact - system.X.ravel()).max()


def test_searched_corrections_lower_the_energy():
    scene, system = cantilever(E=3e3)
    rng = np.random.default_rng(0)
    q = system.X.ravel().copy()
    q[system.free] += 4e-3 * rng.normal(size=len(system.free))
    energies = []
    state = State(q, 0 * q)
    for _ in range(6):
        energies.append(sum(system.energies(state.q, 0 * q, 0.0).values()))
        state = ConJac(NONE, gamma=None, cap=1e9).step(system, state, 5e-3).state
    assert (np.diff(energies) < 0).all()


def test_all_dynamic_and_iterated_solves_the_nonlinear_stage():
    """With beta = 1, every node dynamic and enough linearisations the step is backward Euler."""
    scene, system = cantilever()
    rng = np.random.default_rng(1)
    v = np.zeros(system.X.size)
    v[system.free] = 0.05 * rng.normal(size=len(system.free))
    state = State(system.X.ravel().copy(), v)
    nodes = np.unique(system.free // 3)
    a = ConJac(nodes, beta=1.0, iterations=12).step(system, state, 5e-3).state
    b = BDF1(solver=Newton(tolerance=Tolerance(1e-12, 1e-14))).step(system, state, 5e-3).state
    assert abs(a.q - b.q).max() < 1e-10
    assert abs(a.v - b.v).max() < 1e-7


def test_several_linearisations_keep_a_body_turning():
    mesh = bar(size=(0.15, 0.03, 0.03), cells=(6, 2, 2))
    scene = Scene([Solid(mesh, StableNeoHookean(1e5, 0.4))], gravity=(0, 0, 0))
    system = scene.system()
    X = system.X - system.X.mean(axis=0)
    v = 60.0 * np.column_stack([-X[:, 1], X[:, 0], 0 * X[:, 0]]).ravel()
    start = State(system.X.ravel().copy(), v)
    energy = lambda s: s.v @ (system.mass(s.q) @ s.v) / (v @ (system.mass(v) @ v))
    assert energy(run(ConJac(count=4), system, start, 5e-3, 10)) < 0.05
    assert energy(run(ConJac(count=4, iterations=3), system, start, 5e-3, 10)) > 0.35


def dropped(mu, alpha=0.0):
    mesh = bar(size=(0.1, 0.05, 0.03), cells=(4, 2, 2)).transformed(translate=(0, 0, -2e-4))
    body = Solid(mesh, StableNeoHookean(1e5, 0.3), velocity=(0.3, 0.0, 0.0))
    contact = PenaltyContact(mu=0.0, anisotropy=alpha, bodies=False, self_contact=False)
    scene = Scene([body], contact=contact, obstacles=[Plane()])
    return scene, scene.system(), ConJac(count=4, friction=mu)


def slide(system, state):
    m = system.nodal_mass[::3]
    return m @ state.v[::3] / m.sum()


def test_filter_never_speeds_up_and_sticks():
    """[C4] normal part kept, tangential part shortened, never reversed."""
    scene, system, _ = dropped(0.3)
    start = scene.initial(system)
    here = system.at(start, 1e-3)
    rng = np.random.default_rng(0)
    v = rng.normal(size=start.v.size)
    for mu in (0.1, 0.5, 1e6):
        after = filtered(here, start.q, v, 1e-3, mu).reshape(-1, 3)
        before = v.reshape(-1, 3)
        assert np.array_equal(after[:, 2], before[:, 2])
        assert (np.linalg.norm(after[:, :2], axis=1) <= np.linalg.norm(before[:, :2], axis=1) + 1e-15).all()
        assert ((after[:, :2] * before[:, :2]).sum(axis=1) >= 0).all()
        changed = np.flatnonzero((after != before).any(axis=1))
        assert (system.X[changed, 2] < 0).all() and len(changed)
    assert np.allclose(after[changed, :2], 0)


def test_friction_slows_a_sliding_body():
    rubbed, free = (
        slide(system, run(conjac, system, scene.initial(system), 1e-3, 60))
        for scene, system, conjac in (dropped(0.3), dropped(0.0))
    )
    assert free == pytest.approx(0.3, rel=1e-6)
    assert 0 < rubbed < 0.29


def test_projection_of_reachable_velocities_changes_nothing():
    """[PT-J7] (J^T A J) u* = J^T A J u gives u* = u: without friction a huge limit on nothing is the plain step."""
    scene, system, conjac = dropped(0.3)
    start = State(scene.initial(system).q + np.tile([0, 0, 0.01], len(system.X)), scene.initial(system).v)
    a = conjac.step(system, start, 1e-3).state  # clear of the floor: the filter does nothing, the projection runs
    b = ConJac(count=4).step(system, start, 1e-3).state
    assert abs(a.v - b.v).max() < 1e-10 * abs(b.v).max()


def test_hinged_and_loose_pieces():
    mesh = rectangle((0.2, 0.1), (4, 2))
    corner = Pin(np.array([0]))
    scene = Scene([Solid(mesh, StableNeoHookean(1e4, 0.3), pins=corner)], gravity=(0.0, -9.81))
    system = scene.system()
    q = system.X.ravel()
    pieces = pieces_of(system.stiffness(q, 0 * q, 0.0, psd=True), 2, system.free)
    assert len(promoted(pieces, system.X, NONE)) == 1  # hung by one point: something must swing
    hung = movable(pieces, system.X)
    assert len(loose(hung, pieces, system.X, NONE)) == 1
    assert not loose(hung, pieces, system.X, np.array([10]))
    assert fixed(system.X, np.arange(15), np.array([0, 1])) and not fixed(system.X, np.arange(15), np.array([3]))
    start = scene.initial(system)
    state = run(ConJac(NONE), system, start, 5e-3, 20)
    assert state.v.reshape(-1, 2)[-1, 1] < 0


def test_planar_bodies_and_consistent_mass():
    mesh = rectangle((0.2, 0.1), (4, 2))
    pins = Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
    scene = Scene([Solid(mesh, StableNeoHookean(1e5, 0.3), pins=pins, lumped=False)], gravity=(0.0, -9.81))
    system = scene.system()
    state = scene.initial(system)
    nodes = np.unique(system.free // 2)
    a = ConJac(nodes).step(system, state, 5e-3).state
    b = LinearlyImplicit(beta=0.5).step(system, state, 5e-3).state
    assert abs(a.v - b.v).max() < 1e-10 * abs(b.v).max()


def test_scene_nodes_and_fibres():
    mesh = bar((0.15, 0.045, 0.045), (20, 6, 6))
    assert [len(twist_nodes(mesh, k)) for k in (1, 2, 4, 8, 16, 32)] == [1, 2, 4, 8, 16, 32]
    small = bar((0.15, 0.05, 0.05), (6, 2, 2))
    for name in FIBRES:
        scene = aniso(name, mesh=small)
        directions = scene.bodies[0].material.materials[1].direction
        assert np.allclose(np.linalg.norm(directions, axis=1), 1.0)
    from pliant.mesh import figure

    body = figure(cells=12)
    assert len(np.unique(limbs(body))) == 5


def test_null_modes_of_the_followers():
    """[PT-J5] a free body with 0, 1, 2, 3 held nodes can still move rigidly in 6, 3, 1, 0 ways."""
    mesh = bar(size=(0.15, 0.05, 0.05), cells=(3, 1, 1))
    system = Scene([Solid(mesh, StableNeoHookean(1e4, 0.4))]).system()
    q = system.X.ravel()
    K = system.stiffness(q, 0 * q, 0.0, psd=True).toarray()
    for held, modes in (([], 6), ([0], 3), ([0, 15], 1), ([0, 15, 5], 0)):
        rest = np.setdiff1d(np.arange(len(q)), [3 * v + a for v in held for a in range(3)])
        w = np.linalg.eigvalsh(-K[np.ix_(rest, rest)])
        assert int((w < 1e-9 * w.max()).sum()) == modes


def test_adaptive_run_restarts_bit_for_bit(tmp_path):
    from pliant import checkpoint
    from pliant.integrators import AdaptiveConJac
    from pliant.simulate import simulate

    scene, system = cantilever(
        integrator=AdaptiveConJac(ConJac(count=3), threshold=0.05, window=4), h=5e-3, duration=0.2
    )
    whole = list(simulate(scene))
    active = [s.memory.active.sum() for s in whole]
    assert min(active) == 0 and max(active) == 3
    assert sum(s.report.counts.analyses for s in whole) == 1
    checkpoint.save(tmp_path / "half.h5", whole[15].checkpoint())
    again = list(simulate(scene, start=checkpoint.load(tmp_path / "half.h5")))
    assert np.array_equal(again[-1].state.q, whole[-1].state.q)


def test_adaptive_nodes_of_free_pieces_never_sleep():
    from pliant.integrators import AdaptiveConJac

    scene = Scene([Solid(bar(size=(0.15, 0.05, 0.05), cells=(6, 2, 2)), StableNeoHookean(1e4, 0.4))])
    system = scene.system()
    integrator = AdaptiveConJac(ConJac(count=3), threshold=1e9)
    state = run(integrator, system, scene.initial(system), 5e-3, 10)
    assert np.allclose(state.v.reshape(-1, 3)[:, 2], -9.81 * 0.05, rtol=1e-6)


def test_the_cap_limits_strain_not_motion():
    """A correction that turns the body rigidly by a little passes whole; one that tears an edge is scaled down."""
    from pliant.systems.condensed_plan import capped

    _, system = cantilever()
    plan = ConJac(count=2).plan(system)
    moved = np.tile([0.3, 0.0, 0.0], len(system.X))
    assert np.array_equal(capped(moved, plan, 0.25), moved)
    torn = np.zeros_like(moved)
    torn[0] = 1.0
    shortest = plan.length[(plan.edges == 0).any(axis=1)].min()
    assert capped(torn, plan, 0.25)[0] == pytest.approx(0.25 * shortest)


def test_nodes_by_hand_are_kept_and_the_others_spread():
    from pliant.systems.placement import spread

    _, system = cantilever()
    close = [int(v) for v in np.flatnonzero(system.X[:, 0] > 0.15 - 1e-9)[:2]]
    nodes = spread(system, 4, by_hand=close)
    assert len(nodes) == 4 and set(close) <= set(nodes.tolist())
    rest = np.setdiff1d(nodes, close)
    assert np.linalg.norm(system.X[rest[0]] - system.X[rest[1]]) >= 0.1 * system.scale


def test_no_correction_of_a_free_piece_raises_the_energy():
    """f . dx >= 0 for any inertia, piece by piece; inertia that explains the force is subtracted whole."""
    from pliant.systems.condensed_inertia import share

    rng = np.random.default_rng(5)
    B = np.zeros((12, 12))
    B[:6, :6], B[6:, 6:] = rng.normal(size=(2, 6, 6))
    inverse = np.linalg.inv(B @ B.T + 0.1 * np.eye(12))
    piece = np.repeat([0, 1], 6)
    for _ in range(20):
        f, Ma = rng.normal(size=(2, 12))
        dx = inverse @ f - share(f, Ma, inverse @ Ma, piece) * (inverse @ Ma)
        assert f[:6] @ dx[:6] >= 0.0 and f[6:] @ dx[6:] >= 0.0
    assert np.allclose(share(f, f, inverse @ f, piece), 1.0)
    assert not share(f, -f, -inverse @ f, piece).any()


def test_an_impact_gains_no_energy():
    """A block dropped edge first on the floor; steps so short that no vertex gets deep before its contact is found."""
    mesh = bar(size=(0.1, 0.05, 0.03), cells=(4, 2, 2)).transformed(rotate=[[0.8, 0, 0.6], [0, 1, 0], [-0.6, 0, 0.8]])
    mesh = mesh.transformed(translate=(0, 0, 1e-3 - mesh.bounds[0, 2]))
    body = Solid(mesh, StableNeoHookean(4e4, 0.45), velocity=(0.0, 0.0, -0.8))
    contact = PenaltyContact(mu=0.0, anisotropy=0.0, bodies=False, self_contact=False)
    scene = Scene([body], contact=contact, obstacles=[Plane()])
    system = scene.system()
    state, memory, energies = scene.initial(system), None, []
    for _ in range(160):
        energies.append(sum(system.energies(state.q, state.v, state.t).values()))
        step = ConJac(count=6).step(system, state, 2.5e-4, memory)
        state, memory = step.state, step.memory
    assert state.q[2::3].min() < 0 or min(energies) < 0.9 * energies[0]  # it did hit the floor
    assert max(energies) <= 1.005 * energies[0]


def test_nodes_are_spread_over_vertices_that_no_pin_holds_in_any_direction():
    mesh = bar(size=(0.3, 0.1, 0.1), cells=(6, 2, 2))
    ends = [mesh.where(lambda X: X[:, 0] < 1e-9), mesh.where(lambda X: X[:, 0] > 0.3 - 1e-9)]
    body = Solid(mesh, StableNeoHookean(1e5, 0.4), pins=[Pin(ends[0]), Pin(ends[1], axes=(2,))])
    scene = Scene([body], integrator=ConJac(count=4), h=0.01, duration=0.05)
    *_, last = simulate(scene)
    assert np.allclose(last.state.q.reshape(-1, 3)[ends[1], 2], mesh.X[ends[1], 2])
    assert not np.isin(spread(scene.system(), 4), np.concatenate(ends)).any()

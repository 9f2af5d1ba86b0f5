"""The velocity step of several parts against brute force, conservation laws and closed forms."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from coupled_samples import Sided, contact, rigid_block, soft_cube, stacked

from pliant.articulated import ArticulatedSystem, Link, at, cuboid
from pliant.articulated.forces import JointSpring
from pliant.articulated.joints import Revolute
from pliant.contact.contacts import Contacts
from pliant.contact.obstacles import Plane
from pliant.integrators import LinearlyImplicit
from pliant.linear.lowrank import corrected
from pliant.linear.staggered import Staggered
from pliant.maps.motions import Keyframes
from pliant.maps.pins import Pin
from pliant.state import State
from pliant.systems.coupled_step import CoupledStep, prepared_parts
from pliant.systems.coupling_rows import Ties, Touches
from pliant.systems.joined import Restriction, SideBySide
from pliant.systems.shown import Shown
from pliant.velocity_step import Linearisation, Live, solve_block

G, H = 9.81, 0.01


def pendulum():
    """Two bars on hinges, moving."""
    bar = cuboid((0.5, 0.1, 0.1), 300.0, at(0.25, 0, 0))
    links = [Link(Revolute((0, 1, 0)), bar, None), Link(Revolute((0, 1, 0)), bar, 0, at(0.5, 0, 0))]
    return ArticulatedSystem(links), State(np.array([0.3, -0.7]), np.array([1.0, 0.5]))


def swinging():
    """A soft cube with a scripted pin, bent and moving, and a pendulum."""
    pin = Pin(np.arange(4), Keyframes((-1.0, 1.0), ((-0.5, 0.0, 0.0), (0.5, 0.0, 0.0))))
    soft, state, _ = soft_cube(pins=[pin], gravity=(0, 0, -G))
    rng = np.random.default_rng(1)
    q = state.q.copy()
    q[soft.free] += 0.01 * rng.normal(size=len(soft.free))
    v = np.zeros_like(q)
    v[soft.free] = rng.normal(size=len(soft.free))
    tree, swing = pendulum()
    return (soft, tree), (State(q, v), swing)


def test_points_move_as_their_jacobian_says():
    """J u + w against central differences of the positions."""
    parts, states = swinging()
    rng, e = np.random.default_rng(2), 1e-6
    for part, prepared in zip(parts, prepared_parts(parts, states, H, None, Linearisation()), strict=True):
        u = rng.normal(size=len(prepared.block.b))
        ways = [prepared.finish(u, np.zeros(0), np.zeros(0), s).state.q for s in (e, -e)]
        measured = (part.positions(ways[0]) - part.positions(ways[1])).ravel() / (2 * e)
        w = 0.0 if prepared.block.w is None else prepared.block.w
        assert np.abs(prepared.block.J @ u + w - measured).max() < 1e-6


def test_the_matrix_of_all_is_that_of_each_by_brute_force():
    """A = J^T (M - h D - h^2 K) J with dense matrices; the step without rows is the steps apart."""
    parts, states = swinging()
    soft, tree = parts
    (s, r), beta = states, 0.7
    step = CoupledStep(prepared_parts(parts, states, H, None, Linearisation(beta)), states, H)
    A_soft = soft.mass(s.q) - H * soft.damping(s.q, s.v, H) - beta * H * H * soft.stiffness(s.q, s.v, H, psd=True)
    J = tree.kinematics(r.q, r.v).jacobian()
    A_tree = J.T @ (tree.tree.inertia.ravel()[:, None] * J)
    dense = scipy.linalg.block_diag(A_soft.toarray()[np.ix_(soft.free, soft.free)], A_tree)
    assert np.abs(step.block.A.toarray() - dense).max() < 1e-9 * np.abs(dense).max()
    together = LinearlyImplicit(beta).step(Sided(parts), stacked(*states), H).state
    alone = stacked(*(LinearlyImplicit(beta).step(p, q, H).state for p, q in zip(parts, states, strict=True)))
    assert np.abs(together.v - alone.v).max() < 1e-9 * np.abs(alone.v).max()


def test_rows_between_parts_bound_relative_velocities():
    """Attachment and contact rows against the velocities of the points themselves."""
    parts, states = swinging()
    prepared = prepared_parts(parts, states, H, None, Linearisation())
    p = len(prepared[0].block.x)
    nodes, weights = np.array([[5, 7, p + 2, p + 3]]), np.array([[0.5, 0.5, -0.25, -0.75]])
    gap = np.array([[0.01, -0.02, 0.03]])
    normal, drift = np.array([[0.6, 0.0, 0.8]]), np.array([[0.1, 0.2, 0.3]])
    met = Contacts(
        nodes, weights, normal, np.array([0.004]), drift, np.zeros((1, 3, 3)), np.array([-1]), np.full((1, 3), -1)
    )
    touches = Touches(met, np.array([0.5]))
    block = CoupledStep(prepared, states, H, ties=Ties(nodes, weights, gap, 0.5), touches=touches).block
    u = np.random.default_rng(3).normal(size=len(block.b))
    relative = weights[0] @ (block.J @ u + block.w).reshape(-1, 3)[nodes[0]]
    (E, e), (C, d) = block.equality, block.inequality
    assert np.allclose(E @ u - e, relative + 0.5 * gap[0] / H)
    assert np.allclose(C @ u - d, normal[0] @ relative + 0.004 / H)
    slip = (block.slip.T @ u - block.slip.drift).reshape(2)
    across = relative - drift[0] - normal[0] * (normal[0] @ (relative - drift[0]))
    assert np.linalg.norm(slip) == pytest.approx(np.linalg.norm(across), rel=1e-12)


@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_an_impact_of_soft_and_rigid_keeps_the_momentum(mu):
    """A soft cube hits a rigid block off its center: what one loses the other gains, to rounding."""
    soft, s, mesh = soft_cube(velocity=(2.0, 0.3, 0.0))
    block, r, hull = rigid_block((0.305, 0.13, 0.12))
    world = Sided([soft, block], contact([mesh, hull], gravity=0.0, mu=mu))
    state, memory, pressed = stacked(s, r), None, 0.0
    before = world.momentum(state)
    for _ in range(20):
        step = LinearlyImplicit().step(world, state, H, memory)
        assert step.reports[0].converged
        assert step.work.get("friction", 0.0) <= 1e-12
        state, memory = step.state, step.memory
        pressed += memory.part.pressed.sum()
        assert np.abs(world.momentum(state) - before).max() < 1e-12 * np.abs(before).max()
    assert pressed > 0.1 * before[0]  # they did meet
    assert block.momenta(*world.split(state.q)[1:], world.split(state.v)[1])[0][0] > 0.3 * before[0]


def test_a_dropped_ball_is_stopped_by_an_impulse_of_its_momentum():
    block, state, hull = rigid_block((0, 0, 0.1), velocity=(0, 0, -3.0), gravity=(0, 0, -G))
    world = Sided([block], contact([hull], [Plane((0, 0, 0), (0, 0, 1))], mu=0.0))
    step = LinearlyImplicit().step(world, state, H)
    m = block.total_mass
    assert step.memory.part.pressed.sum() == pytest.approx(m * (3.0 + G * H), rel=1e-9)
    assert np.abs(step.state.v).max() < 1e-9


@pytest.mark.parametrize("slope", [0.25, 0.299, 0.301, 0.6])
def test_a_block_sticks_or_slides(slope):
    """tan(alpha) = mu divides sticking from sliding with g (sin a - mu cos a)."""
    mu, angle, sides = 0.3, np.arctan(slope), (0.2, 0.2, 0.02)
    g = (G * np.sin(angle) * np.array([0.6, 0.8, 0.0])) + np.array([0.0, 0.0, -G * np.cos(angle)])
    block, state, hull = rigid_block((0, 0, 0.01), sides, gravity=g)
    world = Sided([block], contact([hull], [Plane((0, 0, 0), (0, 0, 1))], mu=mu))
    memory = None
    for _ in range(20):
        step = LinearlyImplicit().step(world, state, H, memory)
        assert step.reports[0].converged
        state, memory = step.state, step.memory
    expected = 20 * H * max(0.0, G * (np.sin(angle) - mu * np.cos(angle)))
    assert state.v[:3] @ [0.6, 0.8, 0.0] == pytest.approx(expected, abs=1e-7)
    assert abs(state.v[:3] @ [0.8, -0.6, 0.0]) < 1e-7 and abs(state.q[2] - 0.01) < 1e-9


@pytest.mark.parametrize("slope", [0.2, 0.5])
def test_a_soft_block_sticks_or_slides(slope):
    """The same for a soft block, whose contact is its own system's; its center of mass."""
    from pliant.bodies import Solid
    from pliant.materials import StableNeoHookean
    from pliant.mesh import box
    from pliant.scene import Scene
    from pliant.simulate import simulate
    from pliant.systems.row_contact import RowContact

    mu, angle = 0.3, np.arctan(slope)
    mesh = box((0.2, 0.2, 0.05), (2, 2, 1))
    scene = Scene(
        [Solid(mesh, StableNeoHookean(1e6, 0.3), density=1000.0)],
        gravity=(G * np.sin(angle), 0.0, -G * np.cos(angle)),
        contact=RowContact(mu=mu, thickness=0.0),
        obstacles=[Plane((0, 0, mesh.X[:, 2].min()), (0, 0, 1))],
        integrator=LinearlyImplicit(),
        h=H,
        duration=0.4,
    )
    *_, last = simulate(scene)
    m = last.system.mass(last.state.q).diagonal().reshape(-1, 3)[:, 0]
    v = m @ last.state.v.reshape(-1, 3) / m.sum()
    expected = 0.4 * max(0.0, G * (np.sin(angle) - mu * np.cos(angle)))
    assert v[0] == pytest.approx(expected, abs=2e-3 * max(expected, 0.1))
    assert last.report.penetration is not None and last.report.penetration < 1e-9


def test_an_attachment_carries_the_weight_of_what_hangs_on_it():
    """A soft block hung from a world point by four of its vertices: impulse / h = m g at rest."""
    soft, state, mesh = soft_cube(gravity=(0, 0, -G), E=1e6)
    top = np.flatnonzero(mesh.X[:, 2] > mesh.X[:, 2].max() - 1e-9)
    ties = lambda x: Ties(top[:, None], np.ones((len(top), 1)), x[top] - mesh.X[top])
    world, memory = Sided([soft], ties=ties), None
    for _ in range(200):
        step = LinearlyImplicit().step(world, state, 0.05, memory)
        state, memory = step.state, step.memory
    force = memory.part.ties.sum(axis=0) / 0.05
    assert np.abs(force - [0, 0, soft.total_mass * G]).max() < 1e-8 * soft.total_mass * G
    assert np.abs(state.q.reshape(-1, 3)[top] - mesh.X[top]).max() < 1e-12


def test_a_block_hung_on_a_link_pulls_it_down():
    """A soft block tied to the free end of a bar: at rest the bar hangs straight and the hinge feels both weights."""
    bar = cuboid((0.5, 0.02, 0.02), 2000.0, at(0.25, 0, 0))
    tree = ArticulatedSystem([Link(Revolute((0, 1, 0)), bar)], [JointSpring(0, 0.0, damping=20.0)])
    hanging = State(np.array([0.5 * np.pi]), np.zeros(1))
    soft, state, mesh = soft_cube((-0.1, -0.1, -0.7), gravity=(0, 0, -G), E=1e6)
    top = np.flatnonzero(mesh.X[:, 2] > mesh.X[:, 2].max() - 1e-9)
    end = len(mesh.X) + np.argmin(tree.positions(hanging.q)[:, 2])
    offset = mesh.X[top] - tree.positions(hanging.q)[end - len(mesh.X)]
    nodes = np.column_stack([top, np.full(len(top), end)])
    weights = np.tile([1.0, -1.0], (len(top), 1))

    def ties(x):
        return Ties(nodes, weights, x[top] - x[end] - offset)

    world, memory, at_rest = Sided([soft, tree], ties=ties), None, stacked(state, hanging)
    for _ in range(300):
        step = LinearlyImplicit().step(world, at_rest, 0.05, memory)
        assert step.reports[0].converged
        at_rest, memory = step.state, step.memory
    assert np.abs(memory.part.ties.sum(axis=0) / 0.05 - [0, 0, soft.total_mass * G]).max() < 1e-6 * soft.total_mass * G


def test_live_rows_push_back_on_the_link():
    """A row of one part that bounds its velocity against a link: momentum goes from one to the other."""
    soft, s, _ = soft_cube(velocity=(1.0, 0, 0))
    block, r, _ = rigid_block((0.305, 0.1, 0.1))
    parts = list(prepared_parts([soft, block], [s, r], H, None, Linearisation()))
    x = np.array([[0.2, 0.1, 0.1]])
    vertex = int(np.argmin(np.linalg.norm(parts[0].block.x - x, axis=1)))
    n = len(parts[0].block.b)
    C = sp.csr_matrix(([-1.0], ([0], [3 * vertex])), shape=(1, n))
    live = Live(np.array([0]), np.array([0]), x, np.array([[-1.0, 0.0, 0.0]]))
    from dataclasses import replace

    given = replace(parts[0].block, inequality=(C, np.zeros(1)), live=live)
    stub = type("Stub", (), {"block": given, "reach": parts[0].reach, "finish": parts[0].finish})()
    step = CoupledStep([stub, parts[1]], [s, r], H, shown=Shown(((1, 0, "block"),), {0: "soft"}))
    (row, _), solution = step.block.inequality, solve_block(step.block)
    v = np.random.default_rng(4).normal(size=6)
    moved = [block.kinematics(r.q + t * v, r.v).frames[0] for t in (1e-6, -1e-6)]
    local = x[0] - r.q[:3]
    speed = sum(sign * (E[:3, :3] @ local + E[:3, 3]) for sign, E in zip((1, -1), moved, strict=True)) / 2e-6
    assert (row @ np.concatenate([np.zeros(n), v]))[0] == pytest.approx(speed[0], rel=1e-8)
    after = step.finish(solution.u, solution.equality, solution.inequality, H).state
    world = Sided([soft, block])
    assert np.allclose(world.momentum(after), world.momentum(stacked(s, r)), rtol=1e-12)
    assert after.v[-6:][0] > 1e-3 and solution.inequality[0] > 0.0


def test_corrections_of_low_rank_stay_so_side_by_side():
    rng = np.random.default_rng(5)
    A, W, c = sp.identity(6, format="csr"), rng.normal(size=(6, 2)), np.array([2.0, 0.5])
    B = np.diag([3.0, 4.0])
    whole = SideBySide()([B, corrected(A, W, c)])
    dense = scipy.linalg.block_diag(B, np.eye(6) + (W * c) @ W.T)
    assert np.allclose(whole.toarray(), dense)
    b = rng.normal(size=8)
    from pliant.velocity_step import velocity_step

    rows = (rng.normal(size=(2, 8)), np.array([0.3, -0.2]))
    K = np.block([[dense, -rows[0].T], [rows[0], np.zeros((2, 2))]])
    assert np.allclose(velocity_step(whole, b, equality=rows).u, np.linalg.solve(K, np.concatenate([b, rows[1]]))[:8])


def test_joined_matrices_have_the_values_of_now_whatever_was_joined_before():
    """The same patterns with other values, other patterns, and the first ones again; so do their free rows."""
    rng, kept = np.random.default_rng(6), np.array([0, 2, 3, 7])
    patterns = [[sp.random(n, n, density=0.5, format="csr", random_state=seed + n) for n in (5, 3)] for seed in (1, 2)]
    join, restrict = SideBySide(), Restriction(kept)
    for number in (0, 0, 0, 1, 0, 1, 1):
        blocks = patterns[number]
        for A in blocks:
            A.sort_indices()
            A.data = rng.normal(size=A.nnz)
        dense, whole = scipy.linalg.block_diag(*(A.toarray() for A in blocks)), join(blocks)
        assert np.array_equal(whole.toarray(), dense)
        assert np.array_equal(restrict(whole).toarray(), dense[np.ix_(kept, kept)])


def test_friction_that_has_not_settled_says_so():
    block, state, hull = rigid_block((0, 0, 0.1), velocity=(1.0, 0.2, 0), gravity=(0, 0, -G))
    world = Sided([block], contact([hull], [Plane((0, 0, 0), (0, 0, 1))], mu=0.9))
    hasty = LinearlyImplicit(friction=Staggered(iterations=1, give=(0.0,))).step(world, state, H).reports[0]
    assert not hasty.converged and "after 1 turns" in hasty.message
    assert LinearlyImplicit().step(world, state, H).reports[0].converged

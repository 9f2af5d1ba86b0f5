"""Stacks, rolling, steps cut short, and matrices that are never formed, in the velocity step."""

from dataclasses import replace

import numpy as np
import pytest
from coupled_samples import Sided, contact, rigid_block, soft_cube, stacked

from pliant.articulated import Articulated, ArticulatedSystem, Link, MatrixFree, Sparse, cuboid, sphere
from pliant.articulated.constraints import FloorContact
from pliant.articulated.joints import Free3D, Prismatic
from pliant.checkpoint import Checkpoint, load, save
from pliant.cloth.active_set import ActiveSet
from pliant.contact.obstacles import Box, Cylinder, Plane
from pliant.errors import SceneError
from pliant.integrators import LinearlyImplicit
from pliant.maps.motions import Keyframes, Shake
from pliant.scene import Scene
from pliant.scenes.redmax import NUMBERED
from pliant.simulate import simulate
from pliant.state import State
from pliant.systems.row_contact import RowContact

G, H = 9.81, 0.005
FLOOR = Plane((0, 0, 0), (0, 0, 1))


def run(world, state, steps, method=None, h=H):
    method, memory, done = method or LinearlyImplicit(), None, []
    for _ in range(steps):
        step = method.step(world, state, h, memory)
        assert step.reports[0].converged, step.reports[0].message
        state, memory = step.state, step.memory
        done.append(step)
    return done


def test_a_stack_of_boxes_stands():
    """Boxes across each other touch with edges; each floor carries what is above it: 1 + ... + 4 weights."""
    made = [
        rigid_block((0.01 * k, 0.013 * k, 0.051 + 0.101 * k), (0.2, 0.2, 0.1), gravity=(0, 0, -G)) for k in range(4)
    ]
    parts, states, meshes = zip(*made, strict=True)
    world = Sided(parts, contact(meshes, [FLOOR], mu=0.4, thickness=1e-3, edges=True))
    last = run(world, stacked(*states), 60)[-1]
    assert last.memory.part.pressed.sum() / H == pytest.approx(10 * parts[0].total_mass * G, rel=1e-8)
    assert np.abs(last.state.q - stacked(*states).q).max() < 1e-9


def test_soft_on_rigid_comes_to_rest():
    """At rest the floor carries both, the block the cube."""
    soft, s, mesh = soft_cube((-0.1, -0.1, 0.1), gravity=(0, 0, -G))
    block, r, hull = rigid_block((0.03, 0.02, 0.05), (0.3, 0.3, 0.1), gravity=(0, 0, -G))
    world = Sided([soft, block], contact([mesh, hull], [FLOOR], mu=0.5, thickness=1e-4))
    last = run(world, stacked(s, r), 120, h=0.02)[-1]
    expected = (2 * soft.total_mass + block.total_mass) * G
    assert last.memory.part.pressed.sum() / 0.02 == pytest.approx(expected, rel=1e-6)
    assert np.abs(last.state.v).max() < 1e-6


@pytest.mark.parametrize("mu", [0.15, 0.8])
def test_a_ball_on_an_incline_rolls_or_slides(mu):
    """Rolling with 5/7 g sin a where mu >= 2/7 tan a, else sliding with g (sin a - mu cos a)."""
    angle = np.arctan(0.7)
    g = (G * np.sin(angle), 0.0, -G * np.cos(angle))
    ball = ArticulatedSystem([Link(Free3D(), sphere(0.1, 1000.0))], constraints=[FloorContact(0, mu=mu)], gravity=g)
    q = np.array([0, 0, 0.1 - 1e-6, 0, 0, 0.0])
    last = run(ball, State(q, np.zeros(6)), 200, h=1e-3)[-1]
    rolls = mu >= 2 / 7 * np.tan(angle)
    a = 5 / 7 * G * np.sin(angle) if rolls else G * (np.sin(angle) - mu * np.cos(angle))
    assert last.state.v[0] == pytest.approx(0.2 * a, rel=1e-3)
    assert last.work["friction"] <= 0.0


@pytest.mark.parametrize("rising", [0.5, -0.5])
def test_a_block_on_a_lift_moves_with_it(rising):
    """It starts and stops when the lift does, and rests on its surface all the time, where it used to sink 4 h v in."""
    g = 400.0  # enough to follow the lift at once
    block, state, hull = rigid_block((0, 0, 0.1), gravity=(0, 0, -g))
    ride = Keyframes((0.0, 10 * H, 20 * H), ((0, 0, 0), (0, 0, 10 * H * rising), (0, 0, 10 * H * rising)))
    lift = Box((0, 0, -0.5), (1, 1, 1), motion=ride)
    world = Sided([block], contact([hull], [lift], gravity=g))
    steps = run(world, state, 20)
    speeds = np.repeat([rising, 0.0], 10)
    assert np.allclose([s.state.v[2] for s in steps], speeds, atol=1e-8)
    assert np.allclose([s.state.q[2] for s in steps], 0.1 + H * np.cumsum(speeds), atol=1e-10)


class Breaking:
    """A part that may only go a third of any step at a time."""

    def __init__(self, inner):
        self.inner = inner

    def prepare(self, state, h, memory, how):
        return Cut(self.inner.prepare(state, h, memory, how), h, H)


class Cut:
    def __init__(self, inner, h, whole):
        self.inner, self.block, self.finish = inner, inner.block, inner.finish
        self.most = whole / 3

    def reach(self, u, h):
        return min(h, self.most * (1 + 1e-9))


def test_a_step_that_is_cut_short_is_completed():
    """Three thirds: the state of three steps of h/3, and the work of all of them."""
    soft, s, _ = soft_cube(velocity=(1.0, 0, 0), gravity=(0, 0, -G))
    cut = LinearlyImplicit().step(Breaking(soft), s, H)
    assert cut.state.t == pytest.approx(H) and len(cut.reports) == 3
    fall = -G * H  # of every vertex, whatever the pieces
    assert np.allclose(cut.state.v.reshape(-1, 3), [1.0, 0.0, fall], atol=1e-9)


@pytest.mark.parametrize("matrix", [Sparse(), MatrixFree(1e-13)])
def test_loops_close_whatever_the_matrix_is(matrix):
    scene = NUMBERED[4]()
    states = [LinearlyImplicit(matrix=m).step(scene.system(), scene.initial(), scene.h).state for m in (None, matrix)]
    assert np.abs(states[0].v - states[1].v).max() < 1e-7 * max(np.abs(states[0].v).max(), 1.0)


def test_what_cannot_be_is_refused():
    with pytest.raises(SceneError, match="thickness"):
        RowContact(edges=True, thickness=0.0)
    with pytest.raises(SceneError, match="gamma"):
        RowContact(gamma=2.0)
    block, state, _ = rigid_block()
    with pytest.raises(SceneError, match="does not form its matrix.*Dense"):
        LinearlyImplicit(matrix=MatrixFree()).step(Sided([block, block]), stacked(state, state), H)
    with pytest.raises(SceneError, match='variant "A"'):
        LinearlyImplicit(variant="B").step(block, state, H)
    with pytest.raises(SceneError, match="prepares no step"):
        LinearlyImplicit().step(object(), state, H)


def test_impulses_of_a_warm_start_are_those_of_a_cold_one():
    block, state, hull = rigid_block((0, 0, 0.1), velocity=(1.0, 0.2, 0), gravity=(0, 0, -G))
    world = Sided([block], contact([hull], [FLOOR], mu=0.3))
    first, second = run(world, state, 2)
    cold = LinearlyImplicit().step(world, first.state, H, replace(first.memory, solver=None))
    assert np.abs(cold.state.v - second.state.v).max() < 1e-9


def test_scenes_and_files_know_rows(tmp_path):
    """Described and read again, a scene with rows is the same; methods that would not see them are refused."""
    from pliant.bodies import Solid
    from pliant.integrators import BDF1
    from pliant.materials import StableNeoHookean
    from pliant.mesh import box
    from pliant.scene import Scene
    from pliant.scene_file.read import Reader
    from pliant.scene_file.write import Writer

    body = Solid(box((0.1, 0.1, 0.1), (1, 1, 1)), StableNeoHookean(1e5, 0.3), density=1000.0)
    with pytest.raises(SceneError, match="BDF1 does not support.*LinearlyImplicit"):
        Scene([body], contact=RowContact(), obstacles=[FLOOR], integrator=BDF1())
    for family, choice in (
        ("contact", RowContact(mu=0.7, edges=True)),
        ("integrator", LinearlyImplicit(0.5, matrix=MatrixFree(1e-9))),
    ):
        assert Reader(tmp_path).make(family, Writer().choice(choice), family) == choice


@pytest.mark.parametrize("qp", [None, ActiveSet()])
@pytest.mark.parametrize("mu", [0.0, 0.3])
def test_a_step_after_a_checkpoint_is_the_same_to_the_last_bit(tmp_path, mu, qp):
    """Warm starts are part of what a run continues from."""
    soft, s, mesh = soft_cube((-0.1, -0.1, 0.1002), gravity=(0, 0, -G), velocity=(0.3, 0, 0))
    block, r, hull = rigid_block((0.03, 0.02, 0.0501), (0.3, 0.3, 0.1), gravity=(0, 0, -G))
    world = Sided([soft, block], contact([mesh, hull], [FLOOR], mu=mu, thickness=1e-4))
    method = LinearlyImplicit(qp=qp)
    last = run(world, stacked(s, r), 4, method)[-1]
    save(tmp_path / "point.npz", Checkpoint(4, last.state, last.memory))
    point = load(tmp_path / "point.npz")
    go_on, resumed = (method.step(world, p.state, H, p.memory).state for p in (last, point))
    assert np.array_equal(go_on.q, resumed.q) and np.array_equal(go_on.v, resumed.v)


def test_what_turns_together_does_not_slip():
    """A vertex above a triangle, both in one rigid motion: no slip though they are apart, and no torque of friction."""
    import scipy.sparse as sp

    from pliant.contact.contacts import Contacts
    from pliant.systems.coupling_rows import Touches, contact_slip

    rng = np.random.default_rng(7)
    x = rng.normal(size=(4, 3))
    n = np.cross(x[2] - x[1], x[3] - x[1])
    n /= np.linalg.norm(n)
    w = np.array([0.2, 0.3, 0.5])
    x[0] = w @ x[1:] + 0.4 * n
    contacts = Contacts(
        np.arange(4)[None],
        np.array([[1.0, *-w]]),
        n[None],
        np.array([0.4]),
        np.zeros((1, 3)),
        np.zeros((1, 3, 3)),
        np.ones(1, int),
        np.array([[1, 2, 3]]),
    )
    T = contact_slip(Touches(contacts, np.array([0.5])), x, sp.identity(12, format="csr"), np.zeros(12), 0).T.toarray()
    v = rng.normal(size=3) + np.cross(rng.normal(size=3), x)
    assert np.abs(T @ v.ravel()).max() < 1e-12
    for f in T.reshape(2, 4, 3):
        assert np.abs(f.sum(axis=0)).max() < 1e-12 and np.abs(np.cross(x, f).sum(axis=0)).max() < 1e-12
    sliding = np.zeros((4, 3))
    sliding[0] = x[2] - x[1]
    assert np.linalg.norm(T @ sliding.ravel()) == pytest.approx(np.linalg.norm(sliding[0]))


def test_a_slider_that_is_met_from_the_side_too_is_pushed_along_its_axis():
    """Contacts at the rim of the piston push across the axis, along which nothing moves: their rows say nothing."""
    motion = Shake((0.2, 0.0, 0.0), 0.5)
    piston = Cylinder((-0.35, 0.03, 0.02), (1.0, 0.0, 0.0), 0.04, 0.2, motion)
    slider = Articulated([Link(Prismatic(np.array([1.0, 0.0, 0.0])), cuboid((0.4, 0.5, 0.5), 200.0))])
    options = {"contact": RowContact(mu=0.3), "obstacles": [piston], "gravity": (0.0, 0.0, 0.0)}
    *_, last = simulate(Scene([slider], LinearlyImplicit(), h=1e-3, duration=0.5, **options))
    met = np.arcsin(0.25) / np.pi  # [s], when the piston has gone the 5 cm between them; it brakes ever after
    assert last.state.q[0] == pytest.approx(0.2 * np.pi * np.cos(np.pi * met) * (0.5 - met), rel=5e-3)

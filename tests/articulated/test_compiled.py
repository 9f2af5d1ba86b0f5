"""The compiled passes against the general way, on random trees of all joints they cover."""

import numpy as np
import pytest

from pliant.articulated import ArticulatedSystem, Dense, Link, cuboid
from pliant.articulated.constraints import JointLimit
from pliant.articulated.forces import BodyDamping, Explicit, JointSpring, JointTorque, PointSprings
from pliant.articulated.joints import Prismatic, Revolute, Spherical, SplineCurve, examples
from pliant.articulated.kinds import KINDS
from pliant.articulated.se3 import frame, rotation
from pliant.integrators import BDF2, LinearlyImplicit
from pliant.solvers import Newton
from pliant.solvers.base import Tolerance
from pliant.state import State

COVERED = [joint for joint in examples() if type(joint) in KINDS]


def somewhere(rng):
    return frame(rotation(rng.normal(size=3), rng.uniform(0.0, 2.0)), rng.normal(size=3))


def random_system(seed, joints=COVERED, links=8, extra=()):
    """Every covered joint in turn on random parents, with springs, dampers, torques and damped bodies."""
    rng = np.random.default_rng(seed)
    parts, forces = [], [BodyDamping(0.3), BodyDamping(0.2, 0), *extra]
    for i in range(links):
        joint = joints[(seed + i) % len(joints)]
        if isinstance(joint, Revolute | Prismatic):
            joint = type(joint)(rng.normal(size=3))
        body = cuboid(rng.uniform(0.5, 2.0, 3), 1.0, somewhere(rng))
        armature = 0.0 if joint.exponential else 0.2 * (i % 3)
        parts.append(Link(joint, body, int(rng.integers(i)) if i else None, somewhere(rng), armature=armature))
        if joint.dof and rng.uniform() < 0.7:
            forces.append(JointSpring(i, rng.uniform(0.0, 5.0), rng.uniform(0.0, 1.0), rng.normal(size=joint.dof)))
        if joint.dof and not joint.exponential:
            forces.append(JointTorque(i, lambda t, k=i: np.sin(t + k)))
    system = ArticulatedSystem(parts, forces)
    return system, State(rng.normal(size=system.tree.dof), rng.normal(size=system.tree.dof), 0.3)


def apart(a, b):
    return np.abs(a - b).max() / np.abs(b).max()


@pytest.mark.parametrize("seed", range(len(COVERED)))
@pytest.mark.parametrize("kind", [float, complex])
def test_kinematics_are_those_of_the_general_way(seed, kind):
    system, state = random_system(seed)
    q = state.q + (0.3j if kind is complex else 0.0) * state.v
    quick, general = (of(q, state.v) for of in (system.tree.kinematics, system.tree.batched_kinematics))
    for name in ("joint_frames", "frames", "R", "p", "B", "Bdot", "twists", "bias"):
        a, b = getattr(quick, name), getattr(general, name)
        assert a.dtype == b.dtype == kind
        assert abs(a - b).max() < 1e-13 * max(abs(b).max(), 1.0)


@pytest.mark.parametrize("seed", range(len(COVERED)))
@pytest.mark.parametrize("beta", [1.0, 0.5])
def test_a_step_is_that_of_the_general_way(seed, beta):
    system, state = random_system(seed)
    assert system.ordinary is not None
    quick, general = (LinearlyImplicit(beta, matrix=m).step(system, state, 0.02) for m in (None, Dense()))
    assert apart(quick.state.v, general.state.v) < 1e-11 and apart(quick.state.q, general.state.q) < 1e-11
    assert quick.reports[0].residual < 1e-12 and quick.reports[0].converged
    assert set(quick.work) == set(general.work) and quick.state.t == general.state.t


def test_many_steps_through_changes_of_charts():
    """Balls that turn more than once."""
    bar = cuboid((0.5, 0.4, 0.3), 100.0, frame(p=(0.1, 0.0, 0.0)))
    links = [Link(Spherical(), bar), Link(Spherical(), bar, 0, frame(p=(0.3, 0.0, 0.0)))]
    springs = [JointSpring(0, 0.2, 0.1, np.array([0.0, 1.0, 0.0]))]
    system = ArticulatedSystem(links, springs, gravity=(0, 0, -0.1))
    quick = general = State(np.array([2.0, 0.0, 0.0, 0.0, 0.1, 0.0]), np.array([9.0, 0.5, 0.0, -6.0, 0.0, 0.3]))
    jumps = 0
    for _ in range(300):
        before, quick = quick, LinearlyImplicit().step(system, quick, 0.005).state
        general = LinearlyImplicit(matrix=Dense()).step(system, general, 0.005).state
        jumps += np.abs(quick.q - before.q).max() > 1.0
    assert jumps > 0 and apart(quick.q, general.q) < 1e-8


@pytest.mark.parametrize("seed", range(len(COVERED)))
def test_accelerations_solve_the_inverse_dynamics(seed, monkeypatch):
    system, state = random_system(seed)
    a = system.acceleration(state.q, state.v, state.t)
    monkeypatch.setattr(ArticulatedSystem, "ordinary", None)
    missing = system.inverse_dynamics(state.q, state.v, a, state.t)
    assert np.abs(missing).max() < 1e-9 * np.abs(system.force(state.q, state.v, state.t)).max()


def test_what_is_not_ordinary_goes_the_general_way():
    spline = random_system(0, joints=[Revolute((0, 0, 1)), next(j for j in examples() if isinstance(j, SplineCurve))])[
        0
    ]
    cable = random_system(1, extra=[PointSprings([0], np.zeros(3), [3], np.ones(3), 10.0)])[0]
    explicit = random_system(1, extra=[Explicit(JointSpring(1, 1.0))])[0]
    assert spline.ordinary is None and cable.ordinary is None and explicit.ordinary is None


def test_a_joint_at_its_limit_is_held_and_let_go():
    """A pendulum that falls on a stop: compiled while it is free, held by the general way while it presses."""
    bar = cuboid((1.0, 0.1, 0.1), 100.0, frame(p=(0.5, 0.0, 0.0)))
    limited = ArticulatedSystem([Link(Revolute((0, 1, 0)), bar)], constraints=[JointLimit(0, upper=0.5)])
    state, reached = State(np.zeros(1), np.zeros(1)), []
    for _ in range(100):
        state = LinearlyImplicit().step(limited, state, 0.01).state
        reached.append(state.q[0])
    assert max(reached) < 0.52 and reached[-1] == pytest.approx(0.5, abs=1e-3) and abs(state.v[0]) < 0.01


def test_a_pulled_copy_feels_its_spring():
    system, state = random_system(3)
    before = LinearlyImplicit().step(system, state, 0.02).state
    pulled = system.pulled(0, np.array([5.0, 0.0, 0.0]), 1e3)
    assert pulled.ordinary is None and system.ordinary is not None
    assert apart(LinearlyImplicit().step(pulled, state, 0.02).state.v, before.v) > 1e-3


@pytest.mark.parametrize("seed", range(len(COVERED)))
def test_the_tangent_and_the_root_of_a_stage_are_those_of_the_general_way(seed, monkeypatch):
    system, state = random_system(seed)
    a, at = np.cos(np.arange(system.tree.dof)), (state.q, state.v)
    found = [system.inverse_dynamics(*at, a, state.t), system.weights(state.q)]
    found.append(system.tangent(*at, state.t, (0.7, 0.2, 0.3), psd=False, a=a).toarray())
    with monkeypatch.context() as general:
        general.setattr(ArticulatedSystem, "ordinary", None)
        expected = [system.inverse_dynamics(*at, a, state.t), system.weights(state.q)]
        expected.append(system.tangent(*at, state.t, (0.7, 0.2, 0.3), psd=False, a=a).toarray())
    assert all(apart(one, other) < 1e-12 for one, other in zip(found, expected, strict=True))
    method = BDF2(Newton(tolerance=Tolerance(1e-10, 1e-13)))
    quick = [s.state for s in steps(method, system, state, 3)]
    monkeypatch.setattr(ArticulatedSystem, "ordinary", None)
    general = [s.state for s in steps(method, system, state, 3)]
    assert apart(quick[-1].q, general[-1].q) < 1e-9


def steps(method, system, state, count, h=0.002):
    taken, memory = [], None
    for _ in range(count):
        step = method.step(system, state, h, memory)
        assert all(r.converged and r.residual <= r.tolerance for r in step.reports)
        state, memory = step.state, step.memory
        taken.append(step)
    return taken


@pytest.mark.parametrize("seed", range(len(COVERED)))
def test_the_books_are_those_of_the_general_way(seed, monkeypatch):
    system, state = random_system(seed)
    ask = lambda: (system.energies(*at), system.power(*at), *system.momenta(state.q, state.v))
    at = (state.q, state.v, state.t)
    quick = ask()
    monkeypatch.setattr(ArticulatedSystem, "ordinary", None)
    general = ask()
    for a, b in zip(quick[:2], general[:2], strict=True):
        assert a.keys() == b.keys() and apart(np.array([*a.values()]), np.array([*b.values()])) < 1e-11
    assert apart(quick[2], general[2]) < 1e-11 and apart(quick[3], general[3]) < 1e-11

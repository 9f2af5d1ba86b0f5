"""Joint friction: BISP against the plain step, against maximal staggered projections, against Coulomb."""

from dataclasses import replace

import numpy as np
import pytest
from articulated_samples import pendulum

from pliant.articulated import (
    BISP,
    ArticulatedSystem,
    Friction,
    Link,
    StaggeredProjections,
    cuboid,
    frictionless,
)
from pliant.articulated.constraints import FloorContact, ObstacleContact
from pliant.articulated.friction import refuse_friction
from pliant.articulated.joint_contacts import BoxJointContact, CylinderContact, DryFriction
from pliant.articulated.joints import Prismatic
from pliant.articulated.maximal import energies
from pliant.articulated.se3 import frame, rotation
from pliant.contact.obstacles import Plane
from pliant.errors import SceneError
from pliant.integrators import BDF2, LinearlyImplicit
from pliant.linear.box_qp import General, ProjectedNewton
from pliant.linear.qp import Clarabel
from pliant.scenes.redmax import NUMBERED, chain_with_friction, energy_change, run, smooth
from pliant.state import State


@pytest.mark.parametrize("seed", range(8))
def test_box_programmes_agree_with_a_general_solver(seed):
    rng = np.random.default_rng(seed)
    n = 24
    T = rng.normal(size=(n, 7))  # rank 7: semidefinite
    H, g, bound = T @ T.T, 3 * T @ rng.normal(size=7), rng.uniform(0, 0.5, n) * (rng.random(n) > 0.2)
    lo = np.where(rng.random(n) > 0.7, -np.inf, -bound)
    mine = ProjectedNewton().solve(H, g, lo, bound, np.zeros(n))
    other = General(Clarabel()).solve(H, g, lo, bound, np.zeros(n))
    value = lambda x: 0.5 * x @ H @ x - g @ x
    assert mine.converged and np.all(mine.x <= bound) and np.all(mine.x >= lo)
    assert value(mine.x) <= value(other.x) + 1e-7 * abs(value(other.x))


def test_without_friction_bisp_is_the_plain_step_and_the_printed_algorithm_is_not():
    scene = NUMBERED[27]()
    plain = run(smooth(scene), integrator=LinearlyImplicit(), steps=50)[-1].state
    corrected = run(scene, integrator=BISP(Friction(0.0)), steps=50)[-1].state
    printed = run(scene, integrator=BISP(Friction(0.0), published=True), steps=50)[-1].state
    assert np.allclose(corrected.v, plain.v, atol=1e-9 * np.abs(plain.v).max())
    assert np.abs(printed.v - plain.v).max() > 1e-3 * np.abs(plain.v).max()


def test_bisp_agrees_with_staggered_projections_in_maximal_coordinates():
    scene = replace(NUMBERED[27](), h=2.5e-3)
    H = energy_change(scene, run(scene, integrator=BISP(Friction(0.6)))[-1].state)
    steps = run(scene, integrator=StaggeredProjections(Friction(0.6), unilateral=False))
    H_max = sum(energies(scene.system(), steps[-1].memory.bodies).values())
    H_max -= scene.system().energies(scene.initial().q, scene.initial().v, 0)["gravity"]
    assert abs(H / H_max - 1) < 1e-4


def test_unilateral_contacts_hold_a_joint_together():
    scene = replace(NUMBERED[27](), h=5e-3)
    bilateral, unilateral = (
        run(scene, integrator=StaggeredProjections(Friction(0.6), unilateral=u), steps=60)[-1].state
        for u in (False, True)
    )
    assert np.allclose(bilateral.q, unilateral.q, atol=2e-2)


def test_friction_takes_energy_and_respects_its_limits():
    scene = chain_with_friction(0.5, 4)
    steps = run(scene, steps=80)
    for before, after in zip(steps, steps[1:], strict=False):
        kin = scene.system().kinematics(before.state.q, before.state.v)
        m = after.memory
        work = float(np.sum(m.friction * kin.apply(after.state.v)))
        assert work <= 1e-9 * scene.system().energies(after.state.q, after.state.v, 0)["kinetic"] / scene.h + 1e-12
        assert np.all(np.abs(m.beta) <= m.limits)
        assert after.reports[0].converged
        reaction = np.abs(kin.apply_transpose(m.reaction)).max()
        assert reaction <= 1e-8 * np.abs(m.reaction).max()


@pytest.mark.parametrize(("mu", "slides"), [(0.5, True), (0.7, False)])
def test_a_slider_slips_when_the_slope_exceeds_mu(mu, slides):
    """Slope of 30 degrees, tan = 0.577. A slider loaded through its center presses with m g cos(30)."""
    body = cuboid((1.0, 1.0, 1.0), 100.0)
    link = Link(Prismatic((1, 0, 0)), body, None, frame(rotation((0, 1, 0), np.pi / 6)))
    contact = BoxJointContact(0, np.array([1.0, 1.0, 1.0]))
    system = ArticulatedSystem([link], contacts=[contact])
    state, memory, h = State(np.zeros(1), np.zeros(1)), None, 5e-3
    for _ in range(100):
        step = BISP(Friction(mu)).step(system, state, h, memory)
        state, memory = step.state, step.memory
    expected = 9.81 * (np.sin(np.pi / 6) - mu * np.cos(np.pi / 6)) * state.t if slides else 0.0
    assert np.isclose(state.v[0], expected, rtol=2e-2, atol=1e-6)


def test_dry_friction_decelerates_by_its_torque():
    force = 3.0
    system = pendulum(1, gravity=(0, 0, 0), dry_friction=[DryFriction(0, force)])
    state, h = State(np.zeros(1), np.array([1.0])), 1e-3
    inertia = system.mass(state.q).toarray()[0, 0]
    memory = None
    for _ in range(100):
        step = BISP().step(system, state, h, memory)
        state, memory = step.state, step.memory
    assert np.isclose(state.v[0], max(1.0 - force / inertia * 0.1, 0.0), atol=1e-6)


def test_a_larger_joint_stops_earlier():
    at_rest = []
    for radius in (0.5, 1.0):
        v = np.abs([s.state.v for s in run(chain_with_friction(radius, 3))])
        at_rest.append(np.flatnonzero(v.max(axis=1) > 1e-2).max())
    assert at_rest[1] < at_rest[0]


def test_bad_friction_is_named():
    with pytest.raises(SceneError, match="mu"):
        Friction(-0.1)
    with pytest.raises(SceneError, match="its joint is Spherical"):
        scene = NUMBERED[28]()
        ArticulatedSystem(scene.system().tree.links, contacts=[CylinderContact(0, 1.0, 1.0)])
    with pytest.raises(SceneError, match="DryFriction on '0'"):
        pendulum(1, dry_friction=[DryFriction(0, -1.0)])
    with pytest.raises(SceneError, match="DryFriction on '0', force: '2 N m' is not"):
        pendulum(1, dry_friction=[DryFriction(0, "2 N m")])


def test_friction_that_a_method_would_ignore_is_refused_by_name():
    hinges, ground = NUMBERED[30]().system(), NUMBERED[31]().system()
    floor = replace(ground.constraints[0], mu=0.4)
    links = ground.tree.links
    for system, named in (
        (hinges, "joint of 'link1'"),
        (ArticulatedSystem(links, contacts=[CylinderContact(1, 1.0, 1.0, mu=0.2)]), "joint of 'link1'"),
        (ArticulatedSystem(links, constraints=[floor]), "FloorContact of 'link2' has friction mu = 0.4"),
        (pendulum(1, dry_friction=[DryFriction(0, 3.0)]), "DryFriction of 3 on 'link0'"),
    ):
        with pytest.raises(SceneError, match=named) as error:
            refuse_friction(system, "BDF1")
        assert "BDF1" in str(error.value) and "BISP" in str(error.value)
        refuse_friction(frictionless(system), "BDF1")
    refuse_friction(ArticulatedSystem(links, contacts=[CylinderContact(1, 1.0, 1.0, mu=0.0)]), "BDF1")
    lost = sum(s.work["friction"] for s in run(smooth(NUMBERED[30]()), integrator=BISP(), steps=20)[1:])
    assert lost == 0.0
    for method in (LinearlyImplicit(), BDF2()):
        with pytest.raises(SceneError, match=f"{type(method).__name__} with .*friction in the joint"):
            replace(NUMBERED[30](), integrator=method).system()


def test_strong_friction_on_a_floor_does_not_cycle():
    scene = NUMBERED[33]()
    steps = run(scene, integrator=BISP(Friction(0.8, 0.8)), steps=60)[1:]
    assert all(s.reports[0].converged for s in steps)
    assert max(s.reports[0].iterations for s in steps) < 40


def test_a_smooth_scene_has_no_friction_on_any_kind_of_obstacle():
    rough = FloorContact(2, mu=0.4), ObstacleContact(2, Plane(), mu=0.4)
    scene = NUMBERED[31]()
    scene = replace(scene, bodies=[replace(scene.bodies[0], constraints=rough)])
    assert [c.mu for c in smooth(scene).bodies[0].constraints] == [0.0, 0.0]
    with pytest.raises(SceneError, match="ObstacleContact of 'link2' has friction mu = 0.4"):
        refuse_friction(ArticulatedSystem(scene.bodies[0].links, constraints=rough[1:]), "BDF1")

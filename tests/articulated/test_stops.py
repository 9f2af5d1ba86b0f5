"""Joint limits as springs, where the method sees no inequalities."""

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.articulated import ArticulatedSystem, Link, at, cuboid
from pliant.articulated.constraints import FloorContact, JointLimit
from pliant.articulated.forces import JointSpring, JointStop
from pliant.articulated.joints import Revolute
from pliant.errors import SceneError
from pliant.state import State

ROD = cuboid((0.4, 0.04, 0.04), 500.0, at(0.2, 0.0, 0.0))  # 0.32 kg, its middle 0.2 m from the hinge
PULL = 0.4 * 0.04 * 0.04 * 500.0 * 9.81 * 0.2  # N m of its weight when it lies flat
URDF = """<robot name="arm"><link name="base"/>
<link name="rod"><inertial><origin xyz="0.2 0 0"/><mass value="0.32"/>
<inertia ixx="1e-4" iyy="4e-3" izz="4e-3" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0.2 0 0"/><geometry><box size="0.4 0.04 0.04"/></geometry></collision></link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/><origin xyz="0 0 0.1"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="0.2" effort="1" velocity="1"/></joint></robot>"""


def arm(**options):
    return pl.Articulated([Link(Revolute((0, 1, 0)), ROD)], name="arm", **options)


@pytest.mark.parametrize("method", [pl.BDF1(), pl.BDF2(), pl.TRBDF2(), pl.Adaptive(pl.BDF2(), 1e-4)])
def test_a_rod_comes_to_rest_on_its_limit_where_the_spring_carries_it(method):
    k = 200.0
    body = arm(constraints=[JointLimit(0, upper=0.3, stiffness=k)], forces=[JointSpring(0, damping=1.0)])
    *_, last = pl.simulate(pl.Scene([body], integrator=method, h=5e-3, duration=2.0))
    q = last.state.q[0]
    assert k * (q - 0.3) == pytest.approx(PULL * np.cos(q), rel=1e-3)
    assert last.ledger.energies["elastic"] == pytest.approx(0.5 * k * (q - 0.3) ** 2, rel=1e-9)


def test_springs_and_inequalities_hold_a_rod_at_the_same_place():
    rests = {}
    for method in (pl.LinearlyImplicit(), pl.BDF1()):
        *_, last = pl.simulate(pl.Scene([arm(constraints=[JointLimit(0, upper=0.3)])], integrator=method, h=2e-3))
        rests[type(method)] = last.state.q[0]
    assert rests[pl.LinearlyImplicit] == pytest.approx(0.3, abs=1e-3)
    assert rests[pl.BDF1] == pytest.approx(0.3, abs=1e-3) and rests[pl.BDF1] > 0.3


@pytest.mark.parametrize("method", [pl.RK4(), pl.Verlet(), pl.BDF1()])
def test_a_joint_goes_about_a_step_beyond_its_limit_at_its_default_stiffness(method):
    h, rate = 1e-3, 4.0
    body = arm(constraints=[JointLimit(0, upper=0.1)], v=[rate])
    steps = list(pl.simulate(pl.Scene([body], integrator=method, h=h, duration=0.1, gravity=(0, 0, 0))))
    farthest = max(s.state.q[0] for s in steps)
    assert 0.1 < farthest < 0.1 + 1.5 * h * rate
    assert steps[-1].state.v[0] < 0.0


def test_a_stop_gives_back_what_it_takes():
    body = arm(constraints=[JointLimit(0, -0.2, 0.2, stiffness=50.0)], v=[6.0])
    steps = list(pl.simulate(pl.Scene([body], integrator=pl.RK4(), h=5e-4, duration=0.5)))
    totals = np.array([s.ledger.total for s in steps])
    assert min(s.state.q[0] for s in steps) < -0.2 and max(s.state.q[0] for s in steps) > 0.2
    # the force has a kink, which a step of RK4 passes with an error of second order in its length
    assert np.ptp(totals) < 1e-4 * max(s.ledger.energies["kinetic"] for s in steps)


@pytest.mark.parametrize("q", [-0.9, 0.1, 0.8])
def test_compiled_passes_have_the_stops_of_the_general_way(q, monkeypatch):
    stops = [JointStop(0, -0.5, 0.5, 30.0), JointStop(1, upper=0.2, stiffness=7.0)]
    links = [Link(Revolute((0, 1, 0)), ROD), Link(Revolute((0, 0, 1)), ROD, 0, at(0.4, 0, 0))]
    system = ArticulatedSystem(links, stops)
    x, v, a = np.array([q, 0.3]), np.array([1.0, -2.0]), np.array([0.4, 0.7])
    asked = (
        lambda: system.inverse_dynamics(x, v, a, 0.0),
        lambda: system.tangent(x, v, 0.0, (1.0, 0.1, 0.01), psd=False, a=a).toarray(),
        lambda: system.acceleration(x, v, 0.0),
        lambda: np.array(list(system.energies(x, v, 0.0).values())),
        lambda: pl.LinearlyImplicit().step(system, State(x, v), 0.01).state.v,
    )
    assert system.ordinary is not None
    compiled = [ask() for ask in asked]
    monkeypatch.setattr(ArticulatedSystem, "ordinary", None)
    for found, ask in zip(compiled, asked, strict=True):
        assert np.allclose(found, ask(), rtol=1e-10, atol=1e-12)


def test_a_robot_with_limits_presses_on_a_soft_block():
    robot = pl.from_urdf(URDF, geometry="collision", q=[-0.3])
    block = pl.mesh.bar((0.1, 0.1, 0.02), (2, 2, 1)).transformed(translate=(0.3, -0.05, 0.0))
    soft = pl.Solid(block, pl.StableNeoHookean("50 kPa", 0.4), name="block")
    scene = pl.Scene(
        [soft, robot], contact=pl.PenaltyContact(), obstacles=[pl.Plane()], integrator=pl.BDF1(), h=5e-3, duration=0.6
    )
    steps = list(pl.simulate(scene))
    assert all(s.report.converged for s in steps)
    held = replace(scene, bodies=[robot])
    *_, alone = pl.simulate(held)
    assert alone.state.q[-1] == pytest.approx(0.2, abs=5e-3)  # by the limit
    assert steps[-1].state.q[-1] <= alone.state.q[-1] + 1e-9


def test_floors_of_links_are_refused_before_the_first_step():
    floor = FloorContact(0, np.zeros((1, 3)), 0.0)
    with pytest.raises(SceneError, match="BDF1 with 'arm': FloorContact is one-sided; use LinearlyImplicit"):
        pl.Scene([arm(constraints=[floor])], integrator=pl.BDF1()).system()


@pytest.mark.parametrize(
    "options, what",
    [({"lower": 1.0, "upper": 0.0}, "swap"), ({"stiffness": 0.0}, "> 0"), ({"coordinate": 1}, "has 1 coordinates")],
)
def test_stops_that_make_no_sense(options, what):
    with pytest.raises(SceneError, match=what):
        ArticulatedSystem([Link(Revolute((0, 1, 0)), ROD)], [JointStop(0, **options)])


def test_a_joint_that_starts_beyond_its_limit_is_not_thrown_back():
    body = arm(constraints=[JointLimit(0, 0.5, 1.0)])
    with pytest.raises(SceneError, match="it starts at 0, outside its limits 0.5 and 1; give q within them"):
        pl.Scene([body], integrator=pl.BDF1()).system()
    pl.Scene([replace(body, q=[0.7])], integrator=pl.BDF1()).system()

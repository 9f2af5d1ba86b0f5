"""Links touch obstacles of any shape, and each other, alone in their scene; with friction in their joints by rows."""

import numpy as np
import pytest

import pliant as pl
from pliant.articulated import BISP, ArticulatedSystem, Friction, Link, StaggeredProjections, at, cuboid
from pliant.articulated.constraints import ObstacleContact
from pliant.articulated.joint_contacts import CylinderContact
from pliant.articulated.joints import Prismatic, Revolute
from pliant.articulated.se3 import frame, rotation
from pliant.errors import SceneError
from pliant.integrators import BDF2, LinearlyImplicit
from pliant.mesh import box
from pliant.state import State

ROD = cuboid((0.04, 0.04, 0.5), 1000.0, at(0, 0, -0.25))
CUBE = box((0.3, 0.3, 0.3), (1, 1, 1)).transformed(translate=(-0.45, -0.15, -1.15))
OBSTACLES = [
    pl.Plane((0, 0, -0.8)),
    pl.Sphere((-0.2, 0, -0.9), 0.2),
    pl.Box((-0.3, 0, -1.0), (0.3, 0.3, 0.3)),
    pl.Cylinder((-0.2, 0, -0.9), (0, 1, 0), 0.2, 1.0),
    pl.TriangleObstacle(CUBE),
]


def arm(**options):
    links = [Link(Revolute((0, 1, 0)), ROD, name="a"), Link(Revolute((0, 1, 0)), ROD, "a", at(0, 0, -0.5), name="b")]
    return pl.Articulated(links, q=[1.2, 0.0], **options)


@pytest.mark.parametrize("obstacle", OBSTACLES, ids=lambda o: o.name)
def test_an_arm_alone_is_stopped_by_any_obstacle(obstacle):
    """It swings against the obstacle; without, its tip would pass through it."""
    scene = lambda **k: pl.Scene([arm()], integrator=LinearlyImplicit(), h=5e-3, duration=0.6, **k)
    lowest = lambda s: min(
        float(obstacle.distance(step.system.positions(step.state.q))[0].min()) for step in pl.simulate(s)
    )
    assert lowest(scene()) < -0.05
    assert lowest(scene(obstacles=[obstacle], contact=pl.RowContact(mu=0.3))) > -5e-3


@pytest.mark.parametrize("obstacle", OBSTACLES, ids=lambda o: o.name)
@pytest.mark.parametrize("method", [BISP(Friction(0.3, 0.3)), StaggeredProjections(Friction(0.3, 0.3))])
def test_rows_of_obstacles_with_friction_in_the_joints(obstacle, method):
    touch = [ObstacleContact(link, obstacle) for link in ("a", "b")]
    body = arm(contacts=[CylinderContact(k, 0.02, 0.02) for k in ("a", "b")], constraints=touch, baumgarte=50.0)
    system = body.system()
    state, memory, least = State(system.rest, np.zeros(2)), None, np.inf
    for _ in range(100):
        step = method.step(system, state, 5e-3, memory)
        assert all(r.converged for r in step.reports) and step.work["friction"] <= 1e-9
        state, memory = step.state, step.memory
        least = min(least, float(obstacle.distance(system.positions(state.q))[0].min()))
    assert -0.04 < least < 0.0  # rows act from where it touches on: one step at full speed goes in by 3 cm


def test_a_block_on_a_slope_slips_where_it_should():
    """tan(20 deg) = 0.364: it stays with mu = 0.45, and slides by g (sin - mu cos) t^2 / 2 with mu = 0.2."""
    slope = pl.Plane((0.0, 0.0, 0.0), (np.sin(0.349), 0.0, np.cos(0.349)))
    block = cuboid((0.4, 0.3, 0.1), 500.0)
    turn = frame(rotation((0, 1, 0), 0.349))
    base = turn @ at(0.0, 0.0, 0.05)
    way = {}
    for mu in (0.45, 0.2):
        links = [
            Link(Prismatic((1, 0, 0)), cuboid((0.01, 0.01, 0.01), 1e-3), frame=base, name="rail"),
            Link(Prismatic((0, 0, 1)), block, "rail", name="block"),
        ]
        touch = ObstacleContact("block", slope, mu=mu)
        system = ArticulatedSystem(links, constraints=[touch])
        state, memory = State(np.zeros(2), np.zeros(2)), None
        for _ in range(100):
            step = BISP(Friction(0.0)).step(system, state, 5e-3, memory)
            state, memory = step.state, step.memory
        way[mu] = state.q[0]
    slides = 0.5 * 9.81 * (np.sin(0.349) - 0.2 * np.cos(0.349)) * 0.5**2
    assert abs(way[0.45]) < 1e-3 and way[0.2] == pytest.approx(slides, rel=0.05)


def test_links_touch_each_other_but_not_their_neighbours():
    """A chain of four that is folded up: the last link meets the first, unless self contact is off."""
    links = [
        Link(Revolute((0, 1, 0)), ROD, k - 1 if k else None, at(0, 0, -0.5 if k else 0.0), f"{k}") for k in range(3)
    ]
    ends = {}
    for on in (False, True):
        body = pl.Articulated(links, q=[0.0, 2.2, 1.2], v=[0.0, 0.0, 6.0], self_contact=on)
        scene = pl.Scene(
            [body], integrator=LinearlyImplicit(), contact=pl.RowContact(), gravity=(0, 0, 0), h=2e-3, duration=0.2
        )
        touched = [step.report.contacts or 0 for step in pl.simulate(scene)]
        ends[on] = sum(touched)
    assert ends[False] == 0 and ends[True] > 0


def test_contact_between_links_keeps_the_angular_momentum():
    """It is internal: about the axis that the first link turns on freely, nothing acts from outside."""
    links = [
        Link(Revolute((0, 1, 0)), ROD, k - 1 if k else None, at(0, 0, -0.5 if k else 0.0), f"{k}") for k in range(3)
    ]
    body = pl.Articulated(links, q=[0.0, 2.2, 1.2], v=[0.0, 0.0, 6.0], self_contact=True)
    scene = pl.Scene(
        [body], integrator=LinearlyImplicit(), contact=pl.RowContact(), gravity=(0, 0, 0), h=5e-4, duration=0.2
    )
    steps = list(pl.simulate(scene))
    assert sum(s.report.contacts or 0 for s in steps) > 0
    spin = np.array([s.ledger.angular[1] for s in steps])
    assert np.ptp(spin) < 2e-2 * abs(spin[0])


def test_what_cannot_be_is_refused_in_a_line():
    with pytest.raises(SceneError, match="BISP does not step"):
        pl.Scene([arm()], integrator=BISP(), contact=pl.RowContact(), obstacles=[pl.Plane()])
    with pytest.raises(SceneError, match="never touch"):
        scene = pl.Scene(
            [arm(self_contact=True)], integrator=BDF2(), contact=pl.BarrierContact(), h=1e-3, duration=1e-3
        )
        scene.system()
    shaken = pl.Sphere(motion=pl.Phases((pl.Phase(0.0, 1.0, (0.0, 0.0, 1.0)),)))
    with pytest.raises(SceneError, match="moves"):
        arm(constraints=[ObstacleContact("a", shaken)]).system()

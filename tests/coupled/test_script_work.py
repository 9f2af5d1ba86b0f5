"""What scripts do through contacts and ties, against closed forms: a table that carries, lifts or drags a block."""

from dataclasses import dataclass

import numpy as np
import pytest

import pliant as pl
from pliant.maps.motions import Phase, Phases, Pose, Twist

G, MU, TIME = 9.81, 0.3, 0.1
THIN = 1e-4  # m, of contact
SIDES = (0.08, 0.08, 0.04)
MASS = 800.0 * 0.08 * 0.08 * 0.04
SPEED = 0.5  # m/s, of the belt


@dataclass(frozen=True)
class Launch:
    """A motion that starts at rest with a constant acceleration (3,) [m/s^2]."""

    acceleration: tuple[float, float, float]

    def positions(self, X, t):
        return X + self.pose(t).origin

    def pose(self, t):
        return Pose(np.eye(3), 0.5 * np.asarray(self.acceleration) * t * t)

    def twist(self, t):
        return Twist(np.asarray(self.acceleration) * t, np.zeros(3), np.zeros(3))


def work_of(m, acceleration):
    """What it takes to carry a mass along: m (a - g) . s."""
    a = np.asarray(acceleration)
    return m * float((a + [0.0, 0.0, G]) @ (0.5 * a * TIME**2))


def block(z, kind):
    mesh = pl.mesh.bar(SIDES, (1, 1, 1)).transformed(translate=(-0.04, -0.04, z))
    if kind == "rigid":
        return pl.Rigid(mesh, 800.0, name="block")
    return pl.Solid(mesh, pl.StableNeoHookean(1e6, 0.3), density=800.0, name="block")


def table(motion):
    return pl.Box(center=(0.0, 0.0, -0.1), size=(2.0, 1.0, 0.2), motion=motion, name="table")


def slab(motion):
    mesh = pl.mesh.bar((0.3, 0.3, 0.1), (1, 1, 1)).transformed(translate=(-0.15, -0.15, -0.1))
    pins = pl.Pin(np.arange(len(mesh.X)), motion)
    return pl.Solid(mesh, pl.StableNeoHookean(1e5, 0.3), pins=pins, density=1000.0, name="slab")


def works(scene):
    """The work of each kind, and the numerical dissipation, of a whole run."""
    steps = list(pl.simulate(scene))
    done = {name: sum(step.ledger.work[name] for step in steps) for name in steps[-1].ledger.work}
    return done, sum(step.ledger.numerical for step in steps)


@pytest.mark.parametrize("kind", ["rigid", "soft"])
@pytest.mark.parametrize("acceleration", [(1.0, 0.0, 0.0), (0.0, 0.0, 2.0)])
@pytest.mark.parametrize("pinned", [False, True])
def test_rows_book_what_a_moving_support_does(kind, acceleration, pinned):
    """By friction, and by pressing, as an obstacle and as vertices that a script holds."""
    motion = Launch(acceleration)
    bodies, obstacles = [block(THIN, kind)], [] if pinned else [table(motion)]
    bodies = [slab(motion), *bodies] if pinned else bodies
    contact = pl.RowContact(mu=MU, thickness=THIN)
    scene = pl.Scene(
        bodies, obstacles=obstacles, contact=contact, integrator=pl.LinearlyImplicit(), h=1e-3, duration=TIME
    )
    done, lost = works(scene)
    expected = work_of(MASS + (9.0 if pinned else 0.0), acceleration)  # the slab is carried by its own script
    assert np.isclose(done["scripts"], expected, rtol=0.01)
    assert abs(lost) < 0.03 * work_of(MASS, acceleration) + (0.02 * work_of(9.0, acceleration) if pinned else 0.0)


def test_rows_book_a_belt_and_the_heat_it_makes():
    """A belt of constant speed works mu m g V t; what the block does not take is lost in friction."""
    motion = Phases((Phase(0.0, 9.0, (SPEED, 0.0, 0.0)),))
    contact = pl.RowContact(mu=MU, thickness=THIN)
    options = {"contact": contact, "integrator": pl.LinearlyImplicit(), "h": 1e-3, "duration": TIME}
    done, lost = works(pl.Scene([block(THIN, "rigid")], obstacles=[table(motion)], **options))
    given = MU * MASS * G * SPEED * TIME
    assert np.isclose(done["scripts"], given, rtol=1e-3)
    assert np.isclose(done["friction"], 0.5 * MASS * (MU * G * TIME) ** 2 - given, rtol=0.01)
    assert abs(lost) < 0.01 * given


@pytest.mark.parametrize(
    ("integrator", "close"),
    [(pl.LinearlyImplicit(), 0.02), (pl.BDF1(), 0.02), (pl.BDF2(), 1e-3), (pl.TRBDF2(), 1e-3)],
    ids=lambda choice: type(choice).__name__,
)
def test_scripts_carry_what_is_tied_to_the_vertices_they_hold(integrator, close):
    """The weight and inertia of a rigid load that hangs from a scripted slab."""
    acceleration = (1.0, 0.0, 2.0)
    held = slab(Launch(acceleration))
    load = pl.Rigid(held.mesh.transformed(translate=(0.0, 0.0, -0.1)), 500.0, name="load")
    below = np.flatnonzero(held.mesh.X[:, 2] < -0.099)
    ties = [pl.Attachment("slab", below, "load")]
    scene = pl.Scene([held, load], attachments=ties, integrator=integrator, h=1e-3, duration=TIME)
    done, lost = works(scene)
    expected = work_of(9.0 + 4.5, acceleration)
    assert np.isclose(done["scripts"], expected, rtol=close)
    assert abs(lost) < close * expected


def test_the_first_stage_of_trbdf2_knows_how_scripts_accelerate_what_is_tied():
    """Its trapezoidal rule starts from the acceleration of the load, which is that of the script, not 0."""
    held = slab(Launch((1.0, 0.0, 2.0)))
    load = pl.Rigid(held.mesh.transformed(translate=(0.0, 0.0, -0.1)), 500.0, name="load")
    below = np.flatnonzero(held.mesh.X[:, 2] < -0.099)
    scene = pl.Scene([held, load], attachments=[pl.Attachment("slab", below, "load")], integrator=pl.TRBDF2(), h=1e-3)
    system = scene.system()
    start = scene.initial(system)
    a = system.acceleration(start.q, start.v, 0.0)
    moved = (system.point_jacobian(start.q) @ a).reshape(-1, 3)[len(held.mesh.X) :]
    assert np.allclose(moved, [1.0, 0.0, 2.0], atol=1e-4)

"""The contact forces that steps tell are those that acted: in records too."""

from dataclasses import replace

import numpy as np
import pytest

from pliant.bench.contact.force import METHODS, rate, scene
from pliant.integrators import LinearlyImplicit
from pliant.record import record
from pliant.record.output import Output
from pliant.simulate import simulate
from pliant.systems.coupled import Coupled
from pliant.systems.penalty_contact import PenaltyContact

G = 9.81


@pytest.mark.parametrize("name", METHODS)
def test_what_is_recorded_is_mass_times_acceleration(name, tmp_path):
    contact, method = METHODS[name]
    falling = scene("soft", contact(), method, seed=3, steps=8)
    system = falling.system()
    run = record(falling, tmp_path, output=Output(every=1, channels=("velocity", "contact_force", "friction_force")))
    m = system.nodal_mass.reshape(-1, 3)
    bodies = np.split(np.arange(len(m)), [len(m) // 3, 2 * len(m) // 3])
    frames, most = list(run.frames), 0.0
    velocities = [frame.point_values["velocity"] for frame in frames]
    for k, after in enumerate(frames[1:], 1):
        values = after.point_values
        f = values["contact_force"] + values["friction_force"]
        ma = m * rate(method, velocities[: k + 1]) + m * [0.0, 0.0, G]
        size = np.abs(f).sum() + G * m[:, 2].sum()
        for rows in bodies:
            assert np.abs(f[rows].sum(axis=0) - ma[rows].sum(axis=0)).max() < 1e-9 * size
        most = max(most, np.abs(f).sum())
    assert most > G * m[:, 2].sum()


def test_pairs_push_each_other_alike():
    contact, method = METHODS["barrier, BDF1"]
    pairs = [step.acted.pairs for step in simulate(scene("soft and rigid", contact(), method, seed=1, steps=8))]
    assert any(("body 0", "body 1") in each for each in pairs) and any(("floor", "body 0") in each for each in pairs)
    for each in pairs:
        for (a, b), f in each.items():
            assert np.abs(f + each[b, a]).max() <= 1e-12 * max(np.abs(f).max(), 1.0)


LINEARISED = {
    "lagged": PenaltyContact(mu=0.4, damping=0.2),
    "not lagged": PenaltyContact(mu=0.4, lagged=False),
    "anchored": PenaltyContact(mu=0.4, anisotropy=0.3),
}


@pytest.mark.parametrize("kind", ["soft", "soft and rigid"])
@pytest.mark.parametrize("name", LINEARISED)
def test_pairs_of_a_linearised_step_add_up_to_the_forces_on_every_body(kind, name):
    """What a body gets from all others is the sum of the forces on its points, and each pushes back alike."""
    falling, most = scene(kind, LINEARISED[name], LinearlyImplicit(), seed=1, steps=10), 0.0
    for step in simulate(falling):
        pairs, forces, setting = step.acted.pairs, step.acted.contact + step.acted.friction, step.system.contact.setting
        rows = step.system.rows if isinstance(step.system, Coupled) else None  # of contact's points among all
        forces, size = forces if rows is None else forces[rows], max(np.abs(forces).sum(), 1.0)
        for k, body in enumerate(setting.names):
            on = sum((f for (_, b), f in pairs.items() if b == body), np.zeros(3))
            assert np.abs(on - forces[setting.body == k].sum(axis=0)).max() < 1e-12 * size
        assert all(np.abs(f + pairs[b, a]).max() < 1e-12 * size for (a, b), f in pairs.items())
        most = max([most, *(np.abs(f).max() for both, f in pairs.items() if "floor" not in both)])
    assert most > 1.0


@pytest.mark.parametrize("name", ["lagged penalty, SDIRK2", "lagged penalty, TRBDF2", "barrier, TRBDF2"])
def test_bodies_turn_nothing_but_each_other(name):
    """Without obstacles the torques of all contacts cancel; forces of several stages act where each had its points."""
    contact, method = METHODS[name]
    colliding, largest = replace(scene("soft", contact(), method, seed=3, steps=14), obstacles=[]), 0.0
    for step in simulate(colliding):
        if step.acted is not None:
            size = np.linalg.norm(np.cross(step.acted.x, step.acted.contact), axis=1).sum()
            largest = max(largest, size)
            assert all(np.abs(torque).max() <= 1e-12 * max(size, 1e-3) for torque in step.acted.torques())
    assert largest > 1.0

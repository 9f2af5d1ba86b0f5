"""The contact forces that steps tell are those that acted: in records too."""

from dataclasses import replace

import numpy as np
import pytest

from pliant.bench.contact.force import METHODS, rate, scene
from pliant.record import record
from pliant.record.output import Output
from pliant.simulate import simulate

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

"""Muscle and marionette: flesh, bones and cloth in one step, condensed and full."""

import numpy as np
import pytest

from pliant.articulated.system import ArticulatedSystem
from pliant.cloth.system import EolCloth
from pliant.integrators import BDF2, LinearlyImplicit
from pliant.scenes.world_marionette import marionette
from pliant.scenes.world_muscle import BONE, FORE, UPPER, muscle
from pliant.simulate import simulate
from pliant.systems.elastodynamics import Elastodynamics

QUICK = {"duration": 0.3, "layers": 8, "signal": ((0.05, 0.0), (0.25, 1.0)), "contact": None, "h": 5e-3}


def angles(scene):
    """Shoulder and elbow [degrees] after every step."""
    steps = list(simulate(scene))
    assert all(s.report.converged for s in steps)
    return np.degrees([s.state.q[-2:] for s in steps])


@pytest.fixture(scope="module")
def full():
    return angles(muscle(None, integrator=LinearlyImplicit(beta=0.5), **QUICK))


def test_a_condensed_muscle_moves_the_arm_as_a_full_one_the_more_nodes_the_better(full):
    assert np.ptp(full[:, 1]) > 20.0
    few, many = (abs(angles(muscle(n, **QUICK)) - full).max() for n in (1, 12))
    assert many < 0.7 * few
    assert many < 0.03 * np.ptp(full[:, 1])


def test_the_stage_moves_the_arm_as_the_velocity_step_does(full):
    """BDF2 has ties as closures met exactly; the velocity step is of first order, so the difference is one of h."""
    stage = angles(muscle(None, integrator=BDF2(), **QUICK))
    fine = angles(muscle(None, integrator=LinearlyImplicit(beta=0.5), **QUICK | {"h": 2.5e-3}))[1::2]
    assert abs(fine - stage).max() < 0.75 * abs(full - stage).max()


def test_springs_hold_flesh_as_ties_do_the_better_the_stiffer():
    tied, soft, stiff = (angles(muscle(3, stiffness=k, **QUICK)) for k in (None, 2e4, 2e5))
    assert 0.0 < abs(tied - stiff).max() < 0.2 * abs(tied - soft).max()
    assert abs(tied - stiff).max() < 0.01 * np.ptp(tied[:, 1])


def depth(step):
    """How deep a vertex of the flesh is inside the box of a bone [m]."""
    links, flesh = (next(k for k, p in enumerate(step.system.parts) if isinstance(p, kind)) for kind in (
        ArticulatedSystem, Elastodynamics))  # fmt: skip
    own = step.system.slices[links]
    frames = step.system.parts[links].kinematics(step.state.q[own], step.state.v[own]).frames
    x = step.system.parts[flesh].positions(step.state.q[step.system.slices[flesh]])
    bones = (((0.0, 0.0, -0.5 * UPPER), (BONE, BONE, UPPER)), ((0.5 * FORE, 0.0, 0.0), (FORE, BONE, BONE)))
    inside = [
        0.5 * np.array(sides) - abs((x - E[:3, 3]) @ E[:3, :3] - np.array(middle))
        for E, (middle, sides) in zip(frames, bones, strict=True)
    ]
    return max(0.0, *(d.min(axis=1).max() for d in inside))


def test_the_muscle_glides_along_the_bones_instead_of_through_them():
    options = {"duration": 0.6, "layers": 8}
    free, kept = (list(simulate(muscle(**options, **how))) for how in ({"contact": None}, {}))
    assert max(map(depth, free)) > 7e-3
    assert depth(free[-1]) > 7e-3
    assert max(map(depth, kept)) < 2e-3  # in the step in which it meets the bone
    assert depth(kept[-1]) < 2e-4


def test_the_marionette_draws_the_cloth_over_the_edge():
    """Every step converges, the hands keep the cloth, and it comes towards the puppet."""
    steps = list(simulate(marionette(cells=6, duration=0.35)))
    assert all(s.report.converged for s in steps)
    cloths = [next(k for k, part in enumerate(s.system.parts) if isinstance(part, EolCloth)) for s in steps]
    seen = [s.system.parts[k].positions(s.state.q[s.system.slices[k]]) for s, k in zip(steps, cloths, strict=True)]
    start, end = seen[0], seen[-1]
    assert end[:, 0].mean() - start[:, 0].mean() > 0.1
    assert max(abs(s.system.ties @ s.system.points.lift(s.state.q)).max() for s in steps) < 1e-3
    sliding = [np.hypot(x[:, 0], x[:, 2]).min() for x in seen[5:40]]
    assert max(sliding) < 2e-3  # vertices on the edge of the table, at x = z = 0, while the cloth lies over it
    on_table = end[(end[:, 0] < -0.01)]
    assert len(on_table) and on_table[:, 2].min() > -1e-3

"""Every exported energy, force, map, motion, obstacle, joint, articulated force and constraint, by differences."""

import sys
from pathlib import Path

import numpy as np
import pytest

from pliant.articulated.constraints import CONSTRAINTS
from pliant.articulated.forces import ARTICULATED_FORCES
from pliant.articulated.joints import examples
from pliant.choices import BODIES, CONTACTS
from pliant.contact import OBSTACLES
from pliant.energies import ENERGIES
from pliant.events import EVENTS
from pliant.forces import FORCES
from pliant.loads import LOADS
from pliant.maps.motions import MOTIONS
from pliant.maps.pins import MAPS, Pin, Pins
from pliant.maps.points import POINT_ENERGIES, POINT_FORCES
from pliant.testing import (
    check_articulated_force,
    check_constraint,
    check_energy,
    check_force,
    check_joint,
    check_map,
    check_motion,
    check_obstacle,
    check_point_map,
)

sys.path.append(str(Path(__file__).parents[1] / "articulated"))

import samples
from articulated_samples import pendulum, zoo

from pliant.testing import kinds

ENERGY_SAMPLES, FORCE_SAMPLES = samples.energies(), samples.forces()
name = lambda x: type(x[0] if isinstance(x, tuple) else x).__name__


def classes(sample):
    return {type(s[0] if isinstance(s, tuple) else s) for s in sample}


def test_every_exported_class_has_a_sample():
    system, q, v = pendulum(2), np.zeros(2), np.zeros(2)
    _, energy, force = samples.on_points(system, q, v)
    assert classes(ENERGY_SAMPLES) | {type(energy)} == {*ENERGIES, *POINT_ENERGIES}
    assert classes(FORCE_SAMPLES) | {type(force)} == {*FORCES, *POINT_FORCES}
    assert classes(samples.MOTIONS) == {*MOTIONS} and classes(samples.OBSTACLES) == {*OBSTACLES}
    assert classes(samples.TREE_FORCES) | {type(samples.EXPLICIT)} == {*ARTICULATED_FORCES}
    assert classes(samples.TREE_CONSTRAINTS) == {*CONSTRAINTS} and {*MAPS} == {Pins}


def test_every_body_contact_load_and_event_is_in_a_scene_of_the_pairwise_suite():
    scenes = [kind.build() for kind in kinds.KINDS.values()]
    assert {type(b) for s in scenes for b in s.bodies} == {*BODIES}
    assert {type(s.contact) for s in scenes if s.contact is not None} == {*CONTACTS}
    assert {type(f) for s in scenes for f in s.forces} == {*LOADS}
    assert {type(e) for s in scenes for e in s.events} == {*EVENTS}


@pytest.mark.parametrize("sample", ENERGY_SAMPLES, ids=name)
def test_energy(sample):
    energy, x, dim, changing = sample
    check_energy(energy, x, dim=dim, changing=changing, eps=1e-7 if changing else 1e-6, tolerance=2e-6)


@pytest.mark.parametrize("sample", FORCE_SAMPLES, ids=name)
def test_force(sample):
    force, x, v, exact = sample
    check_force(force, x, v, stiffness=exact)


def test_energies_and_forces_of_points_that_turn():
    system, q, v = pendulum(2), np.array([0.3, -0.5]), np.array([1.0, 2.0])
    points, energy, force = samples.on_points(system, q, v)
    check_point_map(points, q)
    check_energy(energy, q, changing=True)
    check_force(force, q, v, stiffness=False)


def test_pins():
    X = samples.BAR.X
    pins = Pins(X, [Pin(np.array([0, 1]), samples.MOTIONS[0]), Pin(np.array([3]), axes="xz")])
    q = samples.rough(X)
    check_map(pins, q, np.ones_like(q), 0.3)


@pytest.mark.parametrize("motion", samples.MOTIONS, ids=name)
def test_motion(motion):
    check_motion(motion, samples.BAR.X, 0.2)


@pytest.mark.parametrize("obstacle", samples.OBSTACLES, ids=name)
def test_obstacle(obstacle):
    """Points outside and inside, none on a kink of the distance; some obstacles leave out the bends over edges."""
    bends = type(obstacle).__name__ not in ("Box", "Cylinder", "TriangleObstacle", "Hull")
    check_obstacle(obstacle, 0.7 * np.random.default_rng(12).normal(size=(12, 3)), bends=bends)


@pytest.mark.parametrize("joint", examples(), ids=name)
def test_joint(joint):
    rng = np.random.default_rng(3)
    check_joint(joint, rng.uniform(0.1, 0.9, joint.dof), rng.normal(size=joint.dof))


@pytest.mark.parametrize("sample", samples.TREE_FORCES, ids=name)
def test_articulated_force(sample):
    force, potential = sample
    (system, q, v), (without, _, _) = zoo(forces=[force]), zoo()
    check_articulated_force(system, without, q, v, potential=potential)


@pytest.mark.parametrize("constraint", samples.TREE_CONSTRAINTS, ids=name)
def test_constraint(constraint):
    system, q, v = zoo()
    if type(constraint).__name__ == "LoopClosure":  # its directions are those of the start of a step: closed loops only
        system, q, v = pendulum(2), np.array([0.3, 0.0]), np.array([1.0, -2.0])
        constraint = type(constraint)(0, np.array([1.0, 0, 0]), 1, np.zeros(3), np.array([0.0, 1.0, 0.0]))
    check_constraint(constraint, system, q, v)

"""Methods that know nothing of each other agree on scenes drawn at random (`trust/agreement`)."""

from dataclasses import replace

import pytest

import pliant as pl
from pliant.bench.trust import agreement
from pliant.bench.trust.agreement import METHODS, STEPS, Arrivals, near, play, table
from pliant.integrators import explicit
from pliant.testing.mixtures import mixture


@pytest.mark.parametrize("seed", [5, 22, 44, 70])  # an arm; a motor; a membrane on a rigid body; a floor
def test_methods_lead_the_same_scene_to_the_same_place(seed):
    played = play(seed)
    assert [p.method for p in played] == list(METHODS)
    assert {p.end for p in played} <= {"agrees", "refused"}, played
    assert sum(p.end == "agrees" for p in played) >= 6


def test_a_method_that_forgets_what_ties_demand_is_found(monkeypatch):
    """Explicit methods began with velocities that ties do not allow, and kept them."""
    some = ("BDF1", "RK4", "Verlet", "SymplecticEuler")
    monkeypatch.setattr(agreement, "METHODS", {name: METHODS[name] for name in some})
    monkeypatch.setattr(agreement, "FINER", 2)  # for time
    monkeypatch.setattr(explicit, "consistent", lambda system, state: state)
    assert [p.end for p in play(44)] == ["agrees", "differs", "differs", "differs"]


def test_forgotten_friction_is_found():
    scene = mixture(20)
    scene = replace(scene, contact=replace(scene.contact, mu=0.3))
    arrivals = Arrivals(scene, scene.system().positions(scene.initial().q))
    assert near(tuple(arrivals.apart(pl.RK4(), n) for n in STEPS))
    assert arrivals.touches
    arrivals.scene = replace(scene, contact=replace(scene.contact, mu=0.0))
    assert not near(tuple(arrivals.apart(pl.RK4(), n) for n in STEPS))


def test_distances_must_fall_or_be_small():
    assert near((0.3, 0.1)) and near((1e-3, 2e-3)) and not near((0.3, 0.29))


def test_the_table_counts_who_leads_elsewhere():
    made = table(play(5), quick=True)
    assert [row["method"] for row in made.rows] == list(METHODS)
    assert all(claim.holds for claim in made.claims)

"""Gradients of scenes drawn at random are those of their runs (`trust/gradients`)."""

import pytest

from pliant.bench.trust import gradients
from pliant.bench.trust.gradients import METHODS, play, table
from pliant.forces.rayleigh import RayleighForce


@pytest.mark.parametrize("seed", [3, 5, 22])  # a solid; an arm; a motor
def test_gradients_are_those_of_the_run(seed):
    played = play(seed)
    assert [p.method for p in played] == list(METHODS)
    assert {p.end for p in played} <= {"agrees", "refused"}, played
    assert sum(p.end == "agrees" for p in played) >= 6


def test_a_derivative_that_leaves_something_out_is_found(monkeypatch):
    """What damping changes with the shape, in a scene with a cloth that is damped so."""
    monkeypatch.setattr(gradients, "METHODS", {name: METHODS[name] for name in ("BDF2", "Verlet")})
    assert [p.end for p in play(11)] == ["agrees", "agrees"]
    monkeypatch.setattr(RayleighForce, "exact_stiffness", RayleighForce.stiffness)
    assert [p.end for p in play(11)] == ["differs", "differs"]


def test_the_table_counts_what_differs():
    made = table(play(3), quick=True)
    assert [row["method"] for row in made.rows] == list(METHODS)
    assert all(claim.holds for claim in made.claims)

"""What converges and is wrong all the same is named: energy from nothing, inversion, deep penetration."""

import warnings

import numpy as np
import pytest

import pliant as pl
from pliant.attempt import StepFailed
from pliant.checkpoint import Checkpoint
from pliant.integrators import ExplicitEuler, LinearlyImplicit
from pliant.mesh import bar
from pliant.simulate import simulate
from pliant.state import Counts, SolveReport, State, Step


def rod(E: float = 1e5, **options) -> pl.Solid:
    mesh = bar(size=(0.3, 0.1, 0.1), cells=(3, 1, 1))
    return pl.Solid(mesh, pl.StableNeoHookean(E=E, nu=0.4), density=1000.0, **options)


def test_energy_from_nothing_is_an_alarm_in_the_report(tmp_path):
    stiff = rod(1e6, velocity=(0.0, 0.0, 0.1), pins=pl.Pin(np.arange(4)))
    scene = pl.Scene(bodies=[stiff], integrator=ExplicitEuler(), gravity=(0, 0, 0), h=1e-3, duration=0.02)
    run = scene.run(tmp_path / "run")
    energies = run.ledger["kinetic"] + run.ledger["elastic"]
    assert energies[-1] > 2.0 * energies[0]  # beyond its stability limit
    alarm = run.report["alarms"]["energy"]
    assert alarm["steps"] >= 3 and "spurious energy gain" in alarm["text"] and run.report["status"] == "finished"


def test_a_quiet_run_has_no_alarms(tmp_path):
    run = pl.Scene(bodies=[rod()], h=1e-2, duration=0.1).run(tmp_path / "run")
    assert run.report["alarms"] == {}


def test_elements_inside_out_are_an_alarm():
    body = rod(1e3)
    scene = pl.Scene(bodies=[body], gravity=(0, 0, 0), h=1e-3, duration=3e-3)
    system = scene.system()
    state = scene.initial(system)
    q = state.q.copy()
    q[0::3] *= -1.0  # a mirror image: det F = -1 everywhere, and stable neo-Hookean allows it
    first = next(simulate(scene, start=Checkpoint(0, State(q, state.v)), system=system))
    assert first.report.verdict == "converged" and [a.kind for a in first.report.alarms][-1] == "inversion"


def test_deep_penetration_is_an_alarm():
    floor = pl.Plane(point=(0, 0, -0.001), normal=(0, 0, 1))
    heavy = rod(1e6, velocity=(0.0, 0.0, -30.0))
    scene = pl.Scene(bodies=[heavy], obstacles=[floor], contact=pl.PenaltyContact(), h=1e-3, duration=4e-3)
    kinds = {alarm.kind for step in simulate(scene) for alarm in step.report.alarms}
    assert "penetration" in kinds


class Stuck(LinearlyImplicit):
    """Gives the start back, as methods do whose matrix cannot be factored."""

    def step(self, system, state, h, memory=None):
        return Step(state, memory, (SolveReport(False, 1, float("nan"), None, Counts(), message="no matrix"),))


def test_warnings_do_not_stop_the_clock():
    scene = pl.Scene(bodies=[rod()], integrator=Stuck(), h=1e-2, duration=0.1, on_failure="warn")
    with warnings.catch_warnings(), pytest.raises(StepFailed, match="no matrix"):
        warnings.simplefilter("ignore")
        list(simulate(scene))


def test_the_summary_says_it(tmp_path, monkeypatch, capsys):
    from pliant.cli.run import _say

    stiff = rod(1e6, velocity=(0.0, 0.0, 0.1), pins=pl.Pin(np.arange(4)))
    scene = pl.Scene(bodies=[stiff], integrator=ExplicitEuler(), gravity=(0, 0, 0), h=1e-3, duration=0.02)
    _say(scene.run(tmp_path / "run"), False)
    said = capsys.readouterr()
    assert "alarm (energy)" in said.err and "steps are not certified" in said.out


def test_the_alarm_names_what_to_take_in_place_of_a_method_that_gains_in_contacts():
    """The midpoint rule is fine in flight, and gains where it meets a floor within a step."""
    mesh = bar(size=(0.1, 0.1, 0.1), cells=(1, 1, 1)).transformed(translate=(0.0, 0.0, 0.02))
    body = pl.Solid(mesh, pl.StableNeoHookean(5e5, 0.3), density=1000.0, velocity=(0.0, 0.0, -4.0))
    told = {}
    for method in (pl.ImplicitMidpoint(), pl.BDF1()):
        scene = pl.Scene(
            [body], obstacles=[pl.Plane()], contact=pl.PenaltyContact(), integrator=method, h=1e-2, duration=0.05
        )
        told[type(method).__name__] = [a.text for s in simulate(scene) for a in s.report.alarms if a.kind == "energy"]
    assert told["BDF1"] == [] and any("take BDF1" in text for text in told["ImplicitMidpoint"])

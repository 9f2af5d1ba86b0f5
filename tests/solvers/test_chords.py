"""Chord steps: the roots and momenta of Newton's method with fewer factors; memory that comes back is the same."""

from dataclasses import replace

import numpy as np
import pytest

from pliant.checkpoint import Checkpoint, load, save
from pliant.integrators import BDF1
from pliant.scenes import built_in
from pliant.solvers import Newton, Tolerance
from pliant.solvers.chord import NewtonMemory, arrives
from pliant.state import Counts


def walked(name, solver, steps, memory=None, state=None):
    """The states of a run, the counts of its solves, and the last memory."""
    scene = built_in()[name]()
    scene = replace(scene, integrator=BDF1(solver))
    system = scene.system()
    state = scene.initial(system) if state is None else state
    states, counts = [], Counts()
    for _ in range(steps):
        step = scene.integrator.step(system, state, float(scene.h), memory)
        assert all(report.converged for report in step.reports)
        state, memory = step.state, step.memory
        states.append(state)
        counts += sum((report.counts for report in step.reports), Counts())
    return system, states, counts, memory


def spin(system, state):
    """Angular momentum about the centre of mass."""
    m = system.nodal_mass.reshape(-1, 3)
    centre = (m * state.q.reshape(-1, 3)).sum(axis=0) / system.total_mass
    linear, angular = system.momenta(state.q, state.v)
    return angular - np.cross(centre, linear)


@pytest.mark.parametrize("name", ["swinging-bar", "net"])
def test_chords_lead_to_the_roots_of_newton(name):
    system, chords, few, _ = walked(name, Newton(), 12)
    _, exact, _, _ = walked(name, Newton(tolerance=Tolerance(1e-10, 1e-14), chords=0), 12)
    _, plain, many, _ = walked(name, Newton(chords=0), 12)
    assert few.factorizations < 0.8 * many.factorizations
    assert abs(chords[-1].q - exact[-1].q).max() < 1e-5 * system.scale
    assert abs(plain[-1].q - exact[-1].q).max() < 1e-5 * system.scale


def test_a_body_in_free_fall_is_factored_once_and_falls_as_it_should():
    system, states, counts, _ = walked("falling-ball", Newton(), 10)
    assert counts.factorizations <= 2  # the first steps; all others are the same linear equation
    momenta = np.array([system.momenta(s.q, s.v)[0] for s in states])
    times = np.array([s.t for s in states])
    gain = np.diff(momenta, axis=0) / np.diff(times)[:, None]
    weight = system.total_mass * 9.81
    assert abs(np.linalg.norm(gain, axis=1) - weight).max() < 1e-7 * weight
    spins = np.array([spin(system, s) for s in states])
    assert abs(spins - spins[0]).max() < 1e-9 * system.scale * np.linalg.norm(momenta[-1])


def test_a_restart_continues_with_the_same_bytes(tmp_path):
    _, states, _, memory = walked("falling-ball", Newton(), 4)
    assert isinstance(memory, NewtonMemory) and memory.held is not None
    save(tmp_path / "c.h5", Checkpoint(4, states[-1], memory, marks={}))
    back = load(tmp_path / "c.h5")
    assert back.memory.held.factor is None  # rebuilt from its matrix
    _, went_on, _, _ = walked("falling-ball", Newton(), 3, memory, states[-1])
    _, resumed, _, _ = walked("falling-ball", Newton(), 3, back.memory, back.state)
    assert went_on[-1].q.tobytes() == resumed[-1].q.tobytes() and went_on[-1].v.tobytes() == resumed[-1].v.tobytes()


def test_the_factor_of_another_stiffness_is_given_up():
    _, states, _, memory = walked("falling-ball", Newton(), 4)
    A = memory.held.A
    wrong = replace(memory, held=replace(memory.held, A=A * 3.0, factor=None))
    _, right, _, _ = walked("falling-ball", Newton(), 1, memory, states[-1])
    system, found, counts, after = walked("falling-ball", Newton(), 1, wrong, states[-1])
    assert counts.factorizations == 1 and after.rate > 0.25 and after.held is None
    assert abs(found[-1].q - right[-1].q).max() < 1e-6 * system.scale


def test_a_rate_is_trusted_with_a_margin():
    assert arrives(1e-4, 1, 1e3, 1.0) and not arrives(1e-3, 1, 1e3, 1.0)
    assert arrives(1e-2, 3, 1e4, 1.0) and not arrives(1e-2, 0, 0.5, 1.0)
    assert not arrives(0.3, 50, 1e3, 1.0)

"""Scenes drawn at random: no traceback, nothing silently wrong, failures that repeat themselves (`trust/fuzz`)."""

import numpy as np
import pytest

import pliant as pl
from pliant.bench.trust.fuzz import play
from pliant.simulate import simulate
from pliant.testing.audit import Audit, crossing
from pliant.testing.invented import invented


def test_drawn_scenes_run_fail_openly_or_are_refused():
    played = [play(seed) for seed in range(60)]
    assert not [p for p in played if p.wrong or p.end == "traceback" or p.replayed is False]
    ends = [p.end for p in played]
    assert ends.count("finished") > 30 and "refused" in ends and sum(p.certified for p in played) > 80


def test_rates_that_are_truths_are_refused():
    """A drawn scene that ran with ``v=[True]``, and could not be read from the file it had written."""
    assert play(6545).end == "refused"


def test_drawn_equilibria_are_found_and_audited():
    """Their bodies are held at three vertices: with fewer they could turn, and every such scene would be refused."""
    for seed in (142, 314):
        found = play(seed)
        assert (found.method, found.end, found.wrong) == ("Quasistatic", "finished", "")
        assert found.certified == found.steps > 0


@pytest.fixture(scope="module")
def fallen():
    """A free scene of one solid under gravity, and its steps."""
    mesh = pl.mesh.bar(size=(0.2, 0.1, 0.1), cells=(1, 1, 1))
    body = pl.Solid(mesh, pl.StableNeoHookean(E=1e4, nu=0.3), density=1000.0, velocity=(0.1, 0.0, 0.0))
    scene = pl.Scene(bodies=[body], integrator=pl.BDF1(), h=0.01, duration=0.05)
    return scene, list(simulate(scene))


def test_the_audit_agrees_with_honest_steps(fallen):
    scene, steps = fallen
    assert not list(Audit(scene).complaints(steps, scene.initial()))


@pytest.mark.parametrize("lie", ["momentum", "energy", "residual", "time"])
def test_the_audit_finds_lies(fallen, lie):
    """Each check complains about steps that are wrong in the way it is there for."""
    from dataclasses import replace

    scene, steps = fallen
    last = steps[-1]
    if lie == "momentum":
        forged = replace(last, state=replace(last.state, v=last.state.v * (1 + 1e-3)))
    elif lie == "energy":
        energies = {**last.ledger.energies, "gravity": last.ledger.energies["gravity"] * (1 + 1e-6)}
        forged = replace(last, ledger=replace(last.ledger, energies=energies))
    elif lie == "residual":
        q = last.state.q.copy()
        q[0] += 1e-6
        forged = replace(last, state=replace(last.state, q=q))
    else:
        forged = replace(last, state=replace(last.state, t=last.state.t + 1e-5))
    said = list(Audit(scene).complaints([*steps[:-1], forged], scene.initial()))
    words = {"momentum": "momentum", "energy": "ledger", "residual": "residual", "time": "time"}
    assert any(words[lie] in one for one in said), said


def test_crossings_are_found_exactly():
    x = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, -1], [0.2, 0.2, 1], [0.3, 0.2, -1.0]])
    F = np.array([[0, 1, 2], [3, 4, 5]])
    assert crossing(F, x)
    x[4, 2] = 0.0  # touches, and does not pass
    assert not crossing(F, x)
    x[4, 2] = 5e-324
    assert crossing(F, x)


def test_scenes_are_drawn_alike_every_time():
    a, b = (next(iter(simulate(invented(244)))).state.q for _ in range(2))
    assert a.tobytes() == b.tobytes()

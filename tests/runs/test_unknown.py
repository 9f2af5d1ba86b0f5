"""What a system does not know is unknown in certificates, reports and ledgers, never 0 or 1."""

import json

import numpy as np
import pytest

from pliant.attempt import StepFailed
from pliant.bodies import Solid, SpringNet
from pliant.bundle import replay
from pliant.certificate import certify, readable
from pliant.checkpoint import Checkpoint
from pliant.contact.obstacles import Plane
from pliant.integrators import BDF1, Verlet
from pliant.materials import NeoHookean, StableNeoHookean
from pliant.mesh import Mesh, bar, spring_net
from pliant.record import record
from pliant.scene import Scene
from pliant.scene_file import load_scene
from pliant.simulate import beginning, simulate
from pliant.state import State, Step
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.penalty_contact import PenaltyContact

CUBE = bar(size=(0.1, 0.1, 0.1), cells=(1, 1, 1))


def cube(height=0.0, **options):
    return Solid(Mesh(CUBE.X + np.array([0.0, 0.0, height]), CUBE.T), StableNeoHookean(1e5, 0.3), **options)


def at_start(source):
    scene = load_scene(source).scene if isinstance(source, str) else source
    system, start = beginning(scene)
    return certify(0, float(scene.h), [Step(start.state, None)], system, 0.0)


def test_a_scene_without_contact_knows_of_none(tmp_path):
    scene = Scene([SpringNet(spring_net(2, 2), k=10.0, mass=0.1)], duration=0.02)
    run = record(scene, tmp_path)
    for name in ("min_det", "contacts", "penetration", "distance"):
        assert np.isnan(run.ledger[name]).all(), name
    line = (tmp_path / "ledger.csv").read_text().splitlines()[-1]
    assert ",,,," in line and run.ledger["converged"].all()
    assert {run.report[name] for name in ("min_det", "penetration", "distance")} == {"unknown"}
    report = list(simulate(scene))[-1].report
    assert report.contacts is None and json.loads(json.dumps(report.as_json()))["contacts"] == "unknown"
    assert readable(report.min_det) == readable(float("nan")) == "unknown" and readable(3) == "3"


def test_articulated_bodies_know_the_contacts_they_can_have():
    free, limited, floored = (at_start(f"redmax/{scene}") for scene in ("2", "6", "31"))
    assert free.contacts is None and limited.contacts is None and free.min_det is None
    assert floored.contacts is not None and floored.contacts >= 0 and floored.penetration == 0.0


@pytest.mark.parametrize("contact", [PenaltyContact(), BarrierContact(dhat=1e-3)], ids=["penalty", "barrier"])
def test_the_least_distance_is_that_to_the_floor(contact):
    """A cube 0.4 mm above a floor: that is the distance, and nothing penetrates; far above nothing is near."""
    near, far = (at_start(Scene([cube(z)], contact=contact, obstacles=[Plane()])) for z in (4e-4, 0.5))
    assert near.penetration == 0.0 and near.min_det == pytest.approx(1.0)
    assert far.contacts == 0 and far.penetration == 0.0
    assert far.distance > 0.4 or far.distance == np.inf
    if isinstance(contact, BarrierContact):
        assert near.distance == pytest.approx(4e-4, rel=1e-9) and near.contacts > 0


def test_the_depth_of_a_penalty_contact_is_a_negative_distance():
    scene = Scene(
        [cube(0.0)], contact=PenaltyContact(k=2000.0), obstacles=[Plane()], integrator=BDF1(), h=0.01, duration=0.2
    )
    *_, last = simulate(scene)
    lowest = last.state.q.reshape(-1, 3)[:, 2].min()
    assert lowest < 0.0 and last.report.distance == pytest.approx(lowest) and last.report.penetration == -lowest


def test_the_bundle_of_two_solids_of_one_name(tmp_path):
    """Two solids called alike, of different sizes, explode: the bundle names the elements of each, and replays."""
    small, large = CUBE, bar(size=(0.4, 0.1, 0.1), cells=(4, 2, 2))
    large = Mesh(large.X + np.array([0.0, 1.0, 0.0]), large.T)
    bodies = [
        Solid(large, StableNeoHookean(1e9, 0.4), velocity=(0.0, 0.0, 1.0)),
        Solid(small, NeoHookean(1e8, 0.4), velocity=(0.0, 0.0, 1.0)),
    ]
    scene = Scene(bodies, integrator=Verlet(), h=0.05, duration=5.0)
    rng = np.random.default_rng(0)
    system, start = beginning(scene)
    q = start.state.q + 1e-3 * rng.normal(size=len(start.state.q))
    with pytest.raises(StepFailed):
        record(scene, tmp_path, start=Checkpoint(0, State(q, start.state.v)))
    told_elements = json.loads((tmp_path / "failure" / "report.json").read_text())["elements"]
    assert [entry["energy"] for entry in told_elements] == [0, 1]
    assert max(map(max, (e["elements"] for e in told_elements if e["elements"])), default=0) < len(large.T)
    assert json.loads((tmp_path / "report.json").read_text())["status"] == "failed"
    assert replay(tmp_path).same

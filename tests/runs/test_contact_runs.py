"""Contact in the books: certificates count it, channels show it, scene files say it, moving obstacles do work."""

from dataclasses import replace

import numpy as np
import pytest

from pliant.bodies import Rayleigh, Solid
from pliant.contact.initial import OverlapError
from pliant.contact.obstacles import Plane
from pliant.integrators import BDF1
from pliant.maps.motions import Keyframes
from pliant.materials import StableNeoHookean
from pliant.mesh import bar
from pliant.origin import Origin
from pliant.record import Output, record
from pliant.scene import Scene
from pliant.scene_file import describe, load_scene
from pliant.simulate import simulate
from pliant.systems.penalty_contact import PenaltyContact

WEIGHT = 9.81 * 1000 * 0.1**3


def block(**options):
    mesh = bar(size=(0.1, 0.1, 0.1), cells=(1, 1, 1))
    body = Solid(mesh, StableNeoHookean(1e5, 0.3), damping=Rayleigh(alpha=20.0))
    values = {"contact": PenaltyContact(k=2000.0, mu=0.5), "obstacles": [Plane()], "integrator": BDF1()}
    return Scene([body], **{**values, "h": 0.01, "duration": 1.0, **options})


def test_a_resting_block_presses_with_its_weight(tmp_path):
    run = record(block(), tmp_path, output=Output(every=100, channels=("contact_force", "friction_force")))
    force = run.frames[-1].point_values["contact_force"].sum(axis=0)
    np.testing.assert_allclose(force, [0.0, 0.0, WEIGHT], atol=1e-2 * WEIGHT)
    assert run.ledger["contacts"][-1] == 4
    depth = run.ledger["penetration"][-1]
    assert depth == pytest.approx(-run.frames[-1].points[:, 2].min(), rel=1e-9) and depth > 0
    assert {"contact", "work_friction"} <= set(run.ledger)


def test_a_lift_does_the_work_that_raises_the_block():
    rise = Keyframes((0.0, 1.0, 2.0), ((0, 0, 0), (0, 0, 0), (0, 0, 0.1)))
    scene = block(obstacles=[Plane(motion=rise)], duration=2.0)
    rows = [step.ledger for step in simulate(scene)]
    settled, lifted = rows[99], rows[-1]
    work = sum(row.work["scripts"] for row in rows[100:])
    assert lifted.energies["gravity"] - settled.energies["gravity"] == pytest.approx(0.1 * WEIGHT, rel=0.02)
    lost = -sum(row.work["damping"] for row in rows[100:])
    assert work == pytest.approx(0.1 * WEIGHT + lost, rel=0.05)


def test_contact_and_obstacles_are_written_and_read(tmp_path):
    rise = Keyframes((0.0, 1.0), ((0, 0, 0), (0, 0, 0.1)))
    scene = block(obstacles=[Plane(), Plane((1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), rise)], duration=0.05)
    Origin(*describe(scene)).write(tmp_path)
    back = load_scene(tmp_path).scene
    assert back.contact == scene.contact and back.obstacles == scene.obstacles
    ends = [list(simulate(s))[-1].state.q.tobytes() for s in (scene, back)]
    assert ends[0] == ends[1]
    assert load_scene(tmp_path, ["contact.mu=0.1"]).scene.contact == replace(scene.contact, mu=0.1)


def test_a_run_refused_for_overlaps_leaves_a_picture_of_them(tmp_path):
    import meshio

    low = block(obstacles=[Plane((0.0, 0.0, 0.05))])
    with pytest.raises(OverlapError, match="overlaps.vtu.*resolve_initial") as caught:
        record(low, tmp_path / "run")
    file = tmp_path / "run" / "overlaps.vtu"
    assert str(file) in str(caught.value) and len(meshio.read(file).cells_dict["triangle"]) > 1
    assert record(block(duration=0.01), tmp_path / "run").report["status"] == "finished"
    assert not file.exists()

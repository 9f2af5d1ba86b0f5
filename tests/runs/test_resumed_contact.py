"""Runs in contact that are resumed: pairs that detection has kept are gone, and nothing else is."""

import pytest

from pliant.bench.runs import restart
from pliant.bench.world.mixtures import resting
from pliant.contact import nearby
from pliant.integrators import BDF1, LinearlyImplicit
from pliant.record import load
from pliant.simulate import simulate
from pliant.systems.penalty_contact import PenaltyContact
from pliant.systems.row_contact import RowContact


@pytest.mark.parametrize(
    ("contact", "integrator"),
    [
        (PenaltyContact(mu=0.3, thickness=1e-3), BDF1()),
        (PenaltyContact(mu=0.3, thickness=1e-3), LinearlyImplicit()),
        (RowContact(mu=0.3, thickness=1e-3), LinearlyImplicit()),
    ],
)
def test_pairs_that_are_kept_are_those_that_would_be_found(contact, integrator, monkeypatch):
    """From several steps on with an empty list: the same bytes as with one that has served since the start."""
    searches = []
    monkeypatch.setattr(nearby, "candidates", lambda *a, found=nearby.candidates: searches.append(1) or found(*a))
    scene = resting(contact, integrator, h=2e-3, duration=0.04)
    whole = list(simulate(scene))
    assert len(searches) < len(whole)  # tets and triangles are looked for in every step: most from lists
    assert whole[-1].report.contacts > 0
    for k in (4, 9, 14):
        again = list(simulate(scene, start=whole[k].checkpoint()))
        for one, two in zip(again, whole[k + 1 :], strict=True):
            assert one.state.q.tobytes() == two.state.q.tobytes()
            assert one.state.v.tobytes() == two.state.v.tobytes()


def test_killed_at_several_steps_and_resumed_is_byte_equal(tmp_path):
    """All frames, the ledger and the checkpoint, of a mixture that lies and slides."""
    names = [name for name in restart.cases() if name.startswith("cube and chain on a bed")]
    folders = {name: tmp_path / str(k) for k, name in enumerate(names)}
    restart.child("kill", folders)
    for name, folder in folders.items():
        assert load(folder).report["status"] == "running"
        assert load(folder).checkpoint.step == restart.cases()[name].saved
    restart.child("resume", folders)
    whole = tmp_path / "whole"
    restart.child("whole", {names[0]: whole})
    assert len(names) == 3 and max(load(whole).ledger["contacts"]) > 0
    assert all(restart.equal(whole, folder) for folder in folders.values())

"""Flesh around a bone: it touches others but not the bone, and has stress and forces like flesh alone."""

import numpy as np
import pytest

import pliant as pl
from pliant.articulated import Link, at, cuboid
from pliant.articulated.joints import Revolute
from pliant.record.channels import CELL_CHANNELS, known_channels

FLESH = pl.mesh.bar((0.2, 0.06, 0.06), (3, 2, 2)).transformed(translate=(0.0, -0.03, -0.03))
PAD = pl.mesh.bar((0.1, 0.1, 0.03), (2, 2, 1)).transformed(translate=(0.1, -0.05, -0.0601))
MATERIAL = pl.StableNeoHookean(3e4, 0.4)


def limb(grown=True, **options):
    """An arm whose flesh is tied to its bone, and a pad below it."""
    bone = cuboid((0.2, 0.01, 0.01), 1800.0, at(0.1, 0.0, 0.0))
    arm = pl.Articulated([Link(Revolute((0, 1, 0)), bone, name="ulna")], name="arm")
    core = FLESH.where(lambda X: (abs(X[:, 1]) < 1e-9) & (abs(X[:, 2]) < 1e-9))
    flesh = pl.Solid(FLESH, MATERIAL, name="flesh")
    pad = pl.Solid(PAD, MATERIAL, pins=pl.Pin(PAD.where(lambda X: X[:, 2] < -0.06)), name="pad")
    tie = pl.Attachment("flesh", core, "arm", link="ulna", contact=not grown)
    options = {"integrator": pl.BDF1(), "duration": 0.05, **options}
    return pl.Scene([arm, pad, flesh], attachments=[tie], h=0.01, **options)


def by_hand(mesh, x):
    """Cauchy stress (m, 9) and energy density (m,) of positions x."""
    sides = lambda y: np.swapaxes(y[mesh.T[:, 1:]] - y[mesh.T[:, :1]], 1, 2)
    F = sides(x) @ np.linalg.inv(sides(mesh.X))
    stress = MATERIAL.piola(F) @ np.swapaxes(F, 1, 2) / np.linalg.det(F)[:, None, None]
    return stress.reshape(-1, 9), MATERIAL.psi(F)


def test_stress_and_elastic_forces_are_those_of_the_parts(tmp_path):
    run = pl.record(limb(), tmp_path, output=pl.Output(channels=("stress", "strain_energy", "elastic_force")))
    frame, energies = run.frames[-1], run.ledger
    stress, density = frame.cell_values["stress"], frame.cell_values["strain_energy"]
    n, m = (len(PAD.X), len(FLESH.X)), (len(PAD.T), len(FLESH.T))
    for mesh, first, cell in ((PAD, 0, 0), (FLESH, n[0], m[0])):
        own = slice(cell, cell + len(mesh.T))
        expected, psi = by_hand(mesh, frame.points[first : first + len(mesh.X)])
        np.testing.assert_allclose(stress[own], expected, rtol=1e-6, atol=1e-6 * abs(expected).max())
        np.testing.assert_allclose(density[own], psi, rtol=1e-6, atol=1e-9 * psi.max())
    elastic = energies["total"][-1] - energies["kinetic"][-1] - energies["gravity"][-1]
    assert density[: sum(m)] @ np.concatenate([PAD.measures(), FLESH.measures()]) == pytest.approx(elastic, rel=1e-6)
    assert abs(stress[m[0] : sum(m)]).max() > 100.0
    assert np.isnan(stress[sum(m) :]).all()  # links have none
    force = frame.point_values["elastic_force"]
    total = np.abs(force[: sum(n)]).sum()
    assert total > 1.0 and np.abs(force[n[0] : sum(n)].sum(axis=0)).max() < 1e-12 * total  # internal forces cancel
    assert np.isnan(force[sum(n) :]).all()


def test_a_bone_lies_inside_its_flesh_which_touches_others(tmp_path):
    """The arm falls on the pad: forces are equal and opposite, also in the frame before the first step."""
    with pytest.raises(pl.SceneError, match="contact=False"):
        list(pl.simulate(limb(grown=False, contact=pl.PenaltyContact())))
    scene = limb(contact=pl.PenaltyContact(mu=0.0))
    system = scene.system()
    state = scene.initial(system)
    assert {"elastic_force", "contact_force", *CELL_CHANNELS} <= set(known_channels(system, state))
    run = pl.record(scene, tmp_path / "a", output=pl.Output(channels=("contact_force",)))
    pressed = [frame.point_values["contact_force"] for frame in run.frames]
    assert not pressed[0].any()
    sums = [f[own].sum(axis=0) for f in pressed[-1:] for own in (slice(len(PAD.X)), slice(len(PAD.X), None))]
    assert sums[0][2] < -1.0 and np.allclose(sums[0] + sums[1], 0.0, atol=1e-12)
    assert not pressed[-1][len(PAD.X) + len(FLESH.X) :].any()  # nothing touches the bone
    again = pl.load_scene(tmp_path / "a" / "scene.toml").scene
    assert not again.attachments[0].contact


@pytest.mark.parametrize("contact", [pl.PenaltyContact(), pl.RowContact()])
def test_contact_changes_nothing_of_flesh_that_meets_nobody(contact):
    method = pl.LinearlyImplicit() if isinstance(contact, pl.RowContact) else pl.BDF1()
    far = {"gravity": (0, 0, 9.81), "integrator": method}  # upwards, away from the pad
    scenes = [limb(contact=c, **far) for c in (None, contact)]
    ends = [list(pl.simulate(scene))[-1].state.q for scene in scenes]
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-12)

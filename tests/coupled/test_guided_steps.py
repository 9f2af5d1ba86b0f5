"""Steps of mixtures converge where forces without a potential act on vertices: damping by shape, air."""

import numpy as np
import pytest

from pliant.articulated import Rigid
from pliant.bodies import Green, Membrane, Rayleigh
from pliant.integrators import BDF1
from pliant.loads import Airflow
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import ball, sheet
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.stage import Stage
from pliant.systems.penalty_contact import PenaltyContact


def caught(damping=None, wind=None, mu=0.3, duration=0.3):
    """A ball that falls on a membrane held at its border, and rubs on it."""
    mesh = sheet((0.5, 0.5), (10, 10))
    border = mesh.where(lambda X: (np.abs(X[:, :2] - 0.25) > 0.25 - 1e-9).any(axis=1))
    skin = Membrane(mesh, StableNeoHookean(1e5, 0.3), thickness=1e-3, pins=Pin(border), damping=damping)
    weight = Rigid(ball(radius=0.08, cells=4).transformed(translate=(0.25, 0.25, 0.1)), density=200.0)
    forces = [] if wind is None else [Airflow(wind, body="membrane")]
    contact = PenaltyContact(mu=mu)
    return Scene([skin, weight], BDF1(), h=0.005, duration=duration, contact=contact, forces=forces)


@pytest.mark.parametrize(
    "options", [{"damping": Green(1e-3)}, {"damping": Rayleigh(beta=1e-3, current=True)}, {"wind": (0.0, 0.0, -5.0)}]
)
def test_a_sheet_with_forces_of_no_potential_catches_a_rigid_ball(options):
    steps = list(simulate(caught(**options)))  # a step that does not converge is an error
    assert max(step.report.contacts for step in steps) > 0
    assert min(step.ledger.numerical / step.ledger.scale for step in steps) > -1e-6  # backward Euler adds no energy


def test_what_a_stage_is_guided_by_rises_as_its_residual_says():
    scene = caught(Green(1e-2), duration=0.1)
    *_, last = simulate(scene)
    state, h = last.state, 0.005
    q = state.q + h * state.v
    stage = Stage(last.system, h, q, base=state.q, t=state.t + h, frame=last.system.prescribe(q, h), start=state)
    z, rng = stage.system.prescribe(q, h)[stage.system.free], np.random.default_rng(3)
    guide = stage.guide(z, stage.residual(z))
    skin = np.zeros(len(q), dtype=bool)
    skin[last.system.slices[0]] = True
    dz = np.where(skin[stage.system.free], rng.normal(size=len(z)), 0.0)  # of vertices, whose inertia is constant
    e = 1e-5
    rise = guide(z + e * dz) - e * float(stage.residual(z) @ dz)
    curved = 0.5 * e * float((stage.residual(z + e * dz) - stage.residual(z)) @ dz)
    assert curved > 0.0
    assert rise == pytest.approx(curved, rel=0.05)

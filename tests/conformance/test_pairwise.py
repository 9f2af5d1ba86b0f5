"""Kinds of scenes x what can be done with a scene: every pair works, or is refused with a reason."""

import pickle
from dataclasses import dataclass, replace
from itertools import islice
from typing import ClassVar

import numpy as np
import pytest

from pliant.bodies import Rayleigh
from pliant.errors import PliantError, SceneError
from pliant.export.obstacles import obstacles_of
from pliant.integrators import BDF1
from pliant.loads import Airflow
from pliant.scene_checks import CHOICES
from pliant.simulate import simulate
from pliant.state import State, Step
from pliant.systems.base import Composed
from pliant.systems.observed import topology_of
from pliant.systems.stepped import Smooth
from pliant.testing import (
    check_balance,
    check_certificates,
    check_description,
    check_export,
    check_integrator,
    check_ledger,
    check_play,
    check_recording,
    check_system,
)
from pliant.testing.kinds import KINDS, make

# what a scene accepts and the first step refuses, with the words of the reason
REFUSED = {
    ("membrane", "Quasistatic"): "free to move",
    ("springs", "Quasistatic"): "free to move",
    ("cloth", "Quasistatic"): "free to move",
    ("tugged", "Quasistatic"): "free to move",
    ("membrane", "AdaptiveConJac"): "body of tetrahedra",
    ("springs", "AdaptiveConJac"): "body of tetrahedra",
    ("cloth", "AdaptiveConJac"): "body of tetrahedra",
    ("discontinuous", "AdaptiveConJac"): "body of tetrahedra",
    ("springs", "ConJac"): "resist every deformation",
    ("discontinuous", "XPBD"): "no constraint form",
    ("fitted", "Corotated"): "EigenFit",
    ("fitted", "EnergyMomentum"): "EigenFit",
    ("projected", "EnergyMomentum"): "no discrete gradient",
    ("cut", "Corotated"): "does not rotate",
    ("cut", "EnergyMomentum"): "no discrete gradient",
    ("tugged", "Corotated"): "does not rotate",
    ("tugged", "EnergyMomentum"): "no discrete gradient",
    ("membrane", "EnergyMomentum"): "no discrete gradient",
    ("cloth", "EnergyMomentum"): "no discrete gradient",
    ("discontinuous", "EnergyMomentum"): "no discrete gradient",
    ("cut", "XPBD"): "no constraint form",
    ("tugged", "XPBD"): "no constraint form",
    ("tied", "SDIRK2"): "use BDF1, BDF2 or TRBDF2",
    ("tied", "ImplicitMidpoint"): "use BDF1, BDF2 or TRBDF2",
}
PAIRS = [(kind, c) for kind in KINDS for c in CHOICES if c.__name__ in KINDS[kind].steps_with]
WRITTEN = list(KINDS)
KAPPA = 1e10  # N/m^3


@pytest.fixture(scope="module")
def built():
    """Scenes are data, and may be shared."""
    return {name: kind.build() for name, kind in KINDS.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_a_scene_accepts_the_integrators_that_step_its_kind(kind, built):
    accepted = set()
    for choice in CHOICES:
        try:
            replace(built[kind], integrator=make(choice))
            accepted.add(choice.__name__)
        except SceneError as refusal:
            assert "scene.integrator" in str(refusal)
    assert accepted == set(KINDS[kind].steps_with)


@pytest.mark.parametrize("kind, choice", PAIRS, ids=lambda x: x if isinstance(x, str) else x.__name__)
def test_integrator(kind, choice, built):
    scene = replace(built[kind], integrator=make(choice))
    reason = REFUSED.get((kind, choice.__name__))
    if reason is None:
        check_integrator(scene)
    else:
        with pytest.raises((PliantError, AssertionError), match=reason):
            check_integrator(scene)


# Eulerian cloth has no stage; the tangent of fitted bodies is projected whether psd is asked for or not
@pytest.mark.parametrize("kind", [k for k in KINDS if k not in ("Eulerian cloth", "fitted")])
def test_system(kind, built):
    """Derivatives of everything; Rayleigh damping with beta leaves a part of K out that vanishes at rest.

    Barriers without friction: that leaves out how the directions of slip turn with positions. No air: its K is not
    symmetric, and the half that is not is left out.
    """
    scene = built[kind]
    scene = replace(scene, forces=[load for load in scene.forces if not isinstance(load, Airflow)])
    if "barrier" in kind:
        scene = replace(scene, contact=replace(scene.contact, mu=0.0))
    step = list(islice(simulate(scene), 2))[-1]
    system = step.system
    assert isinstance(system, Smooth)
    rng = np.random.default_rng(0)
    q = system.prescribe(step.state.q, step.state.t)
    v = step.state.v + 0.1 * rng.normal(size=len(q))
    v[np.setdiff1d(np.arange(len(q)), system.free)] = 0.0
    eps = 1e-8 if "barrier" in kind else 1e-6  # of a barrier's distance
    check_system(system, State(q, v, step.state.t), moving=kind != "solid", eps=eps)


@pytest.mark.parametrize("kind", KINDS)
def test_certificates_and_books(kind, built):
    steps = list(islice(simulate(built[kind]), 4))
    check_certificates(built[kind], steps)
    check_ledger(steps)


@pytest.mark.parametrize("kind", [k for k in KINDS if k not in ("soft and rigid, rows", "Eulerian cloth", "projected")])
def test_books_balance(kind, built):
    """Rows and projections dissipate at impacts, and are not here.

    Barriers get a stiffness: an adaptive one depends on h, so that contacts would store another energy for each.
    """
    scene, h = built[kind], 5e-4
    if "barrier" in kind:
        scene, h = replace(scene, contact=replace(scene.contact, stiffness=KAPPA)), 1e-5
    check_balance(scene, h=h)


@pytest.mark.parametrize("kind", WRITTEN)
def test_record_resume_export(kind, built, tmp_path):
    check_recording(built[kind], tmp_path)
    check_export(built[kind], tmp_path / "whole", tmp_path / "vtk")


@pytest.mark.parametrize("kind", WRITTEN)
def test_description(kind, built, tmp_path):
    described = check_description(built[kind], tmp_path)
    assert described or kind not in ("solid", "membrane", "springs")


@pytest.mark.parametrize("kind", KINDS)
def test_play(kind, built):
    check_play(built[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_every_obstacle_is_known_to_pictures(kind, built):
    assert [o.name for o in obstacles_of(built[kind])] == [o.name for o in built[kind].obstacles]


@pytest.mark.parametrize("kind", ["solid", "membrane", "springs", "cloth", "discontinuous"])
def test_damping_acts_once(kind, built):
    """alpha M, whatever the number of energies a body has."""
    body = replace(built[kind].bodies[0], damping=Rayleigh(alpha=0.7))
    system = replace(built[kind], bodies=[body]).system()
    q = built[kind].initial(system).q
    D = system.damping(q, np.ones_like(q), 0.0)
    assert abs(D + 0.7 * system.mass(q)).max() <= 1e-12 * abs(D).max()


@pytest.mark.parametrize("kind", ["solid", "membrane", "springs", "cloth", "tugged", "cut"])
@pytest.mark.parametrize("name", ["gravity", "kinetic", "contact", "damping", "total"])
def test_no_name_merges_columns(kind, name, built):
    scene = built[kind]
    plain, named = (s.system() for s in (scene, _renamed(scene, name)))
    q = scene.initial(plain).q + 1e-3 * np.random.default_rng(1).normal(size=len(scene.initial(plain).q))
    a, b = (s.energies(q, 0 * q, 0.0) for s in (plain, named))
    assert len(a) == len(b) and sorted(a.values()) == pytest.approx(sorted(b.values()), rel=1e-12)


def _renamed(scene, name):
    forces = [replace(f, body=0) for f in scene.forces]
    events = [replace(e, body=0) for e in scene.events]
    return replace(scene, bodies=[replace(scene.bodies[0], name=name)], forces=forces, events=events)


@dataclass(frozen=True, eq=False)
class Past:
    """A memory as a user may write it."""

    acceleration: np.ndarray
    count: int


@dataclass(frozen=True)
class Leapfrog:
    """A user's integrator with a frozen dataclass as its memory."""

    order: ClassVar[int] = 2

    def step(self, system, state, h, memory=None):
        a = system.acceleration(state.q, state.v, state.t) if memory is None else memory.acceleration
        v = state.v + 0.5 * h * a
        q = system.prescribe(state.q + h * v, state.t + h)
        a = system.acceleration(q, v, state.t + h)
        return Step(State(q, v + 0.5 * h * a, state.t + h), Past(a, 0 if memory is None else memory.count + 1))


def test_a_user_s_integrator_is_recorded_and_resumed(tmp_path, built):
    scene = replace(built["springs"], integrator=Leapfrog())
    check_integrator(scene)
    check_recording(scene, tmp_path)


def test_events_keep_the_contact_of_the_scene(built):
    """A cut body still falls on the floor."""
    last = list(simulate(built["cut"]))[-1]
    assert last.scene.contact is built["cut"].contact and last.system.contact is not None
    assert topology_of(last.system) is None and isinstance(last.system, Composed)
    assert last.report.contacts is not None


def test_loads_do_not_drop_the_contact_of_the_scene(built):
    steps = list(simulate(replace(built["tugged"], duration=0.06, integrator=BDF1())))
    assert max(s.report.contacts for s in steps) > 0


def test_scenes_are_values(built):
    """A step changes nothing in the scene it is of."""
    before = pickle.dumps([b.mesh.X for b in built["cut"].bodies])
    list(islice(simulate(built["cut"]), 3))
    assert pickle.dumps([b.mesh.X for b in built["cut"].bodies]) == before

"""Names are for reading: energies of equal names stay apart, and no name breaks a file or chooses physics."""

import numpy as np
import pytest

from pliant.articulated import Articulated, Link, at, cuboid
from pliant.articulated.forces import JointSpring
from pliant.articulated.joints import Revolute
from pliant.bodies import Rayleigh, Solid, SpringNet
from pliant.coarsen import fit
from pliant.contact.obstacles import Plane
from pliant.fitting import Fitting
from pliant.integrators import BDF1, TRBDF2, LinearlyImplicit
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import Mesh, bar, spring_net
from pliant.plots.ledger import parts, works
from pliant.record import Interrupted, Output, record, resume
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.systems.base import distinct
from pliant.systems.penalty_contact import PenaltyContact

NASTY = (
    "t",
    "step",
    "kinetic",
    "total",
    "numerical",
    "work_scripts",
    "converged",
    "a,b",
    'say "so"',
    "two\nlines",
    "ö",
    "",
)


def block(name="solid", at=0.0, E=1e4, **options):
    mesh = bar(size=(0.2, 0.1, 0.1), cells=(1, 1, 1))
    mesh = Mesh(mesh.X + np.array([at, 0.0, 0.0]), mesh.T)
    return Solid(mesh, StableNeoHookean(E, 0.3), name=name, **options)


def stretched(scene):
    """System and state with every body pulled in x by five percent about its own end."""
    system = scene.system()
    x = system.X.copy()
    for body, first in zip(scene.bodies, scene.offsets(), strict=False):
        rows = slice(first, first + len(body.mesh.X))
        x[rows, 0] += 0.05 * (x[rows, 0] - x[rows, 0].min())
    return system, x.ravel()


def test_distinct_names_are_distinct():
    assert distinct(["a", "b", "a", "a 2", "a"]) == ["a", "b", "a 2", "a 2 2", "a 3"]


def test_a_solid_called_gravity_keeps_its_energy_apart():
    plain, odd = (stretched(Scene([block(name)])) for name in ("solid", "gravity"))
    expected = plain[0].energies(plain[1], 0 * plain[1], 0.0)
    found = odd[0].energies(odd[1], 0 * odd[1], 0.0)
    assert found["gravity"] == expected["gravity"] and found["gravity 2"] == expected["elastic"] > 0.0


def test_two_bodies_of_one_name_have_two_columns():
    system, q = stretched(Scene([block(E=1e4), block(at=1.0, E=3e4)], gravity=(0, 0, 0)))
    energies = system.energies(q, 0 * q, 0.0)
    assert energies["elastic 2"] == pytest.approx(3.0 * energies["elastic"], rel=1e-12)


def test_the_energy_of_bodies_of_one_material_says_that_it_is_of_several():
    rubber = StableNeoHookean(1e4, 0.3)
    bodies = [Solid(block(at=at).mesh, rubber, name=name) for name, at in (("left", 0.0), ("right", 1.0))]
    system, q = stretched(Scene(bodies, gravity=(0, 0, 0)))
    energies = system.energies(q, 0 * q, 0.0)
    alone, p = stretched(Scene(bodies[:1], gravity=(0, 0, 0)))
    assert energies["left and 1 alike"] == pytest.approx(2.0 * alone.energies(p, 0 * p, 0.0)["left"], rel=1e-9)


def test_no_name_breaks_the_ledger(tmp_path):
    """Every column comes back under its own name, the energies sum to the total, and a resumed run is the same."""
    bodies = [block(name, at=0.5 * k, velocity=(0.0, 0.0, 0.1 * k)) for k, name in enumerate(NASTY)]
    scene = Scene(bodies, integrator=LinearlyImplicit(), h=1e-3, duration=0.006)
    whole = record(scene, tmp_path / "whole")
    steps = [step.ledger for step in simulate(scene)]
    ledger = whole.ledger
    assert len(parts(ledger)) == len(NASTY) + 2 and {"a,b", 'say "so"', "two\nlines"} <= set(ledger)
    np.testing.assert_array_equal(ledger["t"][1:], [row.t for row in steps])
    np.testing.assert_array_equal(ledger["step"], np.arange(7))
    np.testing.assert_array_equal(ledger["numerical"][1:], [row.numerical for row in steps])
    np.testing.assert_allclose(sum(ledger[name] for name in parts(ledger)), ledger["total"], rtol=1e-12, atol=1e-15)
    assert ledger["kinetic"][-1] == steps[-1].energies["kinetic"] and ledger["converged"].all()
    assert works(ledger)[0] == "work_scripts" and not set(works(ledger)) & set(parts(ledger))

    def stop(step):
        if step.index == 4:
            raise Interrupted

    with pytest.raises(Interrupted):
        record(scene, tmp_path / "half", output=Output(checkpoint_every=2), watch=stop)
    half = resume(tmp_path / "half", scene)
    assert list(half.ledger) == list(ledger)
    for name in ledger:
        assert name == "seconds" or half.ledger[name].tobytes() == ledger[name].tobytes(), name


def test_channels_do_not_choose_forces_by_name(tmp_path):
    """A solid called gravity has the elastic force of any other; the weight is no elastic force."""
    channels = Output(channels=("elastic_force", "contact_force", "friction_force"))
    runs = {}
    for name in ("solid", "gravity", "attachment", "friction"):
        body = block(name, damping=Rayleigh(alpha=1.0), velocity=(0.2, 0.0, -0.1))
        scene = Scene([body], contact=PenaltyContact(mu=0.5), obstacles=[Plane()], integrator=BDF1(), duration=0.05)
        runs[name] = record(scene, tmp_path / name, output=channels).frames[-1].point_values
    assert np.abs(runs["solid"]["elastic_force"]).max() > 0.0
    assert runs["solid"]["friction_force"][:, 0].sum() < 0.0 < runs["solid"]["contact_force"][:, 2].sum()
    assert np.abs(runs["solid"]["elastic_force"].sum(axis=0)).max() < 1e-9  # internal forces sum to zero
    for name in ("gravity", "attachment", "friction"):
        for channel, values in runs["solid"].items():
            np.testing.assert_array_equal(runs[name][channel], values)


def cantilever(cells, name, **options):
    mesh = bar(size=(0.4, 0.1, 0.1), cells=cells)
    pins = Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
    return Solid(mesh, StableNeoHookean(1e5, 0.3), pins=pins, name=name, **options)


def test_named_solids_are_fitted_like_others():
    """The correction of frequencies belongs to the elastic energy, whatever the body is called."""
    ends = {}
    for name in ("solid", "springboard", "gravity"):
        body = cantilever((2, 1, 1), name, fit=Fitting(cantilever((6, 2, 2), name), s=4))
        ends[name] = list(simulate(Scene([body], h=0.01, duration=0.03)))[-1].state.q
    plain = list(simulate(Scene([cantilever((2, 1, 1), "solid")], h=0.01, duration=0.03)))[-1].state.q
    assert np.abs(ends["solid"] - plain).max() > 1e-5  # a coarse bar is too stiff
    assert np.array_equal(ends["solid"], ends["springboard"]) and np.array_equal(ends["solid"], ends["gravity"])


def test_springs_of_any_name_are_fitted():
    net = SpringNet(spring_net(3, 3), k=40.0, mass=0.05, pins=Pin(np.array([0, 2])), name="trampoline")
    system = Scene([net]).system()
    B = np.eye(len(net.mesh.X))
    assert fit(system, system, B, 3).ratios == pytest.approx(np.ones(3), rel=1e-6)


@pytest.mark.parametrize("integrator", [LinearlyImplicit(), BDF1(), TRBDF2()], ids=lambda i: type(i).__name__)
def test_damping_of_soft_bodies_is_booked_beside_that_of_joints(integrator):
    """They have one name: what joints lose used to replace what soft bodies lose, even where joints lose nothing."""
    mesh = bar((0.3, 0.1, 0.1), (3, 1, 1))
    pins, calm = Pin(np.flatnonzero(mesh.X[:, 0] < 1e-9)), Rayleigh(alpha=5.0)
    soft = Solid(mesh, StableNeoHookean(3e4, 0.35), pins=pins, damping=calm, name="soft")
    arm = Articulated(
        [Link(Revolute((0.0, 1.0, 0.0)), cuboid((0.2, 0.04, 0.04), 500.0, at(0.1, 0.0, 2.0)))],
        [JointSpring(0, damping=0.05)],
        v=[3.0],
    )

    def lost(*bodies):
        scene = Scene(bodies, integrator=integrator, h=2e-3, duration=0.02)
        return sum(step.ledger.work["damping"] for step in simulate(scene))

    assert lost(soft) < -1e-4 and lost(arm) < -1e-4
    assert np.isclose(lost(soft, arm), lost(soft) + lost(arm), rtol=1e-6)

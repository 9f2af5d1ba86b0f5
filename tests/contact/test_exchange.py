"""Who did how much work on whom: checked against gradients, the energy theorem of each body alone, and closed forms."""

import numpy as np
import pytest

from pliant.bodies import Rayleigh, Solid
from pliant.contact.obstacles import Plane
from pliant.energies.base import Pressing
from pliant.forces.base import Rubbing
from pliant.integrators import BDF1, BDF2
from pliant.ledger import backward_euler_dissipation, opening
from pliant.maps.motions import Keyframes
from pliant.materials import StableNeoHookean
from pliant.mesh import Mesh, bar
from pliant.record import record
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.solvers import Newton, Tolerance
from pliant.state import State
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.penalty_contact import PenaltyContact

TIGHT = Newton(tolerance=Tolerance(1e-12, 1e-14))
CONTACTS = {
    "penalty": PenaltyContact(mu=0.3),
    "damped penalty": PenaltyContact(mu=0.3, damping=0.2),
    "barrier": BarrierContact(dhat=4e-3, mu=0.3),
}


def cube(at, **options):
    mesh = bar(size=(0.1, 0.1, 0.1), cells=(2, 2, 2))
    return Solid(Mesh(mesh.X + np.asarray(at), mesh.T), StableNeoHookean(2e4, 0.3), **options)


def collision(contact, **options):
    """A cube hits another one off center, askew, so that they press and rub."""
    bodies = [
        cube((0.0, 0.0, 0.0), velocity=(1.0, 0.3, 0.0), name="hammer"),
        cube((0.105, 0.013, 0.021), name="anvil"),
        cube((0.5, 0.5, 0.5), name="bystander"),
    ]
    values = {"integrator": BDF1(TIGHT), "gravity": (0, 0, 0), "h": 2e-3, "duration": 0.04}
    return Scene(bodies, contact=contact, **{**values, **options})


@pytest.mark.parametrize("name", CONTACTS)
def test_both_works_sum_to_the_work_of_the_contact_forces(name):
    """W_ab + W_ba = dq . f over all contact forces of the stage, here from the gradients of the energies."""
    scene = collision(CONTACTS[name])
    before, most = scene.initial(scene.system()), 0.0
    for step in simulate(scene):
        s, dq = step.state, step.state.q - before.q
        placed = step.acted.during
        f = sum((-e.gradient(s.q) for e in placed.energy_terms if isinstance(e, Pressing)), np.zeros_like(dq))
        f = f + sum(g.force(s.q, s.v, s.t) for g in placed.force_terms if isinstance(g, Rubbing))
        both = step.ledger.exchange["hammer", "anvil"] + step.ledger.exchange["anvil", "hammer"]
        size = np.abs(dq * f).sum()
        assert both == pytest.approx(dq @ f, abs=1e-9 * size + 1e-15)
        most, before = max(most, size), s
        assert all(v == 0.0 for pair, v in step.ledger.exchange.items() if "bystander" in pair)
    assert most > 1e-3  # they did meet


@pytest.mark.parametrize(
    "contact, accuracy",
    [
        (PenaltyContact(mu=0.3, lagged=False), 1e-7),
        (PenaltyContact(mu=0.3), 1e-7),
        (BarrierContact(dhat=4e-3, mu=0.3), 1e-7),
    ],
    ids=["penalty", "lagged penalty", "barrier"],
)
def test_what_a_body_gains_is_the_work_of_the_other(contact, accuracy):
    """Energy theorem of one body alone: T + W gained, and what backward Euler took of it, is what contact did on it."""
    scene = collision(contact)
    system, offsets = scene.system(), scene.offsets()
    alone = [Scene([body], gravity=(0, 0, 0)).system() for body in scene.bodies]
    before, works, gains = scene.initial(system), [], []
    for step in simulate(scene):
        for k, pair in enumerate((("anvil", "hammer"), ("hammer", "anvil"))):
            rows = slice(3 * offsets[k], 3 * offsets[k + 1])
            a, b = (State(s.q[rows], s.v[rows], s.t) for s in (before, step.state))
            taken = backward_euler_dissipation(alone[k], a, b)
            gains.append(opening(0, alone[k], b).total - opening(0, alone[k], a).total + taken)
            works.append(step.ledger.exchange[pair])
        before = step.state
    size = np.abs(works).max()
    assert size > 1e-2
    np.testing.assert_allclose(works, gains, atol=accuracy * size)


def test_an_elastic_push_gives_what_it_takes():
    """Before and after the collision contact stores nothing: over all of it the two works cancel."""
    scene = collision(PenaltyContact(mu=0.0), integrator=BDF2(TIGHT), h=2.5e-4, duration=0.08)
    rows = [step.ledger for step in simulate(scene)]
    assert rows[-1].energies["contact"] < 1e-12
    there, back = (sum(r.exchange[pair] for r in rows) for pair in (("hammer", "anvil"), ("anvil", "hammer")))
    assert there > 0.05 and there + back == pytest.approx(0.0, abs=1e-2 * there)


def test_a_lift_works_on_the_body_it_carries(tmp_path):
    """A plane that rises at 0.5 m/s does m g 0.5 h a step on the cube riding on it, and the cube as much less on it."""
    up = Keyframes((0.0, 1.0), ((0.0, 0.0, 0.0), (0.0, 0.0, 0.5)))
    body = cube((0.0, 0.0, 1e-4), damping=Rayleigh(beta=2e-2), velocity=(0.0, 0.0, 0.5), name="rider")
    lift = Plane(motion=up, name="lift")
    scene = Scene([body], contact=PenaltyContact(), obstacles=[lift], integrator=BDF1(), h=5e-3, duration=0.5)
    run = record(scene, tmp_path)
    each = 9.81 * 0.5 * 5e-3
    assert run.ledger["work_lift_on_rider"][-1] == pytest.approx(each, rel=1e-3)
    assert run.ledger["work_rider_on_lift"][-1] == pytest.approx(-each, rel=1e-3)
    assert run.ledger["work_scripts"][-1] == pytest.approx(each, rel=1e-3)


def test_what_stands_still_does_no_work():
    scene = Scene([cube((0.0, 0.0, 0.0))], contact=PenaltyContact(), obstacles=[Plane()], h=5e-3, duration=0.01)
    assert [step.ledger.exchange for step in simulate(scene)] == [{}, {}]

"""Steps that choose their size: estimates are errors, errors follow the tolerance, nothing is lost on the way."""

from dataclasses import replace

import numpy as np
import pytest

from pliant.adjoint import gradient
from pliant.bench.time.cases import MotionCase, error, exact_step, followed, oscillator, reference, swinging_bar
from pliant.bodies import Rayleigh, Solid, SpringNet
from pliant.certificate import certify
from pliant.checkpoint import load, save
from pliant.errors import SceneError
from pliant.events import Release
from pliant.integrators import (
    BDF1,
    BDF2,
    ERE,
    SDIRK2,
    TRBDF2,
    Adaptive,
    ImplicitMidpoint,
    Quasistatic,
    SymplecticEuler,
    Verlet,
)
from pliant.integrators.bdf2 import History
from pliant.integrators.control import SAFETY, between, shorter_step
from pliant.integrators.estimate import estimated
from pliant.loads import Tug
from pliant.maps.motions import Keyframes
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar, spring_net
from pliant.scene import Scene
from pliant.scene_file import load_scene
from pliant.scenes.contact import bouncing_ball
from pliant.scenes.redmax import chains
from pliant.simulate import simulate
from pliant.solvers import Newton, Tolerance
from pliant.state import State
from pliant.systems.penalty_contact import PenaltyContact

TIGHT = Newton(tolerance=Tolerance(relative=1e-9, absolute=1e-13))


def beam(**options):
    mesh = bar(size=(0.2, 0.1, 0.1), cells=(2, 1, 1))
    pins = options.pop("pins", Pin(mesh.where(lambda X: X[:, 0] < 1e-9)))
    damping = Rayleigh(alpha=0.5, beta=2e-3)
    return Scene([Solid(mesh, StableNeoHookean(E=2e4, nu=0.4), pins=pins, damping=damping)], **options)


@pytest.mark.parametrize("method", [TRBDF2(TIGHT), SDIRK2(TIGHT), BDF2(TIGHT), BDF1(TIGHT), ImplicitMidpoint(TIGHT)])
def test_the_estimate_is_the_error_of_a_step(method):
    scene, h = beam(), 1e-3
    system = scene.system()
    states = [scene.initial(system)]
    for _ in range(3):
        states.insert(0, exact_step(system, states[0], h))
    memory = History(tuple(states[:3]), (h, h), None) if isinstance(method, BDF2) else None
    step, told = estimated(method, system, states[0], h, memory)
    true = exact_step(system, states[0], h)
    near = 0.35 if isinstance(method, BDF2) else 0.25  # its difference is that of a step and a half ago
    for guess, made in ((told.q, true.q - step.state.q), (told.v, true.v - step.state.v)):
        assert np.linalg.norm(guess - made) < near * np.linalg.norm(made)


def test_ere_knows_what_linearising_left_out():
    scene, h = beam(), 4e-3
    system = scene.system()
    state = exact_step(system, scene.initial(system), 0.02)
    step, told = estimated(ERE(tolerance=1e-11), system, state, h, None)
    made = exact_step(system, state, h).q - step.state.q
    assert np.linalg.norm(told.q - made) < 0.3 * np.linalg.norm(made)


def test_bdf2_is_of_order_2_on_random_steps():
    scene, T = beam(), 0.1
    exact, errors, counts = reference(scene, T, 1)[-1], [], [30, 60, 120]
    for n in counts:
        h = np.random.default_rng(n).uniform(0.5, 1.0, n)
        system = scene.system()
        state, memory = scene.initial(system), None
        for part in h * (T / h.sum()):
            step = BDF2(TIGHT).step(system, state, float(part), memory)
            state, memory = step.state, step.memory
        errors.append(np.linalg.norm(state.q - exact))
    assert -np.polyfit(np.log(counts), np.log(errors), 1)[0] == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("method", [TRBDF2(), BDF2()])
def test_errors_follow_the_tolerance(method):
    case = MotionCase("oscillator", oscillator, 0.1, 4)
    exact = reference(oscillator(), 0.1, 4)
    found = [error(followed(case, Adaptive(method, tolerance=tol)).q, exact, 3) for tol in (1e-2, 1e-4)]
    assert found[0] < 1e-2 and found[1] < 1e-4
    assert found[0] / found[1] == pytest.approx(100.0, rel=0.6)


def test_frames_do_not_shorten_steps():
    coarse, fine = (followed(MotionCase("bar", swinging_bar, 0.04, n), Adaptive(tolerance=1e-2)) for n in (2, 40))
    assert fine.accepted <= coarse.accepted + 6 < 40  # the first step is a part of a frame
    assert error(fine.q[19::20], coarse.q, 3) < 1e-3


def test_states_between_steps_lie_on_the_motion():
    scene = beam()
    system = scene.system()
    start = exact_step(system, scene.initial(system), 0.01)
    wrong = []
    for h in (8e-3, 4e-3):
        end, middle = exact_step(system, start, h), exact_step(system, start, 0.3 * h)
        found = between(start, end, start.t + 0.3 * h)
        wrong.append((np.linalg.norm(found.q - middle.q), np.linalg.norm(found.v - middle.v)))
    orders = np.log2(np.array(wrong[0]) / wrong[1])
    assert orders == pytest.approx([4.0, 3.0], abs=0.3)


def test_a_run_that_is_resumed_is_the_same_to_the_bit(tmp_path):
    """Saved before and after frames with rejected steps, and within steps that are longer than a frame."""
    contact = PenaltyContact(mu=0.0, k=3e3, smoothing=5e-3)
    scene = bouncing_ball(cells=3, height=0.02, contact=contact, integrator=Adaptive(tolerance=1e-2))
    scene = replace(scene, h=0.006, duration=0.09)
    steps = list(simulate(scene))
    rejected = [s.index for s in steps if s.report.rejected]
    assert rejected and any(s.report.accepted == 0 for s in steps)
    for k in {rejected[-1] - 1, rejected[-1], next(s.index for s in steps if s.report.accepted == 0)}:
        save(tmp_path / "c.h5", steps[k - 1].checkpoint())
        for before, after in zip(steps[k:], simulate(scene, start=load(tmp_path / "c.h5")), strict=True):
            assert before.state.q.tobytes() == after.state.q.tobytes()
            assert before.state.v.tobytes() == after.state.v.tobytes()
            assert repr(before.ledger) == repr(after.ledger)
            assert before.report.estimate == after.report.estimate


def test_steps_land_on_corners_of_loads():
    """A tug that ends at once: the error of a step across the jump would be of its own order."""
    tip = bar(size=(0.2, 0.1, 0.1), cells=(2, 1, 1)).where(lambda X: X[:, 0] > 0.2 - 1e-9)
    scene = beam(forces=[Tug(tip, (0.0, 0.0, 3.0), 0.013, 0.027, 0.0511)])
    case = MotionCase("tug", lambda: scene, 0.08, 4)
    found = followed(case, Adaptive(tolerance=1e-4))
    assert scene.stops() == (0.013, 0.027, 0.0511)
    assert error(found.q, reference(scene, 0.08, 4), 3) < 1e-5
    assert found.rejected <= 3


def test_books_balance_over_the_steps_inside():
    """The work of a tug within a frame of many steps; trapezoids over whole frames would miss a part of it."""
    tip = bar(size=(0.2, 0.1, 0.1), cells=(2, 1, 1)).where(lambda X: X[:, 0] > 0.2 - 1e-9)
    tug = Tug(tip, (0.0, 0.0, 3.0), 0.013, 0.027, 0.0511)
    scene = beam(forces=[tug], integrator=Adaptive(tolerance=1e-4), h=0.04, duration=0.08)
    rows = [step.ledger for step in simulate(scene)]
    assert all(abs(row.numerical) < 1e-4 * row.scale for row in rows)
    assert abs(rows[0].work["tugs"]) > 1e-3


def test_events_happen_at_their_time_within_a_frame():
    free = lambda h: replace(beam(events=[Release(0.033)], integrator=Adaptive(tolerance=1e-5)), h=h, duration=0.066)
    apart = [list(simulate(free(h)))[-1] for h in (0.066, 0.033)]
    assert np.abs(apart[0].state.q - apart[1].state.q).max() < 1e-5
    assert apart[0].report.substeps == 2
    fixed = list(simulate(replace(free(0.066), integrator=TRBDF2())))[-1]  # there it waits for the next frame
    assert np.abs(apart[0].state.q - fixed.state.q).max() > 1e-3


def test_scripted_vertices_are_on_their_script_in_every_frame():
    mesh = bar(size=(0.2, 0.1, 0.1), cells=(2, 1, 1))
    script = Keyframes((0.0, 0.0234, 0.05), ((0.0, 0.0, 0.0), (0.01, 0.0, 0.0), (0.0, 0.0, 0.0)))
    held = np.flatnonzero(mesh.X[:, 0] < 1e-9)
    scene = beam(pins=Pin(held, script), integrator=Adaptive(tolerance=1e-3), h=0.01, duration=0.06)
    for step in simulate(scene):
        x = step.state.q.reshape(-1, 3)[held]
        assert np.abs(x - script.positions(mesh.X[held], step.state.t)).max() < 1e-12


def test_trees_step_too():
    scene = replace(chains.scene_m1(), h=0.05, duration=0.2)  # in cm
    ends = []
    for method in (TRBDF2(), BDF2()):
        steps = list(simulate(replace(scene, integrator=Adaptive(method, tolerance=1e-2))))
        ends.append(steps[-1].state.q)
        total = [step.ledger.total for step in steps]
        assert np.ptp(total) < 1e-3 * max(step.ledger.energies["kinetic"] for step in steps)
    assert 0.0 < np.abs(ends[0] - ends[1]).max() < 1e-3


@pytest.mark.parametrize("method", [Verlet(), SymplecticEuler()])
def test_symplectic_methods_follow_their_limit_and_keep_the_energy(method):
    net = SpringNet(spring_net(4, 4), k=400.0, mass=0.02, pins=Pin(np.array([0, 3])))
    scene = Scene([net], integrator=Adaptive(method), h=0.02, duration=1.0)
    steps = list(simulate(scene))
    total = np.array([s.ledger.total for s in steps])
    scale = max(s.ledger.scale for s in steps)
    assert np.abs(total - total[0]).max() < 0.05 * scale
    assert all(s.report.inner_h < 0.02 and s.report.estimate is None for s in steps)


def test_certificates_tell_what_was_done():
    scene = beam(integrator=Adaptive(tolerance=1e-3), h=0.02, duration=0.04)
    for step in simulate(scene):
        report = step.report
        assert report.converged and report.accepted > 1 and report.rejected is not None
        assert 0.0 < report.estimate <= 1e-3 * 0.02
        assert 0.0 < report.inner_h < 0.02
    system = scene.system()
    plain = TRBDF2().step(system, scene.initial(system), 0.01)
    assert certify(1, 0.01, [plain], system, 0.0).estimate is None


def test_the_least_step_is_taken_but_not_certified():
    scene = beam(integrator=Adaptive(tolerance=1e-7, h_min=0.01), h=0.02, duration=0.02)
    (step,) = simulate(scene)
    assert step.report.converged is None and step.report.accepted == 2


def test_a_step_that_cannot_be_solved_is_tried_again_shorter():
    impatient = Newton(max_iterations=2)
    scene = beam(integrator=Adaptive(TRBDF2(impatient), tolerance=1.0), h=0.2, duration=0.2)
    (step,) = simulate(scene)
    assert step.report.converged and step.report.rejected >= 1


def test_a_file_can_ask_for_it(tmp_path):
    (tmp_path / "scene.toml").write_text(
        'integrator = { kind = "adaptive", tolerance = "1 mm", h_max = "50 ms", integrator = "bdf2" }\n'
        '[[bodies]]\nkind = "solid"\nmesh = { generator = "bar", cells = [2, 1, 1] }\n'
        'material = { kind = "stable-neo-hookean", E = "20 kPa", nu = 0.4 }\n'
    )
    asked = load_scene(tmp_path / "scene.toml").scene.integrator
    assert asked == Adaptive(BDF2(), tolerance=1e-3, h_max=0.05)
    finer = load_scene(tmp_path / "scene.toml", ["integrator.tolerance=1e-5"]).scene.integrator
    assert finer.tolerance == 1e-5


def test_refusals_name_what_is_wrong():
    for make, said in (
        (lambda: Adaptive(Quasistatic()), "Quasistatic has no error"),
        (lambda: Adaptive(Adaptive()), "Adaptive has no error"),
        (lambda: Adaptive(h_min=0.1, h_max=0.01), "h_min = 0.1 s is longer than h_max = 0.01 s"),
        (lambda: Adaptive(tolerance=0.0), "tolerance is 0"),
        (lambda: list(simulate(beam(integrator=Adaptive(tolerance=1e-14)))), "below the round-off"),
        (lambda: gradient(beam(integrator=Adaptive()), lambda states: 0.0, ["material.E"]), "Adaptive has no adjoint"),
    ):
        with pytest.raises(SceneError, match=said):
            make()


def test_a_state_that_somebody_changed_is_where_it_goes_on_from():
    scene = beam()
    system, chosen = scene.system(), Adaptive(tolerance=1e-2)
    step = chosen.step(system, scene.initial(system), 0.01)
    kicked = State(step.state.q, step.state.v + 0.1, step.state.t)
    after = chosen.step(system, kicked, 0.001, step.memory).state
    assert np.abs(after.q - exact_step(system, kicked, 0.001).q).max() < 1e-4


def test_a_rejected_step_is_as_much_shorter_as_its_error_asks():
    """Errors that vanish like h^2 and are four times too large ask for half the step, and a little less."""
    assert shorter_step(1.0, 4.0, 2) == pytest.approx(0.5 * SAFETY)
    assert shorter_step(1.0, 8.0, 3) == pytest.approx(0.5 * SAFETY)
    assert shorter_step(1.0, 1.0 + 1e-12, 2) <= SAFETY

"""EigenFit with nonlinear solvers, moving supports, ledgers, contact, SIERE, and modes followed from step to step."""

import numpy as np
import pytest
from fitted_bars import COARSE, FIT, SIZE, bent, body, rough
from scipy.linalg import eigh

from pliant import checkpoint
from pliant.bodies import Solid
from pliant.checkpoint import Checkpoint
from pliant.coarsen import Following
from pliant.contact.obstacles import Plane
from pliant.integrators import BDF1, BDF2, SDIRK2, SIERE, TRBDF2, ImplicitMidpoint, LinearlyImplicit
from pliant.ledger import entry, opening
from pliant.maps.motions import Shake
from pliant.maps.pins import Pin
from pliant.materials import ARAP, Linear, NeoHookean
from pliant.scene import Scene
from pliant.solvers import LBFGS, ND, QLB, QLF, Newton, NewtonPCG, Tolerance
from pliant.state import State
from pliant.systems.eigenfit import EigenFit
from pliant.systems.penalty_contact import PenaltyContact

SOFT = NeoHookean(E=1e5, nu=0.45)
CLOSE = Tolerance(relative=1e-10, absolute=1e-13)
SHAKE = Shake((0.0, 0.01, 0.0), 5.0)


def march(system, integrator, state, steps, h=0.01, memory=None):
    out = []
    for _ in range(steps):
        step = integrator.step(system, state, h, memory)
        assert all(r.converged for r in step.reports), step.reports
        state, memory = step.state, step.memory
        out.append(step)
    return out


# ------------------------------------------------------------------------------------------------ supports


def test_stiffness_is_the_derivative_of_the_force_at_prescribed_coordinates_too():
    """A support that moves pulls with the corrected stiffness; an M that couples it to the body must not."""
    system = EigenFit(body(COARSE), FIT, frozen=True)
    q = rough(system).q
    K = system.stiffness(q, 0 * q, 0.0) @ np.eye(len(q))
    columns = np.arange(len(q))
    for j in columns[::7]:
        d = 1e-5 * (columns == j)
        f = (system.force(q + d, 0 * q, 0.0) - system.force(q - d, 0 * q, 0.0)) / 2e-5
        assert np.allclose(K[:, j], f, atol=1e-6 * np.abs(K).max())


@pytest.mark.parametrize("material", [Linear(E=1e5, nu=0.45), SOFT], ids=["linear", "neo-Hookean"])
def test_the_correction_is_an_internal_force(material):
    system = EigenFit(body(COARSE, material), FIT, tolerance=1e-8)  # as exactly internal as the modes are exact
    q = bent(system).q
    f = system.force(q, 0 * q, 0.0).reshape(-1, 3)
    assert np.linalg.norm(f.sum(axis=0)) < 1e-7 * np.abs(f).sum()
    moved = (COARSE.X + [0.3, -0.2, 0.1]).ravel()
    assert np.abs(system.force(moved, 0 * moved, 0.0)).max() < 1e-9 * np.abs(f).max()


def test_a_shaken_support_is_felt_at_once():
    """One linearly implicit step on a moving support is one Newton step of backward Euler."""
    inner = body(COARSE, motion=SHAKE)
    system = EigenFit(inner, FIT, frozen=True)
    start = State(system.prescribe(COARSE.X.ravel(), 0.0), np.zeros(COARSE.X.size))
    a = march(system, LinearlyImplicit(), start, 3)[-1].state
    b = march(system, BDF1(Newton(tolerance=CLOSE)), start, 3)[-1].state
    assert np.abs(a.q - start.q).max() > 1e-3
    assert np.allclose(a.q, b.q, atol=1e-10)


# ------------------------------------------------------------------------------------------------ solvers


@pytest.mark.parametrize("integrator", [BDF1, BDF2, ImplicitMidpoint, SDIRK2, TRBDF2])
def test_all_solvers_find_the_root_of_a_stage(integrator):
    """Far from rest, with modes of the start of the stage: Newton, quasi-Newton and descent methods agree."""
    system = EigenFit(body(COARSE, SOFT, gravity=True), FIT, rematch=True)
    found = {}
    for solver in (Newton, QLF, QLB, LBFGS):
        steps = march(system, integrator(solver(tolerance=CLOSE)), bent(system), 2, h=0.005)
        found[solver.__name__] = steps[-1].state.q
    for q in found.values():
        assert np.allclose(q, found["Newton"], atol=1e-8)


def test_the_low_rank_term_does_not_slow_newton_down():
    plain, fitted = body(COARSE, SOFT, gravity=True), EigenFit(body(COARSE, SOFT, gravity=True), FIT)
    # the matrix of a fitted system is always projected: so is the one it is compared with
    count = lambda system: sum(s.reports[0].iterations for s in march(system, BDF1(ND()), bent(plain), 6))
    assert count(fitted) <= count(plain) + 6


def test_iterative_linear_solvers_see_the_whole_matrix():
    system = EigenFit(body(COARSE, SOFT, gravity=True), FIT)
    a = march(system, BDF1(Newton(tolerance=CLOSE)), bent(system), 1)[-1].state.q
    b = march(system, BDF1(NewtonPCG(tolerance=CLOSE)), bent(system), 1)[-1].state.q
    assert np.allclose(a, b, atol=1e-8)


# ------------------------------------------------------------------------------------------------ ledger


def test_fixed_modes_have_a_potential_and_midpoint_keeps_the_energy():
    system = EigenFit(body(COARSE, gravity=True), FIT, frozen=True)
    state = rough(system)
    for j in range(0, len(system.free), 9):
        d = np.zeros_like(state.q)
        d[system.free[j]] = 1e-5
        slope = (system.potential(state.q + d, 0.0) - system.potential(state.q - d, 0.0)) / 2e-5
        assert slope == pytest.approx(-system.force(state.q, 0 * d, 0.0)[system.free[j]], rel=1e-6, abs=1e-5)
    row = opening(0, system, state)
    assert row.energies["eigenfit"] < 0.0  # a softer body stores less
    for step in march(system, ImplicitMidpoint(Newton(tolerance=CLOSE)), state, 10):
        last, row = row, entry(row, system, state, step.state, 2)
        state = step.state
        assert abs(row.numerical) < 1e-9 * row.scale and row.total == pytest.approx(last.total, rel=1e-9)


def test_fixed_modes_of_a_nonlinear_material_have_no_potential_and_are_booked_as_work():
    system = EigenFit(body(COARSE, SOFT), FIT, frozen=True)
    start = bent(system, size=0.02, speed=0.2)
    assert system.potential(start.q, 0.0) is None and "eigenfit" not in system.energies(start.q, start.v, 0.0)
    step = march(system, BDF1(Newton(tolerance=CLOSE)), start, 1)[-1]
    row = entry(opening(0, system, start), system, start, step.state, 1)
    assert row.work["eigenfit"] != 0.0 and row.numerical > 0.0


def test_the_work_of_moving_modes_is_booked_and_the_integrator_is_not_blamed():
    """What midpoint takes falls with h^2, while the correction keeps doing its work."""
    lost = {}
    for h in (4e-3, 2e-3, 1e-3):
        system = EigenFit(body(COARSE, SOFT, beta=0.0), FIT, tolerance=1e-6)
        state, row = bent(system, size=0.05, speed=0.5), opening(0, system, bent(system, size=0.05, speed=0.5))
        taken = work = 0.0
        for step in march(system, ImplicitMidpoint(Newton(tolerance=CLOSE)), state, round(0.04 / h), h=h):
            row = entry(row, system, state, step.state, 2)
            state, taken, work = step.state, taken + row.numerical, work + abs(row.work["eigenfit"])
        lost[h] = abs(taken) / work
    assert lost[1e-3] < 0.01 and lost[1e-3] < 0.5 * lost[4e-3], lost


def test_damping_by_the_corrected_stiffness_is_booked():
    system = EigenFit(body(COARSE), FIT, beta=0.01, frozen=True)
    state = rough(system)
    step = march(system, BDF1(Newton(tolerance=CLOSE)), state, 1)[-1]
    row = entry(opening(0, system, state), system, state, step.state, 1)
    D = system.damping(step.state.q, step.state.v, 0.0)
    assert row.work["damping"] == pytest.approx(float((step.state.q - state.q) @ (D @ step.state.v)), rel=1e-9)
    assert row.work["damping"] < 0.0 and row.numerical > 0.0


# ------------------------------------------------------------------------------------------------ followed modes


@pytest.mark.parametrize("integrator", [LinearlyImplicit(), BDF1(), BDF2(QLB())], ids=lambda i: type(i).__name__)
def test_followed_modes_are_those_sought_anew(integrator):
    exact = EigenFit(body(COARSE, SOFT, gravity=True), FIT, rematch=True, tolerance=1e-8)
    followed = EigenFit(body(COARSE, SOFT, gravity=True), FIT, rematch=True)
    a = march(exact, integrator, bent(exact), 12)
    b = march(followed, Following(integrator), bent(exact), 12)
    motion = np.abs(a[-1].state.q - exact.X.ravel()).max()
    assert np.abs(a[-1].state.q - b[-1].state.q).max() < 2e-3 * motion
    assert max(s.reports[0].counts.solves for s in b[1:]) > max(s.reports[0].counts.solves for s in a[1:])  # booked


def test_followed_modes_are_the_lowest_ones():
    system = EigenFit(body(COARSE, SOFT, gravity=True), FIT, rematch=True)
    steps = march(system, Following(), bent(system), 20)
    q = steps[-2].state.q  # the modes of the last step belong to its start
    K = system.inner.restrict(-system.inner.stiffness(q, 0 * q, 0.0, psd=True)).toarray()
    M = system.restrict(system.mass(q)).toarray()
    lam = eigh(K, M, eigvals_only=True)[:8]
    U = steps[-1].memory.starts[0].U[:, :8]
    assert np.allclose(np.diag(U.T @ K @ U), lam, rtol=2e-3)


def test_following_restarts_bit_for_bit(tmp_path):
    make = lambda: EigenFit(body(COARSE, ARAP(E=1e4), motion=SHAKE), FIT, rematch=True)
    straight = march(make(), Following(), bent(make()), 12)
    half = straight[5]
    checkpoint.save(tmp_path / "half.h5", Checkpoint(6, half.state, half.memory))
    point = checkpoint.load(tmp_path / "half.h5")
    resumed = march(make(), Following(), point.state, 6, memory=point.memory)
    assert resumed[-1].state.q.tobytes() == straight[-1].state.q.tobytes()
    assert sum(s.reports[0].counts.factorizations for s in straight) > 12  # a new factor was needed on the way


def test_following_is_the_integrator_itself_on_other_systems():
    system = body(COARSE, SOFT, gravity=True)
    a, b = march(system, BDF2(), bent(system), 3)[-1], march(system, Following(BDF2()), bent(system), 3)[-1]
    assert a.state.q.tobytes() == b.state.q.tobytes() and Following(BDF2()).order == 2


# ------------------------------------------------------------------------------------------------ contact, SIERE


def touching(integrator):
    pins = Pin(COARSE.where(lambda X: X[:, 0] < 1e-9))
    solid = Solid(COARSE, SOFT, density=1000.0, pins=pins, lumped=False)
    floor = Plane(point=(0, 0, -0.02))
    return Scene([solid], integrator=integrator, contact=PenaltyContact(), obstacles=[floor], h=0.005, duration=0.2)


@pytest.mark.parametrize("integrator", [LinearlyImplicit(), BDF1(), BDF2(QLB())], ids=lambda i: type(i).__name__)
def test_a_fitted_bar_lands_on_a_floor(integrator):
    """Contact is not corrected: the bar comes to lie where the floor is, and it sags farther than the coarse one."""
    scene = touching(integrator)
    inner = scene.system()
    system = EigenFit(inner, FIT, rematch=True)
    steps = march(system, Following(integrator), scene.initial(inner), 60, h=0.005)
    end, states = steps[-1].state, [step.state for step in steps]
    far = COARSE.X[:, 0] > SIZE[0] - 1e-9
    lowest = min(state.q.reshape(-1, 3)[far, 2].min() for state in states)
    assert any(len(system.contacts(s.q, s.v, s.t)) for s in states)
    assert -0.025 < lowest < -0.02
    plain = march(inner, integrator, scene.initial(inner), 60, h=0.005)[-1].state
    assert np.abs(plain.q - end.q).max() > 1e-4


def test_siere_captures_the_corrected_modes_of_a_nonlinear_body():
    """Undamped: linearly implicit Euler loses the fitted vibration, SIERE keeps it; and its period is the fine one."""
    system = EigenFit(body(COARSE, SOFT), FIT, rematch=True)
    U = np.zeros(system.X.size)
    U[system.free] = 1e-4 * FIT.modes[:, 0]
    period = 2 * np.pi / np.sqrt(FIT.fine[0])
    start = State(system.X.ravel() + U, 0 * U)
    amplitude = {}
    for integrator in (LinearlyImplicit(), SIERE(s=4)):
        end = march(system, Following(integrator), start, 60, h=period / 20)[-1].state
        amplitude[type(integrator).__name__] = float((end.q - start.q + U) @ U / (U @ U))
    assert amplitude["SIERE"] > 0.98 and abs(amplitude["LinearlyImplicit"]) < 0.2, amplitude

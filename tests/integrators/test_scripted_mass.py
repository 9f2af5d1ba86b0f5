"""A consistent mass matrix, in which vertices that a script moves carry their neighbours."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant as pl

BAR = pl.mesh.bar((0.2, 0.1, 0.1), (2, 1, 1))
HELD = BAR.where(lambda X: X[:, 0] < 1e-9)
SHAKE = pl.Shake((0.01, 0.0, 0.005), 8.0)
DURATION = 0.02


def scene(integrator, steps=100):
    body = pl.Solid(BAR, pl.Linear(5e4, 0.3), pins=pl.Pin(HELD, SHAKE), lumped=False)
    return pl.Scene([body], integrator, DURATION / steps, DURATION, gravity=(0, 0, 0))


def ending(integrator, steps=100):
    *_, last = pl.simulate(scene(integrator, steps))
    return last.state.q - BAR.X.ravel()


@pytest.fixture(scope="module")
def truth():
    """M_ff a_f = -K_ff u_f - K_fp u_p - M_fp a_p by SciPy, with the impulse M_fp v_p of the moment when pins start."""
    made = scene(pl.BDF1())
    system = made.system()
    q0, free = BAR.X.ravel(), system.free
    held = np.setdiff1d(np.arange(len(q0)), free)
    M = np.kron(made.bodies[0].masses().toarray(), np.eye(3))
    K = -system.stiffness(q0, 0.0 * q0, 0.0).toarray()
    omega, amplitude = 2.0 * np.pi * SHAKE.frequency, np.tile(SHAKE.amplitude, len(HELD))
    M_f, K_f = M[np.ix_(free, free)], K[np.ix_(free, free)]
    M_p, K_p = M[np.ix_(free, held)] @ amplitude, K[np.ix_(free, held)] @ amplitude

    def rate(t, y):
        u, v = np.split(y, 2)
        pulls = K_f @ u + (K_p - omega**2 * M_p) * np.sin(omega * t)
        return np.concatenate([v, -np.linalg.solve(M_f, pulls)])

    start = np.concatenate([0.0 * free, -np.linalg.solve(M_f, M_p * omega)])
    found = solve_ivp(rate, (0.0, DURATION), start, "DOP853", rtol=1e-9, atol=1e-12)
    end = np.zeros_like(q0)
    end[free], end[held] = found.y[: len(free), -1], amplitude * np.sin(omega * DURATION)
    return end


@pytest.mark.parametrize(
    ("integrator", "order"),
    [(pl.BDF1(), 1), (pl.BDF2(), 2), (pl.SDIRK2(), 2), (pl.TRBDF2(), 2), (pl.LinearlyImplicit(), 1)],
    ids=lambda given: type(given).__name__,
)
def test_methods_that_solve_for_all_of_the_inertia_converge_to_it(truth, integrator, order):
    size = np.abs(truth).max()
    coarse, fine = (np.abs(ending(integrator, n) - truth).max() / size for n in (50, 200))
    assert fine < {1: 3e-2, 2: 2e-4}[order]
    assert fine < 0.35**order * coarse


@pytest.mark.parametrize(
    "integrator",
    [pl.RK4(), pl.Verlet(), pl.ImplicitMidpoint(), pl.EnergyMomentum(), pl.ERE(), pl.SIERE(), pl.Adaptive(pl.Verlet())],
    ids=lambda integrator: type(integrator).__name__,
)
def test_the_others_are_refused(integrator):
    with pytest.raises(pl.SceneError, match="leaves out the inertia that moving pins of 'solid' share"):
        scene(integrator)


def test_supports_feel_what_they_carry():
    """dP/dt is the sum of the reactions."""
    steps = list(pl.simulate(scene(pl.TRBDF2(), 400)))
    P = np.array([step.ledger.linear for step in steps])
    rates = (P[2:] - P[:-2]) / (2.0 * DURATION / 400)
    felt = np.array([step.support_forces().sum(axis=0) for step in steps[1:-1]])
    assert np.abs(felt - rates)[20:].max() < 0.01 * np.abs(rates).max()

"""Three verdicts: converged, failed, not certified; the last one with a measure of what was given up."""

import numpy as np
import pytest

import pliant as pl
from pliant.integrators import ERE, RK4, SIERE, XPBD, ConJac, LinearlyImplicit, SymplecticEuler, Verlet
from pliant.ledger import certified
from pliant.linear.pcg import PCG
from pliant.mesh import bar
from pliant.simulate import simulate
from pliant.solvers.projective import PD


def hanging(integrator, h: float = 1e-3, E: float = 1e5, steps: int = 10) -> list:
    mesh = bar(size=(0.3, 0.1, 0.1), cells=(6, 2, 2))
    solid = pl.Solid(
        mesh, pl.Corotational(E=E, nu=0.4), density=1000.0, pins=pl.Pin(mesh.where(lambda X: X[:, 0] < 0.01))
    )
    return list(simulate(pl.Scene(bodies=[solid], integrator=integrator, h=h, duration=steps * h)))


@pytest.mark.parametrize(
    "integrator",
    [RK4(), Verlet(), SymplecticEuler(), XPBD(), ConJac(count=4), pl.BDF1(solver=PD(fixed=3))],
    ids=lambda i: type(i).__name__,
)
def test_what_solves_nothing_to_a_tolerance_is_not_certified(integrator):
    h = 1e-4 if isinstance(integrator, RK4 | Verlet | SymplecticEuler) else 1e-2
    report = hanging(integrator, h)[-1].report
    assert report.converged is None and report.verdict == "not certified" and report.tolerance is None
    assert report.residual > 0.0  # something was given up, and the certificate says how much
    assert certified(report)["converged"] is None
    assert report.as_json()["verdict"] == "not certified"


def test_the_error_of_too_few_iterations_is_told_in_metres():
    """A bar that its own weight should hardly bend sags by centimetres: the certificate knows."""
    few, many = (hanging(XPBD(iterations=n), 2e-2, 1e7, 5)[-1] for n in (1, 200))
    exact = hanging(pl.BDF1(), 2e-2, 1e7, 5)[-1]
    away = lambda step: np.sqrt(np.mean((step.state.q - exact.state.q) ** 2))
    assert away(few) > 10.0 * away(many)
    assert few.report.error > away(few) / 5 and few.report.error > 2.0 * many.report.error


def test_explicit_steps_tell_how_well_they_follow_the_motion():
    coarse, fine = (hanging(Verlet(), h, steps=round(0.01 / h))[-1].report.residual for h in (2e-4, 1e-4))
    assert coarse > 6.0 * fine  # third order, as the local error of the trapezoidal rule


@pytest.mark.parametrize("integrator", [ERE(), SIERE()])
def test_exponential_steps_compare_like_with_like(integrator):
    for step in hanging(integrator, 1e-2, 1e6):
        assert step.report.verdict == (
            "converged" if step.report.residual <= step.report.tolerance else "not certified"
        )
        assert isinstance(integrator, SIERE) or step.report.verdict == "converged"


def test_a_linear_system_that_is_solved_badly_is_not_certified():
    good, poor = (hanging(LinearlyImplicit(**x), 1e-2, 1e7)[-1].report for x in ({}, {"linear": PCG(tolerance=0.05)}))
    assert good.verdict == "converged" and good.residual <= good.tolerance
    assert poor.verdict == "not certified" and poor.residual > poor.tolerance


def test_the_report_of_a_run_counts_steps_that_are_not_certified(tmp_path):
    mesh = bar(size=(0.3, 0.1, 0.1), cells=(3, 1, 1))
    solid = pl.Solid(mesh, pl.StableNeoHookean(E=1e4, nu=0.4), density=1000.0)
    run = pl.Scene(bodies=[solid], integrator=RK4(), h=1e-3, duration=5e-3).run(tmp_path / "run")
    assert run.report["uncertified"] == 5 and run.report["unconverged"] == 0
    assert np.isnan(run.ledger["converged"]).all()

"""Checks of nonlinear solvers on the stage of a step: the root, an honest report, purity, the use of memory."""

from dataclasses import replace
from typing import Any

import numpy as np

from pliant.solvers.base import Tolerance
from pliant.solvers.newton import Newton
from pliant.stage import Stage
from pliant.state import State
from pliant.systems.base import System
from pliant.testing.differences import agree, derivative, same_bytes


def stage_of(system: System, state: State, c: float = 0.01, inertia: float = 1.0) -> Stage:
    """The backward Euler stage of the step of c [s] that sets out from a state."""
    target, t = state.q + c * state.v, state.t + c
    return Stage(system, c, target, state.q, t, system.prescribe(target, t), state, inertia)


def check_stage(stage: Stage, *, eps: float = 1e-6, tolerance: float = 1e-6) -> None:
    """The Jacobian is the derivative of the residual, and this that of the merit where there is one.

    A wrong Jacobian moves no root, so that only this sees it.
    """
    z = stage.frame[stage.system.free]
    A = stage.jacobian(z, psd=False)
    agree("stage: Jacobian", A, derivative(stage.residual, z, eps), tolerance)
    if stage.merit(z) is not None:
        agree("stage: residual", stage.residual(z), derivative(stage.merit, z, eps), 10 * tolerance)


def check_solver(solver: Any, stage: Stage) -> None:
    """A solver on one stage: it finds the root of Newton's method, reports what is true, changes nothing."""
    name = type(solver).__name__
    guess = stage.frame[stage.system.free]
    before = guess.copy()
    exact = Newton(tolerance=Tolerance(1e-13, 1e-16), project="on_demand").solve(stage, guess).z
    tight = replace(solver, tolerance=Tolerance(1e-9, 1e-14))
    a, b = tight.solve(stage, guess), tight.solve(stage, guess)
    assert a.report.converged, f"{name}: {a.report.message}"
    far = float(np.abs(a.z - exact).max())
    assert far < 1e-8 * stage.system.scale, f"{name}: {far:.3g} m from the root"
    true = stage.norm(stage.residual(a.z))
    assert a.report.residual == true, f"{name}: reports the residual {a.report.residual:.9g}, it is {true:.9g}"
    assert true <= a.report.tolerance, f"{name}: says it has converged with {true:.3g} > {a.report.tolerance:.3g}"
    same_bytes(f"{name}: the guess it was given", guess, before)
    same_bytes(f"{name}: the same solve twice", a.z, b.z)
    assert a.report.counts == b.report.counts, f"{name}: counts {a.report.counts} and {b.report.counts}"
    reused = tight.solve(stage, guess, a.memory)
    assert reused.report.converged, f"{name}, with memory: {reused.report.message}"
    far = float(np.abs(reused.z - exact).max())
    assert far < 1e-8 * stage.system.scale, f"{name}: with memory another root, {far:.3g} m away"


def check_failure(solver: Any, stage: Stage) -> None:
    """A solver that may take one iteration only, and cannot be done with it, says so."""
    short = replace(solver, tolerance=Tolerance(1e-14, 1e-18), max_iterations=1)
    report = short.solve(stage, stage.frame[stage.system.free]).report
    name = type(solver).__name__
    assert not report.converged, f"{name} says it has converged to round-off in one iteration"
    assert report.message, f"{name} does not say why it stopped"
    assert report.iterations == 1, f"{name} took {report.iterations} iterations of 1"

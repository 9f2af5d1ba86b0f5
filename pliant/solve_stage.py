"""Solving a stage: once, or again where its friction lags behind; with closures by their multipliers."""

from dataclasses import replace
from typing import Any

from pliant.abilities import able
from pliant.arrays import Array
from pliant.closed_stage import ClosedStage
from pliant.solvers.base import NonlinearSolver
from pliant.stage import Stage
from pliant.state import SolveReport, State
from pliant.systems.base import System
from pliant.systems.observed import Acting
from pliant.systems.stepped import Contacting, Lagging


def solve_stage(stage: Stage, solver: NonlinearSolver, memory: Any) -> tuple[Array, SolveReport, Any]:
    """All coordinates at the root of the stage, from the predictor in its frame; the report; the solver's memory.

    Where its friction lags behind, the stage may be solved several times (`Lagging`).
    """
    q, report, memory = _solved(stage, solver, memory)
    while report.converged and able(stage.system, Lagging):
        found = stage.system.relagged(q)
        if found is None or found[1] is None:
            return q, report if found is None else replace(report, lag=found[0]), memory
        stage = replace(stage, system=found[1], frame=q)
        root, again, memory = _solved(stage, solver, memory)
        if not again.converged:
            return q, replace(report, lag=found[0]), memory
        q, report = root, _after(report, again)
    return q, report, memory


def _solved(stage: Stage, solver: NonlinearSolver, memory: Any) -> tuple[Array, SolveReport, Any]:
    """One solve of the stage."""
    guess = stage.frame[stage.system.free]
    closures = stage.closures(stage.start.q)
    if closures is None:
        solution = solver.solve(stage, guess, memory)
        q = stage.embed(solution.z)
        return q, _acted(stage, q, solution.report), solution.memory
    closed = ClosedStage(stage, closures)
    solution = solver.solve(closed, closed.joined(guess), memory)
    free, multipliers = closed.split(solution.z)
    q = stage.embed(free)
    report = replace(solution.report, reactions=closed.reactions(q, multipliers))
    return q, _acted(stage, q, report), solution.memory


def _after(first: SolveReport, last: SolveReport) -> SolveReport:
    """The report of the last of several solves, with the work of all."""
    seconds = {k: first.seconds.get(k, 0.0) + last.seconds.get(k, 0.0) for k in {**first.seconds, **last.seconds}}
    iterations, counts = first.iterations + last.iterations, first.counts + last.counts
    return replace(last, iterations=iterations, counts=counts, seconds=seconds, history=first.history + last.history)


def acting_at(system: System, state: State) -> Any:
    """The contact forces that are found at a state, as `pliant.systems.acted.Acted`; None where nobody knows them."""
    live = system.at(state, state.t) if able(system, Contacting) else system
    return live.acting(state.q, state.v, state.t) if able(live, Acting) else None


def _acted(stage: Stage, q: Array, report: SolveReport) -> SolveReport:
    """The report with the contact forces at the root."""
    system = stage.system
    acted = system.acting(q, stage.velocity(q), stage.t) if able(system, Acting) else None
    return report if acted is None else replace(report, acted=acted.within(system))

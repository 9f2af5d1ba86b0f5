"""Newton's method with a direct or iterative linear solver: the robust baseline.

ND (the papers' Newton-direct) projects every element block always; with elements that are indefinite at the root it is
only linearly convergent, and nearly incompressible bodies take tens or hundreds of iterations. ``on_demand``, the
default (ND-exact in tables), tries the exact tangent first and projects only when its factorization fails, which keeps
the quadratic tail. [QLB2021, sec. 4; Weidner2022, sec. 5.2]
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pliant.abilities import able
from pliant.arrays import Array
from pliant.clock import Clock
from pliant.linear.automatic import Automatic
from pliant.linear.base import Factor, LinearSolver
from pliant.linear.bordered import Bordered
from pliant.linear.cholesky import Cholesky
from pliant.linear.lu import LU
from pliant.linear.pcg import PCG
from pliant.solvers.base import (
    Bordering,
    Goal,
    OfSystem,
    Project,
    Rooted,
    Solution,
    StageLike,
    Tolerance,
    check_options,
    placed,
    places_for,
)
from pliant.solvers.chord import Chord, Held, Recall, chord_of
from pliant.solvers.line_search import LineSearch, Trial
from pliant.solvers.rounding import SAMPLES, RoundedOff, error_of, floor_of, settled
from pliant.solvers.shifts import least_shifted, next_shift, shifted
from pliant.state import Counts, SolveReport, Transient
from pliant.systems.stepped import Solving

STRICT = 0.5  # of the projected residual
ROUNDED = "the residual is round-off, and what it leaves in the positions is above the tolerance"
SHORT = 0.25  # of a step
SLOW = 0.5  # part of the residual that a whole step should not leave
LIFTS = tuple(float(x) for x in np.geomspace(1e-3, 1.0, 7))  # of the mass, on an exact matrix that is not definite


@dataclass(frozen=True)
class Newton:
    """Newton's method, z <- z - t A(z)^-1 r(z): A is factored as long as that is worth it, t found by a line search.

    If no step is acceptable, A + tau diag(M) with tau growing tenfold is tried up to five times; the last resort before
    giving up is `LineSearch.pulled`. If the residual stops decreasing, the iteration is cycling, which the projected
    residual test allows where there is no merit function: it continues once with the ``STRICT`` test and projected
    blocks. If the stage is not symmetric, the exact matrix is used until then, and `Bordered` or `LU` replaces
    ``linear``. If barriers cut a step short, the next matrix is projected (the exact one leads far along negative
    curvature), and the next steps are shortened by A + tau diag(M): points of rotating bodies move on curves, on which
    a step is limited to the square root of the distance.

    Blocks projected one by one may together be far stiffer than the exact matrix where their curvatures balance: past a
    saddle, full steps then hardly move. After such a step, the exact matrix with the smallest of ``LIFTS`` that makes
    it definite is tried before the projected one.

    The last steps are ``chords`` where these are expected to arrive (`pliant.solvers.chord`): at most so many in a row
    with the factor of the step before them. Where the matrix hardly changes, so are the first, with that of the last
    solve. With 0 every step has a matrix of its own.

    ``coupled=False`` leaves out the blocks that couple contact pairs, so that the pattern is analysed only once. On
    large meshes ``linear`` is conjugate gradients with multigrid (`Automatic`).
    """

    linear: LinearSolver = field(default_factory=Automatic)
    project: Project = "on_demand"
    tolerance: Tolerance = Tolerance()
    line_search: LineSearch = LineSearch()
    max_iterations: int = 100
    coupled: bool = True
    chords: int = 3

    def __post_init__(self) -> None:
        check_options(self)

    def solve(self, stage: StageLike, guess: Array, memory: Any = None) -> Solution:
        clock = Clock()
        rooted: Any = stage
        if not stage.symmetric and able(rooted, Rooted):
            root = rooted.root(guess, (self.tolerance.relative, self.tolerance.absolute), self.max_iterations)
            if root is not None:
                return _rooted(stage, *root, clock, memory)
        now = start_trial(stage, guess, clock)
        goal = self.tolerance.goal(stage, now.norm)
        counts, history = Counts(forces=1), [row(0, now, 0.0)]
        message, search, project, rounded = "", self.line_search, self.project, None
        k, escape, inert, slow = 0, 0, 0.0, False
        linear = self.linear if stage.symmetric else _general(stage)
        recall = Recall.of(memory, stage, linear, self.chords if own_linear(stage) is None else 0)
        memory, chord, has_merit = recall.linear, recall.chord, now.merit is not None
        while now.norm > goal.threshold and k < self.max_iterations:
            if chord is not None and chord.arrives(now.norm, goal.threshold):
                step, chord, work = chord.step(stage, now, clock)
                counts += work
                recall.tried(k, chord.rate)
                if step is not None:
                    k, now = k + 1, step
                    history.append(row(k, now, 1.0))
                continue
            if has_merit and now.merit is None:  # a chord step did not ask for it
                now = replace(now, merit=stage.merit(now.z))
            k += 1
            found, memory, work, chord = self._iterate(stage, now, memory, clock, search, project, inert, slow)
            counts += work
            recall.stepped(k, chord)
            if isinstance(found, RoundedOff):
                k, message, rounded = k - 1, ROUNDED, found
                break
            if found is None:
                message = f"no acceptable step in iteration {k}"
                break
            slow = found.t >= 1.0 and found.norm > SLOW * now.norm
            now = found
            inert = damped(inert, now)
            history.append(row(k, now, now.t))
            escape = k if now.escaped else escape
            if stagnates(history[escape:]):
                if search.projected > STRICT and (now.merit is None or project == "on_demand"):
                    project, search, escape = "always", replace(search, projected=STRICT), k
                    continue
                message = "the residual has stopped decreasing"
                break
        memory = recall.kept(stage, memory, chord, history[0]["residual"], goal.threshold)
        return finish(stage, now, goal, k, counts, clock, history, message, memory, rounded)

    def _iterate(
        self,
        stage: StageLike,
        now: Trial,
        memory: Any,
        clock: Clock,
        search: LineSearch,
        project: Project,
        inert: float,
        slow: bool,
    ) -> tuple[Trial | RoundedOff | None, Any, Counts, Chord | None]:
        """One accepted step, or None after all shifts failed; `RoundedOff` where the residual is round-off alone.

        The first step is ``inert``: its matrix has that much of the mass besides.
        """
        counts = Counts()
        psd = (project == "always" and (stage.symmetric or search.projected <= STRICT)) or now.cut or inert > 0.0
        places = places_for(self.linear, stage, now.z) if stage.symmetric else None
        own = placed(self.linear, places) if stage.symmetric else _general(stage)
        linear = own_linear(stage) or own
        shift, first = inert, None
        for _ in range(7 if not psd else 6):
            with clock("fill"):
                A = shifted(stage.jacobian(now.z, psd=psd, coupled=self.coupled), shift, stage.weights)
            counts += Counts(fills=1)
            lifts = LIFTS if slow and not psd and stage.symmetric and stage.inertial else ()
            with clock("factor"):
                factor, tries = least_shifted(linear, A, memory, (0.0, *lifts), stage.weights)
            counts += Counts(factorizations=tries)
            if factor is None:
                psd, shift = True, shift if not psd else next_shift(shift, A, stage.weights)
                continue
            memory = factor.memory
            with clock("solve"):
                dz = -factor.solve(now.r)
            counts += factor_counts(factor)
            floor = floor_of(stage, A, now.z) if shift == 0.0 and not tries else 0.0
            if now.norm <= floor:
                with clock("force"):
                    error = error_of(stage, A, factor.solve, now.z, now.r)
                return RoundedOff(floor, error), memory, counts + Counts(forces=SAMPLES, solves=1 + SAMPLES), None
            with clock("force"):
                found = (search if psd or stage.symmetric else replace(search, projected=0.0)).search(stage, now, dz)
            if found is not None:
                most = 0 if tries or shift else self.chords
                chord = chord_of(stage, Held(A, places, Transient(factor)), now, found, most)
                return found, memory, counts + Counts(forces=found.evaluations), chord
            counts += Counts(forces=search.halvings + 1)
            first = dz if first is None and psd else first
            psd, shift = True, shift if not psd else next_shift(shift, A, stage.weights)
        found = None if first is None else search.pulled(stage, now, first)
        return found, memory, counts + Counts(forces=1), None


def ND(**options: Any) -> Newton:
    """Newton-direct as published: every element block projected in every iteration. [QLB2021, sec. 4]"""
    return Newton(**{"project": "always", "linear": Cholesky(), "chords": 0, **options})


def damped(shift: float, now: Trial) -> float:
    """tau of the next iteration among barriers, after one with tau = ``shift``."""
    if now.cut and now.t < SHORT:
        return max(10.0 * shift, 1.0)
    return (0.1 * shift if shift > 1.0 else 0.0) if now.t >= 1.0 else shift


def own_linear(stage: StageLike, *, early: bool = False) -> LinearSolver | None:
    """The linear solver of a system with matrices of its own (``early``: on what it has made before); else None."""
    if not (able(stage, OfSystem) and able(stage.system, Solving)):
        return None
    return stage.system.early if early else stage.system.linear


def _general(stage: StageLike) -> LinearSolver:
    """A solver for the exact Jacobian of a stage that is not symmetric."""
    return Bordered(stage.border) if able(stage, Bordering) else LU()


def _rooted(stage: StageLike, z: Array, norms: Array, threshold: float, clock: Clock, memory: Any) -> Solution:
    """The solution that a stage found by itself, with full steps only."""
    k = len(norms) - 1
    counts = Counts(forces=k + 1, fills=k, factorizations=k, solves=k)
    history = [{"iteration": i, "residual": float(r), "step": float(i > 0)} for i, r in enumerate(norms)]
    error = float(norms[-1]) / max(float(np.sqrt(stage.mass)), 1e-300)
    report = SolveReport(True, k, float(norms[-1]), threshold, counts, clock.totals(), tuple(history), error=error)
    return Solution(z, report, memory)


def NewtonPCG(*, inner_tolerance: float = 1e-2, max_inner: int = 400, **options: Any) -> Newton:
    """NEWTON-I: Newton with block-Jacobi PCG instead of a factorization [Weidner2022, sec. 5.4]."""
    return Newton(**{"linear": PCG(tolerance=inner_tolerance, max_iterations=max_inner), "chords": 0, **options})


def start_trial(stage: StageLike, guess: Array, clock: Clock) -> Trial:
    """The guess with its residual and merit."""
    with clock("force"):
        r = stage.residual(guess)
        return Trial(0.0, guess, r, stage.norm(r), stage.merit(guess), 1)


def row(iteration: int, now: Trial, t: float) -> dict[str, float]:
    """One line of the iteration table."""
    line = {"iteration": iteration, "residual": now.norm, "step": t}
    return line if now.merit is None else {**line, "merit": now.merit}


def finish(
    stage: StageLike,
    now: Trial,
    goal: Goal,
    iterations: int,
    counts: Counts,
    clock: Clock,
    history: list[dict[str, float]],
    message: str,
    memory: Any,
    rounded: RoundedOff | None = None,
) -> Solution:
    """The solution with its report: ``converged`` means that this very z passed the test.

    Where the residual did not pass but is only round-off, the error in the positions decides; where the iteration got
    stuck (there is a message), the bound on the positions that the residual implies.
    """
    converged = bool(now.norm <= goal.threshold)
    tolerance, error, judged = goal.threshold, now.norm if stage.inertial else None, "residual"
    if not converged and np.isfinite(now.norm):
        if rounded is None:
            with clock("factor"):
                rounded = settled(stage, now.z, now.r)
        if rounded is not None:
            error = rounded.error
            converged, judged = error <= goal.limit, "round-off"
            tolerance = rounded.floor if converged else tolerance
        elif message and now.norm <= goal.stalled():
            converged, tolerance, judged = True, goal.stalled(), "bound"
    if not (converged or message):
        message = "residual is not finite" if not np.isfinite(now.norm) else "iteration limit reached"
    return Solution(
        now.z,
        SolveReport(
            converged,
            iterations,
            now.norm,
            tolerance,
            counts,
            clock.totals(),
            tuple(history),
            "" if converged else message,
            error=None if error is None else error / max(float(np.sqrt(stage.mass)), 1e-300),
            judged=judged,
        ),
        memory,
    )


def stagnates(history: list[dict[str, float]], window: int = 12) -> bool:
    """Whether the best residual of the last ``window`` iterations is hardly below the best one before them.

    A merit that still falls is progress too: against a barrier the residual rises before it falls.
    """
    if len(history) <= window + 1:
        return False
    if "merit" in history[-1]:
        known = [r["merit"] for r in history[: 1 - window] if "merit" in r]  # chord steps do not ask for it
        if known and known[-1] - history[-1]["merit"] > 1e-9 * abs(known[-1]):
            return False
    residuals = [r["residual"] for r in history]
    return min(residuals[-window:]) > 0.9 * min(residuals[:-window])


def factor_counts(factor: Factor) -> Counts:
    """One factorization and one solve, with the analysis and inner iterations they needed."""
    return Counts(analyses=int(factor.analysed), factorizations=1, solves=1, inner=factor.inner)

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
from pliant.errors import NotPositiveDefinite
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
from pliant.solvers.shifts import faded, stiffened
from pliant.state import Counts, SolveReport, Transient
from pliant.systems.stepped import Solving

STRICT = 0.5  # of the projected residual
ROUNDED = "the residual is round-off, and what it leaves in the positions is above the tolerance"
SHORT = 0.25  # of a step
SLOW = 0.5  # part of the residual that a whole step should not leave


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
    saddle, full steps then hardly move. After such a step the next matrices lie between the exact and the projected
    one, (1 - s) A + s A_psd, with half of the last s each, or as much as it takes to make them definite.

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
        message, manner, rounded = "", Manner(self.line_search, self.project), None
        k, escape = 0, 0
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
            found, part, memory, work, chord = self._iterate(stage, now, memory, clock, manner)
            counts += work
            recall.stepped(k, chord)
            if isinstance(found, RoundedOff):
                k, message, rounded = k - 1, ROUNDED, found
                break
            if found is None:
                message = f"no acceptable step in iteration {k}"
                break
            manner = manner.after(now, found, part)
            now = found
            history.append(row(k, now, now.t))
            escape = k if now.escaped else escape
            if stagnates(history[escape:]):
                if manner.search.projected > STRICT and (now.merit is None or manner.project == "on_demand"):
                    manner, escape = manner.strict(), k
                    continue
                message = "the residual has stopped decreasing"
                break
        memory = recall.kept(stage, memory, chord, history[0]["residual"], goal.threshold)
        return finish(stage, now, goal, k, counts, clock, history, message, memory, rounded)

    def _iterate(
        self, stage: StageLike, now: Trial, memory: Any, clock: Clock, manner: "Manner"
    ) -> tuple[Trial | RoundedOff | None, float, Any, Counts, Chord | None]:
        """One accepted step, or None after all shifts failed; `RoundedOff` where the residual is round-off alone.

        Also the part of the projection in its matrix.
        """
        counts, first = Counts(), None

        def filled(psd: bool) -> Any:
            nonlocal counts
            counts += Counts(fills=1)
            with clock("fill"):
                return stage.jacobian(now.z, psd=psd, coupled=self.coupled)

        places = places_for(self.linear, stage, now.z) if stage.symmetric else None
        linear = own_linear(stage) or (placed(self.linear, places) if stage.symmetric else _general(stage))
        for made in stiffened(filled, manner.least(stage, now), manner.inert, stage.weights):
            try:
                with clock("factor"):
                    factor = linear.factor(made.A, memory)
            except NotPositiveDefinite:
                counts += Counts(factorizations=1)
                continue
            memory = factor.memory
            with clock("solve"):
                dz = -factor.solve(now.r)
            counts += factor_counts(factor)
            floor = floor_of(stage, made.A, now.z) if made.plain else 0.0
            if now.norm <= floor:
                with clock("force"):
                    error = error_of(stage, made.A, factor.solve, now.z, now.r)
                counts += Counts(forces=SAMPLES, solves=1 + SAMPLES)
                return RoundedOff(floor, error), made.part, memory, counts, None
            search = manner.search if made.part or stage.symmetric else replace(manner.search, projected=0.0)
            with clock("force"):
                found = search.search(stage, now, dz)
            if found is not None:
                held = Held(made.A, places, Transient(factor))
                chord = chord_of(stage, held, now, found, self.chords if made.plain else 0)
                return found, made.part, memory, counts + Counts(forces=found.evaluations), chord
            counts += Counts(forces=manner.search.halvings + 1)
            first = dz if first is None and made.part == 1.0 else first
        found = None if first is None else manner.search.pulled(stage, now, first)
        return found, 1.0, memory, counts + Counts(forces=1), None


@dataclass(frozen=True)
class Manner:
    """How the next step is made: its line search, which blocks are projected, ``part`` of the projection to begin with
    where the exact matrix would be tried, ``inert`` of the mass in the first matrix.
    """

    search: LineSearch
    project: Project
    part: float = 0.0
    inert: float = 0.0

    def least(self, stage: StageLike, now: Trial) -> float:
        """The part of the projection in the first matrix."""
        always = self.project == "always" and (stage.symmetric or self.search.projected <= STRICT)
        if always or now.cut or self.inert > 0.0:
            return 1.0
        return self.part if stage.symmetric else 0.0

    def after(self, before: Trial, now: Trial, part: float) -> "Manner":
        """After a step whose matrix had ``part`` of the projection.

        From a whole step with the projected matrix that leaves most of the residual on, there is less of it each time.
        """
        slow = now.t >= 1.0 and now.norm > SLOW * before.norm
        part, inert = faded(part) if part < 1.0 or slow else 0.0, damped(self.inert, now)
        return self if (part, inert) == (self.part, self.inert) else replace(self, part=part, inert=inert)

    def strict(self) -> "Manner":
        """Projected blocks, and steps that reduce the projected residual well."""
        return replace(self, search=replace(self.search, projected=STRICT), project="always")


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

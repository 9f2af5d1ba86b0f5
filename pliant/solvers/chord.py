"""Chord steps: Newton's steps with the factor of an earlier one, where that is expected to do.

A Newton step from z_0 to z_1 leaves the part theta of the residual, theta = |r_1|/|r_0| ~ K |dz|/2 with K the relative
change of A per length. A step from z_1 with the matrix of z_0 leaves K |dz| ~ 2 theta of it, and so do those after it:
a linear convergence that costs a solve and a force each, where a Newton step costs a matrix and its factorization as
well. Where theta tells that a few steps arrive, they are taken; one that leaves more than it should ends them.
[Deuflhard2011, ch. 2] Secant pairs tell the old matrix of the way since, the Newton step's own among them.

A solve whose matrix has hardly changed since the last one (what is linear, falls or rests) begins with the factor of
that one. How much such a step leaves is known from the last time it was tried.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.clock import Clock
from pliant.linear.base import Factor, LinearSolver, Places
from pliant.solvers.base import StageLike, placed
from pliant.solvers.line_search import Trial
from pliant.solvers.pairs import Pairs
from pliant.state import Counts, Transient

SAFE = 0.1  # of the threshold: where the steps are expected to arrive
WORST = 0.25  # part of the residual that a step may leave
FEW = 100  # unknowns up to which a matrix and its factor cost no more than a force
BEGIN = 2  # steps with which a solve may begin: a Newton step would cost a matrix, but arrive alone
FORGET = 0.8  # a rate that kept a factor from being tried, from one solve to the next


@dataclass(frozen=True, eq=False)
class Held:
    """A matrix, where its rows are (if its linear solver wanted to know), and its factor (rebuilt after a restart)."""

    A: sp.csr_matrix
    places: Places | None
    factor: Transient | None


@dataclass(frozen=True, eq=False)
class NewtonMemory:
    """Newton's memory: that of its linear solver, and a factor where the next solve is expected to begin with it.

    ``rate`` is the part of the residual that its first step would leave, ``c`` tells matrices of other stages apart.
    """

    linear: Any
    rate: float = 0.0
    c: float = 0.0
    held: Held | None = None


@dataclass(frozen=True, eq=False)
class Chord:
    """A factor with its pairs, the part of the residual that its next step is expected to leave, and how many steps it
    may still make.
    """

    held: Held
    pairs: Pairs
    rate: float
    left: int

    @property
    def factor(self) -> Factor:
        assert self.held.factor is not None
        factor: Factor = self.held.factor.value
        return factor

    def arrives(self, norm: float, threshold: float) -> bool:
        """Whether its steps are expected to lead from a residual of norm ``norm`` to well below ``threshold``."""
        return arrives(self.rate, self.left, norm, threshold)

    def step(self, stage: StageLike, now: Trial, clock: Clock) -> tuple[Trial | None, "Chord", Counts]:
        """The step from ``now``, None where it is barred or leaves too much; and the chord of the next one."""
        with clock("solve"):
            inner = self.factor.inner
            dz = -self.pairs.apply(now.r, self.factor.solve)
        counts = Counts(solves=1, inner=self.factor.inner - inner)
        with clock("force"):
            if not stage.limit(now.z, dz) > 1.0:
                return None, replace(self, rate=1.0), counts
            z = now.z + dz
            r = stage.residual(z)
            norm = stage.norm(r)
        counts += Counts(forces=1)
        rate = norm / now.norm if np.isfinite(norm) else 1.0
        after = replace(self, rate=rate, left=self.left - 1)
        if rate > WORST:
            return None, after, counts
        self.pairs.update(dz, r - now.r)
        return Trial(1.0, z, r, norm, None, 1), after, counts


def arrives(rate: float, steps: int, norm: float, threshold: float) -> bool:
    """Whether so many steps that leave ``rate`` of the residual are safe to end below the threshold."""
    return steps > 0 and rate <= WORST and norm * rate**steps <= SAFE * threshold


def chord_of(stage: StageLike, held: Held, before: Trial, after: Trial, most: int) -> Chord | None:
    """What a whole Newton step allows to do with its factor: at most ``most`` steps."""
    if most == 0 or len(after.z) <= FEW or after.t != 1.0 or after.cut or after.escaped:
        return None
    pairs = Pairs(most if stage.symmetric else 0)
    pairs.update(after.z - before.z, after.r - before.r)
    return Chord(held, pairs, 2.0 * after.norm / before.norm, most)


class Recall:
    """What a solve knows from the last one, and what it finds out for the next."""

    def __init__(self, last: NewtonMemory, chord: Chord | None, most: int) -> None:
        self.linear, self.chord = last.linear, chord
        self._last, self._most = last, most
        self._rate: float | None = None

    @staticmethod
    def of(memory: Any, stage: StageLike, linear: LinearSolver, chords: int) -> "Recall":
        """From the memory of the last solve, if it was one of this kind."""
        last = memory if isinstance(memory, NewtonMemory) else NewtonMemory(memory)
        held, most = last.held, min(chords, BEGIN) if len(stage.weights) > FEW else 0
        if held is None or most == 0 or last.c != stage.c or held.A.shape[0] != len(stage.weights):
            return Recall(last, None, most)
        if held.factor is None:
            held = replace(held, factor=Transient(placed(linear, held.places).factor(held.A)))
        return Recall(last, Chord(held, Pairs(most if stage.symmetric else 0), last.rate, most), most)

    def tried(self, k: int, rate: float) -> None:
        """A chord step after k others left ``rate``."""
        if k == 0:
            self._rate = rate

    def stepped(self, k: int, chord: Chord | None) -> None:
        """The k-th step was Newton's."""
        if k == 1 and self._rate is None:
            self._rate = max(1.0 if chord is None else chord.rate, FORGET * self._last.rate)

    def kept(self, stage: StageLike, linear: Any, chord: Chord | None, norm: float, threshold: float) -> Any:
        """The memory for the next solve, after one that set out from a residual of norm ``norm``."""
        if self._most == 0:
            return linear
        if self._rate is None:  # there was nothing to do
            return replace(self._last, linear=linear)
        again = chord is not None and arrives(self._rate, self._most, norm, threshold)
        return NewtonMemory(linear, self._rate, stage.c, chord.held if chord is not None and again else None)

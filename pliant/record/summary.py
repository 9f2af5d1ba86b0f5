"""The report of a run: versions, counts, worst values, times; what a reader wants before opening the frames."""

import platform
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numba
import numpy
import scipy

import pliant
from pliant.alarms import AlarmTally, tallied
from pliant.certificate import Certificate
from pliant.ledger import Row
from pliant.state import Counts


def versions() -> dict[str, Any]:
    """Software and machine, as far as they matter for reproducing a run."""
    packages = {module.__name__: module.__version__ for module in (pliant, numpy, scipy, numba)}
    return {
        **packages,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "system": platform.system(),
    }


@dataclass(frozen=True)
class Summary:
    """The totals of the certificates and ledger rows so far.

    Symbolic analyses are not counted: they are made again when a run is resumed, and the totals are those of the run.
    """

    name: str
    steps: int
    h: float
    done: int = 0
    unconverged: int = 0
    uncertified: int = 0
    substepped: int = 0
    iterations: int = 0
    counts: Counts = Counts()
    seconds: dict[str, float] = field(default_factory=dict)
    min_det: float | None = None
    penetration: float | None = None
    distance: float | None = None
    work: dict[str, float] = field(default_factory=dict)
    numerical: float = 0.0
    energies: dict[str, float] = field(default_factory=dict)
    alarms: dict[str, AlarmTally] = field(default_factory=dict)
    units: str = "SI"  # of all these numbers

    def plus(self, certificate: Certificate, row: Row) -> "Summary":
        """With one more step."""
        return replace(
            self,
            done=certificate.step,
            unconverged=self.unconverged + (certificate.converged is False),
            uncertified=self.uncertified + (certificate.converged is None),
            substepped=self.substepped + (certificate.substeps > 1),
            iterations=self.iterations + certificate.iterations,
            counts=self.counts + replace(certificate.counts, analyses=0),
            seconds=_sum(self.seconds, certificate.seconds),
            min_det=_worst(min, self.min_det, certificate.min_det),
            penetration=_worst(max, self.penetration, certificate.penetration),
            distance=_worst(min, self.distance, certificate.distance),
            work=_sum(self.work, row.work),
            numerical=self.numerical + row.numerical,
            energies=row.energies,
            alarms=tallied(self.alarms, certificate.step, certificate.alarms),
        )

    def as_json(self) -> dict[str, Any]:
        known = {name: "unknown" if value is None else value for name, value in vars(self).items()}
        alarms = {kind: vars(tally) for kind, tally in self.alarms.items()}
        counts = {name: n for name, n in vars(self.counts).items() if name != "analyses"}
        return {**known, "counts": counts, "alarms": alarms}


def _worst(choose: Callable[..., float], a: float | None, b: float | None) -> float | None:
    """The worse of two values of which some are not known."""
    return choose((value for value in (a, b) if value is not None), default=None)


def _sum(a: dict[str, float], b: dict[str, float]) -> dict[str, float]:
    return {name: a.get(name, 0.0) + b.get(name, 0.0) for name in {**a, **b}}

"""The report of a run: versions, counts, worst values, times; what a reader wants before opening the frames."""

import platform
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

import numba
import numpy
import scipy

from pliant.certificate import Certificate
from pliant.ledger import Row
from pliant.state import Counts


def versions() -> dict[str, Any]:
    """Software and machine, as far as they matter for reproducing a run."""
    packages = {module.__name__: module.__version__ for module in (numpy, scipy, numba)}
    return {
        "pliant": metadata.version("pliant"),
        "python": platform.python_version(),
        **packages,
        "machine": platform.machine(),
        "system": platform.system(),
    }


@dataclass(frozen=True)
class Summary:
    """The totals of the certificates and ledger rows so far."""

    name: str
    steps: int
    h: float
    done: int = 0
    unconverged: int = 0
    substepped: int = 0
    iterations: int = 0
    counts: Counts = Counts()
    seconds: dict[str, float] = field(default_factory=dict)
    min_det: float = 1.0
    penetration: float = 0.0
    work: dict[str, float] = field(default_factory=dict)
    numerical: float = 0.0
    energies: dict[str, float] = field(default_factory=dict)

    def plus(self, certificate: Certificate, row: Row) -> "Summary":
        """With one more step."""
        return Summary(
            self.name,
            self.steps,
            self.h,
            certificate.step,
            self.unconverged + (not certificate.converged),
            self.substepped + (certificate.substeps > 1),
            self.iterations + certificate.iterations,
            self.counts + certificate.counts,
            _sum(self.seconds, certificate.seconds),
            min(self.min_det, certificate.min_det),
            max(self.penetration, certificate.penetration),
            _sum(self.work, row.work),
            self.numerical + row.numerical,
            row.energies,
        )

    def as_json(self) -> dict[str, Any]:
        return {**vars(self), "counts": vars(self.counts)}


def _sum(a: dict[str, float], b: dict[str, float]) -> dict[str, float]:
    return {name: a.get(name, 0.0) + b.get(name, 0.0) for name in {**a, **b}}

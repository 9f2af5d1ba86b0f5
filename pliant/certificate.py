"""The certificate of a step: did it converge, how well, at what cost, and is the result admissible?"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.state import Counts, SolveReport, State, Step
from pliant.systems.base import Stretching


@dataclass(frozen=True)
class Certificate:
    """What one time step can vouch for.

    ``residual`` and ``tolerance`` are those of the solve that came closest to failing; ``counts`` and ``seconds`` are
    summed over all solves of the step. ``min_det`` is the smallest det F over all elastic elements (1 without any),
    ``penetration`` [m] the deepest contact. ``substeps`` counts the pieces the step was cut into.
    """

    step: int
    t: float
    h: float
    converged: bool
    residual: float
    tolerance: float
    iterations: int
    counts: Counts = Counts()
    seconds: dict[str, float] = field(default_factory=dict)
    min_det: float = 1.0
    contacts: int = 0
    penetration: float = 0.0
    substeps: int = 1
    message: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def certify(step: int, h: float, taken: Sequence[Step], system: Any, seconds: float) -> Certificate:
    """The certificate of the steps ``taken`` (one, or several substeps); ``seconds`` is their wall time."""
    reports = [report for part in taken for report in part.reports]
    worst = max(reports, key=_severity, default=None)
    state = taken[-1].state
    finite = bool(np.isfinite(state.q).all() and np.isfinite(state.v).all())
    phases: dict[str, float] = {}
    for report in reports:
        for name, value in report.seconds.items():
            phases[name] = phases.get(name, 0.0) + value
    contacts, penetration = touching(system, state) if finite else (0, 0.0)
    return Certificate(
        step,
        state.t,
        h,
        finite and all(report.converged for report in reports),
        worst.residual if worst else 0.0,
        worst.tolerance if worst else 0.0,
        sum(report.iterations for report in reports),
        sum((report.counts for report in reports), Counts()),
        {**phases, "step": seconds},
        smallest_det(system, state.q) if finite else float("nan"),
        contacts,
        penetration,
        len(taken),
        _message(reports, finite),
    )


def smallest_det(system: Any, q: Array) -> float:
    """The smallest det F over the elements of all energies that have one; 1 when none has."""
    if isinstance(system, Stretching):
        return float(system.det(q).min(initial=np.inf))
    with np.errstate(all="ignore"):
        dets = [e.det(q) for e in getattr(system, "energy_terms", ()) if hasattr(e, "det")]
    return float(min((d.min() for d in dets if len(d)), default=1.0))


def forbidden_inversions(system: Any, q: Array) -> list[tuple[Any, IntArray]]:
    """Energies whose material forbids inversion with the elements (k,) that are inverted all the same."""
    found = []
    for energy in getattr(system, "energy_terms", ()):
        if hasattr(energy, "det") and not getattr(getattr(energy, "material", None), "allows_inversion", True):
            bad = np.flatnonzero(energy.det(q) <= 0.0)
            if len(bad):
                found.append((energy, bad))
    return found


def touching(system: Any, state: State) -> tuple[int, float]:
    """Number of contacts and deepest penetration [m], from ``system.contacts(q, v, t)`` where there is contact."""
    touch = system.contacts(state.q, state.v, state.t) if hasattr(system, "contacts") else None
    if touch is None or len(touch) == 0:
        return 0, 0.0
    return len(touch), max(0.0, -float(np.min(touch.gaps)))


def _severity(report: SolveReport) -> tuple[bool, float]:
    if not np.isfinite(report.residual):
        return True, float("inf")
    return not report.converged, report.residual / report.tolerance if report.tolerance > 0 else 0.0


def _message(reports: Sequence[SolveReport], finite: bool) -> str:
    said = [report.message for report in reports if report.message]
    if said:
        return said[0]
    return "" if finite else "positions or velocities are not finite"


def plain(value: Any) -> Any:
    """For strict JSON: numbers that are not finite become strings."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value

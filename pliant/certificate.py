"""The certificate of a step: did it converge, how well, at what cost, and is the result admissible?"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from pliant.abilities import able
from pliant.arrays import Array, IntArray
from pliant.energies.base import Deforming
from pliant.html import table
from pliant.state import Counts, SolveReport, State, Step
from pliant.systems.base import Composed, System, parts_of
from pliant.systems.observed import Measuring, Stretching, Touching


@dataclass(frozen=True)
class Certificate:
    """What is known about one time step: convergence, residual, error, contacts, penetration, inversion.

    ``converged`` is True if every solve met its tolerance, False if one failed, and None ("not certified") for methods
    that have no tolerance to meet, or that stop early by design; ``residual`` then measures the error they leave.
    ``residual`` and ``tolerance`` are those of the solve that came closest to failing; ``error`` [m] bounds the root
    mean square error of the positions in the worst solve; ``counts`` and ``seconds`` are summed over all solves.
    ``min_det`` is the smallest det F of all elastic elements, ``contacts`` the number of contacts under pressure,
    ``penetration`` [m] the largest penetration depth, ``distance`` [m] the smallest distance between surfaces (inf:
    nothing is near). Quantities that the system cannot provide are None. ``substeps`` is the number of substeps taken.
    ``lag`` is the relative difference between the lagged normal forces used for friction and those of the solution,
    where these were computed. With `Adaptive` steps, ``inner_h`` [s] is the size of the last inner step, ``estimate``
    [m] the estimated error added in this step, ``accepted`` and ``rejected`` the numbers of inner steps.
    """

    step: int
    t: float
    h: float
    converged: bool | None
    residual: float
    tolerance: float | None
    iterations: int
    counts: Counts = Counts()
    seconds: dict[str, float] = field(default_factory=dict)
    min_det: float | None = None
    contacts: int | None = None
    penetration: float | None = None
    distance: float | None = None
    substeps: int = 1
    message: str = ""
    error: float | None = None
    inner_h: float | None = None
    estimate: float | None = None
    accepted: int | None = None
    rejected: int | None = None
    lag: float | None = None
    alarms: tuple[Any, ...] = ()  # see `pliant.alarms`

    @property
    def verdict(self) -> str:
        """In words: converged, failed, not certified."""
        return "not certified" if self.converged is None else "converged" if self.converged else "failed"

    def _repr_html_(self) -> str:
        hidden = ("counts", "seconds", "alarms", "converged", "message")
        rows = {name: value for name, value in asdict(self).items() if name not in hidden}
        return table(f"step {self.step}: {self.verdict}", rows)

    def as_json(self) -> dict[str, Any]:
        known = {name: "unknown" if value is None else value for name, value in asdict(self).items()}
        return {"verdict": self.verdict, **known}


def certify(step: int, h: float, taken: Sequence[Step], system: System, seconds: float) -> Certificate:
    """The certificate of the steps ``taken`` (one, or several substeps); ``seconds`` is their wall time."""
    reports = [report for part in taken for report in part.reports]
    worst = max(reports, key=_severity, default=None)
    state = taken[-1].state
    finite = bool(np.isfinite(state.q).all() and np.isfinite(state.v).all())
    phases: dict[str, float] = {}
    for report in reports:
        for name, value in report.seconds.items():
            phases[name] = phases.get(name, 0.0) + value
    contacts, penetration, distance = touching(system, state) if finite else (None, None, None)
    return Certificate(
        step,
        state.t,
        h,
        _verdict(reports, finite),
        worst.residual if worst else 0.0,
        worst.tolerance if worst else None,
        sum(report.iterations for report in reports),
        sum((report.counts for report in reports), Counts()),
        {**phases, "step": seconds},
        smallest_det(system, state.q) if finite else None,
        contacts,
        penetration,
        distance,
        len(taken),
        _message(reports, finite),
        largest([report.error for report in reports]),
        *_controlled(taken),
        lag=max((report.lag for report in reports if report.lag is not None), default=None),
    )


def _controlled(taken: Sequence[Step]) -> tuple[float | None, float | None, int | None, int | None]:
    """Size of the last step inside, errors, accepted and rejected steps where step sizes are controlled."""
    found = [part.control for part in taken if part.control is not None]
    if not found:
        return None, None, None, None
    known = [c.estimate for c in found if c.estimate is not None]
    estimate = sum(known) if len(known) == len(found) else None
    return found[-1].h, estimate, sum(c.accepted for c in found), sum(c.rejected for c in found)


def largest(errors: Sequence[float | None]) -> float | None:
    """The largest of some errors; None if one is unknown, or there is none."""
    return max((e for e in errors if e is not None), default=None) if None not in errors else None


def deforming(system: System) -> list[tuple[int, Deforming, slice]]:
    """The energies of elements with their places among all energies of their part, and its coordinates.

    Only one part of a system has any: all deformable bodies together.
    """
    found: list[tuple[int, Deforming, slice]] = []
    for part, own in parts_of(system):
        terms = part.energy_terms if able(part, Composed) else ()
        found += [(i, energy, own) for i, energy in enumerate(terms) if able(energy, Deforming)]
    return found


def smallest_det(system: System, q: Array) -> float | None:
    """The smallest det F over the elements of all energies and parts that have one; None when none has."""
    with np.errstate(all="ignore"):
        dets = [energy.det(q[own]) for _, energy, own in deforming(system)]
        dets += [part.det(q[own]) for part, own in parts_of(system) if able(part, Stretching)]
    return min((float(d.min()) for d in dets if len(d)), default=None)


def forbidden_inversions(system: System, q: Array) -> list[tuple[Any, IntArray]]:
    """Energies whose material forbids inversion with the elements (k,) that are inverted all the same."""
    found = []
    for _, energy, own in deforming(system):
        if not energy.material.allows_inversion:
            bad = np.flatnonzero(energy.det(q[own]) <= 0.0)
            if len(bad):
                found.append((energy, bad))
    return found


def touching(system: System, state: State) -> tuple[int | None, float | None, float | None]:
    """Number of contacts, deepest penetration and least distance [m]; None where the system does not know them."""
    touch = system.contacts(state.q, state.v, state.t) if able(system, Touching) else None
    if touch is None:
        return None, None, None
    if len(touch):  # what presses is closer than what does not
        least = float(np.min(touch.gaps))
        return len(touch), max(0.0, -least), least
    return 0, 0.0, system.min_distance(state.q, state.t) if able(system, Measuring) else None


def _verdict(reports: Sequence[SolveReport], finite: bool) -> bool | None:
    if not (finite and all(report.converged for report in reports)):
        return False
    return True if reports and all(report.certified for report in reports) else None


def _severity(report: SolveReport) -> tuple[bool, bool, float]:
    if not np.isfinite(report.residual):
        return True, True, float("inf")
    part = report.residual / report.tolerance if report.tolerance else report.residual
    return not report.converged, not report.certified, part


def _message(reports: Sequence[SolveReport], finite: bool) -> str:
    said = [report.message for report in reports if report.message]
    if said:
        return said[0]
    return "" if finite else "positions or velocities are not finite"


def readable(value: float | None) -> str:
    """A number of a certificate as text; "unknown" where it is None, or NaN as read from a ledger."""
    return "unknown" if value is None or math.isnan(value) else f"{value:.4g}"


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

"""Alarms: problems in a step that converged, which a user should know about.

They do not change the run: the certificate, the report and the summary name them, one line for each kind.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pliant.abilities import able
from pliant.certificate import Certificate
from pliant.integrators.base import solved
from pliant.ledger import Row
from pliant.systems.base import System
from pliant.systems.observed import Grained

GAINED = 0.05  # part of the largest scale of the books so far that a step creates
NOTHING = 1e-15  # J
LAGGING = 1e-2  # part of themselves by which normal forces of friction found anew are off
SUNK = 0.1  # part of the edges of a mesh by which something is inside it


@dataclass(frozen=True)
class Alarm:
    """One problem in a step: its ``kind``, its severity, and a description."""

    kind: str
    value: float
    text: str


def alarms_of(certificate: Certificate, row: Row, peak: float, system: System, method: Any = None) -> tuple[Alarm, ...]:
    """The alarms of a step of some ``method``; ``peak`` [J] is the largest energy scale of the ledger so far."""
    found, gain = [], -row.numerical
    scale = max(peak, row.scale)
    if gain > GAINED * scale and gain > NOTHING:
        text = f"{gain:.3g} J of spurious energy gain, of {scale:.3g} J{_better(certificate, method)}"
        found.append(Alarm("energy", gain / scale, text))
    if certificate.min_det is not None and certificate.min_det <= 0.0:
        text = f"inverted elements, det F = {certificate.min_det:.3g}"
        found.append(Alarm("inversion", -certificate.min_det, text))
    grain = system.grain() if able(system, Grained) else None
    depth = certificate.penetration
    if depth is not None and grain is not None and depth > SUNK * grain:
        text = f"surfaces {depth:.3g} m of penetration, {depth / grain:.0%} of an edge"
        found.append(Alarm("penetration", depth, text))
    if certificate.lag is not None and certificate.lag > LAGGING:
        text = f"friction has not converged, its normal forces are off by {certificate.lag:.1%}"
        found.append(Alarm("friction", certificate.lag, text))
    return tuple(found)


def _better(certificate: Certificate, method: Any) -> str:
    """What to use instead of a method that gains energy from contacts it does not solve for."""
    if method is None or not certificate.contacts or solved(method):
        return ""
    return f" ({type(method).__name__} does not solve for contacts it meets within a step: take BDF1 or BDF2)"


@dataclass(frozen=True)
class AlarmTally:
    """The alarms of one kind in a run: the number of steps, the first of them, and the worst, in words."""

    steps: int
    first: int
    worst: float
    text: str


def tallied(before: dict[str, AlarmTally], step: int, alarms: Sequence[Alarm]) -> dict[str, AlarmTally]:
    """With those of one more step."""
    after = dict(before)
    for alarm in alarms:
        known = before.get(alarm.kind)
        if known is None:
            after[alarm.kind] = AlarmTally(1, step, alarm.value, alarm.text)
        elif alarm.value > known.worst:
            after[alarm.kind] = AlarmTally(known.steps + 1, known.first, alarm.value, alarm.text)
        else:
            after[alarm.kind] = AlarmTally(known.steps + 1, known.first, known.worst, known.text)
    return after


def spoken(kind: str, tally: Any) -> str:
    """One line for people; ``tally`` as the report holds it."""
    steps = "1 step" if tally["steps"] == 1 else f"{tally['steps']} steps"
    return f"alarm ({kind}): {tally['text']} at worst; in {steps}, first step {tally['first']}"

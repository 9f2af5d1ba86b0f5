"""CPU time that coupled steps spend on contact, measured where they call it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from time import process_time
from typing import Any

from pliant.linear.bordered import BorderedFactor
from pliant.linear.inverse import Inverse
from pliant.linear.staggered import Staggered
from pliant.maps.points import ForceOnPoints, OnPoints
from pliant.systems import coupled, coupled_step, pressed_step
from pliant.systems.penalty_contact import PenaltyModel
from pliant.systems.pressed_step import Pressed
from pliant.systems.row_contact import RowModel

# functions that coupled systems call for contact alone, under the names they are called by
CONTACT: tuple[tuple[Any, str], ...] = (
    (PenaltyModel, "at"),  # detection
    (RowModel, "touches"),
    (OnPoints, "_gradient"),  # forces and matrices of penalties and friction
    (ForceOnPoints, "force"),
    (coupled, "tangents_of"),
    (Pressed, "_linearised"),
    (pressed_step, "pulled_back"),
    (BorderedFactor, "_sides"),  # what joints and meshes do to each other by touching: columns to solve for
    (coupled_step, "contact_rows"),  # rows, the inverse on them, and the programme for their impulses
    (coupled_step, "contact_slip"),
    (Inverse, "gram"),
    (Staggered, "_settled"),
)


class ContactClock:
    """CPU seconds ``spent`` in the functions of contact so far."""

    def __init__(self) -> None:
        self.spent, self._inside = 0.0, False

    @contextmanager
    def running(self) -> Iterator[None]:
        """Within, the functions of contact are clocked."""
        before = [vars(owner)[name] for owner, name in CONTACT]
        for (owner, name), function in zip(CONTACT, before, strict=True):
            setattr(owner, name, self._clocked(function))
        try:
            yield
        finally:
            for (owner, name), function in zip(CONTACT, before, strict=True):
                setattr(owner, name, function)

    def _clocked(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def clocked(*arguments: Any, **options: Any) -> Any:
            if self._inside:  # of another one, which counts it already
                return function(*arguments, **options)
            self._inside, start = True, process_time()
            try:
                return function(*arguments, **options)
            finally:
                self.spent += process_time() - start
                self._inside = False

        return clocked

"""A limit on the CPU time of one step: long loops ask whether it is spent, and a step that has spent it has failed."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from time import process_time
from typing import Protocol, runtime_checkable

from pliant.abilities import able
from pliant.errors import PliantError

_end: ContextVar[tuple[float, float]] = ContextVar("end", default=(inf, inf))  # on the process's CPU clock; the limit


@runtime_checkable
class Budgeted(Protocol):
    """A scene that says how many CPU seconds a step may take; None where it may take as long as it wants."""

    @property
    def budget(self) -> float | None: ...


class OverBudget(PliantError):
    """A step has used up its CPU time."""


@contextmanager
def limited(scene: object) -> Iterator[None]:
    """Within it, `check_budget` refuses to go on once the step's CPU seconds, as the scene gives them, are spent."""
    seconds = scene.budget if able(scene, Budgeted) else None
    limit = inf if seconds is None else float(seconds)
    token = _end.set((process_time() + limit, limit))
    try:
        yield
    finally:
        _end.reset(token)


def check_budget() -> None:
    """Called wherever a step goes round once more: Newton's iterations, substeps, turns of friction."""
    end, limit = _end.get()
    if end < inf and process_time() > end:
        raise OverBudget(f"more than {limit:g} s of CPU time", where="scene.budget")

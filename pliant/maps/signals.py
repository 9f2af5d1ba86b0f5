"""Factors that change with time, by which loads are scaled."""

from collections.abc import Callable, Sequence

import numpy as np

from pliant.errors import SceneError, require_numbers

Signal = Callable[[float], float] | Sequence[tuple[float, float]]
"""A factor that changes with time: a function, or (time [s], factor) pairs with straight lines between them."""


def check_signal(signal: Signal, where: str) -> None:
    """Refuse what is neither a function of time nor a table of pairs."""
    if callable(signal):
        return
    remedy = "give pairs (time [s], factor), times increasing"
    table = require_numbers(signal, where, remedy)
    good = table.ndim == 2 and table.shape[1] == 2 and len(table) and (np.diff(table[:, 0]) > 0.0).all()
    if not good or not np.isfinite(table).all():
        raise SceneError(f"signal is {signal}", where=where, remedy=remedy)


def value_at(signal: Signal, t: float) -> float:
    """The value of a signal at time t; straight lines between its pairs, constant outside."""
    if callable(signal):
        found = signal(t)
        try:
            return float(found)
        except (TypeError, ValueError):
            what = f"the signal is {found!r} at {t:g} s"
            raise SceneError(what, where="signal", remedy="return a number") from None
    return float(np.interp(t, *np.asarray(signal, dtype=np.float64).T))


def times_of(signal: Signal) -> tuple[float, ...]:
    """The times [s] at which a signal has a corner, as far as that is known."""
    return () if callable(signal) else tuple(float(time) for time, _ in signal)

"""Wall time per phase of a solve."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from pliant.budget import check_budget


class Clock:
    """Adds up seconds under names; phases do not nest, and none begins when the budget of the step is spent."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._start = perf_counter()

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        check_budget()
        start = perf_counter()
        try:
            yield
        finally:
            self.seconds[phase] = self.seconds.get(phase, 0.0) + perf_counter() - start

    def totals(self) -> dict[str, float]:
        """Seconds per phase; what no phase accounts for is ``other``."""
        other = perf_counter() - self._start - sum(self.seconds.values())
        return {**self.seconds, "other": max(other, 0.0)}

"""Wall time per phase of a solve."""

from time import perf_counter

from pliant.budget import check_budget


class Clock:
    """Adds up seconds under names, ``with clock("force"):``; phases do not nest, and none begins when the budget of
    the step is spent.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._start = self._begun = perf_counter()
        self._phase = ""

    def __call__(self, phase: str) -> "Clock":
        check_budget()
        self._phase, self._begun = phase, perf_counter()
        return self

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None:
        self.seconds[self._phase] = self.seconds.get(self._phase, 0.0) + perf_counter() - self._begun

    def totals(self) -> dict[str, float]:
        """Seconds per phase; what no phase accounts for is ``other``."""
        other = perf_counter() - self._start - sum(self.seconds.values())
        return {**self.seconds, "other": max(other, 0.0)}

"""Curves beside the picture, with a mark at the moment that is shown."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.arrays import Array

HUES = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b")


class Chart:
    """Named curves over time in the browser, and a dot on the first of them."""

    def __init__(self, gui: Any, title: str, names: Sequence[str]) -> None:
        from viser import uplot

        series = [uplot.Series(label="t [s]")]
        series += [uplot.Series(label=name, stroke=HUES[k % len(HUES)]) for k, name in enumerate(names)]
        series += [uplot.Series(label="now", stroke="#888888", points={"show": True, "size": 9})]
        self._scale, self._range = uplot.Scale, (np.nan, np.nan)
        empty = tuple(np.array([0.0, 1.0]) for _ in series)
        self.handle = gui.add_uplot(empty, tuple(series), title=title, scales=self._scales((0.0, 1.0)), aspect=1.6)

    def show(self, t: Array, curves: Sequence[Array], now: int) -> None:
        """Draw the curves over the times t [s] (n,), which must be two at least, and the mark at row ``now``."""
        values = np.concatenate([np.asarray(curve)[np.isfinite(curve)] for curve in curves])
        low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
        margin = 0.05 * (high - low) or 1.0
        if (low - margin, high + margin) != self._range:
            self._range = (low - margin, high + margin)
            self.handle.scales = self._scales(self._range)
        mark = np.full(len(t), np.nan)
        mark[now] = curves[0][now]
        self.handle.data = tuple(np.asarray(row, dtype=np.float64) for row in (t, *curves, mark))

    def _scales(self, limits: tuple[float, float]) -> dict[str, Any]:
        return {"x": self._scale(time=False), "y": self._scale(range=limits)}

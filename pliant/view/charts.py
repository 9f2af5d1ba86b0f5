"""Curves beside the picture: growing ones of a live run, whole ones of a recorded run with a mark at the frame."""

from typing import Any

import numpy as np

from pliant.arrays import Array

HUES = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b")
Curves = dict[str, Array]


def growing(gui: Any, title: str, names: list[str]) -> Any:
    """A chart whose ``data`` (times, curves, ...) will be set as they come; its axes follow."""
    from viser import uplot

    scales = {"x": uplot.Scale(time=False), "y": uplot.Scale(auto=True)}
    empty = tuple(np.array([0.0, 1.0]) for _ in range(len(names) + 1))
    return gui.add_uplot(empty, _series(names), title=title, scales=scales, aspect=1.6)


class Marked:
    """A chart of whole curves over the times t (n,) [s], and a dot on the first of them.

    The dot is a curve that is not a number elsewhere. That spoils automatic axes, so the range is given.
    """

    def __init__(self, gui: Any, title: str, t: Array, curves: Curves) -> None:
        from viser import uplot

        self._data = (t, *curves.values())
        low, high = (float(pick(np.stack(list(curves.values())))) for pick in (np.nanmin, np.nanmax))
        margin = 0.05 * (high - low) or 1.0
        scales = {"x": uplot.Scale(time=False), "y": uplot.Scale(range=(low - margin, high + margin))}
        now = uplot.Series(label="now", stroke="#888888", points={"show": True, "size": 9})
        series = (*_series(list(curves)), now)
        self.handle = gui.add_uplot(self._at(0), series, title=title, scales=scales, aspect=1.6)

    def show(self, row: int) -> None:
        """Move the dot to a row."""
        self.handle.data = self._at(row)

    def _at(self, row: int) -> tuple[Array, ...]:
        mark = np.full(len(self._data[0]), np.nan)
        mark[row] = self._data[1][row]
        return (*self._data, mark)


def _series(names: list[str]) -> tuple[Any, ...]:
    from viser import uplot

    curves = [uplot.Series(label=name, stroke=HUES[k % len(HUES)], width=1.5) for k, name in enumerate(names)]
    return (uplot.Series(label="t [s]"), *curves)

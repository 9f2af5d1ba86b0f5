"""Replaying recorded runs in the browser, several side by side with one clock."""

from collections.abc import Sequence
from threading import RLock
from time import monotonic, sleep
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.errors import RunError
from pliant.export.clip import Clip, clip
from pliant.export.film import ranges
from pliant.plots.ledger import names, parts
from pliant.record import Run
from pliant.view.server import LOCAL, Drawing, Style, aim_at, open_server

PLAIN = "none"
RATE = 30.0  # pictures per second that are sent while playing
PLOT_EVERY = 0.25  # seconds between marks in the plot, which the browser draws anew each time


class Replay:
    """A page with the runs, a time slider, play, speed, loop, colours and the ledger; several browsers may look at it.

    The page can only move these controls: it names no files and runs no code.
    """

    def __init__(self, runs: Sequence[Run], *, host: str = LOCAL, port: int = 8080, playing: bool = False) -> None:
        if not runs:
            raise RunError("nothing to show", where="view", remedy="give the folder of a run")
        self._runs, self._clips = list(runs), [clip(run) for run in runs]
        self._known = sorted(set.intersection(*(set(one.recorded) for one in self._clips)))
        self._times = self._clips[0].times
        self._lock = RLock()
        self._clock, self._drawn = float(self._times[0]), 0.0
        low, high, *_ = ranges(self._clips[0].every(max(1, len(self._times) // 20)))
        self._limits: dict[str, tuple[float, float]] = {}
        self.server = open_server(host, port)
        aside = np.array([1.1 * float(np.linalg.norm(high - low)), 0.0, 0.0])
        self._drawings = [Drawing(self.server, f"/run{k}", k * aside) for k in range(len(runs))]
        self._controls(playing)
        self.server.on_client_connect(lambda client: aim_at(client, low, high + (len(runs) - 1) * aside))
        self.show(0)

    @property
    def url(self) -> str:
        return f"http://{self.server.get_host()}:{self.server.get_port()}"

    @property
    def frame(self) -> int:
        """The frame of the first run that is shown."""
        return int(self._slider.value)

    def show(self, k: int) -> None:
        """Draw frame k of the first run, and of the others the last frame that is not later."""
        with self._lock:
            t = float(self._times[k])
            style = self._style()
            for one, drawing in zip(self._clips, self._drawings):
                near = int(np.searchsorted(one.times, t + 1e-9, side="right")) - 1
                drawing.show(one.picture(max(near, 0)), style)
            self._books(t)

    def advance(self, seconds: float) -> None:
        """Let the clock go on if it is playing; at the end it starts again, or stops."""
        if not self._play.value:
            self._clock = float(self._times[self.frame])
            return
        self._clock += seconds * float(self._speed.value)
        if self._clock > self._times[-1] + 1e-9:
            self._clock = float(self._times[0 if self._loop.value else -1])
            self._play.value = self._loop.value
        k = int(np.searchsorted(self._times, self._clock + 1e-9, side="right")) - 1
        if k != self.frame:
            self._slider.value = max(k, 0)  # its callback draws

    def serve(self) -> None:
        """Play until the process is interrupted."""
        before = monotonic()
        while True:
            sleep(1.0 / RATE)
            now = monotonic()
            self.advance(now - before)
            before = now

    def stop(self) -> None:
        self.server.stop()

    # ------------------------------------------------------------------------------------------------ the page

    def _controls(self, playing: bool) -> None:
        gui = self.server.gui
        self._slider = gui.add_slider("frame", 0, max(len(self._times) - 1, 1), 1, 0)
        self._play = gui.add_checkbox("play", playing)
        self._loop = gui.add_checkbox("loop", True)
        self._speed = gui.add_dropdown("speed", ("0.1", "0.25", "0.5", "1", "2", "4"), initial_value="1")
        self._channel = gui.add_dropdown("colours", (PLAIN, *self._known), initial_value=PLAIN)
        self._wireframe = gui.add_checkbox("wireframe", False)
        dark = gui.add_checkbox("dark", False)
        self._text = gui.add_markdown("")
        self._plot = self._energy_plot(gui)
        redraw = lambda _: self.show(min(self.frame, len(self._times) - 1))
        for control in (self._slider, self._channel, self._wireframe):
            control.on_update(redraw)
        theme = lambda _: gui.configure_theme(dark_mode=dark.value, show_logo=False, show_share_button=False)
        dark.on_update(theme)
        theme(None)  # nothing on the page can open it to the world

    def _energy_plot(self, gui: Any) -> Any:
        """The total energy of every run (of one run also its parts), and a mark at the frame."""
        from viser import uplot

        ledger = self._runs[0].ledger
        if len(self._runs) == 1:
            curves = {name: ledger[name] for name in ("total", *parts(ledger))}
        else:
            totals = [np.interp(ledger["t"], run.ledger["t"], run.ledger["total"]) for run in self._runs]
            curves = dict(zip(names(self._runs), totals))
        self._curves = (ledger["t"], *curves.values())
        hues = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b")
        series = [uplot.Series(label="t [s]")]
        series += [uplot.Series(label=name, stroke=hues[k % len(hues)]) for k, name in enumerate(curves)]
        series += [uplot.Series(label="now", stroke="black", points={"show": True, "size": 9})]
        low, high = (float(f(self._curves[1:])) for f in (np.min, np.max))
        margin = 0.05 * (high - low) or 1.0
        scales = {"x": uplot.Scale(time=False), "y": uplot.Scale(range=(low - margin, high + margin))}
        return gui.add_uplot(self._marked(0), tuple(series), title="energy [J]", scales=scales, aspect=1.4)

    def _marked(self, row: int) -> tuple[Array, ...]:
        mark = np.full(len(self._curves[0]), np.nan)
        mark[row] = self._curves[1][row]
        return (*self._curves, mark)

    def _books(self, t: float) -> None:
        """Ledger and certificate at the time of the frame."""
        lines = []
        for name, run in zip(names(self._runs), self._runs):
            ledger = run.ledger
            row = max(int(np.searchsorted(ledger["t"], t + 1e-9, side="right")) - 1, 0)
            line = f"t = {ledger['t'][row]:.4g} s, energy {ledger['total'][row]:.6g} J"
            if row:
                verdict = "converged" if ledger["converged"][row] else "NOT converged"
                line += f", {int(ledger['iterations'][row])} iterations, {verdict}"
            lines.append(f"**{name}**: {line}")
        if (channel := self._channel.value) != PLAIN:
            least, most = self._limits[channel]
            lines.append(f"{channel}: {least:.3g} (dark) to {most:.3g} (yellow)")
        self._text.content = "\n\n".join(lines)
        if monotonic() - self._drawn > PLOT_EVERY or not self._play.value:
            self._plot.data = self._marked(int(np.searchsorted(self._curves[0], t + 1e-9, side="right")) - 1)
            self._drawn = monotonic()

    def _style(self) -> Style:
        channel = self._channel.value
        if channel == PLAIN:
            self._clips = [Clip(one.run) for one in self._clips] if self._clips[0].channels else self._clips
            return Style(wireframe=bool(self._wireframe.value))
        if self._clips[0].channels != (channel,):
            self._clips = [Clip(one.run, (channel,)) for one in self._clips]
        if channel not in self._limits:
            coarse = [ranges(one.every(max(1, len(one) // 20)), channel)[2:] for one in self._clips]
            self._limits[channel] = (min(low for low, _ in coarse), max(high for _, high in coarse))
        return Style(channel, self._limits[channel])

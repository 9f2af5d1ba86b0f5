"""Replaying recorded runs in the browser, several side by side with one clock."""

from collections.abc import Sequence
from threading import RLock
from time import monotonic
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.certificate import readable
from pliant.errors import RunError
from pliant.export.clip import Clip, clip, last_before, ranges
from pliant.export.obstacles import Remains, body_names, scene_of
from pliant.plots.ledger import complete, names, parts
from pliant.record import Run
from pliant.systems.base import Composed
from pliant.systems.observed import Jointed, PartlyEulerian, Touching
from pliant.view.charts import Marked
from pliant.view.drawing import Drawing, Style, legend
from pliant.view.marks import NO_MARKS, DrawnObstacles, Marks, marks_of
from pliant.view.panel import PACE, Appearance
from pliant.view.server import LOCAL, Room

RATE = 30.0  # pictures per second that are sent while playing
PLOT_EVERY = 0.25  # seconds between marks in the plots, which the browser draws anew each time


class Replay:
    """A page with the runs, a time slider, play, speed, loop, colours and the ledger; several browsers may look at it.

    The page can only move these controls: it names no files and runs no code.
    """

    def __init__(self, runs: Sequence[Run], *, host: str = LOCAL, port: int = 8080, playing: bool = False) -> None:
        if not runs:
            raise RunError("nothing to show", where="view", remedy="give the folder of a run")
        self._runs, self._clips = list(runs), [clip(run) for run in runs]
        self._ledgers = [complete(run) for run in runs]
        self._known = sorted(set.intersection(*(set(one.recorded) for one in self._clips)))
        self._times = self._clips[0].times
        self._lock = RLock()
        self._clock, self._plotted = float(self._times[0]), 0.0
        low, high, *_ = ranges(self._clips[0].every(max(1, len(self._times) // 20)))
        self._limits: dict[str, tuple[float, float]] = {}
        self._room = Room(host, port, low, high, [run.folder.resolve().name for run in runs])
        self.server, places = self._room.server, self._room.places
        scenes = [scene_of(run) for run in runs]
        self._names = body_names(scenes[0], self._clips[0].picture(0).body_count)
        self._systems = [_system_with_marks(scene) for scene in scenes]
        self._drawings = [Drawing(self.server, *place, first=k) for k, place in enumerate(places)]
        self._surroundings = [
            DrawnObstacles(self.server, *p, scene, low, high) for p, scene in zip(places, scenes, strict=True)
        ]
        self._controls(playing)
        self.show(0)

    @property
    def url(self) -> str:
        return self._room.url

    @property
    def frame(self) -> int:
        """The frame of the first run that is shown."""
        return int(self._slider.value)

    def show(self, k: int) -> None:
        """Draw frame k of the first run, and of the others the last frame that is not later."""
        with self._lock:
            t = float(self._times[k])
            style = self._style()
            with self.server.atomic():  # one picture, not parts of two
                for i, one in enumerate(self._clips):
                    near = last_before(one.times, t)
                    self._drawings[i].show(one.picture(near), style)
                    self._surroundings[i].show(self._marked(i, near), t)
            self._look.legend.content = legend(style)
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
        k = last_before(self._times, self._clock)
        if k != self.frame:
            self._slider.value = k  # its callback draws

    def serve(self) -> None:
        """Play until it is stopped or interrupted."""
        self._shown = monotonic()
        self._room.serve(self._act)

    def _act(self) -> float:
        now = monotonic()
        slow = self._room.recording  # a film has its own clock, so that a slow machine misses nothing
        self.advance(1.0 / PACE if slow else now - self._shown)
        self._shown = now
        return max(1.0 / RATE - (monotonic() - now), 0.001)

    def stop(self) -> None:
        self._room.close()

    # ------------------------------------------------------------------------------------------------ the page

    def _controls(self, playing: bool) -> None:
        gui = self.server.gui
        self._slider = gui.add_slider("frame", 0, max(len(self._times) - 1, 1), 1, 0)
        self._play = gui.add_checkbox("play", playing)
        self._loop = gui.add_checkbox("loop", True)
        self._speed = gui.add_dropdown("speed", ("0.1", "0.25", "0.5", "1", "2", "4"), initial_value="1")
        self._room.controls()
        redraw = lambda _: self.show(min(self.frame, len(self._times) - 1))
        self._look = Appearance(gui, self._known, self._names, redraw)
        self._text = gui.add_markdown("")
        times = self._ledgers[0]["t"]
        self._charts = [
            Marked(gui, f"energy [{self._runs[0].energy_unit}]", times, self._curves("total")),
            Marked(gui, "iterations per step", times, self._curves("iterations")),
        ]
        self._slider.on_update(redraw)

    def _curves(self, column: str) -> dict[str, Array]:
        """A column of every ledger over the times of the first; of a single run the total energy with its parts."""
        first = self._ledgers[0]
        if len(self._ledgers) == 1:
            return {name: first[name] for name in (column, *(parts(first) if column == "total" else ()))}
        rows = [np.interp(first["t"], ledger["t"], ledger[column]) for ledger in self._ledgers]
        return dict(zip(names(self._runs), rows, strict=True))

    def _books(self, t: float) -> None:
        """Ledger and certificate at the time of the frame."""
        lines = []
        for run, name, ledger in zip(self._runs, names(self._runs), self._ledgers, strict=True):
            row = last_before(ledger["t"], t)
            line = f"t = {ledger['t'][row]:.4g} s, energy {ledger['total'][row]:.6g} {run.energy_unit}"
            if row:
                words = {1.0: "converged", 0.0: "failed"}  # NaN: nothing that could be missed
                verdict = words.get(float(ledger["converged"][row]), "not certified")
                line += f", {int(ledger['iterations'][row])} iterations, {verdict}"
                line += f", contacts {readable(ledger['contacts'][row])}"
            lines.append(f"**{name}**: {line}")
        self._text.content = "\n\n".join(lines)
        if monotonic() - self._plotted > PLOT_EVERY or not self._play.value:
            self._plotted = monotonic()
            now = last_before(self._ledgers[0]["t"], t)
            for chart in self._charts:
                chart.show(now)

    def _style(self) -> Style:
        channel = self._look.channel
        wanted = () if channel is None else (channel,)
        if self._clips[0].channels != wanted:
            self._clips = [Clip(one.run, wanted) for one in self._clips]
        if channel is not None and channel not in self._limits:
            coarse = [ranges(one.every(max(1, len(one) // 20)), channel)[2:] for one in self._clips]
            self._limits[channel] = (min(low for low, _ in coarse), max(high for _, high in coarse))
        return self._look.style(self._limits)

    def _marked(self, i: int, k: int) -> Marks:
        """The marks of run i in frame k: what its system finds, or the Eulerian vertices that were recorded."""
        if not self._look.marks.value or (self._systems[i] is None and "eulerian" not in self._clips[i].recorded):
            return NO_MARKS
        frame = self._runs[i].frames[k]
        if self._systems[i] is not None:
            return marks_of(self._systems[i], frame.points, frame.t)
        return Marks(eulerian=frame.points[frame.point_values["eulerian"].ravel() > 0.5])


def _system_with_marks(scene: Any) -> Any:
    """The system of a scene if it has contacts or joints that follow from the points alone; None otherwise."""
    system = None if scene is None or isinstance(scene, Remains) else scene.system()
    if isinstance(system, Jointed):
        return system
    kept = isinstance(system, Touching) and isinstance(system, Composed) and not isinstance(system, PartlyEulerian)
    return system if kept else None

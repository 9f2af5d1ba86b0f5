"""Scenes that run while one looks: start, step, reset; change stiffness, h, integrator and solver; pull at them."""

from collections.abc import Callable, Sequence
from math import log10
from queue import SimpleQueue
from time import monotonic
from typing import Any

import numpy as np

from pliant.bodies import bodies_of
from pliant.certificate import readable
from pliant.deformable import OfMaterial
from pliant.errors import PliantError
from pliant.export.colours import extent
from pliant.export.obstacles import body_names
from pliant.integrators import INTEGRATORS
from pliant.materials.base import Isotropic
from pliant.scene_file.choices import kebab
from pliant.solvers import SOLVERS
from pliant.units import energy_unit
from pliant.view.charts import growing
from pliant.view.drawing import Drawing, Style, legend
from pliant.view.marks import NO_MARKS, DrawnObstacles, marks_of
from pliant.view.panel import Appearance, chosen
from pliant.view.player import Player
from pliant.view.server import LOCAL, Room

GIVEN = "as given"
HAND = (210, 120, 20)
PLOT_EVERY = 0.25  # seconds between drawings of the curves


class LiveView:
    """A page that runs a scene, and for each of ``compare`` (settings such as integrator=siere) another beside it.

    All runs share the clock, the material and h. What the page asks for is done between two steps.
    """

    def __init__(
        self,
        source: str,
        settings: Sequence[str] = (),
        *,
        compare: Sequence[str] = (),
        host: str = LOCAL,
        port: int = 8080,
    ) -> None:
        self._given = [[*settings, *more] for more in ([], *([one] for one in compare))]
        self.players = [Player(source, given) for given in self._given]
        self.names = ["run", *compare]
        x = self.players[0].points
        low, high = x.min(axis=0), x.max(axis=0)
        self._room = Room(host, port, low, high, self.names)
        self.server, places = self._room.server, self._room.places
        self._wishes: SimpleQueue[Callable[[], None]] = SimpleQueue()  # callbacks of the page run in other threads
        self._failed: dict[int, str] = {}
        self._hands: set[int] = set()  # springs that are drawn
        self._limits: dict[str, tuple[float, float]] = {}
        self._plotted = 0.0
        self._controls()
        self._drawings = [Drawing(self.server, *place, self._grabbing(k), k) for k, place in enumerate(places)]
        self._surroundings = [
            DrawnObstacles(self.server, *place, p.scene, low, high)
            for place, p in zip(places, self.players, strict=True)
        ]
        self.show()

    @property
    def url(self) -> str:
        return self._room.url

    def advance(self) -> None:
        """Do what the page asked for, then one step if it is playing."""
        asked = not self._wishes.empty()
        while not self._wishes.empty():
            wish = self._wishes.get()
            try:
                wish()
            except (PliantError, ArithmeticError, LookupError, TypeError, ValueError) as error:  # what the page sent
                self._play.value = False
                self._tell("**" + " ".join(str(error).split()) + "**")
                return
        if self._play.value:
            self.step()
        elif asked:
            self.show()

    def step(self) -> None:
        """One step of every run that is not ahead of the others; a run that fails stays where it is."""
        going = [k for k in range(len(self.players)) if k not in self._failed]
        if not going:
            self._play.value = False
            return
        slowest = min(self.players[k].state.t for k in going)
        for k in going:
            if self.players[k].state.t > slowest + 0.5 * float(self.players[k].scene.h):
                continue
            try:
                self.players[k].take()
            except PliantError as error:
                self._failed[k] = " ".join(str(error).split())
        self.show()

    def serve(self) -> None:
        """Run, never faster than real time, until it is stopped or interrupted."""
        self._room.serve(self._act)

    def _act(self) -> float:
        start = monotonic()
        self.advance()
        pause = float(self.players[0].scene.h) if self._play.value else 0.05
        return max(pause - (monotonic() - start), 0.001)

    def stop(self) -> None:
        self._room.close()

    # ------------------------------------------------------------------------------------------------ what is seen

    def show(self) -> None:
        """Draw every run, the spring of the hand, the texts and the curves."""
        style = self._style()
        for player, drawing, scenery in zip(self.players, self._drawings, self._surroundings, strict=True):
            drawing.show(player.picture((style.channel,) if style.channel else ()), style)
            t = player.state.t
            scenery.show(marks_of(player.system, player.points, t) if self._look.marks.value else NO_MARKS, t)
        self._look.legend.content = legend(style)
        self._show_hands()
        self._tell(self._failure())
        if monotonic() - self._plotted > PLOT_EVERY or not self._play.value:
            self._plotted = monotonic()
            self._plot()

    def _style(self) -> Style:
        channel = self._look.channel
        if channel is not None:
            seen = [extent(player.picture((channel,)).values[channel]) for player in self.players]
            low, high = self._limits.get(channel, (np.inf, -np.inf))  # what was ever seen: colours keep their meaning
            self._limits[channel] = (min(low, *(a for a, _ in seen)), max(high, *(b for _, b in seen)))
        return self._look.style(self._limits)

    def _show_hands(self) -> None:
        for k, (player, drawing) in enumerate(zip(self.players, self._drawings, strict=True)):
            ends = player.hand
            if ends is not None:
                look = {"thickness": 3.0, "thickness_units": "screen"}
                self.server.scene.add_line_segments(f"/hand{k}", (ends + drawing.offset)[None], HAND, **look)
                self._hands.add(k)
            elif k in self._hands:
                self._hands.remove(k)
                self.server.scene.remove_by_name(f"/hand{k}")

    def _tell(self, more: str) -> None:
        """Time, energy, iterations and certificate of every run, and what else there is to say."""
        lines = []
        for name, player in zip(self.names, self.players, strict=True):
            line = f"t = {player.state.t:.4g} s, energy {player.history[-1][1]:.6g} {energy_unit(player.scene)}"
            if player.last is not None:
                verdict = player.last.report.verdict
                pieces = player.last.report.substeps
                line += f", {player.last.report.iterations} iterations, {verdict}"
                line += f", contacts {readable(player.last.report.contacts)}"
                line += f" in {pieces} substeps" if pieces > 1 else ""
            if player.worked:
                line += f"; the hand did {player.worked:.4g} {energy_unit(player.scene)}"
            lines.append(f"**{name}**: {line}")
        self._text.content = "\n\n".join([*lines, *([more] if more else [])])

    def _failure(self) -> str:
        return "\n\n".join(f"**{self.names[k]} stopped: {text}**" for k, text in self._failed.items())

    def _plot(self) -> None:
        t, *_ = zip(*self.players[0].history, strict=True)
        if len(t) < 2:
            return
        columns = [np.array(player.history).T for player in self.players]
        for chart, row in ((self._energy, 1), (self._iterations, 2)):
            chart.data = (np.array(t), *(np.interp(t, own[0], own[row]) for own in columns))

    # ------------------------------------------------------------------------------------------------ the page

    def _controls(self) -> None:
        gui = self.server.gui
        first = self.players[0]
        self._play = gui.add_checkbox("play", False)
        gui.add_button("step").on_click(lambda _: self._wishes.put(self.step))
        gui.add_button("reset").on_click(lambda _: self._wishes.put(self._reset))
        self._room.controls()
        redraw = lambda _: self._wishes.put(lambda: None)
        self._look = Appearance(gui, first.channels(), body_names(first.scene, first.picture().body_count), redraw)
        self._h_before = float(first.scene.h)
        self._h = gui.add_number("h [s]", self._h_before, min=1e-5, max=1.0, step=1e-4)
        changing = [self._h, *self._material(gui), *self._choices(gui)]
        for control in changing:
            control.on_update(lambda _: self._wishes.put(self._change))
        self._strength: Any = None
        if first.holdable:
            middle = round(log10(first.grip), 1)
            self._strength = gui.add_slider("pull, log10 [N/m]", middle - 2, middle + 3, 0.1, middle)
        self._text = gui.add_markdown("")
        self._energy = growing(gui, f"energy [{energy_unit(first.scene)}]", self.names)
        self._iterations = growing(gui, "iterations per step", self.names)

    def _material(self, gui: Any) -> list[Any]:
        """Sliders for E and nu where the first body has them; they show rounded values."""
        body = next(iter(bodies_of(self.players[0].scene)), None)
        material: Any = body.material if isinstance(body, OfMaterial) else None
        self._E = self._nu = None
        if not isinstance(material, Isotropic) or not isinstance(material.E, float):
            return []
        middle = round(log10(material.E), 2)
        self._E = gui.add_slider("log10 E [Pa]", middle - 2, middle + 2, 0.05, middle)
        self._nu = gui.add_slider("nu", 0.0, 0.49, 0.01, round(float(material.nu), 2))
        self._before = (self._E.value, self._nu.value)
        return [self._E, self._nu]

    def _choices(self, gui: Any) -> list[Any]:
        """For every run a drop-down for the integrator and one for the solver, where the scene has bodies to step."""
        self._chosen: list[tuple[Any, Any]] = []
        if not bodies_of(self.players[0].scene):
            return []
        for k in range(len(self.players)):
            number = f" {k + 1}" if k else ""
            integrator = gui.add_dropdown(f"integrator{number}", (GIVEN, *(kebab(i.__name__) for i in INTEGRATORS)))
            solver = gui.add_dropdown(f"solver{number}", (GIVEN, *(kebab(s.__name__) for s in SOLVERS)))
            self._chosen.append((integrator, solver))
        return [control for pair in self._chosen for control in pair]

    def _settings(self, k: int) -> list[str]:
        """The settings that run k was started with, and those of the page."""
        made = list(self._given[k])
        integrator, solver = (chosen(c) for c in self._chosen[k]) if self._chosen else (GIVEN, GIVEN)
        made += [f"integrator={integrator}"] if integrator != GIVEN else []
        made += [f"integrator.solver={solver}"] if solver != GIVEN else []
        if self._h.value != self._h_before:
            made.append(f"h={self._h.value!r}")
        if self._E is not None and self._E.value != self._before[0]:
            made.append(f"material.E={10.0**self._E.value!r}")
        if self._nu is not None and self._nu.value != self._before[1]:
            made.append(f"material.nu={self._nu.value!r}")
        return made

    def _change(self) -> None:
        self._failed.clear()
        for k, player in enumerate(self.players):
            player.change(self._settings(k))

    def _reset(self) -> None:
        self._failed.clear()
        for player in self.players:
            player.reset()

    def _grabbing(self, k: int) -> Callable[[Any], Any]:
        """What a drag of run k's surface does."""

        async def grabbed(event: Any) -> None:  # a coroutine, so that the phases of a drag come in order
            self._wishes.put(lambda: self.drag(k, event.phase, event.start_position, event.end_position))

        return grabbed

    def drag(self, k: int, phase: str, start: Sequence[float], end: Sequence[float]) -> None:
        """Pull at the vertex nearest to ``start`` towards ``end`` [m] while the mouse button is down."""
        player, offset = self.players[k], self._drawings[k].offset
        if phase == "start" and player.holdable:
            surface = player.skin.vertices[:, 0]
            near = np.linalg.norm(player.points[surface] - (np.asarray(start) - offset), axis=1)
            self._hold = player.hold(int(surface[np.argmin(near)]))
        if phase == "end" or not player.holdable:
            player.pull(None)
        else:
            player.pull((self._hold, np.asarray(end) - offset, 10.0**self._strength.value))

"""A scene that runs while one looks: start, pause, step, reset; stiffness, h, integrator and solver may be changed."""

from collections.abc import Iterator, Sequence
from math import log10
from time import monotonic, sleep
from typing import Any

import numpy as np

from pliant.checkpoint import Checkpoint
from pliant.errors import PliantError
from pliant.export.clip import own_skin
from pliant.integrators import IMPLICIT
from pliant.record.channels import frame_of, topology_of
from pliant.scene_file import load_scene
from pliant.scene_file.choices import kebab
from pliant.simulate import TimeStep, beginning, simulate
from pliant.solvers import SOLVERS
from pliant.view.server import LOCAL, Drawing, Style, aim_at, open_server

GIVEN = "as given"


class Live:
    """A page that runs a scene. A changed control makes a new scene that goes on from the present state."""

    def __init__(self, source: str, settings: Sequence[str] = (), *, host: str = LOCAL, port: int = 8080) -> None:
        self._source, self._given = source, list(settings)
        self.scene = load_scene(source, self._given).scene
        self.server = open_server(host, port)
        self._drawing = Drawing(self.server, "/scene", np.zeros(3))
        self._changed = self._asked = self._again = False  # wishes of the page, whose callbacks run in other threads
        self._controls()
        self.reset()
        low, high = self._points.min(axis=0), self._points.max(axis=0)
        self.server.on_client_connect(lambda client: aim_at(client, low, high))

    def reset(self) -> None:
        """Back to the beginning."""
        self._begin(None)

    def advance(self) -> None:
        """Take what was changed, then one step if it is playing or a step was asked for."""
        try:
            if self._changed:
                self._changed = False
                self.scene = load_scene(self._source, self._settings()).scene
                self._begin(Checkpoint(0, self.state, None))
            if self._again:
                self._again = False
                self.reset()
            if self._play.value or self._asked:
                self._asked = False
                self._take()
        except PliantError as error:
            self._play.value = False
            self._text.content = "**" + " ".join(str(error).split()) + "**"

    def serve(self) -> None:
        """Run, never faster than real time, until the process is interrupted."""
        while True:
            start = monotonic()
            self.advance()
            pause = float(self.scene.h) if self._play.value else 0.05
            sleep(max(pause - (monotonic() - start), 0.001))

    def stop(self) -> None:
        self.server.stop()

    # ------------------------------------------------------------------------------------------------ the run

    def _begin(self, start: Checkpoint | None) -> None:
        system, point = beginning(self.scene, start)
        self.state = point.state
        self._steps: Iterator[TimeStep] = simulate(self.scene, start=point, system=system)
        self._show(system)

    def _take(self) -> None:
        step = next(self._steps, None)
        if step is None:  # the end of the scene: go on from here
            self._begin(Checkpoint(0, self.state, None))
            return
        self.state = step.state
        self._show(step.system)
        verdict = "converged" if step.report.converged else "NOT converged"
        energy, count = step.ledger.total, step.report.iterations
        self._text.content = f"t = {step.state.t:.4g} s, energy {energy:.6g} J, {count} iterations, {verdict}"

    def _show(self, system: Any) -> None:
        self._points = np.asarray(system.positions(self.state.q))
        if getattr(self, "_drawn", None) is not system:
            self._drawn = system
            topology, self._blocks = topology_of(self.scene, system, self._points)
            self._skin = own_skin(topology, len(self._points))
        frame = frame_of(system, self.state, self._blocks)
        self._drawing.show(self._skin.picture(frame, frame.points, ()), Style(wireframe=bool(self._wireframe.value)))

    # ------------------------------------------------------------------------------------------------ the page

    def _controls(self) -> None:
        gui = self.server.gui
        gui.configure_theme(show_logo=False, show_share_button=False)
        self._play = gui.add_checkbox("play", False)
        gui.add_button("step").on_click(lambda _: setattr(self, "_asked", True))
        gui.add_button("reset").on_click(lambda _: setattr(self, "_again", True))
        self._wireframe = gui.add_checkbox("wireframe", False)
        self._h = gui.add_number("h [s]", float(self.scene.h), min=1e-5, max=1.0, step=1e-4)
        self._integrator = gui.add_dropdown("integrator", (GIVEN, *(kebab(i.__name__) for i in IMPLICIT)))
        self._solver = gui.add_dropdown("solver", (GIVEN, *(kebab(s.__name__) for s in SOLVERS)))
        self._E = self._nu = None
        material: Any = getattr(self.scene.bodies[0], "material", None) if hasattr(self.scene, "bodies") else None
        if isinstance(getattr(material, "E", None), float) and hasattr(material, "nu"):
            middle = round(log10(material.E), 2)
            self._E = gui.add_slider("log10 E [Pa]", middle - 2, middle + 2, 0.05, middle)
            self._nu = gui.add_slider("nu", 0.0, 0.49, 0.01, round(float(material.nu), 2))
        self._text = gui.add_markdown("")
        sliders = [] if self._E is None else [self._E, self._nu]
        self._before = [slider.value for slider in sliders]
        for control in (self._h, self._integrator, self._solver, *sliders):
            control.on_update(lambda _: setattr(self, "_changed", True))

    def _settings(self) -> list[str]:
        """The scene's settings with those of the page."""
        made = [*self._given, f"h={self._h.value!r}"]
        if self._integrator.value != GIVEN:
            made.append(f"integrator={self._integrator.value}")
        if self._solver.value != GIVEN:
            made.append(f"integrator.solver={self._solver.value}")
        if self._E is not None and self._E.value != self._before[0]:  # the slider shows a rounded value
            made.append(f"material.E={10.0**self._E.value!r}")
        if self._nu is not None and self._nu.value != self._before[1]:
            made.append(f"material.nu={self._nu.value!r}")
        return made

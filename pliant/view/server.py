"""The browser's side: a viser server on a local port, where its cameras look from, light and dark."""

import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from errno import EADDRINUSE
from functools import partial
from io import StringIO
from threading import Lock
from time import sleep
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.errors import MissingDependency, RunError
from pliant.export.look import CAMERAS
from pliant.view.panel import Saving, chosen

LOCAL = "127.0.0.1"


def open_server(host: str, port: int) -> Any:
    """A viser server at exactly this address; a port that is taken is an error, not the next free one."""
    try:
        import viser
    except ImportError as error:
        raise MissingDependency("viser is not installed", where="view", remedy="pip install viser") from error
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except (OSError, OverflowError) as error:
            if getattr(error, "errno", None) == EADDRINUSE:
                what, remedy = f"port {port} of {host} is in use", f"try --port {port + 1}"
            else:
                what, remedy = f"cannot listen at {host}:{port}", f"use --host {LOCAL} and a --port from 1024 to 65535"
            raise RunError(what, where="view", remedy=remedy) from error
    with redirect_stdout(StringIO()), _own_pages_only(host, port):  # the command line says where the page is
        server = viser.ViserServer(host=host, port=port, verbose=False)
    server.scene.set_up_direction("+z")
    server.scene.configure_default_lights(cast_shadow=False)  # shadows cost more than all the rest
    return server


@contextmanager
def _own_pages_only(host: str, port: int) -> Iterator[None]:
    """Servers that are started meanwhile talk to their own page only: any page in the browser can open a socket here.

    Programs that are no browsers send no origin, and are let in. Who lets other machines in is reached under names that
    are not known here; then it is the port that must agree.
    """
    import websockets.asyncio.server as sockets

    local = host in (LOCAL, "localhost", "::1")
    names = {host, "localhost", LOCAL, "[::1]"}
    own: list[Any] = [None, *(f"http://{name}:{port}" for name in sorted(names))]
    allowed = own if local else [*own, re.compile(rf"https?://[^/]+:{port}")]
    plain = sockets.serve
    sockets.serve = partial(plain, origins=allowed)  # type: ignore[misc,assignment]
    try:
        yield
    finally:
        sockets.serve = plain  # type: ignore[misc]


def aim_at(client: Any, low: Array, high: Array, preset: str = "fit") -> None:
    """Let a browser look at the middle of a box [m] from one of the `CAMERAS`."""
    middle, size = 0.5 * (low + high), float(np.linalg.norm(high - low)) or 1.0
    away = CAMERAS[preset]
    with client.atomic():
        client.camera.up_direction = (0.0, 0.0, 1.0)
        client.camera.position = middle + 1.25 * size * away / np.linalg.norm(away)
        client.camera.look_at = middle


class Room:
    """What both pages have: the server, runs side by side, camera presets for all of them, and dark or light.

    ``low``, ``high`` (3,) [m] bound one run; ``places`` are the runs' names on the page and their offsets.
    """

    def __init__(self, host: str, port: int, low: Array, high: Array, names: list[str]) -> None:
        self.server = open_server(host, port)
        size = high - low
        aside = np.array([1.1 * float(np.linalg.norm(size)), 0.0, 0.0])
        self.places = [(f"/run{k}", k * aside) for k in range(len(names))]
        self._box = low, high + self.places[-1][1]
        for k, (name, (_, offset)) in enumerate(zip(names, self.places, strict=True)):
            if len(names) > 1:
                above = low + offset + np.array([0.5, 0.5, 1.15]) * size
                self.server.scene.add_label(f"/label{k}", name, position=above)
        self._open, self._serving = True, Lock()
        self._saving: Saving | None = None
        self.server.on_client_connect(lambda client: aim_at(client, *self._box))

    @property
    def url(self) -> str:
        return f"http://{self.server.get_host()}:{self.server.get_port()}"

    def serve(self, act: Callable[[], float]) -> None:
        """Call ``act``, which returns how long to wait then [s], until the room is closed."""
        with self._serving:
            while self._open:
                pause = act()
                if self._saving is not None:
                    self._saving.take()
                sleep(pause)

    @property
    def recording(self) -> bool:
        """Whether a browser records a film."""
        return self._saving is not None and self._saving.recording

    def close(self) -> None:
        """End the service, after what is being drawn is drawn."""
        self._open = False
        with self._serving, redirect_stdout(StringIO()):
            self.server.stop()

    def controls(self) -> None:
        """Add the camera buttons, the dark switch, and what saves pictures."""
        gui = self.server.gui
        cameras = gui.add_button_group("camera", tuple(CAMERAS))
        cameras.on_click(lambda event: aim_at(event.client, *self._box, chosen(cameras)))
        dark = gui.add_checkbox("dark", False)
        theme = lambda _: gui.configure_theme(dark_mode=dark.value, show_logo=False, show_share_button=False)
        dark.on_update(theme)
        self._saving = Saving(gui)
        theme(None)  # nothing on the page can open it to the world

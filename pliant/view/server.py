"""The browser's side: a viser server on a local port, and how a picture is drawn on it."""

import socket
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.errors import MissingDependency, RunError
from pliant.export.clip import Picture
from pliant.export.film import VIEW, magnitude

BODY = (111, 155, 209)
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
            raise RunError(
                f"port {port} of {host} is in use or not allowed", where="view", remedy="try --port"
            ) from error
    server = viser.ViserServer(host=host, port=port, verbose=False)
    server.scene.set_up_direction("+z")
    return server


def aim_at(client: Any, low: Array, high: Array) -> None:
    """Let a browser look at the middle of a box [m], from the front, left and above."""
    middle, size = 0.5 * (low + high), float(np.linalg.norm(high - low)) or 1.0
    client.camera.up_direction = (0.0, 0.0, 1.0)
    client.camera.position = middle + 1.3 * size * VIEW / np.linalg.norm(VIEW)
    client.camera.look_at = middle


@dataclass(frozen=True)
class Style:
    """``channel`` with its ``limits`` for colours (None: one colour), wireframe instead of faces."""

    channel: str | None = None
    limits: tuple[float, float] = (0.0, 1.0)
    wireframe: bool = False


class Drawing:
    """One body in the browser's scene; only what changed is sent."""

    def __init__(self, server: Any, name: str, offset: Array) -> None:
        self._server, self._name, self._offset = server, name, offset
        self._handle: Any = None
        self._kept: tuple[Any, ...] = ()

    def show(self, picture: Picture, style: Style) -> None:
        """Replace what is there by this picture."""
        x = (picture.points + self._offset).astype(np.float32)
        kept = (picture.triangles, style)
        if style.channel is None and len(self._kept) == 2 and self._kept[0] is kept[0] and self._kept[1] == style:
            self._handle.vertices = x
            return
        scene = self._server.scene
        if not len(picture.triangles):
            self._handle = self._lines_or_dots(scene, picture, x)
        elif style.channel is None:
            options = {"color": BODY, "flat_shading": True, "side": "double", "wireframe": style.wireframe}
            self._handle = scene.add_mesh_simple(self._name, x, picture.triangles.astype(np.uint32), **options)
            self._kept = kept
            return
        else:
            self._handle = scene.add_mesh_trimesh(self._name, _coloured(picture, x, style))
        self._kept = ()

    def _lines_or_dots(self, scene: Any, picture: Picture, x: Any) -> Any:
        if len(picture.lines):
            return scene.add_line_segments(self._name, x[picture.lines], BODY, thickness=2.0, thickness_units="screen")
        size = 0.01 * max(float(np.ptp(x, axis=0).max()), 1e-3)
        return scene.add_point_cloud(self._name, x, BODY, point_size=size, point_shape="circle", precision="float32")


def _coloured(picture: Picture, x: Any, style: Style) -> Any:
    import trimesh

    assert style.channel is not None
    colours = palette(magnitude(picture.values[style.channel]), style.limits)
    return trimesh.Trimesh(x, picture.triangles, vertex_colors=colours, process=False)


def palette(values: Array, limits: tuple[float, float]) -> Any:
    """Colours (n, 4) of 8 bits: dark for the lowest value, yellow for the highest."""
    import matplotlib

    least, most = limits
    scaled = np.clip((values - least) / max(most - least, 1e-300), 0.0, 1.0)
    return (255 * matplotlib.colormaps["viridis"](scaled)).astype(np.uint8)
